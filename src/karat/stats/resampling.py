# SPDX-License-Identifier: Apache-2.0
"""Resampled weights: what is drawn (units or clusters), how (multinomial, Poisson), in bounded blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from karat.patched import Patched, below, written
from karat.stats.multiplying import added
from karat.stats.tables import by_table
from karat.weights import Floats, Ints, Scores, Tilt, block_sizes

SPARSE_DRAWS = 4
"""Below this many units per cell, drawing units one by one beats drawing cell by cell."""
MANY_CELLS = 5_000
"""Beyond this many cells, Poisson counts from a table beat both."""
ROUNDING = 1e-13
"""Share of a score that is rounding: scores that differ by less are equal."""
AT_ONCE = 50_000
"""Units that are drawn in one call."""


@dataclass(frozen=True)
class Units:
    """Every unit is drawn by itself; cell ``u`` stands for ``n[u]`` of them."""

    n: Floats
    breadth: int = 64
    """Numbers that a statistic holds per row of weights; bounds the blocks of the jackknife."""

    @property
    def size(self) -> int:
        """Number of sampling units."""
        return int(self.n.sum())

    @property
    def width(self) -> int:
        return len(self.n)

    def draw(self, rng: np.random.Generator, rows: int) -> Floats:
        return multinomial(rng, self.n, rows)

    def poisson(self, rng: np.random.Generator, rows: int) -> Floats:
        return rng.poisson(self.n, (rows, self.width)).astype(float)

    def left_out(self) -> Iterator[tuple[Floats, Tilt]]:
        """Blocks of (multiplicity, weights without one unit of each cell)."""
        seen = np.flatnonzero(self.n > 0)
        start = 0
        for rows in block_sizes(len(seen), self.breadth):
            index = seen[start : start + rows]
            yield self.n[index], Tilt(self.n, 1.0, -1.0, index)
            start += rows


@dataclass(frozen=True)
class Clusters:
    """Whole clusters are drawn: cluster ``c`` holds ``count`` units of each of its cells."""

    cluster: Ints
    cell: Ints
    count: Floats
    width: int

    @staticmethod
    def of(cluster: Ints, cell: Ints, width: int, count: Floats | None = None) -> Clusters:
        """From one (cluster, cell) per unit, or per group of ``count`` units."""
        count = np.ones(len(cell)) if count is None else count
        key, inverse = np.unique(cluster.astype(np.int64) * width + cell, return_inverse=True)
        return Clusters(key // width, key % width, np.asarray(np.bincount(inverse, count, len(key)), float), width)

    @cached_property
    def matrix(self) -> Floats:
        """Clusters × cells: how many units of each cell each cluster holds."""
        names, row = np.unique(self.cluster, return_inverse=True)
        units = np.bincount(row * self.width + self.cell, self.count, len(names) * self.width)
        return np.asarray(units, float).reshape(len(names), self.width)

    @property
    def n(self) -> Floats:
        return np.asarray(self.matrix.sum(0), float)

    @property
    def size(self) -> int:
        return len(self.matrix)

    def draw(self, rng: np.random.Generator, rows: int) -> Floats:
        return multinomial(rng, np.ones(self.size), rows) @ self.matrix

    def poisson(self, rng: np.random.Generator, rows: int) -> Floats:
        return rng.poisson(1.0, (rows, self.size)).astype(float) @ self.matrix

    def left_out(self) -> Iterator[tuple[Floats, Floats]]:
        total, start = self.n, 0
        for rows in block_sizes(self.size, self.width):
            yield np.ones(rows), total - self.matrix[start : start + rows]
            start += rows


@dataclass(frozen=True)
class Strata:
    """Units are drawn inside strata, each of which keeps its size: row h holds the units of each cell in stratum h."""

    matrix: Floats

    @staticmethod
    def of(stratum: Ints, cell: Ints, width: int) -> Strata:
        """From one (stratum, cell) per unit."""
        names, row = np.unique(stratum, return_inverse=True)
        counts = np.bincount(row * width + cell, minlength=len(names) * width)
        return Strata(counts.reshape(len(names), width).astype(float))

    @property
    def n(self) -> Floats:
        return np.asarray(self.matrix.sum(0), float)

    @property
    def size(self) -> int:
        return int(self.matrix.sum())

    @property
    def width(self) -> int:
        return self.matrix.shape[1]

    def draw(self, rng: np.random.Generator, rows: int) -> Floats:
        return np.sum([multinomial(rng, n, rows) for n in self.matrix], axis=0)

    poisson = draw

    def left_out(self) -> Iterator[tuple[Floats, Tilt]]:
        """Without one unit, whose stratum keeps its weight: the others in it count n/(n − 1) each."""
        for inside in self.matrix[self.sizes > 1]:
            n, seen = float(inside.sum()), np.flatnonzero(inside)
            yield inside[seen], Tilt(self.n + inside / (n - 1), 1.0, -n / (n - 1), seen)

    @property
    def sizes(self) -> Floats:
        """Units of each stratum."""
        return np.asarray(self.matrix.sum(1), float)


Design = Units | Clusters | Strata


def multinomial(rng: np.random.Generator, n: Floats, rows: int) -> Floats:
    """Rows of weights: as many units as ``n`` has, each drawn with replacement."""
    total = int(n.sum())
    if total == 0:
        return np.zeros((rows, len(n)))
    if len(n) > MANY_CELLS:
        return by_table(rng, n, rows)
    if total < SPARSE_DRAWS * len(n):
        return _unit_by_unit(rng, n, total, rows)
    return rng.multinomial(total, n / total, rows).astype(float)


def _unit_by_unit(rng: np.random.Generator, n: Floats, total: int, rows: int) -> Floats:
    cell_of = None if total == len(n) and (n == 1).all() else np.repeat(np.arange(len(n)), n.astype(np.int64))
    out = np.empty((rows, len(n)))
    # As many rows at once as draws fit in; the stream of numbers is the same.
    for start in range(0, rows, step := max(AT_ONCE // total, 1)):
        drawn = rng.integers(0, total, (min(step, rows - start), total), dtype=np.int32)
        cell = drawn if cell_of is None else cell_of[drawn]
        key = cell + len(n) * np.arange(len(drawn))[:, None]
        out[start : start + step] = np.bincount(key.ravel(), minlength=len(drawn) * len(n)).reshape(-1, len(n))
    return out


def bootstrap(
    statistic: Scores, design: Design, rng: np.random.Generator, resamples: int, poisson: bool = False
) -> Floats:
    """The statistic of each resample, in blocks that keep memory constant."""
    draw = design.poisson if poisson else design.draw
    width = design.width + (design.size if isinstance(design, Clusters) else 0)
    parts = [statistic(draw(rng, rows)) for rows in block_sizes(resamples, width)]
    return np.concatenate(parts)


@dataclass(frozen=True)
class Jackknife:
    """The statistic without each sampling unit, with the number of units that each value stands for."""

    n: Floats
    value: Any
    """Values × columns; patched, where classes are many."""
    scale: Floats | None = field(default=None, kw_only=True)
    """How large the scores are of which values are differences; of scores themselves it is their mean."""

    @property
    def size(self) -> float:
        return float(self.n.sum())

    @cached_property
    def mean(self) -> Floats:
        """Of the values that are defined."""
        known = ~np.isnan(self.value)
        seen = np.maximum(weighted(self.n, known.astype(float)), 1.0)
        return np.asarray(weighted(self.n, np.where(known, self.value, 0.0)) / seen, float)

    @cached_property
    def centred(self) -> Floats:
        """Mean minus value: positive where leaving the unit out hurts; 0 where the value is undefined or differs by rounding."""
        gap = self.mean - self.value
        return np.where(np.abs(gap) > ROUNDING * np.abs(self.mean if self.scale is None else self.scale), gap, 0.0)

    @cached_property
    def se(self) -> Floats:
        """Standard error: (N − 1)/N times the sum of squared deviations, square root."""
        return np.sqrt((self.size - 1) / self.size * weighted(self.n, self.centred**2))

    @cached_property
    def acceleration(self) -> Floats:
        """How fast the standard error changes with the score (the *a* of BCa)."""
        cubes, squares = weighted(self.n, self.centred**3), weighted(self.n, self.centred**2)
        return np.divide(cubes, 6 * squares**1.5, out=np.zeros_like(cubes), where=squares > 0)


@dataclass(frozen=True)
class StratifiedJackknife(Jackknife):
    """Values are compared with the mean of their own stratum; a stratum of one unit shows no spread."""

    stratum: Ints
    point: Floats

    @cached_property
    def _strata(self) -> list[tuple[Ints, Jackknife]]:
        rows = [np.flatnonzero(self.stratum == h) for h in np.unique(self.stratum)]
        return [(at, Jackknife(self.n[at], self.value[at])) for at in rows]

    @cached_property
    def mean(self) -> Floats:
        """Such that (N − 1)(mean − point) is the sum of the biases of all strata."""
        off = [(inner.size - 1) * np.nan_to_num(inner.mean - self.point) for _, inner in self._strata]
        return np.asarray(self.point + np.sum(off, axis=0) / max(self.size - 1, 1), float)

    @cached_property
    def centred(self) -> Floats:
        """Scaled so that the standard error is √(Σ (n − 1)/n · Σ (mean − value)²), strata inside."""
        out, whole = np.zeros_like(self.value), (self.size - 1) / self.size
        for at, inner in self._strata:
            if inner.size > 1:
                out[at] = inner.centred * np.sqrt((inner.size - 1) / inner.size / whole)
        return out


def weighted(n: Floats, value: Any) -> Floats:
    """``n @ value``, by column."""
    if isinstance(value, Patched):
        return np.asarray(value.weighed(n), float)
    return added(n, value)


def jackknife(statistic: Scores, design: Design) -> Jackknife:
    """The exact delete-one jackknife of all units, from one evaluation per cell (or cluster)."""
    parts = [(n, statistic(weights)) for n, weights in design.left_out()]
    if isinstance(design, Strata):
        return _stratified(parts, np.asarray(statistic(design.n[None, :])[0], float))
    return Jackknife(np.concatenate([n for n, _ in parts]), below([v for _, v in parts]))


def _stratified(parts: Sequence[tuple[Floats, Floats]], point: Floats) -> StratifiedJackknife:
    if not parts:  # every stratum has one unit
        return StratifiedJackknife(np.ones(1), point[None, :], np.zeros(1, np.int64), point)
    n, value = np.concatenate([m for m, _ in parts]), np.concatenate([written(v) for _, v in parts])
    return StratifiedJackknife(n, value, np.repeat(np.arange(len(parts)), [len(m) for m, _ in parts]), point)
