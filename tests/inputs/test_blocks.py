"""JSON that is decoded in blocks says what it says as a whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from karat.read.json import _columns
from karat.values import Nested

EVEN = [{"id": str(i), "value": {"B": i / 40, "A": 1 - i / 40}} for i in range(40)]
RECORDS: dict[str, list[Any]] = {
    "even": EVEN,
    "another order of names": [*EVEN[:9], {"id": "9", "value": {"A": 0.25, "B": 0.75}}, *EVEN[10:]],
    "other names": [{"id": str(i), "value": {"A": 1} if i % 3 else {"B": 0.5, "C": 0.5}} for i in range(40)],
    "nothing at all": [*EVEN[:9], {"id": "9", "value": None}, *EVEN[10:]],
    "an object without names": [*EVEN[:9], {"id": "9", "value": {}}, *EVEN[10:]],
    "a truth": [*EVEN[:9], {"id": "9", "value": {"A": True, "B": 0}}, *EVEN[10:]],
    "large whole numbers": [*EVEN[:9], {"id": "9", "value": {"A": 2**70, "B": 0}}, *EVEN[10:]],
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


def test_ids_that_are_weights_are_said(tmp_path: Path) -> None:
    import karat

    gold = tmp_path / "gold.json"
    gold.write_text(json.dumps([{"id": {"A": 1.0}, "value": "x"}, {"id": {"A": 0.5}, "value": "y"}]))
    with pytest.raises(karat.InputError) as error:
        karat.evaluate(gold, gold)
    assert [(f.code, f.line) for f in error.value.findings if f.code == "nested-id"][:2] == [("nested-id", 1)] * 2
