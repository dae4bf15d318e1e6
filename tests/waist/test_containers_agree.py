# SPDX-License-Identifier: Apache-2.0
"""What a value means is decided once: the same data give the same scores, intervals and finding codes in every container.

Encodings, dtypes and line ends of single containers are in tests/inputs/test_containers.py.
"""

from __future__ import annotations

import io
import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import karat

Record = dict[str, Any]
NAN = float("nan")


# ---- containers


def is_nan(value: Any) -> bool:
    return isinstance(value, float) and value != value


def jsonable(value: Any) -> Any:
    """A value as JSON has it: it knows no NaN, and no decimals but its numbers."""
    if isinstance(value, list):
        return [jsonable(member) for member in value]
    if is_nan(value):
        return None
    return float(value) if isinstance(value, Decimal) else value


def as_json(record: Record) -> Record:
    return {name: jsonable(value) for name, value in record.items()}


def cell(value: Any) -> str:
    """A value as a text file has it."""
    if value is None or is_nan(value):
        return ""
    if isinstance(value, (list, dict, bool)):
        value = json.dumps(jsonable(value))
    return '"' + str(value).replace('"', '""') + '"'


def delimited(mark: str) -> Callable[[list[Record]], str]:
    def write(records: list[Record]) -> str:
        lines = [mark.join(records[0]), *(mark.join(map(cell, record.values())) for record in records)]
        return "\n".join(lines) + "\n"

    return write


def columns(records: list[Record]) -> dict[str, list[Any]]:
    return {name: [record[name] for record in records] for name in records[0]}


def arrow(records: list[Record]) -> Any:
    return pa.table({name: arrow_column(column) for name, column in columns(records).items()})


def arrow_column(column: list[Any]) -> Any:
    first = next((value for value in column if value is not None), None)
    if isinstance(first, dict):
        return pa.array([None if v is None else list(v.items()) for v in column], pa.map_(pa.string(), pa.infer_type(
            [member for value in column for member in (value or {}).values()]) ))  # fmt: skip
    return pa.array(column)


def parquet(records: list[Record], path: Path) -> Path:
    pyarrow.parquet.write_table(arrow(records), path)
    return path


def numpy_columns(records: list[Record]) -> dict[str, Any]:
    """Columns as arrays: objects where an array of one type would change the values."""
    out = {}
    for name, column in columns(records).items():
        types = {type(value) for value in column}
        out[name] = np.array(column) if len(types) == 1 and types <= {int, float, bool, str} else objects(column)
    return out


def objects(column: list[Any]) -> Any:
    out = np.empty(len(column), object)
    out[:] = column
    return out


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


CONTAINERS: dict[str, Callable[[list[Record], Path], Any]] = {
    "records": lambda records, _: records,
    "dict": lambda records, _: {record["id"]: record["value"] for record in records},
    "list": lambda records, _: [record["value"] for record in records],
    "columns": lambda records, _: columns(records),
    "numpy": lambda records, _: numpy_columns(records),
    "pandas": lambda records, _: pd.DataFrame(numpy_columns(records)),
    "polars": lambda records, _: pl.from_arrow(arrow(records)),
    "arrow": lambda records, _: arrow(records),
    "parquet": lambda records, path: parquet(records, path.with_suffix(".parquet")),
    "json": lambda records, path: written(path.with_suffix(".json"), json.dumps(list(map(as_json, records)))),
    "jsonl": lambda records, path: written(
        path.with_suffix(".jsonl"), "\n".join(json.dumps(as_json(record)) for record in records)
    ),
    "csv": lambda records, path: written(path.with_suffix(".csv"), delimited(",")(records)),
    "tsv": lambda records, path: written(path.with_suffix(".tsv"), delimited("\t")(records)),
    "stdin": lambda records, path: written(
        path.with_suffix(".jsonl"), "\n".join(map(json.dumps, map(as_json, records)))
    ),
}
TYPED = ("arrow", "polars", "parquet")
TEXTS = ("csv", "tsv")

# ---- what a container cannot hold: the only exceptions

CANNOT: dict[str, tuple[tuple[str, ...], str]] = {
    "repeated": (("dict",), "a key is there once"),
    "ids": (("list",), "items have no ids"),
    "wide": ((*TYPED, "pandas", "numpy"), "a column has one type, and whole numbers beside fractions are fractions"),
    "nested": (("numpy",), "an array of rows"),
    "nan": (("json", "jsonl", "stdin", *TEXTS), "JSON and text files have no NaN: what is no number is a gap there"),
}  # fmt: skip
"""Traits of cases, the containers that cannot hold them, and why."""


@dataclass
class Case:
    """Gold and predictions as records, the context and what the data have about them."""

    gold: list[Record]
    pred: list[Record]
    context: str | None
    metrics: list[str]
    traits: frozenset[str] = frozenset()
    options: dict[str, Any] = field(default_factory=dict)

    def containers(self) -> list[str]:
        lost = {container for trait in self.traits for container in CANNOT[trait][0]}
        if any(set(record) != {"id", "value"} for record in (*self.gold, *self.pred)):
            lost |= {"dict", "list"}
        return [name for name in CONTAINERS if name not in lost and name != "records"]


def case(
    context: str | None, metrics: str, gold: list[Any], pred: list[Any], *traits: str,
    ids: list[Any] | None = None, other: list[Any] | None = None, **options: Any,
) -> Case:  # fmt: skip
    """A case of values with ids; the prediction's are gold's unless others are given."""
    ids = ids or [f"d{i}" for i in range(len(gold))]
    sides = [
        [{"id": i, "value": v} for i, v in zip(names, values, strict=True)]
        for names, values in ((ids, gold), (other or ids, pred))
    ]
    return Case(*sides, context, metrics.split(), frozenset(traits) | {"ids"}, options)


LABELS: dict[str, tuple[list[Any], list[Any], tuple[str, ...]]] = {
    "text": (["A", "B", "B", "C", "A", "B"], ["A", "B", "C", "C", "B", "B"], ()),
    "text of several words": (["a b", "c, d", 'e "f"', "a b"], ["a b", "c, d", "a b", "a b"], ()),
    "letters beyond ASCII": (["ñ", "ß", "日本", "ñ"], ["ñ", "ñ", "日本", "ß"], ()),
    "int": ([1, 2, 10, 2, 1, 10], [1, 2, 2, 2, 10, 10], ()),
    "negative int": ([-1, 0, 1, -1], [-1, 1, 1, 0], ()),
    "float whole": ([1.0, 2.0, 10.0, 2.0], [1.0, 2.0, 2.0, 10.0], ()),
    "float with fractions": ([0.5, 1.5, 0.5, 1.5], [0.5, 0.5, 0.5, 1.5], ()),
    "int against float": ([1, 2, 10, 2], [1.0, 2.0, 2.0, 2.0], ()),
    "float against int": ([1.0, 2.0, 10.0, 2.0], [1, 2, 2, 2], ()),
    "int beside float": ([1, 2.0, 1.0, 2], [1.0, 2, 2, 2], ("wide",)),
    "minus zero": ([0.0, 1.0, -0.0, 1.0], [-0.0, 1.0, 0.0, 0.0], ()),
    "minus zero against int": ([0, 1, 0, 1], [-0.0, 1.0, 0.0, 0.0], ()),
    "bool": ([True, False, True, True], [True, True, True, False], ()),
    "bool against int": ([True, False, True, True], [1, 1, 1, 0], ()),
    "int against bool": ([1, 0, 1, 1], [True, True, True, False], ()),
    "decimal": ([Decimal("1.5"), Decimal("2.5"), Decimal("1.5")], [Decimal("1.5"), Decimal("1.5"), Decimal("1.5")], ()),
    "decimal whole against int": ([Decimal(1), Decimal(2), Decimal(2)], [1, 2, 1], ()),
    "null in gold": (["A", None, "B", "A"], ["A", "B", "B", "A"], ()),
    "null in pred": (["A", "B", "B", "A"], ["A", None, "B", "A"], ()),
    "null among int": ([1, 2, 2, 1], [1, None, 2, 1], ()),
    "nan in pred": ([1.0, 2.0, 2.0, 1.0], [1.0, NAN, 2.0, 1.0], ()),
    "blank": (["A", "B", "B", "A"], ["A", " ", "B", "A"], ()),
    "empty": (["A", "B", "B", "A"], ["A", "", "B", "A"], ()),
    "unknown label": (["A", "B", "B", "A"], ["A", "b", "B", "D"], ()),
    "text true": (["true", "false", "true"], ["true", "true", "true"], ()),
    "huge int": ([10**15, 10**15 + 1, 10**15], [10**15, 10**15, 10**15], ()),
}
IDS: dict[str, tuple[list[Any], list[Any], tuple[str, ...]]] = {
    "text": (["a", "b", "c", "d"], ["a", "b", "c", "d"], ()),
    "shuffled": (["a", "b", "c", "d"], ["d", "b", "a", "c"], ()),
    "int": ([1, 2, 30, 4], [1, 2, 30, 4], ()),
    "int shuffled": ([1, 2, 30, 4], [30, 2, 4, 1], ()),
    "int against float": ([1, 2, 30, 4], [1.0, 2.0, 30.0, 4.0], ()),
    "int against text": ([1, 2, 30, 4], ["1", "2", "30", "4"], ()),
    "bool": ([True, False], [True, False], ()),
    "minus zero": ([0.0, 1.0], [-0.0, 1.0], ()),
    "zeros in front": (["01", "02", "03", "04"], ["1", "2", "3", "4"], ()),
    "null": (["a", None, "c", "d"], ["a", "b", "c", "d"], ()),
    "blank": (["a", " ", "c", "d"], ["a", "b", "c", "d"], ()),
    "repeated in gold": (["a", "b", "b", "d"], ["a", "b", "c", "d"], ("repeated",)),
    "repeated in pred": (["a", "b", "c", "d"], ["a", "b", "b", "d"], ("repeated",)),
    "missing": (["a", "b", "c", "d"], ["a", "c"], ()),
    "extra": (["a", "b"], ["a", "b", "c", "d"], ()),
    "missing and extra": (["a", "b", "c", "d"], ["a", "c", "x"], ()),
    "nothing in common": (["a", "b"], ["x", "y"], ()),
    "decimal": ([Decimal(1), Decimal(2)], [1, 2], ()),
}
VALUES: dict[str, tuple[str, list[Any], list[Any]]] = {
    "monolabel": ("accuracy f1 kappa", ["A", "B", "A", "B"], ["A", "B", "B", "B"]),
    "multilabel": ("f1 jaccard", [["A"], ["A", "B"], [], ["B"]], [["A"], ["B"], ["A"], ["B"]]),
    "soft": (
        "mae cross_entropy",
        [{"A": 0.7, "B": 0.3}, {"A": 0.0, "B": 1.0}, {"A": 1.0, "B": 0.0}, {"A": 0.5, "B": 0.5}],
        [{"A": 0.5, "B": 0.5}, {"A": 0.1, "B": 0.9}, {"A": 0.8, "B": 0.2}, {"A": 0.4, "B": 0.6}],
    ),
    "clustering": ("bcubed_f1 nmi", ["x", "x", "y", "y"], ["1c", "2c", "2c", "2c"]),
    "ranking": ("ndcg average_precision", [1, 0, 2, 0], [0.9, 0.8, 0.7, 0.1]),
}


def of_labels() -> dict[str, Case]:
    out = {}
    for name, (gold, pred, traits) in LABELS.items():
        out[f"label {name}"] = case("monolabel", "accuracy f1", gold, pred, *traits)
        if name not in ("null in gold", "null in pred", "null among int", "nan in pred", "int beside float"):
            out[f"label list {name}"] = case(
                "multilabel", "f1 jaccard", [[v] for v in gold], [[v] if v == gold[0] or "against" in name else [v, gold[0]] for v in pred],
                *traits, "nested",
            )  # fmt: skip
        if not any(v is None or v == "" for v in (*gold, *pred)):
            out[f"cluster {name}"] = case("clustering", "bcubed_f1", gold, pred, *traits)
    for name in ("text", "int", "bool", "float whole", "int against float"):
        gold, pred, traits = LABELS[name]
        out[f"undetected {name}"] = case(None, "accuracy", gold, pred, *traits)
    return out


BY_SCORE = {"ranking": {"order": "score"}}
"""A column called value holds ranks, unless it is said to hold scores."""


def of_ids() -> dict[str, Case]:
    out = {}
    for context, (metrics, gold, pred) in VALUES.items():
        for name, (ids, other, traits) in IDS.items():
            if context == "ranking" and name == "nothing in common":
                continue
            nested = ("nested",) if context in ("multilabel", "soft") else ()
            out[f"{context} id {name}"] = case(
                context, metrics, gold[: len(ids)], pred[: len(other)], *traits, *nested, ids=ids, other=other,
                **BY_SCORE.get(context, {}),
            )  # fmt: skip
    return out


def with_cases(records: list[Record], cases: list[Any]) -> list[Record]:
    return [{"test_case": c} | record for c, record in zip(cases, records, strict=True)]


def of_test_cases() -> dict[str, Case]:
    out = {}
    for name, cases in {"text": ["T", "T", "U", "U"], "int": [1, 1, 2, 2], "null": ["T", None, "U", "U"]}.items():
        for context in ("monolabel", "multilabel", "soft", "ranking"):
            metrics, gold, pred = VALUES[context]
            nested = ("nested",) if context in ("multilabel", "soft") else ()
            made = case(context, metrics, gold, pred, *nested, **BY_SCORE.get(context, {}))
            made.gold, made.pred = with_cases(made.gold, cases), with_cases(made.pred, cases)
            out[f"{context} test case {name}"] = made
    return out


def of_numbers() -> dict[str, Case]:
    soft, ranking = VALUES["soft"], VALUES["ranking"]
    return {
        "soft whole numbers": case(
            "soft", "mae", [{"A": 1, "B": 0}] * 2, [{"A": 0, "B": 1}, {"A": 1, "B": 0}], "nested"
        ),
        "soft above one": case("soft", "mae", soft[1], [{"A": 2.0, "B": 1.0}] * 4, "nested"),
        "soft below zero": case("soft", "mae", soft[1], [{"A": -1.0, "B": 2.0}] * 4, "nested"),
        "soft null": case("soft", "mae", soft[1], [*soft[2][:3], None], "nested"),
        "ranking nan": case("ranking", "ndcg", ranking[1], [0.5, NAN, 0.2, 0.1], "nan", order="score"),
        "ranking null": case("ranking", "ndcg", ranking[1], [0.5, None, 0.2, 0.1], order="score"),
        "ranking ties": case("ranking", "ndcg", ranking[1], [0.5, 0.5, 0.5, 0.1], order="score"),
        "ranking whole": case("ranking", "ndcg", [1.0, 0.0, 2.0, 0.0], [4, 3, 2, 1], order="score"),
        "ranking minus zero": case("ranking", "ndcg", ranking[1], [-0.0, 0.0, 1.0, -1.0], order="score"),
        "ranking text": case("ranking", "ndcg", ranking[1], ["high", "low", "low", "low"], order="score"),
    }


def page(document: Any, number: Any, first: Any, **more: Any) -> Record:
    return {"document": document, "page": number, "is_first_page": first} | more


def of_pages() -> dict[str, Case]:
    gold = [page("a", 1, True), page("a", 2, False), page("a", 3, True), page("b", 1, True), page("b", 2, False)]
    pred = [page("a", 1, True), page("a", 2, True), page("a", 3, True), page("b", 1, True), page("b", 2, False)]
    sides = {
        "text": (gold, pred),
        "shuffled": (gold, pred[::-1]),
        "int documents": (
            [r | {"document": 1 if r["document"] == "a" else 10} for r in gold],
            [r | {"document": 1.0 if r["document"] == "a" else 10.0} for r in pred],
        ),
        "flags as numbers": (gold, [r | {"is_first_page": int(r["is_first_page"])} for r in pred]),
        "numbers as floats": (gold, [r | {"page": float(r["page"])} for r in pred]),
        "missing page": (gold, pred[:-1]),
        "repeated page": (gold, [*pred, pred[-1]]),
        "null flag": (gold, [*pred[:-1], page("b", 2, None)]),
        "null number": (gold, [*pred[:-1], page("b", None, False)]),
        "fraction": (gold, [*pred[:-1], page("b", 2.5, False)]),
        "confidence": (gold, [r | {"confidence": 0.25 * i} for i, r in enumerate(pred)]),
        "confidence nan": (gold, [r | {"confidence": NAN if i == 2 else 0.5} for i, r in enumerate(pred)]),
        "category": ([r | {"category": "x"} for r in gold], [r | {"category": r["document"]} for r in pred]),
        "category int": ([r | {"category": 1} for r in gold], [r | {"category": 1.0} for r in pred]),
    }
    traits = {"numbers as floats": (), "fraction": ("wide",)}
    return {
        f"pages {name}": Case(*both, "splitting", ["f1", "pk"], frozenset({"ids", *traits.get(name, ())}))
        for name, both in sides.items()
    }


def of_spans() -> dict[str, Case]:
    gold = [[{"start": 0, "end": 4, "label": "P"}], [{"start": 2, "end": 5, "label": "L"}], []]
    pred = [[{"start": 0, "end": 4, "label": "P"}], [{"start": 3, "end": 5, "label": "L"}], []]
    ids = {
        "text": (["a", "b", "c"], ["a", "b", "c"]),
        "shuffled": (["a", "b", "c"], ["c", "a", "b"]),
        "int": ([1, 2, 3], [1, 2, 3]),
        "int against float": ([1, 2, 3], [1.0, 2.0, 3.0]),
        "missing": (["a", "b", "c"], ["a", "b"]),
        "repeated": (["a", "b", "c"], ["a", "b", "b"]),
    }
    return {
        f"spans id {name}": Case(
            [{"id": i, "spans": s} for i, s in zip(mine, gold, strict=False)],
            [{"id": i, "spans": s} for i, s in zip(theirs, pred, strict=False)],
            "spans", ["f1", "precision"], frozenset({"ids", "spans"}),
        )
        for name, (mine, theirs) in ids.items()
    }  # fmt: skip


CANNOT["spans"] = (
    ("columns", "numpy", "pandas", *TYPED, *TEXTS), "spans are read from JSON, from records and from formats of their own"
)  # fmt: skip

CASES = of_labels() | of_ids() | of_test_cases() | of_numbers() | of_pages() | of_spans()


# ---- what is compared


def outcome(gold: Any, pred: Any, case: Case) -> Any:
    """Scores and intervals, or that there are none, and the codes of the findings."""
    try:
        found = karat.evaluate(
            gold, pred, context=case.context, metrics=case.metrics, intervals=0.9, resamples=100, **case.options
        )
    except karat.InputError as error:
        return sorted({f.code for f in error.findings if f.severity == "error"})
    numbers = [
        (str(metric), score.value, score.interval and (score.interval.low, score.interval.high))
        for metric, score in found.systems[0].scores.items()
    ]
    return found.context, numbers, sorted(f.code for f in found.findings)


QUICK = ("label ", "undetected", "monolabel id", "pages", "spans", "soft ", "ranking ")
"""Cases of every run; those of lists, clusters and ids of other contexts are for long ones."""


def is_slow(name: str) -> bool:
    return not name.startswith(QUICK) or name.startswith(("label list", "soft id", "ranking id"))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if is_slow(name) else name for name in CASES]
)
def test_every_container_says_the_same(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = CASES[name]
    expected = outcome(case.gold, case.pred, case)
    differing = {}
    for container in case.containers():
        gold, pred = (
            CONTAINERS[container](side, tmp_path / role) for side, role in ((case.gold, "gold"), (case.pred, "pred"))
        )
        if container == "stdin":
            monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(pred.read_bytes())))
            pred = "-"
        found = outcome(gold, pred, case)
        if not same(found, expected):
            differing[container] = found
    assert not differing, f"records give {expected}"


def same(one: Any, two: Any) -> bool:
    """Equal, numbers to the last bit."""
    if isinstance(one, float) and isinstance(two, float):
        return one == two or (math.isnan(one) and math.isnan(two))
    if isinstance(one, (list, tuple)) and isinstance(two, (list, tuple)):
        return len(one) == len(two) and all(map(same, one, two))
    return bool(one == two)


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 80
    assert {case.context for case in CASES.values()} >= {
        "monolabel", "multilabel", "soft", "ranking", "spans", "splitting", "clustering",
    }  # fmt: skip
