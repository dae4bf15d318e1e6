# SPDX-License-Identifier: Apache-2.0
"""Metrics of scores by class: how well they order, how well they separate, how far they are from the truth."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from karat.cells import Collapsed, Floats, Weights
from karat.contexts.curve import Curve, Step, Steps, along
from karat.contexts.probabilities.cells import ProbabilityCells
from karat.metric import MetricError, metric
from karat.score import Values, defined, mean_defined, ratio

_HANLEY = (
    "Hanley & McNeil 1982, doi:10.1148/radiology.143.1.7063747; intervals as DeLong et al. 1988, doi:10.2307/2531595"
)
ALONE = "gold has the class in all items or in none"
NO_GOLD = "no gold item has the class"


def share(part: Any, whole: Any, empty: float = 0.0) -> Floats:
    """``part / whole``, and ``empty`` where there is nothing."""
    part, whole = np.broadcast_arrays(np.asarray(part, float), np.asarray(whole, float))
    return np.divide(part, whole, out=np.full(part.shape, empty), where=whole > 0)


def single(cells: Any) -> None:
    """Refuse classes that are taken for one where that means nothing."""
    if isinstance(cells, Collapsed):
        raise MetricError("this metric has no micro average: every class has thresholds or bins of its own")


def by_curve(W: Weights, cells: ProbabilityCells, step: Step, reason: str, reduce: np.ufunc = np.add) -> Values:
    """A step summed (or the largest taken) along every class's curve; ``reason`` says what gold must have."""
    if reduce is not np.add:
        single(cells)
    columns = []
    for curve in cells.curves:
        positives, negatives = curve.counts(W)
        ok = (positives > 0) & ((negatives > 0) | (reason != ALONE))
        columns.append(np.where(ok, along(W, curve, step, reduce), np.nan))
    return Values(np.stack(columns, 1) if columns else np.zeros((W.shape[0], 0)), reason)


def _area(at: Steps) -> Floats:
    """Pairs of a negative of this run and a positive above it; a positive with the same score is half a pair."""
    return np.asarray(at.dfp * (at.tp - at.dtp * at.value))


def roc_area(W: Weights, curve: Curve) -> Floats:
    """ROC AUC of each row of weights."""
    positives, negatives = curve.counts(W)
    return ratio(along(W, curve.runs, _area), positives * negatives, ALONE).value


def _area_up_to(limit: float) -> Step:
    """Area under the curve between false positive rates 0 and ``limit``, its points joined by straight lines."""

    def step(at: Steps) -> Floats:
        tp, fp = at.above
        begin, wide = share(fp, at.negatives), share(at.dfp, at.negatives)
        used = np.clip(limit - begin, 0.0, wide)
        rise = share(at.dtp, at.positives) * share(used, wide)
        return used * (share(tp, at.positives) + rise / 2)

    return step


@metric(ProbabilityCells, by_class=True, pairs=True, title="ROC AUC", reference=_HANLEY)
def roc_auc(W: Weights, cells: ProbabilityCells, *, max_fpr: float | None = None) -> Values:
    """Chance that an item of the class scores higher than an item of another class; equal scores count one half.

    AUC = Σ ([s⁺ > s⁻] + ½[s⁺ = s⁻]) / (positives · negatives) over pairs of a positive and a negative item: the
    area under the curve of true over false positive rate. Of two classes it is that of the positive one; of more,
    each class against the rest, averaged. With ``max_fpr`` the area up to that false positive rate, brought to 0.5
    for chance and 1 for the best (McClish 1989). An item without a prediction is ordered worst.
    Undefined for a class that all items or none have.

    >>> # positives .8 .4, negatives .6 .2: three of four pairs are in order
    >>> gold, score = ["yes", "no", "yes", "no"], [0.8, 0.6, 0.4, 0.2]
    >>> karat.evaluate(gold, score, context="probabilities")["roc_auc"].value
    0.75
    """
    if max_fpr is None or max_fpr == 1:
        once = cells.mirrored and not isinstance(cells, Collapsed)
        curves = [cells.own_curve] if once else cells.curves
        areas = [roc_area(W, curve) for curve in curves]
        # Who is for one class is against the other: the area is the same.
        areas *= 2 if once else 1
        return Values(np.stack(areas, 1) if areas else np.zeros((W.shape[0], 0)), ALONE)
    if not 0 < max_fpr < 1:
        raise MetricError(f"max_fpr={max_fpr}: a false positive rate lies above 0 and not above 1")
    area = by_curve(W, cells, _area_up_to(max_fpr), ALONE).value
    least, most = max_fpr**2 / 2, max_fpr
    return Values((1 + (area - least) / (most - least)) / 2, ALONE)


@metric(
    ProbabilityCells,
    title="ROC AUC, one against one",
    pairs=True,
    reference="Hand & Till 2001, doi:10.1023/A:1010920819831; weighted: Ferri et al. 2009, doi:10.1016/j.patrec.2008.08.010",
)
def roc_auc_ovo(
    W: Weights, cells: ProbabilityCells, *, average: Literal["macro", "weighted"] = "macro"
) -> Values:  # fmt: skip
    """ROC AUC of every pair of classes among the items of the two, averaged.

    A(i, j) = (AUC of i's score + AUC of j's score) / 2; mean over pairs, or weighted by the items of both classes.
    Undefined with fewer than two classes in gold, or where items have several.

    >>> # A before B: 1, B before A: 1; A and C 1; B and C: C's own score orders them wrongly, (1 + 0) / 2
    >>> rows = [{"A": 0.8, "B": 0.1, "C": 0.1}, {"A": 0.1, "B": 0.5, "C": 0.4}, {"A": 0.2, "B": 0.45, "C": 0.35}]
    >>> e = karat.evaluate(["A", "B", "C"], rows, context="probabilities", metrics=["roc_auc_ovo"])
    >>> round(e["roc_auc_ovo"].value, 4)
    0.8333
    """
    if cells.several:
        return defined(np.zeros(W.shape[0]), False, "items have several classes: there are no pairs of them")
    areas, sizes = [], []
    for first in range(len(cells.classes)):
        for second in range(first + 1, len(cells.classes)):
            sides = [_duel(W, cells, first, second), _duel(W, cells, second, first)]
            areas.append((sides[0][0] + sides[1][0]) / 2)
            sizes.append(sides[0][1])
    reason = "gold has fewer than two classes"
    if not areas:
        return defined(np.zeros(W.shape[0]), False, reason)
    return Values(mean_defined(np.stack(areas, 1), None, np.stack(sizes, 1) if average == "weighted" else None), reason)


def _duel(W: Weights, cells: ProbabilityCells, first: int, second: int) -> tuple[Floats, Floats]:
    curve = cells.duels[first, second]
    positives, negatives = curve.counts(W)
    return roc_area(W, curve), positives + negatives


@metric(
    ProbabilityCells,
    by_class=True,
    reference="Zhu 2004, Recall, precision and average precision; as scikit-learn, without interpolation",
)
def average_precision(W: Weights, cells: ProbabilityCells) -> Values:
    """Mean, over the items of a class, of the precision among all that score as high as the item or higher.

    AP = Σ_t (R_t − R_{t−1}) · P_t over the distinct scores t, from the highest; precision P and recall R at score t.
    An item without a prediction is ordered worst. Undefined for a class that no item has.

    >>> # positives at ranks 1 and 3: (1/1 + 2/3) / 2
    >>> gold, score = ["yes", "no", "yes", "no"], [0.8, 0.6, 0.4, 0.2]
    >>> e = karat.evaluate(gold, score, context="probabilities", metrics=["average_precision"])
    >>> round(e["average_precision"].value, 4)
    0.8333
    """
    return by_curve(W, cells, lambda at: share(at.dtp, at.positives) * share(at.tp, at.tp + at.fp), NO_GOLD)


@metric(
    ProbabilityCells,
    by_class=True,
    title="PR AUC",
    reference="area by trapezoids, as scikit-learn's auc; Davis & Goadrich 2006, doi:10.1145/1143844.1143874",
)
def pr_auc(W: Weights, cells: ProbabilityCells) -> Values:
    """Area under precision over recall, the points joined by straight lines.

    Σ_t (R_t − R_{t−1}) · (P_t + P_{t−1}) / 2, with P_0 = 1. Straight lines are too kind between points (Davis &
    Goadrich): average_precision is the safer number. Undefined for a class that no item has.

    >>> # recall 0 → ½ at precision 1, then ½ → 1 between precisions 1/2 and 2/3: ½ + ½ · (1/2 + 2/3) / 2
    >>> gold, score = ["yes", "no", "yes", "no"], [0.8, 0.6, 0.4, 0.2]
    >>> e = karat.evaluate(gold, score, context="probabilities", metrics=["pr_auc"])
    >>> round(e["pr_auc"].value, 4)
    0.7917
    """

    def step(at: Steps) -> Floats:
        tp, fp = at.above
        before = share(tp, tp + fp, 1.0)
        return share(at.dtp, at.positives) * (share(at.tp, at.tp + at.fp) + before) / 2

    return by_curve(W, cells, step, NO_GOLD)


@metric(
    ProbabilityCells,
    better="lower",
    bounds=(0, float("inf")),
    unit_mean=True,
    reference="Good 1952, Rational decisions; as scikit-learn, probabilities kept 2.2e-16 away from 0 and 1",
)
def log_loss(W: Weights, cells: ProbabilityCells) -> Values:
    """Mean, over items, of −ln of the probability that the gold class was given.

    No prediction is probability 0 of the gold class, which costs 36.04. Where items may have several classes: mean over
    all classes of −ln of what was said of each (that it holds, or does not).
    Undefined for scores that are no probabilities.

    >>> # −(ln .8 + ln .5) / 2
    >>> e = karat.evaluate(["yes", "no"], [0.8, 0.5], context="probabilities", metrics=["log_loss"])
    >>> round(e["log_loss"].value, 4)
    0.4581
    """
    return _mean(W, cells, cells.surprise)


def _mean(W: Weights, cells: ProbabilityCells, per_item: Floats) -> Values:
    mean = ratio(W @ per_item, W @ cells.ones, "no gold items")
    return mean if not cells.trusted else defined(mean.value, False, cells.trusted)


@metric(
    ProbabilityCells,
    better="lower",
    bounds=(0, 2),
    unit_mean=True,
    reference="Brier 1950, doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2",
)
def brier(W: Weights, cells: ProbabilityCells) -> Values:
    """Mean, over items, of the squared distance between the probabilities and the truth.

    Two classes: (p − y)², p the positive class's probability and y 1 where it is gold (0 to 1). More: Σ_c (p_c − y_c)²
    (0 to 2). Several classes to an item: the mean of (p_c − y_c)² over classes. No prediction is as far off as can be.
    Undefined for scores that are no probabilities.

    >>> # ((1 − .8)² + (0 − .5)²) / 2
    >>> e = karat.evaluate(["yes", "no"], [0.8, 0.5], context="probabilities", metrics=["brier"])
    >>> round(e["brier"].value, 4)
    0.145
    """
    return _mean(W, cells, cells.square)


@metric(ProbabilityCells, unit_mean=True, title="Top-k accuracy", reference="share of items with gold among the k best")
def hit(W: Weights, cells: ProbabilityCells, *, k: int = 2) -> Values:
    """Share of items whose gold class is among the k classes with the highest scores.

    Classes that score as high as gold's share the places that are left, so that no order of names decides.
    No prediction is no hit. Undefined without gold items, and where items may have several classes.

    >>> # B is second of {A, B, C}, C is third: 1/2
    >>> rows = [{"A": 0.5, "B": 0.3, "C": 0.2}, {"A": 0.5, "B": 0.3, "C": 0.2}]
    >>> karat.evaluate(["B", "C"], rows, context="probabilities", metrics=["top_k_accuracy@2"])["hit@2"].value
    0.5
    """
    if cells.several:
        return defined(np.zeros(W.shape[0]), False, "items may have several classes: rank them in context multilabel")
    above, level = cells.beaten
    per_item = np.where(cells.answered, np.clip((k - above) / np.maximum(level, 1), 0.0, 1.0), 0.0)
    return ratio(W @ per_item, W @ cells.ones, "no gold items")


@metric(ProbabilityCells, unit_mean=True, reference="share of right answers")
def accuracy(W: Weights, cells: ProbabilityCells) -> Values:
    """Share of items whose predicted class is gold's.

    Predicted is the class with the highest score; of two classes the positive one from the threshold on (0.5, or 0 for
    scores that are no probabilities); of several to an item all from the threshold on, which must be gold's set.
    No prediction is wrong. Undefined without gold items.

    >>> # yes at .8 is right, yes at .5 is not
    >>> karat.evaluate(["yes", "no"], [0.8, 0.5], context="probabilities", metrics=["accuracy"])["accuracy"].value
    0.5
    """
    return ratio(W @ cells.exact, W @ cells.ones, "no gold items")
