# SPDX-License-Identifier: Apache-2.0
"""Intervals of sums of distances and of chances of pairs, against Monte Carlo, hand formulas and a known truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.populations import POOLS
from scipy import special, stats

import karat
from karat.cells import Sparse
from karat.stats import intervals
from karat.stats.estimate import estimate, sample_of
from karat.stats.resampling import Clusters, Units, multinomial
from karat.stats.settings import IntervalSettings
from karat.stats.statistic import Fold

SETTINGS = IntervalSettings(resamples=100)
GAP = np.array([0.08, -0.05, 0.02, 0.0, -0.01, 0.03])
ERROR = np.array([0.02, 0.02, 0.01, 0.0, 0.015, 0.03])
APART = float(np.sqrt((ERROR**2).sum()))
"""The spread of the sum of gaps that have nothing to do with each other."""


def test_ends_are_where_the_sum_seen_is_as_rare_as_the_level_says():
    """Half a million draws of the gaps that stand for either end: what was seen lies in a tail of 2.5 % (normal: 1 % more or less)."""
    low, high, middle = intervals.folded(GAP, ERROR, APART, np.inf, 0.95)
    z, seen = np.random.default_rng(0).normal(size=(500_000, 6)), np.abs(GAP).sum()
    sums = lambda true: np.abs(true + ERROR * z).sum(1)
    assert (sums(high * ERROR / ERROR.sum()) <= seen).mean() == pytest.approx(0.025, abs=0.01)
    off = np.linspace(0, 5, 50_001)  # errors that are taken off
    kept = np.maximum(np.abs(GAP) - off[:, None] * ERROR, 0.0)
    for end, tail in ((low, 0.025), (middle, 0.5)):
        true = kept[np.abs(kept.sum(1) - end).argmin()]
        assert true.sum() == pytest.approx(end, abs=1e-4)
        assert (sums(true) >= seen).mean() == pytest.approx(tail, abs=0.04 if tail == 0.5 else 0.01)


def test_noise_alone_reaches_down_to_nothing():
    """Ten gaps of one error each are what chance shows: 0 is not ruled out, and the score is above what is expected to be true."""
    low, high, middle = intervals.folded(np.full(10, 0.01), np.full(10, 0.01), np.sqrt(10) * 0.01, np.inf, 0.95)
    assert low == 0.0 < middle < high < 0.2
    assert middle < 0.1


def test_gaps_without_errors_are_known():
    assert intervals.folded(np.array([0.1, -0.2]), np.zeros(2), 0.0, 9.0, 0.95) == pytest.approx((0.3, 0.3, 0.3))


def test_gaps_of_two_units_have_the_error_of_a_mean_of_two():
    """In one bin 0.3 and −0.1: the mean is 0.1, and its standard error half of how far they are apart."""
    fold = Fold(Sparse.of(np.array([0, 1]), np.array([0, 0]), np.array([0.3, -0.1]), (2, 1)), np.ones(2))
    for design in (Units(np.ones(2)), Clusters.of(np.arange(2), np.arange(2), 2)):
        gap, se, _ = fold.gaps(design)
        assert (gap[0], se[0]) == pytest.approx((0.1, 0.2))


def drawn(name, n, seed=0):
    source, rng = POOLS[name].one, np.random.default_rng(seed)
    return source, source.drawn(source.unit[rng.integers(0, len(source.unit), n)], np.ones(n))


@pytest.mark.parametrize("name", ["probabilities, half positive", "weights"])
def test_calibration_errors_are_known_for_sums_of_distances_and_nothing_else_is(name):
    source, cells = drawn(name, 80)
    sample = sample_of(cells, source.statistic, False)
    assert [str(source.plan.metrics[k]) for k in sample.strata[0].folds] == ["ece"]


@pytest.mark.parametrize("clustered", [False, True])
def test_gaps_are_those_of_bins_and_their_errors_the_jackknifes(clustered):
    source, cells = drawn("probabilities, half positive", 80)
    documents = Clusters.of(np.arange(80) // 4, np.arange(80), 80)
    sample = sample_of(cells, source.statistic, False, {0: documents} if clustered else None)
    column = [str(m) for m in source.plan.metrics].index("ece")
    gap, se, together = sample.gaps(column)
    assert np.abs(gap).sum() == pytest.approx(sample.point[column])
    x = sample.strata[0].folds[column].part.toarray()
    left = [(x.sum(0) - x[rows].sum(0)) / (80 - len(rows)) for rows in np.arange(80).reshape(-1, 4 if clustered else 1)]
    size = len(left)
    # The jackknife of a mean of units; clusters of equal size are units.
    assert se == pytest.approx(np.sqrt((size - 1) ** 2 / size * np.var(left, axis=0, ddof=1)), rel=1e-6)
    if clustered:
        used = se > 0
        expected = np.corrcoef(np.array(left)[:, used].T)
        assert together[np.ix_(used, used)] == pytest.approx(expected, abs=1e-6)
    else:
        assert together is None


@pytest.mark.parametrize("rho", [-0.6, 0.3, 0.8])
@pytest.mark.parametrize("gap", [(0.0, 0.0), (0.5, 1.2), (0.2, 3.0)])
def test_the_covariance_of_folded_laws_is_that_of_draws(rho, gap):
    """400,000 draws: an error of about 0.001."""
    law, se = np.array([[1.0, rho], [rho, 1.0]]), np.array([1.0, 0.5])
    z = np.random.default_rng(4).multivariate_normal([0, 0], law, 400_000)
    drawn_ones = np.abs(np.array(gap) + se * z)
    found = intervals._folded_covariance(np.array(gap), se, intervals._powers(law)) / 2
    assert found == pytest.approx(np.cov(drawn_ones.T)[0, 1], abs=0.003)


def test_bins_that_vary_together_in_clusters_widen_the_interval():
    """Ten bins without a true gap: with correlations of 0.8 their sum has a deviation of 0.49 · 10, alone of 0.6 · √10."""
    gap, se, rho = np.full(10, 0.012), np.full(10, 0.01), np.full((10, 10), 0.8) + 0.2 * np.eye(10)
    alone = intervals.folded(gap, se, 0.1**1.5, 49.0, 0.95)
    together = intervals.folded(gap, se, 0.1**1.5, 49.0, 0.95, rho)
    assert alone[0] > together[0] == 0.0
    assert together[1] > alone[1]
    assert together[2] == alone[2]
    assert intervals.folded(gap, se, 0.1**1.5, 49.0, 0.95, np.eye(10)) == alone


def test_a_calibration_error_of_test_cases_is_one_sum():
    rng = np.random.default_rng(3)
    rows = [(str(i), f"t{i % 2}", float(p)) for i, p in enumerate(rng.random(200).round(3))]
    gold = [{"id": i, "test_case": t, "value": "yes" if rng.random() < p else "no"} for i, t, p in rows]
    pred = [{"id": i, "test_case": t, "value": {"yes": p, "no": round(1 - p, 3)}} for i, t, p in rows]
    e = karat.evaluate(gold, pred, context="probabilities", metrics=["ece"], intervals=True, pos_label="yes")
    parts = e["ece"].test_case_intervals
    assert e["ece"].interval.method == parts["t0"].method == "folded-t"
    assert e["ece"].interval.low <= min(p.high for p in parts.values())
    assert "bias-corrected" in {f.code for f in e.findings}


def test_an_area_has_the_interval_of_its_log_odds():
    """DeLong's standard error is the jackknife's within a hundredth; t with what tails leave of the 39 degrees of freedom."""
    rng = np.random.default_rng(1)
    gold = np.arange(40) % 4 == 0
    score = (1 / (1 + np.exp(-rng.normal(size=40) - 2 * gold))).round(4)
    labels = ["yes" if y else "no" for y in gold]
    e = karat.evaluate(
        labels, score.tolist(), context="probabilities", metrics=["roc_auc"], intervals=True, pos_label="yes"
    )
    won = score[gold][:, None] > score[~gold]
    area, found = won.mean(), e["roc_auc"].interval
    delong = np.sqrt(won.mean(1).var(ddof=1) / 10 + won.mean(0).var(ddof=1) / 30)
    assert found.method == "logit-t"
    assert found.se == pytest.approx(delong, rel=0.05)
    units = np.r_[(area * 10 - won.mean(1)) / 9, (area * 30 - won.mean(0)) / 29]
    d2 = (units.mean() - units) ** 2
    df = 2 * d2.sum() ** 2 / ((d2**2).sum() - d2.sum() ** 2 / 40)
    reach = stats.t.ppf(0.975, min(df, 39)) * np.sqrt(39 / 40 * d2.sum()) / (area * (1 - area))
    middle = special.logit(area)
    assert (found.low, found.high) == pytest.approx((special.expit(middle - reach), special.expit(middle + reach)))


def test_an_area_of_one_is_not_certain():
    e = karat.evaluate(
        ["yes", "no"] * 20, [0.9, 0.1] * 20, context="probabilities", metrics=["roc_auc"], intervals=True
    )
    assert e["roc_auc"].interval.method == "rule-of-three"


@pytest.mark.parametrize(("metric", "n"), [("ece", 100), ("roc_auc", 100)])
def test_rare_positives_are_covered(metric, n):
    """A tenth positive, 150 data sets of 100 items: of ECE 60 % were covered, and 19 % of those without a warning."""
    name, inside = "probabilities, a tenth positive", 0
    source = POOLS[name].one
    column = [str(m) for m in source.plan.metrics].index(metric)
    truth = source.statistic.values(source.cells.n[None].astype(float), source.cells)[0, column]
    for seed in range(150):
        cells = drawn(name, n, seed)[1]
        table = estimate(
            sample_of(cells, replace(source.statistic, metrics=[source.plan.metrics[column]]), False), SETTINGS
        )[0]
        found = table.interval(0, 0.95, (0.0, 1.0))
        inside += found.low <= truth <= found.high
    assert inside / 150 >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 150)


@pytest.mark.parametrize("n", [np.ones(300), np.array([1.0, 3.0, 0.0, 2.0])])
def test_resamples_that_are_drawn_together_are_those_drawn_one_by_one(n):
    """Many rows to a call, in pieces: not a digit moves."""
    together = multinomial(np.random.Generator(np.random.Philox(1)), n, 400)
    rng, cells = np.random.Generator(np.random.Philox(1)), np.repeat(np.arange(len(n)), n.astype(int))
    one_by_one = [cells[rng.integers(0, len(cells), len(cells), dtype=np.int32)] for _ in range(400)]
    assert (together == [np.bincount(drawn, minlength=len(n)) for drawn in one_by_one]).all()


def test_gaps_that_vary_together_widen_the_interval_and_those_against_each_other_narrow_it():
    """Far from 0 the ends are the sum ± 1.96 of its own spread, whatever the spreads of its parts."""
    gap, error = np.array([0.3, 0.3]), np.array([0.01, 0.01])
    for spread in (0.005, 0.02):
        low, high, middle = intervals.folded(gap, error, spread, np.inf, 0.95)
        assert (low, high, middle) == pytest.approx((0.6 - 1.96 * spread, 0.6 + 1.96 * spread, 0.6), abs=0.002)


def numbers(errors):
    gold = np.linspace(1, 9, len(errors))
    e = karat.evaluate(
        gold.round(4).tolist(),
        (gold + errors).round(4).tolist(),
        context="numbers",
        metrics=["rmse", "mae"],
        intervals=True,
    )
    return e["rmse"].interval, {f.code for f in e.findings}


def test_squares_that_a_few_units_decide_are_said_to_be():
    """Two errors of 9 among 300 of 0.5 are the spread of the squares; errors of two sizes are not."""
    two = np.where(np.arange(300) < 2, 9.0, 0.5)
    found, said = numbers(two)
    assert found.method == "tailed-t"
    assert "heavy-tails" in said
    square, n = two**2, 300
    left = np.sqrt((square.sum() - square) / (n - 1))
    d2 = (left.mean() - left) ** 2
    df = max(2 * d2.sum() ** 2 / ((d2**2).sum() - d2.sum() ** 2 / n), 2.0)
    skewness = ((left.mean() - left) ** 3).sum() / d2.sum() ** 1.5
    se = np.sqrt((n - 1) / n * d2.sum())
    low, high = intervals.hall(np.sqrt(square.mean()), se, skewness, df, 0.95)
    assert (found.low, found.high) == pytest.approx((max(low, 0.0), high))
    found, said = numbers(np.where(np.arange(300) % 2, 1.0, 0.5))
    assert found.method != "tailed-t"
    assert "heavy-tails" not in said


@pytest.mark.parametrize(
    ("metric", "said"), [("mce", True), ("ks", True), ("recall_at_precision", True), ("roc_auc", False)]
)
def test_scores_that_chance_chooses_say_so(metric, said):
    """Of 60 data sets of 100 items 68 % of the intervals of MCE held the truth, and 13 said nothing."""
    rng = np.random.default_rng(2)
    score = rng.random(60).round(4)
    gold = np.where(rng.random(60) < score, "yes", "no").tolist()
    e = karat.evaluate(gold, score.tolist(), context="probabilities", metrics=[metric], intervals=True, resamples=199)
    assert ("score-extreme" in {f.code for f in e.findings}) is said


def test_a_perfect_system_is_no_sum_of_distances():
    """Kappa of 1 is Σ |gold| / Σ gold for all weights, but nothing of it is folded: its interval holds it."""
    gold = ["a", "b", "a"]
    for metric in ("kappa", "mcc"):
        found = karat.evaluate(gold, gold, metrics=[metric], intervals=True)[metric].interval
        assert found.method == "rule-of-three"
        assert found.low < 1.0 == found.high


def test_resamples_that_all_lie_on_one_side_give_their_quantiles_where_leaving_out_shows_nothing():
    """ICM of a perfect system is gold's information, largest where both labels are as frequent: no resample is above it."""
    gold = ["a", "b"] * 50
    found = karat.evaluate(gold, gold, metrics=["icm"], intervals=True)["icm"].interval
    assert found.method == "bootstrap-percentile"
    assert 0.9 < found.low < 0.99
    assert found.high == 1.0
