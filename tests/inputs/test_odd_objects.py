# SPDX-License-Identifier: Apache-2.0
"""Python objects that hold no data, or hold what cannot be written, are findings and never raw exceptions."""

from __future__ import annotations

import numpy as np
import pandas
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
    frame = pandas.DataFrame([["1", "A", "B"], ["2", "B", "B"]], columns=["id", "value", "value"])
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
