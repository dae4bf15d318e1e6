# SPDX-License-Identifier: Apache-2.0
"""Confidence intervals: from resamples, from the jackknife, and in closed form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from karat.stats.resampling import weighted
from karat.weights import Floats, Scores, Tilt


@dataclass(frozen=True)
class Bounds:
    """Lower and upper ends with the standard error that goes with them; arrays where the statistic is."""

    low: Floats
    high: Floats
    se: Floats
    resamples: int = 0
    undefined: Floats | float = 0.0
    """Share of resamples in which the statistic was undefined."""
    bias: Floats | float = 0.0
    """What the statistic is expected to be off by."""


def tail(level: float) -> float:
    """Probability left out on each side: 0.025 at level 0.95."""
    return (1 - level) / 2


def percentile(draws: Floats, level: float) -> tuple[Floats, Floats]:
    """Quantiles of the resampled statistic."""
    low, high = _quantiles(draws, np.array([tail(level), 1 - tail(level)]))
    return low, high


def basic(point: Floats, draws: Floats, level: float) -> tuple[Floats, Floats]:
    """Percentile bounds mirrored about the point; covers too little for small samples, so never a default."""
    low, high = percentile(draws, level)
    return 2 * point - high, 2 * point - low


def bca(point: Floats, draws: Floats, acceleration: Floats, level: float) -> tuple[Floats, Floats]:
    """Bias-corrected and accelerated quantiles; the point itself where no resample lies on one side of it."""
    point, acceleration = np.asarray(point, float), np.asarray(acceleration, float)
    shift = special.ndtri(_share_below(point, draws))
    z = special.ndtri(np.array([tail(level), 1 - tail(level)]))[:, None] + np.atleast_1d(shift)
    with np.errstate(invalid="ignore"):
        at = special.ndtr(shift + z / (1 - acceleration * z))
    low, high = _quantiles_of(draws, np.reshape(at, (2, *point.shape)))
    stuck = ~np.isfinite(shift)
    return np.where(stuck, point, low), np.where(stuck, point, high)


def _share_below(point: Floats, draws: Floats) -> Floats:
    # Ties within rounding noise count one half, or a discrete statistic looks biased.
    near = 1e-10 * np.maximum(np.abs(point), 1e-300)
    seen = np.maximum((~np.isnan(draws)).sum(0), 1)
    return np.asarray(((draws < point - near).sum(0) + (draws <= point + near).sum(0)) / (2 * seen), float)


def _quantiles(draws: Floats, at: Floats) -> Floats:
    if not np.isnan(draws).any():
        return np.asarray(np.quantile(draws, at, axis=0), float)
    empty = np.isnan(draws).all(0)
    return np.asarray(np.where(empty, np.nan, np.nanquantile(np.where(empty, 0.0, draws), at, axis=0)), float)


def _quantiles_of(draws: Floats, at: Floats) -> Floats:
    """Quantiles ``at[:, k]`` of column ``k``."""
    at = np.nan_to_num(at, nan=0.5)
    if draws.ndim == 1:
        return _quantiles(draws, at)
    columns = [_quantiles(draws[:, k], at[:, k]) for k in range(draws.shape[1])]
    return np.array(columns, float).reshape(draws.shape[1], len(at)).T


def student(point: Floats, se: Floats, df: Floats | float, level: float) -> tuple[Floats, Floats]:
    """``point ± t(df) · se``."""
    reach = special.stdtrit(df, 1 - tail(level)) * se
    return point - reach, point + reach


def hall(point: Floats, se: Floats, skewness: Floats, df: Floats | float, level: float) -> tuple[Floats, Floats]:
    """``point ± t(df) · se`` bent by the skewness of the estimate: Hall's cubic transformation, turned back.

    With skewness g the ends are point − se · 3/g · (∛(1 + g(±t − g/6)) − 1); with g = 0 they are Student's.
    """
    t = special.stdtrit(df, 1 - tail(level))
    g = np.where(np.abs(skewness) < 1e-9, 1.0, skewness)
    bent = [3 / g * (np.cbrt(1 + g * (x - g / 6)) - 1) for x in (t, -t)]
    low, high = (point - se * np.where(np.abs(skewness) < 1e-9, x, y) for x, y in zip((t, -t), bent, strict=True))
    return low, high


def odds(point: Floats, se: Floats, df: Floats | float, level: float) -> tuple[Floats, Floats]:
    """``point ± t(df) · se`` on the scale of log odds, where the end near 1 is as far as the other; the point itself at 0 and 1."""
    slope = point * (1 - point)
    middle = special.logit(np.where(slope > 0, point, 0.5))
    reach = special.stdtrit(df, 1 - tail(level)) * np.divide(se, slope, out=np.zeros_like(slope), where=slope > 0)
    low, high = (np.where(slope > 0, special.expit(middle + sign * reach), point) for sign in (-1, 1))
    return low, high


STEPS, CLOSE = 120, 1e-12
"""Most steps to the end of an interval, and how near they come, as a share of its reach; every third step halves what is left."""


def folded(
    gap: Floats, se: Floats, spread: float, df: float, level: float, together: Floats | None = None
) -> tuple[float, float, float]:
    """Ends of the sum of |true gap|, and the sum that is expected to show as what is seen, from gaps with their errors.

    An error makes |gap| larger on average, so the sum is too large. The ends are those true sums of which the sum that
    was seen lies t(df) spreads above or below the mean, by the moments of folded normal laws. For the lower end the true
    gaps are the seen ones with the same number of errors taken off each: few are left, and the others have all of
    that excess. For the upper end they are spread as the errors are, where the excess is least. ``spread`` is the
    standard error of the sum as it stands: large gaps of units that are in one bin or another vary together. So do all
    gaps of clusters, whose errors have the correlations ``together``.

    >>> one = folded(np.array([0.9]), np.array([0.1]), 0.1, 1000.0, 0.95)   # one gap, far from 0: 0.9 ± 1.96 · 0.1
    >>> [round(x, 2) for x in one]
    [0.7, 1.1, 0.9]
    """
    seen, t = np.abs(gap), float(special.stdtrit(df, 1 - tail(level)))
    total, all_errors = float(seen.sum()), float(se.sum())
    if all_errors == 0:
        return total, total, total
    far = float(np.divide(seen, se, out=np.zeros_like(seen), where=se > 0).max())
    shared = spread**2 / float((se**2).sum()) - 1
    turned = None if together is None else _powers(together * np.outer(*[np.where(gap < 0, -1.0, 1.0)] * 2))

    def excess(true: Floats, apart: float) -> float:
        """By how much the mean of the sum, and so many of its spreads, lies above what was seen."""
        mean, variance = _folded_moments(true, se)
        if not apart:
            return float(mean.sum()) - total
        large = 1 + shared * min(float(true.sum()) / total, 1.0) ** 2 if total else 1.0
        square = float(variance.sum())
        square = max(square * large, 0.0 if turned is None else square + _folded_covariance(true, se, turned))
        return float(mean.sum() + apart * np.sqrt(square)) - total

    def sum_below(apart: float) -> float:
        kept = _crossing(lambda x: excess(np.maximum(seen - (far - x) * se, 0.0), apart), far)
        return float(np.maximum(seen - (far - kept) * se, 0.0).sum())

    high = _crossing(lambda x: excess(x / all_errors * se, -t), total + (t + 1) * all_errors)
    return sum_below(t), high, sum_below(0.0)


def _crossing(rising: Callable[[float], float], most: float) -> float:
    """Where a function that rises in the end reaches 0, between 0 and ``most``; 0 where it never lies below.

    By the line through both ends, half as high at the one that stays (Illinois), and by halves where that is slow.

    >>> round(_crossing(lambda x: x**3 - 2, 4.0), 9) == round(2 ** (1 / 3), 9), _crossing(lambda x: x + 1, 4.0)
    (True, 0.0)
    """
    low, high, below, above = 0.0, most, rising(0.0), rising(most)
    for step in range(STEPS):
        share = below / (below - above) if below < 0 < above and step % 3 < 2 else 0.5
        middle = low + share * (high - low)
        value = rising(middle)
        if value > 0:
            high, above, below = middle, value, below / 2
        else:
            low, below, above = middle, value, above / 2
        if high - low <= CLOSE * most:
            break
    return high if low else 0.0


def _folded_moments(gap: Floats, se: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of |gap + se · Z| for gaps of 0 and more."""
    z = np.divide(gap, se, out=np.zeros_like(gap), where=se > 0)
    mean = gap * special.erf(z / np.sqrt(2)) + se * np.sqrt(2 / np.pi) * np.exp(-(z**2) / 2)
    mean = np.where(se > 0, mean, gap)
    return mean, np.maximum(gap**2 + se**2 - mean**2, 0.0)


HERMITE = 8
"""Terms of the covariance of two folded normal laws: what is left out is below 1 % of it for correlations up to 0.9."""


def _powers(correlation: Floats) -> Floats:
    """ρ^k/k! of different gaps, for every term of `_folded_covariance`."""
    apart, terms = correlation * (1 - np.eye(len(correlation))), np.arange(1, HERMITE + 1)
    return np.asarray(apart ** terms[:, None, None] / special.factorial(terms)[:, None, None], float)


def _folded_covariance(gap: Floats, se: Floats, powers: Floats) -> float:
    """Sum of the covariances of |gap + se · Z| over all pairs of different gaps, by Mehler's expansion.

    Cov(f(X), g(Y)) = Σ ρ^k/k! · E f⁽ᵏ⁾(X) · E g⁽ᵏ⁾(Y). Two standard normal laws of correlation ρ, folded, have
    2/π · (√(1 − ρ²) + ρ · asin ρ − 1):

    >>> half = _powers(np.array([[1.0, 0.5], [0.5, 1.0]]))
    >>> round(_folded_covariance(np.zeros(2), np.ones(2), half) / 2, 4), round(2 / np.pi * (0.75**0.5 + np.pi / 12 - 1), 4)
    (0.0814, 0.0814)
    """
    z = np.divide(gap, se, out=np.zeros_like(gap), where=se > 0)
    bend = se * np.sqrt(2 / np.pi) * np.exp(-(z**2) / 2)  # E f'' of |gap + se · Z|
    hermite = [np.ones_like(z), -z]
    for k in range(2, HERMITE - 1):
        hermite.append(-z * hermite[-1] - (k - 1) * hermite[-2])
    slope = np.stack([se * special.erf(z / np.sqrt(2)), *(bend * h for h in hermite)])
    return float((slope[:, None] @ powers @ slope[..., None]).sum())


def constant(point: float, n: float, limits: tuple[float, float], level: float) -> tuple[float, float]:
    """Of ``n`` units that all give the same score: a share of 1 − (tail)^(1/n) of others may not have shown.

    >>> [round(end, 3) for end in constant(1.0, 60, (0.0, 1.0), 0.95)]
    [0.94, 1.0]
    """
    if not np.isfinite(limits).all():
        return -np.inf, np.inf
    unseen = 1 - tail(level) ** (1 / max(n, 1))
    return point - (point - limits[0]) * unseen, point + (limits[1] - point) * unseen


def wilson(hits: Floats, n: Floats, level: float) -> tuple[Floats, Floats]:
    """Score interval of a proportion: right size even near 0 and 1, where p ± z·se is not.

    >>> low, high = wilson(1, 10, 0.95)
    >>> round(float(low), 4), round(float(high), 4)
    (0.0179, 0.4042)
    """
    z2 = special.ndtri(1 - tail(level)) ** 2
    hits, n = np.asarray(hits, float), np.asarray(n, float)
    middle = (hits + z2 / 2) / (n + z2)
    reach = np.sqrt(z2 * (hits * (n - hits) / n + z2 / 4)) / (n + z2)
    return np.where(hits == 0, 0.0, middle - reach), np.where(hits == n, 1.0, middle + reach)


def clopper_pearson(hits: Floats, n: Floats, level: float) -> tuple[Floats, Floats]:
    """Exact binomial interval of a proportion: never covers too little, often too much."""
    hits, n = np.asarray(hits, float), np.asarray(n, float)
    with np.errstate(invalid="ignore"):
        low = special.betaincinv(hits, n - hits + 1, tail(level))
        high = special.betaincinv(hits + 1, n - hits, 1 - tail(level))
    return np.where(hits == 0, 0.0, low), np.where(hits == n, 1.0, high)


def delta_se(statistic: Scores, n: Floats, step: float = 1e-4) -> Floats:
    """Standard error by the delta method: the statistic's slope towards each cell, by central differences."""
    total = float(n.sum())
    seen = np.flatnonzero(n > 0)
    up = statistic(Tilt(n, 1 - step, step * total, seen))
    down = statistic(Tilt(n, 1 + step, -step * total, seen))
    slope = (up - down) / (2 * step)
    return np.asarray(np.sqrt(weighted(n[seen], slope**2)) / total, float)


def from_draws(point: Floats, draws: Floats, acceleration: Floats, method: str, level: float) -> tuple[Floats, Floats]:
    """Bounds of the named kind from the statistic's resamples."""
    if method == "bca":
        return bca(point, draws, acceleration, level)
    return basic(point, draws, level) if method == "basic" else percentile(draws, level)


def spread(draws: Floats) -> Floats:
    """Standard deviation of the defined resamples."""
    if not np.isnan(draws).any():
        return np.asarray(draws.std(0, ddof=1), float)
    seen = (~np.isnan(draws)).sum(0)
    mean = np.nansum(draws, 0) / np.maximum(seen, 1)
    return np.asarray(np.sqrt(np.nansum((draws - mean) ** 2, 0) / np.maximum(seen - 1, 1)), float)
