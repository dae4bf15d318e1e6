# SPDX-License-Identifier: Apache-2.0
"""The pages of all bundles as flat arrays, sorted by bundle and page number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from karat.state import stored

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@stored("splitting-pages")
@dataclass(frozen=True)
class Pages:
    """One entry per page; `bundle` ascends from 0 to `bundles - 1` and may skip bundles without pages."""

    bundle: Ints
    gold: Bools
    pred: Bools
    bundles: int

    @cached_property
    def size(self) -> Ints:
        """Number of pages of each bundle."""
        return np.bincount(self.bundle, minlength=self.bundles)

    @cached_property
    def start(self) -> Ints:
        """Index of the first page of each bundle."""
        return np.concatenate(([0], np.cumsum(self.size)[:-1])).astype(np.int64)[: self.bundles]

    @cached_property
    def opens(self) -> Bools:
        """True on the first page of each bundle."""
        opens = np.ones(len(self.bundle), bool)
        opens[1:] = self.bundle[1:] != self.bundle[:-1]
        return opens

    @cached_property
    def gold_cut(self) -> Bools:
        """True where a gold file begins: a bundle begins a file even if no flag says so."""
        return self.gold | self.opens

    @cached_property
    def pred_cut(self) -> Bools:
        """True where a predicted file begins."""
        return self.pred | self.opens

    @cached_property
    def gold_file(self) -> Ints:
        """Running number of the gold file that holds each page."""
        return np.cumsum(self.gold_cut) - 1

    @cached_property
    def pred_file(self) -> Ints:
        """Running number of the predicted file that holds each page."""
        return np.cumsum(self.pred_cut) - 1

    def count(self, mask: Bools) -> Ints:
        """How many pages of each bundle the mask selects."""
        return np.bincount(self.bundle[mask], minlength=self.bundles)
