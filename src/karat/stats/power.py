# SPDX-License-Identifier: Apache-2.0
"""What this data can show: detectable differences, needed units, power of the paired t test."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy import special

POWER = 0.8


def mde(se: float, *, alpha: float = 0.05, power: float = POWER, df: float = np.inf) -> float:
    """Smallest true difference that a two-sided test detects with this power.

    ``se`` is the standard error of the difference; below 1,000 degrees of freedom the
    noncentral t is solved, above it (z(1 − α/2) + z(power)) · se is exact enough.

    >>> round(mde(0.01), 5)
    0.02802
    """
    if not se > 0:
        return 0.0 if se == 0 else float("nan")
    if df > 1000:
        return float((special.ndtri(1 - alpha / 2) + special.ndtri(power)) * se)
    return se * _shift(alpha, power, df)


@lru_cache(4096)
def _shift(alpha: float, power: float, df: float) -> float:
    """In standard errors; the pairs of a comparison mostly share it."""
    return _solve(lambda shift: _power(shift, df, alpha) - power, 0.0, 100.0)


def _power(shift: float, df: float, alpha: float) -> float:
    critical = special.stdtrit(df, 1 - alpha / 2)
    return float(1 - special.nctdtr(df, shift, critical) + special.nctdtr(df, shift, -critical))


def power_of(d_z: float, n: float, alpha: float = 0.05) -> float:
    """Power of the two-sided paired t test for a standardised difference ``d_z`` on ``n`` units."""
    return _power(abs(d_z) * np.sqrt(n), n - 1, alpha)


def units_needed(d_z: float, *, alpha: float = 0.05, power: float = POWER) -> float:
    """Number of units (not rounded) at which the paired t test reaches this power; infinite for d_z = 0."""
    if d_z == 0:
        return float("inf")
    guess = ((special.ndtri(1 - alpha / 2) + special.ndtri(power)) / d_z) ** 2
    if guess > 1000:
        return float(guess)
    return _solve(lambda n: power_of(d_z, n, alpha) - power, 2.0, guess + 50)


def _solve(f: Callable[[float], float], low: float, high: float) -> float:
    """Root of an increasing function by bisection, to the last bit."""
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if f(middle) < 0 else (low, middle)
    return (low + high) / 2


def least(enough: Callable[[int], bool], most: int) -> int | None:
    """Smallest number from 2 on that is enough, by doubling and halving; None where no power of 2 up to ``most`` is.

    >>> least(lambda n: n >= 11, 100), least(lambda n: n >= 65, 100)
    (11, None)
    """
    low, high = 1, 2
    while not enough(high):
        low, high = high, 2 * high
        if high > most:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
