# SPDX-License-Identifier: Apache-2.0
"""Two systems that swap outcomes: the products that their metrics read, as a function of the swaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from karat.score import mean_defined
from karat.stats.random import stream
from karat.stats.randomisation import Randomised, randomisation
from karat.stats.settings import DRAWS
from karat.stats.statistic import Shared, marks
from karat.stats.units import Panel
from karat.weights import Floats, Ints


@dataclass(frozen=True)
class Duel:
    """Two systems on one test case."""

    a: Panel
    b: Panel
    cluster: Ints | None = None
    """Cluster of each unit: then whole clusters swap."""

    @cached_property
    def shared(self) -> Shared:
        return Shared([self.a.tape, self.b.tape])

    @cached_property
    def joint(self) -> tuple[Ints, Ints, Floats]:
        """Joint cells: cell of A, cell of B, number of units."""
        width = len(self.b.stratum.design.n) + 1
        key, n = np.unique((self.a.cell + 1) * width + self.b.cell + 1, return_counts=True)
        return key // width - 1, key % width - 1, n.astype(float)

    @cached_property
    def _matrices(self) -> tuple[Floats, Floats]:
        return self.shared.matrix(0), self.shared.matrix(1)

    @cached_property
    def _units(self) -> tuple[Floats, Floats]:
        """What one swap moves from A to B, row by row, and how many units make that swap."""
        left, right = self._matrices
        if self.cluster is not None:
            moved = left[self.a.cell] - right[self.b.cell]
            _, row = np.unique(self.cluster, return_inverse=True)
            sums = np.zeros((row.max(initial=-1) + 1, moved.shape[1]))
            np.add.at(sums, row, moved)
            return sums, np.ones(len(sums))
        a, b, n = self.joint
        return left[a] - right[b], n

    @cached_property
    def moves(self) -> tuple[Floats, Floats, Floats]:
        """Distinct moves, how many units make each, and how many of these make it the other way round."""
        moved, n = self._units
        real = (moved != 0).any(1)
        moved, n = moved[real], n[real]
        # One number per row tells moves apart; a move and its opposite share a coin.
        mark = marks(moved)
        turn = np.where(mark < 0, -1.0, 1.0)
        _, first, group = np.unique(np.abs(mark), return_index=True, return_inverse=True)
        size, back = np.bincount(group, n, len(first)), np.bincount(group, n * (turn < 0), len(first))
        return moved[first] * turn[first, None], size.astype(float), back.astype(float)

    @cached_property
    def totals(self) -> tuple[Floats, Floats]:
        a, b = self._matrices
        return self.a.stratum.design.n @ a[:-1], self.b.stratum.design.n @ b[:-1]

    def difference(self, swapped: Floats) -> Floats:
        """Score of A minus score of B, column by column, after these swaps."""
        moves, _, back = self.moves
        shift = (swapped - back) @ moves
        a, b = self.totals
        left = self.a.stratum.statistic(self.shared.replay(0, a - shift))
        return left - self.b.stratum.statistic(self.shared.replay(1, b + shift))


def swap_test(duels: Sequence[Duel], seed: int, key: str, draws: int = DRAWS) -> Randomised:
    """The paired randomisation test of all columns, over all test cases at once."""
    sizes = [d.moves[1] for d in duels]
    ends = np.cumsum([0, *map(len, sizes)])

    def difference(swapped: Floats) -> Floats:
        parts = [d.difference(swapped[:, ends[i] : ends[i + 1]]) for i, d in enumerate(duels)]
        return parts[0] if len(parts) == 1 else mean_defined(np.stack(parts, -1))

    observed = difference(np.concatenate([d.moves[2] for d in duels])[None, :])[0]
    return randomisation(difference, np.concatenate(sizes), observed, stream(seed, "swap", key), draws)
