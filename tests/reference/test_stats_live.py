# SPDX-License-Identifier: Apache-2.0
"""Installed SciPy, statsmodels and baycomp against ours, on random data with fixed seeds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.stats.tukey import block_tukey, randomised_tukey

from karat.stats import bayes, intervals, power, ranks, tests
from karat.stats.random import stream
from karat.stats.resampling import Units, jackknife


def differences(n: int, seed: int = 0, digits: int = 2) -> np.ndarray:
    return np.random.default_rng(seed).normal(0.05, 0.2, n).round(digits)


@pytest.mark.parametrize("n", [5, 13, 40, 200])
def test_wilcoxon_agrees_with_scipy(n):
    d = np.random.default_rng(n).normal(0.05, 0.2, n)
    assert tests.wilcoxon(d).p == pytest.approx(stats.wilcoxon(d).pvalue, rel=1e-9)


@pytest.mark.parametrize("n", [3, 30, 500])
def test_paired_t_of_grouped_differences(n):
    d = differences(n, digits=1)
    values, count = np.unique(d, return_counts=True)
    assert tests.paired_t(values, count.astype(float)).p == pytest.approx(stats.ttest_1samp(d, 0).pvalue, rel=1e-9)


def test_friedman_with_ties():
    scores = np.random.default_rng(3).normal(size=(12, 4)).round(0)
    want = stats.friedmanchisquare(*scores.T)
    assert ranks.friedman(scores).chi2 == pytest.approx(want.statistic, rel=1e-9)


def test_bca_on_scipys_own_distribution():
    x = np.random.default_rng(8).gamma(2, size=40)
    theirs = stats.bootstrap((x,), np.mean, n_resamples=999, method="BCa", rng=np.random.default_rng(1))
    jack = jackknife(lambda W: (W @ x) / (W @ np.ones(40)), Units(np.ones(40)))
    ours = intervals.bca(x.mean(), theirs.bootstrap_distribution, jack.acceleration, 0.95)
    # SciPy takes numpy's quantiles too, and its bias correction counts ties by halves as ours does.
    np.testing.assert_allclose(ours, list(theirs.confidence_interval), atol=1e-9)


@pytest.mark.parametrize("rope", [0.0, 0.01, 0.05])
def test_bayesian_signed_rank_agrees_with_baycomp(rope):
    baycomp = pytest.importorskip("baycomp")
    d = differences(30, digits=3)
    theirs = baycomp.SignedRankTest(np.zeros(30), d, rope, nsamples=4000, random_state=1).probs()
    ours = bayes.signed_rank(d, rope, stream(0, "baycomp"), 20_000)
    np.testing.assert_allclose((ours.worse, ours.equal, ours.better), theirs, atol=0.03)


def test_signed_rank_shares_equal_the_pairwise_definition():
    rng = np.random.default_rng(0)
    z, w, rope = np.sort(rng.integers(-4, 5, 9)) / 8, rng.dirichlet(np.ones(9), 3), 0.125
    sums = z[:, None] + z[None, :]
    half = lambda a, b: (a > b) + 0.5 * (a == b)
    for row, ours in zip(w, bayes._shares(w, z, rope), strict=True):
        pairs = np.outer(row, row)
        assert ours[0] == pytest.approx((pairs * half(-sums, 2 * rope)).sum())
        assert ours[2] == pytest.approx((pairs * half(sums, 2 * rope)).sum())


@pytest.mark.parametrize("rho", [0.0, 0.1])
def test_correlated_t_agrees_with_baycomp(rho):
    baycomp = pytest.importorskip("baycomp")
    d = differences(20, digits=3)
    posterior = baycomp.CorrelatedTTest(np.zeros(20), d, 0.02, runs=1 if rho == 0 else 2)
    scale = np.sqrt(1 / 20 + (0.1 / 0.9 if rho else 0.05 / 0.95))
    size, mean, sd = tests.moments(d)
    ours = bayes.correlated_t(mean, sd, size, 0.02, rho=0.1 if rho else 0.05)
    assert np.sqrt(posterior.var) == pytest.approx(sd * scale, rel=1e-9)
    np.testing.assert_allclose((ours.worse, ours.equal, ours.better), posterior.probs(), rtol=1e-9)


def test_kappa_standard_error_agrees_with_statsmodels():
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")
    table = np.array([[44, 5, 1], [7, 20, 3], [9, 5, 6]], float)
    gold, pred = (axis.ravel() for axis in np.indices((3, 3)))

    def kappa(W):
        n = W @ np.ones(9)
        chance = ((W @ np.eye(3)[gold]) * (W @ np.eye(3)[pred])).sum(-1) / n**2
        return ((W @ (gold == pred).astype(float)) / n - chance) / (1 - chance)

    assert intervals.delta_se(kappa, table.ravel()) == pytest.approx(
        inter_rater.cohens_kappa(table).std_kappa, rel=1e-6
    )


@pytest.mark.parametrize(("d_z", "n"), [(0.1, 500), (0.5, 30), (1.2, 8)])
def test_power_agrees_with_statsmodels(d_z, n):
    theirs = pytest.importorskip("statsmodels.stats.power").TTestPower()
    assert power.power_of(d_z, n) == pytest.approx(theirs.power(d_z, n, 0.05), rel=1e-9)
    needed = power.units_needed(d_z)
    assert power.power_of(d_z, needed) == pytest.approx(0.8, abs=1e-9)


def test_block_tukey_equals_the_anova_formula():
    x = np.random.default_rng(4).normal(size=(30, 3)) + np.arange(3) * 0.4
    n, k = x.shape
    residual = x - x.mean(1, keepdims=True) - x.mean(0) + x.mean()
    mse = (residual**2).sum() / ((n - 1) * (k - 1))
    q = abs(x[:, 0].mean() - x[:, 2].mean()) / np.sqrt(mse / n)
    assert block_tukey(x)[0, 2] == pytest.approx(stats.studentized_range.sf(q, k, (n - 1) * (k - 1)))


def test_randomised_tukey_is_near_the_block_test_on_normal_scores():
    x = np.random.default_rng(4).normal(size=(60, 3)) + np.arange(3) * 0.25
    ours = randomised_tukey(x, stream(0, "tukey"), 4999)
    np.testing.assert_allclose(ours, block_tukey(x), atol=0.03)
