# SPDX-License-Identifier: Apache-2.0
"""Coverage of intervals and type-I error of tests, by simulation with fixed seeds.

The normal run repeats each experiment a few hundred times; ``slow`` sweeps repeat it thousands
of times. Limits are the binomial error of the simulation itself (three standard deviations).
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.stats.by_hand import jackknife_t, resampled
from tests.stats.tukey import randomised_tukey

from karat.stats import intervals, tests
from karat.stats.random import stream
from karat.stats.randomisation import Coins, randomisation
from karat.stats.resampling import Clusters, Jackknife, Units, jackknife

FEW, MANY = 300, 3_000
SWEEP = [pytest.param(FEW, id="short"), pytest.param(MANY, id="long", marks=pytest.mark.slow)]


def slack(runs: int, rate: float = 0.05) -> float:
    return 3 * np.sqrt(rate * (1 - rate) / runs)


def macro_f1(k: int):
    gold, pred = (axis.ravel() for axis in np.indices((k, k)))
    eye = np.eye(k)
    hit_of, gold_of, pred_of = eye[gold] * (gold == pred)[:, None], eye[gold], eye[pred]

    def statistic(W):
        den = W @ gold_of + W @ pred_of
        f1 = np.divide(2 * (W @ hit_of), den, out=np.full(den.shape, np.nan), where=den > 0)
        return np.nanmean(f1, -1)

    return statistic


def confusion_law(k: int, accuracy: float = 0.8) -> np.ndarray:
    """Chances of (gold, pred): classes fall off by 0.7, errors are spread evenly."""
    prior = 0.7 ** np.arange(k)
    prior /= prior.sum()
    table = np.full((k, k), (1 - accuracy) / (k - 1))
    np.fill_diagonal(table, accuracy)
    return (table * prior[:, None]).ravel()


def coverage(method: str, n: int, runs: int, k: int = 3, resamples: int = 599) -> float:
    law, statistic = confusion_law(k), macro_f1(k)
    truth, rng = statistic(law[None])[0], np.random.default_rng(7)
    held = 0
    for run in range(runs):
        cells = rng.multinomial(n, law).astype(float)
        bounds = interval(method, statistic, cells, run, resamples)
        held += bool(bounds.low <= truth <= bounds.high)
    return held / runs


def interval(method, statistic, cells, run, resamples):
    point, design = statistic(cells[None])[0], Units(cells)
    if method == "jackknife-t":
        return jackknife_t(point, jackknife(statistic, design), 0.95)
    if method == "delta":
        se = intervals.delta_se(statistic, cells)
        return intervals.Bounds(*intervals.student(point, se, np.inf, 0.95), se)
    return resampled(statistic, point, design, stream(run, method), method=method, resamples=resamples)


@pytest.mark.parametrize("runs", SWEEP)
@pytest.mark.parametrize("method", ["bca", "percentile", "poisson", "jackknife-t", "delta"])
def test_macro_f1_is_covered(method, runs):
    assert coverage(method, 1_000, runs) == pytest.approx(0.95, abs=slack(runs) + 0.005)


@pytest.mark.slow
@pytest.mark.parametrize("n", [50, 200, 10_000])
def test_bca_covers_at_every_size(n):
    assert coverage("bca", n, MANY) == pytest.approx(0.95, abs=slack(MANY) + 0.01)


@pytest.mark.parametrize("runs", SWEEP)
def test_student_covers_means_of_dense_scores(runs):
    rng, held = np.random.default_rng(3), 0
    for _ in range(runs):
        x = rng.beta(2, 3, 25)
        jack = jackknife(lambda W, x=x: (W @ x) / (W @ np.ones(25)), Units(np.ones(25)))
        bounds = jackknife_t(x.mean(), jack, 0.95)
        held += bool(bounds.low <= 0.4 <= bounds.high)
    assert held / runs == pytest.approx(0.95, abs=slack(runs) + 0.005)


@pytest.mark.parametrize("runs", SWEEP)
def test_clusters_are_covered_only_when_drawn_whole(runs):
    by_cluster, by_item, rng = 0, 0, np.random.default_rng(5)
    statistic = lambda W: W[..., 1] / W.sum(-1) if isinstance(W, np.ndarray) else (W @ [0.0, 1.0]) / (W @ [1.0, 1.0])
    for _ in range(runs):
        easy = rng.beta(6, 2, 60)
        hits = rng.binomial(20, easy)
        cluster, cell = np.repeat(np.arange(60), 2), np.tile([0, 1], 60)
        design = Clusters.of(cluster, cell, 2, np.stack([20 - hits, hits], 1).ravel().astype(float))
        point = statistic(design.n[None])[0]
        whole = jackknife_t(point, jackknife(statistic, design), 0.95)
        apart = jackknife_t(point, jackknife(statistic, Units(design.n)), 0.95)
        by_cluster += bool(whole.low <= 0.75 <= whole.high)
        by_item += bool(apart.low <= 0.75 <= apart.high)
    assert by_cluster / runs == pytest.approx(0.95, abs=slack(runs) + 0.01)
    assert by_item / runs < 0.85


def paired_labels(rng: np.random.Generator, n: int, k: int = 3):
    """Two exchangeable systems that share part of their errors."""
    gold = rng.choice(k, n, p=0.7 ** np.arange(k) / (0.7 ** np.arange(k)).sum())
    noise = lambda: np.where(rng.random(n) < 0.8, gold, rng.integers(0, k, n))
    shared, copied = noise(), rng.random((2, n)) < 0.5
    return gold, np.where(copied[0], shared, noise()), np.where(copied[1], shared, noise())


def macro_f1_difference(gold, a, b, k=3):
    """Joint cells of two systems, and their difference as a function of swaps."""
    key, n = np.unique((gold * k + a) * k + b, return_counts=True)
    g, pa, pb = key // (k * k), key // k % k, key % k
    to_a, to_b = np.eye(k * k)[g * k + pa], np.eye(k * k)[g * k + pb]
    f, n = macro_f1(k), n.astype(float)

    def difference(s):
        return f((n - s) @ to_a + s @ to_b) - f((n - s) @ to_b + s @ to_a)

    return difference, n, difference(np.zeros((1, len(n))))[0]


def rejections(test, runs: int, n: int = 150) -> float:
    rng = np.random.default_rng(11)
    return float(np.mean([test(*paired_labels(rng, n), run) <= 0.05 for run in range(runs)]))


@pytest.mark.parametrize("runs", SWEEP)
def test_randomisation_keeps_its_level(runs):
    def p(gold, a, b, run):
        difference, n, observed = macro_f1_difference(gold, a, b)
        return float(randomisation(difference, n, observed, Coins(run, "null"), 399).p)

    assert rejections(p, runs) <= 0.05 + slack(runs)


@pytest.mark.parametrize("runs", SWEEP)
@pytest.mark.parametrize("name", ["mid-p", "exact", "paired t", "sign", "Wilcoxon"])
def test_tests_of_exchangeable_systems_keep_their_level(name, runs):
    def p(gold, a, b, run):
        right, other = (a == gold).astype(float), (b == gold).astype(float)
        d = right - other
        if name in ("mid-p", "exact"):
            return tests.mcnemar(int((d > 0).sum()), int((d < 0).sum()), name).p
        return {"paired t": tests.paired_t, "sign": tests.sign_test, "Wilcoxon": tests.wilcoxon}[name](d).p

    assert rejections(p, runs) <= 0.05 + slack(runs)


@pytest.mark.parametrize("runs", SWEEP)
def test_signed_rank_tests_another_hypothesis_than_the_mean(runs):
    """Equal means, skewed differences: t and randomisation hold, Wilcoxon and sign do not."""
    rng, rejected = np.random.default_rng(13), np.zeros(3)
    for _ in range(runs):
        d = np.where(rng.random(200) < 0.8, 0.05, -0.20) + rng.normal(0, 1e-3, 200)
        rejected += [f(d).p <= 0.05 for f in (tests.paired_t, tests.wilcoxon, tests.sign_test)]
    assert rejected[0] / runs <= 0.05 + slack(runs) + 0.02
    assert (rejected[1:] / runs > 0.5).all()


@pytest.mark.parametrize(
    "runs", [pytest.param(100, id="short"), pytest.param(1_000, id="long", marks=pytest.mark.slow)]
)
def test_randomised_tukey_keeps_the_family_level(runs):
    rng, wrong = np.random.default_rng(17), 0
    for run in range(runs):
        x = rng.normal(size=(20, 4)) + rng.normal(size=(20, 1))
        p = randomised_tukey(x, stream(run, "tukey"), 199)
        wrong += bool((p[np.triu_indices(4, 1)] <= 0.05).any())
    assert wrong / runs <= 0.05 + slack(runs)


def test_paired_difference_is_covered():
    """True difference 0 between exchangeable systems, by the jackknife of joint cells."""
    rng, held, runs = np.random.default_rng(19), 0, FEW
    for _ in range(runs):
        gold, a, b = paired_labels(rng, 300)
        f, cells = macro_f1(3), [np.bincount(gold * 3 + s, minlength=9).astype(float) for s in (a, b)]
        jacks = [jackknife(f, Units(c)) for c in cells]
        place = [np.cumsum(c > 0) - 1 for c in cells]
        mine, others = place[0][gold * 3 + a], place[1][gold * 3 + b]
        jack = Jackknife(np.ones(300), jacks[0].value[mine] - jacks[1].value[others])
        point = f(cells[0][None])[0] - f(cells[1][None])[0]
        bounds = jackknife_t(point, jack, 0.95)
        held += bool(bounds.low <= 0 <= bounds.high)
    assert held / runs == pytest.approx(0.95, abs=slack(runs) + 0.005)
