# SPDX-License-Identifier: Apache-2.0
"""TREC files (judgements and runs): white-space separated fields, read in bounded pieces."""

from __future__ import annotations

import os
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.contexts.ranking.counting import Batch
from karat.contexts.ranking.judgements import Judgements
from karat.contexts.ranking.strings import PADDING, Strings, Words
from karat.findings import LIMIT, Finding, InputError, finding
from karat.read.decimals import decimals
from karat.read.source import Source
from karat.read.table import Read, Table

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bytes = NDArray[np.uint8]
CHUNK = 3 << 18
"""Bytes that are looked at together."""
_SPACE = np.isin(np.arange(256), np.frombuffer(b" \t\n\v\f\r", np.uint8))
_NEWLINE, _HASH, _BLANK, _TAB = 10, 35, 32, 9
Places = Callable[[int], Ints]
"""Gives the positions of one field in every row."""


class Fields:
    """The fields of some lines: where each starts and ends."""

    def __init__(self, buffer: Bytes, start: Places, end: Places, line: Ints, short: Ints) -> None:
        self.buffer, self._start, self._end = buffer, start, end
        self.line, self.short = line, short
        """Line numbers, from 1: of each row, and of lines with too few fields."""
        self._columns: dict[int, Strings] = {}

    def __len__(self) -> int:
        return len(self.line)

    def column(self, i: int) -> Strings:
        if i not in self._columns:
            start = self._start(i)
            self._columns[i] = Strings(self.buffer, start, self._end(i) - start)
        return self._columns[i]

    def numbers(self, i: int) -> Floats:
        """Field ``i`` as numbers, NaN where it is none."""
        return decimals(self.column(i))

    def rows(self, count: int) -> Fields:
        """The first ``count`` rows."""
        start, end = (lambda i: self._start(i)[:count]), (lambda i: self._end(i)[:count])
        out = Fields(self.buffer, start, end, self.line[:count], self.short[self.short < self.line[count]])
        out._columns = {i: column[:count] for i, column in self._columns.items()}
        return out


def chunks(path: str | Path, width: int, whole: bool = False, size: int = CHUNK) -> Iterator[Fields]:
    """The lines of a file, some at a time; a piece ends where the first field changes.

    ``whole`` gives the file in one piece. A piece lives until the next one is asked for: all use one buffer.
    """
    size = os.path.getsize(path) + 1 if whole else size
    buffer, held, line = np.empty(size + PADDING + 1, np.uint8), 0, 1
    with open(path, "rb", buffering=0) as file:
        while True:
            got = file.readinto(buffer[held : len(buffer) - PADDING - 1].data) or 0
            end, last = held + got, whole or not got
            if last and end and buffer[end - 1] != _NEWLINE:
                buffer[end] = _NEWLINE
                end += 1
            begin = 3 if line == 1 and bytes(buffer[:3]) == BOM_UTF8 else 0
            found = fields(buffer, begin, end if last else _line_end(buffer, end), width, line)
            change = 0 if last or not len(found) else int(found.column(0).heads[-1])
            if last:
                yield found
                return
            cut = begin
            if change:
                yield found.rows(change)
                cut, line = int(found.column(0).start[change]), int(found.line[change])
            held = end - cut
            buffer = buffer if 2 * held < len(buffer) or change else np.resize(buffer, 2 * len(buffer))
            buffer[:held] = buffer[cut:end].copy()


def _line_end(buffer: Bytes, end: int) -> int:
    """Where the last whole line before ``end`` ends."""
    near = max(end - 4096, 0)
    found = buffer[near:end].tobytes().rfind(b"\n")
    return near + found + 1 if found >= 0 or not near else buffer[:end].tobytes().rfind(b"\n") + 1


def fields(buffer: Bytes, begin: int, end: int, width: int, line: int = 1) -> Fields:
    """The first ``width`` fields of every line of ``buffer[begin:end]``, which ends with a line end."""
    gap = np.flatnonzero(buffer[begin:end] <= 32)
    gap = gap + begin if begin else gap
    return _regular(buffer, begin, gap, width, line) or _any(buffer, begin, end, width, line)


def _regular(buffer: Bytes, begin: int, gap: Ints, width: int, line: int) -> Fields | None:
    """Lines of exactly ``width`` fields with one separator between two, or None."""
    if len(gap) == 0 or len(gap) % width or gap[0] == begin or (gap[1:] - gap[:-1]).min(initial=2) == 1:
        return None
    rows, between = len(gap) // width, buffer[gap]
    newline = between == _NEWLINE
    if not newline[width - 1 :: width].all() or np.count_nonzero(newline) != rows:
        return None
    if np.count_nonzero((between == _BLANK) | (between == _TAB)) != len(gap) - rows:
        return None
    first = np.empty(rows, np.int64)
    first[0], first[1:] = begin, gap[width - 1 : -1 : width] + 1
    if np.any(buffer[first] == _HASH):
        return None
    start = lambda i: gap[i - 1 :: width] + 1 if i else first
    return Fields(buffer, start, lambda i: gap[i::width], np.arange(line, line + rows), np.zeros(0, np.int64))


def _any(buffer: Bytes, begin: int, size: int, width: int, line: int) -> Fields:
    """Lines with any white space, blank lines, comments, and fields to spare."""
    space = np.concatenate([[True], _SPACE[buffer[begin:size]]])
    start = np.flatnonzero(space[:-1] & ~space[1:]) + begin
    end = np.flatnonzero(~space[:-1] & space[1:]) + begin
    number = np.searchsorted(np.flatnonzero(buffer[:size] == _NEWLINE), start)
    first = np.flatnonzero(np.diff(number, prepend=-1))
    count = np.diff(first, append=len(start))
    comment = buffer[start[first]] == _HASH
    good = first[(count >= width) & ~comment]
    short = line + number[first[(count < width) & ~comment]]
    return Fields(buffer, lambda i: start[good + i], lambda i: end[good + i], line + number[good], short)


def is_qrels(source: Source) -> bool:
    """Judgements; also without the iteration, with a fifth field or a word for a grade, so that it can be said."""
    blanks_only = not any(mark in source.sniff() for mark in (b"\t", b","))
    return _votes(source, lambda f: (len(f) == 4 and _is_number(f[3])) or (blanks_only and _nearly_judgement(f)))


def _nearly_judgement(f: list[bytes]) -> bool:
    return (len(f) == 3 and _is_number(f[2])) or (len(f) in (4, 5) and f[1] in (b"0", b"Q0"))


def is_run(source: Source) -> bool:
    """A run; with a field to spare, and without the tag if the second field is what it should be."""
    return _votes(source, lambda f: len(f) in ((5, 6, 7) if f[1:2] == [b"Q0"] else (6, 7)) and _is_number(f[3]))


def _votes(source: Source, fits: Callable[[list[bytes]], bool]) -> bool:
    """Do most of the first lines look as they should? One broken line does not hide a format."""
    lines = source.sniff().split(b"\n")[:40]
    rows = [line.split() for line in (lines if len(lines) < 40 else lines[:-1])]
    rows = [row for row in rows if row and not row[0].startswith(b"#")]
    return bool(rows) and 2 * sum(map(fits, rows)) > len(rows) and source.sniff()[:1] not in b"[{<"


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
    if _votes(source, lambda f: len(f) == 5):
        raise InputError(_long_lines(source.name, next(chunks(source.path, 5, whole=True))))
    found = next(chunks(source.path, 4, whole=True))
    grade = found.numbers(3)
    gold = Judgements(found.column(0), found.column(2), grade, found.line, found.column(1))
    bad = short_lines(source.name, found, 4, QRELS) + not_numbers(source.name, found, 3, grade, "grade")
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


def short_lines(name: str, found: Fields, width: int, layout: str) -> list[Finding]:
    """Lines with too few fields."""
    return [
        finding("short-line", name, line, found="too few", expected=width, layout=layout)
        for line in found.short[:LIMIT]
    ]


def _long_lines(name: str, found: Fields) -> list[Finding]:
    return [
        finding("short-line", name, line, found="too many", expected=4, layout=QRELS) for line in found.line[:LIMIT]
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
                self.findings += short_lines(self.name, found, 6, RUN)
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
    size = np.diff(names.heads, append=len(names))
    place = np.arange(1, len(names) + 1) - np.repeat(names.heads, size)
    words = _spelt(int(size.max()).bit_length())
    if text.pieces == 1 and np.array_equal(words[place], text.word(0)):
        return place.astype(float)
    return decimals(text)


@cache
def _spelt(bits: int) -> Words:
    """The numbers below 2^bits as text, each in a word."""
    return Strings.of(map(str, range(1 << min(bits, 26)))).word(0)
