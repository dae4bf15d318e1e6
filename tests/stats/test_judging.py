# SPDX-License-Identifier: Apache-2.0
"""Gold for a sample and a judge for all: through the whole pipeline, against formulas by hand."""

from __future__ import annotations

import json
from importlib.resources import files

import numpy as np
import pytest
from click.testing import CliRunner
from tests.stats.by_hand import reading_of_mean

import karat
from karat.cli.main import karat as command
from karat.stats.judge import powered, stratified

N, LABELLED = 600, 80
RNG = np.random.default_rng(21)
GOLD = RNG.choice(["A", "B", "C"], N, p=[0.5, 0.3, 0.2])
PRED = np.where(RNG.random(N) < 0.8, GOLD, RNG.choice(["A", "B", "C"], N))
JUDGE = np.where(RNG.random(N) < 0.9, GOLD, "A")
SAMPLE = RNG.permutation(N)[:LABELLED]
REST = np.setdiff1d(np.arange(N), SAMPLE)


def records(labels, rows=range(N)):
    return [{"id": f"u{i}", "value": str(labels[i]), "language": "de" if i % 3 else "en"} for i in rows]


def evaluated(**more):
    given = {"metrics": ["accuracy", "f1"], **more}
    return karat.evaluate(records(GOLD, SAMPLE), records(PRED), judge=records(JUDGE), **given)


def by_hand(inside=slice(None)):
    kept = lambda rows: np.intersect1d(rows, np.arange(N)[inside])
    right = lambda labels, rows: (labels[kept(rows)] == PRED[kept(rows)]).astype(float)
    return powered(*(reading_of_mean(right(x, rows)) for x, rows in ((GOLD, SAMPLE), (JUDGE, SAMPLE), (JUDGE, REST))))


def test_a_mean_is_the_prediction_powered_one():
    found, expected = evaluated().judged[0], by_hand()
    assert found.value == pytest.approx(expected.estimate)
    assert found.interval.se == pytest.approx(expected.se)
    assert (found.interval.low, found.interval.high) == pytest.approx(expected.interval(0.95))
    assert found.weight == pytest.approx(expected.weight)
    assert found.effective == pytest.approx(expected.effective)
    assert found.gold_value == pytest.approx((GOLD[SAMPLE] == PRED[SAMPLE]).mean())
    assert found.judge_value == pytest.approx((JUDGE == PRED).mean())
    assert (found.labelled, found.unlabelled) == (LABELLED, N - LABELLED)


def test_strata_are_weighted_by_their_share_of_all_units():
    found = evaluated(judge_strata="language").judged[0]
    german = np.arange(N) % 3 > 0
    expected = stratified([by_hand(german), by_hand(~german)], [german.sum(), (~german).sum()])
    assert found.value == pytest.approx(expected.estimate)
    assert found.interval.se == pytest.approx(expected.se)


def test_differences_of_systems_are_paired():
    other = np.where(RNG.random(N) < 0.7, GOLD, "C")
    found = karat.evaluate(
        {f"u{i}": str(GOLD[i]) for i in SAMPLE},
        [{f"u{i}": str(x[i]) for i in range(N)} for x in (PRED, other)],
        names=["one", "two"], judge={f"u{i}": str(JUDGE[i]) for i in range(N)}, metrics=["accuracy"],
    ).judged  # fmt: skip
    assert [s.system for s in found] == ["one", "two", "one − two"]
    gap = lambda labels, rows: (labels[rows] == PRED[rows]).astype(float) - (labels[rows] == other[rows]).astype(float)
    order = np.array(sorted(SAMPLE, key=lambda i: f"u{i}"))
    by_hand = powered(*(reading_of_mean(gap(x, rows)) for x, rows in ((GOLD, order), (JUDGE, order), (JUDGE, REST))))
    assert found[2].value == pytest.approx(by_hand.estimate)
    assert found[2].interval.se == pytest.approx(by_hand.se)
    assert found[2].value != pytest.approx(found[2].judge_value)


def test_a_metric_of_counts_uses_the_judge_too():
    found = next(s for s in evaluated().judged if s.metric.name == "f1")
    alone = karat.evaluate(records(GOLD, SAMPLE), records(PRED, SAMPLE), metrics=["f1"])["f1"].value
    assert found.gold_value == pytest.approx(alone)
    assert found.interval.se < found.gold_interval.se
    assert found.effective > LABELLED


def test_rankings_have_queries_as_units():
    rng = np.random.default_rng(2)
    qrel = {f"q{q}": {f"d{d}": int(rng.random() < 0.4) for d in range(8)} for q in range(60)}
    guess = {q: {d: g if rng.random() < 0.9 else 1 - g for d, g in docs.items()} for q, docs in qrel.items()}
    run = {q: {d: float(rng.random() + g) for d, g in docs.items()} for q, docs in qrel.items()}
    first = {q: qrel[q] for q in list(qrel)[:20]}
    whole = karat.evaluate(guess, run, context="ranking", metrics=["ndcg"])
    found = karat.evaluate(first, run, judge=guess, context="ranking", metrics=["ndcg"]).judged[0]
    assert (found.labelled, found.unlabelled) == (20, 40)
    assert found.judge_value == pytest.approx(whole["ndcg"].value)


@pytest.mark.parametrize("rows", [REST, SAMPLE])
def test_a_judge_must_label_the_sample_and_more(rows):
    with pytest.raises(karat.InputError) as error:
        karat.evaluate(records(GOLD, SAMPLE), records(PRED), judge=records(JUDGE, rows), metrics=["accuracy"])
    assert [f.code for f in error.value.findings] == ["judge-overlap"]


def test_few_labels_and_gold_without_judge_are_said():
    few = karat.evaluate(records(GOLD, SAMPLE[:10]), records(PRED), judge=records(JUDGE), metrics=["accuracy"])
    assert "few-labels" in [f.code for f in few.findings]
    most = np.setdiff1d(np.arange(N), SAMPLE[:5])
    lacks = karat.evaluate(records(GOLD, SAMPLE), records(PRED), judge=records(JUDGE, most), metrics=["accuracy"])
    assert "judge-lacks-gold" in [f.code for f in lacks.findings]
    assert lacks.judged[0].labelled == LABELLED - 5


def test_a_stratum_without_gold_is_named():
    judge = [row | {"language": "fr" if i in REST[:30] else row["language"]} for i, row in enumerate(records(JUDGE))]
    with pytest.raises(karat.MetricError, match="'fr'"):
        karat.evaluate(records(GOLD, SAMPLE), records(PRED), judge=judge, judge_strata="language", metrics=["accuracy"])


def test_units_of_the_judge_that_no_side_gives_a_stratum_are_one_of_their_own():
    """The last units by name have no language; they are a stratum of their own, as if they had a blank one."""
    last = [f"u{i}" for i in range(N) if f"u{i}" >= "u6"]
    without = lambda rows: [{k: v for k, v in row.items() if k != "language" or row["id"] not in last} for row in rows]
    blank = lambda rows: [row | {"language": "" if row["id"] in last else row["language"]} for row in rows]
    found = [
        karat.evaluate(
            change(records(GOLD, SAMPLE)), records(PRED), judge=change(records(JUDGE)), judge_strata="language",
            metrics=["accuracy"],
        ).judged[0].value
        for change in (without, blank)
    ]  # fmt: skip
    assert found[0] == pytest.approx(found[1])


def test_every_report_shows_the_judge():
    found = evaluated()
    for report in ("table", "markdown", "latex", "html"):
        assert "gold and judge" in found.render(report)
    data = json.loads(found.to_json())
    assert data["judged"][0]["labelled"] == LABELLED
    assert data["provenance"]["judge"]["role"] == "judge"
    schema = json.loads(files("karat.report").joinpath("report-1.schema.json").read_text(encoding="utf-8"))
    pytest.importorskip("jsonschema").validate(data, schema)


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, rows in (("gold", records(GOLD, SAMPLE)), ("pred", records(PRED)), ("judge", records(JUDGE))):
        (tmp_path / f"{name}.json").write_text(json.dumps(rows))
    words = ["evaluate", "gold.json", "pred.json", "-m", "accuracy", "--judge", "judge.json"]
    plain, split = (CliRunner().invoke(command, [*words, *more]) for more in ([], ["--judge-strata", "language"]))
    assert plain.exit_code == split.exit_code == 0
    assert "With a judge" in plain.output
    assert plain.output != split.output


def test_intervals_with_a_judge_end_where_scores_must():
    truth = ["A", "B"] * 100
    system = [*truth[:199], "A"]
    by_id = lambda labels, ids: {str(i): labels[i] for i in ids}
    guess = ["A", "B"] * 90 + ["B", "A"] * 10
    e = karat.evaluate(
        by_id(truth, range(169, 200)),
        by_id(system, range(200)),
        judge=by_id(guess, range(200)),
        metrics=["accuracy", "f1"],
    )
    for found in e.judged:
        assert 0 <= found.interval.low <= found.interval.high <= 1
        assert found.gold_interval.high <= 1


def test_a_stratum_without_units_of_the_judge_alone_is_named_with_both_numbers():
    english = [i for i in SAMPLE if i % 3 == 0]
    judge = records(JUDGE, [*english, *(i for i in range(N) if i % 3)])
    with pytest.raises(karat.MetricError, match=f"'en' {len(english)} units have gold and 0 have the judge alone"):
        karat.evaluate(records(GOLD, SAMPLE), records(PRED), judge=judge, judge_strata="language", metrics=["accuracy"])


def test_a_judge_of_page_streams_labels_bundles_that_gold_lacks():
    """With pages of one side left out, gold's bundles are the sample, and no bundle without pages is a unit of it."""
    rng = np.random.default_rng(5)
    bundle = lambda i, first: {
        "document_id": f"b{i}", "pages": [{"number": j + 1, "is_first_page": bool(f)} for j, f in enumerate(first)]
    }  # fmt: skip
    truth = [[True, *(rng.random(3) < 0.4)] for _ in range(60)]
    turned = lambda share: [
        bundle(i, [f ^ (j > 0 and rng.random() < share) for j, f in enumerate(row)]) for i, row in enumerate(truth)
    ]
    gold, pred, judge = [bundle(i, row) for i, row in enumerate(truth)][::2], turned(0.2), turned(0.1)
    e = karat.evaluate(gold, pred, judge=judge, metrics=["straight_through"], missing_pages="truncate", intervals=True)
    found = e.judged[0]
    assert (found.labelled, found.unlabelled) == (30, 30)
    alone = karat.evaluate(gold, pred[::2], metrics=["straight_through"], intervals=True)["straight_through"]
    assert found.gold_value == alone.value
    assert e["straight_through"].interval == alone.interval
