# SPDX-License-Identifier: Apache-2.0
"""Tables beside the scores: errors, timeline, thresholds, calibration and confusion of categories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from karat.contexts.splitting.cells import SplittingCells
from karat.contexts.splitting.confidence import bins_of, f1_at
from karat.contexts.splitting.pages import Floats, Ints
from karat.evaluation import Detail

ERRORS = 1000
"""How many errors the table lists; their number is in the title."""
STEPS = 50
"""How many thresholds the sweep shows."""
BUNDLES = 50
"""How many bundles the timeline shows."""
STRETCH = 60
"""Pages on one line of the timeline."""


def details(cells: SplittingCells) -> Iterator[Detail]:
    """All tables that these cells can fill."""
    yield errors(cells)
    yield timeline(cells)
    if cells.stream.levels is not None and _weights(cells).any():
        yield sweep(cells)
        yield calibration(cells)
    if cells.stream.pred_category is not None and len(cells.classes) <= 200:
        yield confusion(cells, "pages")
        yield confusion(cells, "files")


def _name(cells: SplittingCells, bundle: int) -> str:
    return str(cells.unit_ids[bundle]) if cells.unit_ids is not None else str(bundle + 1)


def errors(cells: SplittingCells) -> Detail:
    """Every border that only one side has, with the confidence that the system gave."""
    pages, stream = cells.stream.pages, cells.stream
    wrong = np.flatnonzero(pages.gold != pages.pred)
    rows = [
        [
            _name(cells, int(pages.bundle[i])),
            int(stream.number[i]),
            "extra first page" if pages.pred[i] else "missed first page",
            _confidence(stream.confidence, i),
            cells.classes[stream.gold_category[i]],
        ]
        for i in wrong[:ERRORS].tolist()
    ]
    title = f"Errors ({len(wrong)} of {len(pages.bundle)} pages)"
    return Detail("errors", title, ["bundle", "page", "error", "confidence", "category"], rows)


def _confidence(confidence: Any, page: int) -> float | None:
    return None if confidence is None or np.isnan(confidence[page]) else float(confidence[page])


def timeline(cells: SplittingCells) -> Detail:
    """Each page as a mark, gold above predicted: | begins a file, - continues it. Bundles with most errors come first."""
    pages = cells.stream.pages
    wrong = pages.count(pages.gold_cut != pages.pred_cut)
    shown = np.argsort(-wrong, kind="stable")[:BUNDLES]
    width = min(STRETCH, int(pages.size[shown].max(initial=0)))
    rows = [row for bundle in shown.tolist() for row in _marks(cells, bundle, width)]
    title = "Gold files above predicted files" + (
        f" (the {BUNDLES} bundles with most errors)" if len(wrong) > BUNDLES else ""
    )
    return Detail("timeline", title, ["bundle", "page", "side", "files"], rows, "timeline")


def _marks(cells: SplittingCells, bundle: int, width: int) -> Iterator[list[Any]]:
    """Two rows for each stretch of pages."""
    pages, start = cells.stream.pages, int(cells.stream.pages.start[bundle])
    end = start + int(pages.size[bundle])
    for low in range(start, end, STRETCH):
        for side, cut in (("gold", pages.gold_cut), ("pred", pages.pred_cut)):
            marks = np.where(cut[low : min(low + STRETCH, end)], "|", "-")
            yield [_name(cells, bundle), int(cells.stream.number[low]), side, "".join(marks.tolist()).ljust(width)]


def sweep(cells: SplittingCells) -> Detail:
    """Precision, recall and F1 of first pages at up to 50 of the thresholds that occur."""
    thresholds, hits, shown = _curve(cells)
    number = int if cells.weight is None else float
    f1 = f1_at(hits, shown)
    at = np.unique(np.append(np.linspace(0, len(f1) - 1, min(STEPS, len(f1))).round().astype(np.int64), np.argmax(f1)))
    total = hits[-1]
    rows = [
        [float(thresholds[i]), number(hits[i]), number(shown[i] - hits[i]), number(total - hits[i]),
         float(hits[i] / shown[i]), float(hits[i] / total) if total else None, float(f1[i]) if total else None]
        for i in at.tolist()
    ]  # fmt: skip
    return Detail(
        "thresholds",
        "Thresholds on confidence" + _by_weight(cells),
        ["threshold", "tp", "fp", "fn", "precision", "recall", "f1"],
        rows,
        "curve",
    )


def _by_weight(cells: SplittingCells) -> str:
    return "" if cells.weight is None else ", by weight"


def _weights(cells: SplittingCells) -> Floats:
    """What each page with a confidence weighs: as much as its bundle."""
    levels = cells.stream.levels
    assert levels is not None
    if cells.weight is None:
        return np.ones(len(levels.bundle))
    weights: Floats = np.bincount(cells.at, cells.weight, cells.stream.pages.bundles).astype(float)[levels.bundle]
    return weights


def _curve(cells: SplittingCells) -> tuple[Floats, Floats, Floats]:
    """Thresholds from the highest down, with first pages and pages at or above each (sorting twice beats ranking once)."""
    levels = cells.stream.levels
    assert levels is not None
    if cells.weight is not None:
        weight = _weights(cells)
        hits, shown = (np.bincount(levels.level, weight * x).astype(float).cumsum() for x in (levels.gold, 1.0))
        return levels.thresholds[shown > 0], hits[shown > 0], shown[shown > 0]
    every, firsts = np.sort(-levels.confidence), np.sort(-levels.confidence[levels.gold])
    distinct = every[np.append(every[1:] > every[:-1], True)]
    hits, shown = (np.searchsorted(x, distinct, side="right").astype(float) for x in (firsts, every))
    return -distinct, hits, shown


def calibration(cells: SplittingCells, bins: int = 10) -> Detail:
    """Mean confidence and share of first pages in each bin of confidence."""
    levels = cells.stream.levels
    assert levels is not None
    column, weight = bins_of(levels.confidence, bins), _weights(cells)
    sums = (1.0, levels.gold, levels.confidence)
    pages, firsts, confidence = (np.bincount(column, weight * x, bins) for x in sums)
    number = int if cells.weight is None else float
    rows = [
        [i / bins, (i + 1) / bins, number(pages[i]), float(confidence[i] / pages[i]), float(firsts[i] / pages[i])]
        for i in np.flatnonzero(pages).tolist()
    ]
    return Detail(
        "calibration",
        "Calibration of confidence" + _by_weight(cells),
        ["from", "to", "pages", "confidence", "first pages"],
        rows,
    )


def confusion(cells: SplittingCells, over: str) -> Detail:
    """Gold categories down, predicted across; a file without a partner of the same borders is in the last row or column."""
    gold, pred = _pairs_of_pages(cells) if over == "pages" else _pairs_of_files(cells)
    names = [*cells.classes, "(no such file)"]
    table = np.zeros((len(names), len(names)), np.int64)
    np.add.at(table, (gold, pred), 1)
    down, across = np.flatnonzero(table.any(1)).tolist(), np.flatnonzero(table.any(0)).tolist()
    rows = [[names[i], *table[i, across].tolist()] for i in down]
    title = f"Categories of {over} (gold down, predicted across)"
    return Detail(f"categories-{over}", title, ["gold", *(names[i] for i in across)], rows, "matrix")


def _pairs_of_pages(cells: SplittingCells) -> tuple[Ints, Ints]:
    assert cells.stream.pred_category is not None
    return cells.stream.gold_category, cells.stream.pred_category


def _pairs_of_files(cells: SplittingCells) -> tuple[Ints, Ints]:
    pages, none = cells.stream.pages, len(cells.classes)
    gold_category, pred_category = _pairs_of_pages(cells)
    either = pages.gold_cut | pages.pred_cut
    exact = cells.exact_first
    gold = np.where(pages.gold_cut, gold_category, none)
    pred = np.where(pages.pred_cut, pred_category, none)
    lone = either & ~exact
    split_gold, split_pred = lone & pages.gold_cut, lone & pages.pred_cut
    nothing = np.full(len(gold), none)
    return (
        np.concatenate((gold[exact], gold[split_gold], nothing[split_pred])),
        np.concatenate((pred[exact], nothing[split_gold], pred[split_pred])),
    )
