# SPDX-License-Identifier: Apache-2.0
"""Probability of being best and groups of letters, against closed forms and brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.special import ndtr

from karat.stats.leaderboard import _letters
from karat.stats.standing import best_probabilities, letters, no_spread, root


def test_two_systems_have_the_normal_tail():
    covariance = np.array([[4.0, 1.0], [1.0, 2.0]]) * 1e-4
    found = best_probabilities(np.array([0.81, 0.80]), covariance, np.random.default_rng(1), draws=200_000)
    assert found[0] == pytest.approx(ndtr(0.01 / 0.02), abs=0.004)
    turned = best_probabilities(np.array([0.81, 0.80]), covariance, np.random.default_rng(1), lower=True)
    assert turned[0] == pytest.approx(1 - found[0], abs=0.02)


def test_alike_systems_share_and_the_sum_is_one():
    one = np.full((3, 3), 1e-4)
    found = best_probabilities(np.array([0.5, 0.5, 0.5]), one, np.random.default_rng(2))
    assert found == pytest.approx([1 / 3] * 3)
    assert best_probabilities(np.array([0.5, 0.4]), np.zeros((2, 2)), np.random.default_rng(2)).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("scores", "leader", "flat"),
    [
        ([0.9, 0.8, 0.7], 0, [True, True, False]),
        ([0.9, 0.9, 0.7], 0, [False, False, False]),  # as good is not ahead
        ([0.9, 0.8, 0.95], 2, [False, False, False]),
    ],
)
def test_ahead_by_as_much_on_every_unit_is_where_the_difference_has_no_variance(scores, leader, flat):
    """The first two move together: 1 + 1 − 2 · 1 = 0; the third moves with them, but not by as much: 1 + 1 − 2 · 0.9."""
    covariance = np.array([[1.0, 1.0, 0.9], [1.0, 1.0, 0.9], [0.9, 0.9, 1.0]])
    assert no_spread(np.array(scores), covariance, leader) == flat


@pytest.mark.parametrize("seed", range(30))
def test_two_share_a_letter_exactly_if_they_do_not_differ(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 9))
    differ = np.triu(rng.random((k, k)) < rng.random(), 1)
    differ = differ | differ.T
    groups = letters(differ)
    for i, j in combinations(range(k), 2):
        assert any(i in g and j in g for g in groups) == (not differ[i, j])
    assert {i for g in groups for i in g} == set(range(k))


def test_a_pair_that_is_not_in_order_still_shares_a_letter():
    """0 differs from 1 but not from 2, of which little is known: groups by neighbourhood in rank would hide it."""
    differ = np.zeros((3, 3), bool)
    differ[0, 1] = differ[1, 0] = True
    assert letters(differ) == [[0, 2], [1, 2]]


def test_the_root_of_a_covariance_is_the_only_symmetric_one():
    """Eigenvectors of equal variances are any that span them: which ones, the processor's last bit says."""
    rng = np.random.default_rng(5)
    for noise in (0.0, 1e-16):
        covariance = 1e-4 * (np.eye(4) + 0.5) + noise * rng.normal(size=(4, 4))
        found = root(covariance)
        assert found == pytest.approx(found.T)
        assert found @ found == pytest.approx(covariance)
        # The mean has a variance of 3e-4, all else 1e-4.
        assert found == pytest.approx(0.01 * np.eye(4) + (np.sqrt(3e-4) - 0.01) / 4)


def test_groups_beyond_the_alphabet_have_numbers():
    apart = ~np.eye(28, dtype=bool)
    names = _letters(range(28), apart, None)
    assert [names[k] for k in (0, 25, 26, 27)] == ["a", "z", "(27)", "(28)"]
