# SPDX-License-Identifier: Apache-2.0
"""Sample sizes from a pilot, through the whole pipeline, against hand formulas and fresh simulated evaluations."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner
from tests.stats.systems import GOLD, SYSTEMS, records
from tests.stats.test_methods import GOLD as TRUTH
from tests.stats.test_methods import NEW, OLD, of

import karat
from karat.cli.main import karat as command
from karat.stats.design import Aim, power_of, units_for
from karat.stats.runs import nested, nested_difference

TWO = {"good": SYSTEMS["good"], "fair": SYSTEMS["fair"]}


def gap():
    return (SYSTEMS["good"] == GOLD).astype(float) - (SYSTEMS["fair"] == GOLD).astype(float)


def test_units_for_a_difference_by_hand():
    found = karat.design(GOLD, TWO, difference=0.03, power=0.9, metrics=["accuracy"]).needs[0]
    assert found.value == pytest.approx(gap().mean())
    assert found.spread == pytest.approx(gap().std(ddof=1))
    assert found.needed == units_for(gap().std(ddof=1), Aim(0.03, power=0.9))


def test_any_metric_by_the_error_of_the_comparison():
    pair = karat.compare(GOLD, TWO, metrics=["f1"], resamples=199, draws=199).pairs[0]
    found = karat.design(GOLD, TWO, difference=0.03, metrics=["f1"]).needs[0]
    assert found.se == pytest.approx(pair.interval.se)
    assert found.needed == units_for(pair.interval.se * np.sqrt(len(GOLD)), Aim(0.03))


def test_the_width_of_an_interval():
    found = karat.design(GOLD, {"fair": SYSTEMS["fair"]}, width=0.02, metrics=["accuracy"]).needs[0]
    x = (SYSTEMS["fair"] == GOLD).astype(float)
    assert found.needed == units_for(x.std(ddof=1), Aim(width=0.02))


def test_clusters_stretch_the_sample():
    rng = np.random.default_rng(5)
    gold = rng.choice(["A", "B"], 600)
    bad = np.repeat(rng.random(30) < 0.3, 20) & (rng.random(600) < 0.8)
    pred = np.where(bad, np.where(gold == "A", "B", "A"), gold)
    given = records(gold, doc=lambda i: str(i // 20))
    found = karat.design(given, {"s": records(pred)}, width=0.05, metrics=["accuracy"], cluster_by="doc").needs[0]
    x = (pred == gold).astype(float)
    totals = (x - x.mean()).reshape(30, 20).sum(1)
    by_hand = 30 / 29 * (totals**2).sum() / 600**2
    assert found.se**2 == pytest.approx(by_hand, rel=0.01)
    assert found.clusters.effect == pytest.approx(by_hand / (x.var(ddof=1) / 600), rel=0.01)
    assert found.clusters.needed == np.ceil(found.needed / 20)


def test_runs_and_units_trade_off():
    found = karat.design(
        TRUTH, {"new": karat.Runs(NEW), "old": karat.Runs(OLD)}, difference=0.06, metrics=["accuracy"]
    ).needs[0]
    by_hand = nested_difference(of(NEW), of(OLD))
    aim = Aim(0.06)
    for runs, units in found.by_repeats:
        if units is None:
            assert power_of(*by_hand.at(runs=runs, units=10**8), aim) < 0.8
        else:
            assert power_of(*by_hand.at(runs=runs, units=units), aim) >= 0.8
    counts = [u for _, u in found.by_repeats if u is not None]
    assert counts == sorted(counts, reverse=True)


def test_annotators_are_views_of_the_same_systems():
    rng = np.random.default_rng(6)
    noise = lambda: np.where(rng.random(len(TRUTH)) < 0.9, TRUTH, "B")
    views = {f"ann{i}": noise() for i in range(4)}
    found = karat.design(
        TRUTH, {"new": NEW[0], "old": OLD[0]}, difference=0.05, annotators=views, metrics=["accuracy"]
    ).needs[0]
    x = np.array([(NEW[0] == v).astype(float) - (OLD[0] == v).astype(float) for v in views.values()])
    moved = (x - x.mean(1, keepdims=True)) / np.sqrt(len(TRUTH) * (len(TRUTH) - 1))
    by_hand = nested(x.mean(1), moved)
    assert found.repeated == "annotators"
    assert found.se == pytest.approx(by_hand.se)
    assert dict(found.by_repeats)[3] == units_for(lambda n: by_hand.at(runs=3, units=n), Aim(0.05))


def test_a_pilot_without_spread_plans_nothing():
    found = karat.design(GOLD, {"a": GOLD, "b": GOLD}, difference=0.02, metrics=["accuracy"])
    assert found.needs[0].needed is None
    assert "no spread" in str(found)


def test_a_pilot_in_which_a_system_has_no_score_plans_nothing():
    """The spread of the other system alone said how many units are needed, beside a difference of "nan"."""
    gold, never, some = list("abab") * 10, ["a"] * 40, list("abbb") * 10
    for more in (
        {"systems": {"x": never, "y": some}},
        {"systems": {"x": karat.Runs([never, some]), "y": karat.Runs([some] * 2)}},
    ):
        found = karat.design(gold, difference=0.1, metrics=["mcc", "accuracy"], **more)
        assert [n.value is None for n in found.needs] == [True, False]
        assert found.needs[0].needed is found.needs[0].se is found.needs[0].spread is None
        assert found.needs[1].se > 0
        assert "no score" in str(found)
        assert "nan" not in str(found)


def test_a_design_needs_an_aim():
    with pytest.raises(karat.MetricError, match="aim"):
        karat.design(GOLD, TWO, metrics=["accuracy"])


@pytest.mark.parametrize("report", ["table", "json", "markdown", "latex", "tsv", "csv"])
def test_the_command(report, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, labels in {"gold": GOLD, **TWO}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(records(labels)))
    words = ["design", "gold.json", "good.json", "fair.json", "-m", "accuracy", "--detect", "0.03", "--report", report]
    found = CliRunner().invoke(command, words)
    assert found.exit_code == 0, found.output
    needed = str(karat.design(GOLD, TWO, difference=0.03, metrics=["accuracy"]).needs[0].needed)
    assert needed in found.output.replace(",", "")


@pytest.mark.slow
def test_the_promised_power_is_there():
    """Pilot of 300 items, then 600 evaluations of the size it asks for: the standard error of .8 is .016, and the pilot's own."""
    rng = np.random.default_rng(7)
    draw = lambda n: rng.choice([0.0, 1.0, -1.0], n, p=[0.8, 0.125, 0.075])
    spread = np.sqrt(0.2 - 0.05**2)
    n = units_for(spread, Aim(0.05))
    d = np.array([draw(n) for _ in range(600)])
    t = d.mean(1) / (d.std(1, ddof=1) / np.sqrt(n))
    assert abs((abs(t) > 1.96).mean() - 0.8) < 0.05


@pytest.mark.parametrize(
    "aim",
    [{"difference": -1}, {"difference": 0}, {"width": 0}, {"margin": -0.1}, {"margin": 0.01, "difference": -0.02}],
)
def test_an_aim_that_means_nothing_is_refused(aim):
    """``--detect -1`` planned five units."""
    with pytest.raises(karat.MetricError, match=r"above 0|within a margin"):
        karat.design(["A", "B"] * 20, {"a": ["A", "B"] * 20, "b": ["A", "A"] * 20}, metrics=["accuracy"], **aim)


def test_units_without_a_cluster_stand_alone_in_a_design_too():
    """They were put in the cluster of the unit next to them."""
    rows = lambda values, clustered: [
        {"id": f"{i:03}", "value": v} | ({"doc": f"d{i // 5}"} if clustered and i < 60 else {})
        for i, v in enumerate(values)
    ]
    gold, right = ["A", "B"] * 60, [i // 5 % 3 > 0 for i in range(120)]
    a = [g if ok else "C" for g, ok in zip(gold, right, strict=True)]
    found = karat.design(
        rows(gold, True), {"a": rows(a, False), "b": rows(["A"] * 120, False)}, difference=0.1, metrics=["accuracy"], cluster_by="doc"
    ).needs[0]  # fmt: skip
    assert found.clusters.pilot == 12 + 60


def test_runs_are_looked_at_on_the_units_that_all_of_them_have():
    truth = {str(n): label for n, label in enumerate(TRUTH)}
    first, second = (dict(zip(truth, run, strict=True)) for run in NEW[:2])
    few = dict(list(second.items())[:-40])
    aim = {"width": 0.05, "metrics": ["accuracy"]}
    found = karat.design(truth, {"new": karat.Runs([first, few])}, missing="skip", **aim).needs[0]
    both = karat.design(
        dict(list(truth.items())[:-40]), {"new": karat.Runs([dict(list(first.items())[:-40]), few])}, **aim
    ).needs[0]
    assert (found.value, found.se, found.needed) == pytest.approx((both.value, both.se, both.needed))


def test_metrics_without_a_direction_have_differences_but_no_margin():
    gold, a, b = ["A", "B"] * 30, ["A", "B"] * 25 + ["A", "A"] * 5, ["A", "B"] * 22 + ["B", "B"] * 8
    given = {"metrics": ["support(average=micro)"], "context": "monolabel"}
    assert [n.what for n in karat.design(gold, {"a": a, "b": b}, difference=0.05, **given).needs] == ["a − b"]
    with pytest.raises(karat.MetricError, match="cannot say which system is better"):
        karat.design(gold, {"a": a, "b": b}, margin=0.05, **given)
