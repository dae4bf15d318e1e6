# SPDX-License-Identifier: Apache-2.0
"""Sliding windows and border edits: Pk, WindowDiff and boundary similarity of each bundle as sums."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from karat.contexts.splitting.pages import Bools, Floats, Ints, Pages


def window(pages: Pages) -> Ints:
    """Half the mean gold file length of each bundle, rounded half to even, at least 2."""
    files = np.maximum(pages.count(pages.gold_cut), 1)
    return np.maximum(np.rint(pages.size / files / 2), 2).astype(np.int64)


@dataclass(frozen=True)
class Windows:
    """Page pairs (i, i + k) within a bundle, with `k` of that bundle (or one `k` for all)."""

    pages: Pages
    k: int | None = None

    @cached_property
    def width(self) -> Ints:
        return window(self.pages) if self.k is None else np.full(self.pages.bundles, self.k)

    @cached_property
    def left(self) -> Ints:
        position = np.arange(len(self.pages.bundle)) - self.pages.start[self.pages.bundle]
        return np.flatnonzero(position + self.width[self.pages.bundle] < self.pages.size[self.pages.bundle])

    @cached_property
    def count(self) -> Ints:
        """Windows of each bundle."""
        return np.maximum(self.pages.size - self.width, 0)

    def _cuts(self, file: Ints) -> Ints:
        return file[self.left + self.width[self.pages.bundle[self.left]]] - file[self.left]

    def _total(self, wrong: Bools) -> Ints:
        return np.bincount(self.pages.bundle[self.left[wrong]], minlength=self.pages.bundles)

    @cached_property
    def parted(self) -> Ints:
        """Windows whose ends are in one file on one side and in two on the other (Pk)."""
        gold, pred = self._cuts(self.pages.gold_file), self._cuts(self.pages.pred_file)
        return self._total((gold > 0) != (pred > 0))

    @cached_property
    def unequal(self) -> Ints:
        """Windows with another number of borders on each side (WindowDiff)."""
        return self._total(self._cuts(self.pages.gold_file) != self._cuts(self.pages.pred_file))


@dataclass(frozen=True)
class BorderEdits:
    """Edits that turn the predicted borders into the gold ones, a near miss being one page off (n_t = 2)."""

    pages: Pages

    @cached_property
    def matches(self) -> Ints:
        pages = self.pages
        return pages.count(pages.gold_cut & pages.pred_cut & ~pages.opens)

    @cached_property
    def misses(self) -> Ints:
        """Borders on one side only."""
        return self.pages.count(self.pages.gold_cut != self.pages.pred_cut)

    @cached_property
    def near(self) -> Ints:
        """Pairs of misses on neighbouring pages, one of each side; a run of n + 1 linked misses holds (n + 1) // 2."""
        pages = self.pages
        miss = pages.gold_cut != pages.pred_cut
        link = miss[1:] & miss[:-1] & (pages.gold_cut[1:] != pages.gold_cut[:-1]) & ~pages.opens[1:]
        edge = np.diff(link, prepend=False, append=False)
        run, end = np.flatnonzero(edge).reshape(-1, 2).T
        near = np.bincount(pages.bundle[run], (end - run + 1) // 2, pages.bundles)
        return near.astype(np.int64)

    @cached_property
    def weight(self) -> Floats:
        """Cost of the edits: 1 a missed or extra border, 1/2 a near miss."""
        return self.misses - 1.5 * self.near

    @cached_property
    def total(self) -> Ints:
        """Edits and matches together."""
        return self.matches + self.misses - self.near
