# SPDX-License-Identifier: Apache-2.0
"""Intervals and tests that hold at every look: e-values and confidence sequences.

A bet against "the mean is m" on each unit score x in [0, 1] multiplies a stake by b·x/m + (1 − b)·(1 − x)/(1 − m);
if the mean is m, no strategy can make the stake grow on average. The stake averaged over all b (Beta(½, ½), Cover's
universal portfolio) is an e-value: by Ville's inequality it ever reaches 1/α with probability at most α. The means
that it has not ruled out are a confidence sequence. Both depend on the scores but not on their order, so that data
may be added in any order; for shares of units the average is the beta-binomial in closed form.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import special

from karat.weights import Floats

NODES = 64
REACH = 9.0
"""Standard deviations about the best bet that the average covers."""
EXPECTED = 500
"""Units at which the asymptotic sequence is tightest; it must be fixed before the data are seen."""


def log_wealth(x: Floats, n: Floats, mean: float) -> float:
    """Logarithm of the e-value against ``mean``: scores ``x`` in [0, 1], each ``n`` times.

    >>> round(log_wealth(np.array([1.0]), np.array([1.0]), 0.5), 12)     # the average of 2·b is 1
    0.0
    """
    x, n = np.asarray(x, float), np.asarray(n, float)
    if np.isin(x, (0.0, 1.0)).all():
        return _share_wealth(float(n @ x), float(n.sum()), mean)
    if not 0 < mean < 1:
        ruled_out = bool((x[n > 0] > 0).any()) if mean <= 0 else bool((x[n > 0] < 1).any())
        return np.inf if ruled_out else 0.0
    return _averaged(x, n, mean)


def _share_wealth(hits: float, total: float, mean: float) -> float:
    with np.errstate(divide="ignore"):
        at = special.xlogy(hits, mean) + special.xlogy(total - hits, 1 - mean)
    return float(special.betaln(hits + 0.5, total - hits + 0.5) - special.betaln(0.5, 0.5) - at)


def _averaged(x: Floats, n: Floats, mean: float) -> float:
    """Average over b = sin²φ, φ uniform: the trapezoid rule about the best bet, which is exact to rounding."""
    up, down = x / mean, (1 - x) / (1 - mean)

    def gain(phi: Floats) -> Floats:
        b = np.sin(phi) ** 2
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.outer(b, up) + np.outer(1 - b, down)) @ n, float)

    low, high = _window(x, n, mean)
    phi = np.linspace(low, high, NODES + 1)
    # Half weights at the ends: the law of φ is even about 0 and π/2, so that the rule converges there too.
    weight = np.full(len(phi), (high - low) / (len(phi) - 1) * 2 / np.pi)
    weight[[0, -1]] /= 2
    return float(special.logsumexp(gain(phi), b=weight))


def _window(x: Floats, n: Floats, mean: float) -> tuple[float, float]:
    """Where the stake is not negligible: about the best bet, found by Newton on the concave gain."""
    lean, width = x / mean - (1 - x) / (1 - mean), (1 - x) / (1 - mean)
    b = 0.5
    low, high = 0.0, 1.0
    for _ in range(60):
        stake = np.maximum(width + b * lean, 1e-300)
        slope, curve = float(n @ (lean / stake)), float(n @ (lean / stake) ** 2)
        low, high = (b, high) if slope > 0 else (low, b)
        step = b + slope / curve if curve > 0 else b
        b, last = (step if low < step < high else (low + high) / 2), b
        if abs(b - last) < 1e-12:
            break
    curve = float(n @ (lean / np.maximum(width + b * lean, 1e-300)) ** 2)
    phi = float(np.arcsin(np.sqrt(np.clip(b, 0, 1))))
    # In φ the curvature is that in b times (db/dφ)²; at the ends the gain is linear in b, quadratic in φ.
    bend = curve * np.sin(2 * phi) ** 2 + 2 * abs(float(n @ (lean / np.maximum(width + b * lean, 1e-300))))
    reach = REACH / np.sqrt(max(bend, 1.0))
    return max(phi - reach, 0.0), min(phi + reach, np.pi / 2)


def e_value(x: Floats, n: Floats, mean: float, bounds: tuple[float, float] = (0.0, 1.0)) -> float:
    """Evidence against a mean of ``mean``: reaches 1/α with probability at most α, however often one looks."""
    low, high = bounds
    return float(np.exp(min(log_wealth((np.asarray(x) - low) / (high - low), n, (mean - low) / (high - low)), 700.0)))


def confidence_sequence(
    x: Floats,
    n: Floats,
    level: float,
    bounds: tuple[float, float] = (0.0, 1.0),
    scale: tuple[float, float] | None = None,
) -> tuple[float, float]:
    """Means that the bets have not ruled out, of scores between ``bounds``; written on another ``scale`` if asked."""
    low, high = bounds
    inside = np.clip((np.asarray(x, float) - low) / (high - low), 0.0, 1.0)
    n = np.asarray(n, float)
    middle, limit = float(n @ inside) / float(n.sum()), -np.log(1 - level)
    ruled_out = lambda m: log_wealth(inside, n, m) - limit
    ends = _edge(ruled_out, middle, 0.0), _edge(ruled_out, middle, 1.0)
    low, high = scale or bounds
    return low + ends[0] * (high - low), low + ends[1] * (high - low)


def _edge(ruled_out: Callable[[float], float], inside: float, end: float) -> float:
    """Where the bets begin to rule means out between the observed mean and the end of the range."""
    if ruled_out(end) < 0 or inside == end:
        return end
    for _ in range(40):
        middle = (inside + end) / 2
        inside, end = (inside, middle) if ruled_out(middle) >= 0 else (middle, end)
        if abs(inside - end) < 1e-9:
            break
    return end


def asymptotic_reach(units: float, level: float, expected: float = EXPECTED) -> float:
    """How many standard errors a sequence reaches for any score that is nearly normal (Robbins' mixture)."""
    alpha, scale = 1 - level, _scale(1 - level, expected) * units
    return float(np.sqrt(2 * (1 + scale) / scale * np.log(np.sqrt(1 + scale) / alpha)))


def asymptotic_log_e(z: float, units: float, alpha: float = 0.05, expected: float = EXPECTED) -> float:
    """Logarithm of the e-value of a score ``z`` standard errors from what is tested."""
    scale = _scale(alpha, expected) * units
    return float(scale * z * z / (2 * (1 + scale)) - np.log1p(scale) / 2)


def _scale(alpha: float, expected: float) -> float:
    """Variance of the mixture that makes the sequence tightest at ``expected`` units."""
    half = -2 * np.log(alpha)
    return float((half + np.log(half) + 1) / expected)


def anytime_p(log_e: float) -> float:
    """p-value of an e-value: min(1, 1/e)."""
    return float(np.exp(-max(log_e, 0.0)))
