# SPDX-License-Identifier: Apache-2.0
"""One-sided tests, non-inferiority and almost stochastic order in comparisons, against SciPy and by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats
from tests.stats.systems import GOLD, SYSTEMS

import karat
from karat.stats.corrections import holm
from karat.stats.stochastic_order import violation

NEAR = {"even": SYSTEMS["even"], "fair": SYSTEMS["fair"]}


def compared(systems=NEAR, **more):
    return karat.compare(GOLD, systems, **{"metrics": ["accuracy", "f1", "hamming_loss"], "resamples": 199, **more})


def right(name):
    return (SYSTEMS[name] == GOLD).astype(float)


def test_one_sided_tests_are_those_of_scipy():
    pair = compared(one_sided=True).pair("even", "fair", "accuracy")
    by_name = {t.name: t.p for t in pair.tests}
    wins, losses = pair.effect.win, pair.effect.loss
    assert by_name["randomisation"] == pytest.approx(stats.binomtest(wins, wins + losses, alternative="greater").pvalue)
    assert by_name["paired t"] == pytest.approx(
        stats.ttest_rel(right("even"), right("fair"), alternative="greater").pvalue
    )
    assert pair.interval.level == pytest.approx(0.9)


def test_a_loss_is_never_called_worse_and_keeps_its_interval():
    several = {"poor": SYSTEMS["poor"], "good": SYSTEMS["good"]}
    for pair in compared(several, one_sided=True).pairs:
        assert pair.verdict == "inconclusive"
        assert pair.p > 0.99
        assert pair.gain_bounds[1] < 0


def test_the_direction_of_the_metric_counts():
    found = compared(one_sided=True)
    assert found.pair("even", "fair", "hamming_loss").p == pytest.approx(found.pair("even", "fair", "accuracy").p)


def test_one_sided_intervals_and_verdicts_agree():
    for pair in compared(SYSTEMS, one_sided=True, metrics=["accuracy"]).pairs:
        low, _ = pair.simultaneous_gain
        assert (low >= 0) == (pair.verdict == "better")


def test_non_inferiority_by_hand():
    found = compared(tests=["non-inferiority"], margin=0.03, metrics=["accuracy", "hamming_loss"])
    d = right("even") - right("fair")
    by_hand = stats.ttest_1samp(d, -0.03, alternative="greater").pvalue
    assert [p.non_inferiority.p for p in found.pairs] == pytest.approx(holm(np.array([by_hand, by_hand])))
    assert "at most 0.030 worse than" in found.pairs[0].sentence
    assert "p (non-inferiority)" in str(found)
    assert json.loads(found.to_json())["pairs"][0]["non_inferiority"]["one_sided"] is True


@pytest.mark.parametrize(
    ("correction", "corrected"), [("none", lambda p: p), ("bonferroni", lambda p: 2 * p), ("tukey", holm)]
)
def test_losses_are_corrected_as_differences_are_and_by_holm_where_those_have_a_joint_law(correction, corrected):
    """Both metrics say the same of the same items, and so have the same p."""
    alone = compared(tests=["non-inferiority"], margin=0.03, metrics=["accuracy"]).pairs[0].non_inferiority.p
    both = compared(tests=["non-inferiority"], margin=0.03, metrics=["accuracy", "hamming_loss"], correction=correction)
    assert [p.non_inferiority.p for p in both.pairs] == pytest.approx(corrected(np.array([alone, alone])))


def test_a_clear_loss_is_not_shown_to_be_small():
    several = {"poor": SYSTEMS["poor"], "good": SYSTEMS["good"]}
    pair = compared(several, tests=["non-inferiority"], margin=0.03, metrics=["accuracy"]).pairs[0]
    assert pair.non_inferiority.p > 0.99
    assert "not shown" in pair.sentence


def test_non_inferiority_needs_a_margin():
    with pytest.raises(karat.MetricError, match="margin"):
        compared(tests=["non-inferiority"])


def test_almost_stochastic_order_of_units_and_runs():
    pair = compared(tests=["aso"]).pair("even", "fair", "hamming_loss")
    order = next(t for t in pair.tests if t.name == "almost stochastic order")
    assert violation(right("even"), right("fair")) == 0
    assert order.statistic < 0.5
    runs = {"a": karat.Runs([SYSTEMS["good"], SYSTEMS["even"]]), "b": karat.Runs([SYSTEMS["fair"], SYSTEMS["poor"]])}
    pair = compared(runs, tests=["aso"], metrics=["accuracy"]).pairs[0]
    assert "over runs" in next(t for t in pair.tests if t.name == "almost stochastic order").note
    alone = compared(runs | {"b": karat.Runs([SYSTEMS["fair"]])}, tests=["aso"], metrics=["accuracy"]).pairs[0]
    assert "almost stochastic order" not in {t.name for t in alone.tests}  # of one score there is no law


def test_methods_are_tested_on_one_side_too():
    runs = {"a": karat.Runs([SYSTEMS["good"], SYSTEMS["even"]]), "b": karat.Runs([SYSTEMS["fair"], SYSTEMS["poor"]])}
    both, one = (compared(runs, metrics=["accuracy"], one_sided=s).pairs[0] for s in (False, True))
    assert one.p == pytest.approx(both.p / 2)
    loss = compared(runs, metrics=["hamming_loss"], one_sided=True).pairs[0]  # the less the better
    assert loss.p == pytest.approx(one.p)
    found = compared(runs, metrics=["accuracy"], tests=["non-inferiority"], margin=0.05).pairs[0]
    t = (found.gain + 0.05) / found.interval.se
    assert found.non_inferiority.statistic == pytest.approx(t)
