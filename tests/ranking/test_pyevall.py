"""PyEvALL's ranking results, or the bug of PyEvALL that explains the difference."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.metric import MetricError
from tests.oracle import Unavailable, ask, python
from tests.ranking import plain

DATA = Path(__file__).parents[1] / "data" / "pyevall_ranking.jsonl"
VECTORS = {v["name"]: v for v in map(json.loads, DATA.read_text(encoding="utf-8").splitlines())}
REFUSED: dict[str, type[Exception]] = {
    "rank_icm_on_ranking": MetricError,  # metrics of other contexts
}
"""PyEvALL gives no number, and neither does karat."""
NO_DEPTH = {"rank_param_03": "precision@0", "rank_param_08": "average_precision@0"}
"""PyEvALL gives 0 for the first 0 documents; karat says that there are none."""
BUGS = {
    "rank_ties_24": "Q17: tied ranks are sorted by an unstable quicksort, whose order is arbitrary beyond 16 rows",
    "rank_float_gold_and_pred": "whole numbers: the schema takes 1.0 for an integer, but no metric takes the file then",
    "rank_float_gold_only": "whole numbers: the schema takes 1.0 for an integer, but 1.0 and 1 are said to be of two types",
}
"""The last two have no number in the list of proven bugs; `test_whole_numbers_written_with_a_point` proves them."""
UNTOUCHED = {("rank_ties_24", "RPrecision"), ("rank_ties_24", "MRR")}
"""Metrics of those records that the bug leaves right."""
AS_THEY_STAND = [name for name in VECTORS if name not in REFUSED | BUGS | NO_DEPTH and name != "rank_string_values"]


def parameters(name: str, params: dict[str, Any]) -> dict[str, Any]:
    """What PyEvALL takes for the metric; values of a wrong type fall back to the default there."""
    said = {**params, **params.get("metric_params", {}).get(name, {})}
    k, r, p = (said.get(key) for key in ("k_param", "r_param", "p_param"))
    return {
        "k": k if type(k) is int else 10,
        "r": r if type(r) is int else 1000,
        "p": p if type(p) in (int, float) else 0.8,
    }


def metric(name: str, params: dict[str, Any]) -> str:
    """PyEvALL's metric in karat's words."""
    k, r, p = parameters(name, params).values()
    return {
        "PrecisionAtK": f"precision@{k}", "RPrecision": "r_precision", "MRR": "reciprocal_rank", "MAP": f"average_precision@{r}",
        "DCG": "dcg(gain=exponential)", "nDCG": "ndcg(gain=exponential)", "ERR": "err(scale=query)", "RBP": f"rbp(gain=raw,p={p})",
    }.get(name, name.lower())  # fmt: skip


def scored(vector: dict[str, Any], folder: Path, **more: str) -> karat.Evaluation:
    gold, pred = folder / f"gold.{vector['format']}", folder / f"pred.{vector['format']}"
    gold.write_text(vector["gold"], encoding="utf-8")
    pred.write_text(vector["pred"], encoding="utf-8")
    metrics = [metric(m, vector["params"]) for m in vector["metrics"]]
    given = {"missing_queries": "skip", "no_relevant": "undefined"} | more
    return karat.evaluate(gold, pred, context="ranking", metrics=metrics, **given)


def right(vector: dict[str, Any], name: str, query: str) -> float | None:
    return plain.score(vector, name, query, **parameters(name, vector["params"]))


def same(a: float | None, b: float | None) -> bool:
    return a == b if a is None or b is None else abs(a - b) <= 1e-9


@pytest.mark.parametrize("name", AS_THEY_STAND)
def test_vectors(name: str, tmp_path: Path) -> None:
    """Every query, and the mean, where PyEvALL counts an undefined query as 0 (Q8), as undefined=zero does."""
    vector = VECTORS[name]
    evaluation, zeros = scored(vector, tmp_path), scored(vector, tmp_path, undefined="zero")
    for theirs in vector["metrics"]:
        score = evaluation[metric(theirs, vector["params"])]
        expected = vector["results"][theirs]["test_cases"]
        assert set(score.by_test_case) == set(expected)
        for query, value in expected.items():
            assert same(score.by_test_case[query].value, value), (theirs, query)
        mean = score.value if vector["results"][theirs]["average"] is None else zeros[str(score.metric)].value
        assert same(mean, vector["results"][theirs]["average"]), theirs


@pytest.mark.parametrize("name", AS_THEY_STAND)
def test_the_second_opinion_is_pyevalls_where_no_bug_is(name: str) -> None:
    vector = VECTORS[name]
    for theirs in vector["metrics"]:
        for query, value in vector["results"][theirs]["test_cases"].items():
            assert same(right(vector, theirs, query), value), (theirs, query)


@pytest.mark.parametrize("name", BUGS)
def test_right_where_pyevall_has_a_bug(name: str, tmp_path: Path) -> None:
    vector = VECTORS[name]
    evaluation = scored(vector, tmp_path)
    for theirs in vector["metrics"]:
        for query, part in evaluation[metric(theirs, vector["params"])].by_test_case.items():
            expected = right(vector, theirs, query)
            assert same(part.value, expected), theirs
            shows = not same(vector["results"][theirs]["test_cases"].get(query), expected)
            assert shows == ((name, theirs) not in UNTOUCHED), (theirs, BUGS[name])


@pytest.mark.parametrize("name", REFUSED)
def test_refused_by_both(name: str, tmp_path: Path) -> None:
    assert all(r["status"] == "FAIL" for r in VECTORS[name]["results"].values())
    with pytest.raises(REFUSED[name]):
        scored(VECTORS[name], tmp_path)


@pytest.mark.parametrize("name", NO_DEPTH)
def test_the_first_0_documents_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(MetricError, match=f"{NO_DEPTH[name]}: the first k are 1 or more"):
        scored(VECTORS[name], tmp_path)


def test_numbers_in_quotes_are_numbers_where_rankings_are_named(tmp_path: Path) -> None:
    """PyEvALL refuses them; here they are what a CSV file of the same texts says."""
    quoted = VECTORS["rank_string_values"]
    plain_ones = quoted | {side: re.sub(r'"(\d)"', r"\1", quoted[side]) for side in ("gold", "pred")}
    with_quotes, without = (
        {m: s.value for m, s in scored(v, tmp_path).systems[0].scores.items()} for v in (quoted, plain_ones)
    )
    assert with_quotes == without


def test_every_record_has_one_outcome() -> None:
    assert not BUGS.keys() & REFUSED.keys()
    assert (len(VECTORS), len(AS_THEY_STAND), len(BUGS), len(REFUSED)) == (41, 34, 3, 1)


def live(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    try:
        python()
    except Unavailable as reason:
        pytest.skip(str(reason))
    files = {"gold_file": "gold.json", "pred_file": "pred.json"}
    return ask([files | {k: case[k] for k in ("gold", "pred", "metrics", "params")} for case in cases])


def test_ties_that_are_written_out() -> None:
    """PyEvALL gives the right values when the file's order is written as the ranks 1 to 24."""
    vector = VECTORS["rank_ties_24"]
    ranked = sorted(json.loads(vector["pred"]), key=lambda r: r["value"])
    (report,) = live([vector | {"pred": json.dumps([r | {"value": k} for k, r in enumerate(ranked, 1)])}])
    for theirs in vector["metrics"]:
        assert same(report["metrics"][theirs]["results"]["average_per_test_case"], right(vector, theirs, "q1")), theirs


def test_whole_numbers_written_with_a_point() -> None:
    """The schema finds no fault with 1.0, yet every metric fails; with 1 in its place each has the right value."""
    names = ["rank_float_gold_and_pred", "rank_float_gold_only"]
    whole = [VECTORS[n] | {r: VECTORS[n][r].replace("1.0", "1") for r in ("gold", "pred")} for n in names]
    spelt = live([VECTORS[n] for n in names])
    for name, with_point, report in zip(names, spelt, live(whole), strict=True):
        assert "FORMAT_INCORRECT_SCHEMA_JSON_ERROR" not in json.dumps(with_point["files"])
        for theirs in VECTORS[name]["metrics"]:
            assert with_point["metrics"][theirs]["status"] == "FAIL"
            found = report["metrics"][theirs]["results"]["average_per_test_case"]
            assert same(found, right(VECTORS[name], theirs, "q")), theirs


def test_undefined_is_not_zero(tmp_path: Path) -> None:
    """Q8: PyEvALL divides by all queries, the undefined ones too; of 1 and undefined karat's mean is 1, PyEvALL's 1/2."""
    vector = VECTORS["rank_multi_q_0"]
    assert vector["results"]["MRR"] | {"status": ""} == {
        "test_cases": {"q0": 1.0, "q1": None},
        "average": 0.5,
        "status": "",
    }
    assert scored(vector, tmp_path)["reciprocal_rank"].value == 1.0


def test_ties_are_said(tmp_path: Path) -> None:
    assert "tied-documents" in [f.code for f in scored(VECTORS["rank_ties_24"], tmp_path).findings]


def test_order_of_keys_does_not_matter(tmp_path: Path) -> None:
    """PyEvALL takes the second key of a record for the id, whatever it is called."""
    gold = '[{"test_case":"q1","id":"A","value":1},{"test_case":"q1","id":"B","value":0}]'
    pred = '[{"id":"A","test_case":"q1","value":1},{"id":"B","test_case":"q1","value":2}]'
    evaluation = scored(
        {"format": "json", "gold": gold, "pred": pred, "params": {}, "metrics": ["MRR", "PrecisionAtK"]}, tmp_path
    )
    assert evaluation["reciprocal_rank"].value == 1.0


def test_negative_and_high_grades_stay_in_bounds() -> None:
    """PyEvALL's nDCG reaches 1.46 with a negative grade, and its RBP 5.31 with grades of 9."""
    gold = {"q": {"A": 1, "B": -1}}
    assert karat.evaluate(gold, {"q": {"A": 1.0}}, context="ranking", metrics=["ndcg"])["ndcg"].value == 1.0
    high = {"q": dict.fromkeys("ABCD", 9)}
    run = {"q": {d: -i for i, d in enumerate("ABCD")}}
    scaled = karat.evaluate(high, run, context="ranking", metrics=["rbp(gain=scaled)", "rbp(gain=raw)"])
    assert scaled["rbp(gain=scaled)"].value == pytest.approx(1 - 0.8**4)
    assert scaled["rbp(gain=raw)"].value == pytest.approx(9 * (1 - 0.8**4))
