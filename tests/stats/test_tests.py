# SPDX-License-Identifier: Apache-2.0
"""Laws of the tests: exact where they can be, never 0, ties counted, conventions for the degenerate."""

from __future__ import annotations

import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from karat.stats import effects, ranks
from karat.stats.corrections import CORRECTIONS, correct, family_size
from karat.stats.intervals import (
    basic,
    bca,
    clopper_pearson,
    percentile,
    spread,
    wilson,
)
from karat.stats.power import mde, units_needed
from karat.stats.randomisation import Coins, randomisation, sign_flip
from karat.stats.tests import (
    bootstrap_shift,
    mcnemar,
    monte_carlo,
    paired_t,
    sign_test,
    tost_constant,
    wilcoxon,
)

whole = st.lists(st.integers(-4, 4), min_size=1, max_size=9)


def brute_force(d: list[float]) -> float:
    signs = np.array(list(product([1, -1], repeat=len(d))))
    return float((np.abs(signs @ np.array(d)) >= abs(sum(d)) - 1e-9).mean())


@given(whole)
def test_convolution_equals_enumeration(d):
    d = np.array(d, float)
    assert sign_flip(d / 8, np.ones(len(d))) == pytest.approx(brute_force(list(d)), abs=1e-12)


@pytest.mark.parametrize("waves", [0, 10**9], ids=["by waves", "coin by coin"])
def test_both_ways_to_the_law_of_signs_agree_with_enumeration(waves, monkeypatch):
    """Twelve differences on a grid of 1/8, some of them alike: 4,096 signs."""
    monkeypatch.setattr("karat.stats.randomisation.WAVES", waves)
    for seed in range(20):
        d = np.random.default_rng(seed).integers(-9, 10, 12).astype(float)
        assert sign_flip(d / 8, np.ones(12)) == pytest.approx(brute_force(list(d)), abs=1e-10)


def test_fine_scores_of_many_units_have_their_exact_law_at_once():
    """1,000 differences of four digits: it took eight seconds; the law has the right variance, Σ d²."""
    d = np.round(np.random.default_rng(1).normal(size=1_000) * 400) / 10_000
    d[0] = 1e-4
    began = time.process_time()
    p = sign_flip(d, np.ones(1_000))
    assert time.process_time() - began < 2
    assert p == pytest.approx(2 * special.ndtr(-abs(d.sum()) / np.sqrt((d**2).sum())), abs=0.002)


@given(whole)
@settings(max_examples=30)
def test_randomisation_enumerates_small_cases(d):
    x, n = np.unique(np.array(d, float), return_counts=True)
    n = n.astype(float)
    got = randomisation(lambda s: (n - 2 * s) @ x, n, np.float64(n @ x), Coins(0, "x"))
    assert got.exact
    assert float(got.p) == pytest.approx(brute_force(d), abs=1e-9)


def test_sampled_randomisation_is_near_the_exact_one():
    rng = np.random.default_rng(2)
    d, n = rng.integers(-3, 4, 40).astype(float), rng.integers(1, 30, 40).astype(float)
    sampled = randomisation(lambda s: (n - 2 * s) @ d, n, np.float64(n @ d), Coins(0, "x"))
    assert not sampled.exact
    assert sampled.draws == 9_999
    assert float(sampled.p) == pytest.approx(sign_flip(d, n), abs=0.02)


def test_one_sided_tails_share_the_observed_value():
    d, n = np.array([1.0, -1.0]), np.array([5.0, 2.0])
    tails = [sign_flip(d, n, side) for side in ("greater", "less")]
    # 7 tosses: P(≥ 5 heads) = 29/128, P(≤ 5 heads) = 120/128.
    assert tails == pytest.approx([29 / 128, 120 / 128])


def test_swaps_are_fair_coins():
    for n in (np.ones(3), np.array([1.0, 4.0, 9.0])):
        drawn = Coins(0, "s").heads(n, 20_000)
        np.testing.assert_allclose(drawn.mean(0), n / 2, atol=0.05)
        np.testing.assert_allclose(drawn.var(0), n / 4, rtol=0.05)


def test_many_coins_are_counted_over_all_of_their_words():
    """64 coins in a word: of 10 words the tenth counts as well as the first, whatever its neighbours have."""
    n = np.array([20.0, 100.0, 640.0, 1280.0])
    drawn = Coins(0, "s").heads(n, 2000)
    assert np.abs(drawn.mean(0) - n / 2).max() < 5 * np.sqrt(1280 / 4 / 2000)


def test_monte_carlo_is_never_zero_and_counts_ties():
    assert monte_carlo(np.zeros(99), np.float64(1.0)) == 0.01
    assert monte_carlo(np.full(99, 0.3), np.float64(0.1 + 0.2)) == 1.0
    assert bootstrap_shift(np.float64(0.5), np.full(9, 0.5)) == 0.1


def test_off_grid_differences_have_no_convolution():
    assert sign_flip(np.array([0.1234567, np.pi, np.e]), np.ones(3)) is None
    assert sign_flip(np.array([0.0]), np.ones(1)) == 1.0


def test_degenerate_conventions():
    assert paired_t(np.zeros(5)).p == 1.0
    assert paired_t(np.full(5, 0.3)).note == "constant difference"
    assert paired_t(np.array([1.0])).note == "fewer than two units"
    assert wilcoxon(np.zeros(3)).p == 1.0
    assert (
        wilcoxon(np.array([1.0, -1.0] * 30), correction=True, method="normal").p == 1.0
    )  # a tie has nothing to correct
    assert sign_test(np.zeros(3)).p == 1.0
    assert mcnemar(0, 0).p == 1.0
    # Five units without a difference: a share of 0.1 that differs by 1 would be missed with 0.9⁵.
    assert tost_constant(0.0, 5, 0.1, (-1.0, 1.0)).p == pytest.approx(0.9**5)
    assert tost_constant(0.2, 5, 0.1, (-1.0, 1.0)).p == 1.0
    assert tost_constant(1.0, 5, 2.0, (-1.0, 1.0)).p == tost_constant(-1.0, 5, 2.0, (-1.0, 1.0)).p == 0.0


@given(st.lists(st.one_of(st.floats(0, 1), st.just(float("nan"))), min_size=1, max_size=12))
def test_corrections_keep_order_and_size(p):
    p = np.array(p)
    known = ~np.isnan(p)
    for method in CORRECTIONS:
        adjusted = correct(p, method)
        assert (np.isnan(adjusted) == ~known).all()
        assert (adjusted[known] >= p[known] - 1e-15).all()
        assert (adjusted[known] <= 1).all()
        order = np.argsort(p[known], kind="stable")
        assert (np.diff(adjusted[known][order]) >= -1e-15).all()
    assert family_size(p) == known.sum()


def test_undefined_p_does_not_enlarge_the_family():
    assert correct(np.array([0.02, np.nan, 0.5]), "bonferroni")[0] == pytest.approx(0.04)


@given(st.lists(st.integers(-3, 3), min_size=2, max_size=15))
def test_effects_of_groups_equal_effects_of_units(d):
    d = np.array(d, float)
    x, n = np.unique(d, return_counts=True)
    one, many = effects.effect(x, n.astype(float)), effects.effect(d)
    for field in ("units", "win", "tie", "loss", "d_z", "hedges_g", "rank_biserial", "superiority"):
        assert getattr(one, field) == pytest.approx(getattr(many, field))


def test_effects_turn_with_the_sign():
    d = np.array([0.1, -0.2, 0.4, 0.0])
    there, back = effects.effect(d), effects.effect(-d)
    assert (there.win, there.loss) == (back.loss, back.win)
    assert there.d_z == pytest.approx(-back.d_z)
    assert there.superiority == pytest.approx(1 - back.superiority)


def test_proportion_intervals_at_the_ends():
    assert wilson(0, 10, 0.95)[0] == 0
    assert wilson(10, 10, 0.95)[1] == 1
    assert clopper_pearson(0, 10, 0.95)[0] == 0
    assert clopper_pearson(10, 10, 0.95)[1] == 1


def test_bca_without_bias_and_acceleration_is_percentile():
    draws = np.random.default_rng(0).normal(size=999)
    np.testing.assert_allclose(bca(np.median(draws), draws, np.float64(0), 0.9), percentile(draws, 0.9), atol=1e-12)


def test_bca_is_stuck_when_all_resamples_lie_on_one_side():
    low, high = bca(np.array([1.0, 0.5]), np.array([[0.2, 0.4], [0.3, 0.6]]), np.zeros(2), 0.95)
    assert low[0] == high[0] == 1.0
    assert low[1] < high[1]


def test_undefined_resamples_are_left_out():
    draws = np.array([[0.1, np.nan], [0.3, np.nan], [np.nan, np.nan]])
    low, high = percentile(draws, 0.5)
    assert 0.1 <= low[0] < high[0] <= 0.3
    assert np.isnan(low[1])
    assert spread(draws)[0] == pytest.approx(np.std([0.1, 0.3], ddof=1))


def test_basic_mirrors_percentile():
    draws = np.array([0.0, 1.0, 2.0, 3.0])
    low, high = percentile(draws, 0.5)
    assert basic(np.float64(1.0), draws, 0.5) == pytest.approx((2 - high, 2 - low))


def test_cd_groups_are_maximal():
    assert ranks.cd_groups(np.array([3.0, 1.0, 2.0, 2.4]), 1.0) == [[1, 2], [2, 3, 0]]
    assert ranks.cd_groups(np.array([1.0, 3.0]), 1.0) == []


def test_friedman_of_identical_systems():
    result = ranks.friedman(np.ones((6, 3)))
    assert result.p == 1.0
    assert result.mean_ranks.tolist() == [2.0, 2.0, 2.0]
    # Five rows of the same order: each of the other four agrees with the first with chance 1/2, or they all do not.
    assert ranks.friedman(np.tile([1.0, 2.0], (5, 1))).p == pytest.approx(1 / 16)


def test_friedman_of_a_complete_order_is_exact():
    # The first of five rows says the order; each of the others has it with chance 1/6.
    assert ranks.friedman(np.tile([1.0, 2.0, 3.0], (5, 1))).p == pytest.approx(6**-4)


@pytest.mark.parametrize(
    ("blocks", "p"), [(12, 6.890904869966747e-08), (20, 6.728373620366476e-14), (30, 1.6555548499901783e-21)]
)
def test_friedman_beyond_all_shuffles_is_exact_for_three(blocks, p):
    """All orders alike but for one step in one row: with sums 1 + 2n, 2 − 1, 3, of which Iman and Davenport's F says 10⁻⁵ to 10⁻²³ of it."""
    scores = np.tile([1.0, 2.0, 3.0], (blocks, 1))
    scores[0] = [2.0, 1.0, 3.0]
    assert ranks.friedman(scores).p == pytest.approx(p)
    # The best are k steps in n rows: (n choose 0) complete orders, then one step down at two places of each.
    assert p == pytest.approx(6.0 ** (1 - blocks) * (1 + 2 * blocks))


@pytest.mark.parametrize("systems", [3, 4])
def test_the_law_of_rank_sums_is_that_of_all_orders(systems):
    """Few rows, with ties: by visiting every order and by summing up the law."""
    rng = np.random.default_rng(systems)
    for _ in range(20):
        table = ranks.rank_rows(rng.integers(0, 3, (4, systems)).astype(float))
        middle = float(table.sum() / systems)
        observed = float(((table.sum(0) - middle) ** 2).sum())
        want = ranks._reached(ranks._every_sum(table), middle, observed).mean()
        assert ranks._Grid.of(table).beyond(observed) == pytest.approx(want)


def test_the_law_reaches_as_far_as_the_page_says():
    """Three systems with ties had shuffles from 119 test cases on, and four without ties in 22."""
    three, four, tied = ([1.0, 2.0, 3.0], [1.0, 1.0, 2.0]), ([1.0, 2.0, 3.0, 4.0],), ([1.0, 2.0, 2.0, 4.0],)
    for rows, cases in ((three, 133), (four, 24), (tied, 14)):
        table = ranks.rank_rows(np.tile(rows, (cases, 1))[:cases])
        assert ranks._Grid.of(table).steps <= ranks.LAW
    assert ranks._Grid.of(ranks.rank_rows(np.tile(tied, (15, 1)))).steps > ranks.LAW


def test_steps_of_more_systems_than_floats_hold_are_counted():
    assert 0 < ranks.friedman(np.random.default_rng(0).random((3, 130))).p <= 1


def test_friedman_of_many_systems_is_at_most_one_shuffle_in_all():
    """Five in twenty complete orders: the F law says 0, the shuffles that none of them is as far apart."""
    assert ranks.friedman(np.tile(np.arange(5.0), (20, 1))).p == 1e-5


def test_shuffled_ranks_are_near_the_f_law():
    scores = np.random.default_rng(3).normal([0.0, 0.1, 0.2, 0.5], size=(40, 4))
    got = ranks.friedman(scores)
    assert got.p == pytest.approx(float(special.fdtrc(3, 3 * 39, got.f)), rel=0.2)
    assert ranks.permutation_p(ranks.rank_rows(np.zeros((200, 4))), 0.5) == 0.5


def test_power_extremes():
    assert mde(0.0) == 0.0
    assert np.isnan(mde(float("nan")))
    assert units_needed(0.0) == float("inf")
    assert mde(0.1, df=5) > mde(0.1)


def test_sums_of_ranks_that_every_shuffle_reaches_have_p_one():
    """Each order of three once in six rows, twice over: the sums are equal, and no spread is below none."""
    orders = np.array([[1, 2, 3], [2, 3, 1], [3, 1, 2], [1, 3, 2], [2, 1, 3], [3, 2, 1]] * 2, float)
    assert ranks.permutation_p(orders, 0.5) == 1
    assert ranks.permutation_p(orders[:3], 0.5) == 1  # all orders are visited


@pytest.mark.parametrize("method", ["mid-p", "exact", "chi2", "chi2-cc"])
def test_mcnemar_without_a_difference_is_certain_of_nothing(method):
    found = mcnemar(0, 0, method)
    assert (found.p, found.exact, found.note) == (1.0, True, "no discordant units")


def test_fifty_differences_have_the_exact_law_and_fifty_one_the_normal_one():
    """All of one sign: 2 of 2ⁿ signs are as extreme; the sum of ranks has mean n(n+1)/4 and variance n(n+1)(2n+1)/24."""
    exact, normal = (wilcoxon(np.arange(1.0, n + 1)) for n in (50, 51))
    assert (exact.exact, exact.p) == (True, 2.0**-49)
    z = 51 * 52 / 4 / np.sqrt(51 * 52 * 103 / 24)
    assert (normal.exact, normal.p) == (False, pytest.approx(2 * special.ndtr(-z), rel=1e-9))


def test_as_many_units_of_each_system_alone():
    assert mcnemar(5, 5).p == pytest.approx(1 - special.comb(10, 5) / 2**10)
    found = paired_t(np.zeros(4))
    assert (found.p, found.exact, found.note) == (1.0, True, "no differences")
