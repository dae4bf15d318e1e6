# SPDX-License-Identifier: Apache-2.0
"""Confidence sequences and e-values of scores and comparisons, through the whole pipeline."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import special
from scipy.stats import ttest_1samp
from tests.stats.systems import GOLD, SYSTEMS, N, records

import karat
from karat.cli.main import karat as command
from karat.stats.sequential import asymptotic_reach, confidence_sequence, e_value

TWO = {"good": SYSTEMS["good"], "poor": SYSTEMS["poor"]}


def test_shares_have_the_beta_binomial_sequence():
    found = karat.evaluate(
        GOLD, SYSTEMS["fair"], metrics=["accuracy"], intervals=0.9, interval_method="anytime"
    )["accuracy"].interval  # fmt: skip
    hits = float((SYSTEMS["fair"] == GOLD).sum())
    n = len(GOLD)
    assert found.method == "anytime"
    for end in (found.low, found.high):
        evidence = special.betaln(hits + 0.5, n - hits + 0.5) - special.betaln(0.5, 0.5)
        assert evidence - hits * np.log(end) - (n - hits) * np.log(1 - end) == pytest.approx(np.log(10), abs=1e-5)


def test_other_metrics_have_the_asymptotic_one():
    wide, narrow = (
        karat.evaluate(GOLD, SYSTEMS["poor"], metrics=["kappa"], intervals=True, interval_method=m)["kappa"]
        for m in ("anytime", "jackknife-t")
    )
    assert wide.interval.method == "anytime-asymptotic"
    reach = asymptotic_reach(len(GOLD), 0.95) * narrow.interval.se
    assert wide.interval.low == pytest.approx(wide.value - reach)


def test_the_e_value_of_a_difference_is_that_of_wins_and_losses():
    pair = karat.compare(GOLD, TWO, metrics=["accuracy"], resamples=199, sequential=True).pairs[0]
    wins, losses = pair.effect.win, pair.effect.loss
    log_e = special.betaln(wins + 0.5, losses + 0.5) - special.betaln(0.5, 0.5) + (wins + losses) * np.log(2)
    assert pair.tests[0].statistic == pytest.approx(np.exp(log_e))
    assert pair.p == pytest.approx(np.exp(-log_e))
    assert pair.verdict == "better"


def test_interval_and_test_agree():
    d = (SYSTEMS["fair"] == GOLD).astype(float) - (SYSTEMS["even"] == GOLD).astype(float)
    several = {"fair": SYSTEMS["fair"], "even": SYSTEMS["even"]}
    pair = karat.compare(GOLD, several, metrics=["accuracy"], resamples=199, sequential=True).pairs[0]
    low, high = confidence_sequence(d, np.ones(len(d)), 0.95, (-1, 1))
    assert (pair.interval.low, pair.interval.high) == pytest.approx((low, high), abs=1e-7)
    assert (low <= 0 <= high) == (pair.verdict == "inconclusive")


def test_metrics_of_counts_and_clusters_are_asymptotic():
    given = records(GOLD, doc=lambda i: str(i // 4))
    several = {name: records(p) for name, p in TWO.items()}
    for more in ({"metrics": ["f1"]}, {"metrics": ["accuracy"], "cluster_by": "doc"}):
        pair = karat.compare(given, several, resamples=199, sequential=True, **more).pairs[0]
        assert pair.tests[0].name == "e-value, asymptotic"
        assert pair.simultaneous.method == "anytime-asymptotic"
        assert pair.verdict == "better"


def test_identical_systems_are_no_evidence():
    same = {"a": SYSTEMS["fair"], "b": SYSTEMS["fair"]}
    for pair in karat.compare(GOLD, same, metrics=["accuracy", "f1"], resamples=199, sequential=True).pairs:
        assert pair.p == 1
        assert pair.verdict == "inconclusive"


@pytest.mark.parametrize("more", [{"correction": "tukey"}, {"one_sided": True}])
def test_what_does_not_go_together_is_refused(more):
    with pytest.raises(karat.MetricError):
        karat.compare(GOLD, TWO, metrics=["accuracy"], sequential=True, **more)


def test_the_command_and_reports(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, labels in {"gold": GOLD, **TWO}.items():
        (tmp_path / f"{name}.csv").write_text("id,value\n" + "".join(f"{i},{v}\n" for i, v in enumerate(labels)))
    words = ["compare", "gold.csv", "good.csv", "poor.csv", "-m", "accuracy", "--sequential"]
    for report in ("table", "markdown", "html", "json"):
        found = CliRunner().invoke(command, [*words, "--report", report])
        assert found.exit_code == 0, found.output
        assert "e-value" in found.output


@pytest.mark.slow
def test_comparisons_that_are_looked_at_again_and_again_keep_their_level():
    """300 pairs of equal systems on data that grow to 400 units, looked at 20 times (standard error of .05: .013)."""
    rng, called, at_once = np.random.default_rng(13), 0, 0
    for _ in range(300):
        d = rng.choice([-1.0, 0.0, 1.0], 400, p=[0.15, 0.7, 0.15])
        looks = [d[:n] for n in range(20, 401, 20)]
        called += any(e_value(x, np.ones(len(x)), 0.0, (-1, 1)) >= 20 for x in looks)
        at_once += any(ttest_1samp(x, 0).pvalue <= 0.05 for x in looks)
    assert called / 300 <= 0.05 + 2 * 0.013
    assert at_once / 300 > 0.15


def test_leaderboards_of_growing_data_hold_at_every_look_too():
    """They showed the intervals of one look beside pairs that hold at all."""
    gold = ["yes", "no"] * 100
    systems = {"new": ["yes", "no"] * 90 + ["yes", "yes"] * 10, "old": ["yes", "no"] * 75 + ["yes", "yes"] * 25}
    c = karat.compare(gold, systems, metrics=["accuracy"], sequential=True)
    assert {s["accuracy"].interval.method for s in c.evaluation.systems} == {"anytime"}
    asked = karat.compare(gold, systems, metrics=["accuracy"], sequential=True, interval_method="wilson")
    assert {s["accuracy"].interval.method for s in asked.evaluation.systems} == {"wilson"}


def test_the_units_of_all_test_cases_count():
    """The mean over test cases of a quarter and three quarters of the items has the sequence of all of them."""
    case = lambda i: f"T{i % 4 == 0}"
    systems = {name: records(side, case) for name, side in TWO.items()}
    c = karat.compare(records(GOLD, case), systems, metrics=["accuracy"], resamples=199, sequential=True)
    found = c.pairs[0].interval
    assert found.method == "anytime-asymptotic"
    assert (found.high - found.low) / 2 / found.se == pytest.approx(asymptotic_reach(N, 0.95))
