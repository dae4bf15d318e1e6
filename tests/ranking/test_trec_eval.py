"""The numbers of trec_eval and pytrec_eval, on recorded and on random collections."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import pytest
import pytrec_eval

import karat
from karat.contexts.ranking.trec import ALL_TREC
from tests.ranking.collections import collection

DATA = Path(__file__).parents[1] / "data" / "ranking.jsonl.gz"
VECTORS = {v["id"]: v for v in map(json.loads, gzip.decompress(DATA.read_bytes()).decode().splitlines())}
NEWER = ("dcg", "ideal_dcg", "yaap", "unj_5", "unj_10", "unj_20")
REFUSED = {
    "nan_score": "nan-score",
    "nonnumeric_score": "not-a-number",
    "dup_doc_run": "repeated-document",
    "dup_qrels_same": "repeated-judgement",
    "empty_run": "file-empty",
    "three_cols_qrels": None,
}
"""Inputs that karat refuses, whatever other tools do with them, and what it says."""
OTHERWISE = {
    "float_rel": "trec_eval cuts 0.9 to 0; karat takes grades as they are",
    "bom": "trec_eval takes a byte order mark for a part of the first query's name",
}


def scored(vector: dict, tmp_path: Path, **options: object) -> karat.Evaluation:
    (tmp_path / "qrels").write_bytes(vector["qrels_text"].encode())
    (tmp_path / "run").write_bytes(vector["run_text"].encode())
    names = [level(m, vector.get("level")) for m in (*ALL_TREC, *NEWER)]
    flags = vector.get("flags", [])
    options |= {"unjudged": "drop"} if "-J" in flags else {}
    return karat.evaluate(tmp_path / "qrels", tmp_path / "run", context="ranking", metrics=names, **options)


GRADED = ("num_q", "num_ret", "G", "dcg", "ideal_dcg", "ndcg_rel", "unj")


def level(name: str, rel: int | None) -> karat.Metric:
    found = karat.parse(name)
    graded = name in GRADED or name.startswith(("ndcg", "unj"))
    return found if rel is None or graded else found(rel=rel)


def compare(evaluation: karat.Evaluation, expected: dict, exact: set[str] = frozenset(), rel: int | None = None) -> int:
    names = [n for n in ALL_TREC + NEWER if n not in exact and all(n in values for values in expected.values())]
    for name in names:
        parts = evaluation[level(name, rel)].by_test_case
        for query, values in expected.items():
            got = math.log(parts[query].value) if name in ("gm_map", "gm_bpref") else parts[query].value
            assert abs(got - values[name]) <= 1e-9 * max(1, abs(values[name])), (query, name)
    return len(names) * len(expected)


@pytest.mark.parametrize("name", [n for n in VECTORS if n not in REFUSED and n not in OTHERWISE])
def test_pytrec_eval_vectors(name: str, tmp_path: Path) -> None:
    vector = VECTORS[name]
    evaluation = scored(vector, tmp_path, score_type="single")
    assert compare(evaluation, vector["pytrec_eval"]["per_query"], rel=vector.get("level"))


@pytest.mark.parametrize("name", [n for n in VECTORS if n not in REFUSED and n not in OTHERWISE])
def test_trec_eval_vectors(name: str, tmp_path: Path) -> None:
    """trec_eval 10 compares double scores; its recall points are rounded otherwise (``rounding=nearest``)."""
    vector = VECTORS[name]
    if not vector["trec_eval"]["per_query"]:
        pytest.skip("trec_eval stopped")
    depth = 10 if name == "max_docs_M10" else None
    evaluation = scored(vector, tmp_path, depth=depth)
    rounded = {n for n in ALL_TREC if n.startswith("iprec")} | {"11pt_avg"}
    assert compare(evaluation, vector["trec_eval"]["per_query"], rounded, vector.get("level"))


def test_trec_eval_10_recall_points(tmp_path: Path) -> None:
    vector = VECTORS["iprec_rounding"]
    (tmp_path / "qrels").write_text(vector["qrels_text"])
    (tmp_path / "run").write_text(vector["run_text"])
    metrics = {
        f"interpolated_precision(recall={i / 10},rounding=nearest)": f"iprec_at_recall_{i / 10:.2f}" for i in range(11)
    }
    metrics["eleven_point(rounding=nearest)"] = "11pt_avg"
    evaluation = karat.evaluate(tmp_path / "qrels", tmp_path / "run", metrics=list(metrics))
    for query, values in vector["trec_eval"]["per_query"].items():
        for ours, theirs in metrics.items():
            assert evaluation[ours].by_test_case[query].value == pytest.approx(values[theirs], abs=1e-12)


@pytest.mark.parametrize(("name", "code"), list(REFUSED.items()))
def test_refused(name: str, code: str | None, tmp_path: Path) -> None:
    with pytest.raises(karat.InputError) as caught:
        scored(VECTORS[name], tmp_path)
    assert code is None or code in [f.code for f in caught.value.findings]


def test_fractional_grades_are_not_cut(tmp_path: Path) -> None:
    evaluation = scored(VECTORS["float_rel"], tmp_path)
    assert evaluation["num_rel"].value == 2
    assert VECTORS["float_rel"]["trec_eval"]["mean"]["num_rel"] == 1


def test_complete_mean(tmp_path: Path) -> None:
    """trec_eval -c counts the queries that the run misses; so does karat unless told otherwise."""
    for name in ("missing_query_first", "missing_and_extra"):
        vector = VECTORS[name]
        evaluation = scored(vector, tmp_path)
        for metric in ("map", "ndcg", "P_5", "recip_rank"):
            assert evaluation[metric].value == pytest.approx(vector["trec_eval_c"]["mean"][metric], abs=1e-12)
        assert "queries-not-in-run" in [f.code for f in evaluation.findings]


@pytest.mark.parametrize("block", [*range(3), *(pytest.param(b, marks=pytest.mark.slow) for b in range(3, 10))])
def test_random_collections(block: int, tmp_path: Path) -> None:
    """300 collections, each as TREC files and as dicts of dicts."""
    for seed in range(30 * block, 30 * block + 30):
        drawn = collection(seed)
        usable = {q: d for q, d in drawn.qrels.items() if max(d.values()) >= 0}
        assert usable == drawn.qrels  # pytrec_eval crashes on a query with negative grades only
        expected = pytrec_eval.RelevanceEvaluator(drawn.qrels, pytrec_eval.supported_measures).evaluate(drawn.run)
        qrels, run = drawn.write(tmp_path)
        for gold, pred in ((qrels, run), (drawn.qrels, drawn.run)):
            evaluation = karat.evaluate(gold, pred, context="ranking", metrics=["all_trec"], missing_queries="skip")
            assert set(evaluation["map"].by_test_case) == set(expected)
            compare(evaluation, expected)
            for name in ALL_TREC if expected else ():
                each = [values[name] for values in expected.values()]
                mean = pytrec_eval.compute_aggregated_measure(name, each)
                assert evaluation[name].value == pytest.approx(mean, abs=1e-9), (seed, name)


def test_report(tmp_path: Path) -> None:
    """trec_eval's lines: a name of 22 letters, the query, the value; queries in the order of their names."""
    evaluation = scored(VECTORS["query_order"], tmp_path)
    lines = evaluation.render("trec", by=["query"]).splitlines()
    expected = VECTORS["query_order"]["pytrec_eval"]["per_query"]
    assert [x.split("\t")[1] for x in lines if x.startswith("map ")] == [*sorted(expected), "all"]
    assert f"map                   \t{min(expected)}\t{expected[min(expected)]['map']:.4f}" in lines
    assert "num_q                 \tall\t2" in lines
    assert sum(x.startswith("gm_map") for x in lines) == 1
