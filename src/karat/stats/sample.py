# SPDX-License-Identifier: Apache-2.0
"""What intervals need to know of one system: each test case's point, jackknife, unit scores and resamples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from karat.score import mean_defined
from karat.stats.random import stream
from karat.stats.resampling import ROUNDING, Design, Jackknife, Units, bootstrap, jackknife, weighted
from karat.stats.statistic import MOST_BINS, Fold, Gaps, Mask, UnitScores, folds, merged, unit_scores
from karat.weights import Floats, Scores


@dataclass(frozen=True)
class Stratum:
    """One test case: it is resampled by itself, so that every test case keeps its size."""

    name: str
    statistic: Callable[[Any], Floats]
    design: Design
    bounded: Mask | None = None
    """Columns that may be shares of units, because they lie between 0 and 1."""
    odds: Mask | bool = False
    """Columns that are chances of pairs of units, of which few may be of one kind."""
    squares: Mask | bool = False
    """Columns whose spread a few units may make up."""
    repeatable: bool = True
    """Whether a unit may be drawn more than once."""

    @cached_property
    def point(self) -> Floats:
        return np.asarray(self.statistic(self.design.n[None, :])[0], float)

    @cached_property
    def jackknife(self) -> Jackknife:
        return jackknife(self.statistic, self.design)

    @cached_property
    def unit_scores(self) -> UnitScores:
        return unit_scores(self.statistic, self.design.n)

    @cached_property
    def folds(self) -> dict[int, Fold]:
        """Columns that are sums of |differences|, each with what is summed."""
        return folds(self.statistic, self.design.n)

    @cached_property
    def is_share(self) -> Mask:
        """Columns that are a share of units."""
        return self.unit_scores.is_share & (True if self.bounded is None else self.bounded)

    @cached_property
    def skewness(self) -> Floats:
        """Of the unit scores, by column."""
        value, n = self.unit_scores.value, self.seen
        known = ~np.isnan(value)
        size = np.maximum(weighted(n, known.astype(float)), 1.0)
        mean = weighted(n, np.where(known, value, 0.0)) / size
        apart = np.where(known, value - mean, 0.0)
        variance, third = (weighted(n, apart**power) / size for power in (2, 3))
        return np.divide(third, variance**1.5, out=np.zeros_like(third), where=variance > 1e-24)

    @property
    def seen(self) -> Floats:
        """Counts of the cells that occur, in the order of `unit_scores`."""
        return self.design.n[self.design.n > 0]

    @cached_property
    def drawn(self) -> tuple[Scores, Design]:
        """What resamples are drawn from: the fewest cells that give the same scores."""
        fewer = merged(self.statistic, self.design.n) if isinstance(self.design, Units) else None
        return (self.statistic, self.design) if fewer is None else (fewer[0], Units(fewer[1]))

    def cost(self, resamples: int) -> float:
        """Work of the resamples, in numbers drawn one unit at a time (drawing a cell costs ten of them)."""
        design = self.drawn[1]
        return resamples * min(10.0 * design.width, float(design.n.sum()))

    def draws(self, seed: int, key: str, resamples: int, poisson: bool, columns: int | None = None) -> Floats:
        """The statistic's resamples; ``columns``: only the first so many of its columns."""
        statistic, design = self.drawn
        few = (lambda W: statistic(W)[:, :columns]) if columns else statistic
        return bootstrap(few, design, stream(seed, key, self.name), resamples, poisson)


@dataclass(frozen=True)
class Sample:
    """The test cases of one system; the overall score is the mean of those that have one."""

    strata: list[Stratum]
    over_cases: bool = False
    """Whether the units of the only stratum are test cases, which have no spread of their own."""
    metrics: int = 0
    """Columns that are metrics; those of their classes follow."""

    @cached_property
    def is_mean(self) -> Mask:
        """Columns that are the mean of their unit scores in every test case."""
        return np.asarray(np.all([s.unit_scores.is_mean for s in self.strata], axis=0))

    @property
    def slim(self) -> bool:
        """Whether no test case writes out its cells × columns."""
        return all(isinstance(s.design, Units) and getattr(s.statistic, "slim", False) for s in self.strata)

    @property
    def parts(self) -> list[Sample]:
        """Each test case as a sample of its own."""
        return [] if self.over_cases else [Sample([s], metrics=self.metrics) for s in self.strata]

    @cached_property
    def points(self) -> Floats:
        """Test cases × columns."""
        return np.stack([s.point for s in self.strata])

    @cached_property
    def point(self) -> Floats:
        return mean_defined(self.points.T)

    @cached_property
    def _defined(self) -> Mask:
        return ~np.isnan(self.points)

    @cached_property
    def share(self) -> Floats:
        """Weight of each test case in the overall score, by column."""
        return self._defined / np.maximum(self._defined.sum(0), 1)

    @cached_property
    def spread(self) -> tuple[Floats, Floats]:
        """Jackknife standard error of the overall score, and its degrees of freedom."""
        jacks = [s.jackknife for s in self.strata]
        return pooled_spread(self.points, np.stack([j.se**2 for j in jacks]), np.array([j.size for j in jacks]))

    @cached_property
    def bias(self) -> Floats:
        """What the overall score is expected to be off by, by the jackknife."""
        biases = [(s.jackknife.size - 1) * (s.jackknife.mean - s.point) * w for s, w in self._shared]
        return np.asarray(np.nansum(biases, axis=0), float)

    def influences(self, columns: slice = slice(None)) -> list[Floats]:
        """By test case, cells (or clusters) × columns: how far one unit moves the overall score; squares add up to its variance.

        A test case of one unit, which shows no spread by itself, moves it as it lies beside the mean of all.
        """
        count = self._defined.sum(0)
        gaps = np.where(self._defined, beside(self.points, self.point), 0.0) / np.sqrt(
            np.maximum(count * (count - 1), 1)
        )
        out = []
        for (stratum, share), alone in zip(self._shared, gaps, strict=True):
            jack = stratum.jackknife
            inside = (share * np.sqrt((jack.size - 1) / jack.size))[columns] * jack.centred[:, columns]
            out.append(inside if jack.size > 1 else np.broadcast_to(alone[columns], inside.shape))
        return out

    @property
    def sizes(self) -> Floats:
        """Sampling units behind each column."""
        return np.full(len(self.point), float(sum(s.design.size for s in self.strata)))

    @property
    def _shared(self) -> list[tuple[Stratum, Floats]]:
        return list(zip(self.strata, self.share, strict=True))

    @cached_property
    def acceleration(self) -> Floats:
        """The *a* of BCa over all test cases together."""
        cubes = sum(_moment(s.jackknife, w, 3) for s, w in self._shared)
        squares = sum(_moment(s.jackknife, w, 2) for s, w in self._shared)
        cubes, squares = np.asarray(cubes, float), np.asarray(squares, float)
        return np.divide(cubes, 6 * squares**1.5, out=np.zeros_like(cubes), where=squares > 0)

    @cached_property
    def spread_df(self) -> Floats:
        """Degrees of freedom of the squared standard error: fewer than `spread` says where few units make it up.

        2 (Σ d²)² / Var(Σ d²), d what a unit adds: N for normal d, less the heavier their tails are.
        """
        squares, fourth = (np.sum([_moment(s.jackknife, w, k) for s, w in self._shared], 0) for k in (2, 4))
        mean = np.sum([_moment(s.jackknife, w, 2) ** 2 / s.jackknife.size for s, w in self._shared], 0)
        most = self.spread[1]
        df = np.divide(2 * squares**2, fourth - mean, out=np.full(most.shape, np.inf), where=fourth - mean > 1e-300)
        return np.asarray(np.clip(df, np.minimum(2.0, most), most), float)

    def gaps(self, column: int) -> Gaps | None:
        """Where the overall score is Σ |gap|: the gaps of all test cases by their weight, with their errors."""
        if not all(column in s.folds for s, w in self._shared if w[column] > 0):
            return None
        parts = [(s.folds[column].gaps(s.design), w[column]) for s, w in self._shared if w[column] > 0]
        if not parts:
            return None
        gap, se = (np.concatenate([getattr(part, name) * w for part, w in parts]) for name in ("gap", "se"))
        return Gaps(gap, se, beside_each_other([part.together for part, _ in parts]))

    def overall(self, draws: Floats) -> Floats:
        """Resamples of the overall score from those of the test cases (test cases × resamples × columns)."""
        return mean_defined(np.moveaxis(draws, 0, -1)) if len(draws) > 1 else draws[0]


def beside_each_other(blocks: Sequence[Floats | None]) -> Floats | None:
    """Matrices along a diagonal, 0 between them; None where one is unknown.

    >>> beside_each_other([np.array([[5.0]]), np.array([[1.0, 2.0], [3.0, 4.0]])]).tolist()
    [[5.0, 0.0, 0.0], [0.0, 1.0, 2.0], [0.0, 3.0, 4.0]]
    >>> beside_each_other([np.array([[5.0]]), None])
    """
    known = [b for b in blocks if b is not None]
    end = np.cumsum([0, *map(len, known)])
    if len(known) < len(blocks) or end[-1] > MOST_BINS:
        return None
    out = np.zeros((end[-1], end[-1]))
    for start, stop, block in zip(end[:-1], end[1:], known, strict=True):
        out[start:stop, start:stop] = block
    return out


def _moment(jack: Jackknife, share: Floats, power: int) -> Floats:
    return weighted(jack.n, (jack.centred * share) ** power)


def beside(points: Floats, mean: Floats, scale: Floats | None = None) -> Floats:
    """How far test cases lie beside the mean; 0 where that is rounding."""
    gap = points - mean
    return np.where(np.abs(gap) > ROUNDING * np.abs(mean if scale is None else scale), gap, 0.0)


def pooled_spread(
    points: Floats, variance: Floats, size: Floats, scale: Floats | None = None
) -> tuple[Floats, Floats]:  # fmt: skip
    """Standard error of a mean over test cases, and Satterthwaite's degrees of freedom.

    A test case of one unit shows no spread: where there is one, the test cases themselves are the sample.
    ``scale``: how large the scores are of which points are differences; of scores themselves it is their mean.
    """
    known = ~np.isnan(points)
    count = np.maximum(known.sum(0), 1)
    v, df = np.where(known, variance, 0.0) / count**2, np.maximum(size - 1, 1)[:, None]
    den = (v**2 / df).sum(0)
    se = np.sqrt(v.sum(0))
    whole = np.divide(v.sum(0) ** 2, den, out=np.full(den.shape, float(df.sum())), where=den > 0)
    if len(points) < 2 or (size > 1).all():
        return se, whole
    apart = np.where(known, beside(points, mean_defined(points.T), scale), 0.0)
    between = np.sqrt((apart**2).sum(0) / np.maximum(count - 1, 1) / count)
    return np.maximum(se, between), np.where(between > se, np.maximum(count - 1, 1), whole)
