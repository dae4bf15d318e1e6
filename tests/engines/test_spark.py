"""Data on Spark give what the same data give in memory: scores to the last bit, counts, and the codes of findings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import karat

Table = dict[str, list[Any]]


def table(columns: Table, kinds: dict[str, Any]) -> pa.Table:
    return pa.table({name: pa.array(values, kinds.get(name)) for name, values in columns.items()})


@dataclass(frozen=True)
class Case:
    """Gold and predictions by columns, the types that Arrow cannot tell, and options."""

    gold: Table
    pred: Table
    kinds: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    def tables(self) -> tuple[pa.Table, pa.Table]:
        return table(self.gold, self.kinds), table(self.pred, self.kinds)


def drawn(rows: int, seed: int) -> tuple[Any, list[int], list[int]]:
    """A generator, gold's ids, and the prediction's: shuffled, a few missing, a few more."""
    rng = np.random.default_rng(seed)
    pred = rng.permutation(np.arange(2, rows + 3)).tolist()
    return rng, list(range(rows)), pred


def labels() -> Case:
    rng, gold, pred = drawn(300, 1)
    pick = lambda ids: [f"L{c}" for c in rng.integers(0, 4, len(ids)).tolist()]
    case = lambda ids: [f"t{i % 3}" for i in ids]
    return Case(
        {"test_case": case(gold), "id": gold, "label": pick(gold)},
        {"test_case": case(pred), "id": pred, "label": pick(pred)},
    )


def numbers() -> Case:
    rng, gold, pred = drawn(200, 2)
    pick = lambda ids: rng.integers(0, 3, len(ids)).astype(float).tolist()
    return Case({"id": gold, "value": pick(gold)}, {"id": [float(i) for i in pred], "value": pick(pred)})


def label_sets() -> Case:
    rng, gold, pred = drawn(200, 3)
    pick = lambda ids: [rng.choice(list("ABCDE"), rng.integers(0, 4), replace=False).tolist() for _ in ids]
    kinds = {"labels": pa.list_(pa.string())}
    metrics = ["f1", "subset_accuracy", "hamming_loss", "adjusted_accuracy", "average_accuracy", "coverage_error"]
    return Case(
        {"paperid": gold, "labels": pick(gold)}, {"paperid": pred, "labels": pick(pred)}, kinds, {"metrics": metrics}
    )


def weights() -> Case:
    rng, gold, pred = drawn(100, 4)
    pick = lambda ids: [list(zip("AB", (x, 1 - x))) for x in (rng.integers(0, 5, len(ids)) / 4).tolist()]
    kinds = {"value": pa.map_(pa.string(), pa.float64())}
    return Case({"id": gold, "value": pick(gold)}, {"id": pred, "value": pick(pred)}, kinds)


def clusters(**options: Any) -> Case:
    rng, gold, pred = drawn(150, 5)
    pick = lambda ids: [str(c) for c in rng.integers(-1, 6, len(ids)).tolist()]
    return Case(
        {"id": gold, "cluster": pick(gold)}, {"id": pred, "cluster": pick(pred)}, {}, {"context": "clustering"} | options
    )  # fmt: skip


def rankings() -> Case:
    rng = np.random.default_rng(6)
    gold, pred = {"query": [], "doc": [], "relevance": []}, {"query": [], "doc": [], "score": []}
    for sides, queries, depth, column, top in (
        (gold, range(12), 8, "relevance", 3),
        (pred, range(2, 14), 20, "score", 12),
    ):
        for query in queries:
            sides["query"] += [f"q{query}"] * depth
            sides["doc"] += [f"d{d}" for d in rng.permutation(30)[:depth].tolist()]
            sides[column] += rng.integers(0, top, depth).tolist()
    return Case(gold, pred, {"score": pa.float64()})


def spans() -> Case:
    rng, gold, pred = drawn(20, 7)

    def marked(ids: list[int]) -> Table:
        starts = [sorted(rng.choice(80, 3, replace=False).tolist()) for _ in ids]
        each = [
            [{"start": s, "end": s + 5, "label": str(rng.choice(["PER", "LOC"]))} for s in found] for found in starts
        ]
        return {"id": [f"d{i}" for i in ids], "text": ["x" * 100] * len(ids), "spans": each}

    return Case(marked(gold), marked(pred))


def tags() -> Case:
    rng, ids, _ = drawn(10, 8)
    pick = lambda: [rng.choice(["B-PER", "I-PER", "O"], 5).tolist() for _ in ids]
    return Case({"id": ids, "tags": pick()}, {"id": ids, "tags": pick()}, {}, {"context": "spans"})


def pages() -> Case:
    rng = np.random.default_rng(9)
    place = [(f"b{bundle}", page) for bundle in range(6) for page in range(1, 8)]
    side = lambda: {
        "document_id": [bundle for bundle, _ in place],
        "page": [page for _, page in place],
        "is_first_page": [page == 1 or bool(rng.integers(0, 2)) for _, page in place],
        "category": [str(rng.choice(["invoice", "letter"])) for _ in place],
    }
    return Case(side(), side())


CASES: dict[str, Callable[[], Case]] = {
    "labels": labels,
    "numbers": numbers,
    "label sets": label_sets,
    "weights": weights,
    "clusters": clusters,
    "clusters with noise": lambda: clusters(noise="-1", missing="singletons"),
    "rankings": rankings,
    "spans": spans,
    "tags": tags,
    "pages": pages,
}


def records(columns: pa.Table) -> Any:
    """What data in memory are: tables, or records where a table cannot hold what they hold."""
    nested = {"spans", "tags"} & {*columns.column_names}
    return columns.to_pylist() if nested else columns


def outcome(gold: Any, pred: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Everything that must be alike, whoever counted; which of the missing ids is shown first is not."""
    try:
        found = karat.evaluate(gold, pred, **options).only
    except karat.InputError as error:
        return {"errors": sorted({f.code for f in error.findings})}
    scores = {str(m): [s.value, *s.result.value.tolist()] for m, s in found.scores.items()}
    said = sorted(f.message.split("(first: ")[0] for f in found.findings)
    return {"counts": found.counts, "findings": said, "scores": scores}


@pytest.mark.parametrize("name", CASES)
def test_scores_counts_and_findings_are_those_of_data_in_memory(spark: Any, name: str) -> None:
    case = CASES[name]()
    gold, pred = case.tables()
    there = outcome(spark.createDataFrame(gold), spark.createDataFrame(pred), case.options)
    here = outcome(records(gold), records(pred), case.options)
    if name != "clusters with noise":  # whose items of their own are summed in another order
        assert repr(there) == repr(here)
        return
    for metric, values in here.pop("scores").items():
        assert there["scores"][metric] == pytest.approx(values, rel=1e-12)
    assert {**there, "scores": None} == {**here, "scores": None}


FAULTS: dict[str, tuple[Table, Table]] = {
    "nothing, blanks and repeats": (
        {"id": ["1", "2", "3", "4", "4"], "label": ["A", None, "A", " ", "B"]},
        {"id": ["1", "2", "3", "3", "5"], "label": ["A", "A", "A", "B", "B"]},
    ),
    "ids that are none": (
        {"test_case": ["t", "t", ""], "id": ["1", " ", None], "label": ["A", "B", "B"]},
        {"test_case": ["t", "t", "t"], "id": ["1", "2", "3"], "label": ["A", "B", "B"]},
    ),
    "no common id": ({"id": ["1", "2"], "label": ["A", "B"]}, {"id": ["01", "02.0"], "label": ["A", "B"]}),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_wrong_is_found_where_the_data_are(spark: Any, name: str) -> None:
    gold, pred = map(pa.table, FAULTS[name])
    here = outcome(gold, pred, {})
    assert here["errors"]
    assert outcome(spark.createDataFrame(gold), spark.createDataFrame(pred), {}) == here


def test_records_are_named_by_their_keys(spark: Any) -> None:
    gold = pa.table({"id": ["1", "2", "3"], "label": ["A", None, None]})
    with pytest.raises(karat.InputError) as error:
        karat.evaluate(spark.createDataFrame(gold), spark.createDataFrame(gold), metrics=["accuracy"])
    found = error.value.findings[0]
    assert found.code == "missing-field"
    assert found.file in ("gold (id '2' and 1 more like it)", "gold (id '3' and 1 more like it)")
