# SPDX-License-Identifier: Apache-2.0
"""Metrics of confidence: what other thresholds would give, and whether confidences mean what they say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from karat.cells import Grouped, Sparse, Weights
from karat.contexts.curve import first_best
from karat.contexts.splitting.cells import SplittingCells
from karat.contexts.splitting.confidence import average_precision as _average_precision
from karat.contexts.splitting.confidence import f1_at
from karat.metric import MetricError, metric
from karat.score import Floats, Values, defined, ratio

_NO_CONFIDENCE = "no confidences"
_NO_FIRST = "no first page with a confidence"


_BLOCK = 10_000_000
"""Numbers in one block of rows × levels: 80 MB."""


class _Curve(NamedTuple):
    """First pages and pages at or above each level of confidence, for some rows of the weights."""

    hits: Floats
    shown: Floats
    thresholds: Floats


def _reduced(W: Weights, cells: SplittingCells, reduce: Callable[[_Curve], Floats]) -> Values:
    """A number from the curve of each row, undefined without confidences or first pages."""
    if not len(cells.thresholds):
        return Values(np.full(W.shape[0], np.nan), _NO_CONFIDENCE)
    parts = [defined(reduce(curve), curve.hits[:, -1] > 0, "").value for curve in _curves(W, cells)]
    return Values(np.concatenate(parts) if parts else np.zeros(0), _NO_FIRST)


def _curves(W: Weights, cells: SplittingCells) -> Iterator[_Curve]:
    """Curves of all rows, in blocks that keep memory bounded whatever the number of levels."""
    if W.grouped and W.shape[0] * len(cells.thresholds) > _BLOCK:
        yield from _group_curves(W.grouped, cells)
        return
    for rows in W.blocks(_BLOCK // len(cells.thresholds)):
        yield _Curve(np.cumsum(rows @ cells.firsts_at, -1), np.cumsum(rows @ cells.shown_at, -1), cells.thresholds)


def _group_curves(W: Grouped, cells: SplittingCells) -> Iterator[_Curve]:
    """Blocks of groups, each with the levels that occur in it."""
    order = np.argsort(W.group, kind="stable")
    pages = np.asarray(np.bincount(W.group, cells.rated, W.shape[0]), float)
    for low, high in _spans(pages):
        inside = order[np.searchsorted(W.group[order], low) : np.searchsorted(W.group[order], high)]
        firsts, shown = (x.rows(inside) for x in (cells.firsts_at, cells.shown_at))
        used, column = np.unique(shown.col, return_inverse=True)
        rows = Grouped(W.group[inside] - low, W.n[inside], (high - low, len(inside)))
        every = rows @ Sparse(shown.row, column.reshape(-1), shown.data, (len(inside), max(len(used), 1)))
        first = rows @ Sparse(
            firsts.row, np.searchsorted(used, firsts.col), firsts.data, (len(inside), max(len(used), 1))
        )
        yield _Curve(np.cumsum(first, -1), np.cumsum(every, -1), cells.thresholds[used] if len(used) else np.zeros(1))


def _spans(pages: Floats) -> Iterator[tuple[int, int]]:
    """Consecutive groups whose groups × pages stay within a block."""
    low, total = 0, 0.0
    for high, size in enumerate(pages.tolist()):
        if high > low and (high - low + 1) * (total + size) > _BLOCK:
            yield low, high
            low, total = high, 0.0
        total += size
    yield low, len(pages)


@metric(
    SplittingCells, reference="Zhu 2004, Recall, precision and average precision; the step-wise sum of scikit-learn"
)
def average_precision(W: Weights, cells: SplittingCells) -> Values:
    """Area under the precision-recall curve of first pages ranked by confidence.

    AP = Σ_t (R_t − R_{t−1})·P_t over thresholds t, from the highest confidence down; equal confidences are one
    step.
    Undefined without confidences or without first pages.

    >>> # ranked 1 (first), 2 (not), 3 (first): 1/2·1/1 + 1/2·2/3 = 5/6
    >>> gold = [{"document_id": "a", "pages": 3, "first_pages": [1, 3]}]
    >>> pages = [{"number": n, "is_first_page": c > 0.5, "confidence": c} for n, c in ((1, 0.9), (2, 0.7), (3, 0.6))]
    >>> e = karat.evaluate(gold, [{"document_id": "a", "pages": pages}], metrics=["average_precision"])
    >>> round(e["average_precision"].value, 4)
    0.8333
    """
    return _reduced(W, cells, lambda curve: _average_precision(curve.hits, curve.shown))


@metric(SplittingCells, title="Best F1", reference="F1 at the threshold that maximises it")
def best_f1(W: Weights, cells: SplittingCells) -> Values:
    """Highest F1 of first pages that any one threshold on confidence gives.

    max_t 2·TP_t / (predicted_t + first pages), predicted_t the pages with confidence ≥ t.
    Undefined without confidences or without first pages.

    >>> # t = 0.9: 2·1/(1+2) = 2/3; t = 0.7: 2·1/(2+2); t = 0.6: 2·2/(3+2) = 4/5
    >>> gold = [{"document_id": "a", "pages": 3, "first_pages": [1, 3]}]
    >>> pages = [{"number": n, "is_first_page": c > 0.5, "confidence": c} for n, c in ((1, 0.9), (2, 0.7), (3, 0.6))]
    >>> karat.evaluate(gold, [{"document_id": "a", "pages": pages}], metrics=["best_f1"])["best_f1"].value
    0.8
    """
    return _reduced(W, cells, lambda curve: f1_at(curve.hits, curve.shown).max(-1))


@metric(SplittingCells, better="neither", reference="Threshold that maximises F1")
def best_threshold(W: Weights, cells: SplittingCells) -> Values:
    """Threshold on confidence with the highest F1 of first pages; of equal ones, the highest.

    A page is predicted first if its confidence is at least the threshold.
    Undefined without confidences or without first pages.

    >>> # F1 is 2/3 at 0.9, 1/2 at 0.7 and 4/5 at 0.6
    >>> gold = [{"document_id": "a", "pages": 3, "first_pages": [1, 3]}]
    >>> pages = [{"number": n, "is_first_page": c > 0.5, "confidence": c} for n, c in ((1, 0.9), (2, 0.7), (3, 0.6))]
    >>> karat.evaluate(gold, [{"document_id": "a", "pages": pages}], metrics=["best_threshold"])["best_threshold"].value
    0.6
    """
    return _reduced(W, cells, lambda curve: curve.thresholds[first_best(f1_at(curve.hits, curve.shown))])


@metric(
    SplittingCells,
    better="lower",
    title="Brier score",
    reference="Brier 1950, doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2",
)
def brier(W: Weights, cells: SplittingCells) -> Values:
    """Mean squared difference between the confidence that a page is first and the truth (0 or 1).

    B = Σ (confidence − [first])² / n over the n pages with a confidence.
    Undefined without confidences.

    >>> # (0.9 − 1)² + (0.4 − 0)² = 0.01 + 0.16, over two pages
    >>> gold = [{"document_id": "a", "pages": 2, "first_pages": [1]}]
    >>> pages = [{"number": n, "is_first_page": c > 0.5, "confidence": c} for n, c in ((1, 0.9), (2, 0.4))]
    >>> round(karat.evaluate(gold, [{"document_id": "a", "pages": pages}], metrics=["brier"])["brier"].value, 4)
    0.085
    """
    return ratio(W @ cells.squared_error, W @ cells.rated, _NO_CONFIDENCE)


@metric(
    SplittingCells,
    better="lower",
    title="Calibration error",
    reference="Naeini, Cooper & Hauskrecht 2015, doi:10.1609/aaai.v29i1.9602",
)
def calibration_error(W: Weights, cells: SplittingCells, *, bins: int = 10) -> Values:
    """Expected calibration error: how far confidence is from the share of first pages, bin by bin.

    ECE = Σ_b |c_b − f_b| / pages, c_b the sum of the confidences in bin b and f_b its first pages; bins of equal
    width over 0 to 1.
    Undefined without confidences.

    >>> # two bins: page 2 has 0.4 against 0 firsts, page 1 has 0.9 against 1: (0.4 + 0.1) / 2
    >>> gold = [{"document_id": "a", "pages": 2, "first_pages": [1]}]
    >>> pages = [{"number": n, "is_first_page": c > 0.5, "confidence": c} for n, c in ((1, 0.9), (2, 0.4))]
    >>> e = karat.evaluate(gold, [{"document_id": "a", "pages": pages}], metrics=["calibration_error(bins=2)"])
    >>> round(e["calibration_error"].value, 4)
    0.25
    """
    if bins < 1:
        raise MetricError(f"bins={bins}: calibration_error needs at least 1 bin")
    pages, firsts, confidence = (W @ x for x in cells.calibration(bins))
    return ratio(np.abs(confidence - firsts).sum(-1), pages.sum(-1), _NO_CONFIDENCE)
