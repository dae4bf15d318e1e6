# SPDX-License-Identifier: Apache-2.0
"""TREC files (judgements and runs): white-space separated fields, read in bounded pieces."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.contexts.pairing import LIMIT
from karat.contexts.ranking.counting import Batch
from karat.contexts.ranking.judgements import Judgements
from karat.contexts.ranking.strings import PADDING, Strings
from karat.findings import Finding, InputError, finding
from karat.read.decimals import decimals
from karat.read.source import Source
from karat.read.table import Read, Table

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bytes = NDArray[np.uint8]
CHUNK = 1 << 20
_SPACE = np.isin(np.arange(256), np.frombuffer(b" \t\n\v\f\r", np.uint8))
_NEWLINE, _HASH = 10, 35


@dataclass(frozen=True, eq=False)
class Fields:
    """The fields of some lines: where each starts and ends."""

    buffer: Bytes
    start: list[Ints]
    end: list[Ints]
    """One array per field."""
    line: Ints
    """Line number of each row, from 1."""
    short: Ints
    """Line numbers of lines with too few fields."""

    def __len__(self) -> int:
        return len(self.line)

    def column(self, i: int) -> Strings:
        return Strings(self.buffer, self.start[i], self.end[i] - self.start[i])

    def numbers(self, i: int) -> Floats:
        """Field ``i`` as numbers, NaN where it is none."""
        return decimals(self.column(i))

    def rows(self, count: int) -> Fields:
        """The first ``count`` rows."""
        start, end = [s[:count] for s in self.start], [e[:count] for e in self.end]
        return Fields(self.buffer, start, end, self.line[:count], self.short[self.short < self.line[count]])


def chunks(path: str | Path, width: int, whole: bool = False, size: int = CHUNK) -> Iterator[Fields]:
    """The lines of a file, some at a time; a piece ends where the first field changes.

    ``whole`` gives the file in one piece.
    """
    with open(path, "rb", buffering=0) as file:
        held, line = b"", 1
        while True:
            data = file.readall() if whole else file.read(max(size, len(held)))
            last = whole or not data
            buffer = b"".join((held, data, b"\n" if last and not data.endswith(b"\n") else b"", bytes(PADDING)))
            buffer = buffer.removeprefix(BOM_UTF8) if line == 1 else buffer
            end = buffer.rfind(b"\n") + 1
            found = fields(np.frombuffer(buffer, np.uint8), end, width, line)
            change = 0 if last else _last_change(found.column(0))
            if last:
                yield found
                return
            held = buffer[:-PADDING]
            if change:
                yield found.rows(change)
                held, line = buffer[int(found.start[0][change]) : -PADDING], int(found.line[change])


def _last_change(names: Strings) -> int:
    """Row at which the last new name begins."""
    changes = np.flatnonzero(names.changes())
    return int(changes[-1]) if len(changes) else 0


def fields(buffer: Bytes, size: int, width: int, line: int = 1) -> Fields:
    """The first ``width`` fields of every line of ``buffer[:size]``, which ends with a line end."""
    gap = np.flatnonzero(buffer[:size] <= 32)
    return _regular(buffer, gap, width, line) or _any(buffer, size, width, line)


def _regular(buffer: Bytes, gap: Ints, width: int, line: int) -> Fields | None:
    """Lines of exactly ``width`` fields with one separator between two, or None."""
    if len(gap) == 0 or len(gap) % width or gap[0] == 0 or (gap[1:] - gap[:-1]).min(initial=2) == 1:
        return None
    rows, between = len(gap) // width, buffer[gap]
    at_end = between[width - 1 :: width]
    if not (np.all(at_end == _NEWLINE) and np.count_nonzero(between == _NEWLINE) == rows and np.all(_SPACE[between])):
        return None
    end = [np.ascontiguousarray(gap[i::width]) for i in range(width)]
    first = np.concatenate([[0], end[-1][:-1] + 1])
    if np.any(buffer[first] == _HASH):
        return None
    start = [first, *(e + 1 for e in end[:-1])]
    return Fields(buffer, start, end, np.arange(line, line + rows), np.zeros(0, np.int64))


def _any(buffer: Bytes, size: int, width: int, line: int) -> Fields:
    """Lines with any white space, blank lines, comments, and fields to spare."""
    space = np.concatenate([[True], _SPACE[buffer[:size]]])
    start = np.flatnonzero(space[:-1] & ~space[1:])
    end = np.flatnonzero(~space[:-1] & space[1:])
    number = np.searchsorted(np.flatnonzero(buffer[:size] == _NEWLINE), start)
    first = np.flatnonzero(np.diff(number, prepend=-1))
    count = np.diff(first, append=len(start))
    comment = buffer[start[first]] == _HASH
    good = first[(count >= width) & ~comment]
    short = line + number[first[(count < width) & ~comment]]
    fields = range(width)
    return Fields(
        buffer, [start[good + i] for i in fields], [end[good + i] for i in fields], line + number[good], short
    )  # fmt: skip


def is_qrels(source: Source) -> bool:
    return _votes(source, 4, lambda f: _is_number(f[3]))


def is_run(source: Source) -> bool:
    return _votes(source, 6, lambda f: _is_number(f[3]))


def _votes(source: Source, width: int, fits: Callable[[list[bytes]], bool]) -> bool:
    """Do most of the first lines look as they should? One broken line does not hide a format."""
    lines = source.sniff().split(b"\n")[:40]
    rows = [line.split() for line in (lines if len(lines) < 40 else lines[:-1])]
    rows = [row for row in rows if row and not row[0].startswith(b"#")]
    good = sum(len(row) >= width and len(row) <= width + (width > 4) and fits(row) for row in rows)
    return bool(rows) and 2 * good > len(rows) and source.sniff()[:1] not in b"[{<"


def _is_number(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


QRELS = "query, iteration (or subtopic), document and grade"
RUN = "query, Q0, document, rank, score and tag"


def read_qrels(engine: Any, source: Source, read: Read) -> Table:
    """Judgements, four fields a line."""
    found = next(chunks(source.path, 4, whole=True))
    grade = found.numbers(3)
    gold = Judgements(found.column(0), found.column(2), grade, found.line, found.column(1))
    bad = short_lines(source.name, found, QRELS) + not_numbers(source.name, found, 3, grade, "grade")
    if bad or not len(found):
        raise InputError(bad or [finding("no-records", source.name)])
    return table(read, "trec-qrels", gold, len(found), source.findings)


def read_run(engine: Any, source: Source, read: Read) -> Table:
    """A ranking, six fields a line; read when it is counted."""
    return table(read, "trec-run", RunFile(source.path, source.name), 0, source.findings)


def table(read: Read, format: str, native: Any, rows: int, findings: list[Finding]) -> Table:
    """A table of arrays that only rankings understand."""
    kinds = {"test_case": "VARCHAR", "id": "VARCHAR", "value": "DOUBLE"}
    out = Table(read.name, read.role, format, "", kinds, "number", rows, native=native, findings=findings)
    out.context = "ranking"
    return out


def short_lines(name: str, found: Fields, layout: str) -> list[Finding]:
    """Lines with too few fields."""
    width = len(found.start)
    return [
        finding("short-line", name, line, found="too few", expected=width, layout=layout)
        for line in found.short[:LIMIT]
    ]


def not_numbers(name: str, found: Fields, i: int, numbers: Floats, field: str) -> list[Finding]:
    """Lines whose field ``i`` spells no number (NaN is one, and is judged elsewhere)."""
    bad = np.flatnonzero(np.isnan(numbers))[: 10 * LIMIT]
    texts = found.column(i)[bad].tolist()
    told = [(row, t) for row, t in zip(bad.tolist(), texts, strict=True) if t.lower().lstrip(b"+-") != b"nan"]
    return [
        finding("not-a-number", name, int(found.line[row]), field=field, text=t.decode(errors="replace"))
        for row, t in told[:LIMIT]
    ]


class RunFile:
    """A run (query, Q0, document, rank, score, tag), read again each time it is asked for."""

    def __init__(self, path: str | Path, name: str = "") -> None:
        self.path, self.name = path, name or str(path)
        self.findings: list[Finding] = []
        self.rows, self.tag = 0, b""

    def batches(self, whole: bool) -> Iterator[Batch]:
        self.findings, self.rows = [], 0
        for found in chunks(self.path, 6, whole):
            if len(found.short):
                self.findings += short_lines(self.name, found, RUN)
            if not len(found):
                continue
            score = found.numbers(4)
            if np.isnan(score).any():
                self.findings += not_numbers(self.name, found, 4, score, "score")
            self.tag = self.tag or found.column(5)[:1].tolist()[0]
            self.rows += len(found)
            yield Batch(found.column(0), found.column(2), score, found.line, _stated_ranks(found))


def _stated_ranks(found: Fields) -> Floats:
    """The rank column; not parsed where it counts 1, 2, 3, … as it nearly always does."""
    names, text = found.column(0), found.column(3)
    head = np.flatnonzero(names.changes())
    size = np.diff(head, append=len(names))
    place = np.arange(1, len(names) + 1) - np.repeat(head, size)
    words = Strings.of(map(str, range(int(size.max()) + 1)))
    if text.pieces == 1 and words.pieces == 1 and np.array_equal(words.word(0)[place], text.word(0)):
        return place.astype(float)
    return decimals(text)
