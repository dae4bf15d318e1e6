# SPDX-License-Identifier: Apache-2.0
"""What a comparison says: verdicts, leaderboard, reports, gates, the command."""

from __future__ import annotations

import csv
import io
import json
import pickle
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from tests.stats.systems import GOLD, SYSTEMS, records

import karat
from karat.ci import gates
from karat.cli.main import karat as command
from karat.pytest_plugin import assert_not_worse  # noqa: F401 - the fixture


def test_verdicts_and_sentences(comparison):
    assert comparison.pair("good", "poor", "f1").verdict == "better"
    assert comparison.pair("poor", "good", "f1").verdict == "worse"
    assert comparison.pair("fair", "even", "f1").verdict == "inconclusive"
    said = comparison.pair("good", "poor", "f1").sentence
    assert said.startswith("good is better than poor on F1")
    assert "Holm-corrected p" in said
    assert "cannot be told apart" in comparison.pair("fair", "even", "kappa").sentence


def test_leaderboard(comparison):
    board = next(iter(comparison.leaderboards.values()))
    assert board[0].system == "good"
    assert [p.rank for p in board] == [1, 2, 3, 4]
    assert board[0].low == 1
    assert board[-1].low == board[-1].high == 4
    middle = {p.system: p for p in board}
    assert middle["fair"].high == 3
    assert set(middle["fair"].groups) & set(middle["even"].groups)
    assert not set(middle["fair"].groups) & set(middle["poor"].groups)


def test_disagreements(comparison):
    rows = comparison.disagreements("good", "poor", "accuracy")
    a, b = (SYSTEMS[n] == GOLD for n in ("good", "poor"))
    assert len(rows) == int((a != b).sum())
    assert sum(r["wins"] == "good" for r in rows) == int((a & ~b).sum())
    assert [r["gain"] for r in rows] == sorted((r["gain"] for r in rows), reverse=True)
    back = comparison.disagreements("poor", "good", "accuracy")
    assert {r["id"] for r in back if r["wins"] == "good"} == {r["id"] for r in rows if r["wins"] == "good"}


@pytest.mark.parametrize("report", ["table", "markdown", "latex", "tsv", "csv", "json", "html"])
def test_reports(comparison, report):
    text = comparison.render(report)
    for name in SYSTEMS:
        assert name in text
    assert "nan" not in text.lower().replace("provenance", "")
    if report == "json":
        assert json.loads(text)["family"]["size"] == 24
    if report == "csv":
        assert len(list(csv.DictReader(io.StringIO(text)))) == 24


def test_page_is_well_formed_and_stands_alone(comparison):
    text = comparison.to_html()
    charts = [chart.split("</svg>")[0] + "</svg>" for chart in text.split("<figure>")[1:]]
    assert sum("Difference of" in c or "p-values" in c for c in charts) == 4 * 2
    for chart in charts:
        ElementTree.fromstring(chart[chart.index("<svg") :])
    assert "://" not in text.replace("http://www.w3.org/2000/svg", "")


def test_frames(comparison):
    assert len(comparison.to_pandas()) == len(comparison.to_polars()) == 24


def test_unknown_reports_and_metrics_suggest(comparison):
    with pytest.raises(karat.MetricError, match="markdown"):
        comparison.render("markdwn")
    with pytest.raises(karat.MetricError, match="this comparison has "):
        comparison.of("mcc")
    with pytest.raises(karat.MetricError, match="not compared"):
        comparison.pair("good", "nobody", "f1")


def test_gate_has_three_outcomes():
    base = {"metrics": ["accuracy"], "baseline": "fair", "resamples": 199}
    c = karat.compare(GOLD, {k: SYSTEMS[k] for k in ("good", "even", "poor", "fair")}, **base)
    assert {g.system: g.outcome for g in gates(c)} == {"good": "not worse", "even": "inconclusive", "poor": "worse"}
    assert {g.system: g.outcome for g in gates(c, margin=0.2)}["even"] == "not worse"


def test_assert_not_worse(assert_not_worse):  # noqa: F811
    assert_not_worse(GOLD, SYSTEMS["good"], SYSTEMS["fair"], metrics=["accuracy"])
    with pytest.raises(AssertionError, match="worse than baseline on Accuracy"):
        assert_not_worse(GOLD, SYSTEMS["poor"], SYSTEMS["fair"], metrics=["accuracy"])
    with pytest.raises(AssertionError, match="not shown"):
        assert_not_worse(GOLD, SYSTEMS["even"], SYSTEMS["fair"], metrics=["accuracy"], inconclusive="fail")


@pytest.fixture
def files(tmp_path):
    for name, labels in {"gold": GOLD, **SYSTEMS}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(records(labels)))
    return tmp_path


def run(files, *args):
    given = [str(files / f"{a}.json") if a in ("gold", *SYSTEMS) else a for a in args]
    return CliRunner().invoke(command, ["compare", *given, "--resamples", "199"])


def test_command_reports(files):
    result = run(files, "gold", "good", "poor", "-m", "f1")
    assert result.exit_code == 0, result.output
    assert "good is better than poor on F1" in result.stdout
    assert json.loads(run(files, "gold", "good", "poor", "-m", "f1", "--report", "json").stdout)["pairs"]


def test_command_gate(files):
    worse = run(files, "gold", "poor", "good", "-m", "accuracy", "--fail-if-worse", "good.json")
    assert worse.exit_code == 1
    assert "failed: poor is worse than good" in worse.stderr
    assert run(files, "gold", "good", "poor", "-m", "accuracy", "--fail-if-worse", "poor.json").exit_code == 0
    unsure = ["gold", "even", "fair", "-m", "accuracy", "--fail-if-worse", "fair.json"]
    assert run(files, *unsure).exit_code == 0
    assert run(files, *unsure, "--inconclusive", "fail").exit_code == 1
    assert run(files, "gold", "even", "fair", "--fail-if-worse", "nobody").exit_code == 2


def test_command_disagree(files):
    target = files / "units.csv"
    assert run(files, "gold", "good", "poor", "-m", "accuracy", "--disagree", str(target)).exit_code == 0
    rows = list(csv.DictReader(target.open()))
    assert {r["wins"] for r in rows} == {"good", "poor"}
    shown = run(files, "gold", "good", "poor", "-m", "accuracy", "--disagree", "-")
    assert len(shown.stdout.splitlines()) == len(rows) + 1


def test_comparisons_can_be_pickled(comparison):
    again = pickle.loads(pickle.dumps(comparison))
    assert again.to_json() == comparison.to_json()
    with pytest.raises(karat.MetricError, match="compare again"):
        again.disagreements("good", "poor")


def test_charts_share_their_groups_with_the_table(comparison):
    charts = comparison.charts()
    assert len(charts) == 12  # a forest, a matrix and groups for each of four metrics
    assert all(chart.startswith("<svg") for chart in charts)


def test_warnings_stand_in_every_report():
    """Few clusters and rare classes: on stderr for a terminal, in the report itself for what is handed on."""
    gold = [{"id": str(i), "value": "ABC"[i % 2 if i > 3 else 2], "doc": f"d{i // 5}"} for i in range(40)]
    given = {
        n: [{"id": r["id"], "value": r["value"] if i % k else "A"} for i, r in enumerate(gold)]
        for n, k in (("x", 9), ("y", 3))
    }
    c = karat.compare(gold, given, metrics=["f1"], cluster_by="doc", resamples=100, draws=99)
    e = karat.evaluate(gold, given["x"], metrics=["f1"], cluster_by="doc", intervals=True, resamples=100)
    for report in ("markdown", "latex", "html", "json"):
        for found in (c.render(report), e.render(report)):
            assert "8 clusters are few" in found, report
            assert "fewer than 10 gold members" in found, report
    assert {"few-clusters", "rare-classes"} <= {f.code for f in c.evaluation.findings}
