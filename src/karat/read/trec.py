# SPDX-License-Identifier: Apache-2.0
"""TREC files (judgements and runs): white-space separated fields, a record a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from karat.columns import PADDING, Ints, Text
from karat.findings import Finding, InputError, finding, limited
from karat.read import fast
from karat.read.names import NAMES
from karat.read.source import Source
from karat.read.table import Read, side_table
from karat.read.trec_rows import Rows
from karat.side import Origin, Side, by_query


def is_qrels(source: Source) -> bool:
    """Judgements; also without the iteration, with a fifth field or a word for a grade, so that it can be said."""
    blanks_only = not any(mark in source.start for mark in (b"\t", b","))
    return _votes(source, lambda f: (len(f) == 4 and _is_number(f[3])) or (blanks_only and _nearly_judgement(f)))


def _nearly_judgement(f: list[bytes]) -> bool:
    return (len(f) == 3 and _is_number(f[2])) or (len(f) in (4, 5) and f[1] in (b"0", b"Q0"))


def is_run(source: Source) -> bool:
    """A run; with a field to spare, and without the tag if the second field is what it should be."""
    return _votes(source, lambda f: len(f) in ((5, 6, 7) if f[1:2] == [b"Q0"] else (6, 7)) and _is_number(f[3]))


def _votes(source: Source, fits: Callable[[list[bytes]], bool]) -> bool:
    """Do most of the first lines look as they should? One broken line does not hide a format."""
    lines = source.start.split(b"\n")[:40]
    lines = [line.strip() for line in (lines if len(lines) < 40 else lines[:-1])]
    lines = [line for line in lines if line and not line.startswith(b"#")]
    if not lines or _is_header(lines[0].lower()):
        return False
    return 2 * sum(fits(line.split()) for line in lines) > len(lines) and source.start[:1] not in b"[{<"


def _is_header(line: bytes) -> bool:
    """Are these the names of columns apart by tabs, as classes called 0, 1 and 2 behind an id? A record has a number, or Q0."""
    first, *others = line.split(b"\t")
    named = first.decode(errors="replace") in (*NAMES["id"], *NAMES["test_case"])
    return bool(others) and (named or not any(field == b"q0" or _is_number(field) for field in line.split()))


def _is_number(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return b"_" not in text


class Layout(NamedTuple):
    """What the fields of a line are."""

    shape: str
    width: int
    texts: tuple[int, ...]
    """Fields that are kept as texts, beside the query in front."""
    numbers: tuple[int, ...]
    """Fields that are numbers; the first of them has to be one."""
    number: str
    """What that first number is called."""
    spare: bool
    """Whether more fields may follow, as trec_eval allows for runs; they are not read."""


QRELS = Layout("query, iteration (or subtopic), document and grade", 4, (1, 2), (3,), "grade", spare=False)
RUN = Layout("query, Q0, document, rank, score and tag", 6, (2,), (4, 3), "score", spare=True)


def read_qrels(engine: Any, source: Source, read: Read) -> Side:
    """Judgements, four fields a line; where iterations differ they are subtopics."""
    rows, findings = _rows(source, QRELS)
    iteration, document = rows.texts
    columns: dict[str, Any] = {"document": document, "number": rows.numbers[0]}
    names = {}
    if len(iteration.heads) > 1:
        columns["subtopic"], first = iteration.codes()
        names["subtopic"] = iteration[first].texts()
    side = by_query(_origin(read, "trec-qrels", rows), rows.query, rows.size, columns, names)
    side.facts["form"] = "judgements"
    return side_table(side, [*source.findings, *findings])


def read_run(engine: Any, source: Source, read: Read) -> Side:
    """A ranking, six fields a line; scores decide, the stated ranks are kept to compare."""
    rows, findings = _rows(source, RUN)
    score, rank = rows.numbers
    with np.errstate(invalid="ignore"):
        whole = rank.astype(np.int32)
    columns = {"document": rows.texts[0], "number": score, "rank": whole if bool((whole == rank).all()) else rank}
    side = by_query(_origin(read, "trec-run", rows), rows.query, rows.size, columns)
    lines = (line.split() for line in source.start.split(b"\n") if not line.startswith(b"#"))
    tag = next((fields[5] for fields in lines if len(fields) > 5), b"")
    side.facts |= {"form": "run", "run_id": tag.decode(errors="replace")}
    return side_table(side, [*source.findings, *findings])


class Lines(NamedTuple):
    """Stretches of lines of the same query: where each begins in the file, its first line, and how many records it has."""

    query: list[str]
    start: Ints
    line: Ints
    rows: Ints


def query_lines(source: Source, most: int) -> Lines | None:
    """The file by stretches of one query, seen through once; None where there are more than ``most``, or odd lines."""
    parts, count = list[tuple[list[str], Ints, Ints, Ints]](), 0
    for at, line, block in _blocks(source):
        newline = np.flatnonzero(block == _NEWLINE)
        start = np.append(0, newline[:-1] + 1)
        first, after = block[start], block[np.minimum(start + 1, len(block) - 1)]
        record = (first > _BLANK) & (first != _HASH)
        if not (record | (first == _HASH) | (first == _NEWLINE) | ((first == _RETURN) & (after == _NEWLINE))).all():
            return None  # a record may stand behind the blanks
        begin, number = start[record], np.flatnonzero(record)
        blank = np.flatnonzero(block <= _BLANK)
        query = Text(np.append(block, np.zeros(PADDING, np.uint8)), begin, blank[np.searchsorted(blank, begin)] - begin)
        heads = query.heads
        count += len(heads)
        if count > most:
            return None
        parts.append((query[heads].texts(), begin[heads] + at, number[heads] + line, np.diff(heads, append=len(begin))))
    texts = [text for part in parts for text in part[0]]
    return Lines(texts, *(np.concatenate([part[i] for part in parts]) for i in (1, 2, 3)))


def _blocks(source: Source) -> Iterator[tuple[int, int, Any]]:
    """Whole lines, some megabytes of them at a time, each with the byte and the line at which it begins."""
    with source.path.open("rb") as file:
        at, line, rest = 0, 1, b""
        while content := file.read(_BLOCK):
            content = rest + content
            end = content.rfind(b"\n") + 1
            content, rest = content[:end], content[end:]
            if content:
                yield at, line, np.frombuffer(content, np.uint8)
                at, line = at + len(content), line + content.count(b"\n")
        if rest:
            yield at, line, np.frombuffer(rest + b"\n", np.uint8)


_BLOCK = 1 << 24
_NEWLINE, _RETURN, _BLANK, _HASH = 10, 13, 32, 35


def _origin(read: Read, format: str, rows: Rows) -> Origin:
    return Origin(read.name, read.role, format, lambda record: int(rows.line[record]))


def _rows(source: Source, layout: Layout) -> tuple[Rows, list[Finding]]:
    """The records of a file, and what is wrong with the other lines."""
    if fast.ON:
        from karat.read.fast import trec

        rows = trec.rows(source, layout.width, layout.texts, layout.numbers)
        if rows is not None and len(rows.line):
            return rows, []
    return _line_by_line(source, layout)


def _line_by_line(source: Source, layout: Layout) -> tuple[Rows, list[Finding]]:
    """The plain reader, which also says what is wrong."""
    if bad := source.encoding_findings():
        raise InputError(bad)
    texts: list[list[bytes]] = [[] for _ in range(layout.width)]
    findings, spare, line = list[Finding](), list[int](), list[int]()
    for n, text in enumerate(source.bytes().split(b"\n"), 1):
        fields = text.split()
        if not fields or fields[0].startswith(b"#"):
            continue
        broken = len(fields) > layout.width and bool(_BREAK.search(text.strip()))
        if fault := _fault(source.name, n, fields, layout, broken=broken):
            findings.append(fault)
            continue
        line.append(n)
        for column, field in zip(texts, fields, strict=False):
            column.append(field)
        if len(fields) > layout.width:
            spare.append(n)
    if spare:
        facts: dict[str, Any] = {"count": len(spare), "expected": layout.width, "layout": layout.shape}
        findings.append(finding("spare-fields", source.name, spare[0], **facts))
    if not line:
        raise InputError(limited(findings) or [finding("no-records", source.name)])
    numbers = [np.array([_number(field) for field in texts[i]]) for i in layout.numbers]
    size, kept = np.ones(len(line), np.int64), [Text.of(texts[i]) for i in layout.texts]
    return Rows(Text.of(texts[0]), size, kept, numbers, np.array(line)), limited(findings)


_BREAK = re.compile("[\r\f\v]|\x85|\u2028|\u2029".encode())
"""What ends a line for other programs, behind which another record may stand."""


def _fault(name: str, line: int, fields: list[bytes], layout: Layout, *, broken: bool) -> Finding | None:
    """What is wrong with a line, which may be broken by what ends lines elsewhere: another record may follow it."""
    few, many = len(fields) < layout.width, len(fields) > layout.width and (broken or not layout.spare)
    if few or many:
        count = "too few" if few else "too many"
        return finding("short-line", name, line, found=count, expected=layout.width, layout=layout.shape)
    if not _is_number(text := fields[layout.numbers[0]]):
        return finding("not-a-number", name, line, field=layout.number, text=text.decode())
    return None


def _number(text: bytes) -> float:
    return float(text) if _is_number(text) else np.nan
