"""Values that are not what the others of their file are, and records that lack what others have."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import karat

GOOD: list[dict[str, Any]] = [{"test_case": "t", "id": str(i), "value": ["A", "B"]} for i in range(6)]


def findings(folder: Path, records: Sequence[Any]) -> list[tuple[str, int | None, str]]:
    """What is said of a file with a record a line."""
    path = folder / "records.jsonl"
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in records))
    return [(f.code, f.line, f.message) for f in karat.validate(path)]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ([["A"]], "lists"),
        ([{"A": 1}], "objects"),
        (["A", 3], "numbers"),
        (["A", True], "true or false"),
    ],
)
def test_lists_hold_texts(tmp_path: Path, value: Any, found: str) -> None:
    said = f"the value is a list that holds {found}, but most of this file's values are lists of texts"
    bad = {"test_case": "t", "id": "x", "value": value}
    assert findings(tmp_path, [*GOOD, bad]) == [("wrong-type", 7, said)]


def test_lists_may_hold_numbers_or_what_looks_like_json(tmp_path: Path) -> None:
    assert not findings(tmp_path, [{"id": str(i), "value": [i, 7]} for i in range(3)])
    assert not findings(tmp_path, [{"id": str(i), "value": ["[1]", "a,b", '{"x": 1}', "3"]} for i in range(3)])


@pytest.mark.parametrize("label", ["", " ", "\t ", None])
def test_blank_labels_in_lists(tmp_path: Path, label: str | None) -> None:
    bad = {"test_case": "t", "id": "x", "value": ["A", label]}
    assert [(code, line) for code, line, _ in findings(tmp_path, [*GOOD, bad])] == [("empty-value", 7)]


def test_true_among_texts(tmp_path: Path) -> None:
    texts = [{"id": str(i), "value": "A"} for i in range(3)]
    assert [(c, at) for c, at, _ in findings(tmp_path, [*texts, {"id": "x", "value": True}])] == [("wrong-type", 4)]
    assert not findings(tmp_path, [{"id": "1", "value": True}, {"id": "2", "value": False}])


@pytest.mark.parametrize("case", [{}, {"test_case": None}, {"test_case": ""}, {"test_case": " "}])
def test_some_records_without_a_test_case(tmp_path: Path, case: dict[str, Any]) -> None:
    found = findings(tmp_path, [*GOOD, {**case, "id": "x", "value": ["A"]}])
    assert [(code, line) for code, line, _ in found] == [("some-without", 7)]
    assert not findings(tmp_path, [{**case, "id": str(i), "value": ["A"]} for i in range(3)])


@pytest.mark.parametrize("layout", ["lines", "array"])
def test_a_comma_before_a_brace(tmp_path: Path, layout: str) -> None:
    records = [json.dumps(r) for r in GOOD]
    records[3] = records[3][:-1] + ",}"
    path = tmp_path / "records"
    path.write_text("\n".join(records) if layout == "lines" else "[\n" + ",\n".join(records) + "\n]")
    assert [(f.code, f.line) for f in karat.validate(path)] == [("bad-json", 4 + (layout == "array"))]


@pytest.mark.parametrize(
    ("bad", "code"),
    [('{"id":', "bad-json"), ("3", "not-records"), ('{"id": ["x"], "value": ["A"]}', "nested-id")],
)
def test_past_the_limit_findings_are_counted(tmp_path: Path, bad: str, code: str) -> None:
    found = findings(tmp_path, [*GOOD, *[bad] * 100])
    assert [c for c, _, _ in found] == [code] * 20 + ["more"]
    assert found[-1][2] == f"80 more findings of kind {code}"


def test_repeated_ids_are_counted_in_an_evaluation() -> None:
    with pytest.raises(karat.InputError) as error:
        karat.evaluate([{"id": "1", "value": "A"}], [{"id": "1", "value": "A"}] * 50)
    assert [f.code for f in error.value.findings] == ["repeated-id"] * 20 + ["more"]


def test_a_text_in_place_of_a_label_is_cut() -> None:
    e = karat.evaluate(["A", "B"], ["A", "x" * 100_000], metrics=["accuracy"])
    assert len(e.findings[0].message) < 500


def test_nan_is_a_label_among_numbers_and_has_no_number() -> None:
    e = karat.evaluate(["1", "nan", "10", "2"], ["2", "10", "nan", "1"], metrics=["f1"])
    assert e["f1"].classes == ["1", "10", "2", "nan"]
    assert karat.evaluate(["1", "10", "2"], ["2", "10", "1"], metrics=["f1"])["f1"].classes == ["1", "2", "10"]


def test_lazy_frames_and_arrays_of_records() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"id": ["1", "2"], "value": ["A", "B"]})
    assert karat.evaluate(frame.lazy(), frame.lazy())["accuracy"].value == 1.0
    records = np.array([("1", "A"), ("2", "B")], dtype=[("id", "U1"), ("value", "U1")])
    assert karat.evaluate(records, {"2": "B", "1": "A"})["accuracy"].value == 1.0


def test_an_array_of_lists_is_read_as_the_lists() -> None:
    """NumPy and pandas hold lists of different lengths as objects."""
    tags = [["B-PER", "I-PER", "O"], ["O"], ["B-LOC", "O"]]
    lists = np.empty(3, object)
    lists[:] = tags
    for given in (lists, pd.Series(tags)):
        found = karat.evaluate(given, given, metrics=["f1"], allow_same=True)
        assert (found.context, found["f1"].value, set(found["f1"].by_class)) == ("spans", 1.0, {"LOC", "PER"})


def test_an_array_of_three_dimensions() -> None:
    with pytest.raises(karat.InputError, match="3 dimensions"):
        karat.evaluate(np.zeros((2, 2, 2)), np.zeros((2, 2, 2)))


@pytest.mark.parametrize("head", [b"PK\x03\x04\0", b"7z\xbc\xaf", b"%PDF-1.4\n\xff"])
def test_archives_are_named(tmp_path: Path, head: bytes) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(head + bytes(range(256)))
    assert [f.code for f in karat.validate(path)] == ["file-foreign"]


def test_a_label_that_begins_like_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("PK,A\nPL,B\n")
    assert not karat.validate(path)


def test_a_name_that_is_too_long() -> None:
    assert [f.code for f in karat.validate("x" * 5000)] == ["file-missing"]


def test_documents_without_any_span() -> None:
    gold = [{"id": "1", "spans": [{"start": 0, "end": 4, "label": "P"}]}]
    e = karat.evaluate(gold, [{"id": "1", "spans": []}])
    assert (e.context, e["f1"].value) == ("spans", 0.0)


@pytest.mark.parametrize("said", [None, "utf-8", "UTF8"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_utf8_however_it_is_said(tmp_path: Path, said: str | None, mark: str) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text(mark + '{"id": "1", "value": "é"}\n', encoding="utf-8")
    assert not karat.validate(path, encoding=said)
    path.write_bytes(b'{"id": "1", "value": "A"}\n{"id": "2", "value": "\xe9"}\n')
    assert [(f.code, f.line) for f in karat.validate(path, encoding=said)] == [("not-utf8", 2)]


def test_an_encoding_is_that_of_text_files(tmp_path: Path) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"id": ["1"], "value": ["é"]}), tmp_path / "gold.parquet")
    (tmp_path / "pred.csv").write_bytes("id,value\n1,é\n".encode("latin-1"))
    e = karat.evaluate(tmp_path / "gold.parquet", tmp_path / "pred.csv", encoding="latin-1")
    assert e["accuracy"].value == 1.0


def test_input_that_cannot_be_scored_is_a_value_error() -> None:
    """`except ValueError` is what a script that came from another tool says."""
    with pytest.raises(ValueError, match="length-differs") as caught:
        karat.evaluate(["a", "b"], ["a"])
    assert isinstance(caught.value, karat.InputError)
    assert [finding.code for finding in caught.value.findings] == ["length-differs"]
