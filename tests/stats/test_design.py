# SPDX-License-Identifier: Apache-2.0
"""Sample sizes, against statsmodels, hand formulas and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import stdtrit

from karat.metric import MetricError
from karat.stats.design import Aim, neyman, power_of, spread_law, units_for
from karat.stats.power import least


@pytest.mark.parametrize("difference", [0.02, 0.05, 0.2])
@pytest.mark.parametrize("sided", [False, True])
def test_sizes_are_those_of_statsmodels(difference, sided):
    power = pytest.importorskip("statsmodels.stats.power").TTestPower()
    found = units_for(0.4, Aim(difference, power=0.9, one_sided=sided))
    exact = power.solve_power(difference / 0.4, alpha=0.05, power=0.9, alternative="larger" if sided else "two-sided")
    assert found == np.ceil(exact)


def test_a_family_shares_alpha():
    assert units_for(0.4, Aim(0.05, tests=10)) == units_for(0.4, Aim(0.05, alpha=0.005))


def test_the_interval_is_just_narrow_enough():
    n = units_for(0.4, Aim(width=0.02))
    half = lambda n: stdtrit(n - 1, 0.975) * 0.4 / np.sqrt(n)
    assert half(n) <= 0.02 < half(n - 1)


def test_non_inferiority_is_the_one_sided_test_of_difference_plus_margin():
    assert units_for(0.4, Aim(0.0, margin=0.03)) == units_for(0.4, Aim(0.03, one_sided=True))
    with pytest.raises(MetricError, match="not within a margin"):
        units_for(0.4, Aim(-0.03, margin=0.03))


def test_power_by_simulation():
    rng = np.random.default_rng(1)
    d = rng.normal(0.1, 0.4, (20_000, 100))
    t = d.mean(1) / d.std(1, ddof=1) * 10
    assert power_of(*spread_law(0.4)(100), Aim(0.1)) == pytest.approx((abs(t) > stdtrit(99, 0.975)).mean(), abs=0.01)


def test_allocation_minimises_the_error():
    shares, spreads = np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.4, 0.2])
    found = neyman(shares, spreads, 60)
    error = lambda n: float((shares**2 * spreads**2 / np.asarray(n, float)).sum())
    every = ((a, b, 60 - a - b) for a in range(2, 57) for b in range(2, 59 - a))
    assert error(found) == pytest.approx(min(map(error, every)), rel=1e-3)
    assert sum(found) == 60


def test_without_error_every_difference_is_shown():
    assert power_of(0.0, 10, Aim(0.01)) == 1


def test_the_smallest_number_that_is_enough():
    for wanted in range(40):
        tried: list[int] = []
        assert least(lambda n: tried.append(n) or n >= wanted, 64) == max(wanted, 2)  # noqa: B023
        assert len(tried) == len(set(tried))
    assert least(lambda n: n >= 64, 64) == 64
    assert least(lambda n: n >= 64, 63) is None
