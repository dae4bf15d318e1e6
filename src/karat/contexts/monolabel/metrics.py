# SPDX-License-Identifier: Apache-2.0
"""Metrics of single labels."""

from __future__ import annotations

from typing import Literal

import numpy as np

from karat.cells import Floats, Weights
from karat.contexts.agreement import NO_COPIES
from karat.contexts.groups import less
from karat.contexts.monolabel.cells import MonoLabelCells
from karat.metric import metric
from karat.score import Values, across, defined, ratio

_COHEN = "Cohen 1960, doi:10.1177/001316446002000104"


@metric(
    MonoLabelCells,
    unit_mean=True,
    symmetric=True,
    reference="share of agreement; Sokolova & Lapalme 2009, doi:10.1016/j.ipm.2009.03.002",
)
def accuracy(W: Weights, cells: MonoLabelCells) -> Values:
    """Share of gold items whose predicted label is the gold label.

    A = hits / gold items; an item without a prediction is not hit.
    Undefined without gold items.

    >>> # gold A A B, predicted A B B: 2 of 3
    >>> round(karat.evaluate(["A", "A", "B"], ["A", "B", "B"])["accuracy"].value, 4)
    0.6667
    """
    return ratio(W @ cells.hit, W @ cells.in_gold, "no gold items")


@metric(MonoLabelCells, unit_mean=True, symmetric=True, reference="Amigó et al., EvALL, 2017")
def system_precision(W: Weights, cells: MonoLabelCells) -> Values:
    """Share of predictions that are right.

    SP = hits / predictions; unlike accuracy, missing predictions do not count.
    Undefined without predictions.

    >>> # gold 1:A 2:A, predicted 1:A only: 1 of 1
    >>> karat.evaluate({"1": "A", "2": "A"}, {"1": "A"}, metrics=["system_precision"])["system_precision"].value
    1.0
    """
    return ratio(W @ cells.hit, W @ cells.in_pred, "no predictions")


@metric(MonoLabelCells, reference="Brodersen et al. 2010, doi:10.1109/ICPR.2010.764")
def balanced_accuracy(W: Weights, cells: MonoLabelCells) -> Values:
    """Mean over the gold classes of the share of their items that are hit.

    BA = (1/K) Σ_c hits_c / gold_c over the K classes that occur in gold.
    Undefined without gold items.

    >>> # gold A A B, predicted A B B: (1/2 + 1/1)/2
    >>> karat.evaluate(["A", "A", "B"], ["A", "B", "B"], metrics=["balanced_accuracy"])["balanced_accuracy"].value
    0.75
    """
    recall = ratio(W @ cells.hit_of, W @ cells.gold_of, "").value
    return ratio(np.nansum(recall, -1), (~np.isnan(recall)).sum(-1), "no gold items")


@metric(
    MonoLabelCells,
    better="lower",
    unit_mean=True,
    symmetric=True,
    reference="Hamming 1950, doi:10.1002/j.1538-7305.1950.tb00463.x",
)
def hamming_loss(W: Weights, cells: MonoLabelCells) -> Values:
    """Share of gold items whose label is not hit; with one label per item, 1 − accuracy.

    Undefined without gold items.

    >>> # gold A A B, predicted A B B: 1 of 3
    >>> round(karat.evaluate(["A", "A", "B"], ["A", "B", "B"], metrics=["hamming_loss"])["hamming_loss"].value, 4)
    0.3333
    """
    return ratio(W @ (cells.in_gold - cells.hit), W @ cells.in_gold, "no gold items")


@metric(
    MonoLabelCells,
    better="lower",
    unit_mean=True,
    symmetric=True,
    reference="Hastie et al., Elements of Statistical Learning, 2009, §2.4",
)
def zero_one_loss(W: Weights, cells: MonoLabelCells) -> Values:
    """Share of gold items that are not wholly right: 1 − accuracy.

    Undefined without gold items.

    >>> # gold A A B, predicted A B B: 1 of 3
    >>> round(karat.evaluate(["A", "A", "B"], ["A", "B", "B"], metrics=["zero_one_loss"])["zero_one_loss"].value, 4)
    0.3333
    """
    return ratio(W @ (cells.in_gold - cells.hit), W @ cells.in_gold, "no gold items")


@metric(
    MonoLabelCells,
    bounds=(-1, 1),
    symmetric=True,
    title="Cohen's kappa",
    reference=f"{_COHEN}; weighted: Cohen 1968, doi:10.1037/h0026256",
)
def kappa(W: Weights, cells: MonoLabelCells, *, weights: Literal["none", "linear", "quadratic"] = "none") -> Values:
    """Agreement beyond chance.

    κ = 1 − D_o / D_e: D_o the observed share of disagreement, D_e the one expected from both sides' label counts;
    with weights, a disagreement costs its distance in label order (linear) or the square of it.
    Undefined where chance agreement is total (one label in use). No prediction is a label of its own.

    >>> # gold A A B, predicted A B B: D_o = 1/3, D_e = 1 − (2·1 + 1·2)/9 = 5/9, κ = 1 − 3/5
    >>> round(karat.evaluate(["A", "A", "B"], ["A", "B", "B"])["kappa"].value, 4)
    0.4
    """
    n, gold, answer = W @ cells.in_gold, W @ cells.gold_of, W @ cells.answer_of
    power = {"none": 0, "linear": 1, "quadratic": 2}[weights]
    wrong = cells.distance(power) if power else cells.in_gold - cells.hit
    expected = _chance(gold, answer, n, power)
    return ratio(expected - (W @ wrong) * n, expected, "one label in use: agreement by chance is total")


def _chance(gold: Floats, answer: Floats, n: Floats, power: int) -> Floats:
    """n² times the disagreement that is expected by chance."""
    if not power:
        return np.asarray(less(n**2, across(gold * answer[:, :-1])))
    at = np.arange(gold.shape[1])
    apart = (np.abs(at[:, None] - at) / max(len(at) - 1, 1)) ** power
    apart = np.column_stack([apart, np.ones(len(at))])
    return np.einsum("gi,ij,gj->g", gold, apart, answer, optimize=True)


@metric(
    MonoLabelCells,
    bounds=(-1, 1),
    symmetric=True,
    title="Matthews correlation",
    reference="Gorodkin 2004, doi:10.1016/j.compbiolchem.2004.09.006",
)
def mcc(W: Weights, cells: MonoLabelCells) -> Values:
    """Correlation of gold and predicted labels (Matthews; R_K for more than two).

    R = (hits·n − Σ_c g_c p_c) / √((n² − Σ_c g_c²)(n² − Σ_c p_c²)), g and p the label counts of both sides.
    Undefined where one side uses a single label. No prediction is a label of its own.

    >>> # gold A A B, predicted A B B: (2·3 − 4)/√((9−5)(9−5))
    >>> karat.evaluate(["A", "A", "B"], ["A", "B", "B"], metrics=["mcc"])["mcc"].value
    0.5
    """
    n, gold, answer = W @ cells.in_gold, W @ cells.gold_of, W @ cells.answer_of
    spread = less(n**2, across(gold**2)) * less(n**2, across(answer**2))
    return ratio((W @ cells.hit) * n - across(gold * answer[:, :-1]), np.sqrt(spread), "one side uses a single label")


@metric(
    MonoLabelCells,
    bounds=(-1, 1),
    symmetric=True,
    title="Krippendorff's alpha",
    reference="Krippendorff, Content Analysis, 4th ed., 2018, ch. 12",
)
def krippendorff_alpha(W: Weights, cells: MonoLabelCells) -> Values:
    """Agreement of gold and prediction as two annotators (nominal).

    α = 1 − (2n − 1)·(n − hits)·2 / ((2n)² − Σ_c m_c²), over the n items that both label, m_c the uses of label c.
    Undefined where one label is in use, or where weights are no whole numbers.

    >>> # gold A A B, predicted A B B: m = 3, 3: 1 − 5·1·2/(36 − 18)
    >>> e = karat.evaluate(["A", "A", "B"], ["A", "B", "B"], metrics=["krippendorff_alpha"])
    >>> round(e["krippendorff_alpha"].value, 4)
    0.4444
    """
    if not cells.copies:
        return defined(np.zeros(W.shape[0]), False, NO_COPIES)
    n, used = W @ cells.both, _uses(W, cells)
    disorder = (2 * n) ** 2 - (used**2).sum(-1)
    return ratio(disorder - (2 * n - 1) * 2 * (n - W @ cells.hit), disorder, "one label in use")


@metric(MonoLabelCells, bounds=(-1, 1), symmetric=True, title="Scott's pi", reference="Scott 1955, doi:10.1086/266577")
def scott_pi(W: Weights, cells: MonoLabelCells) -> Values:
    """Agreement beyond chance, chance taken from the label counts of both sides together.

    π = (A − e) / (1 − e), A = hits/n, e = Σ_c (m_c / 2n)², over the n items that both label, m_c the uses of label c.
    Undefined where one label is in use.

    >>> # gold A A B, predicted A B B: e = 2·(3/6)², (2/3 − 1/2)/(1/2)
    >>> round(karat.evaluate(["A", "A", "B"], ["A", "B", "B"], metrics=["scott_pi"])["scott_pi"].value, 4)
    0.3333
    """
    n, used = W @ cells.both, _uses(W, cells)
    chance = (used**2).sum(-1)
    return ratio(4 * n * (W @ cells.hit) - chance, less((2 * n) ** 2, chance), "one label in use")


def _uses(W: Weights, cells: MonoLabelCells) -> Floats:
    """How often each label is used by either side, on items that both label."""
    return W @ (cells.gold_of * cells.both) + W @ (cells.pred_of * cells.both)
