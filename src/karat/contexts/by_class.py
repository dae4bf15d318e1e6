# SPDX-License-Identifier: Apache-2.0
"""Metrics by class, for every context that counts gold, predicted and hit by class."""

from __future__ import annotations

from karat.cells import ClassCells, Weights
from karat.metric import MetricError, metric
from karat.score import Values, ratio

_RIJSBERGEN = "van Rijsbergen, Information Retrieval, 2nd ed., 1979, ch. 7"


@metric(ClassCells, by_class=True, reference=_RIJSBERGEN)
def precision(W: Weights, cells: ClassCells) -> Values:
    """Share of a class's predictions that are right.

    P = hits / predicted, both counted for the class.
    Undefined for a class that is never predicted.

    >>> # gold A A B, predicted A B B: A 1/1, B 1/2, macro 3/4
    >>> karat.evaluate(["A", "A", "B"], ["A", "B", "B"])["precision"].value
    0.75
    """
    return ratio(W @ cells.hit_of, W @ cells.pred_of, "nothing was predicted")


@metric(ClassCells, by_class=True, reference=_RIJSBERGEN)
def recall(W: Weights, cells: ClassCells) -> Values:
    """Share of a class's gold members that were found.

    R = hits / gold, both counted for the class.
    Undefined for a class that never occurs in gold.

    >>> # gold A A B, predicted A B B: A 1/2, B 1/1, macro 3/4
    >>> karat.evaluate(["A", "A", "B"], ["A", "B", "B"])["recall"].value
    0.75
    """
    return ratio(W @ cells.hit_of, W @ cells.gold_of, "nothing in gold")


@metric(ClassCells, by_class=True, symmetric=True, title="F1", reference=_RIJSBERGEN)
def f1(W: Weights, cells: ClassCells) -> Values:
    """Harmonic mean of precision and recall of a class.

    F1 = 2·hits / (gold + predicted); 0 when nothing is hit.
    Undefined for a class that is in neither side.

    >>> # gold A A B, predicted A B B: A 2·1/(2+1), B 2·1/(1+2), macro 2/3
    >>> round(karat.evaluate(["A", "A", "B"], ["A", "B", "B"])["f1"].value, 4)
    0.6667
    """
    return ratio(2 * (W @ cells.hit_of), W @ cells.gold_of + W @ cells.pred_of, "class in neither side")


@metric(ClassCells, by_class=True, title="F-beta", reference=_RIJSBERGEN)
def fbeta(W: Weights, cells: ClassCells, *, beta: float = 1.0) -> Values:
    """Weighted harmonic mean of precision and recall of a class.

    F = (1 + β²)·hits / (β²·gold + predicted); β > 1 favours recall, β < 1 precision.
    Undefined for a class that is in neither side.

    >>> # gold A A B, predicted A B B, β = 2: A 5·1/(4·2+1), B 5·1/(4·1+2): (5/9 + 5/6)/2
    >>> e = karat.evaluate(["A", "A", "B"], ["A", "B", "B"], metrics=["fbeta(beta=2)"])
    >>> round(e["fbeta"].value, 4)
    0.6944
    """
    if beta <= 0:
        raise MetricError(f"beta={beta}: fbeta needs a positive beta")
    b2 = min(beta * beta, 1e150)  # beyond this recall alone is left, and products would overflow
    den = b2 * (W @ cells.gold_of) + W @ cells.pred_of
    return ratio((1 + b2) * (W @ cells.hit_of), den, "class in neither side")


@metric(ClassCells, by_class=True, symmetric=True, reference="Jaccard 1912, doi:10.1111/j.1469-8137.1912.tb05611.x")
def jaccard(W: Weights, cells: ClassCells) -> Values:
    """Intersection over union of a class's gold and predicted members.

    J = hits / (gold + predicted − hits).
    Undefined for a class that is in neither side.

    >>> # gold A A B, predicted A B B: A 1/2, B 1/2
    >>> karat.evaluate(["A", "A", "B"], ["A", "B", "B"], metrics=["jaccard"])["jaccard"].value
    0.5
    """
    hits = W @ cells.hit_of
    return ratio(hits, W @ cells.gold_of + W @ cells.pred_of - hits, "class in neither side")


@metric(ClassCells, better="neither", bounds=(0, float("inf")), by_class=True, reference="number of gold members")
def support(W: Weights, cells: ClassCells) -> Values:
    """Number of gold members of a class; the average over classes is their mean (micro: their sum).

    Undefined where neither side has a class.

    >>> karat.evaluate(["A", "A", "B"], ["A", "B", "B"], metrics=["support"])["support"].by_class["A"].value
    2.0
    """
    gold = W @ cells.gold_of
    return Values(gold, "no class", gold)
