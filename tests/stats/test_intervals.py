# SPDX-License-Identifier: Apache-2.0
"""Intervals of evaluations: on every score, by the method that fits, the same whatever the order of rows."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import karat
from karat.cli.main import karat as command
from karat.stats.intervals import wilson
from karat.stats.settings import METHODS

RNG = np.random.default_rng(0)
GOLD = RNG.choice(["A", "B", "C"], 300, p=[0.5, 0.3, 0.2])
PRED = np.where(RNG.random(300) < 0.8, GOLD, RNG.choice(["A", "B", "C"], 300))


def records(labels, case=lambda i: "T1", **more):
    return [
        {"test_case": case(i), "id": f"d{i}", "value": str(v)} | {k: f(i) for k, f in more.items()}
        for i, v in enumerate(labels)
    ]


@pytest.fixture(scope="module")
def evaluation():
    return karat.evaluate(GOLD, PRED, metrics=["all"], intervals=True, resamples=999)


def test_every_metric_has_an_interval_that_holds_its_score(evaluation):
    for score in evaluation.systems[0]:
        if score.value is not None:
            assert score.interval is not None, score.metric
            assert score.interval.low <= score.value <= score.interval.high, score.metric
            assert score.interval.level == 0.95
            assert score.interval.se >= 0


def test_classes_and_test_cases_have_intervals(evaluation):
    for part in evaluation["f1"].by_class.values():
        assert part.interval.low <= part.value <= part.interval.high
    for part in evaluation["f1"].by_test_case.values():
        assert part.interval == evaluation["f1"].interval


def test_the_method_fits_the_metric(evaluation):
    assert evaluation["accuracy"].interval.method == "wilson"
    assert evaluation["f1"].interval.method == "bootstrap-bca"
    assert evaluation["f1"].interval.resamples == 999
    # Recall of one class is a share of its gold members.
    assert evaluation["recall"].by_class["A"].interval.method == "wilson"
    hits, n = int(((GOLD == "A") & (PRED == "A")).sum()), int((GOLD == "A").sum())
    low, high = wilson(hits, n, 0.95)
    assert evaluation["recall"].by_class["A"].interval.low == pytest.approx(float(low))
    assert evaluation["recall"].by_class["A"].interval.high == pytest.approx(float(high))


@pytest.mark.parametrize("method", [m for m in METHODS if m != "auto"])
def test_every_method_can_be_asked_for(method):
    e = karat.evaluate(GOLD, PRED, metrics=["accuracy", "f1"], intervals=0.9, interval_method=method, resamples=499)
    interval = e["accuracy"].interval
    assert interval.level == 0.9
    assert 0.03 < interval.high - interval.low < 0.12
    if method in ("wilson", "clopper-pearson", "student-t"):
        assert e["f1"].interval is None


def test_order_of_rows_does_not_matter():
    order = np.random.default_rng(1).permutation(300)
    gold, pred = records(GOLD), records(PRED)
    one = karat.evaluate(gold, pred, intervals=True, resamples=299)
    two = karat.evaluate([gold[i] for i in order], [pred[i] for i in order[::-1]], intervals=True, resamples=299)
    for a, b in zip(one.systems[0], two.systems[0], strict=True):
        assert a.interval == b.interval


def test_seeds_matter_and_repeat():
    runs = [
        karat.evaluate(GOLD, PRED, metrics=["f1"], intervals=True, resamples=299, seed=s)["f1"].interval
        for s in (0, 0, 1)
    ]
    assert runs[0] == runs[1] != runs[2]


def test_several_test_cases_are_resampled_apart():
    half = lambda i: "T1" if i < 150 else "T2"
    e = karat.evaluate(
        records(GOLD, half), records(PRED, half), metrics=["f1", "accuracy"], intervals=True, resamples=999
    )
    whole, parts = e["accuracy"].interval, [p.interval for p in e["accuracy"].by_test_case.values()]
    # The mean of two independent halves: se² = (se₁² + se₂²)/4.
    assert whole.se == pytest.approx(np.sqrt(sum(p.se**2 for p in parts)) / 2, rel=0.07)
    assert e["f1"].by_class["A"].interval is not None


def test_clusters_are_drawn_whole():
    doc = lambda i: f"doc{i // 10}"
    spoiled = np.where((np.arange(300) // 10) % 3 == 0, "A", GOLD)
    items = karat.evaluate(records(GOLD), records(spoiled), metrics=["accuracy"], intervals=True)
    docs = karat.evaluate(
        records(GOLD, doc=doc), records(spoiled), metrics=["accuracy"], intervals=True, cluster_by="doc"
    )
    assert docs["accuracy"].interval.se > 1.5 * items["accuracy"].interval.se
    assert "few-clusters" in {f.code for f in docs.findings}
    assert docs.plan["intervals"]["cluster_by"] == "doc"


@pytest.mark.parametrize("method", sorted(METHODS))
def test_no_interval_leaves_the_range_of_its_metric(method):
    gold, pred = ["A", "B"] * 10, ["A", "B"] * 8 + ["B", "A"] * 2
    found = karat.evaluate(
        records(gold, doc=lambda i: "xy"[i // 12]), records(pred), metrics=["accuracy", "f1", "mcc", "hamming_loss"],
        intervals=True, interval_method=method, cluster_by="doc", resamples=100,
    )  # fmt: skip
    for score, low in zip(found.systems[0], [0, 0, -1, 0], strict=True):
        for part in (score, *score.by_class.values()):
            assert part.interval is None or low <= part.interval.low <= part.value <= part.interval.high <= 1
    if method in ("auto", "jackknife-t"):  # two clusters: t(1) = 12.7
        assert (found["accuracy"].interval.low, found["accuracy"].interval.high) == (0, 1)
        assert (found["mcc"].interval.low, found["mcc"].interval.high) == (-1, 1)


def test_unknown_cluster_column_is_an_error():
    with pytest.raises(karat.InputError, match="no column 'nope'"):
        karat.evaluate(records(GOLD), records(PRED), intervals=True, cluster_by="nope")


def test_findings_say_when_not_to_trust():
    e = karat.evaluate(GOLD[:12], PRED[:12], intervals=True, resamples=199)
    assert {"few-units", "rare-classes"} <= {f.code for f in e.findings}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"intervals": 1.5}, "between 0 and 1"),
        ({"interval_method": "magic"}, "not one of"),
        ({"resamples": 3}, "too few"),
    ],
)
def test_wrong_requests_are_explained(given, said):
    with pytest.raises(karat.MetricError, match=said):
        karat.evaluate(GOLD, PRED, **({"intervals": True} | given))


def test_command_line(tmp_path):
    for name, labels in (("gold", GOLD), ("pred", PRED)):
        (tmp_path / f"{name}.json").write_text(json.dumps(records(labels)))
    given = ["evaluate", str(tmp_path / "gold.json"), str(tmp_path / "pred.json"), "-m", "f1", "--report", "json"]
    result = CliRunner().invoke(
        command, [*given, "--intervals", "0.9", "--interval-method", "jackknife-t", "--seed", "3"]
    )
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert said["systems"][0]["metrics"][0]["interval"]["method"] == "jackknife-t"
    assert said["systems"][0]["metrics"][0]["interval"]["level"] == 0.9
    assert said["provenance"]["plan"]["intervals"]["method"] == "jackknife-t"
    default = CliRunner().invoke(command, [*given, "--intervals"])
    assert json.loads(default.stdout)["systems"][0]["metrics"][0]["interval"]["level"] == 0.95


def test_scores_without_intervals_do_not_wait_for_statistics():
    import subprocess
    import sys

    code = "import sys, karat; karat.evaluate(['A', 'B'], ['A', 'A']); sys.exit('karat.stats.intervals' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_resamples_without_a_score_are_said():
    gold, pred = ["A"] * 38 + ["B"] * 2, ["A"] * 39 + ["B"]
    e = karat.evaluate(gold, pred, metrics=["kappa"], intervals=True, interval_method="bca", resamples=499)
    assert "interval-undefined" in {f.code for f in e.findings}
    assert 0.05 < e["kappa"].interval.undefined < 0.2


def test_intervals_do_not_depend_on_the_other_metrics():
    one, many = (
        karat.evaluate(GOLD, PRED, metrics=m, intervals=True, resamples=299) for m in (["f1"], ["kappa", "f1", "icm"])
    )
    assert one["f1"].interval == many["f1"].interval
