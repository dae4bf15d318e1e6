# SPDX-License-Identifier: Apache-2.0
"""p of a difference that no draw reaches: by coins that are tilted towards it, or a bound where it is a sum of signs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from karat.stats.multiplying import added, multiplied
from karat.stats.random import stream
from karat.stats.randomisation import NUMBERS, Coins, Difference, Randomised, extreme
from karat.stats.statistic import Mask
from karat.weights import Floats, Ints, cuts

TILTS = (2.0, 4.0, 6.0, 8.0, 11.0, 15.0, 20.0, 27.0, 36.0, 50.0)
"""How many spreads of the difference the tilted coins lie beside the fair ones."""
MOST, LEAST, NUMBERS_PER_DRAW = 1_999, 99, 16
"""Tilted draws, and the binomial numbers that they may take in all for each fair draw."""
SMALLEST = 1e-300
"""Below this p is not told apart from it."""


@dataclass(frozen=True)
class Swaps:
    """How many of the units of each joint cell can be swapped, how many are in what was observed, and what that does."""

    difference: Difference
    n: Floats
    seen: Floats
    lean: Floats
    """Cells × statistics: gain of the difference from each unit that stays, where half of all are swapped."""

    def sums(self, swapped: Floats) -> Floats:
        """Rows × statistics: the difference as a sum of signs, which it is of means and nearly so of others."""
        return np.asarray(multiplied(self.n - 2 * swapped, self.lean), float)

    @property
    def spread(self) -> Floats:
        """Of these sums when coins are fair."""
        return np.asarray(np.sqrt(added(self.n, self.lean**2)), float)


def beyond(law: Randomised, swaps: Swaps, observed: Floats, signs: Mask, coins: Coins) -> Randomised:
    """The law with smaller p where no draw is as extreme: ``signs`` marks sums of signs, which have a bound."""
    p = np.where(signs, sum_of_signs(swaps, observed), np.nan)
    if (law.unreached & np.isnan(p)).any():
        p = np.where(np.isnan(p), tilted(swaps, observed, coins, law.draws), p)
    return replace(law, p=np.where(law.unreached, np.minimum(law.p, p), law.p))


RADEMACHER = 3.1786
"""P(Σ ±c ≥ x) is at most this times the normal tail (Bentkus & Dzindzalieta 2015)."""


def sum_of_signs(swaps: Swaps, observed: Floats, alternative: str = "two-sided") -> Floats:
    """A bound on p of each statistic that is a sum of signs; NaN of those that are not where they were observed."""
    spread, sides = swaps.spread, 2 if alternative == "two-sided" else 1
    z = np.divide(extreme(observed, alternative), spread, out=np.zeros_like(spread), where=spread > 0)
    bound = np.maximum(np.minimum(1.0, RADEMACHER * sides * special.ndtr(-z)), SMALLEST)
    return np.where(np.isclose(swaps.sums(swaps.seen[None])[0], observed, rtol=1e-6, atol=1e-12), bound, np.nan)


def tilted(swaps: Swaps, observed: Floats, coins: Coins, draws: int, alternative: str = "two-sided") -> Floats:
    """Conservative p of any statistic by importance sampling (Harrison 2012): what was observed counts as a draw.

    p = (w(x₀) + Σ w(xᵢ)·[xᵢ as extreme]) / (number + 1), where w is the chance by fair coins over that by the mixture
    from which xᵢ are drawn. It keeps every level, because the mixture hangs on the pairs of outcomes alone, not on
    which system has which. An undefined difference is not as extreme.
    """
    mixture = Mixture.of(swaps, observed, alternative)
    if not len(mixture.tilt):
        return np.ones(len(observed))
    rng, cells = stream(*coins.key, "tilted"), len(swaps.n)
    number = int(np.clip(NUMBERS_PER_DRAW * draws // cells, LEAST, MOST))
    at = extreme(observed, alternative)
    total = np.exp(mixture.log_weight(swaps.sums(swaps.seen[None])))[0] * np.ones(len(at))
    for a, b in cuts(number, max(NUMBERS // (4 * cells), 1)):
        swapped = mixture.drawn(rng, b - a)
        far = np.nan_to_num(extreme(swaps.difference(swapped), alternative), nan=-np.inf)
        total += np.exp(mixture.log_weight(swaps.sums(swapped))) @ (far >= at - 1e-10 * np.abs(at))
    return np.clip(total / (number + 1), SMALLEST, 1.0)


@dataclass(frozen=True)
class Mixture:
    """Coins tilted by as much as each unit adds to a statistic, more or less strongly, each tilt as often."""

    n: Floats
    lean: Floats
    tilt: Floats
    statistic: Ints
    """Towards which statistic each tilt leans."""
    scale: Floats
    """By tilt, the logarithm of what its chances are to be divided by."""

    @staticmethod
    def of(swaps: Swaps, observed: Floats, alternative: str) -> Mixture:
        """Two-sided both ways: the sign of what was observed only says which comes first, so that systems can change places."""
        spread = swaps.spread
        moved = np.flatnonzero(spread > 0)
        sides = {"two-sided": (1.0, -1.0), "greater": (1.0,), "less": (-1.0,)}[alternative]
        steps = np.array([0.0, *(side * z for side in sides for z in TILTS)])
        turn = np.where(observed < 0, -1.0, 1.0) if alternative == "two-sided" else np.ones(len(spread))
        tilt = ((turn / np.where(spread > 0, spread, 1.0))[moved, None] * steps).ravel()
        statistic = np.repeat(moved, len(steps))
        scale = swaps.n @ _log_cosh(swaps.lean[:, statistic] * tilt)
        return Mixture(swaps.n, swaps.lean, tilt, statistic, scale)

    def log_weight(self, sums: Floats) -> Floats:
        """Of each row of sums: the logarithm of its chance by fair coins over that by these."""
        chances = special.logsumexp(sums[:, self.statistic] * self.tilt - self.scale, axis=1)
        return np.asarray(np.log(len(self.tilt)) - chances, float)

    def drawn(self, rng: np.random.Generator, rows: int) -> Floats:
        """Numbers swapped, rows × cells."""
        pick = rng.integers(0, len(self.tilt), rows)
        chance = special.expit(-2 * self.tilt[pick] * self.lean[:, self.statistic[pick]]).T
        many, out = self.n > FEW, np.empty((rows, len(self.n)))
        for size in range(FEW + 1):
            few = self.n == size
            out[:, few] = (rng.random((size, rows, int(few.sum()))) < chance[:, few]).sum(0)
        out[:, many] = rng.binomial(self.n[many].astype(np.int64), chance[:, many])
        return out


FEW = 4
"""Coins up to which one number for each costs less than a binomial one."""


def _log_cosh(x: Floats) -> Floats:
    return np.asarray(np.logaddexp(x, -x) - np.log(2), float)
