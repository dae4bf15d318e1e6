# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a large file is found, wherever the fault stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import karat
from karat.findings import InputError

RECORDS = [{"id": str(n), "value": "ABC"[n % 3], "note": "x: " * 13} for n in range(30_000)]
PLAIN = [{"id": str(n), "value": "ABC"[n % 3], "note": "x" * 39} for n in range(30_000)]


def written(path: Path, records: list[str]) -> str:
    text = {
        ".json": "[" + ",\n".join(records) + "]",
        ".jsonl": "\n".join(records),
        ".csv": "\n".join(["id,value,note", *records]),
    }[path.suffix]
    path.write_text(text, encoding="utf-8")
    return str(path)


def errors(gold: str, pred: str | dict[str, str]) -> list[tuple[str, int | None]]:
    try:
        karat.evaluate(gold, pred, metrics=["accuracy"])
    except karat.InputError as error:
        return [(f.code, f.line) for f in error.findings if f.severity == "error"]
    return []


@pytest.mark.parametrize("suffix", ["json", "jsonl", "csv"])
@pytest.mark.parametrize("at", [3, 15_000, 29_990])
@pytest.mark.parametrize("records", [RECORDS, PLAIN], ids=["with colons", "plain"])
def test_one_fault_among_many_records(suffix: str, at: int, records: list[dict[str, str]], tmp_path: Path) -> None:
    lines = [",".join(r.values()) if suffix == "csv" else json.dumps(r) for r in records]
    sound = written(tmp_path / f"gold.{suffix}", lines)
    assert not errors(sound, written(tmp_path / f"pred.{suffix}", lines))
    lines[at] = lines[at] + ",more" if suffix == "csv" else lines[at].replace('"value"', '"value')
    found = errors(sound, written(tmp_path / f"broken.{suffix}", lines))
    assert found == [("bad-row", at + 2) if suffix == "csv" else ("bad-json", at + 1)]


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_every_fault_is_found_and_nothing_sound_is_named(suffix: str, tmp_path: Path) -> None:
    """Sound records are passed over some hundreds at a time: no fault among them is."""
    lines = [json.dumps(record) for record in RECORDS[:3000]]
    faults = {0: '{"id": "0", "id": "x", "value": "A"}', 499: '{"id": "499", "value": NaN}', 500: "7", 1234: '{"id": "a", "value": "\\ud800"}',
              2998: '{"id": "b", "value": {"A": 1, "A": 2}}', 2999: '{"id": "c", "value": ' + "[" * 120 + "]" * 120 + "}"}  # fmt: skip
    for at, text in faults.items():
        lines[at] = text
    with pytest.raises(karat.InputError) as caught:
        karat.evaluate(written(tmp_path / f"gold.{suffix}", lines), ["A"])
    found = [f.line for f in caught.value.findings if f.line and f.file and f.file.endswith(suffix)]
    assert found == [at + 1 for at in faults]


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
@pytest.mark.parametrize(("opening", "closing", "most"), [("[", "]", 99), ('{"a":', "}", 99), ('[{"a":', "}]", 49)])
def test_of_a_file_that_cannot_be_read_the_depth_is_said_too(
    opening: str, closing: str, most: int, suffix: str, tmp_path: Path
) -> None:
    """A hundred brackets may be open, that of the record first; of "[{" there are two at once."""
    for many, deep in ((most, []), (most + 1, [("bad-json", 3)])):
        rows = [f'{{"id": "{i}", "value": "A"}}' for i in range(4)]
        rows[0] = '{"id": "0", "id": "0", "value": "A"}'
        rows[2] = f'{{"id": "2", "value": "A", "x": {opening * many}1{closing * many}}}'
        pred = {str(i): "A" for i in range(4)}
        assert errors(written(tmp_path / f"gold.{suffix}", rows), pred) == [("bad-json", 1), *deep]


@pytest.mark.parametrize("before", [0, 20_000])
@pytest.mark.parametrize("quoted", ["", 'q,"B\rC"\n'])
def test_a_carriage_return_that_stands_alone_has_its_line(before: int, quoted: str, tmp_path: Path) -> None:
    rows = "".join(f"{n},A\n" for n in range(before))
    path = tmp_path / "pred.csv"
    path.write_bytes(f"id,value\n{rows}{quoted}x,A\ry,A\nz,B\n".encode())
    sound = tmp_path / "gold.csv"
    sound.write_bytes(f"id,value\n{rows}x,A\ny,A\nz,B\n".encode())
    assert errors(str(sound), str(path)) == [("bad-row", before + 2 + bool(quoted))]


@pytest.mark.parametrize("at", [3, 15_000, 29_990])
def test_one_fault_in_an_array_without_a_blank(at: int, tmp_path: Path) -> None:
    """Of an array on one line that is read in parts, the column of the fault is said, and no other."""
    records = [json.dumps(record, separators=(",", ":")) for record in PLAIN]
    sound = written_whole(tmp_path / "gold.json", records)
    records[at] = records[at].replace('"value"', '"value')
    broken = written_whole(tmp_path / "pred.json", records)
    with pytest.raises(karat.InputError) as caught:
        karat.evaluate(sound, broken)
    text = Path(broken).read_text()
    with pytest.raises(json.JSONDecodeError) as expected:
        json.loads(text)
    said = [(f.code, f.line, f.facts["reason"]) for f in caught.value.findings]
    assert said == [("bad-json", 1, f"{expected.value.msg} (column {expected.value.colno})")]


def written_whole(path: Path, records: list[str]) -> str:
    path.write_text("[" + ",".join(records) + "]")
    return str(path)


def test_a_first_line_of_four_unknown_names_is_shown(tmp_path: Path) -> None:
    """It was said to be "4 columns without a known name"."""
    path = tmp_path / "gold.csv"
    path.write_text("ticket,team,language,body\nT1,Sales,de,x\nT2,Billing,en,y\n")
    with pytest.raises(InputError, match=r"the columns are: ticket, team, language, body\n.*gold_value.: .body"):
        karat.evaluate(path, {"T1": "Sales", "T2": "Billing"})
