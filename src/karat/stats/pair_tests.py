# SPDX-License-Identifier: Apache-2.0
"""The tests of one pair of systems on every metric: the one that decides first, then those beside it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from karat.comparison import Test
from karat.stats import tests
from karat.stats.pair import Paired
from karat.stats.random import stream
from karat.stats.randomisation import Coins, sign_flip
from karat.stats.settings import DRAWS, ComparisonSettings
from karat.stats.stochastic_order import least_violation
from karat.weights import Floats

MANY_MOVES, FEWER_DRAWS = 10_000, 1_999
"""Beyond this many distinct swaps the default number of draws is cut, and the result says so."""


def pair_tests(duel: Paired, settings: ComparisonSettings, coins: Coins, repeatable: bool) -> list[list[Test]]:
    """By metric."""
    drawn = _swapped(duel, settings, coins) if repeatable else _jackknifed(duel)
    beside = _bootstrapped(duel, settings) if "bootstrap" in settings.tests and repeatable else []
    return [
        [*_with_unit_tests(duel, k, test, settings), *beside[k : k + 1]] if np.isfinite(duel.difference[k]) else []
        for k, test in enumerate(drawn)
    ]


def _swapped(duel: Paired, settings: ComparisonSettings, coins: Coins) -> list[Test]:
    """The randomisation test of each metric, or the paired bootstrap where outcomes cannot be swapped."""
    moves = sum(len(s.moves[1]) for s in duel.swaps)
    draws = settings.draws or (DRAWS if moves <= MANY_MOVES else FEWER_DRAWS)
    law = duel.swap_test(coins, draws)
    swapped = [Test("randomisation", float(p), draws=law.draws, exact=law.exact) for p in law.p]
    if duel.swappable.all():
        return swapped
    if duel.units * (settings.draws or FEWER_DRAWS) > MOST_DRAWN:
        other = _jackknifed(duel, "outcomes cannot be swapped: scores of two systems have no common scale")
    else:
        other = _careful(duel, settings, "outcomes cannot be swapped: labels or levels differ between the systems")
    return [s if ok else o for s, o, ok in zip(swapped, other, duel.swappable, strict=True)]


def _bootstrapped(duel: Paired, settings: ComparisonSettings, note: str = "") -> list[Test]:
    """By the paired bootstrap."""
    draws = settings.draws or FEWER_DRAWS
    p = tests.bootstrap_shift(duel.difference, duel.resampled(settings.seed, draws))
    return [Test("paired bootstrap", float(p[k]), draws=draws, note=note) for k in range(len(p))]


def _careful(duel: Paired, settings: ComparisonSettings, note: str) -> list[Test]:
    """By the paired bootstrap, p being no smaller than the jackknife's: of few units, resamples alone find too much."""
    known = duel.spread[0] > 0
    return [
        replace(test, p=max(test.p, other.p), note=f"{note}; p is at least that of the jackknife") if ok else test
        for test, other, ok in zip(_bootstrapped(duel, settings, note), _jackknifed(duel), known, strict=True)
    ]


MOST_DRAWN = 1e7
"""Units times resamples beyond which the paired bootstrap gives way to the jackknife, which by then says the same."""


def _jackknifed(
    duel: Paired, note: str = "items cannot be swapped or drawn twice: their mates would change"
) -> list[Test]:
    """The difference over its jackknife spread: where units can neither be swapped nor drawn twice, or are many."""
    out = []
    for d, se, df in zip(duel.difference, *duel.spread, strict=True):
        t = float(d / se) if se > 0 else 0.0
        out.append(
            Test("paired jackknife-t", tests.tail_of(t, df, "two-sided") if np.isfinite(d) else np.nan, t, note=note)
        )
    return out


def _with_unit_tests(duel: Paired, k: int, drawn: Test, settings: ComparisonSettings) -> list[Test]:
    units = duel.unit_differences(k) if duel.is_mean(k) else None
    if units is None:
        return [drawn]
    return [*_mean_tests(*units, drawn), *_asked(*units, settings)]


MOST_ORDERED = 20_000
"""Units beyond which almost stochastic order is that of as many quantiles."""


def almost_ordered(duel: Paired, k: int, turned: float, settings: ComparisonSettings) -> list[Test]:
    """How far the unit scores of the first lie from being above those of the second, quantile by quantile."""
    if not duel.is_mean(k):
        return []
    a, b, n = duel.swaps[0].unit_scores(k)
    known = ~(np.isnan(a) | np.isnan(b))
    ordered = [np.sort(np.repeat(turned * x[known], n[known].astype(np.int64))) for x in (a, b)]
    thin = [x[np.linspace(0, len(x) - 1, min(len(x), MOST_ORDERED)).astype(np.int64)] for x in ordered]
    return [almost_stochastic_order(thin[0], thin[1], duel.names, "units", settings)]


def _mean_tests(d: Floats, n: Floats, swapped: Test) -> list[Test]:
    exact = sign_flip(tests.settled(d), n)
    best = swapped if exact is None else Test("randomisation", exact, exact=True)
    if np.isin(d, (-1.0, 0.0, 1.0)).all():
        wins, losses = int(n[d > 0].sum()), int(n[d < 0].sum())
        return [tests.mcnemar(wins, losses), best, tests.paired_t(d, n)]
    return [best, tests.paired_t(d, n)]


def _asked(d: Floats, n: Floats, settings: ComparisonSettings) -> list[Test]:
    """Tests of other hypotheses, which have to be asked for by name."""
    differences = np.repeat(d, n.astype(np.int64))
    known = {"wilcoxon": lambda: tests.wilcoxon(differences), "sign": lambda: tests.sign_test(d, n)}
    return [known[name]() for name in settings.tests if name in known]


def almost_stochastic_order(
    a: Floats, b: Floats, names: tuple[str, str], over: str, settings: ComparisonSettings
) -> Test:  # fmt: skip
    """The bound of the violation as a test without a p; scores of which more is better."""
    bound = least_violation(a, b, stream(settings.seed, "aso"), confidence=1 - settings.alpha)
    note = f"over {over}: ε ≤ {bound:.3f}; below 0.5 {names[0]} is almost above {names[1]}"
    return Test("almost stochastic order", np.nan, bound, note=note)
