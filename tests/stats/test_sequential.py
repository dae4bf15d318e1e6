# SPDX-License-Identifier: Apache-2.0
"""E-values and confidence sequences, against quadrature by brute force, closed forms, recorded values of confseq and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, special

from karat.stats.sequential import (
    anytime_p,
    asymptotic_log_e,
    asymptotic_reach,
    confidence_sequence,
    e_value,
    log_wealth,
)  # fmt: skip


def brute(x, mean):
    """The average of the stake over Beta(1/2, 1/2), by adaptive quadrature."""
    stake = lambda phi: np.prod(np.sin(phi) ** 2 * x / mean + np.cos(phi) ** 2 * (1 - x) / (1 - mean))
    return integrate.quad(stake, 0, np.pi / 2, limit=400, epsabs=0, epsrel=1e-11)[0] * 2 / np.pi


@pytest.mark.parametrize("n", [1, 2, 7, 40])
@pytest.mark.parametrize("mean", [0.02, 0.3, 0.5, 0.91])
def test_the_average_is_that_of_quadrature(n, mean):
    x = np.random.default_rng(n).beta(2, 1, n)
    assert log_wealth(x, np.ones(n), mean) == pytest.approx(np.log(brute(x, mean)), abs=1e-8)


def test_scores_of_zero_one_and_between_average_as_well():
    x = np.array([0.0, 1, 1, 0.5, 1, 0, 0.25])
    for mean in (0.1, 0.5, 0.8):
        assert log_wealth(x, np.ones(7), mean) == pytest.approx(np.log(brute(x, mean)), abs=1e-8)


def test_shares_have_the_beta_binomial():
    found = e_value(np.array([0.0, 1.0]), np.array([3.0, 17.0]), 0.5)
    assert found == pytest.approx(special.beta(17.5, 3.5) / special.beta(0.5, 0.5) * 2**20)


@pytest.mark.parametrize(("zeros", "ones"), [(400, 600), (50_000, 50_900), (10, 100_000), (0, 10_000)])
def test_many_shares_have_the_beta_binomial(zeros, ones):
    """The stake has a narrow peak: nodes over the whole range would miss it."""
    expected = special.betaln(ones + 0.5, zeros + 0.5) - special.betaln(0.5, 0.5) + (zeros + ones) * np.log(2)
    assert log_wealth(np.array([0.0, 1.0]), np.array([zeros, ones], float), 0.5) == pytest.approx(expected, abs=1e-8)


def test_a_tie_is_no_evidence():
    with_ties = e_value(np.array([-1.0, 0, 1]), np.array([3.0, 900, 17]), 0.0, (-1, 1))
    assert with_ties == pytest.approx(e_value(np.array([0.0, 1.0]), np.array([3.0, 17.0]), 0.5))


def test_counts_stand_for_repeats_and_order_does_not_matter():
    x = np.array([0.2, 0.9, 0.4])
    many = np.array([0.4, 0.9, 0.2, 0.9, 0.2, 0.9])
    assert log_wealth(x, np.array([2.0, 3, 1]), 0.3) == pytest.approx(log_wealth(many, np.ones(6), 0.3))


def test_an_e_value_is_one_on_average():
    """All outcomes of four units with the law (1/4, 1/2, 1/4) on 0, 1/2, 1, whose mean is 1/2."""
    law = {0.0: 0.25, 0.5: 0.5, 1.0: 0.25}
    total = 0.0
    for outcome in np.array(np.meshgrid(*[list(law)] * 4)).reshape(4, -1).T:
        total += np.prod([law[v] for v in outcome]) * e_value(outcome, np.ones(4), 0.5)
    assert total == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("n", [5, 50, 5000])
def test_the_sequence_ends_where_the_stake_reaches_the_limit(n):
    x = np.random.default_rng(n).beta(3, 2, n)
    low, high = confidence_sequence(x, np.ones(n), 0.95)
    for end in (low, high):
        if 0 < end < 1:
            assert log_wealth(x, np.ones(n), end) == pytest.approx(np.log(20), abs=1e-4)
    assert low < x.mean() < high


def test_bounds_scale():
    x, n = np.array([0.1, 0.7, 0.4]), np.array([20.0, 30, 10])
    low, high = confidence_sequence(x, n, 0.9)
    assert confidence_sequence(2 * x - 1, n, 0.9, (-1, 1)) == pytest.approx((2 * low - 1, 2 * high - 1))


def test_ends_of_the_range():
    assert confidence_sequence(np.array([1.0]), np.array([50.0]), 0.95)[1] == 1
    low, high = confidence_sequence(np.array([0.0, 1]), np.array([10.0, 0.0]), 0.95)
    assert low == 0
    assert log_wealth(np.array([0.0]), np.array([10.0]), high) == pytest.approx(np.log(20), abs=1e-6)


@pytest.mark.parametrize(("score", "mean", "wealth"), [(0.5, 0.0, np.inf), (0.5, 1.0, np.inf), (0.0, 0.0, 0.0), (1.0, 1.0, 0.0)])  # fmt: skip
def test_one_score_rules_out_the_end_that_it_is_not_at(score, mean, wealth):
    """Beside it a score between the ends that occurs 0 times, and says nothing."""
    assert log_wealth(np.array([score, 0.25]), np.array([1.0, 0.0]), mean) == wealth


def test_the_asymptotic_sequence_and_its_e_value_agree():
    for n in (20, 500, 10_000):
        assert asymptotic_log_e(asymptotic_reach(n, 0.95), n) == pytest.approx(np.log(20))
    # Waudby-Smith et al.: √(2(nρ²+1)/(n²ρ²)·log(√(nρ²+1)/α)), in standard errors (times √n), ρ² for 500 units
    rho2 = (-2 * np.log(0.05) + np.log(-2 * np.log(0.05)) + 1) / 500
    by_hand = np.sqrt(2 * (800 * rho2 + 1) / (800**2 * rho2) * np.log(np.sqrt(800 * rho2 + 1) / 0.05)) * np.sqrt(800)
    assert asymptotic_reach(800, 0.95) == pytest.approx(by_hand)


def test_normal_mixtures_of_confseq():
    """confseq 0.0.11, normal_mixture_bound(n, .05, v_opt, .05, False)/√n and normal_log_mixture(2.7·√n, n, …).

    v_opt = 451.852… gives its mixture karat's variance: both are tightest near 500 units, by other approximations.
    """
    for n, reach, log_e in NORMAL:
        assert asymptotic_reach(n, 0.95) == pytest.approx(reach, abs=1e-12)
        assert asymptotic_log_e(2.7, n) == pytest.approx(log_e, abs=1e-12)


NORMAL = [
    (20, 4.9199603596512125, 0.7970184475560766), (500, 3.0354463966359306, 2.132107432184328),
    (800, 3.0532418495778106, 2.047103227220543), (10_000, 3.350989084819339, 1.037318760304867),
]  # fmt: skip


def test_beta_binomials_of_confseq():
    """confseq 0.0.11, beta_binomial_log_mixture((wins − losses)/2, n/4, v_opt, .5, .5, .05, False), Beta(½, ½) by v_opt."""
    for losses, wins, log_e in BETA:
        assert log_wealth(np.array([0.0, 1]), np.array([losses, wins], float), 0.5) == pytest.approx(log_e, abs=1e-11)


BETA = [
    (3, 17, 3.664685762890449), (40, 60, -0.5173944830150952), (400, 600, 16.455587614160677),
    (0, 9, 4.553465622830608),
]  # fmt: skip


def test_bets_of_confseq():
    """confseq 0.0.11, betting_mart(x, m, theta=1, trunc_scale=1) with the constant bet (b − m)/(m(1 − m)), averaged over
    b = sin²φ at 4,000 midpoints of φ."""
    x = np.random.default_rng(3).beta(2, 1, 40).round(3)
    for mean, log_e in BETS:
        assert log_wealth(x, np.ones(40), mean) == pytest.approx(log_e, abs=1e-12)


BETS = [
    (0.3, 25.102598373452853), (0.5, 5.4375941277122575), (0.6, -0.16447712982357449), (0.75, 1.3539684376133374),
    (0.91, 34.67678704327234),
]  # fmt: skip


def test_sequences_are_as_narrow_as_those_of_confseq():
    """200 scores of Beta(6, 2): betting_cs of confseq 0.0.11, which reads them in their order, is 0.069 wide (breaks of
    0.001), its interval for shares 0.187; of 200 shares of .9 betting_cs is 0.115 wide, tuned to 200 units 0.123."""
    rng = np.random.default_rng(8)
    share, mean = (rng.random(200) < 0.9).astype(float), rng.beta(6, 2, 200)
    width = [np.diff(confidence_sequence(x, np.ones(200), 0.95))[0] for x in (share, mean)]
    assert width == pytest.approx([0.1386, 0.0691], abs=1e-4)


def test_p_of_an_e_value():
    assert anytime_p(np.log(20)) == pytest.approx(0.05)
    assert anytime_p(-3.0) == 1.0


@pytest.mark.slow
def test_looking_every_day_keeps_the_level():
    """400 evaluations that grow to 600 units and are looked at after every 10: the standard error of .05 is .011."""
    from karat.stats.intervals import wilson

    rng, sequence, fixed = np.random.default_rng(3), 0, 0
    for _ in range(400):
        x = (rng.random(600) < 0.8).astype(float)
        hits, looks = np.cumsum(x)[9::10], np.arange(10, 601, 10)
        limits = [log_wealth(np.array([0.0, 1]), np.array([n - h, h]), 0.8) for h, n in zip(hits, looks, strict=True)]
        sequence += max(limits) >= np.log(20)
        low, high = wilson(hits, looks, 0.95)
        fixed += bool(((low > 0.8) | (high < 0.8)).any())
    assert sequence / 400 <= 0.05 + 0.022
    assert fixed / 400 > 0.15  # an interval for one look fails at many


@pytest.mark.parametrize("n", [1_000, 100_000])
@pytest.mark.parametrize("mean", [0.02, 0.5, 0.667, 0.91])
def test_the_average_of_many_scores_is_that_of_quadrature(n, mean):
    """The stake has a narrow peak: many more nodes about it, found on a grid, are the oracle."""
    x, times = np.array([0.0, 0.3, 0.7, 0.9, 1.0]), np.array([0.1, 0.15, 0.2, 0.3, 0.25]) * n
    gain = lambda phi: (
        np.log(np.outer(np.sin(phi) ** 2, x / mean) + np.outer(np.cos(phi) ** 2, (1 - x) / (1 - mean))) @ times
    )
    phi = np.linspace(1e-9, np.pi / 2 - 1e-9, 2_000_001)
    expected = special.logsumexp(gain(phi)) + np.log((phi[1] - phi[0]) * 2 / np.pi)
    assert log_wealth(x, times, mean) == pytest.approx(expected, abs=1e-6)
