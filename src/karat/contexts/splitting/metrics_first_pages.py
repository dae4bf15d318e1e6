# SPDX-License-Identifier: Apache-2.0
"""Page-level metrics: is each page rightly marked as the first page of a file, or not?

Precision, recall, F1, F-beta and Jaccard come from the metrics by class: the classes of bundles are their categories.
"""

from __future__ import annotations

import numpy as np

from karat.cells import Sparse, Weights
from karat.contexts.groups import less
from karat.contexts.splitting.cells import SplittingCells
from karat.metric import metric
from karat.score import Floats, Values, defined, ratio

_INFINITY = float("inf")
_COUNT = "Number of pages"
_NO_PAGES = "no pages"


def all_pages(cells: SplittingCells) -> Sparse:
    return cells.pages_of


def other_pages(cells: SplittingCells) -> Sparse:
    return cells.others_of


def _table(W: Weights, cells: SplittingCells) -> tuple[Floats, Floats, Floats, Floats]:
    """True positives, false positives, false negatives and true negatives."""
    hits, gold, pred, all_of = (W @ x for x in (cells.hit_of, cells.gold_of, cells.pred_of, cells.pages_of))
    extra = less(pred, hits)
    return hits, extra, less(gold, hits), less(all_of, gold + extra)


def _count(pages: Floats) -> Values:
    return Values(pages, _NO_PAGES, pages)


@metric(SplittingCells, bounds=(0, _INFINITY), by_class=True, symmetric=True, title="True positives", reference=_COUNT)
def tp(W: Weights, cells: SplittingCells) -> Values:
    """Number of first pages that were predicted first.

    Never undefined.

    >>> # gold files begin on pages 1, 3, 5 of 5; predicted ones on 1, 3
    >>> gold = [{"document_id": "a", "pages": 5, "first_pages": [1, 3, 5]}]
    >>> pred = [{"document_id": "a", "pages": 5, "first_pages": [1, 3]}]
    >>> karat.evaluate(gold, pred, metrics=["tp"])["tp"].value
    2.0
    """
    return _count(_table(W, cells)[0])


@metric(SplittingCells, better="lower", bounds=(0, _INFINITY), by_class=True, title="False positives", reference=_COUNT)
def fp(W: Weights, cells: SplittingCells) -> Values:
    """Number of pages that were predicted first and are not.

    Never undefined.

    >>> # the predicted file that begins on page 2 is wrong
    >>> gold = [{"document_id": "a", "pages": 3, "first_pages": [1]}]
    >>> pred = [{"document_id": "a", "pages": 3, "first_pages": [1, 2]}]
    >>> karat.evaluate(gold, pred, metrics=["fp"])["fp"].value
    1.0
    """
    return _count(_table(W, cells)[1])


@metric(SplittingCells, better="lower", bounds=(0, _INFINITY), by_class=True, title="False negatives", reference=_COUNT)
def fn(W: Weights, cells: SplittingCells) -> Values:
    """Number of first pages that were not predicted first.

    Never undefined.

    >>> # page 5 was missed
    >>> gold = [{"document_id": "a", "pages": 5, "first_pages": [1, 3, 5]}]
    >>> pred = [{"document_id": "a", "pages": 5, "first_pages": [1, 3]}]
    >>> karat.evaluate(gold, pred, metrics=["fn"])["fn"].value
    1.0
    """
    return _count(_table(W, cells)[2])


@metric(SplittingCells, bounds=(0, _INFINITY), by_class=True, symmetric=True, title="True negatives", reference=_COUNT)
def tn(W: Weights, cells: SplittingCells) -> Values:
    """Number of other pages that were not predicted first.

    Never undefined.

    >>> # pages 2 and 4
    >>> gold = [{"document_id": "a", "pages": 5, "first_pages": [1, 3, 5]}]
    >>> pred = [{"document_id": "a", "pages": 5, "first_pages": [1, 3]}]
    >>> karat.evaluate(gold, pred, metrics=["tn"])["tn"].value
    2.0
    """
    return _count(_table(W, cells)[3])


@metric(
    SplittingCells,
    by_class=True,
    support=all_pages,
    symmetric=True,
    reference="Wiedemann & Heyer 2018, arXiv:1710.03006",
)
def accuracy(W: Weights, cells: SplittingCells) -> Values:
    """Share of pages that are rightly marked as first or not first.

    A = (TP + TN) / pages.
    Undefined without pages.

    >>> # pages 1 to 4 are right, page 5 is not: 4/5
    >>> gold = [{"document_id": "a", "pages": 5, "first_pages": [1, 3, 5]}]
    >>> pred = [{"document_id": "a", "pages": 5, "first_pages": [1, 3]}]
    >>> karat.evaluate(gold, pred, metrics=["accuracy"])["accuracy"].value
    0.8
    """
    hits, _, _, rest = _table(W, cells)
    return ratio(hits + rest, W @ cells.pages_of, _NO_PAGES)


@metric(SplittingCells, by_class=True, support=other_pages, reference="Yerushalmy 1947, Public Health Reports 62(40)")
def specificity(W: Weights, cells: SplittingCells) -> Values:
    """Share of the pages that begin no file that were left alone.

    S = TN / (TN + FP).
    Undefined if every page begins a file.

    >>> # of pages 2, 3, 4 only page 2 was wrongly predicted first: 2/3
    >>> gold = [{"document_id": "a", "pages": 4, "first_pages": [1]}]
    >>> pred = [{"document_id": "a", "pages": 4, "first_pages": [1, 2]}]
    >>> round(karat.evaluate(gold, pred, metrics=["specificity"])["specificity"].value, 4)
    0.6667
    """
    _, wrong, _, rest = _table(W, cells)
    return ratio(rest, rest + wrong, "every page begins a file")


@metric(
    SplittingCells,
    bounds=(-1, 1),
    by_class=True,
    support=all_pages,
    symmetric=True,
    title="MCC",
    reference="Matthews 1975, doi:10.1016/0005-2795(75)90109-9",
)
def mcc(W: Weights, cells: SplittingCells) -> Values:
    """Correlation of gold and predicted first-page flags (Matthews).

    MCC = (TP·TN − FP·FN) / √((TP+FP)(TP+FN)(TN+FP)(TN+FN)).
    Undefined if all pages are alike in gold or in the prediction.

    >>> # TP 2, FP 0, FN 1, TN 2: (4 − 0) / √(2·3·2·3) = 4/6
    >>> gold = [{"document_id": "a", "pages": 5, "first_pages": [1, 3, 5]}]
    >>> pred = [{"document_id": "a", "pages": 5, "first_pages": [1, 3]}]
    >>> round(karat.evaluate(gold, pred, metrics=["mcc"])["mcc"].value, 4)
    0.6667
    """
    hits, extra, missed, rest = _table(W, cells)
    spread = np.sqrt((hits + extra) * (hits + missed)) * np.sqrt((rest + extra) * (rest + missed))
    return defined(ratio(hits * rest - extra * missed, spread, "").value, spread > 0, "all pages are alike on one side")


@metric(
    SplittingCells,
    bounds=(-1, 1),
    by_class=True,
    support=all_pages,
    symmetric=True,
    title="Cohen's kappa",
    reference="Cohen 1960, doi:10.1177/001316446002000104",
)
def kappa(W: Weights, cells: SplittingCells) -> Values:
    """Agreement of gold and predicted flags beyond what their rates give by chance.

    κ = (o − e) / (1 − e); o = (TP + TN) / pages, e = chance agreement of two independent markers with these rates.
    Undefined if both sides mark every page, or no page.

    >>> # TP 2, FP 0, FN 1, TN 2: o = 4/5, e = (3·2 + 2·3)/25 = 12/25; (20 − 12)/(25 − 12) = 8/13
    >>> gold = [{"document_id": "a", "pages": 5, "first_pages": [1, 3, 5]}]
    >>> pred = [{"document_id": "a", "pages": 5, "first_pages": [1, 3]}]
    >>> round(karat.evaluate(gold, pred, metrics=["kappa"])["kappa"].value, 4)
    0.6154
    """
    hits, extra, missed, rest = _table(W, cells)
    pages = hits + extra + missed + rest
    chance = (hits + extra) * (hits + missed) + (rest + extra) * (rest + missed)
    whole = less(pages**2, chance)
    return defined(ratio(pages * (hits + rest) - chance, whole, "").value, whole > 0, "one mark in use")
