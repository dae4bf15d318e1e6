# SPDX-License-Identifier: Apache-2.0
"""What this data can show: detectable differences, needed units, power of the paired t test."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy import special

POWER = 0.8
LARGE = 50
"""Standard errors from which on the error of a score matters less than that of its standard error."""


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
    critical = float(special.stdtrit(df, 1 - alpha / 2))
    return _solve(lambda shift: rejected(shift, df, critical), power, 0.0, critical + 10)


def rejected(shift: float, df: float, critical: float, *, sided: bool = False) -> float:
    """How often a t test rejects when the truth is ``shift`` standard errors off: P(T > critical), and P(T < −critical).

    T = (Z + shift) / S with S² = χ²/df. Given S a normal tail is left, whose mean over log S the trapezoid rule takes to
    rounding; libraries' noncentral t is NaN for some numbers and wrong in the third digit for others.
    The tail of a large shift is that of S alone, whose mean over Z is as quickly taken.

    >>> round(rejected(0.0, 4.0, 2.776445), 6)      # the level, where nothing differs
    0.05
    """
    if abs(shift) > LARGE:
        z = np.arange(-9, 9, 0.1)
        room = np.maximum(np.abs(shift) + z, 0.0) / critical
        weight, tail = np.exp(-(z**2) / 2), special.gammainc(df / 2, df / 2 * room**2)
        tail = tail if shift > 0 or not sided else np.zeros_like(tail)
    else:
        reach = 40 / df
        low, high = -(reach + np.sqrt(reach)), np.log1p(2 * reach + 2 * np.sqrt(2 * reach)) / 2
        x = np.arange(low, high, min(0.5, 1 / np.sqrt(df), 1 / (1 + abs(shift))) / 4)
        weight, edge = np.exp(df * x - df / 2 * np.expm1(2 * x)), critical * np.exp(x)
        tail = special.ndtr(shift - edge) + (0.0 if sided else special.ndtr(-shift - edge))
    return float((weight * tail).sum() / weight.sum())


def power_of(d_z: float, n: float, alpha: float = 0.05) -> float:
    """Power of the two-sided paired t test for a standardised difference ``d_z`` on ``n`` units."""
    return rejected(abs(d_z) * np.sqrt(n), n - 1, float(special.stdtrit(n - 1, 1 - alpha / 2)))


def units_needed(d_z: float, *, alpha: float = 0.05, power: float = POWER) -> float:
    """Number of units (not rounded) at which the paired t test reaches this power; infinite for d_z = 0."""
    if d_z == 0:
        return float("inf")
    guess = ((special.ndtri(1 - alpha / 2) + special.ndtri(power)) / d_z) ** 2
    if guess > 1000:
        return float(guess)
    return _solve(lambda n: power_of(d_z, n, alpha), power, 2.0, guess + 50)


def _solve(power: Callable[[float], float], aim: float, low: float, high: float) -> float:
    """Where an increasing power reaches the aim: by secants of its normal quantile, which is nearly straight."""

    def quantile(x: float) -> float:
        return float(special.ndtri(np.clip(power(x), 1e-300, 1 - 1e-16)) - special.ndtri(aim))

    left, right, last = quantile(low), quantile(high), np.nan
    while right < 0:
        low, left, high = high, right, 2 * high
        right = quantile(high)
    if left >= 0:
        return low
    while True:
        x = (low * right - high * left) / (right - left)
        if not low < x < high or abs(x - last) <= 1e-13 * high:
            return x
        last, before, at = x, last, quantile(x)
        if at < 0:
            low, left, right = x, at, right / 2 if low == before else right
        else:
            high, right, left = x, at, left / 2 if high == before else left


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
