# SPDX-License-Identifier: Apache-2.0
"""TREC files by array operations over their bytes.

A run of a million lines is read in 0.2 s of processor time, by the plain reader in 7 s.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from karat.columns import PADDING, Bytes, Ints, Text
from karat.read.fast.decimals import decimals
from karat.read.source import Source
from karat.read.trec_rows import Rows

CHUNK = 3 << 18
"""Bytes that are looked at together: few enough to stay in the processor's cache."""
_SPACE = np.isin(np.arange(256), np.frombuffer(b" \t\n\v\f\r", np.uint8))
_NEWLINE, _HASH, _BLANK, _TAB = 10, 35, 32, 9


class Fields(NamedTuple):
    """Some whole lines: where field ``i`` of each record starts and stops, and the line of each, from 0."""

    buffer: Bytes
    start: Callable[[int], Ints]
    stop: Callable[[int], Ints]
    line: Ints
    lines: int

    def text(self, i: int) -> Text:
        start = self.start(i)
        return Text(self.buffer, start, self.stop(i) - start)


def rows(source: Source, width: int, texts: Sequence[int], numbers: Sequence[int]) -> Rows | None:
    """The lines of a file of ``width`` fields; None where one has more or fewer, is no text, or spells no number."""
    buffer, end = _content(source)
    cuts = _cuts(buffer, end)
    most = len(buffer) // (2 * width) + 1  # records of one letter a field; pages that nobody writes to cost nothing
    place = np.int32 if len(buffer) < 2**31 else np.int64
    kept = [Text(buffer, np.empty(most, place), np.empty(most, place)) for _ in texts]
    values, line = [np.empty(most) for _ in numbers], np.empty(most, np.int64)
    query, size, count, before = list[Text](), list[Ints](), 0, 1
    for begin, stop in cuts:
        fields = _fields(buffer, begin, stop, width)
        if fields is None:
            return None
        here = slice(count, count + len(fields.line))
        for column, i in zip(kept, texts, strict=True):
            text = fields.text(i)
            column.start[here], column.length[here] = text.start, text.length
        for number, i in zip(values, numbers, strict=True):
            number[here] = decimals(fields.text(i))
            if np.isnan(number[here]).any():
                return None
        names = fields.text(0)
        query.append(names[names.heads])
        size.append(np.diff(names.heads, append=len(names)))
        line[here] = fields.line + before
        count, before = here.stop, before + fields.lines
    if not count:
        return None
    kept, values = [text[:count] for text in kept], [number[:count] for number in values]
    return Rows(Text.joined(query), np.concatenate(size), kept, values, line[:count])


def _cuts(buffer: Bytes, end: int) -> list[tuple[int, int]]:
    """Pieces of whole lines, as long as the cache likes them."""
    out, begin = list[tuple[int, int]](), 0
    while begin < end:
        stop = _line_end(buffer, begin + CHUNK) if begin + CHUNK < end else end
        out.append((begin, stop))
        begin = stop
    return out


def _content(source: Source) -> tuple[Bytes, int]:
    """The bytes of a file, padded, and where they end; the last line does as well."""
    size = os.path.getsize(source.path)
    buffer = np.empty(size + PADDING + 1, np.uint8)
    with open(source.path, "rb", buffering=0) as file:
        size = file.readinto(buffer[:size].data) or 0
    buffer[size:] = _NEWLINE
    return buffer, size if buffer[size - 1] == _NEWLINE else size + 1


def _line_end(buffer: Bytes, at: int) -> int:
    """Where the line that holds byte ``at`` ends."""
    reach = 4096
    while (newline := buffer[at : at + reach].tobytes().find(b"\n")) < 0:
        reach *= 16
    return at + newline + 1


def _fields(buffer: Bytes, begin: int, end: int, width: int) -> Fields | None:
    """The fields of some whole lines; None where they are no text, or a line has more or fewer than ``width``."""
    if not _is_text(buffer[begin:end]):
        return None
    return _regular(buffer, begin, end, width) or _any(buffer, begin, end, width)


def _is_text(part: Bytes) -> bool:
    if not part.min(initial=1):
        return False
    try:
        return part.max(initial=0) < 128 or bool(str(part.data, "utf-8"))
    except UnicodeDecodeError:
        return False


def _regular(buffer: Bytes, begin: int, end: int, width: int) -> Fields | None:
    """Lines of exactly ``width`` fields with one separator between two, or None."""
    gap = np.flatnonzero(buffer[begin:end] <= _BLANK) + begin
    if len(gap) == 0 or len(gap) % width or gap[0] == begin or (gap[1:] - gap[:-1]).min(initial=2) == 1:
        return None
    lines, between = len(gap) // width, buffer[gap]
    newline = between == _NEWLINE
    if not newline[width - 1 :: width].all() or np.count_nonzero(newline) != lines:
        return None
    if np.count_nonzero((between == _BLANK) | (between == _TAB)) != len(gap) - lines:
        return None
    first = np.concatenate([[begin], gap[width - 1 : -1 : width] + 1])
    if np.any(buffer[first] == _HASH):
        return None
    start = lambda i: gap[i - 1 :: width] + 1 if i else first
    return Fields(buffer, start, lambda i: gap[i::width], np.arange(lines), lines)


def _any(buffer: Bytes, begin: int, end: int, width: int) -> Fields | None:
    """Lines with any white space between their fields, blank lines and comments."""
    space = np.concatenate([[True], _SPACE[buffer[begin:end]]])
    start = np.flatnonzero(space[:-1] & ~space[1:]) + begin
    stop = np.flatnonzero(~space[:-1] & space[1:]) + begin
    newline = np.flatnonzero(buffer[begin:end] == _NEWLINE) + begin
    number = np.searchsorted(newline, start)
    first = np.flatnonzero(np.diff(number, prepend=-1))
    count = np.diff(first, append=len(start))
    record = buffer[start[first]] != _HASH
    if (count[record] != width).any():
        return None
    good = first[record]
    return Fields(buffer, lambda i: start[good + i], lambda i: stop[good + i], number[good], len(newline))
