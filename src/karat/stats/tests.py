# SPDX-License-Identifier: Apache-2.0
"""Tests of two systems on paired scores: t, McNemar, Wilcoxon, sign, bootstrap, equivalence."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from karat.comparison import Test
from karat.stats.multiplying import dotted
from karat.weights import Floats, Ints


def moments(d: Floats, n: Floats | None = None) -> tuple[float, float, float]:
    """Number, mean and standard deviation of differences, ``d[u]`` occurring ``n[u]`` times."""
    n = np.ones(len(d)) if n is None else n
    size = float(n.sum())
    mean = dotted(n, d) / size if size else np.nan
    squares = dotted(n, (d - mean) ** 2)
    return size, mean, float(np.sqrt(squares / (size - 1))) if size > 1 else np.nan


def settled(d: Floats) -> Floats:
    """Differences rounded to 12 digits of the largest, so that 0.3 − 0.2 ties with 0.2 − 0.1."""
    d = np.asarray(d, float)
    largest = float(np.abs(d).max(initial=0.0))
    return np.round(d, 12 - int(np.ceil(np.log10(largest)))) if 0 < largest < np.inf else d


def is_constant(d: Floats, n: Floats | None = None) -> bool:
    """Whether all differences that occur are the same number, up to rounding."""
    seen = d if n is None else d[n > 0]
    return len(seen) == 0 or bool(np.ptp(seen) <= 1e-12 * max(np.abs(seen).max(), 1e-300))


def tail_of(t: float, df: float, alternative: str) -> float:
    """Probability of a t at least as extreme."""
    if alternative == "two-sided":
        return float(2 * special.stdtr(df, -abs(t)))
    return float(special.stdtr(df, t if alternative == "less" else -t))


def paired_t(d: Floats, n: Floats | None = None, alternative: str = "two-sided") -> Test:
    """Student's paired t on differences (each occurring ``n`` times).

    >>> round(paired_t(np.array([0.2, 0.2, 0.2, 0.4, 0.0])).p, 4)
    0.0341
    """
    size, mean, sd = moments(d, n)
    if size < 2:
        return Test("paired t", np.nan, note="fewer than two units")
    if is_constant(d, n):
        return _constant(mean)
    t = mean / (sd / np.sqrt(size))
    return Test("paired t", tail_of(t, size - 1, alternative), float(t))


def _constant(mean: float) -> Test:
    if mean == 0:
        return Test("paired t", 1.0, 0.0, exact=True, note="no differences")
    return Test("paired t", np.nan, note="constant difference")


def mcnemar(a_only: int, b_only: int, method: str = "mid-p") -> Test:
    """McNemar's test on the units that one system alone has right: ``mid-p``, ``exact``, ``chi2`` or ``chi2-cc``.

    >>> mcnemar(1, 0).p
    0.5
    """
    m = a_only + b_only
    if m == 0:
        return Test(f"McNemar {method}", 1.0, exact=True, note="no discordant units")
    if method.startswith("chi2"):
        return _mcnemar_chi2(a_only, b_only, method)
    exact = min(1.0, 2 * float(special.bdtr(min(a_only, b_only), m, 0.5)))
    if method == "exact":
        return Test("McNemar exact", exact, exact=True)
    at = float(np.exp(log_choose(m, a_only) - m * np.log(2)))
    return Test("McNemar mid-p", 1 - at if a_only == b_only else exact - at, exact=True)


def log_choose(n: float, k: Floats | float) -> Floats:
    return np.asarray(special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1), float)


def _mcnemar_chi2(a_only: int, b_only: int, method: str) -> Test:
    gap = abs(a_only - b_only) - (1 if method == "chi2-cc" else 0)
    statistic = gap**2 / (a_only + b_only)
    return Test(f"McNemar {method}", float(special.chdtrc(1, statistic)), statistic)


def sign_test(d: Floats, n: Floats | None = None, alternative: str = "two-sided") -> Test:
    """Binomial test of wins against losses: a test of the median, not of the mean."""
    n, d = np.ones(len(d)) if n is None else n, settled(d)
    wins, losses = int(n[d > 0].sum()), int(n[d < 0].sum())
    m = wins + losses
    less, greater = float(special.bdtr(wins, m, 0.5)), float(special.bdtr(losses, m, 0.5))
    p = {"less": less, "greater": greater, "two-sided": min(1.0, 2 * min(less, greater))}[alternative]
    return Test("sign", p if m else 1.0, wins, exact=True, note="tests the median, not the mean")


def midranks(x: Floats) -> Floats:
    """Ranks from 1, equal values sharing the mean of theirs."""
    _, inverse, count = np.unique(x, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return np.asarray((last - (count - 1) / 2)[inverse], float)


@dataclass(frozen=True)
class _Signed:
    """Ranks of the differences, and the rank sums of the positive and negative ones."""

    rank: Floats
    flips: Floats
    """Ranks whose sign is random: those of differences that are not zero."""
    plus: float
    minus: float

    @property
    def least(self) -> float:
        return min(self.plus, self.minus)


def _signed_ranks(d: Floats, zeros: str) -> _Signed:
    if zeros == "wilcox":
        d = d[d != 0]
    rank, zero = midranks(np.abs(d)), d == 0
    plus, minus = float(rank[d > 0].sum()), float(rank[d < 0].sum())
    half = float(rank[zero].sum()) / 2 if zeros == "zsplit" else 0.0
    kept = rank if zeros == "zsplit" else rank[~zero]
    return _Signed(kept, rank[~zero], plus + half, minus + half)


EXACT_WILCOXON = 50
"""Up to this many differences the signed-rank distribution is computed, above it is approximated."""


def wilcoxon(d: Floats, *, zeros: str = "wilcox", correction: bool = False, method: str = "auto") -> Test:
    """Wilcoxon's signed-rank test, two-sided: a test of symmetry about 0, not of the mean.

    ``zeros``: ``wilcox`` drops them, ``pratt`` ranks and then drops them, ``zsplit`` splits their ranks.
    The exact distribution is conditional on the ranks, so ties do not spoil it.
    """
    signed = _signed_ranks(settled(d), zeros)
    if len(signed.rank) == 0:
        return Test("Wilcoxon", 1.0, 0.0, exact=True, note="no differences")
    exact = method == "exact" or (method == "auto" and len(d) <= EXACT_WILCOXON)
    p = _wilcoxon_exact(signed) if exact else _wilcoxon_normal(signed, correction)
    return Test("Wilcoxon", p, signed.least, exact=exact, note="tests symmetry about 0, not the mean")


def _wilcoxon_exact(signed: _Signed) -> float:
    mass = sign_sums(np.round(2 * signed.flips).astype(np.int64))
    fixed = (signed.plus + signed.minus - float(signed.flips.sum())) / 2
    return float(min(1.0, 2 * mass[: round(2 * (signed.least - fixed)) + 1].sum()))


def sign_sums(rank: Ints) -> Floats:
    """Probabilities of each sum of a random half of the integers ``rank``."""
    mass = np.zeros(int(rank.sum()) + 1)
    mass[0], top = 1.0, 0
    for r in rank:
        top += int(r)
        mass[r : top + 1] = mass[r : top + 1] / 2 + mass[: top + 1 - r] / 2
        mass[:r] /= 2
    return mass


def _wilcoxon_normal(signed: _Signed, correction: bool) -> float:
    z = wilcoxon_z(signed, correction)
    return float(2 * special.ndtr(-abs(z)))


def wilcoxon_z(signed: _Signed, correction: bool) -> float:
    """Normal score of the smaller rank sum."""
    squares = float((signed.rank**2).sum())
    gap = signed.least - (signed.plus + signed.minus) / 2
    gap -= 0.5 * np.sign(gap) if correction else 0.0
    return float(gap / np.sqrt(squares / 4)) if squares else 0.0


def bootstrap_shift(observed: Floats, draws: Floats) -> Floats:
    """Two-sided p of a difference from its paired bootstrap: (b + 1)/(B + 1), b = #{|d* − d| ≥ |d|}."""
    return monte_carlo(np.abs(draws - observed), np.abs(observed))


def monte_carlo(extremes: Floats, observed: Floats) -> Floats:
    """(b + 1)/(m + 1), ties within rounding counted, so that p is never 0."""
    seen = ~np.isnan(extremes)
    near = 1e-10 * np.max(np.where(seen, np.abs(extremes), 0.0), axis=0, initial=0.0)
    b = (np.where(seen, extremes, -np.inf) >= observed - near).sum(0)
    return np.asarray((b + 1) / (seen.sum(0) + 1), float)


def tost_constant(d: float, n: float, margin: float, limits: tuple[float, float]) -> Test:
    """The same where all ``n`` units differ by ``d``: how probable is it that none of the others was seen?"""
    if not np.isfinite(limits).all() or abs(d) >= margin:
        return Test("TOST", 1.0, note="constant difference")
    rooms = (margin - d, limits[1] - d), (margin + d, d - limits[0])
    unseen = min([1.0, *(room / most for room, most in rooms if most > 0)])  # at a limit, no other lies beyond
    return Test("TOST", float((1 - unseen) ** n), exact=True, note="constant difference")


def tost(mean: float, se: float, df: float, margin: float) -> Test:
    """Two one-sided t tests: small p says that the difference lies within ± margin."""
    if not se > 0:
        return Test("TOST", 1.0, note="no spread")
    below, above = (mean + margin) / se, (mean - margin) / se
    p = max(tail_of(below, df, "greater"), tail_of(above, df, "less"))
    return Test("TOST", p, below if abs(below) < abs(above) else above)


def one_sided(test: Test, gain: float) -> Test:
    """The test of "the first is better" from the two-sided one, whose law under no difference is symmetric.

    >>> one_sided(Test("paired t", 0.04), 0.1).p, one_sided(Test("paired t", 0.04), -0.1).p
    (0.02, 0.98)
    """
    return replace(test, p=test.p / 2 if gain > 0 else 1 - test.p / 2, one_sided=True)


def non_inferiority(gain: float, se: float, df: float, margin: float) -> Test:
    """One-sided t test of a loss of at least the margin: small p says that the first is not worse by so much."""
    if not se > 0:
        return Test("non-inferiority", np.nan, note="no spread", one_sided=True)
    t = float(gain + margin) / se
    return Test("non-inferiority", tail_of(t, df, "greater"), t, note=f"margin {margin:g}", one_sided=True)
