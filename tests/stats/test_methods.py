# SPDX-License-Identifier: Apache-2.0
"""Methods of several runs, from files and columns to verdicts, against the analysis of variance by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats
from tests.stats.by_hand import influence_of_means

import karat
from karat.cli.main import karat as command
from karat.stats.runs import nested, nested_difference

N = 200
RNG = np.random.default_rng(11)
GOLD = RNG.choice(["A", "B", "C"], N, p=[0.5, 0.3, 0.2])
HARD = RNG.random(N)


def run(accuracy):
    wrong = HARD + RNG.normal(0, 0.2, N) > accuracy + RNG.normal(0, 0.02)
    return np.where(wrong, np.where(GOLD == "A", "B", "A"), GOLD)


NEW, OLD = [run(0.85) for _ in range(5)], [run(0.7) for _ in range(4)]


def of(runs):
    x = np.array([(r == GOLD).astype(float) for r in runs])
    return x.mean(1), influence_of_means(x)


@pytest.fixture(scope="module")
def compared():
    methods = {"new": karat.Runs(NEW), "old": karat.Runs(OLD)}
    return karat.compare(GOLD, methods, metrics=["accuracy", "f1"], resamples=199)


def test_means_and_intervals_are_those_of_the_analysis_of_variance(compared):
    by_hand = nested(*of(NEW))
    found = next(m for m in compared.evaluation.methods if m.method == "new")
    assert found.value == pytest.approx(by_hand.estimate)
    assert (found.interval.low, found.interval.high) == pytest.approx(by_hand.interval(0.95))
    assert found.deviation == pytest.approx(of(NEW)[0].std(ddof=1))
    assert found.runs_share == pytest.approx(by_hand.runs_share)


def test_documents_are_the_units_of_methods_too():
    """Fifty documents of four items each: the mean of a document is what a unit scores."""
    gold = [{"id": f"u{i}", "value": label, "document": f"d{i // 4}"} for i, label in enumerate(GOLD.tolist())]
    as_records = lambda runs: karat.Runs([{f"u{i}": label for i, label in enumerate(run.tolist())} for run in runs])
    given = {"new": as_records(NEW), "old": as_records(OLD)}
    found = karat.compare(gold, given, metrics=["accuracy"], resamples=199, cluster_by="document")
    means = [np.array([(run == GOLD).reshape(50, 4).mean(1) for run in runs]) for runs in (NEW, OLD)]
    sides = [(x.mean(1), influence_of_means(x)) for x in means]
    scores = {m.method: m for m in found.evaluation.methods}
    for name, side in zip(("new", "old"), sides, strict=True):
        assert scores[name].interval.se == pytest.approx(nested(*side).se)
    assert found.pair("new", "old", "accuracy").interval.se == pytest.approx(nested_difference(*sides).se)


def test_differences_of_methods_are_those_by_hand(compared):
    by_hand = nested_difference(of(NEW), of(OLD))
    pair = compared.pair("new", "old", "accuracy")
    assert pair.difference == pytest.approx(by_hand.estimate)
    assert pair.p == pytest.approx(by_hand.p())
    assert (pair.interval.low, pair.interval.high) == pytest.approx(by_hand.interval(0.95))
    assert (pair.runs.a, pair.runs.b) == (5, 4)


def test_any_metric_has_its_error_by_the_jackknife(compared):
    def f1(gold, pred):
        found = [2 * ((gold == c) & (pred == c)).sum() / ((gold == c).sum() + (pred == c).sum()) for c in "ABC"]
        return np.mean(found)

    scores, moved = [], []
    for r in NEW:
        without = np.array([f1(np.delete(GOLD, i), np.delete(r, i)) for i in range(N)])
        scores.append(f1(GOLD, r))
        moved.append((without.mean() - without) * np.sqrt((N - 1) / N))
    by_hand = nested(np.array(scores), np.array(moved))
    found = next(m for m in compared.evaluation.methods if m.method == "new" and m.metric.name == "f1")
    assert found.value == pytest.approx(by_hand.estimate)
    assert found.interval.se == pytest.approx(by_hand.se)


def test_intervals_end_where_differences_must():
    few = {"a": karat.Runs([NEW[0], OLD[0]]), "b": karat.Runs([OLD[1], NEW[1]])}
    for pair in karat.compare(GOLD, few, metrics=["accuracy"], resamples=199).pairs:
        for interval in (pair.interval, pair.simultaneous):
            assert -1 <= interval.low < interval.high <= 1


def test_methods_stand_on_the_leaderboard_not_their_runs(compared):
    assert compared.systems == ["new", "old"]
    places = next(iter(compared.leaderboards.values()))
    assert [p.system for p in places] == ["new", "old"]
    assert sum(p.best for p in places) == pytest.approx(1)
    assert len(compared.evaluation.systems) == 9


def test_every_report_shows_methods_and_runs(compared):
    for report in ("table", "markdown", "latex", "html"):
        assert "variance due to runs" in compared.render(report)
    data = json.loads(compared.to_json())
    assert data["pairs"][0]["runs"]["a"] == 5
    assert {m["method"] for m in data["evaluation"]["methods"]} == {"new", "old"}
    assert "Methods" in compared.evaluation.to_html()


def test_pairs_that_are_not_decided_say_what_would_decide_them():
    near = {"a": karat.Runs(NEW[:3]), "b": karat.Runs(NEW[3:])}
    pair = karat.compare(GOLD, near, metrics=["accuracy"], resamples=199).pairs[0]
    gap = nested_difference(of(NEW[:3]), of(NEW[3:]))
    assert pair.verdict == "inconclusive"
    assert pair.runs.needed == gap.runs_needed(gap.estimate)
    assert pair.needed == gap.units_needed(gap.estimate)
    assert "would need" in pair.sentence or "neither" in pair.sentence


def test_one_run_is_said_to_be_one():
    found = karat.compare(GOLD, {"new": karat.Runs(NEW), "old": OLD[0]}, metrics=["accuracy"], resamples=199)
    assert [f.code for f in found.findings].count("single-run") == 1


def test_paired_runs_take_away_what_they_share():
    shift = [np.where(RNG.random(N) < 0.1 * k, "X", "") for k in range(4)]
    spoilt = lambda r, s: np.where(s == "X", "C", r)
    a = karat.Runs([spoilt(NEW[0], s) for s in shift])
    b = karat.Runs([spoilt(OLD[0], s) for s in shift])
    wide, narrow = (
        karat.compare(GOLD, {"a": a, "b": b}, metrics=["accuracy"], resamples=199, paired_runs=p).pairs[0]
        for p in (False, True)
    )
    assert narrow.difference == pytest.approx(wide.difference)
    assert narrow.interval.se < wide.interval.se


def test_paired_runs_must_be_as_many():
    with pytest.raises(karat.MetricError, match="paired"):
        karat.compare(GOLD, {"new": karat.Runs(NEW), "old": karat.Runs(OLD)}, metrics=["accuracy"], paired_runs=True)


def test_corrections_that_swap_outcomes_are_refused():
    with pytest.raises(karat.MetricError, match="tukey"):
        karat.compare(GOLD, {"new": karat.Runs(NEW), "old": OLD[0]}, metrics=["accuracy"], correction="tukey")


def table(labels, **more):
    return [{"id": str(i), "value": str(v)} | more for i, v in enumerate(labels)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gold.json").write_text(json.dumps(table(GOLD)))
    for name, runs in (("n", NEW), ("o", OLD)):
        for i, r in enumerate(runs):
            (tmp_path / f"{name}{i}.json").write_text(json.dumps(table(r)))
    rows = [row for i, r in enumerate(NEW) for row in table(r, seed=i)]
    (tmp_path / "new.json").write_text(json.dumps(rows))
    (tmp_path / "new.jsonl").write_text("\n".join(map(json.dumps, rows)))
    lines = [f"{r['id']}\t{r['value']}\t{r['seed']}" for r in rows]
    (tmp_path / "new.tsv").write_text("\n".join(["id\tvalue\tseed", *lines]) + "\n")
    return tmp_path


def called(*words):
    found = CliRunner().invoke(command, words)
    assert found.exit_code == 0, found.output
    return found.output


def test_runs_from_files_and_from_a_column_are_the_same(folder):
    listed = json.loads(called("evaluate", "gold.json", "new=" + ",".join(f"n{i}.json" for i in range(5)),
                               "-m", "accuracy", "--intervals", "--report", "json", "-q"))["methods"]  # fmt: skip
    for file in ("new.json", "new.jsonl", "new.tsv"):
        split = json.loads(called("evaluate", "gold.json", f"new={file}", "--run", "seed", "-m", "accuracy",
                                  "--intervals", "--report", "json", "-q"))["methods"]  # fmt: skip
        assert split == listed


def test_the_command_compares_methods(folder):
    said = called(
        "compare", "gold.json", "new=n0.json,n1.json,n2.json", "old=o0.json,o1.json,o2.json", "-m", "accuracy"
    )
    assert "new is better than old on Accuracy" in said
    assert "2 methods (6 runs)" in said


def test_a_column_that_is_not_there_is_named(folder):
    found = CliRunner().invoke(command, ["evaluate", "gold.json", "new.tsv", "--run", "fold"])
    assert found.exit_code == 2
    assert "fold" in found.output
    assert "seed" in found.output


def test_frames_are_split_too():
    pl = pytest.importorskip("polars")
    rows = [row for i, r in enumerate(NEW) for row in table(r, seed=i)]
    for given in (rows, pl.DataFrame(rows), pl.DataFrame(rows).to_pandas()):
        found = karat.evaluate(table(GOLD), given, run="seed", metrics=["accuracy"])
        assert found.methods[0].value == pytest.approx(of(NEW)[0].mean())


def test_runs_that_differ_by_as_much_on_every_unit_say_nothing_of_the_best():
    methods = {"a": karat.Runs([["x", "x"]] * 2), "b": karat.Runs([["y", "y"]] * 2)}
    c = karat.compare(["x", "x"], methods, metrics=["accuracy"], resamples=199)
    assert [p.best for p in c.leaderboards[c.metrics[0]]] == [None, None]


def test_few_runs_leave_the_best_less_sure():
    """The errors of new runs follow Student's law with the fewest degrees of freedom of the two."""
    methods = {"new": karat.Runs(NEW[:2]), "old": karat.Runs(OLD[:2])}
    c = karat.compare(GOLD, methods, metrics=["accuracy"], resamples=199)
    parts = [nested(*of(runs)) for runs in (NEW[:2], OLD[:2])]
    df = min(p.df for p in parts)
    assert df < 30
    a, b = (of(runs)[1].mean(0) for runs in (NEW[:2], OLD[:2]))
    se = np.sqrt(((a - b) ** 2).sum() + sum(p.of_runs for p in parts))
    gap = np.mean([(r == GOLD).mean() for r in NEW[:2]]) - np.mean([(r == GOLD).mean() for r in OLD[:2]])
    assert c.leaderboards[c.metrics[0]][0].best == pytest.approx(stats.t.cdf(gap / se, df), abs=0.01)


def test_runs_that_never_vary_are_not_certain():
    """Three runs that are right on all 60 items: the rule of three, 1 − 0.025^(1/60) = 0.06; no units or runs are asked for."""
    gold, wrong = ["yes", "no"] * 30, ["no", "yes"] * 30
    same = karat.compare(
        gold,
        {"new": karat.Runs([gold] * 3), "old": karat.Runs([gold] * 3)},
        metrics=["accuracy"],
        detect=0.02,
        margin=0.05,
    )
    pair = same.pairs[0]
    assert (pair.interval.low, pair.interval.high) == pytest.approx((-0.0596, 0.0596), abs=1e-4)
    assert pair.interval.method == "rule-of-three"
    assert (pair.p, pair.needed, pair.mde) == (1.0, None, None)
    assert "would need" not in pair.sentence
    assert pair.equivalence.p == pytest.approx(0.95**60)
    assert same.evaluation.methods[0].interval.low == pytest.approx(0.9404, abs=1e-4)
    assert "difference-constant" in {f.code for f in same.findings}
    apart = karat.compare(gold, {"new": karat.Runs([gold] * 3), "old": karat.Runs([wrong] * 3)}, metrics=["accuracy"])
    assert apart.pairs[0].verdict == "better"
    assert apart.pairs[0].p == pytest.approx(2.0**-59)


def test_a_method_with_a_run_that_has_no_score_has_none():
    """Matthews' coefficient is undefined for a run that calls everything A."""
    methods = {"new": karat.Runs([NEW[0], np.full(N, "A")]), "old": karat.Runs(OLD)}
    found = karat.compare(GOLD, methods, metrics=["mcc"], resamples=199)
    new, old = found.evaluation.methods
    assert (new.method, new.runs, new.value, new.deviation, new.interval) == ("new", 2, None, None, None)
    assert old.value == pytest.approx(np.mean([karat.evaluate(GOLD, run, metrics=["mcc"])["mcc"].value for run in OLD]))


def test_test_cases_of_one_unit_are_the_sample_for_methods_and_designs_too():
    """They show no spread by themselves: 19 of one unit and one of two made p 2e-12, and 13 units enough."""
    rng = np.random.default_rng(3)
    sizes = [1] * 19 + [2]
    gold = [
        {"test_case": f"t{t}", "id": str(j), "value": "ab"[rng.integers(2)]}
        for t, n in enumerate(sizes)
        for j in range(n)
    ]
    one, other = (
        [row | {"value": row["value"] if rng.random() < right else "c"} for row in gold] for right in (0.8, 0.5)
    )
    single = karat.compare(gold, {"a": one, "b": other}, metrics=["accuracy"])
    runs = karat.compare(gold, {"a": karat.Runs([one] * 2), "b": karat.Runs([other] * 2)}, metrics=["accuracy"]).pairs[
        0
    ]
    se = single.pairs[0].interval.se
    assert runs.interval.se == pytest.approx(se, rel=0.1)
    assert karat.design(gold, {"a": one, "b": other}, metrics=["accuracy"], difference=0.1).needs[
        0
    ].se == pytest.approx(se, rel=0.1)
    assert all(0 < place.best < 1 for board in single.leaderboards.values() for place in board)
    alone = karat.evaluate(gold, one, metrics=["accuracy"], intervals=True)["accuracy"].interval
    method = karat.evaluate(gold, {"a": karat.Runs([one] * 2)}, metrics=["accuracy"], intervals=True).methods[0]
    assert method.interval.se == pytest.approx(alone.se, rel=0.1)


@pytest.mark.parametrize(("left", "right"), [(3, 2), (6, 5), (1, 3), (3, 3)])
def test_runs_that_are_all_alike_do_not_differ_by_rounding(left, right):
    """The mean of six equal scores is another number than that of five in its last digit: p was .08."""
    gold = list("abc") * 10
    pred = ["x" if i % 10 > 6 else label for i, label in enumerate(gold)]
    found = karat.compare(
        gold, {"a": karat.Runs([pred] * left), "b": karat.Runs([pred] * right)}, metrics=["accuracy", "f1"]
    ).pairs
    assert [(p.difference, p.p, p.interval.se) for p in found] == [(0.0, 1.0, 0.0)] * 2


@pytest.mark.parametrize("sizes", [[1] * 19 + [2], [3] * 7, [21]])
@pytest.mark.parametrize("runs", [1, 2, 3])
def test_a_difference_that_is_the_same_for_every_unit_and_run_has_no_spread_from_rounding(sizes, runs):
    """p of runs was 0."""
    rng = np.random.default_rng(5)
    gold = [
        {"test_case": f"t{t}", "id": str(j), "value": 10 * rng.random()} for t, n in enumerate(sizes) for j in range(n)
    ]
    near = [row | {"value": row["value"] + x} for row, x in zip(gold, rng.random(len(gold)), strict=True)]
    far = [row | {"value": row["value"] + 2} for row in near]
    systems = (
        {"near": near, "far": far}
        if runs == 1
        else {"near": karat.Runs([near] * runs), "far": karat.Runs([far] * runs)}
    )
    pair = karat.compare(gold, systems, context="numbers", metrics=["mae"]).pairs[0]
    assert pair.difference == pytest.approx(-2)
    assert 1e-7 < pair.p < 1e-3
    assert pair.interval is None
