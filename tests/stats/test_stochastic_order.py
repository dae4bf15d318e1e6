# SPDX-License-Identifier: Apache-2.0
"""Almost stochastic order, against integration on a fine grid."""

from __future__ import annotations

import numpy as np
import pytest

from karat.stats.stochastic_order import least_violation, violation


def on_a_grid(a, b, cells=840_000):
    at = (np.arange(cells) + 0.5) / cells
    gap = np.sort(a)[(at * len(a)).astype(int)] - np.sort(b)[(at * len(b)).astype(int)]
    return (np.minimum(gap, 0) ** 2).sum() / (gap**2).sum()


@pytest.mark.parametrize(("n", "m"), [(5, 5), (7, 4), (10, 3), (8, 12)])
def test_violation_is_that_of_a_grid(n, m):
    rng = np.random.default_rng(n * m)
    a, b = rng.normal(0.2, 1, n), rng.normal(0, 1, m)
    assert violation(a, b) == pytest.approx(on_a_grid(a, b), abs=1e-5)
    assert violation(b, a) == pytest.approx(1 - violation(a, b))


def test_dominance_and_equality():
    x = np.arange(10.0)
    assert (violation(x + 1, x), violation(x, x + 1), violation(x, x)) == (0.0, 1.0, 0.5)
    assert least_violation(x + 20, x, np.random.default_rng(1)) == 0.0


def test_the_bound_lies_above_the_violation_and_shrinks_with_more_scores():
    rng = np.random.default_rng(2)
    bound = {
        n: least_violation(rng.normal(0.5, 1, n), rng.normal(0, 1, n), np.random.default_rng(3)) for n in (10, 2000)
    }
    assert bound[2000] < 0.05 < bound[10]


@pytest.mark.slow
def test_equal_laws_are_rarely_taken_for_dominance():
    """1,000 pairs of samples of one law; a bound below 0.2 is the usual decision."""
    rng = np.random.default_rng(4)
    wrong = sum(least_violation(*rng.normal(0, 1, (2, 20)), rng, resamples=300) < 0.2 for _ in range(1000))
    assert wrong <= 60
