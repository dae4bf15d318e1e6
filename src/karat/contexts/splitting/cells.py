# SPDX-License-Identifier: Apache-2.0
"""Bundles of pages as cells: one cell per bundle, its vectors counted from the pages when first asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from karat.cells import ClassCells, Sparse, Weights
from karat.contexts.splitting.confidence import Levels, bins_of
from karat.contexts.splitting.moves import moves
from karat.contexts.splitting.overlaps import Overlaps
from karat.contexts.splitting.pages import Bools, Floats, Ints, Pages
from karat.contexts.splitting.windows import BorderEdits, Windows
from karat.score import Mask
from karat.state import stored

NO_CATEGORY = "(no category)"


@stored("splitting-stream")
@dataclass(frozen=True)
class Stream:
    """The pages of all bundles with what else is known of each: number, confidence, category (a class index)."""

    pages: Pages
    number: Ints
    confidence: Floats | None
    """Probability that the page begins a file; NaN where not given."""
    gold_category: Ints
    pred_category: Ints | None
    categories: int
    count_first_page: bool = True
    left_out: Ints | None = None
    """Which pages of each bundle are not scored because the prediction lacks them, as a number."""

    @cached_property
    def counted(self) -> Bools:
        """Pages that page-level scores count."""
        return np.full(len(self.pages.bundle), True) if self.count_first_page else ~self.pages.opens

    @cached_property
    def overlaps(self) -> Overlaps:
        return Overlaps(self.pages)

    @cached_property
    def moves(self) -> Ints:
        """Least number of pages of each bundle to drag to another file."""
        return moves(self.overlaps)

    @cached_property
    def edits(self) -> BorderEdits:
        return BorderEdits(self.pages)

    @cached_property
    def levels(self) -> Levels | None:
        """Pages with a confidence, by level."""
        if self.confidence is None:
            return None
        known = self.counted & ~np.isnan(self.confidence)
        return Levels(self.pages.bundle[known], self.pages.gold[known], self.confidence[known])

    @cached_property
    def gold_runs(self) -> Runs:
        return Runs(self.pages.bundle, self.gold_category, (self.pages.bundles, self.categories))

    @cached_property
    def pred_runs(self) -> Runs:
        """Runs of predicted categories, where there are any."""
        category = self.gold_category if self.pred_category is None else self.pred_category
        return Runs(self.pages.bundle, category, (self.pages.bundles, self.categories))

    @cached_property
    def _windows(self) -> dict[int | None, Windows]:
        return {}

    def windows(self, k: int | None) -> Windows:
        """Windows of ``k`` pages, counted once for all metrics that read them."""
        return self._windows.setdefault(k, Windows(self.pages, k))


@dataclass(frozen=True)
class Runs:
    """Neighbouring pages with the same bundle and column, which are counted together."""

    bundle: Ints
    column: Ints
    shape: tuple[int, int]

    @cached_property
    def head(self) -> Ints:
        """First page of each run."""
        return np.flatnonzero(np.diff(self.bundle * self.shape[1] + self.column, prepend=-1))

    def count(self, mask: Bools) -> Sparse:
        """Selected pages by bundle and column."""
        if not len(self.head):
            return Sparse.of([], [], [], self.shape)
        selected = np.add.reduceat(mask, self.head, dtype=np.int64)
        return Sparse.of(self.bundle[self.head], self.column[self.head], selected, self.shape)


@stored("splitting-cells")
class SplittingCells(ClassCells):
    """One cell per bundle; classes are the categories of gold pages, and predicted ones where there are any."""

    per_cell: ClassVar[tuple[str, ...]] = ("at",)
    averages: ClassVar[tuple[str, ...]] = ("micro", "macro", "weighted")

    def __init__(self, stream: Stream, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.stream = stream
        self.at: Ints = np.arange(stream.pages.bundles)
        """Bundle of each cell."""

    @property
    def left_out(self) -> Ints | None:
        return None if self.stream.left_out is None else self.stream.left_out[self.at]

    def in_scope(self, W: Weights, classes: str, members: Sparse) -> Mask:
        """A category with pages counts, also if no page of it begins a file, or if its only pages do, for who counts those."""
        gold = (W @ self.pages_of > 0) | (W @ members > 0)
        return np.asarray(gold | ((W @ self.category_pred_of > 0) & (classes == "all")))

    def _by_cell(self, of_bundle: Any) -> Floats:
        """A number of each bundle as one of each cell."""
        return np.asarray(of_bundle[self.at], float)

    def _rows(self, of_bundle: Sparse) -> Sparse:
        """Rows of each bundle as rows of each cell."""
        same = len(self.at) == of_bundle.shape[0] and bool((self.at == np.arange(len(self.at))).all())
        return of_bundle if same else of_bundle.rows(self.at)

    def _pages(self, mask: Bools) -> Sparse:
        return self._rows(self.stream.gold_runs.count(mask & self.stream.counted))

    @cached_property
    def pages_of(self) -> Sparse:
        """Counted pages by category."""
        return self._pages(self.stream.counted)

    @cached_property
    def hit_of(self) -> Sparse:
        """First pages that were predicted first, by category."""
        return self._pages(self.stream.pages.gold & self.stream.pages.pred)

    @cached_property
    def gold_of(self) -> Sparse:
        """First pages by category."""
        return self._pages(self.stream.pages.gold)

    @cached_property
    def others_of(self) -> Sparse:
        """Pages that begin no file, by category."""
        return self._pages(~self.stream.pages.gold)

    @cached_property
    def pred_of(self) -> Sparse:
        """Pages predicted first, by gold category."""
        return self._pages(self.stream.pages.pred)

    @cached_property
    def size(self) -> Floats:
        """Pages of each bundle."""
        return self._by_cell(self.stream.pages.size)

    @cached_property
    def filled(self) -> Floats:
        """1 for a bundle with pages."""
        return (self.size > 0).astype(float)

    @cached_property
    def gold_files_of(self) -> Sparse:
        """Gold files by the category of their first page."""
        return self._rows(self.stream.gold_runs.count(self.stream.pages.gold_cut))

    @cached_property
    def pred_files_of(self) -> Sparse:
        """Predicted files by the gold category of their first page."""
        return self._rows(self.stream.gold_runs.count(self.stream.pages.pred_cut))

    @cached_property
    def exact_files_of(self) -> Sparse:
        """Files with both borders right, by category."""
        return self._rows(self.stream.gold_runs.count(self.exact_first))

    @cached_property
    def exact_first(self) -> Bools:
        """True on the first page of files with both borders right."""
        first = np.zeros(len(self.stream.pages.bundle), bool)
        first[self.stream.overlaps.first[self.stream.overlaps.exact]] = True
        return first

    @cached_property
    def files(self) -> Floats:
        """Gold files of each bundle."""
        return self._by_cell(self.stream.pages.count(self.stream.pages.gold_cut))

    @cached_property
    def pred_files(self) -> Floats:
        """Predicted files of each bundle."""
        return self._by_cell(self.stream.pages.count(self.stream.pages.pred_cut))

    def paired(self, pairing: str) -> Floats:
        """Pairs of a gold and a predicted file that count as the same file."""
        overlaps = self.stream.overlaps
        return self._by_cell(overlaps.count(getattr(overlaps, PAIRINGS[pairing])))

    def paired_iou(self, pairing: str) -> Floats:
        """Sum of the pairs' intersections over unions."""
        overlaps = self.stream.overlaps
        return self._by_cell(overlaps.total(np.where(getattr(overlaps, PAIRINGS[pairing]), overlaps.iou, 0.0)))

    @cached_property
    def flawless(self) -> Floats:
        """1 for a bundle whose files are all right."""
        overlaps = self.stream.overlaps
        return self._by_cell(overlaps.count(~overlaps.exact) == 0) * self.filled

    @cached_property
    def moves(self) -> Floats:
        """Least number of pages to drag to another file."""
        return self._by_cell(self.stream.moves)

    @cached_property
    def split_gold(self) -> Floats:
        return self._by_cell(self.stream.overlaps.split_gold)

    @cached_property
    def merged_pred(self) -> Floats:
        return self._by_cell(self.stream.overlaps.merged_pred)

    @cached_property
    def shared_of_gold(self) -> Floats:
        """Sum over pages of the share of their gold file that their predicted file holds."""
        overlaps = self.stream.overlaps
        return self._by_cell(overlaps.total(overlaps.size**2 / overlaps.gold_size))

    @cached_property
    def shared_of_pred(self) -> Floats:
        """Sum over pages of the share of their predicted file that their gold file holds."""
        overlaps = self.stream.overlaps
        return self._by_cell(overlaps.total(overlaps.size**2 / overlaps.pred_size))

    def windows(self, k: int | None) -> tuple[Floats, Floats, Floats]:
        """Windows of each bundle: how many, of them wrong for Pk, and wrong for WindowDiff."""
        windows = self.stream.windows(k)
        return self._by_cell(windows.count), self._by_cell(windows.parted), self._by_cell(windows.unequal)

    @cached_property
    def edit_weight(self) -> Floats:
        return self._by_cell(self.stream.edits.weight)

    @cached_property
    def edit_total(self) -> Floats:
        return self._by_cell(self.stream.edits.total)

    @property
    def thresholds(self) -> Floats:
        """Distinct confidences, highest first."""
        levels = self.stream.levels
        return np.zeros(0) if levels is None else levels.thresholds

    def _at_level(self, only_gold: bool) -> Sparse:
        levels, bundles = self.stream.levels, self.stream.pages.bundles
        if levels is None:
            return Sparse.of([], [], [], (len(self), 0))
        use = levels.gold if only_gold else np.full(len(levels.gold), True)
        return self._rows(Runs(levels.bundle, levels.level, (bundles, len(levels.thresholds))).count(use))

    @cached_property
    def firsts_at(self) -> Sparse:
        """First pages of each bundle by level of confidence."""
        return self._at_level(True)

    @cached_property
    def shown_at(self) -> Sparse:
        """Pages of each bundle by level of confidence."""
        return self._at_level(False)

    def calibration(self, bins: int) -> tuple[Sparse, Sparse, Sparse]:
        """Pages, first pages and summed confidence of each bundle by bin of confidence."""
        levels, shape = self.stream.levels, (self.stream.pages.bundles, bins)
        if levels is None:
            return (Sparse.of([], [], [], (len(self), bins)),) * 3
        column = bins_of(levels.confidence, bins)
        sums = (1.0, levels.gold, levels.confidence)
        pages, firsts, confidence = (self._rows(Sparse.of(levels.bundle, column, x, shape)) for x in sums)
        return pages, firsts, confidence

    @cached_property
    def rated(self) -> Floats:
        """Pages of each bundle that have a confidence."""
        return self._rated(None)

    @cached_property
    def squared_error(self) -> Floats:
        """Sum of squared differences between confidence and truth."""
        levels = self.stream.levels
        return self._rated(None if levels is None else (levels.confidence - levels.gold) ** 2)

    def _rated(self, weight: Floats | None) -> Any:
        levels = self.stream.levels
        if levels is None:
            return np.zeros(len(self))
        return self._by_cell(np.bincount(levels.bundle, weight, self.stream.pages.bundles))

    @cached_property
    def category_pages_of(self) -> Sparse:
        """Gold pages by category, where predictions carry categories."""
        return self._categorised(self._everywhere, "gold")

    @cached_property
    def category_pred_of(self) -> Sparse:
        """Pages by predicted category."""
        return self._categorised(self._everywhere, "pred")

    @cached_property
    def category_hit_of(self) -> Sparse:
        """Pages with the right category, by category."""
        return self._categorised(self._same_category, "gold")

    @cached_property
    def category_files_of(self) -> Sparse:
        """Gold files by category, where predictions carry categories."""
        return self._categorised(self.stream.pages.gold_cut, "gold")

    @cached_property
    def category_pred_files_of(self) -> Sparse:
        """Predicted files by predicted category."""
        return self._categorised(self.stream.pages.pred_cut, "pred")

    @cached_property
    def category_exact_of(self) -> Sparse:
        """Files with both borders and the category right, by category."""
        return self._categorised(self.exact_first & self._same_category, "gold")

    @property
    def _everywhere(self) -> Bools:
        return np.full(len(self.stream.pages.bundle), True)

    @property
    def _same_category(self) -> Bools:
        return np.asarray(self.stream.pred_category == self.stream.gold_category)

    def _categorised(self, mask: Bools, side: str) -> Sparse:
        """Selected pages with a gold category, by their category on one side; a missing category is in no column."""
        stream = self.stream
        if stream.pred_category is None:
            return Sparse.of([], [], [], (len(self), len(self.classes)))
        category = stream.gold_category if side == "gold" else stream.pred_category
        none = self.classes.index(NO_CATEGORY) if NO_CATEGORY in self.classes else -1
        known = (stream.gold_category != none) & (category != none)
        runs = stream.gold_runs if side == "gold" else stream.pred_runs
        return self._rows(runs.count(mask & known))


PAIRINGS = {"iou": "paired", "majority": "mostly", "exact": "exact"}
