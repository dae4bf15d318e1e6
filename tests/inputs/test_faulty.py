"""``faulty=drop``: records that cannot be scored are left out, with a warning that names the line of the first."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import pytest

import karat


def record(id: str, value: Any, test_case: str = "t") -> dict[str, Any]:
    return {"test_case": test_case, "id": id, "value": value}


def left_out(evaluation: karat.Evaluation) -> list[tuple[str | None, int | None, str]]:
    said = [f for f in evaluation.findings if f.code == "left-out"]
    return [(f.file, f.line, re.sub(r" (is|are) left out \(the first is shown\)$", "", f.message)) for f in said]


GOLD = [record("1", ""), record("2", "B"), record("3", "A"), record("4", "A")]
PRED = [record("1", "A"), record("3", ""), record("2", "B"), record("4", "A"), record("4", "B")]


def test_labels() -> None:
    e = karat.evaluate(GOLD, PRED, metrics=["accuracy", "system_precision"], faulty="drop")
    assert e["accuracy"].value == pytest.approx(2 / 3)  # items 2, 3 and 4; 3 has no prediction
    assert e["system_precision"].value == 1.0
    assert left_out(e) == [
        ("gold", 1, "1 record without a value"),
        ("system", 2, "1 record without a value"),
        ("system", 1, "1 record for gold records without a value"),
        ("system", 5, "1 record with the id of another"),
    ]


@pytest.mark.parametrize("side", ["gold", "pred"])
def test_they_are_errors_by_default(side: str) -> None:
    whole = [record("2", "B"), record("3", "A"), record("4", "A")]
    with pytest.raises(karat.InputError):
        karat.evaluate(*((GOLD, whole) if side == "gold" else (whole, PRED)))


def test_lists() -> None:
    """Items 2 and 3 are left; B of item 3 is not predicted: recall A 1/1, B 1/2."""
    gold = [record("1", []), record("2", ["B"]), record("3", ["A", "B"])]
    pred = [record("1", ["A"]), record("2", ["B", "B"]), record("3", ["A", ""])]
    e = karat.evaluate(gold, pred, metrics=["recall", "precision"], faulty="drop")
    assert (e["recall"].value, e["precision"].value) == (0.75, 1.0)
    assert ("system", 3, "1 empty label") in left_out(e)
    assert karat.evaluate(gold[:2], pred[:2], metrics=["precision"])["precision"].by_class["A"].value == 0.0


def test_lists_without_ids() -> None:
    e = karat.evaluate([["A"], [], ["B"]], [["A"], ["A"], ["B"]], metrics=["precision"], faulty="drop")
    assert e["precision"].value == 1.0
    assert left_out(e) == [
        ("gold", 2, "1 record without a value"),
        ("system", 2, "1 record for gold records without a value"),
    ]


def test_rows_of_one_side_keep_their_places_without_the_others():
    e = karat.evaluate(["A", "B", "B"], ["A", None, "B"], metrics=["accuracy"], faulty="drop")
    assert e["accuracy"].value == 2 / 3
    assert karat.evaluate([["A"], ["B"]], [[], []], metrics=["f1"], faulty="drop")["f1"].value == 0
    with pytest.raises(karat.InputError, match="gold has none"):
        karat.evaluate(["A", "B"], {"2": "A", "3": None}, metrics=["accuracy"], faulty="drop")


def test_arrays() -> None:
    e = karat.evaluate(["A", None, "B", "B"], ["A", "B", None, "B"], metrics=["accuracy"], faulty="drop")
    assert e["accuracy"].value == pytest.approx(2 / 3)


def test_rows_of_one_label_each() -> None:
    """Ids repeat rightly in such a table: item 1 is {A, B}, item 2 has no label at all."""
    gold = [record("1", "A"), record("1", "B"), record("1", None), record("2", None)]
    pred = [record("1", "A"), record("1", "B"), record("2", "B")]
    e = karat.evaluate(gold, pred, context="multilabel", metrics=["f1"], faulty="drop")
    assert e["f1"].value == 1.0


def test_no_prediction_is_left() -> None:
    e = karat.evaluate([record("1", "A"), record("2", "B")], [record("1", "")], metrics=["accuracy"], faulty="drop")
    assert e["accuracy"].value == 0.0


@pytest.mark.parametrize(
    ("gold", "code"),
    [
        ([record("1", "A"), record("1", "")], "repeated-id"),
        ([record("1", "A"), record("1", "A")], "repeated-id"),
        ([record("1", ""), record("2", None)], "no-records"),
        ([record("1", ["A", ""])], "empty-value"),
        ([record("1", ["A"]), record("1", [])], "repeated-id"),
    ],
)
def test_gold_that_stays_an_error(gold: list[Any], code: str) -> None:
    pred = [record("1", gold[0]["value"] or "A")]
    with pytest.raises(karat.InputError) as caught:
        karat.evaluate(gold, pred, faulty="drop")
    assert code in {f.code for f in caught.value.findings}


def test_a_repeated_gold_label() -> None:
    gold, pred = [record("1", ["A", "A"]), record("2", ["B"])], [record("1", ["A"]), record("2", ["B"])]
    with pytest.raises(karat.InputError, match="repeated-gold-label"):
        karat.evaluate(gold, pred)
    e = karat.evaluate(gold, pred, metrics=["f1"], faulty="drop")
    assert e["f1"].value == 1.0
    assert "repeated-label" in {f.code for f in e.findings}


def test_lines_are_those_of_the_file(tmp_path: Any) -> None:
    """A finding after the left-out record still names the physical line."""
    path = tmp_path / "pred.csv"
    path.write_text("id,value\n1,\n2,B\n3,a\n")
    e = karat.evaluate({"1": "A", "2": "B", "3": "A"}, str(path), faulty="drop")
    assert next(f.line for f in e.findings if f.code == "left-out") == 2
    assert [f.line for f in karat.validate(str(path), faulty="drop")] == [2]


def test_a_column_that_is_nearly_there_is_suggested(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("id,label\n1,A\n")
    with pytest.raises(karat.InputError) as error:
        karat.evaluate(str(path), {"1": "A"}, columns={"gold_value": "lable"})
    assert [f.code for f in error.value.findings] == ["missing-column"]
    assert "'label' may be meant" in error.value.findings[0].hint


BY_ID = lambda values: dict(zip("0123", values, strict=True))


@pytest.mark.parametrize(
    ("ids", "kind"), [(True, list), (True, pd.Series), (True, BY_ID), (False, list), (False, pd.Series)]
)
def test_values_beside_gold_are_those_of_the_records_that_were_handed_in(kind: Any, ids: bool) -> None:
    """Nobody knows beforehand which records are left out."""
    labels, pred, weight, part = ["A", None, "B", "B"], list("AAAB"), [1, 2, 3, 1], list("xyxz")
    by_name = [{"id": str(i), "label": labels[i], "w": weight[i], "part": part[i]} for i in range(4)]
    wish = {"faulty": "drop", "context": "monolabel", "metrics": ["accuracy"]}
    expected = karat.evaluate(by_name, BY_ID(pred), weight="w", slices="part", **wish)
    gold, system = (BY_ID(side) if ids else side for side in (labels, pred))
    e = karat.evaluate(gold, system, weight=kind(weight), slices={"part": kind(part)}, **wish)
    assert e["accuracy"].value == expected["accuracy"].value == 0.4
    assert e["accuracy"].slices == expected["accuracy"].slices
