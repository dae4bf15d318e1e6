# SPDX-License-Identifier: Apache-2.0
"""The functions of statistics on small numbers: at every border, with ties, and where they are undefined."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import numpy as np

from karat.comparison import Test
from karat.stats import (  # fmt: skip
    bayes,
    corrections,
    design,
    effects,
    family,
    intervals,
    judge,
    power,
    random,
    randomisation,
    ranks,
    resampling,
    runs,
    sequential,
    standing,
    stochastic_order,
    tables,
    tests,
)
from karat.stats.settings import ComparisonSettings
from karat.stats.wording import amount, p_words
from karat.weights import Floats
from tests.kept.evaluations import Cases

DIFFERENCES = {
    "none": [], "one": [0.5], "zero": [0.0], "zeros": [0.0, 0.0, 0.0], "two": [0.5, -0.25], "alike": [0.1, 0.1, 0.1], "nearly alike": [0.1, 0.1, 0.1 + 1e-14], "less alike": [0.1, 0.1, 0.1 + 1e-11], "signs": [1.0, -1.0, 1.0, 1.0, 0.0, -1.0, 1.0], "wins": [1.0] * 6, "losses": [-1.0] * 5, "thirds": [1 / 3, -2 / 3, 1 / 3, 0.0, 1.0], "ties": [0.3, 0.1, 0.3 - 0.2, -0.1, 0.2, 0.0], "tenths": [0.1, 0.2, -0.3, 0.4, 0.0, 0.1], "odd": [0.11, -0.2317, 0.513, 0.7, -0.1001], "large": [1e6, -2e6, 3e6], "small": [1e-9, -2e-9, 4e-9], "ten": [0.05 * ((7 * i) % 11 - 4) for i in range(10)], "fifty": [0.01 * ((17 * i) % 23 - 9) for i in range(50)], "more": [0.01 * ((17 * i) % 23 - 9) for i in range(51)], "infinite": [np.inf, 1.0],
}  # fmt: skip
COUNTS = {"ones": lambda n: None, "counted": lambda n: np.array([1.0 + (3 * i) % 4 for i in range(n)]), "some": lambda n: np.array([float(i % 2) for i in range(n)])}  # fmt: skip
SIDES = ("two-sided", "less", "greater")


def differences() -> Cases:
    for (name, given), (title, count) in product(DIFFERENCES.items(), COUNTS.items()):
        d, n = np.array(given, float), count(len(given))
        whole = np.ones(len(d)) if n is None else n
        yield f"moments {name} {title}", lambda d=d, n=n: tests.moments(d, n)
        yield f"constant {name} {title}", lambda d=d, n=n: tests.is_constant(d, n)
        for side in SIDES:
            yield f"paired t {name} {title} {side}", lambda d=d, n=n, side=side: tests.paired_t(d, n, side)
            yield f"sign {name} {title} {side}", lambda d=d, n=n, side=side: tests.sign_test(d, n, side)
            if name != "infinite":
                yield f"sign flip {name} {title} {side}", lambda d=d, n=whole, side=side: randomisation.sign_flip(d, n, side)  # fmt: skip
        yield f"effect {name} {title}", lambda d=d, n=n: effects.effect(d, n)
        yield f"rank biserial {name} {title}", lambda d=d, n=n: effects.rank_biserial(d, n)
        yield f"midranks {name} {title}", lambda d=d, n=whole: effects.weighted_midranks(d, n)
        if title == "ones":
            yield f"settled {name}", lambda d=d: tests.settled(d)
            yield f"ranks {name}", lambda d=d: tests.midranks(d)
            for zeros, correction, method in product(("wilcox", "pratt", "zsplit"), (False, True), ("auto", "exact", "normal")):  # fmt: skip
                yield f"wilcoxon {name} {zeros} {correction} {method}", lambda d=d, z=zeros, c=correction, m=method: tests.wilcoxon(d, zeros=z, correction=c, method=m)  # fmt: skip
            for rope in (0.0, 0.05, 0.5):
                yield f"signed rank {name} {rope}", lambda d=d, rope=rope: bayes.signed_rank(d, rope, np.random.default_rng(3), 200)  # fmt: skip


def small_tests() -> Cases:
    for a, b, method in product((0, 1, 2, 5, 30), (0, 1, 3, 12), ("mid-p", "exact", "chi2", "chi2-cc")):
        yield f"mcnemar {a} {b} {method}", lambda a=a, b=b, m=method: tests.mcnemar(a, b, m)
    for t, df, side in product((-2.5, 0.0, 1.5), (1, 4, 1000.0), SIDES):
        yield f"tail {t} {df} {side}", lambda t=t, df=df, s=side: tests.tail_of(t, df, s)
    for mean, se, df, margin in product((-0.2, 0.0, 0.05, 0.1), (0.0, 0.03, 0.5), (1.0, 9.0), (0.1, 0.3)):
        yield f"tost {mean} {se} {df} {margin}", lambda a=mean, b=se, c=df, d=margin: tests.tost(a, b, c, d)
        yield f"non-inferiority {mean} {se} {df} {margin}", lambda a=mean, b=se, c=df, d=margin: tests.non_inferiority(a, b, c, d)  # fmt: skip
        if se:
            yield f"correlated t {mean} {se} {df} {margin}", lambda a=mean, b=se, c=df, d=margin: [bayes.correlated_t(a, b, c + 1, d, rho) for rho in (0.0, 0.1)]  # fmt: skip
    for d, n, margin, limits in product((-0.3, 0.0, 0.1), (1, 5, 40), (0.1, 0.2, 1.5), ((-1.0, 1.0), (-np.inf, np.inf), (-0.5, 1.0), (-np.inf, 1.0))):  # fmt: skip
        yield f"tost constant {d} {n} {margin} {limits}", lambda a=d, b=n, c=margin, e=limits: tests.tost_constant(a, b, c, e)  # fmt: skip
    for p, gain in product((0.0, 0.04, 1.0), (-0.1, 0.0, 0.1)):
        yield f"one-sided {p} {gain}", lambda p=p, g=gain: tests.one_sided(Test("x", p), g)
    for rows in ([3, 1, 2], [1], [2, 2], [1, 2, 3, 4, 5]):
        yield f"sign sums {rows}", lambda r=rows: tests.sign_sums(np.array(r))
    draws = np.array([[0.1, 0.5, np.nan], [0.2, -0.5, np.nan], [-0.3, 0.1, np.nan], [0.3, np.nan, np.nan]])
    for observed in ([0.3, 0.5, 0.1], [0.2, 0.0, 0.0], [-0.3, 0.6, 1.0]):
        yield f"monte carlo {observed}", lambda o=observed: tests.monte_carlo(np.abs(draws), np.abs(np.array(o)))
        yield f"shift {observed}", lambda o=observed: tests.bootstrap_shift(np.array(o), draws)
    for value in (0, 0.0, 1e-5, 0.00049, 0.0005, 0.00051, -0.0005, -0.0004, 0.12345, 1.0, 0.994, 0.995, 0.9951, 3e-12):
        yield f"words of {value}", lambda v=value: [amount(v), p_words(v), p_words(v, True)]


def families() -> Cases:
    every: list[list[float]] = [[], [0.5], [0.01, 0.04, 0.03, 0.005, 0.2], [0.05, 0.05, 0.05], [1.0, 0.9, 0.8], [np.nan, 0.02, np.nan, 0.01], [np.nan], [0.0, 1.0], [0.3, 0.4, 0.2, 0.1]]  # fmt: skip
    for p, method in product(every, corrections.CORRECTIONS):
        yield f"{p} {method}", lambda p=p, m=method: corrections.correct(np.array(p), m)
        for alpha, sided in product((0.05, 0.2), (False, True)):
            if p:
                yield f"{p} {method} {alpha} {sided}", lambda p=p, m=method, a=alpha, s=sided: family.corrected(np.array(p)[:, None], np.array([[i % 2 == 0] for i in range(len(p))]), ComparisonSettings(a, m, one_sided=s))  # fmt: skip
    for gain, p, alpha in product((-1.0, 0.0, 1.0, np.nan), (0.04, 0.05, 0.06, np.nan), (0.05,)):
        yield f"verdict {gain} {p}", lambda g=gain, p=p, a=alpha: family.verdict_of(g, p, a)
    for low, high, difference, reject in product((-0.2, 0.0, 0.1), (0.0, 0.3), (-0.1, 0.0, 0.1), (False, True)):
        yield f"agreed {low} {high} {difference} {reject}", lambda a=low, b=high, c=difference, d=reject: family.agreed(a, b, c, d)  # fmt: skip
    for reach, se, df in product((None, 0.1), (0.0, 0.05), (3.0, 2000.0)):
        yield f"detectable {reach} {se} {df}", lambda r=reach, s=se, d=df: family.Member(0.1, False, 0.05, r).detectable(s, d)  # fmt: skip


def powers() -> Cases:
    for se, alpha, aim, df in product((0.0, -1.0, 0.05), (0.05, 0.01), (0.8, 0.9), (1.0, 5.0, 1000, 1000.5, np.inf)):
        yield f"mde {se} {alpha} {aim} {df}", lambda s=se, a=alpha, p=aim, d=df: power.mde(s, alpha=a, power=p, df=d)
    for d_z, alpha, aim in product((0.0, 0.05, 0.3, -0.8, 3.0), (0.05, 0.01), (0.8, 0.95)):
        yield f"units {d_z} {alpha} {aim}", lambda d=d_z, a=alpha, p=aim: power.units_needed(d, alpha=a, power=p)
        yield f"power {d_z} {alpha}" + ("" if aim == 0.8 else " again"), lambda d=d_z, a=alpha: [power.power_of(d, n, a) for n in (2, 3, 10, 100)]  # fmt: skip
    for wanted, most in product((1, 2, 3, 4, 5, 8, 9, 63, 64, 65), (2, 8, 64, 100, 128)):
        yield f"least {wanted} {most}", lambda w=wanted, m=most: power.least(lambda n: n >= w, m)
    aims = {"difference": design.Aim(0.1), "one-sided": design.Aim(0.1, one_sided=True), "margin": design.Aim(margin=0.1), "both": design.Aim(0.05, 0.1), "width": design.Aim(width=0.1), "tests": design.Aim(0.1, tests=4), "power": design.Aim(0.1, power=0.95)}  # fmt: skip
    for (name, aim), se, df in product(aims.items(), (0.0, 0.0001, 0.03, 0.5), (0.5, 1.0, 8.0)):
        yield f"aim {name} {se} {df}", lambda a=aim, s=se, d=df: [design.reaches(s, d, a), design.power_of(s, d, a), design.half_width(s, d, a)]  # fmt: skip
    for (name, aim), spread in product(aims.items(), (0.0, 0.05, 1.0)):
        yield f"units for {name} {spread}", lambda a=aim, s=spread: [design.units_for(s, a), a.level, a.distance]
    for shares, spreads, total in product(([1, 1], [3, 1, 1], [0.5, 0.3, 0.2]), ([1, 2, 0.5], [0, 0, 0], [0.1, 0, 0.4]), (3, 10, 11, 100)):  # fmt: skip
        yield f"neyman {shares} {spreads} {total}", lambda a=shares, b=spreads, c=total: design.neyman(np.array(a), np.array(b[: len(a)]), c)  # fmt: skip


def _draws(columns: int, rows: int = 40) -> Floats:
    rng = Random(columns)
    return np.array([[round(rng.gauss(0.5, 0.1), 3) for _ in range(columns)] for _ in range(rows)])


def bounds() -> Cases:
    draws = _draws(3)
    holes = np.where(draws > 0.62, np.nan, draws)
    empty = draws.copy()
    empty[:, 1] = np.nan
    for (name, table), level, method in product({"whole": draws, "holes": holes, "empty": empty, "flat": np.full((40, 3), 0.5)}.items(), (0.95, 0.5), ("bca", "percentile", "basic")):  # fmt: skip
        for nth, point in enumerate(([0.5, 0.5, 0.5], [0.45, 0.9, 0.0], [table[0, 0], table[1, 1], table[2, 2]])):
            yield f"draws {name} {level} {method} {nth}", lambda t=table, lv=level, m=method, p=point: intervals.from_draws(np.array(p), t, np.array([0.0, 0.1, -0.2]), m, lv)  # fmt: skip
        if method == "bca":
            yield f"spread {name} {level}", lambda t=table: intervals.spread(t)
    for point, se, skew, df, level in product((0.0, 0.3, 1.0), (0.0, 0.05), (0.0, 1e-10, 0.4, -1.2), (2.0, 30.0), (0.95, 0.8)):  # fmt: skip
        yield f"hall {point} {se} {skew} {df} {level}", lambda a=point, b=se, c=skew, d=df, e=level: intervals.hall(np.array([a]), np.array([b]), np.array([c]), d, e)  # fmt: skip
        if skew == 0.0:
            yield f"student {point} {se} {df} {level}", lambda a=point, b=se, d=df, e=level: intervals.student(np.array([a]), np.array([b]), d, e)  # fmt: skip
            yield f"odds {point} {se} {df} {level}", lambda a=point, b=se, d=df, e=level: intervals.odds(np.array([a]), np.array([b]), d, e)  # fmt: skip
    for hits, n, level in product((0, 1, 4, 10), (10, 11), (0.95, 0.6)):
        yield f"wilson {hits} {n} {level}", lambda h=hits, n=n, lv=level: [intervals.wilson(h, n, lv), intervals.clopper_pearson(h, n, lv)]  # fmt: skip
    for point, n, limits, level in product((0.0, 0.4, 1.0), (0.0, 1.0, 7.0), ((0.0, 1.0), (-1.0, 1.0), (0.0, np.inf)), (0.95, 0.5)):  # fmt: skip
        yield f"constant {point} {n} {limits} {level}", lambda a=point, b=n, c=limits, d=level: intervals.constant(a, b, c, d)  # fmt: skip
    gaps = {"one": ([0.9], [0.1]), "small": ([0.01, -0.02], [0.1, 0.1]), "mixed": ([0.3, -0.05, 0.0], [0.1, 0.05, 0.02]), "exact": ([0.3, -0.1], [0.0, 0.0]), "half exact": ([0.3, -0.1], [0.0, 0.1]), "none": ([0.0, 0.0], [0.1, 0.2])}  # fmt: skip
    for (name, (gap, se)), spread, df, level, together in product(gaps.items(), (0.05, 0.2), (5.0, 1000.0), (0.95, 0.8), (False, True)):  # fmt: skip
        shared = np.where(np.eye(len(gap)) > 0, 1.0, 0.4) if together else None
        yield f"folded {name} {spread} {df} {level} {together}", lambda g=gap, s=se, a=spread, d=df, lv=level, t=shared: intervals.folded(np.array(g), np.array(s), a, d, lv, t)  # fmt: skip


def sequences() -> Cases:
    samples = {"shares": ([1.0, 0.0], [7.0, 3.0]), "all right": ([1.0], [10.0]), "all wrong": ([0.0], [4.0]), "scores": ([0.2, 0.9, 0.5], [1.0, 2.0, 1.0]), "same": ([0.4], [6.0]), "ends": ([0.0, 0.5, 1.0], [1.0, 1.0, 5.0]), "none of one": ([0.3, 0.0], [3.0, 0.0]), "high": ([0.9, 0.95], [30.0, 10.0])}  # fmt: skip
    for (name, (x, n)), mean in product(samples.items(), (0.0, 0.1, 0.5, 0.77, 1.0)):
        yield f"wealth {name} {mean}", lambda x=x, n=n, m=mean: sequential.log_wealth(np.array(x), np.array(n), m)
        yield f"e {name} {mean}", lambda x=x, n=n, m=mean: sequential.e_value(2 * np.array(x) - 1, np.array(n), 2 * m - 1, (-1.0, 1.0))  # fmt: skip
    for (name, (x, n)), level, bounds_, scale in product(samples.items(), (0.95, 0.5), ((0.0, 1.0), (-1.0, 1.0)), (None, (0.0, 10.0))):  # fmt: skip
        yield f"sequence {name} {level} {bounds_} {scale}", lambda x=x, n=n, lv=level, b=bounds_, s=scale: sequential.confidence_sequence(np.array(x), np.array(n), lv, b, s)  # fmt: skip
    for units, level, z in product((1.0, 10.0, 500.0), (0.95, 0.8), (0.0, 1.0, 4.0)):
        yield f"reach {units} {level} {z}", lambda u=units, lv=level, z=z: [sequential.asymptotic_reach(u, lv), sequential.asymptotic_log_e(z, u, 1 - lv), sequential.anytime_p(z - 1)]  # fmt: skip


def rank_tests() -> Cases:
    rng = Random(5)
    tables_ = {"3 × 3": [[0.1, 0.2, 0.3], [0.1, 0.3, 0.2], [0.2, 0.4, 0.6]], "ties": [[0.1, 0.1, 0.3], [0.2, 0.2, 0.2], [0.3, 0.1, 0.3]], "all tied": [[0.1, 0.1], [0.2, 0.2]], "same order": [[1, 2, 3, 4]] * 5, "2 × 2": [[1, 2], [2, 1]], "6 × 4": [[rng.random() for _ in range(4)] for _ in range(6)], "9 × 5": [[round(rng.random(), 1) for _ in range(5)] for _ in range(9)], "80 × 5": [[rng.random() + 0.05 * k for k in range(5)] for _ in range(80)], "81 × 5": [[rng.random() + 0.05 * k for k in range(5)] for _ in range(81)]}  # fmt: skip
    for (name, table), higher in product(tables_.items(), (True, False)):
        yield f"friedman {name} {higher}", lambda t=table, h=higher: ranks.friedman(np.array(t, float), h)
    for means, apart in product(([1.0, 1.4, 3.0], [2.0, 1.0, 3.0, 2.5], [1.0, 1.0], [1.0, 2.0, 3.0, 4.0], [3.0, 1.5, 1.5, 4.0, 5.0]), (0.0, 0.4, 0.5, 1.0, 1.5, 9.0)):  # fmt: skip
        yield f"groups {means} {apart}", lambda m=means, a=apart: ranks.cd_groups(np.array(m), a)
    for k, n in product((2, 4), (5, 20)):
        yield f"critical {k} {n}", lambda k=k, n=n: ranks.critical_difference(k, n)
    for edges in ([], [(0, 1)], [(0, 2)], [(0, 1), (1, 2)], [(0, 1), (0, 2), (1, 2)], [(0, 3), (1, 2)], [(0, 2), (0, 3), (1, 3)], [(0, 1), (2, 3)]):  # fmt: skip
        differ = np.zeros((4, 4), bool)
        for i, j in edges:
            differ[i, j] = differ[j, i] = True
        yield f"letters {edges}", lambda d=differ: standing.letters(d)
    covariance = np.array([[0.02, 0.01, 0.0], [0.01, 0.03, 0.0], [0.0, 0.0, 0.01]])
    for scores, lower, df in product(([0.5, 0.6, 0.7], [0.5, 0.5, 0.5]), (False, True), (np.inf, 3.0)):
        yield f"best {scores} {lower} {df}", lambda s=scores, lo=lower, d=df: standing.best_probabilities(np.array(s), covariance, np.random.default_rng(2), lower=lo, df=d, draws=300)  # fmt: skip
        for leader in (0, 2):
            yield f"flat {scores} {lower} {df} {leader}", lambda s=scores, k=leader, d=df: [standing.no_spread(np.array(s), covariance * (d > 9), k), standing.no_spread(np.array(s), np.full((3, 3), 0.02), k)]  # fmt: skip
    for a, b in product(([2.0, 3.0], [1.0, 4.0, 2.5], [1.0]), ([1.0, 4.0], [2.0, 2.0, 3.0], [1.0, 1.0])):
        yield f"violation {a} {b}", lambda a=a, b=b: [stochastic_order.violation(np.array(a), np.array(b)), stochastic_order.least_violation(np.array(a), np.array(b), np.random.default_rng(1), resamples=50)]  # fmt: skip


def _swapped(a: Floats, b: Floats, n: Floats) -> Any:
    """Difference of means when so many units of a cell are swapped."""
    return lambda s: ((n - s) @ (a - b)[:, None] - s @ (a - b)[:, None]) / n.sum()


def drawing() -> Cases:
    cells = {"few": [3, 1, 2], "many singles": [1] * 20, "mixed": [1, 1, 9, 70, 130, 5, 8, 64, 2], "large": [1400, 3, 1280, 1281]}  # fmt: skip
    for (name, given), side in product(cells.items(), SIDES):
        n = np.array(given, float)
        a, b = np.array([(3 * i) % 4 / 4 for i in range(len(n))]), np.array([(5 * i) % 3 / 3 for i in range(len(n))])
        observed = np.array([float(n @ (a - b)) / n.sum()])
        for draws in (99, 200):
            yield f"swaps {name} {side} {draws}", lambda a=a, b=b, n=n, o=observed, s=side, d=draws: randomisation.randomisation(_swapped(a, b, n), n, o, randomisation.Coins(0, "x"), d, s)  # fmt: skip
        yield f"far {name} {side}", lambda a=a, b=b, n=n, s=side: randomisation.randomisation(_swapped(a, b, n), n, np.array([2.0]), randomisation.Coins(0, "x"), 99, s)  # fmt: skip
    for name, given in cells.items():
        n = np.array(given, float)
        yield f"heads {name}", lambda n=n: [randomisation.Coins(1, "y").heads(n, 7), randomisation.Coins(1, "y").heads(n, 3, 2)]  # fmt: skip
        yield f"breadth {name}", lambda n=n: randomisation._breadth(n)
        if name != "large":
            yield f"tables {name}", lambda n=n: tables.by_table(np.random.Generator(np.random.Philox(4)), np.tile(n, 9), 3)  # fmt: skip
            yield f"multinomial {name}", lambda n=n: resampling.multinomial(np.random.default_rng(4), n, 3)
    yield "coins twice", lambda: _twice([1.0] * 70, [5.0, 9.0, 200.0])
    for steps, count in (([1, 2], [3, 4]), ([1, 3], [100, 50]), ([1, 2, 5], [80, 80, 80]), ([2, 3], [64, 64]), ([2, 3], [65, 64])):  # fmt: skip
        for total, side in product((0, 5, -9), SIDES):
            yield f"flips {steps} {count} {total} {side}", lambda s=steps, c=count, t=total, side=side: randomisation._flip_tail(randomisation._flip_law(np.array(s, float), np.array(c, float)), t, side)  # fmt: skip
    for rms in ([[1.0, np.nan], [3.0, np.nan]], [[0.0, 2.0], [np.nan, 2.0]]):
        yield f"root mean square {rms}", lambda r=rms: [randomisation.root_mean_square(np.array(r)), randomisation.root_mean_square(np.array(r), 1)]  # fmt: skip
    yield "streams", lambda: [random.digest("a", 1), random.stream(0, "f1").integers(0, 1000, 4), random.stream(-1, "f1").integers(0, 1000, 4), random.hash_group(["a", "b", "", "abc"], 7), random.hash_texts(np.array(["a", "", "longer"]))]  # fmt: skip


def _twice(*given: list[float]) -> list[Any]:
    coins = randomisation.Coins(3, "z")
    return [coins.heads(np.array(n), 4, block).sum(1) for n in (*given, *given) for block in (0, 1)]


def run_designs() -> Cases:
    rng = Random(8)
    for many, units in product(((1, 1), (2, 2), (3, 1), (4, 3)), (2, 5, 12)):
        sides = []
        for runs_, shift in zip(many, (0.0, 0.1), strict=True):
            x = np.array([[float(rng.random() < 0.6 + shift) for _ in range(units)] for _ in range(runs_)])
            sides.append((x.mean(1), (x - x.mean(1, keepdims=True)) / np.sqrt(units * (units - 1))))
        for paired in (False, True) if many[0] == many[1] else (False,):
            yield f"{many} {units} {paired}", lambda s=sides, p=paired: _facts(runs.nested_difference(*s, paired_runs=p))  # fmt: skip
        yield f"{many} {units} one", lambda s=sides: _facts(runs.nested(*s[0]))
    still = (np.array([0.5, 0.5]), np.zeros((2, 4)))
    yield "still", lambda: _facts(runs.nested(*still))
    yield "nothing", lambda: _facts(runs.nested(np.zeros(2), np.zeros((2, 4))))
    for spreads, weight in product(((0.1, 0.1, 0.05), (0.1, 0.0, 0.0), (0.2, -0.1, 0.1), (0.05, 0.3, 0.01)), (None, 0.0, 0.5, 1.0)):  # fmt: skip
        readings = [judge.Reading(0.5 + s, s * np.array([1.0, -1.0, 0.5])) for s in spreads]
        yield f"powered {spreads} {weight}", lambda r=readings, w=weight: _judged(judge.powered(*r, w))
        yield f"stratified {spreads} {weight}", lambda r=readings, w=weight: _judged(judge.stratified([judge.powered(*r, w), judge.powered(*r, 0.2)], [3, 1]))  # fmt: skip


def _facts(gap: runs.Nested) -> list[Any]:
    inside = runs.Nested(gap.estimate, gap.sides, gap.units, gap.over_units, (-1.0, 1.0))
    needed = [[gap.runs_needed(d), gap.units_needed(d), gap.runs_needed(d, alpha=0.2)] for d in (0.05, 0.4)]
    return [gap.estimate, gap.se, gap.df, gap.of_runs, gap.of_units, gap.rest, gap.runs_share, gap.interval(0.9), inside.interval(0.9), [gap.p(side) for side in SIDES], [gap.at(r, u) for r in (None, 2, 9) for u in (None, 3, 50)], needed]  # fmt: skip


def _judged(found: judge.Powered) -> list[Any]:
    return [found, found.gain, found.effective, found.interval(0.95)]


ALL = {
    "differences": differences, "small tests": small_tests, "families": families, "powers": powers, "bounds": bounds, "sequences": sequences, "rank tests": rank_tests, "drawing": drawing, "run designs": run_designs,
}  # fmt: skip
