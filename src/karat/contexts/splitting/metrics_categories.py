# SPDX-License-Identifier: Apache-2.0
"""Categorisation metrics: when both sides say what a file is, is that right? A missing category is wrong."""

from __future__ import annotations

from typing import Literal

from karat.cells import Sparse, Weights
from karat.contexts.splitting.cells import SplittingCells
from karat.metric import metric
from karat.score import Values, ratio

Over = Literal["pages", "files"]
_NO_CATEGORY = "predictions carry no categories"
_AWS = "Share of gold pages, or of gold files with the same pages, with the same category"


@metric(SplittingCells, title="Category accuracy", reference=_AWS)
def category_accuracy(W: Weights, cells: SplittingCells, *, over: Over = "pages") -> Values:
    """Share of pages whose predicted category is the gold one; with over=files, of gold files.

    A = right / all; a file is right if a predicted file has both its borders and its category.
    Undefined if predictions carry no categories.

    >>> # pages 1, 2 invoice in both; page 3 is a letter, predicted invoice: 2/3
    >>> gold = [{"document_id": "a", "files": [[1, 2, "invoice"], [3, 3, "letter"]]}]
    >>> pred = [{"document_id": "a", "files": [[1, 2, "invoice"], [3, 3, "invoice"]]}]
    >>> round(karat.evaluate(gold, pred, metrics=["category_accuracy"])["category_accuracy"].value, 4)
    0.6667
    """
    if over == "files":
        return ratio((W @ cells.category_exact_of).sum(-1), (W @ cells.category_files_of).sum(-1), _NO_CATEGORY)
    return ratio((W @ cells.category_hit_of).sum(-1), (W @ cells.category_pages_of).sum(-1), _NO_CATEGORY)


def gold_side(cells: SplittingCells, *, over: Over) -> Sparse:
    """Gold pages or files by category."""
    return cells.category_files_of if over == "files" else cells.category_pages_of


@metric(SplittingCells, by_class=True, support=gold_side, symmetric=True, title="Category F1", reference=_AWS)
def category_f1(W: Weights, cells: SplittingCells, *, over: Over = "pages") -> Values:
    """Harmonic mean of precision and recall of a category over pages; with over=files, over files.

    F1 = 2·right / (gold + predicted), counted for the category.
    Undefined for a category on neither side, or if predictions carry no categories.

    >>> # invoice 2·2/(2 + 3) = 0.8, letter 0: macro 0.4
    >>> gold = [{"document_id": "a", "files": [[1, 2, "invoice"], [3, 3, "letter"]]}]
    >>> pred = [{"document_id": "a", "files": [[1, 2, "invoice"], [3, 3, "invoice"]]}]
    >>> karat.evaluate(gold, pred, metrics=["category_f1(average=macro)"])["category_f1"].value
    0.4
    """
    if over == "files":
        hit, pred = cells.category_exact_of, cells.category_pred_files_of
    else:
        hit, pred = cells.category_hit_of, cells.category_pred_of
    return ratio(2 * (W @ hit), W @ gold_side(cells, over=over) + W @ pred, _NO_CATEGORY)
