# SPDX-License-Identifier: Apache-2.0
"""Multinomial counts of many cells, from tables of Poisson counts that twelve random bits point into.

Independent Poisson counts are, given their sum, multinomial. Here their mean falls short of the units by a little; the
units that are missing then are drawn one by one, which leaves the counts multinomial and brings the sum to its number.
No probability is rounded: what 4,096 places cannot hold is one more place, that asks for a second random number.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from karat.weights import Floats, Ints

SIZES = 16
"""Units of a cell whose counts come from a table; larger cells are drawn by themselves."""
PLACES = 4_096
AGAIN = 255
"""Stands in a table where a second number decides."""
SHORT = 4.0
"""Standard deviations by which the Poisson counts fall short, so that their sum is hardly ever too large."""


def by_table(rng: np.random.Generator, n: Floats, rows: int) -> Floats:
    """Rows of weights: as many units as ``n`` has, each drawn with replacement."""
    table = _Counts(n)
    out = np.empty((rows, len(n)))
    for row in out:
        while not table.fill(row, rng):
            pass
    return out


class _Counts:
    def __init__(self, n: Floats) -> None:
        self.n, self.total = n, int(n.sum())
        self.rate = max(1 - SHORT / self.total**0.5, 0.0)
        small = n < SIZES
        self.large: Ints = np.flatnonzero(~small)
        self.begin = np.where(small, n, 0).astype(np.uint16) * np.uint16(PLACES)
        self.cell_of = np.repeat(np.arange(len(n)), n.astype(np.int64))

    @cached_property
    def chance(self) -> Floats:
        """Sizes × counts: Poisson probabilities, so many that what is left is below rounding."""
        from scipy import stats

        return np.asarray(stats.poisson.pmf(np.arange(100), self.rate * np.arange(SIZES)[:, None]), float)

    @cached_property
    def place(self) -> NDArray[np.uint8]:
        """The count at each place of each size."""
        whole = np.floor(self.chance * PLACES).astype(np.int64)
        counts = np.arange(whole.shape[1]).astype(np.uint8)
        out = np.full((SIZES, PLACES), AGAIN, np.uint8)
        for size, often in enumerate(whole):
            out[size, : often.sum()] = np.repeat(counts, often)
        return out.reshape(-1)

    @cached_property
    def rest(self) -> Floats:
        """Sizes × counts: how likely a count is at most so large where a second number decides."""
        left = np.cumsum(self.chance * PLACES % 1.0, axis=1)
        return np.divide(left, left[:, -1:], out=np.ones_like(left), where=left[:, -1:] > 0)

    def fill(self, row: Floats, rng: np.random.Generator) -> bool:
        """Draw one row; False where the Poisson counts are too many."""
        bits = rng.bit_generator.random_raw(-(-len(row) // 4)).astype("<u8", copy=False).view("<u2")[: len(row)]
        at = self.begin + (bits >> 4)
        count = self.place.take(at.astype(np.intp), mode="clip")
        again = np.flatnonzero(count == AGAIN)
        size = at[again] // PLACES
        count[again] = (rng.random(len(again))[:, None] >= self.rest[size]).sum(1)
        row[:] = count
        row[self.large] = rng.poisson(self.rate * self.n[self.large])
        short = self.total - int(row.sum())
        if short >= 0:
            np.add.at(row, self.cell_of[rng.integers(0, self.total, short)], 1.0)
        return short >= 0
