# SPDX-License-Identifier: Apache-2.0
"""Python objects that hold no data, or hold what cannot be written, are findings and never raw exceptions."""

from __future__ import annotations

import math
from collections import deque
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import karat


def itself() -> list:
    out: list = ["A"]
    out.append(out)
    return out


ODD = {
    "lone surrogate in a dict": {"1": "a\ud800", "2": "b"},
    "lone surrogate in an id": {"1\ud800": "a", "2": "b"},
    "lone surrogate in a list": ["a\ud800", "b"],
    "lone surrogate in records": [{"id": "1\ud800", "value": "a"}],
    "lone surrogate in a label set": [["a\ud800"], ["b"]],
    "lone surrogate in a span": [{"id": "1", "spans": [{"start": 0, "end": 1, "label": "x\ud800"}]}],
    "lone surrogate in weights": {"1": {"a\ud800": 0.5, "b": 0.5}},
    "lone surrogate in a test case": [{"id": "1", "value": "a", "test_case": "t\ud800"}],
    "lone surrogate in a text": [{"id": "1", "value": "a", "text": "t\ud800"}],
    "bytes that are no UTF-8": [b"\xff", b"a"],
    "an array of such bytes": np.array([b"\xff", b"a"]),
    "an array of no dimension": np.array(5),
    "a list that holds itself": itself(),
    "nothing": None,
    "a number": 5,
    "a number of too many digits": [10**5000, 1],
    "an id of too many digits": {10**5000: "A"},
}


@pytest.mark.parametrize("name", ODD)
def test_odd_objects(name):
    with pytest.raises(karat.InputError) as caught:
        karat.evaluate(ODD[name], ODD[name])
    assert {f.code for f in caught.value.findings} <= {"data-unreadable", "bad-option", "wrong-type"}


def test_a_lone_surrogate_names_no_file():
    with pytest.raises(karat.InputError) as caught:
        karat.evaluate("gold\ud800.csv", {"1": "A"})
    assert [(f.code, f.file) for f in caught.value.findings] == [("file-missing", "gold\\ud800.csv")]


@pytest.mark.parametrize("labels", [np.array([2**64 - 1, 1], np.uint64), [10**400, 1], {2**64 - 1: "A", 1: "B"}])
def test_numbers_of_any_size_are_labels_and_ids(labels):
    assert karat.evaluate(labels, labels, metrics=["accuracy"])["accuracy"].value == 1.0


def test_a_grade_that_no_float_holds():
    rows = [{"query": "q", "id": "d", "value": 10**400}]
    with pytest.raises(karat.InputError):
        karat.evaluate(rows, rows, context="ranking")


@pytest.mark.parametrize("key", [None, float("nan")])
@pytest.mark.parametrize("context", [None, "soft", "ranking"])
def test_nothing_is_called_none(key, context):
    odd, plain = {"1": {key: 0.5, "b": 0.5}}, {"1": {"b": 0.5}}
    for sides in ((odd, plain), (plain, odd)):
        with pytest.raises(karat.InputError) as caught:
            karat.evaluate(*sides, context=context)
        assert {f.code for f in caught.value.findings} == {"missing-field"}


def test_what_a_mask_hides_is_missing():
    hidden = np.ma.array(["A", "B"], mask=[False, True])
    with pytest.raises(karat.InputError) as caught:
        karat.evaluate(np.array(["A", "B"]), hidden)
    assert [(f.code, f.line) for f in caught.value.findings] == [("missing-field", 2)]


def test_a_query_that_fails_while_it_is_read():
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.connect().sql(
        "SELECT i AS id, CASE i WHEN 3 THEN 'x' ELSE '1' END::INTEGER AS value FROM range(5) t(i)"
    )
    with pytest.raises(karat.InputError, match="Could not convert string 'x'") as caught:
        karat.evaluate(relation, ["a"])
    assert [(f.code, f.file) for f in caught.value.findings] == [("data-unreadable", "gold")]


class Broken(dict):
    def values(self):
        raise LookupError("a fault of this class")


def test_a_fault_of_the_callers_own_class_is_the_callers():
    with pytest.raises(LookupError, match="a fault of this class"):
        karat.evaluate(Broken({"1": "a"}), ["a"])


def test_a_frame_with_a_column_twice_is_refused_with_its_name():
    frame = pd.DataFrame([["1", "A", "B"], ["2", "B", "B"]], columns=["id", "value", "value"])
    with pytest.raises(karat.InputError) as caught:
        karat.evaluate(frame, ["A", "B"])
    assert [(f.code, f.facts["name"]) for f in caught.value.findings] == [("repeated-column", "value")]


def test_an_array_of_one_column_is_its_column_but_for_label_sets():
    gold, pred = np.array([["A"], ["B"]]), np.array([["A"], ["A"]])
    assert karat.evaluate(gold, pred, metrics=["accuracy"])["accuracy"].value == 0.5
    sets = karat.evaluate(np.array([[1], [0]]), np.array([[1], [1]]), context="multilabel", metrics=["subset_accuracy"])
    assert (sets.context, sets["subset_accuracy"].value) == ("multilabel", 0.5)
    ones = np.array([[1], [0], [1], [1]]), np.array([[1], [1], [0], [1]])
    assert karat.evaluate(*ones).context == "monolabel"
    assert (
        karat.evaluate(*ones, context="multilabel", metrics=["f1"])["f1"].value == 2 / 3
    )  # of one label, not of 0 and 1


THIRDS = [{"a": 1 / 3, "b": 2 / 3}, {"a": 2 / 3, "b": 1 / 3}]


@pytest.mark.parametrize("number", [lambda n: Decimal(n) / 3, lambda n: Fraction(n, 3)], ids=["decimal", "fraction"])
def test_weights_that_no_float_is_are_weights(number: Any) -> None:
    """Not votes by their texts, of which all are for another label."""
    exact = [{"a": number(1), "b": number(2)}, {"a": number(2), "b": number(1)}]
    rows = [[{"id": i, "value": value} for i, value in enumerate(side)] for side in (exact, exact[::-1])]
    tables = [pd.DataFrame(side) for side in rows]
    for gold, pred in ((exact, exact[::-1]), rows, tables, (exact, THIRDS[::-1]), (THIRDS, exact[::-1])):
        assert karat.evaluate(gold, pred, context="soft", metrics=["mae"])["mae"].value == pytest.approx(1 / 3)
    scored = karat.evaluate(["b", "a"], exact, context="probabilities", metrics=["log_loss"])["log_loss"].value
    assert scored == pytest.approx(-math.log(2 / 3))
    assert karat.evaluate([number(1), number(3)], [0.5, 1], context="numbers", metrics=["mae"])[
        "mae"
    ].value == pytest.approx(1 / 12)


def test_numbers_that_no_float_is_are_labels_by_all_their_digits() -> None:
    gold, near = Decimal("0.12345678901234567890"), Decimal("0.12345678901234567891")
    evaluate = lambda pred: karat.evaluate([gold, 7], pred, context="monolabel")["accuracy"].value
    assert evaluate([gold, 7]) == 1
    assert evaluate([near, 7]) == evaluate([float(gold), 7]) == 0.5


@pytest.mark.parametrize("large", [10**25, 12345 * 10**20])
def test_whole_decimals_are_the_whole_numbers_that_they_are(large: int, tmp_path: Path) -> None:
    ids = pa.array([Decimal(large), Decimal(1)], pa.decimal128(38, 0))
    frame = pa.table({"id": ids, "value": ["a", "b"]})
    pq.write_table(frame, tmp_path / "gold.parquet")
    (tmp_path / "pred.csv").write_text(f"id,value\n1,b\n{large},a\n")
    records = [{"id": large, "value": "a"}, {"id": 1, "value": "b"}]
    for gold in (frame, str(tmp_path / "gold.parquet"), records):
        for pred in (records, str(tmp_path / "pred.csv")):
            assert karat.evaluate(gold, pred)["accuracy"].value == 1, (gold, pred)


def test_bytes_are_their_text_wherever_they_stand() -> None:
    value = lambda e, metric: e[metric].value
    runs = karat.evaluate({"q": {"a": 1, "b": 0}}, {"q": {b"a": 0.9, b"b": 0.5}}, context="ranking", metrics=["ndcg"])
    assert value(runs, "ndcg") == 1
    soft = karat.evaluate([{"a": 0.3, "b": 0.7}], [{b"a": 0.3, b"b": 0.7}], context="soft", metrics=["mae"])
    assert value(soft, "mae") == 0
    spans = [[{"id": "1", "spans": [{"start": 0, "end": 4, "label": label}]}] for label in ("A", b"A")]
    assert value(karat.evaluate(*spans, metrics=["f1"]), "f1") == 1
    assert karat.evaluate(["a", "b"], [bytearray(b"a"), bytearray(b"b")])["accuracy"].value == 1


WAYS = {
    "deque": deque, "keys": lambda texts: dict.fromkeys(texts).keys(), "values": lambda texts: dict(enumerate(texts)).values(),
    "map": lambda texts: map(str, texts), "generator": lambda texts: (text for text in texts), "series": pd.Series, "polars": pl.Series,
    "array": lambda texts: np.array(list(texts)),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_whatever_can_be_gone_through_is_a_list(way: str) -> None:
    make = lambda text: WAYS[way](list(text))
    assert karat.evaluate([make("ab"), make("b")], [["b", "a"], ["b"]], metrics=["f1"])["f1"].value == 1
    records = [{"id": 1, "value": make("ab")}, {"id": 2, "value": make("b")}]
    assert karat.evaluate(records, {1: ["b", "a"], 2: ["b"]}, metrics=["f1"])["f1"].value == 1
    tags = [["B-PER", "O"], ["O"]]
    found = karat.evaluate([WAYS[way](sentence) for sentence in tags], tags, context="spans", metrics=["f1"])
    assert found["f1"].value == 1


@pytest.mark.parametrize(
    "whole", [lambda values: values, lambda values: pa.chunked_array([values])], ids=["array", "chunked"]
)
def test_arrow_arrays_of_lists_and_maps(whole: Any) -> None:
    tags = whole(pa.array([["B-PER", "O"], ["O"]]))
    assert karat.evaluate(tags, tags, context="spans", metrics=["f1"], allow_same=True)["f1"].value == 1
    weights = whole(pa.array([[("a", 0.5), ("b", 0.5)]], pa.map_(pa.string(), pa.float64())))
    assert karat.evaluate(weights, [{"a": 1.0}], context="soft", metrics=["mae"])["mae"].value == 0.5


@pytest.mark.parametrize(
    ("pairs", "code"), [([("a", 0.3), ("a", 1.0)], "repeated-key"), ([("a", 1.0), ("b", None)], "weight-not-number")]
)
def test_maps_keep_what_is_wrong_with_them(pairs: list[Any], code: str, tmp_path: Path) -> None:
    """A key that stands twice and a value that is nothing are faults in memory too, as they are in files."""
    table = lambda rows: pa.table({"id": [0], "value": pa.array([rows], pa.map_(pa.string(), pa.float64()))})
    pq.write_table(table(pairs), tmp_path / "pred.parquet")
    for pred in (table(pairs), str(tmp_path / "pred.parquet")):
        with pytest.raises(karat.InputError) as refused:
            karat.evaluate(table([("a", 1.0)]), pred, context="soft")
        assert {f.code for f in refused.value.findings} == {code}


UNEVEN = {
    "ranking": (
        {"query": ["q"] * 3, "doc": list("abc"), "relevance": [0, 0, 1]},
        {"query": ["q"] * 3, "doc": list("abc"), "score": [0.9]},
    ),
    "labels": ({"id": [1, 2], "value": ["a", "b"]}, {"id": [1, 2], "value": ["a"]}),
    "sets": ({"id": [1, 2], "value": [["a"], ["b"]]}, {"id": [1, 2], "value": [["a"]]}),
    "test cases": ({"id": [1, 2], "value": ["a", "b"]}, {"id": [1, 2], "value": ["a", "b"], "test_case": ["t"]}),
}


@pytest.mark.parametrize("kind", UNEVEN)
def test_columns_of_unlike_length(kind: str) -> None:
    """One value is not taken for all rows, and none is made up."""
    for gold, pred in (UNEVEN[kind], UNEVEN[kind][::-1]):
        with pytest.raises(karat.InputError) as refused:
            karat.evaluate(gold, pred)
        assert "columns-uneven" in {f.code for f in refused.value.findings}
    assert "columns-uneven" in {f.code for f in karat.validate(UNEVEN[kind][1])}


def test_long_doubles_are_numbers() -> None:
    assert karat.evaluate([np.longdouble(1), np.longdouble(2)], [1, 2])["accuracy"].value == 1
    found = karat.evaluate([np.longdouble(1.5), np.longdouble(2)], [1.5, 3], context="numbers", metrics=["mae"])
    assert found["mae"].value == 0.5


def test_a_set_of_tags_is_no_sentence() -> None:
    with pytest.raises(karat.InputError, match="lists of labels"):
        karat.evaluate([{"B-PER", "O"}], [["B-PER", "O"]], context="spans")


@pytest.mark.parametrize("size", ["500MB", 0, -1, 1.5, True])
@pytest.mark.parametrize("name", ["memory", "max_unpacked"])
def test_what_is_no_number_of_bytes(name, size):
    with pytest.raises(karat.MetricError, match=f"{name}={size!r} is no number of bytes"):
        karat.evaluate(["a"], ["b"], **{name: size})
