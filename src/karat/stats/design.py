# SPDX-License-Identifier: Apache-2.0
"""How large must the next evaluation be? Sample sizes from the spread that a pilot showed, for any metric.

A pilot of n units with standard error se has a spread of se·√n per unit, whatever the metric: of N units the
standard error is se·√(n/N).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from karat.metric import MetricError
from karat.stats.power import POWER, least, rejected
from karat.weights import Floats

MOST = 10**9


@dataclass(frozen=True)
class Aim:
    """What the next evaluation should be able to show."""

    difference: float | None = None
    """True difference to detect; with a margin, the true difference that is assumed."""
    margin: float | None = None
    """For non-inferiority (one-sided) or equivalence: the largest difference that does not matter."""
    width: float | None = None
    """Half of the width that the interval should have."""
    power: float = POWER
    alpha: float = 0.05
    one_sided: bool = False
    tests: int = 1
    """Tests that share alpha: the size of the family, by Bonferroni."""

    def __post_init__(self) -> None:
        if self.margin is None and self.difference is not None and not self.difference > 0:
            raise MetricError(f"{self.difference:g} is no difference to detect: give one above 0")
        for name, value in (("margin", self.margin), ("width", self.width)):
            if value is not None and not value > 0:
                raise MetricError(f"a {name} of {value:g} is not above 0")
        if self.margin is not None and not self.distance > 0:
            raise MetricError(
                f"a true loss of {-(self.difference or 0.0):g} is not within a margin of {self.margin:g}: "
                "no number of units shows that it is"
            )

    @property
    def level(self) -> float:
        return self.alpha / self.tests

    @property
    def distance(self) -> float:
        """How far the assumed truth lies from what is to be ruled out."""
        return abs(self.difference or 0.0) if self.margin is None else (self.difference or 0.0) + self.margin


Errors = Callable[[int], tuple[float, float]]
"""Standard error and degrees of freedom of an evaluation of so many units."""


def units_for(errors: Errors | float, aim: Aim) -> int | None:
    """Units that reach the aim, from the spread of one unit or a law of the error; None where no number does."""
    law = errors if callable(errors) else spread_law(errors)
    return least(lambda n: reaches(*law(n), aim), MOST)


def spread_law(spread: float) -> Errors:
    """The error of a mean of independent units."""
    return lambda n: (spread / float(np.sqrt(n)), n - 1.0)


def reaches(se: float, df: float, aim: Aim) -> bool:
    """Whether an evaluation with this error is large enough."""
    if df < 1:
        return False
    if aim.width is not None:
        return half_width(se, df, aim) <= aim.width
    return power_of(se, df, aim) >= aim.power


def power_of(se: float, df: float, aim: Aim) -> float:
    """Probability that an evaluation with this error shows what the aim says, by the noncentral t."""
    if aim.distance <= 0:
        return 0.0
    if se <= 0:
        return 1.0
    sided = aim.one_sided or aim.margin is not None
    critical = float(special.stdtrit(df, 1 - aim.level / (1 if sided else 2)))
    return rejected(aim.distance / se, df, critical, sided=sided)


def half_width(se: float, df: float, aim: Aim) -> float:
    """Half of the width of the interval at the aim's level."""
    return float(special.stdtrit(df, 1 - aim.level / 2)) * se


@dataclass(frozen=True)
class Clustered:
    """What clusters do to a design."""

    effect: float
    """Design effect: variance with clusters over variance without."""
    size: float
    """Units per cluster."""


def neyman(shares: Floats, spreads: Floats, total: int) -> list[int]:
    """Units to label in each stratum for the smallest error: in proportion to share × spread, at least 2 each."""
    weight = np.asarray(shares, float) * np.asarray(spreads, float)
    weight = weight / weight.sum() if weight.sum() > 0 else np.asarray(shares, float) / np.sum(shares)
    exact = np.maximum(weight * total, 2.0)
    counts = np.floor(exact).astype(int)
    for i in np.argsort(counts - exact)[: max(total - int(counts.sum()), 0)]:
        counts[i] += 1
    return [int(c) for c in counts]
