# SPDX-License-Identifier: Apache-2.0
"""CSV and TSV, with or without a header."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice, pairwise
from mmap import ACCESS_READ, mmap
from pathlib import Path

from karat.columns import ROW
from karat.findings import Finding, InputError, finding, limited
from karat.read import table
from karat.read.fast.bare_rows import bare_rows
from karat.read.names import INDEX, NAMES, TEXTS, match_columns
from karat.read.pages import shape
from karat.read.repeated import must_differ
from karat.read.roles import Records
from karat.read.source import Source, path_literal, quoted
from karat.read.table import Engine, Read
from karat.side import Origin

csv.field_size_limit(1 << 28)

_BARE = {1: ("value",), 2: ("id", "value"), 3: ("test_case", "id", "value")}
"""What the columns of a file without a header are."""
LONGEST_ROW = 2_000_000
"""Bytes of a row that the engine reads; a longer one is a quote that never closes, or a file in a cell."""
_SURE = {"id", "test_case", "item_id", "doc_id", "document_id", "query_id"}
"""Names that nobody uses for data: one of them makes the first row a header."""
_WORDS = {"actual", "expected", "output"}
"""Names that alone on a line may as well be a label."""
_USUAL = {*NAMES["id"], *NAMES["value"], *NAMES["test_case"], *TEXTS}

_DIGIT = re.compile(r"\d")
_NUMBER = re.compile(r"\s*[+-]?\d+([.,]\d+)?([eE][+-]?\d+)?\s*")
_NAME = re.compile(r"\.[ct]sv(\.\w+)?$", re.IGNORECASE)
SAMPLE = 1000
"""Lines that tell whether the first is one of them."""


def is_tsv(source: Source) -> bool:
    return b"\t" in _first_line(source)


def is_csv(source: Source) -> bool:
    """Commas or semicolons, or a single column that a header or the file's name tells."""
    line = _first_line(source)
    alone = line.decode(errors="replace").strip().lower() in NAMES["value"]
    return alone or b"," in line or b";" in line or _NAME.search(source.name) is not None


def _first_line(source: Source) -> bytes:
    return source.start.replace(b"\r", b"\n").split(b"\n", 1)[0]


def read_tsv(engine: Engine, source: Source, read: Read) -> Records:
    """Fields separated by tabs."""
    return _read(engine, source, read, "tsv", "\t")


def read_csv(engine: Engine, source: Source, read: Read) -> Records:
    """Fields separated by commas, semicolons or bars: whichever makes the first line a header, else commas or semicolons."""
    line = _first_line(source).decode(errors="replace")
    marks = [m for m in ",;|" if m in line]
    telling = (m for m in marks if is_header(next(csv.reader([line], delimiter=m)), read))
    return _read(engine, source, read, "csv", next(telling, ";" if marks[:1] == [";"] else ","))


def _read(engine: Engine, source: Source, read: Read, format: str, mark: str) -> Records:
    if source.has_nul() or (source.findings and not source.start):
        raise InputError(source.encoding_findings())
    first = _first_record(source, mark)
    header = is_header(first, read) or _begins_with_index(source, mark, first)
    if not header and not _named(read) and _stands_apart(source, mark, first):
        columns = list(zip(*_others(source, mark, first), strict=True))
        if _reads_like_header(first, columns):
            raise InputError([_unclear("header-unclear", first, columns, read)])
        source.findings.append(_unclear("header-doubted", first, columns, read))
    names = _names(first, read, header)
    origin = Origin(read.name, read.role, format, lambda row: _line(source.path, mark, header, row))
    if (bare := bare_rows(source, mark, header, names, table.WAITING)) is not None:
        return Records(origin, bare, len(bare[names[0]]), typed=False, findings=list(source.findings))
    _must_have_lines(source, len(names))
    raw = quoted(f"raw {read.role} {read.name}")
    broken = header and any(end in name for name in first for end in "\r\n")
    body = source.at(source.written(_with_brief_header(source, mark, len(names)))) if broken else source
    try:
        _load(engine, raw, body.path, mark, header, names)
    except InputError:
        raise
    except Exception as error:
        if bad := diagnose(source, mark, len(names)):
            raise InputError(bad) from error
        _load_again(engine, raw, body, mark, header, names)
    if len(names) == 1:
        _drop_last_blanks(engine, raw, names[0])
    columns = engine.lazily(raw, numbered=f"(SELECT *, rowid AS {ROW} FROM {raw})")
    return Records(origin, columns, columns.count(), typed=False, findings=list(source.findings))


def _with_brief_header(source: Source, mark: str, width: int) -> Iterator[bytes]:
    """The file with a header of one line: a break inside a name is to the engine what ends each line, and it finds no row then."""
    with source.path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        rows = csv.reader(file, delimiter=mark, skipinitialspace=True)
        next(filter(None, rows))
        file.seek(0)
        *_, last = islice(file, rows.line_num)
        end = last[len(last.rstrip("\r\n")) :]
        yield f"{mark.join('x' * width)}{end}".encode()
        yield from (line.encode(errors="surrogateescape") for line in file)


def _load(engine: Engine, raw: str, path: Path, mark: str, header: bool, names: Sequence[str]) -> None:
    """All columns as text; an empty field is null, a quoted empty field is empty."""
    columns = ", ".join(f"'{n.replace(chr(39), chr(39) * 2)}': 'VARCHAR'" for n in names)
    scan = (
        f"read_csv({path_literal(path)}, delim='{mark}', header={str(header).lower()}, columns={{{columns}}}, quote='\"',"
        " escape='\"', auto_detect=false, null_padding=false, strict_mode=true, nullstr='', allow_quoted_nulls=false,"
        " comment='')"
    )
    engine.execute(f"CREATE OR REPLACE TEMP TABLE {raw} AS SELECT * FROM {scan}")


def _load_again(engine: Engine, raw: str, source: Source, mark: str, header: bool, names: Sequence[str]) -> None:
    """A file in which nothing is wrong may still mix CR LF and LF, which the engine refuses."""
    path = source.with_plain_line_ends()
    try:
        _load(engine, raw, path or source.path, mark, header, names)
    except InputError:
        raise
    except Exception as error:
        for line, size in _sizes(source, mark):
            if size > LONGEST_ROW:
                raise _too_long(source, line, size, len(names)) from error
        at, reason = _lone_return(source), "the rows cannot be told apart"
        if at is not None:
            reason += ": a carriage return stands alone, where a line feed ends rows"
        raise InputError([finding("bad-row", source.name, at, reason=reason, expected=len(names))]) from error


def _lone_return(source: Source) -> int | None:
    """The first line with a carriage return outside of quotes that no line feed follows."""
    content, quotes, seen = source.bytes(), 0, 0
    for match in re.finditer(rb"\r(?!\n)", content):
        quotes, seen = quotes + content.count(b'"', seen, match.start()), match.start()
        if quotes % 2 == 0:
            return content.count(b"\n", 0, seen) + 1
    return None


def _must_have_lines(source: Source, width: int) -> None:
    """Of a line that is longer than it can read and the last of a file the engine says nothing and drops it."""
    with source.path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        begin = 0
        while len(content) - begin > LONGEST_ROW:
            most = begin + LONGEST_ROW
            last = max(content.rfind(b"\n", begin, most), content.rfind(b"\r", begin, most))
            if last < 0:
                line = content[:begin].count(b"\n") + 1
                end = content.find(b"\n", most)
                raise _too_long(source, line, (end if end >= 0 else len(content)) - begin, width)
            begin = last + 1


def _too_long(source: Source, line: int, size: int, width: int) -> InputError:
    reason = f"the row has {size:,} bytes, where {LONGEST_ROW:,} are the most that can be read"
    return InputError([finding("bad-row", source.name, line, reason=reason, expected=width)])


def _sizes(source: Source, mark: str) -> Iterator[tuple[int, int]]:
    """The line on which each record begins, and the bytes of its lines."""
    lines = map(len, source.lines())
    begins = (line for line, _ in _records(source.path, mark))
    for begin, end in pairwise(chain(begins, [sys.maxsize])):
        yield begin, sum(islice(lines, end - begin))


def _drop_last_blanks(engine: Engine, raw: str, name: str) -> None:
    """In a file of one column, blank lines at the end are no records."""
    last = f"SELECT coalesce(max(rowid), -1) FROM {raw} WHERE {quoted(name)} IS NOT NULL"
    engine.execute(f"DELETE FROM {raw} WHERE rowid > ({last})")


def _first_record(source: Source, mark: str) -> list[str]:
    try:
        return next(_records(source.path, mark), (1, [""]))[1]
    except (UnicodeDecodeError, csv.Error) as error:
        reason = "the first line cannot be read"
        bad = source.encoding_findings() or _bad_quote(source, mark)
        raise InputError(bad or [finding("bad-row", source.name, 1, reason=reason, expected="?")]) from error


def is_header(first: Sequence[str], read: Read) -> bool:
    """Is the first row a header? It is if it holds a name that the user gave, or two usual ones: id, label, text, …"""
    known = {c.strip().lower() for c in first}
    if shape(first, read):
        return True
    if named := {name.lower() for name in _named(read).values()}:  # who names columns has a header, but for our names
        return bool(named & known) or not named <= {*_BARE.get(len(first), ())}
    if len(first) == 1 and known & _WORDS:
        return False
    roles = match_columns(list(first), {}, NAMES).keys() & {"id", "value", "test_case"}
    return (bool(roles) and len(known & _USUAL) >= min(2, len(first))) or bool(known & _SURE)


def _begins_with_index(source: Source, mark: str, first: Sequence[str]) -> bool:
    """Is only the first name blank, as pandas leaves that of its index, where the rows behind have something there?"""
    if len(first) < 2 or first[0].strip() or not all(c.strip() for c in first[1:]):
        return False
    return any(row and row[0].strip() for row in csv.reader(_behind(source), delimiter=mark))


def _behind(source: Source) -> list[str]:
    return source.head.decode(errors="replace").splitlines()[1:SAMPLE]


def _stands_apart(source: Source, mark: str, first: Sequence[str]) -> bool:
    """Are these words whose last is the value of no row behind?"""
    words = [c.strip() for c in first if c.strip().lower() not in INDEX]
    if not 2 <= len(first) <= 3 or not all(c and len(c) < 40 and not _DIGIT.search(c) for c in words):
        return False
    others = _others(source, mark, first)
    return len(others) > 1 and first[-1] not in {row[-1] for row in others}


def _reads_like_header(first: Sequence[str], behind: Sequence[Sequence[str]]) -> bool:
    """Are these names that are no ids and labels of the rows behind? To count them as a record would change every score."""
    known = match_columns(list(first), {}, NAMES)
    return bool(known) or any(map(_numbers, behind)) or any(all(map(_DIGIT.search, column)) for column in behind[:-1])


def _others(source: Source, mark: str, first: Sequence[str]) -> list[list[str]]:
    return [row for row in csv.reader(_behind(source), delimiter=mark) if len(row) == len(first)]


def _numbers(column: Sequence[str]) -> bool:
    return all(map(_NUMBER.fullmatch, column))


def _unclear(code: str, first: Sequence[str], behind: Sequence[Sequence[str]], read: Read) -> Finding:
    """The value is the last column, but for numbers beside words: those say how sure it is. Scores of classes are many."""
    names = [c.strip() for c in first]
    known = match_columns(names, {}, NAMES)
    others = [(_numbers(column), name) for name, column in zip(names, behind, strict=True)][::-1]
    value = known.get("value") or next(n for _, n in sorted(others[:-1], key=lambda o: o[0]) if n != known.get("id"))
    id = known.get("id") or next(n for n in names if n != value)
    scores = [name for name, column in zip(names, behind, strict=True) if _numbers(column) and "." in "".join(column)]
    option = f" --{read.side}-value {value}" if read.side else f" --value {value}"
    option = "" if len(scores) > 1 else option
    return finding(code, read.name, 1, names=", ".join(names), id=id, value=value, option=option)


def _named(read: Read) -> dict[str, str]:
    """The columns that the user named and that any file must have; gold alone has those to cluster by."""
    return {role: name for role, name in read.columns.items() if role != "cluster" and name}


def _names(first: list[str], read: Read, header: bool) -> list[str]:
    if header:
        return _distinct([c.strip() or f"Unnamed: {i}" for i, c in enumerate(first)], read)
    bare = _BARE.get(len(first))
    if bare is None:
        names = [c.strip() for c in first]
        facts = {"role": "value", "expected": "the first line has no usual name", "found": ", ".join(names)}
        option = f"--{read.side}-value" if read.side else "--value"
        way_out = (
            f"write a header line with names such as id and value, or name a column: {option} {names[-1] or 'COLUMN'}"
        )
        raise InputError([finding("missing-column", read.name, 1, **facts, way_out=way_out)])
    return list(bare)


def _distinct(names: list[str], read: Read) -> list[str]:
    """Names that differ in more than case; a repeat of a column that we need is an error."""
    must_differ(names, read, 1)
    folded = [n.lower() for n in names]
    return [n if n.lower() not in folded[:i] else f"{n}_{i + 1}" for i, n in enumerate(names)]


def _records(path: Path, mark: str, strict: bool = False, blank: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Records with the physical line on which each begins; ``blank`` lines are records where there is one column."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, delimiter=mark, strict=strict, skipinitialspace=True)
        before = 0
        for row in rows:
            if row or blank:
                yield before + 1, row
            before = rows.line_num


def diagnose(source: Source, mark: str, width: int) -> list[Finding]:
    """Every row that has not as many fields as the first."""
    if bad := source.encoding_findings() or _bad_quote(source, mark):
        return bad
    return limited(
        finding("bad-row", source.name, line, reason=f"{_fields(row)} where {width} are expected", expected=width)
        for line, row in _records(source.path, mark)
        if len(row) != width
    )


def _fields(row: Sequence[str]) -> str:
    return "1 field" if len(row) == 1 else f"{len(row)} fields"


def _bad_quote(source: Source, mark: str) -> list[Finding]:
    """A quote that opens and never closes, or that closes before its field ends."""
    line = 0
    rows = csv.reader(
        source.path.open(encoding="utf-8-sig", newline=""), delimiter=mark, strict=True, skipinitialspace=True
    )
    try:
        for _ in rows:
            line = rows.line_num
    except csv.Error:
        last = rows.line_num
        open_ended = last > line + 1 or not _closes(source, line)
        reason = (
            "a quote opens in this row and does not close with its field"
            if open_ended
            else "text follows the closing quote of a field"
        )
        return [finding("bad-quote", source.name, line + 1, reason=reason)]
    return []


def _closes(source: Source, index: int) -> bool:
    """Does the line have an even number of quotes?"""
    line = next((text for i, text in enumerate(source.lines()) if i == index), b"")
    return line.count(b'"') % 2 == 0


@lru_cache(maxsize=4)
def _lines_of(path: Path, mark: str, header: bool, stamp: float) -> list[int]:
    width = len(next(_records(path, mark), (1, [""]))[1])
    return [line for line, _ in _records(path, mark, blank=width == 1)][1 if header else 0 :]


def _line(path: Path, mark: str, header: bool, row: int) -> int | None:
    lines = _lines_of(path, mark, header, path.stat().st_mtime)
    return lines[row] if row < len(lines) else None
