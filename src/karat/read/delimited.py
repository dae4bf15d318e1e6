# SPDX-License-Identifier: Apache-2.0
"""CSV and TSV, with or without a header."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from karat.findings import Finding, InputError, finding
from karat.read.pages import shape
from karat.read.relation import Engine, normalise, quoted
from karat.read.source import Source
from karat.read.table import NAMES, Read, Table, match_columns

csv.field_size_limit(1 << 28)

_BARE = {1: ("value",), 2: ("id", "value"), 3: ("test_case", "id", "value")}
"""What the columns of a file without a header are."""


def is_tsv(source: Source) -> bool:
    return b"\t" in _first_line(source)


def is_csv(source: Source) -> bool:
    return any(mark in _first_line(source) for mark in (b",", b";"))


def _first_line(source: Source) -> bytes:
    return source.sniff().split(b"\n", 1)[0]


def read_tsv(engine: Engine, source: Source, read: Read) -> Table:
    """Fields separated by tabs."""
    return _read(engine, source, read, "tsv", "\t")


def read_csv(engine: Engine, source: Source, read: Read) -> Table:
    """Fields separated by commas, or by semicolons where the first line has no comma."""
    return _read(engine, source, read, "csv", "," if b"," in _first_line(source) else ";")


def _read(engine: Engine, source: Source, read: Read, format: str, mark: str) -> Table:
    if bad := _broken_head(source):
        raise InputError(bad)
    first = next(_records(source.path, mark), (1, [""]))[1]
    header = is_header(first, read)
    names = _names(first, read, header)
    columns = ", ".join(f"'{n.replace(chr(39), chr(39) * 2)}': 'VARCHAR'" for n in names)
    raw = quoted(f"raw {read.role} {read.name}")
    scan = (
        f"read_csv({source.sql}, delim='{mark}', header={str(header).lower()}, columns={{{columns}}}, quote='\"', escape='\"',"
        " auto_detect=false, null_padding=false, strict_mode=true, nullstr='', comment='')"
    )
    try:
        engine.execute(f"CREATE OR REPLACE TEMP TABLE {raw} AS SELECT * FROM {scan}")
    except Exception as error:
        raise InputError(diagnose(source, mark, len(names)) or [_unknown(source, error, len(names))]) from error
    lines = lambda row: _line(source.path, mark, header, row)
    return normalise(engine, read, raw, format, line_of=lines, findings=source.findings)


def _broken_head(source: Source) -> list[Finding]:
    try:
        next(_records(source.path, ","), None)
    except (UnicodeDecodeError, csv.Error):
        return source.encoding_findings() or [
            finding("bad-row", source.name, 1, reason="the first line cannot be read", expected="?")
        ]
    return []


def is_header(first: list[str], read: Read) -> bool:
    """Is the first row a header? It is if it holds a name that the user gave, or usual names for id or value."""
    known = {c.strip().lower() for c in first}
    if shape(first, read):
        return True
    if read.columns:
        return any(c.lower() in known for c in read.columns.values())
    return len(match_columns(first, {}, NAMES).keys() & {"id", "value", "test_case"}) >= min(2, len(first))


def _names(first: list[str], read: Read, header: bool) -> list[str]:
    if header:
        names = [c.strip() or f"column{i + 1}" for i, c in enumerate(first)]
        return [n if n not in names[:i] else f"{n}_{i + 1}" for i, n in enumerate(names)]
    bare = _BARE.get(len(first))
    if bare is None or read.columns:
        found = f"{len(first)} columns without a header"
        role = next(iter(read.columns), "value")
        raise InputError([finding("missing-column", read.name, 1, role=role, expected="a header line", found=found)])
    return list(bare)


def _records(path: Path, mark: str) -> Iterator[tuple[int, list[str]]]:
    """Records with the physical line on which each begins."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, delimiter=mark, strict=False)
        before = 0
        for row in rows:
            if row:
                yield before + 1, row
            before = rows.line_num


def diagnose(source: Source, mark: str, width: int) -> list[Finding]:
    """Every row that has not as many fields as the first."""
    if bad := source.encoding_findings():
        return bad
    if bad := _open_quote(source, mark):
        return bad
    out = []
    for line, row in _records(source.path, mark):
        if len(row) != width:
            fields = "1 field" if len(row) == 1 else f"{len(row)} fields"
            out.append(
                finding("bad-row", source.name, line, reason=f"{fields} where {width} are expected", expected=width)
            )
    return out[:20] + ([finding("more", source.name, count=len(out) - 20, kind="bad-row")] if len(out) > 20 else [])


def _open_quote(source: Source, mark: str) -> list[Finding]:
    """A quote that opens and never closes, which would swallow the rest of the file."""
    opened, inside = 0, False
    for number, line in enumerate(source.lines(), 1):
        text = line.decode("utf-8", "replace")
        if text.count('"') % 2:
            inside = not inside
            opened = number if inside else opened
    if not inside:
        return []
    reason = "a quote opens here and is never closed"
    return [finding("bad-row", source.name, opened, reason=reason, expected="double a quote that belongs to the text")]


def _unknown(source: Source, error: Exception, width: int) -> Finding:
    return finding("bad-row", source.name, None, reason=str(error).splitlines()[0], expected=width)


@lru_cache(maxsize=4)
def _lines_of(path: Path, mark: str, header: bool, stamp: float) -> list[int]:
    return [line for line, _ in _records(path, mark)][1 if header else 0 :]


def _line(path: Path, mark: str, header: bool, row: int) -> int | None:
    lines = _lines_of(path, mark, header, path.stat().st_mtime)
    return lines[row] if row < len(lines) else None
