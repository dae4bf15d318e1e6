# SPDX-License-Identifier: Apache-2.0
"""Clustering cells: a cell is a pair of cluster sets, and items with the same pair share it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from karat.cells import Cells, Floats, Ints, Sparse, Weights
from karat.columns import distinct
from karat.contexts.clustering.table import Table, divide
from karat.contexts.groups import matches, sums
from karat.state import stored


@stored("clustering-cells")
class ClusteringCells(Cells):
    """Items by the gold and predicted clusters that they are in.

    Cluster names belong to their test case: ``A`` of one and ``A`` of another are two clusters.
    """

    per_cell = ("gold_of", "pred_of")
    repeatable = False

    def __init__(self, n: Any, test_case: Any, test_cases: Any, gold_of: Sparse, pred_of: Sparse, **more: Any) -> None:
        super().__init__(n, test_case, test_cases, **more)
        self.gold_of = gold_of
        self.pred_of = pred_of

    @cached_property
    def gold_sets(self) -> Floats:
        """Number of gold clusters of an item."""
        return sums(self.gold_of.row, self.gold_of.data, len(self))

    @cached_property
    def pred_sets(self) -> Floats:
        """Number of predicted clusters of an item; 0 where the prediction leaves it out."""
        return sums(self.pred_of.row, self.pred_of.data, len(self))

    @cached_property
    def overlapping(self) -> Floats:
        """1 for items in several clusters of either side."""
        return ((self.gold_sets > 1) | (self.pred_sets > 1)).astype(float)

    @cached_property
    def unclustered(self) -> Floats:
        """1 for gold items that the prediction leaves out."""
        return (self.pred_sets == 0).astype(float)

    @cached_property
    def case_of(self) -> Sparse:
        return Sparse.of(np.arange(len(self)), self.test_case, 1.0, (len(self), len(self.test_cases)))

    @cached_property
    def _global(self) -> _Columns:
        return _Columns(self.gold_of, self.pred_of)

    @cached_property
    def _local(self) -> _Columns:
        return _Columns(_within(self.gold_of, self.test_case), _within(self.pred_of, self.test_case))

    def table(self, W: Weights) -> Table:
        """Contingency tables, one per row of ``W``."""
        columns = self._local if self._one_case_a_row(W) else self._global
        return columns.table(W)

    def _one_case_a_row(self, W: Weights) -> bool:
        """Whether no row mixes test cases, so that cluster columns can be shared between them."""
        if len(self.test_cases) == 1:
            return True
        if W.grouped and W.shape[0] == len(self.test_cases):
            return bool((W.grouped.group == self.test_case).all())
        return bool((((W @ self.case_of) > 0).sum(1) <= 1).all())

    def unit_scores(self, metric: str) -> Floats | None:
        """B-cubed scores are means over items: those of each cell's items."""
        if not metric.startswith("bcubed"):
            return None
        precision, recall = (side.mates(self.n) for side in (self.precision_side, self.recall_side))
        both = {"bcubed_precision": precision, "bcubed_recall": recall}
        return both.get(metric, divide(2 * precision * recall, precision + recall))

    def answers(self, cell: int) -> tuple[str, str]:
        """Sizes of the clusters: their names mean nothing."""
        return self._sizes(self.gold_of, cell), self._sizes(self.pred_of, cell)

    def _sizes(self, of: Sparse, cell: int) -> str:
        size = sums(of.col, of.data * self.n[of.row], of.shape[1])
        mine = size[of.col[of.row == cell]]
        return ", ".join(f"cluster of {s:g}" for s in mine.tolist()) or "—"

    @cached_property
    def precision_side(self) -> Links:
        """Cells that share a predicted cluster."""
        return Links(self.pred_of, self.gold_of)

    @cached_property
    def recall_side(self) -> Links:
        """Cells that share a gold cluster."""
        return Links(self.gold_of, self.pred_of)


class _Columns:
    """The columns of the contingency table and which cells add to them."""

    def __init__(self, gold_of: Sparse, pred_of: Sparse) -> None:
        self.gold_of, self.pred_of = gold_of, pred_of
        left, right = matches(gold_of.row, pred_of.row)
        key = gold_of.col[left] * pred_of.shape[1] + pred_of.col[right]
        pairs, column = distinct(key)
        self.gold, self.pred = pairs // max(pred_of.shape[1], 1), pairs % max(pred_of.shape[1], 1)
        self.joint = Sparse.of(gold_of.row[left], column, 1.0, (gold_of.shape[0], len(pairs)))

    def table(self, W: Weights) -> Table:
        return Table(W @ self.joint, W @ self.gold_of, W @ self.pred_of, self.gold, self.pred)


class Links:
    """Pairs of cells that share a cluster of one side, for extended B-cubed."""

    def __init__(self, here: Sparse, other: Sparse) -> None:
        self.here, self.other = here, other
        self.size = (here.shape[0], here.shape[0])

    @cached_property
    def memberships(self) -> Floats:
        """Clusters that each cell's items are in."""
        return sums(self.here.row, self.here.data, self.size[0])

    def mates(self, n: Ints) -> Floats:
        """For each cell the share of its items' mates here that are mates on the other side too."""
        row, col, share = self._shared
        return divide(sums(row, share * n[col], self.size[0]), sums(row, n[col].astype(float), self.size[0]))

    @cached_property
    def identity(self) -> Sparse:
        return Sparse.of(np.arange(self.size[0]), np.arange(self.size[0]), 1.0, self.size)

    @cached_property
    def _shared(self) -> tuple[Ints, Ints, Floats]:
        """Linked cells and min(shared here, shared on the other side) / shared here."""
        from scipy.sparse import csr_array  # importing scipy takes longer than most evaluations

        inside, across = (csr_array((x.data, (x.row, x.col)), shape=x.shape) for x in (self.here, self.other))
        here = (inside @ inside.T).tocoo()
        there = np.asarray((across @ across.T).tocsr()[here.row, here.col]).ravel()
        return here.row.astype(np.int64), here.col.astype(np.int64), np.minimum(here.data, there) / here.data

    @cached_property
    def weight(self) -> Sparse:
        row, col, share = self._shared
        return Sparse.of(row, col, share, self.size)

    @cached_property
    def linked(self) -> Sparse:
        row, col, _ = self._shared
        return Sparse.of(row, col, 1.0, self.size)

    def by_membership(self, weight: Floats) -> Floats:
        """Sum over clusters of their members' mean share: an item counts once for each of its clusters."""
        from scipy.sparse import csr_array

        row, col, share = self._shared
        shares, total = csr_array((share, (row, col)), shape=self.size), np.zeros(len(weight))
        order = np.argsort(self.here.col, kind="stable")
        for members in np.split(self.here.row[order], np.flatnonzero(np.diff(self.here.col[order])) + 1):
            mine = weight[:, members]
            mates = np.asarray(mine @ shares[members][:, members])
            total += divide((mates * mine).sum(1), mine.sum(1))
        return total


def _within(matrix: Sparse, test_case: Ints) -> Sparse:
    """The same memberships with clusters numbered from 0 in each test case."""
    owner = np.zeros(matrix.shape[1], np.int64)
    owner[matrix.col] = test_case[matrix.row]
    order = np.argsort(owner, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - np.searchsorted(owner[order], owner[order])
    return matrix.columns(rank, int(rank.max(initial=-1)) + 1)
