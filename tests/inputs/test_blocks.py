"""JSON that is decoded in blocks says what it says as a whole."""

from __future__ import annotations

import gc
import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from karat.columns import Codes
from karat.read.json import _columns, array_lines
from karat.read.source import Source
from karat.values import Nested

EVEN = [{"id": str(i), "value": {"B": i / 40, "A": 1 - i / 40}} for i in range(40)]
LISTS = [{"id": str(i), "value": [f"L{i % 7}", "é"][: i % 3]} for i in range(1, 41)]
RECORDS: dict[str, list[Any]] = {
    "lists": LISTS,
    "lists with labels that come late": [*LISTS[:30], {"id": "9", "value": ["Z", "A"]}, *LISTS[31:]],
    "no list at all": [*LISTS[:9], {"id": "9", "value": None}, *LISTS[10:]],
    "nothing in a list": [*LISTS[:9], {"id": "9", "value": ["A", None]}, *LISTS[10:]],
    "a number in a list": [*LISTS[:9], {"id": "9", "value": ["1", 1]}, *LISTS[10:]],
    "a list in a list": [*LISTS[:9], {"id": "9", "value": ["A", ["B"]]}, *LISTS[10:]],
    "an object in a list": [*LISTS[:9], {"id": "9", "value": ["A", {"B": 1}]}, *LISTS[10:]],
    "objects among lists": [{"id": str(i), "value": ["A"] if i < 20 else {"A": 1}} for i in range(40)],
    "labels among lists": [{"id": str(i), "value": ["A"] if i < 20 else "A"} for i in range(40)],
    "even": EVEN,
    "another order of names": [*EVEN[:9], {"id": "9", "value": {"A": 0.25, "B": 0.75}}, *EVEN[10:]],
    "other names": [{"id": str(i), "value": {"A": 1} if i % 3 else {"B": 0.5, "C": 0.5}} for i in range(40)],
    "nothing at all": [*EVEN[:9], {"id": "9", "value": None}, *EVEN[10:]],
    "an object without names": [*EVEN[:9], {"id": "9", "value": {}}, *EVEN[10:]],
    "a truth": [*EVEN[:9], {"id": "9", "value": {"A": True, "B": 0}}, *EVEN[10:]],
    "large whole numbers": [*EVEN[:9], {"id": "9", "value": {"A": 2**70, "B": 0}}, *EVEN[10:]],
    "a number for a text": [*EVEN[:9], {"id": 9, "value": {"A": 1, "B": 0}}, *EVEN[10:]],
    "nothing for a text": [*EVEN[:9], {"id": None, "value": {"A": 1, "B": 0}}, *EVEN[10:]],
    "a list for a text": [*EVEN[:9], {"id": ["9"], "value": {"A": 1, "B": 0}}, *EVEN[10:]],
    "an object for a text": [*EVEN[:9], {"id": {"9": "9"}, "value": {"A": 1, "B": 0}}, *EVEN[10:]],
    "texts that come later": [{"id": str(i) if i > 9 else i, "value": "A"} for i in range(40)],
    "another field": [*EVEN[:9], {"id": "9", "value": {"A": 1, "B": 0}, "note": "x"}, *EVEN[10:]],
    "a text like the seam": [{"id": '},\n{"id"', "value": '}, {"id": 1'} for _ in range(40)],
    "objects like the seam": [{"id": str(i), "value": [{"id": 1}, {"id": 2}]} for i in range(40)],
}


def plain(column: Any) -> list[Any]:
    return column.rows() if isinstance(column, Nested) else list(column)


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("size", [1, 60, 500])
def test_blocks_say_what_the_whole_says(name: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    records = RECORDS[name]
    monkeypatch.setattr("karat.read.json.BLOCK", size)
    texts = {"json": json.dumps(records, indent=None), "jsonl": "\n".join(map(json.dumps, records))}
    texts |= {"json with lines": "[\n" + ",\n".join(map(json.dumps, records)) + "\n]\n"}
    names = dict.fromkeys(name for record in records for name in record)
    for kind, text in texts.items():
        columns, rows = _columns(text.encode(), kind.split()[0])
        found = {field: plain(column) for field, column in columns.items()}
        assert (found, rows) == ({n: [r.get(n) for r in records] for n in names}, len(records)), kind


def test_weights_are_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karat.read.json.BLOCK", 100)
    for records in (EVEN, RECORDS["other names"], RECORDS["nothing at all"]):
        value = _columns(json.dumps(records).encode(), "json")[0]["value"]
        assert isinstance(value, Nested)
        assert isinstance(value.members, np.ndarray)


def test_lists_of_texts_are_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karat.read.json.BLOCK", 100)
    for name in ("lists", "lists with labels that come late", "no list at all", "nothing in a list"):
        value = _columns(json.dumps(RECORDS[name]).encode(), "json")[0]["value"]
        assert isinstance(value, Nested), name
        assert isinstance(value.members, Codes), name


@pytest.mark.parametrize("on", [True, False])
def test_the_garbage_collector_is_left_as_it_was(on: bool) -> None:
    was_on = gc.isenabled()
    try:
        (gc.enable if on else gc.disable)()
        _columns(json.dumps(LISTS).encode(), "json")
        with pytest.raises(msgspec.DecodeError):
            _columns(b'[{"id": "1", "value": "A"', "json")
        assert gc.isenabled() == on
    finally:
        (gc.enable if was_on else gc.disable)()


def test_ids_that_are_weights_are_said(tmp_path: Path) -> None:
    import karat

    gold = tmp_path / "gold.json"
    gold.write_text(json.dumps([{"id": {"A": 1.0}, "value": "x"}, {"id": {"A": 0.5}, "value": "y"}]))
    with pytest.raises(karat.InputError) as error:
        karat.evaluate(gold, gold)
    assert [(f.code, f.line) for f in error.value.findings if f.code == "nested-id"][:2] == [("nested-id", 1)] * 2


def test_lines_of_records_behind_a_blank_line(tmp_path: Path) -> None:
    path = tmp_path / "gold.json"
    path.write_text('\n[{"id": "1",\n "value": "A"},\n {"id": "2", "value": "B"}]')
    with ExitStack() as stack:
        source = Source(str(path), stack)
        assert [line for _, lines in array_lines(source) for line in lines] == [2, 4]
