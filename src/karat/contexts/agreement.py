# SPDX-License-Identifier: Apache-2.0
"""Agreement between annotators, from votes: what each item gives to the coefficients.

Each function turns flat votes into per-item terms whose weighted sums the coefficients
divide, so that one pass serves scores, intervals and slices alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from karat.cells import Passing, Sparse
from karat.columns import Floats, Ints, distinct
from karat.contexts.groups import matches, sums

AGREEMENT = ("percent_agreement", "fleiss_kappa", "pairwise_kappa", "krippendorff_alpha")
"""Metrics that look at votes alone, and at no prediction."""
NO_COPIES = "weights that are no whole numbers are no numbers of copies, whose pairs are counted"


@dataclass(frozen=True, eq=False)
class Votes:
    """One row per vote: item, annotator and label codes."""

    item: Ints
    annotator: Ints
    label: Ints
    items: int
    annotators: int
    labels: int

    @cached_property
    def counts(self) -> Sparse:
        """Votes of each item by label."""
        key, place = distinct(self.item * self.labels + self.label)
        many = sums(place, None, len(key))
        return Sparse(key // max(self.labels, 1), key % max(self.labels, 1), many, (self.items, self.labels))

    @cached_property
    def per_item(self) -> Floats:
        return sums(self.item, None, self.items)

    @cached_property
    def agreeing(self) -> Floats:
        """Ordered pairs of votes of an item that agree."""
        c = self.counts
        return sums(c.row, c.data * (c.data - 1), self.items)

    @cached_property
    def pairs(self) -> Floats:
        """Ordered pairs of votes of an item."""
        return self.per_item * (self.per_item - 1)

    @cached_property
    def pairable(self) -> Sparse:
        """Votes by label of the items with at least two: the margins of the coincidence matrix."""
        return self.counts * (self.per_item > 1).astype(float)

    @cached_property
    def coincidences(self) -> Sparse:
        """Ordered label pairs within each item over (votes − 1); column a·K + b."""
        c = self.counts
        left, right = matches(c.row, c.row)
        data = c.data[left] * (c.data[right] - (left == right)) / np.maximum(self.per_item[c.row[left]] - 1, 1)
        column = c.col[left] * self.labels + c.col[right]
        return Sparse.of(c.row[left], column, data, (self.items, self.labels**2))

    @cached_property
    def _in_order(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Item, annotator and label of the votes, by item and annotator, and how many votes of its item follow each."""
        order = np.lexsort((self.annotator, self.item))
        item = self.item[order]
        follow = np.searchsorted(item, item, "right") - np.arange(len(item)) - 1
        return item, self.annotator[order], self.label[order], follow

    @cached_property
    def _runs(self) -> list[tuple[int, int]]:
        """Annotators in runs, few enough in each to write out their votes beside those of all others."""
        _, who, _, follow = self._in_order
        beside = np.cumsum(np.bincount(who, follow, self.annotators))
        _, start = np.unique(beside // TOGETHER, return_index=True)
        return list(pairwise([*start.tolist(), self.annotators]))

    @cached_property
    def _all_couples(self) -> Couples:
        return self._couples(0, self.annotators, Sparse)

    def couples(self) -> Iterator[Couples]:
        """Every two annotators who voted on the same item, run by run of the first of the two."""
        if len(self._runs) < 2:
            yield self._all_couples
        else:
            yield from (self._couples(first, last, Passing) for first, last in self._runs)

    def _couples(self, first: int, last: int, kind: type[Sparse]) -> Couples:
        item, who, label, follow = self._in_order
        here = np.flatnonzero((who >= first) & (who < last))
        a = np.repeat(here, follow[here])
        b = a + 1 + np.arange(len(a)) - np.repeat(np.cumsum(follow[here]) - follow[here], follow[here])
        couple, code = distinct(who[a] * self.annotators + who[b])
        return Couples(item[a], code, label[a], label[b], couple, self.items, self.labels, kind)


TOGETHER = 1 << 22
"""Votes of two annotators on one item that are written out at a time: 200 MB."""


@dataclass(frozen=True, eq=False)
class Couples:
    """One row per item on which two annotators both voted."""

    item: Ints
    code: Ints
    left: Ints
    right: Ints
    couple: Ints
    items: int
    labels: int
    kind: type[Sparse]

    def _matrix(self, column: Ints, data: Floats | float, width: int) -> Sparse:
        whole = Sparse.of(self.item, column, data, (self.items, width))
        return self.kind(whole.row, whole.col, whole.data, whole.shape)

    @cached_property
    def common(self) -> Sparse:
        return self._matrix(self.code, 1.0, len(self.couple))

    @cached_property
    def same(self) -> Sparse:
        return self._matrix(self.code, (self.left == self.right).astype(float), len(self.couple))

    @cached_property
    def left_of(self) -> Sparse:
        return self._matrix(self.code * self.labels + self.left, 1.0, len(self.couple) * self.labels)

    @cached_property
    def right_of(self) -> Sparse:
        return self._matrix(self.code * self.labels + self.right, 1.0, len(self.couple) * self.labels)


def ordinal_terms(coincidence: Floats, margin: Floats, order: Ints) -> tuple[Floats, Floats]:
    """Observed and expected disagreement by rank, for rows of coincidences (K²) and margins (K).

    The distance of two labels is the number of votes between their middles, so it changes with
    the margins; Σ n_a n_b (m_a − m_b)² needs no loop over label pairs.
    """
    size = margin.shape[1]
    middle = np.empty_like(margin)
    middle[:, order] = np.cumsum(margin[:, order], 1) - margin[:, order] / 2
    cross = np.einsum("ga,gab,gb->g", middle, coincidence.reshape(-1, size, size), middle)
    squares = (margin * middle**2).sum(1)
    return 2 * (squares - cross), 2 * (margin.sum(1) * squares - (margin * middle).sum(1) ** 2)
