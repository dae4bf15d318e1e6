# SPDX-License-Identifier: Apache-2.0
"""What a threshold buys: the best score at any threshold, recall at a precision, and what the top of the list holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from karat.cells import Floats, Weights
from karat.contexts.curve import Steps
from karat.contexts.groups import less
from karat.contexts.probabilities.cells import ProbabilityCells
from karat.contexts.probabilities.metrics import ALONE, NO_GOLD, by_curve, share
from karat.metric import MetricError, metric
from karat.score import Values

Of = Literal["f1", "accuracy", "balanced_accuracy", "mcc", "precision", "recall", "jaccard"]


def f1_at(at: Steps) -> Floats:
    return share(2 * at.tp, at.tp + at.fp + at.positives)


def accuracy_at(at: Steps) -> Floats:
    return share(at.tp + at.negatives - at.fp, at.positives + at.negatives)


def balanced_accuracy_at(at: Steps) -> Floats:
    return (share(at.tp, at.positives) + 1 - share(at.fp, at.negatives)) / 2


def mcc_at(at: Steps) -> Floats:
    size, chosen = at.positives + at.negatives, at.tp + at.fp
    left = less(size, chosen)  # below the last score rounding would be left, whose square root is none
    spread = np.sqrt(np.maximum(chosen * left * at.positives * at.negatives, 0.0))
    return share(at.tp * (at.negatives - at.fp) - at.fp * (at.positives - at.tp), spread)


def precision_at(at: Steps) -> Floats:
    return share(at.tp, at.tp + at.fp)


def recall_at(at: Steps) -> Floats:
    return share(at.tp, at.positives)


def jaccard_at(at: Steps) -> Floats:
    return share(at.tp, at.positives + at.fp)


AT: dict[str, Callable[[Steps], Floats]] = {
    "f1": f1_at,
    "accuracy": accuracy_at,
    "balanced_accuracy": balanced_accuracy_at,
    "mcc": mcc_at,
    "precision": precision_at,
    "recall": recall_at,
    "jaccard": jaccard_at,
}
"""Metrics of one class by the counts above a threshold."""


def never(at: Steps) -> Steps:
    """The counts where the class is never predicted."""
    return at._replace(tp=at.tp * 0, fp=at.fp * 0)


def _or_none(step: Callable[[Steps], Floats]) -> Callable[[Steps], Floats]:
    """The step, or its value where the class is never predicted, whichever is larger."""

    def larger(at: Steps) -> Floats:
        return np.maximum(step(at), step(never(at)))

    return larger


@metric(
    ProbabilityCells,
    bounds=(-1, 1),
    by_class=True,
    title="Best over thresholds",
    reference="Lipton et al. 2014, doi:10.1007/978-3-662-44851-9_15",
)
def best(W: Weights, cells: ProbabilityCells, *, of: Of = "f1") -> Values:
    """The largest value of a metric of one class at any threshold, each of the class's scores being tried.

    max_t m(items that score t or more are predicted), or none is. It is tuned on the very data that it is measured on, and
    so too good by as much as chance gives: choose the threshold on other data (the detail *thresholds* names it), then
    score with ``threshold=``. Undefined for a class that all items or none have.

    >>> # from .4 on: hits 2, predicted 3, gold 2: 2·2/(3 + 2)
    >>> gold, score = ["yes", "no", "yes", "no"], [0.8, 0.6, 0.4, 0.2]
    >>> e = karat.evaluate(gold, score, context="probabilities", metrics=["best(of=f1)"])
    >>> e["best"].value
    0.8
    """
    return by_curve(W, cells, _or_none(AT[of]), ALONE, np.maximum)


@metric(ProbabilityCells, by_class=True, reference="recall at a set precision, over all thresholds")
def recall_at_precision(W: Weights, cells: ProbabilityCells, *, precision: float = 0.9) -> Values:
    """The largest recall at any threshold whose precision is at least ``precision``.

    max {R_t : P_t ≥ precision}; 0 where no threshold reaches it. Tuned on this data, as `best` is.
    Undefined for a class that no item has.

    >>> # only the first of the two positives comes before a negative
    >>> gold, score = ["yes", "no", "yes", "no"], [0.8, 0.6, 0.4, 0.2]
    >>> e = karat.evaluate(gold, score, context="probabilities", metrics=["recall_at_precision(precision=0.9)"])
    >>> e["recall_at_precision"].value
    0.5
    """
    _rate("precision", precision)
    close = precision - 1e-12
    step = lambda at: np.where((precision_at(at) >= close) & (at.tp + at.fp > 0), recall_at(at), 0.0)
    return by_curve(W, cells, step, NO_GOLD, np.maximum)


@metric(ProbabilityCells, by_class=True, reference="precision at a set recall, over all thresholds")
def precision_at_recall(W: Weights, cells: ProbabilityCells, *, recall: float = 0.9) -> Values:
    """The largest precision at any threshold whose recall is at least ``recall``.

    max {P_t : R_t ≥ recall}. Tuned on this data, as `best` is. Undefined for a class that no item has.

    >>> # to have both positives, one negative comes along: 2/3
    >>> gold, score = ["yes", "no", "yes", "no"], [0.8, 0.6, 0.4, 0.2]
    >>> e = karat.evaluate(gold, score, context="probabilities", metrics=["precision_at_recall"])
    >>> round(e["precision_at_recall"].value, 4)
    0.6667
    """
    _rate("recall", recall)
    close = recall - 1e-12
    step = lambda at: np.where(recall_at(at) >= close, precision_at(at), 0.0)
    return by_curve(W, cells, step, NO_GOLD, np.maximum)


@metric(ProbabilityCells, by_class=True, reference="true positive rate at a set false positive rate")
def recall_at_fpr(W: Weights, cells: ProbabilityCells, *, fpr: float = 0.05) -> Values:
    """The largest recall at any threshold whose false positive rate is at most ``fpr``.

    max {R_t : FP_t / negatives ≤ fpr}; 0 where none is. With 0 no negative may come along. Undefined for a class
    that all items or none have.

    >>> # no negative may come along: one of two positives
    >>> gold, score = ["yes", "no", "yes", "no"], [0.8, 0.6, 0.4, 0.2]
    >>> karat.evaluate(gold, score, context="probabilities", metrics=["recall_at_fpr"])["recall_at_fpr"].value
    0.5
    """
    _rate("fpr", fpr, none=True)
    step = lambda at: np.where(share(at.fp, at.negatives) <= fpr + 1e-12, recall_at(at), 0.0)
    return by_curve(W, cells, step, ALONE, np.maximum)


@metric(
    ProbabilityCells, by_class=True, title="Kolmogorov–Smirnov", reference="Smirnov 1948; doi:10.1214/aoms/1177730256"
)
def ks(W: Weights, cells: ProbabilityCells) -> Values:
    """The largest gap between true and false positive rate at any threshold (Youden's J at its best).

    max_t (TP_t / positives − FP_t / negatives). Undefined for a class that all items or none have.

    >>> # after the first item: 1/2 − 0
    >>> gold, score = ["yes", "no", "yes", "no"], [0.8, 0.6, 0.4, 0.2]
    >>> karat.evaluate(gold, score, context="probabilities", metrics=["ks"])["ks"].value
    0.5
    """
    step = lambda at: np.maximum(share(at.tp, at.positives) - share(at.fp, at.negatives), 0.0)
    return by_curve(W, cells, step, ALONE, np.maximum)


def _positives_in_top(at: float) -> Callable[[Steps], Floats]:
    """Positives among the share ``at`` of items with the highest scores; a score that is cut gives its share."""

    def step(s: Steps) -> Floats:
        inside = np.clip(at * (s.positives + s.negatives) - sum(s.above), 0.0, s.dtp + s.dfp)
        return share(s.dtp * inside, s.dtp + s.dfp)

    return step


@metric(ProbabilityCells, by_class=True, reference="cumulative gains")
def gain(W: Weights, cells: ProbabilityCells, *, top: float = 0.1) -> Values:
    """Share of a class's items that are among the ``top`` share of all items with the highest scores.

    Items of the score at which the list is cut count by the share of them that is inside.
    Undefined for a class that no item has.

    >>> # the better half holds one of two positives
    >>> gold, score = ["yes", "no", "yes", "no"], [0.8, 0.6, 0.4, 0.2]
    >>> karat.evaluate(gold, score, context="probabilities", metrics=["gain(top=0.5)"])["gain"].value
    0.5
    """
    _rate("top", top)
    in_top = _positives_in_top(top)
    return by_curve(W, cells, lambda at: share(in_top(at), at.positives), NO_GOLD)


@metric(ProbabilityCells, by_class=True, bounds=(0, float("inf")), reference="cumulative lift")
def lift(W: Weights, cells: ProbabilityCells, *, top: float = 0.1) -> Values:
    """How many times more often the class occurs among the ``top`` share of items than among all.

    gain(top) / top. Undefined for a class that no item has.

    >>> # the first quarter holds half of the positives: twice as many as by chance
    >>> gold, score = ["yes", "no", "yes", "no"], [0.8, 0.6, 0.4, 0.2]
    >>> karat.evaluate(gold, score, context="probabilities", metrics=["lift(top=0.25)"])["lift"].value
    2.0
    """
    _rate("top", top)
    in_top = _positives_in_top(top)
    return by_curve(W, cells, lambda at: share(in_top(at), at.positives) / top, NO_GOLD)


def _rate(name: str, value: float, none: bool = False) -> None:
    if not (0 < value <= 1 or (none and value == 0)):
        raise MetricError(f"{name}={value}: a share lies {'between 0 and 1' if none else 'above 0 and not above 1'}")
