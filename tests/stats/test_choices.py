# SPDX-License-Identifier: Apache-2.0
"""Which interval a mean gets, what an undefined value does to the jackknife, and which tests are exact."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import karat
from karat.stats import randomisation
from karat.stats.estimate import Table
from karat.stats.intervals import Bounds, _folded_moments, constant, hall
from karat.stats.resampling import Jackknife
from karat.stats.sample import pooled_spread
from karat.stats.tests import mcnemar, wilcoxon


def interval(metric, places):
    """The interval over queries whose one relevant document stands at these places."""
    gold = {f"q{i}": {"d": 1} for i in range(len(places))}
    run = {
        f"q{i}": {("d" if rank == place else f"x{rank}"): -float(rank) for rank in range(1, 41)}
        for i, place in enumerate(places)
    }
    found = karat.evaluate(gold, run, context="ranking", metrics=[metric], intervals=True, resamples=499)
    return found[metric].interval


@pytest.mark.parametrize("metric", ["reciprocal_rank", "nrbp"])
def test_a_mean_that_is_not_skewed_gets_student_t(metric):
    assert interval(metric, [1, 2, 3, 4] * 10).method == "student-t"


def test_a_skewed_mean_gets_halls_transformation():
    assert interval("reciprocal_rank", [1] * 2 + [40] * 38).method == "hall-t"


def test_a_mean_that_is_skewed_the_other_way_does_too():
    assert interval("reciprocal_rank", [1] * 38 + [40] * 2).method == "hall-t"


def test_one_skewed_test_case_is_enough():
    errors = {"even": [1.0, 2.0, 3.0] * 10, "skewed": [0.0] * 28 + [9.0] * 2}
    rows = [(f"{case}{i}", case, error) for case, of in errors.items() for i, error in enumerate(of)]
    sides = [
        [{"id": id, "test_case": case, "value": 0.5 + sign * error} for id, case, error in rows] for sign in (0, 1)
    ]
    found = karat.evaluate(*sides, context="numbers", metrics=["mae"], intervals=True)["mae"]
    assert found.interval.method == "hall-t"
    assert {case: i.method for case, i in found.test_case_intervals.items()} == {
        "even": "student-t",
        "skewed": "hall-t",
    }


@pytest.mark.parametrize(
    ("gold", "pred", "method"),
    [
        (["A", "B"] * 100, (["A", "B"] * 40 + ["B", "A"] * 10) * 2, "bootstrap-bca"),
        (["A"] * 196 + ["B"] * 4, ["A"] * 196 + ["B"] * 3 + ["A"], "hall-t"),  # one item decides: a long tail below
    ],
    ids=["even", "skewed"],
)
def test_a_score_that_is_no_mean_is_drawn_unless_it_is_skewed(gold, pred, method):
    assert karat.evaluate(gold, pred, metrics=["f1"], intervals=True, resamples=499)["f1"].interval.method == method


@pytest.mark.parametrize(("most", "method"), [(499 * 40, "bootstrap-bca"), (499 * 40 - 1, "hall-t")])
def test_resamples_that_cost_too_much_are_not_drawn(most, method, monkeypatch):
    """499 resamples of four cells, each at the price of ten units."""
    monkeypatch.setattr("karat.stats.estimate.AFFORDABLE", most)
    gold, pred = ["A", "B"] * 100, (["A", "B"] * 40 + ["B", "A"] * 10) * 2
    assert karat.evaluate(gold, pred, metrics=["f1"], intervals=True, resamples=499)["f1"].interval.method == method


@pytest.mark.parametrize("limits", [(0.0, np.inf), (-np.inf, 1.0), (-np.inf, np.inf)])
def test_scores_that_may_be_as_large_as_they_like_have_no_rule_of_three(limits):
    assert constant(1.0, 60, limits, 0.95) == (-np.inf, np.inf)


def test_the_spread_of_a_mean_over_test_cases_has_the_degrees_of_freedom_of_satterthwaite():
    """Of 5 and 3 units: 0.04/4 + 0.12/4 = 0.2², and 0.04² / (0.01²/4 + 0.03²/2)."""
    se, df = pooled_spread(np.array([[1.0], [3.0]]), np.array([[0.04], [0.12]]), np.array([5.0, 3.0]))
    assert (se[0], df[0]) == pytest.approx((0.2, 0.0016 / 0.000475))


def test_the_jackknife_leaves_undefined_values_out():
    known, with_gap = [0.5, 0.7], [0.5, 0.7, np.nan]
    found = Jackknife(np.ones(3), np.array(with_gap)[:, None])
    assert found.centred[:, 0] == pytest.approx([0.1, -0.1, 0.0])
    # (N − 1)/N times the squared deviations from the mean of the two that are known.
    assert found.se[0] == pytest.approx(np.sqrt(2 / 3 * (0.1**2 + 0.1**2)))
    assert Jackknife(np.ones(2), np.array(known)[:, None]).se[0] == pytest.approx(np.sqrt(1 / 2 * (0.1**2 + 0.1**2)))


def test_scores_that_differ_by_rounding_alone_have_no_spread():
    """Of which also no skewness is read: it would be the processor's."""
    value = 0.6 + np.array([1, -1, -1, 3, 0, 2]) * np.spacing(0.6)
    found = Jackknife(np.ones(6), value[:, None])
    assert (found.se[0], found.acceleration[0]) == (0, 0)
    apart = Jackknife(np.ones(6), (value + np.array([1e-9, 0, 0, 0, 0, -1e-9]))[:, None])
    assert apart.se[0] == pytest.approx(np.sqrt(5 / 6 * 2e-18), rel=1e-6)


def test_bits_are_counted_alike_without_numpy_2(monkeypatch):
    words = np.array([[0, 1, 3], [2**64 - 1, 2**63, 255]], np.uint64)
    monkeypatch.delattr(np, "bitwise_count", raising=False)
    assert randomisation.ones(words).tolist() == [[0, 1, 2], [64, 1, 8]]


def test_exact_tests_say_so():
    assert mcnemar(3, 1, "exact").exact
    assert not mcnemar(3, 1, "chi2").exact
    nothing = wilcoxon(np.zeros(60))  # so many that the normal approximation would be taken
    assert (nothing.p, nothing.exact, nothing.note) == (1.0, True, "no differences")


@pytest.mark.parametrize(
    ("metric", "said"), [("balanced_accuracy", True), ("icm", True), ("f1", True), ("accuracy", False)]
)
def test_rare_classes_are_said_where_a_score_reads_them(metric, said):
    """Balanced accuracy of 40 items with a class of three covers 91 %: it was left unsaid."""
    gold, pred = ["A"] * 25 + ["B"] * 12 + ["C"] * 3, ["A"] * 20 + ["B"] * 17 + ["C"] * 3
    e = karat.evaluate(gold, pred, metrics=[metric], intervals=True, resamples=199)
    assert ("rare-classes" in {f.code for f in e.findings}) is said


def test_clusters_below_two_hundred_are_bent_not_drawn():
    gold = [{"id": str(i), "value": "AB"[i % 2], "doc": f"d{i // 3}"} for i in range(900)]
    pred = [{"id": str(i), "value": "AB"[(i + (i % 7 == 0)) % 2]} for i in range(900)]
    few = karat.evaluate(gold[:300], pred[:300], metrics=["f1"], intervals=True, cluster_by="doc", resamples=199)
    many = karat.evaluate(gold, pred, metrics=["f1"], intervals=True, cluster_by="doc", resamples=199)
    assert few["f1"].interval.method == "hall-t"
    assert many["f1"].interval.method == "bootstrap-bca"


def test_normalised_icm_soft_says_what_its_interval_takes_as_known():
    """It covers .927 ± .012 of data sets in simulation, at any size."""
    rng = np.random.default_rng(0)
    rows = lambda: [
        {"id": str(i), "value": dict(zip("AB", (float(p), float(1 - p)), strict=True))}
        for i, p in enumerate(rng.random(60).round(3))
    ]
    for metric, said in (("icm_soft_norm", True), ("icm_soft", False)):
        e = karat.evaluate(rows(), rows(), context="soft", metrics=[metric], intervals=True, resamples=199)
        assert ("information-fixed" in {f.code for f in e.findings}) is said


def test_an_interval_beyond_the_limits_of_a_score_keeps_its_order():
    """A ranking can surpass the greedy ideal of alpha_ndcg by a hair; an interval that reaches over a limit ends there."""
    table = Table(Bounds(np.array([1.001, 0.8]), np.array([1.003, 1.2]), np.array([0.001, 0.1])), ["student-t"] * 2, np.array([9.0, 9.0]))  # fmt: skip
    surpassed, reaching = (table.interval(column, 0.95, (0.0, 1.0)) for column in (0, 1))
    assert (surpassed.low, surpassed.high) == (1.001, 1.003)
    assert (reaching.low, reaching.high) == (0.8, 1.0)


@pytest.mark.parametrize("skewness", [0.4, -0.4])
def test_halls_ends_are_where_his_transformation_is_students_t(skewness):
    """x + g·x²/3 + g²·x³/27 + g/6 of x = (point − end)/se is ±t: 2.228 with 10 degrees of freedom."""
    ends = hall(np.array(0.5), np.array(0.1), np.array(skewness), 10.0, 0.95)
    x = (0.5 - np.array(ends)) / 0.1
    bent = x + skewness * x**2 / 3 + skewness**2 * x**3 / 27 + skewness / 6
    assert bent == pytest.approx([2.2281, -2.2281], abs=1e-4)


@pytest.mark.parametrize("gap", [0.0, 0.5, 2.0])
def test_moments_of_a_folded_normal_law_are_those_of_scipy(gap):
    law = stats.foldnorm(gap / 1.5, scale=1.5)
    mean, variance = _folded_moments(np.array([gap]), np.array([1.5]))
    assert (mean[0], variance[0]) == pytest.approx((law.mean(), law.var()))
