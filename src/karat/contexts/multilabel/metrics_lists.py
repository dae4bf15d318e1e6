# SPDX-License-Identifier: Apache-2.0
"""Ranked labels against label sets: the first label, the first k, and whole rankings."""

from __future__ import annotations

from typing import Literal

import numpy as np

from karat.cells import Floats, Weights
from karat.contexts.multilabel.cells import MultiLabelCells
from karat.contexts.multilabel.lists import Lists
from karat.metric import MetricError, metric
from karat.score import Values, ratio

_IEEE = "Guo 2022, field-of-study classification of IEEE papers (documentation)"
_MANNING = "Manning, Raghavan & Schütze 2008, Introduction to Information Retrieval, §8.4"
_TSOUMAKAS = "Tsoumakas, Katakis & Vlahavas 2010, Mining multi-label data, doi:10.1007/978-0-387-09823-4_34"
_NO_TRUTH = "no item has gold labels"


def _lists(cells: MultiLabelCells, level: int | None) -> Lists:
    if level is not None and level < 0:
        raise MetricError(f"level={level}: levels of a hierarchy count from 0, the roots")
    return cells.lists(level)


def _mean(W: Weights, x: Floats, use: Floats) -> Values:
    """Mean of ``x`` over the items in use."""
    return ratio(W @ (x * use), W @ use, _NO_TRUTH)


def _known(ranked: Lists, cells: MultiLabelCells) -> Floats:
    """1 for gold items that have gold labels (at the level); the others have no right answer."""
    return ((ranked.truths > 0) & (cells.in_gold > 0)).astype(float)


def _share(num: Floats, den: Floats) -> Floats:
    return np.divide(num, den, out=np.zeros(len(num)), where=den > 0)


@metric(MultiLabelCells, unit_mean=True, symmetric=True, reference="Zhang & Zhou 2014, doi:10.1109/TKDE.2013.39")
def accuracy(W: Weights, cells: MultiLabelCells) -> Values:
    """Share of gold items whose predicted set is exactly the gold set, as scikit-learn's accuracy of label sets.

    With one label per item on both sides, plain accuracy.
    Undefined without gold items.

    >>> # gold {A}, {A, B}; predicted {A}, {A}: 1 of 2
    >>> karat.evaluate([["A"], ["A", "B"]], [["A"], ["A"]], metrics=["accuracy"])["accuracy"].value
    0.5
    """
    return ratio(W @ cells.exact, W @ cells.in_gold, "no gold items")


@metric(MultiLabelCells, unit_mean=True, reference=_IEEE)
def adjusted_accuracy(W: Weights, cells: MultiLabelCells, *, level: int | None = None) -> Values:
    """Share of items whose first predicted label is one of the gold labels.

    [first label ∈ gold set], averaged over items with gold labels; no prediction counts 0. At a ``level`` of the
    hierarchy (0: roots) labels stand for their ancestors there.
    Undefined when no item has gold labels.

    >>> # first labels B and D; gold {A, D, E}, {A, B, C, D, E}: 0 and 1
    >>> gold, pred = [["A", "D", "E"], ["A", "B", "C", "D", "E"]], [["B"], ["D"]]
    >>> karat.evaluate(gold, pred, metrics=["adjusted_accuracy"])["adjusted_accuracy"].value
    0.5
    """
    ranked = _lists(cells, level)
    return _mean(W, ranked.hits(1), _known(ranked, cells))


Denominator = Literal["predicted", "k", "true", "union"]


@metric(MultiLabelCells, unit_mean=True, reference=_IEEE)
def average_accuracy(
    W: Weights, cells: MultiLabelCells, *, k: int = 5, denominator: Denominator = "predicted",
    mean: Literal["item", "pooled"] = "item", empty: Literal["zero", "skip"] = "zero", level: int | None = None,
) -> Values:  # fmt: skip
    """Mean over items of the share of their first k labels that are gold labels.

    |first k ∩ gold| / denominator: the labels ``predicted`` (at most k), ``k``, the ``true`` ones, or the ``union``;
    ``pooled`` divides sums over items. An item without predictions counts 0, or is skipped (``empty``); items without
    gold labels are left out. Undefined when no item has gold labels.

    >>> # 1 of 3, then 5 of 5
    >>> gold, pred = [[0, 3, 4], [0, 1, 2, 3, 4]], [[0, 1, 2], [0, 1, 2, 3, 4]]
    >>> e = karat.evaluate(gold, pred, metrics=["average_accuracy"])
    >>> round(e["average_accuracy"].value, 4)
    0.6667
    """
    ranked = _lists(cells, level)
    hits, den, use = ranked.hits(k), _denominator(ranked, k, denominator), _known(ranked, cells)
    use = use * (ranked.length > 0) if empty == "skip" else use
    if mean == "pooled":
        return ratio(W @ (hits * use), W @ (den * use), _NO_TRUTH)
    return _mean(W, _share(hits, den), use)


def _denominator(ranked: Lists, k: int, name: Denominator) -> Floats:
    listed = ranked.listed(k)
    if name == "k":
        return np.full(len(listed), float(k))
    both = {"predicted": listed, "true": ranked.truths, "union": listed + ranked.truths - ranked.hits(k)}
    return both[name]


@metric(MultiLabelCells, unit_mean=True, title="Top-k precision", reference=_MANNING)
def topk_precision(W: Weights, cells: MultiLabelCells, *, k: int = 5, level: int | None = None) -> Values:
    """Mean over items of the share of k places that hold a gold label: precision at k.

    |first k ∩ gold| / k; a list shorter than k wastes its places.
    Undefined when no item has gold labels.

    >>> # one of the first 2
    >>> karat.evaluate([["A", "B"]], [["A", "C", "B"]], metrics=["topk_precision@2"])["topk_precision"].value
    0.5
    """
    ranked = _lists(cells, level)
    return _mean(W, ranked.hits(k) / k, _known(ranked, cells))


@metric(MultiLabelCells, unit_mean=True, title="Top-k recall", reference=_MANNING)
def topk_recall(W: Weights, cells: MultiLabelCells, *, k: int = 5, level: int | None = None) -> Values:
    """Mean over items of the share of gold labels among the first k: recall at k.

    |first k ∩ gold| / |gold|.
    Undefined when no item has gold labels.

    >>> # A of A, B and D
    >>> e = karat.evaluate([["A", "B", "D"]], [["A", "C", "B"]], metrics=["topk_recall@2"])
    >>> round(e["topk_recall"].value, 4)
    0.3333
    """
    ranked = _lists(cells, level)
    return _mean(W, _share(ranked.hits(k), ranked.truths), _known(ranked, cells))


@metric(MultiLabelCells, unit_mean=True, title="Top-k F1", reference=_MANNING)
def topk_f1(W: Weights, cells: MultiLabelCells, *, k: int = 5, level: int | None = None) -> Values:
    """Mean over items of the F1 of the first k labels against the gold set.

    2·|first k ∩ gold| / (|first k| + |gold|).
    Undefined when no item has gold labels.

    >>> # 2·1 / (2 + 3)
    >>> karat.evaluate([["A", "B", "D"]], [["A", "C", "B"]], metrics=["topk_f1@2"])["topk_f1"].value
    0.4
    """
    ranked = _lists(cells, level)
    return _mean(W, _share(2 * ranked.hits(k), ranked.listed(k) + ranked.truths), _known(ranked, cells))


@metric(
    MultiLabelCells,
    unit_mean=True,
    title="Hit",
    reference="top-k accuracy; Russakovsky et al. 2015, doi:10.1007/s11263-015-0816-y",
)
def hit(W: Weights, cells: MultiLabelCells, *, k: int = 5, level: int | None = None) -> Values:
    """Share of items with at least one gold label among the first k.

    Undefined when no item has gold labels.

    >>> # found at place 2 of the first, nowhere in the second
    >>> karat.evaluate([["A"], ["B"]], [["C", "A"], ["C", "D"]], metrics=["hit@2"])["hit"].value
    0.5
    """
    ranked = _lists(cells, level)
    return _mean(W, (ranked.hits(k) > 0).astype(float), _known(ranked, cells))


@metric(MultiLabelCells, unit_mean=True, better="lower", bounds=(0, float("inf")), reference=_TSOUMAKAS)
def coverage_error(W: Weights, cells: MultiLabelCells, *, level: int | None = None) -> Values:
    """Mean over items of how far down the ranking one must go to meet every gold label.

    Ties count at their worst place; labels that a ranking leaves out share the last place, the number of labels
    of the whole collection, in test cases and slices too. Undefined when no item has gold labels.

    >>> # B stands third
    >>> karat.evaluate([["A", "B"]], [["A", "C", "B"]], metrics=["coverage_error"])["coverage_error"].value
    3.0
    """
    ranked = _lists(cells, level)
    return _mean(W, ranked.coverage(), _known(ranked, cells))


@metric(MultiLabelCells, unit_mean=True, title="LRAP", reference=_TSOUMAKAS)
def label_ranking_average_precision(W: Weights, cells: MultiLabelCells, *, level: int | None = None) -> Values:
    """Mean over items and their gold labels of the share of gold labels among those ranked as high or higher.

    (1/|gold|) Σ_l h_l / r_l over gold labels l, r_l the place of l and h_l the gold labels there or above; ties,
    labels and labels left out as in coverage_error.
    Undefined when no item has gold labels.

    >>> # A: 1/1, B: 2/3
    >>> name = "label_ranking_average_precision"
    >>> round(karat.evaluate([["A", "B"]], [["A", "C", "B"]], metrics=[name])[name].value, 4)
    0.8333
    """
    ranked = _lists(cells, level)
    return _mean(W, ranked.ranking_precision(), _known(ranked, cells))


@metric(MultiLabelCells, unit_mean=True, better="lower", reference=_TSOUMAKAS)
def label_ranking_loss(W: Weights, cells: MultiLabelCells, *, level: int | None = None) -> Values:
    """Mean over items of the share of (gold label, other label) pairs in which the other ranks as high or higher.

    0 for an item whose gold labels are all the labels there are; labels and labels left out as in coverage_error.
    Undefined when no item has gold labels.

    >>> # pairs A–C right, B–C wrong
    >>> e = karat.evaluate([["A", "B"]], [["A", "C", "B"]], metrics=["label_ranking_loss"])
    >>> e["label_ranking_loss"].value
    0.5
    """
    ranked = _lists(cells, level)
    return _mean(W, ranked.ranking_loss(), _known(ranked, cells))
