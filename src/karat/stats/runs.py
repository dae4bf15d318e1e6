# SPDX-License-Identifier: Apache-2.0
"""Several runs of a method on the same units: the variance of runs and of units, both in the error of the mean.

A score of run r is the method's mean plus an effect of the run, an effect of the units and what is left:
Var(mean) = run/R + unit/n + rest/(R·n). Units enter by their influence on the score, which for a mean is
(x − mean)/√(n(n − 1)) and for any other metric the jackknife's; the sums of squares are those of a two-way
analysis of variance with random runs and random units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from karat.stats.intervals import constant
from karat.stats.power import POWER, least, mde
from karat.stats.resampling import ROUNDING
from karat.stats.tests import tail_of
from karat.weights import Floats

MOST = 1 << 24
"""Runs or units beyond which a design is called out of reach."""


@dataclass(frozen=True)
class Side:
    """The runs of one method: mean squares of runs and of what runs and units leave, both over R·n."""

    runs: int
    between: float
    """Variance of the mean as the runs' scores alone show it (they hold a part of the rest)."""
    rest: float

    @property
    def of_runs(self) -> float:
        """Variance of the mean that is due to the runs and not to the units."""
        return max(self.between - self.rest, 0.0)


@dataclass(frozen=True)
class Nested:
    """A mean over runs and units (or a difference of two) with where its error comes from."""

    estimate: float
    sides: tuple[Side, ...]
    units: int
    over_units: float
    """Variance of the mean as the units alone show it (it holds a part of the rest)."""
    limits: tuple[float, float] = (-np.inf, np.inf)
    """Between what the estimate can lie."""

    @property
    def of_runs(self) -> float:
        """Variance that more runs would take away."""
        return sum(s.of_runs for s in self.sides)

    @property
    def rest(self) -> float:
        """Variance that more runs and more units would take away."""
        return sum(s.rest for s in self.sides)

    @property
    def of_units(self) -> float:
        """Variance that more units would take away."""
        return max(self.over_units - self.rest, 0.0)

    @property
    def se(self) -> float:
        return float(np.sqrt(self.of_runs + self.of_units + self.rest))

    @property
    def df(self) -> float:
        """Satterthwaite's degrees of freedom."""
        return self._df(1.0, [s.runs for s in self.sides], self.units)

    def _df(self, shrink_units: float, runs: Sequence[int], units: float) -> float:
        free = max(units - 1, 1)
        squares, total = 0.0, 0.0
        for side, r in zip(self.sides, runs, strict=True):
            of_side, rest = side.of_runs * side.runs / r, side.rest * side.runs / r * shrink_units
            squares += ((of_side + rest) ** 2 / (r - 1) + rest**2 / ((r - 1) * free)) if r > 1 else 0.0
            total += of_side + rest
        over = self.of_units * shrink_units
        rest = sum(s.rest * s.runs / r for s, r in zip(self.sides, runs, strict=True)) * shrink_units
        squares += (over + rest) ** 2 / free
        return float((total + over) ** 2 / squares) if squares > 0 else float(free)

    @property
    def runs_share(self) -> float:
        """Share of the variance that is due to the runs."""
        return self.of_runs / self.se**2 if self.se > 0 else 0.0

    def interval(self, level: float) -> tuple[float, float]:
        """``estimate ± t · se``, as far as the limits go; where nothing varies, by the rule of three."""
        if not self.se > 0:
            return constant(self.estimate, self.units, self.limits, level)
        reach = float(special.stdtrit(self.df, (1 + level) / 2)) * self.se
        return max(self.estimate - reach, self.limits[0]), min(self.estimate + reach, self.limits[1])

    def p(self, alternative: str = "two-sided") -> float:
        """p of a true value of 0; where nothing varies but the estimate is not 0, that all units fall on one side."""
        if not self.se > 0:
            return 1.0 if self.estimate == 0 else 2.0 ** (1 - self.units)
        return tail_of(self.estimate / self.se, self.df, alternative)

    def at(self, runs: int | None = None, units: float | None = None) -> tuple[float, float]:
        """Standard error and degrees of freedom with that many runs of each method and that many units."""
        shrink = 1.0 if units is None else self.units / units
        many = [s.runs if runs is None or s.runs == 1 else runs for s in self.sides]
        variances = [(s.of_runs + s.rest * shrink) * s.runs / r for s, r in zip(self.sides, many, strict=True)]
        se = float(np.sqrt(sum(variances) + self.of_units * shrink))
        return se, self._df(shrink, many, self.units if units is None else units)

    def runs_needed(self, difference: float, *, alpha: float = 0.05, power: float = POWER) -> int | None:
        """Runs of each method that show a difference of this size on these units; None where no number does."""
        if all(s.runs < 2 for s in self.sides):
            return None
        return least(lambda r: mde_of(self.at(runs=r), alpha, power) <= abs(difference), MOST)

    def units_needed(self, difference: float, *, alpha: float = 0.05, power: float = POWER) -> int | None:
        """Units that show a difference of this size with these runs; None where no number does."""
        return least(lambda n: mde_of(self.at(units=n), alpha, power) <= abs(difference), MOST)


def mde_of(spread: tuple[float, float], alpha: float, power: float) -> float:
    """Smallest difference that a standard error with its degrees of freedom shows."""
    return mde(spread[0], alpha=alpha, power=power, df=max(spread[1], 1.0))


def side(scores: Floats, influence: Floats) -> Side:
    """Runs' scores, and the influence of each unit on each (runs × units)."""
    runs = len(scores)
    if runs < 2:
        return Side(runs, 0.0, 0.0)
    pairs = runs * (runs - 1)
    return Side(
        runs,
        float((_apart(scores, scores.mean(), scores) ** 2).sum()) / pairs,
        float((_apart(influence, influence.mean(0), _by_unit(scores, influence)) ** 2).sum()) / pairs,
    )


def _apart(x: Any, y: Any, scale: Any) -> Any:
    """x − y, 0 where that is what rounding leaves of numbers as large as ``scale``: no spread from it, and no p."""
    gap = x - y
    return np.where(np.abs(gap) <= ROUNDING * np.abs(scale).max(), 0.0, gap)


def _by_unit(scores: Floats, influence: Floats) -> Any:
    """How large the numbers are of which influences are made: what a unit adds to the scores, or the influences."""
    return np.maximum(np.abs(scores).max() / influence.shape[1], np.abs(influence).max(initial=0.0))


def nested(scores: Floats, influence: Floats) -> Nested:
    """The mean of one method's runs.

    >>> x = np.array([[1.0, 0, 1, 1], [1, 0, 0, 1]])      # two runs on four items: 0.75 and 0.5
    >>> found = nested(x.mean(1), (x - x.mean(1, keepdims=True)) / np.sqrt(4 * 3))
    >>> found.estimate, round(found.of_units + found.rest, 6), found.of_runs     # 0.6875/12; 0.015625 − 0.015625
    (0.625, 0.057292, 0.0)
    """
    mean = influence.mean(0)
    return Nested(float(scores.mean()), (side(scores, influence),), len(mean), float((mean**2).sum()))


def nested_difference(a: tuple[Floats, Floats], b: tuple[Floats, Floats], *, paired_runs: bool = False) -> Nested:
    """The difference of two methods on the same units; ``paired_runs`` says that run r of both belong together."""
    scores, scale = np.concatenate([a[0], b[0]]), np.maximum(_by_unit(*a), _by_unit(*b))
    if paired_runs:
        return nested(_apart(a[0], b[0], scores), _apart(a[1], b[1], scale))
    gap, mean = _apart(a[0].mean(), b[0].mean(), scores), _apart(a[1].mean(0), b[1].mean(0), scale)
    return Nested(float(gap), (side(*a), side(*b)), len(mean), float((mean**2).sum()))
