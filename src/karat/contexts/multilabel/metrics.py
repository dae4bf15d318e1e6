# SPDX-License-Identifier: Apache-2.0
"""Metrics of label sets as wholes."""

from __future__ import annotations

from karat.cells import Weights
from karat.contexts.multilabel.cells import MultiLabelCells
from karat.metric import metric
from karat.score import Values, ratio


@metric(MultiLabelCells, unit_mean=True, symmetric=True, reference="Zhang & Zhou 2014, doi:10.1109/TKDE.2013.39")
def subset_accuracy(W: Weights, cells: MultiLabelCells) -> Values:
    """Share of gold items whose predicted set is exactly the gold set.

    Undefined without gold items.

    >>> # gold {A, B}, {A}; predicted {A, B}, {B}: 1 of 2
    >>> karat.evaluate([["A", "B"], ["A"]], [["A", "B"], ["B"]], metrics=["subset_accuracy"])["subset_accuracy"].value
    0.5
    """
    return ratio(W @ cells.exact, W @ cells.in_gold, "no gold items")


@metric(MultiLabelCells, better="lower", symmetric=True, reference="Zhang & Zhou 2014, doi:10.1109/TKDE.2013.39")
def hamming_loss(W: Weights, cells: MultiLabelCells) -> Values:
    """Share of (item, class) decisions that are wrong.

    HL = Σ_c (gold_c + predicted_c − 2·hits_c) / (n·K), K the classes in use on either side.
    Undefined without gold items or classes.

    >>> # gold {A, B}, {A}; predicted {A, B}, {B}: A missed and B added in the second: 2 of 2·2
    >>> karat.evaluate([["A", "B"], ["A"]], [["A", "B"], ["B"]], metrics=["hamming_loss"])["hamming_loss"].value
    0.5
    """
    gold, pred = W @ cells.gold_of, W @ cells.pred_of
    wrong = (gold + pred - 2 * (W @ cells.hit_of)).sum(-1)
    return ratio(wrong, (W @ cells.in_gold) * ((gold > 0) | (pred > 0)).sum(-1), "no gold items or classes")
