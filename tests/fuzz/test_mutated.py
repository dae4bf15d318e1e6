"""Whatever happens to a good file, karat ends with scores or with findings: never with a traceback, never with NaN."""

from __future__ import annotations

import json
import math
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.findings import Finding

ROWS = [("d1", "A"), ("d2", "B"), ("d3", 'A, or "B"'), ("d4", "Ünïcode"), ("d5", "[x]"), ("d6", "1.0")]
GOOD = {
    "json": json.dumps([{"id": i, "value": v} for i, v in ROWS], indent=1),
    "lists.json": json.dumps([{"test_case": "T", "id": i, "value": [v, "C"]} for i, v in ROWS]),
    "weights.jsonl": "\n".join(json.dumps({"id": i, "value": {v: 0.5, "C": 0.5}}) for i, v in ROWS),
    "jsonl": "\n".join(json.dumps({"id": i, "value": v}) for i, v in ROWS) + "\n",
    "csv": "id,value\n" + "".join(f'{i},"{v.replace(chr(34), chr(34) * 2)}"\n' for i, v in ROWS),
    "tsv": "test_case\tid\tvalue\r\n" + "".join(f"T\t{i}\t{v}\r\n" for i, v in ROWS if '"' not in v),
}

PIECES = st.sampled_from(
    [b'"', b"'", b",", b";", b"\t", b"\n", b"\r", b"\r\n", b"{", b"}", b"[", b"]", b":", b"\\", b"\0", b"\xff", b"\xe9", b"\xef\xbb\xbf",
     b"null", b"NaN", b"-Infinity", b"1e999", b"\\ud800", b"\\u0000", b"true", b'"value"', b'"id"', b"[" * 200, b"\xed\xa0\x80"]
)  # fmt: skip
EDITS = st.lists(
    st.tuples(st.sampled_from(["put", "cut", "swap", "twice"]), st.floats(0, 1), st.floats(0, 1), PIECES),
    min_size=1,
    max_size=4,
)


def mutated(content: bytes, edits: list[tuple[str, float, float, bytes]]) -> bytes:
    for how, a, b, piece in edits:
        low, high = sorted((int(a * len(content)), int(b * len(content))))
        high = min(high, low + 40)
        middle = {"put": piece + content[low:high], "cut": b"", "swap": piece, "twice": content[low:high] * 2}[how]
        content = content[:low] + middle + content[high:]
    return content


def outcome(path: Path, **options: Any) -> None:
    """Either every score is a finite number or undefined for a reason, or findings say what is wrong."""
    findings: list[Finding] = []
    try:
        scores = list(karat.evaluate(str(path), str(path), **options, allow_same=True).systems[0])
    except karat.InputError as error:
        scores, findings = [], error.findings
    assert scores or findings
    assert all(f.message and f.hint for f in findings)
    assert all(score.undefined or math.isfinite(score.value or 0) for score in scores)


@pytest.mark.parametrize("name", GOOD)
@given(edits=EDITS)
@settings(max_examples=25, deadline=None)
def test_edited_file(name: str, edits: list[tuple[str, float, float, bytes]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"file.{name}"
        path.write_bytes(mutated(GOOD[name].encode(), edits))
        outcome(path)


@pytest.mark.parametrize("format", ["json", "jsonl", "csv", "tsv", "parquet", "arrow"])
@given(content=st.binary(max_size=80) | st.text(max_size=80).map(str.encode))
@settings(max_examples=15, deadline=None)
def test_any_bytes_in_a_named_format(format: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(content)
        outcome(path, format=format)


@pytest.mark.slow
@pytest.mark.parametrize("name", GOOD)
@given(edits=EDITS)
@settings(max_examples=1500, deadline=None)
def test_many_edited_files(name: str, edits: list[tuple[str, float, float, bytes]]) -> None:
    test_edited_file.hypothesis.inner_test(name, edits)  # type: ignore[attr-defined]
