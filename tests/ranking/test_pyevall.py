"""PyEvALL's ranking results, or the bug of PyEvALL that explains the difference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import karat

DATA = Path(__file__).parents[1] / "data" / "pyevall_ranking.jsonl"
VECTORS = {v["name"]: v for v in map(json.loads, DATA.read_text(encoding="utf-8").splitlines())}
NO_VALUE = {
    "rank_float_gold_and_pred": "PyEvALL has no context for 1.0, which it reads as a number that is no integer",
    "rank_float_gold_only": "PyEvALL has no context for 1.0, which it reads as a number that is no integer",
    "rank_string_values": "texts are labels, no ranks",
    "rank_icm_on_ranking": "metrics of other contexts",
}
BUGS = {"rank_ties_24": "tied ranks are sorted by an unstable quicksort: beyond 16 rows their order is arbitrary"}


def metric(name: str, params: dict[str, Any]) -> str:
    """PyEvALL's metric in karat's words; parameters of a wrong type fall back to the default there."""
    said = {**params, **params.get("metric_params", {}).get(name, {})}
    k, r, p = (said.get(key) for key in ("k_param", "r_param", "p_param"))
    k = k if type(k) is int else 10
    r = r if type(r) is int else 1000
    p = p if type(p) in (int, float) else 0.8
    return {
        "PrecisionAtK": f"precision@{k}", "RPrecision": "r_precision", "MRR": "reciprocal_rank", "MAP": f"average_precision@{r}",
        "DCG": "dcg(gain=exponential)", "nDCG": "ndcg(gain=exponential)", "ERR": "err(scale=query)", "RBP": f"rbp(gain=raw,p={p})",
    }[name]  # fmt: skip


def scored(vector: dict[str, Any], folder: Path) -> karat.Evaluation:
    gold, pred = folder / f"gold.{vector['format']}", folder / f"pred.{vector['format']}"
    gold.write_text(vector["gold"], encoding="utf-8")
    pred.write_text(vector["pred"], encoding="utf-8")
    metrics = [metric(m, vector["params"]) for m in vector["metrics"]]
    return karat.evaluate(
        gold, pred, context="ranking", metrics=metrics, missing_queries="skip", no_relevant="undefined"
    )


@pytest.mark.parametrize("name", [n for n in VECTORS if n not in NO_VALUE and n not in BUGS])
def test_vectors(name: str, tmp_path: Path) -> None:
    vector = VECTORS[name]
    evaluation = scored(vector, tmp_path)
    for theirs in vector["metrics"]:
        score = evaluation[metric(theirs, vector["params"])]
        expected = vector["results"][theirs]["test_cases"]
        assert set(score.by_test_case) == set(expected)
        for query, value in expected.items():
            got = score.by_test_case[query].value
            assert (got is None) == (value is None), (theirs, query)
            assert got is None or got == pytest.approx(value, abs=1e-9)


def test_undefined_is_not_zero(tmp_path: Path) -> None:
    """PyEvALL divides by all queries, the undefined ones too: an undefined value counts as 0 there."""
    vector = VECTORS["rank_multi_q_0"]
    score = scored(vector, tmp_path)["reciprocal_rank"]
    values = [v for v in vector["results"]["MRR"]["test_cases"].values() if v is not None]
    assert score.value == pytest.approx(sum(values) / len(values))


def test_ties_beyond_16_rows(tmp_path: Path) -> None:
    """Where the order of a tie decides, PyEvALL's number is one of many; karat's is that of the file's order."""
    assert set(BUGS) <= set(VECTORS)
    evaluation = scored(VECTORS["rank_ties_24"], tmp_path)
    assert "tied-documents" in [f.code for f in evaluation.findings]


def test_order_of_keys_does_not_matter(tmp_path: Path) -> None:
    """PyEvALL takes the second key of a record for the id, whatever it is called."""
    gold = '[{"test_case":"q1","id":"A","value":1},{"test_case":"q1","id":"B","value":0}]'
    pred = '[{"id":"A","test_case":"q1","value":1},{"id":"B","test_case":"q1","value":2}]'
    evaluation = scored(
        {"format": "json", "gold": gold, "pred": pred, "params": {}, "metrics": ["MRR", "PrecisionAtK"]}, tmp_path
    )
    assert evaluation["reciprocal_rank"].value == 1.0


def test_negative_and_high_grades_stay_in_bounds(tmp_path: Path) -> None:
    """PyEvALL's nDCG reaches 1.46 with a negative grade, and its RBP 5.31 with grades of 9."""
    gold = {"q": {"A": 1, "B": -1}}
    assert karat.evaluate(gold, {"q": {"A": 1.0}}, context="ranking", metrics=["ndcg"])["ndcg"].value == 1.0
    high = {"q": dict.fromkeys("ABCD", 9)}
    run = {"q": {d: -i for i, d in enumerate("ABCD")}}
    scaled = karat.evaluate(high, run, context="ranking", metrics=["rbp(gain=scaled)", "rbp(gain=raw)"])
    assert scaled["rbp(gain=scaled)"].value == pytest.approx(1 - 0.8**4)
    assert scaled["rbp(gain=raw)"].value == pytest.approx(9 * (1 - 0.8**4))
