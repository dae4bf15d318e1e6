# SPDX-License-Identifier: Apache-2.0
"""JSON arrays of records, and JSON Lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from karat.findings import Finding, InputError, finding, limited
from karat.read.records import fields, sweep
from karat.read.relation import Engine, held, normalise, quoted
from karat.read.source import Source
from karat.read.table import NAMES, Read, Table, match_columns

DEEPEST = 100
"""Levels of nesting that a record may have; the engine stops at 128."""

_BLANK = re.compile(r"[\s,]*")
# Possessive: a text that never ends would be tried again from each of its characters.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[{]|[\]}]', re.S)


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
    if layout == "array" and not source.ends_an_array():
        raise InputError(diagnose(source, format) or [_no_fields(source)])
    swept = sweep(source, format, read.columns)
    table = held(engine, read, _scan(source, layout, swept.types, read), format, swept) if swept else None
    if table is None:
        return _read_relation(engine, source, read, format, layout)
    table.findings += source.findings
    table.line_of = lambda row: line_of(source, format, row)
    return table


def _read_relation(engine: Engine, source: Source, read: Read, format: str, layout: str) -> Table:
    """What is not alike in every record, or large, is read by the engine, which finds out and says what is wrong."""
    raw = quoted(f"raw {read.role} {read.name}")
    try:
        found = _fields(engine, source, format, layout)
        engine.execute(f"CREATE OR REPLACE TEMP TABLE {raw} AS SELECT * FROM {_scan(source, layout, found, read)}")
        _plain_ids(engine, source, match_columns(found, read.columns), raw, format, layout)
    except InputError:
        raise
    except Exception as error:
        raise InputError(diagnose(source, format) or [_no_fields(source)]) from error
    lines = lambda row: line_of(source, format, row)
    return normalise(engine, read, raw, format, json_text=True, line_of=lines, findings=source.findings)


def _fields(engine: Engine, source: Source, format: str, layout: str) -> Mapping[str, str]:
    """The fields of the records. The engine forgives a comma before a brace; where every record is decoded, it is found."""
    found = fields(source, format)
    if found is None and (bad := diagnose(source, format)):
        raise InputError(bad)
    scan = f"read_json({source.sql}, format='{layout}', records=true, map_inference_threshold=-1)"
    return found or engine.types(scan)


def _scan(source: Source, layout: str, found: Mapping[str, str], read: Read) -> str:
    """The value stays JSON, so that "1" and 1, or a list and its text, are told apart; the rest is text."""
    value = match_columns(found, read.columns).get("value")
    columns = ", ".join(f"{quoted(c)}: '{'JSON' if c == value else 'VARCHAR'}'" for c in found)
    return f"read_json({source.sql}, format='{layout}', records=true, columns={{{columns}}})"


def _plain_ids(engine: Engine, source: Source, roles: Mapping[str, str], raw: str, format: str, layout: str) -> None:
    """Stop at ids that are lists or objects; ids are read as text, so those that look nested are read again as JSON."""
    names = {field: quoted(roles[field]) for field in ("id", "test_case") if field in roles}
    if not names:
        return
    nested = " OR ".join(f"left({c}, 1) IN ('[', '{{')" for c in names.values())
    if not engine.run(f"SELECT count(*) AS n FROM {raw} WHERE {nested}")["n"][0]:
        return
    for field, c in names.items():
        scan = f"read_json({source.sql}, format='{layout}', records=true, columns={{{c}: 'JSON'}})"
        rows = engine.run(
            f"SELECT nth FROM (SELECT {c} AS id, row_number() OVER () - 1 AS nth FROM {scan})"
            " WHERE json_type(id) IN ('ARRAY', 'OBJECT') ORDER BY nth"
        )["nth"].tolist()
        bad = [finding("nested-id", source.name, line_of(source, format, at), field=field) for at in rows]
        if bad:
            raise InputError(limited(bad))


def _no_fields(source: Source) -> Finding:
    expected = "one of " + ", ".join(NAMES["value"][:5]) + ", …"
    return finding("missing-column", source.name, role="value", expected=expected, found="no fields that can be read")


def diagnose(source: Source, format: str) -> list[Finding]:
    """Why a file is not the JSON that it should be."""
    if bad := source.encoding_findings():
        return bad
    text = source.bytes().decode("utf-8-sig")
    return _diagnose_lines(source, text) if format == "jsonl" else _diagnose_array(source, text)


def _diagnose_lines(source: Source, text: str) -> list[Finding]:
    if _is_one_object(text):
        return [finding("not-records", source.name, 1, found="one object over several lines")]
    lines = ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())
    return limited(bad for number, line in lines for bad in _diagnose_record(source, line, number))


def _is_one_object(text: str) -> bool:
    """Is the whole text one object, written over several lines?"""
    try:
        return isinstance(json.loads(text), dict) and "\n" in text.strip()
    except (ValueError, RecursionError):
        return False


def _diagnose_array(source: Source, text: str) -> list[Finding]:
    if deep := _too_deep(text, 1):
        return [finding("bad-json", source.name, deep, reason="nested too deeply")]
    try:
        records = json.loads(text)
    except json.JSONDecodeError as error:
        return [finding("bad-json", source.name, error.lineno, reason=f"{error.msg} (column {error.colno})")]
    if not isinstance(records, list):
        return [finding("not-records", source.name, 1, found=_said(records))]
    if not records:
        return [finding("no-records", source.name)]
    return limited(bad for line, record in _array_records(text) for bad in _diagnose_record(source, record, line))


def _diagnose_record(source: Source, text: str, line: int) -> list[Finding]:
    try:
        value = _strict(text)
        text.encode()
        json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        reason = f"{error.msg} (column {error.colno})"
        return [finding("bad-json", source.name, line + error.lineno - 1, reason=reason)]
    except UnicodeEncodeError:
        return [finding("bad-json", source.name, line, reason="half of a surrogate pair (\\ud800 to \\udfff)")]
    except RecursionError:
        return [finding("bad-json", source.name, line, reason="nested too deeply")]
    except ValueError as error:
        return [finding("bad-json", source.name, line, reason=error)]
    if not isinstance(value, dict):
        return [finding("not-records", source.name, line, found=_said(value))]
    if _too_deep(text, line):
        return [finding("bad-json", source.name, line, reason="nested too deeply")]
    return []


def _strict(text: str) -> Any:
    return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    seen = dict(pairs)
    if len(seen) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the field {next(k for k in keys if keys.count(k) > 1)!r} is there twice")
    return seen


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _too_deep(text: str, line: int) -> int | None:
    """The line on which the nesting gets too deep, if it does."""
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if depth > DEEPEST:
            return line + text.count("\n", 0, token.start())
    return None


def _said(value: Any) -> str:
    names = {str: "a text", dict: "one object", list: "a list", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number") + " in place of a record"


@lru_cache(maxsize=4)
def _lines_of(path: Path, format: str, stamp: float) -> list[int]:
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    if format == "jsonl":
        return [number for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    return [line for line, _ in _array_records(text)]


def line_of(source: Source, format: str, row: int) -> int | None:
    """The physical line on which a record begins."""
    lines = _lines_of(source.path, format, source.path.stat().st_mtime)
    return lines[row] if row < len(lines) else None


def _array_records(text: str) -> Iterator[tuple[int, str]]:
    """The records of an array as texts, and the line on which each begins."""
    decode, at = json.JSONDecoder().raw_decode, text.index("[") + 1
    line, counted = 1, 0
    while True:
        at = _BLANK.match(text, at).end()  # type: ignore[union-attr]
        if at >= len(text) or text[at] == "]":
            return
        line, counted = line + text.count("\n", counted, at), at
        end = decode(text, at)[1]
        yield line, text[at:end]
        at = end
