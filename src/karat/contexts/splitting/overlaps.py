# SPDX-License-Identifier: Apache-2.0
"""Where gold and predicted files meet: the pages common to one gold and one predicted file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from karat.contexts.splitting.pages import Bools, Floats, Ints, Pages


def _repeats(values: Ints) -> Bools:
    """True at each second occurrence in a sorted array, so that a value seen n times counts once (n > 1)."""
    same = np.concatenate(([False], values[1:] == values[:-1]))
    return same & ~np.concatenate(([False], same[:-1]))


@dataclass(frozen=True)
class Overlaps:
    """One entry per pair of files with common pages, in page order. Consecutive entries share at most one file."""

    pages: Pages

    @cached_property
    def first(self) -> Ints:
        """Index of the first common page."""
        return np.flatnonzero(self.pages.gold_cut | self.pages.pred_cut)

    @cached_property
    def size(self) -> Ints:
        """Number of common pages."""
        return np.diff(self.first, append=len(self.pages.bundle))

    @cached_property
    def bundle(self) -> Ints:
        return self.pages.bundle[self.first]

    @cached_property
    def gold(self) -> Ints:
        """Number of the gold file."""
        return self.pages.gold_file[self.first]

    @cached_property
    def pred(self) -> Ints:
        """Number of the predicted file."""
        return self.pages.pred_file[self.first]

    @cached_property
    def gold_size(self) -> Ints:
        """Pages of the gold file of each entry."""
        return np.bincount(self.pages.gold_file)[self.gold]

    @cached_property
    def pred_size(self) -> Ints:
        """Pages of the predicted file of each entry."""
        return np.bincount(self.pages.pred_file)[self.pred]

    @cached_property
    def union(self) -> Ints:
        return self.gold_size + self.pred_size - self.size

    @cached_property
    def iou(self) -> Floats:
        """Intersection over union of the two files."""
        return self.size / self.union

    @cached_property
    def exact(self) -> Bools:
        """Both borders agree."""
        return self.size == self.union

    @cached_property
    def paired(self) -> Bools:
        """Intersection over union above one half: at most one such partner exists for any file."""
        return 2 * self.size > self.union

    @cached_property
    def mostly(self) -> Bools:
        """More than half of each file is common: the wider pairing of OpenPSS."""
        return (2 * self.size > self.gold_size) & (2 * self.size > self.pred_size)

    def count(self, mask: Bools) -> Ints:
        """How many entries of each bundle the mask selects."""
        return np.bincount(self.bundle[mask], minlength=self.pages.bundles)

    def total(self, values: Floats | Ints) -> Floats:
        """Sum of the values over the entries of each bundle."""
        return np.asarray(np.bincount(self.bundle, values, self.pages.bundles), float)

    @cached_property
    def split_gold(self) -> Ints:
        """Gold files cut into several predicted ones (over-segmentation)."""
        return self.count(_repeats(self.gold))

    @cached_property
    def merged_pred(self) -> Ints:
        """Predicted files that hold pages of several gold ones (under-segmentation)."""
        return self.count(_repeats(self.pred))
