# SPDX-License-Identifier: Apache-2.0
"""JSON arrays of records, and JSON Lines."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from karat.findings import Finding, InputError, finding
from karat.read.relation import Engine, normalise, quoted
from karat.read.source import Source
from karat.read.table import Read, Table, match_columns

_BLANK = re.compile(r"[\s,]*")


def is_json(source: Source) -> bool:
    return source.sniff()[:1] == b"["


def is_jsonl(source: Source) -> bool:
    return source.sniff()[:1] == b"{"


def read_json(engine: Engine, source: Source, read: Read) -> Table:
    """An array of records: ``[{"id": …, "value": …}, …]``."""
    return _read(engine, source, read, "json", "array")


def read_jsonl(engine: Engine, source: Source, read: Read) -> Table:
    """One record a line."""
    return _read(engine, source, read, "jsonl", "newline_delimited")


def _read(engine: Engine, source: Source, read: Read, format: str, layout: str) -> Table:
    try:
        found = engine.types(f"read_json({source.sql}, format='{layout}', records=true, map_inference_threshold=-1)")
        columns = ", ".join(f"{quoted(c)}: '{_type(c, found, read)}'" for c in found)
        if not columns:
            raise ValueError("no field in any record")
        raw = quoted(f"raw {read.role} {read.name}")
        scan = f"read_json({source.sql}, format='{layout}', records=true, columns={{{columns}}})"
        engine.execute(f"CREATE OR REPLACE TEMP TABLE {raw} AS SELECT * FROM {scan}")
    except Exception as error:
        raise InputError(diagnose(source, format) or [_unknown(source, error)]) from error
    lines = lambda row: _line(source.path, format, row)
    return normalise(engine, read, raw, format, json_text=True, line_of=lines, findings=source.findings)


def _type(column: str, found: dict[str, str], read: Read) -> str:
    """The value stays JSON, so that "1" and 1, or a list and its text, are told apart; the rest is text."""
    return "JSON" if match_columns(found, read.columns).get("value") == column else "VARCHAR"


def _unknown(source: Source, error: Exception) -> Finding:
    return finding("bad-json", source.name, reason=str(error).splitlines()[0])


def diagnose(source: Source, format: str) -> list[Finding]:
    """Why a file is not the JSON that it should be."""
    if bad := source.encoding_findings():
        return bad
    text = source.bytes().decode()
    return _diagnose_lines(source, text) if format == "jsonl" else _diagnose_array(source, text)


def _diagnose_lines(source: Source, text: str) -> list[Finding]:
    out: list[Finding] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and len(out) < 20:
            out += _diagnose_text(source, line, number - 1, dict)
    return out


def _diagnose_array(source: Source, text: str) -> list[Finding]:
    out = _diagnose_text(source, text, 0, list)
    if out:
        return out
    starts = _record_lines(text)
    records = json.loads(text)
    if not records:
        return [finding("no-records", source.name)]
    bad = [(starts[i], r) for i, r in enumerate(records) if not isinstance(r, dict)]
    return [finding("not-records", source.name, line, found=f"{_said(r)} in it") for line, r in bad[:20]]


def _diagnose_text(source: Source, text: str, before: int, expected: type) -> list[Finding]:
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        where = f"{error.msg} (column {error.colno})"
        return [finding("bad-json", source.name, before + error.lineno, reason=where)]
    except ValueError as error:
        return [finding("bad-json", source.name, before + 1, reason=error)]
    except RecursionError:
        return [finding("bad-json", source.name, before + 1, reason="nested too deeply")]
    if not isinstance(value, expected):
        return [finding("not-records", source.name, before + 1, found=_said(value))]
    return []


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _said(value: Any) -> str:
    names = {str: "a text", dict: "one object", list: "a list", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


@lru_cache(maxsize=4)
def _lines_of(path: Path, format: str, stamp: float) -> list[int]:
    text = path.read_text(encoding="utf-8", errors="replace")
    if format == "jsonl":
        return [number for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    return _record_lines(text)


def _line(path: Path, format: str, row: int) -> int | None:
    lines = _lines_of(path, format, path.stat().st_mtime)
    return lines[row] if row < len(lines) else None


def _record_lines(text: str) -> list[int]:
    """The line on which each record of an array begins."""
    decode, at, out = json.JSONDecoder().raw_decode, text.index("[") + 1, list[int]()
    line, counted = 1, 0
    while True:
        at = _BLANK.match(text, at).end()  # type: ignore[union-attr]
        if at >= len(text) or text[at] == "]":
            return out
        line, counted = line + text.count("\n", counted, at), at
        out.append(line)
        at = decode(text, at)[1]
