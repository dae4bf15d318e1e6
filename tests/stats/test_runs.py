# SPDX-License-Identifier: Apache-2.0
"""Variance of runs and units, against a two-way analysis of variance and against simulation."""

from __future__ import annotations

import numpy as np
import pytest
from tests.stats.by_hand import influence_of_means

from karat.stats.runs import nested, nested_difference


def scores(rng, runs, units, run=0.1, unit=0.3, rest=0.2, unit_effect=None):
    unit_effect = unit * rng.standard_normal(units) if unit_effect is None else unit_effect
    return 0.5 + run * rng.standard_normal((runs, 1)) + unit_effect + rest * rng.standard_normal((runs, units))


def of(x):
    return x.mean(1), influence_of_means(x)


def test_the_components_are_those_of_the_analysis_of_variance():
    pd = pytest.importorskip("pandas")
    ols = pytest.importorskip("statsmodels.formula.api").ols
    anova_lm = pytest.importorskip("statsmodels.stats.anova").anova_lm
    x = scores(np.random.default_rng(1), 5, 12)
    long = pd.DataFrame([(f"r{r}", f"u{u}", x[r, u]) for r in range(5) for u in range(12)], columns=["r", "u", "y"])
    squares = anova_lm(ols("y ~ C(r) + C(u)", long).fit())["mean_sq"]
    found = nested(*of(x))
    run, unit, rest = squares["C(r)"], squares["C(u)"], squares["Residual"]
    assert found.se**2 == pytest.approx((run + unit - rest) / 60, rel=1e-9)
    assert found.of_runs == pytest.approx((run - rest) / 60, rel=1e-9)
    assert found.of_units == pytest.approx((unit - rest) / 60, rel=1e-9)
    assert found.runs_share == pytest.approx((run - rest) / (run + unit - rest), rel=1e-9)
    satterthwaite = (run + unit - rest) ** 2 / (run**2 / 4 + unit**2 / 11 + rest**2 / 44)
    assert found.df == pytest.approx(satterthwaite, rel=1e-9)


def test_one_run_is_the_plain_error_of_its_units():
    x = scores(np.random.default_rng(2), 1, 40)
    found = nested(*of(x))
    assert found.se == pytest.approx(x[0].std(ddof=1) / np.sqrt(40))
    assert found.df == 39
    assert found.runs_share == 0


def test_equal_runs_add_nothing():
    x = np.repeat(scores(np.random.default_rng(3), 1, 40), 4, axis=0)
    assert nested(*of(x)).se == pytest.approx(x[0].std(ddof=1) / np.sqrt(40))


def test_a_difference_of_methods_leaves_out_what_units_do_to_both():
    rng = np.random.default_rng(4)
    unit = rng.standard_normal(200)
    a, b = (scores(rng, 4, 200, unit_effect=unit) for _ in range(2))
    found = nested_difference(of(a), of(b))
    assert found.of_units < 1e-4 < nested(*of(a)).of_units
    by_hand = (a.mean(1).var(ddof=1) + b.mean(1).var(ddof=1)) / 4
    assert found.of_runs + found.rest == pytest.approx(by_hand, rel=1e-9)


def test_paired_runs_are_the_runs_of_the_differences():
    rng = np.random.default_rng(5)
    a, b = scores(rng, 6, 50), scores(rng, 6, 50)
    found, by_hand = nested_difference(of(a), of(b), paired_runs=True), nested(*of(a - b))
    assert (found.estimate, found.se, found.df) == pytest.approx((by_hand.estimate, by_hand.se, by_hand.df))


def test_the_error_of_another_design_is_the_sum_of_its_components():
    found = nested(*of(scores(np.random.default_rng(6), 5, 60)))
    run, unit, rest = found.of_runs * 5, found.of_units * 60, found.rest * 300
    se, _ = found.at(runs=8, units=200)
    assert se == pytest.approx(np.sqrt(run / 8 + unit / 200 + rest / 1600))
    assert found.at() == pytest.approx((found.se, found.df))


def test_needed_runs_and_units_are_the_smallest_that_do():
    rng = np.random.default_rng(7)
    found = nested_difference(of(scores(rng, 3, 300)), of(scores(rng, 3, 300)))
    runs = found.runs_needed(0.1)
    from karat.stats.runs import mde_of

    assert mde_of(found.at(runs=runs), 0.05, 0.8) <= 0.1 < mde_of(found.at(runs=runs - 1), 0.05, 0.8)
    assert found.units_needed(1e-4) is None  # runs alone vary by more than that
    assert nested(*of(scores(rng, 1, 300))).runs_needed(0.1) is None


@pytest.mark.slow
def test_intervals_cover_and_tests_keep_their_level():
    """2,000 data sets: Monte Carlo error of a rate of .95 is .005 (one standard error)."""
    rng, inside, rejected, alone = np.random.default_rng(8), 0, 0, 0
    for _ in range(2000):
        unit = 0.3 * rng.standard_normal(100)
        a, b = (scores(rng, 5, 100, unit_effect=unit) for _ in range(2))
        low, high = nested(*of(scores(rng, 5, 100))).interval(0.95)
        inside += low <= 0.5 <= high
        rejected += nested_difference(of(a), of(b)).p() <= 0.05
        low, high = nested(*of(scores(rng, 5, 100)[:1])).interval(0.95)
        alone += low <= 0.5 <= high
    assert 0.93 <= inside / 2000 <= 0.97
    assert rejected / 2000 <= 0.065
    assert alone / 2000 < 0.7  # a single run says nothing of the method
