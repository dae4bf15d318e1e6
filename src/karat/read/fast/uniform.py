# SPDX-License-Identifier: Apache-2.0
"""JSON Lines as one program writes them: the same fields in the same order, a list of flat objects, nothing escaped.

Can be deleted with `span_lines`, which says what both buy. In such lines every `":` ends a field's name, so that the places of these two bytes tell where all values are. What
stands between the values is then known and compared byte by byte; that there are no other quotes, no escapes and no
control characters shows that nothing was overlooked. Whatever does not fit is left to the general readers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.columns import Ints, Mask
from karat.read.fast.byte_codes import WORD, Words
from karat.read.source import Source

BLOCK = 1 << 21
"""Bytes that are looked at together: their columns stay in the processor's cache."""
WIDEST = 256
"""Bytes of the longest text that is read here."""
QUOTE, COLON, NEWLINE, SPACE = b'":\n '
LINE_BREAK = np.uint64(int.from_bytes(b"\n".rjust(WORD, b"\0"), "little"))
"""A word that ends in a line's end, zeros in front."""


class Irregular(ValueError):
    """The lines need a reader that can read more."""


def must(fits: object) -> None:
    if not fits:
        raise Irregular


@dataclass(frozen=True)
class Field:
    """A field's name and whether its values are texts; if not, they are whole numbers, or the list."""

    name: str
    text: bool

    @property
    def quote(self) -> bytes:
        return b'"' * self.text

    @cached_property
    def key(self) -> bytes:
        return b'"' + self.name.encode() + b'"'


@dataclass(frozen=True)
class Layout:
    """The fields of a record, which of them is the list, the fields of the list's objects, and the spacing."""

    fields: list[Field]
    list_at: int
    inner: list[Field]
    comma: bytes
    colon: bytes

    @classmethod
    def of(cls, line: bytes, name: str) -> Layout:
        """The layout that a record shows, if its list has an object."""
        record = json.loads(line)
        inner = record[name][0]
        others = [value for key, value in record.items() if key != name]
        must(all(type(value) in (str, int) for value in (*others, *inner.values())))
        outer, parts = ([Field(key, isinstance(v, str)) for key, v in part.items()] for part in (record, inner))
        return cls(outer, list(record).index(name), parts, *((b", ", b": ") if b'": ' in line else (b",", b":")))

    def opening(self, field: Field) -> bytes:
        """What stands between a field's name and its value."""
        return self.colon + (b"[" if field is self.fields[self.list_at] else field.quote)

    @cached_property
    def head(self) -> bytes:
        """What every record begins with."""
        return b"{" + self.fields[0].key + self.opening(self.fields[0])

    def follower(self, nth: int) -> Field:
        return self.fields[(nth + 1) % len(self.fields)]

    def closing(self, nth: int) -> bytes:
        """What stands between the value of a record's field and the next colon, which may be the next record's."""
        last = nth == len(self.fields) - 1
        return self.fields[nth].quote + (b"}\n{" if last else self.comma) + self.follower(nth).key

    @property
    def quotes(self) -> tuple[int, int]:
        """Quotes in a record without its list's objects, and in an object."""
        outer, inner = (2 * len(fields) + 2 * sum(f.text for f in fields) for fields in (self.fields, self.inner))
        return outer, inner


@dataclass(frozen=True, eq=False)
class Column:
    """Where the values of a field are; `window` has as many words as the longest needs up to their ends, and some more."""

    start: Ints
    size: Ints
    window: Words
    width: int

    @property
    def words(self) -> list[Words]:
        """The bytes of the values, eight at a time from their ends, zero in front of them."""
        left = [(nth, self.size - (self.width - 1 - nth) * WORD) for nth in range(self.width)]
        return [self.window[:, nth] & _LAST[np.clip(size, 0, WORD)] for nth, size in left]

    def followed_by(self, text: bytes, rows: Any = slice(None), but: Any = False) -> None:
        """Behind the values of these rows, but for some, stands this text."""
        for nth, at in enumerate(range(0, len(text), WORD)):
            part = text[at : at + WORD]
            words = self.window[rows, self.width + nth]
            words = words if len(part) == WORD else words & ~_LAST[WORD - len(part)]
            same = words == int.from_bytes(part, "little")
            must(same.all() or (same | but).all())


_LAST = ~np.array([(1 << 8 * n) - 1 for n in range(WORD, -1, -1)], dtype=np.uint64)
"""What keeps the last n bytes of a word."""


@dataclass(frozen=True, eq=False)
class Block:
    """Whole lines, and behind them the head of one more record, so that the last one ends as all others do.

    Zeros stand around them. The text is that of a buffer which the next block takes over.
    """

    buffer: bytearray
    size: int
    layout: Layout

    def __post_init__(self) -> None:
        """Nothing escaped, no control characters but line ends, no quotes but those of names and texts."""
        outer, inner = self.layout.quotes
        must(self.buffer.startswith(self.layout.head, WIDEST) and self.buffer.find(b"\\", 0, self.size) < 0)
        must(np.count_nonzero(self.raw < SPACE) == len(self.number))
        spare = self.layout.head.count(b'"')
        must(np.count_nonzero(self.quotes) == outer * len(self.number) + inner * self.number.sum() + spare)
        must(self.raw.max() < 128 or bytes(self.text).decode())
        self._check_lists()

    @property
    def text(self) -> memoryview:
        return memoryview(self.buffer)[: self.size]

    @cached_property
    def raw(self) -> NDArray[np.uint8]:
        return np.frombuffer(self.text, np.uint8)[WIDEST:-WORD]

    @cached_property
    def quotes(self) -> Mask:
        return self.raw == QUOTE

    @cached_property
    def colons(self) -> Ints:
        colons = np.flatnonzero(self.quotes[:-1] & (self.raw[1:] == COLON))
        colons += 1
        return colons

    @cached_property
    def records(self) -> Ints:
        """Which colon is the first of each line, and of the record behind the last one."""
        before = len(self.layout.fields[0].key) + 2
        first = np.frombuffer(self.text, np.uint8)[WIDEST - before :][self.colons] == NEWLINE
        first[0] = True
        return np.flatnonzero(first)

    @cached_property
    def number(self) -> Ints:
        """How many objects each record's list has."""
        must(bool(self.layout.inner))
        number, rest = np.divmod(np.diff(self.records) - len(self.layout.fields), len(self.layout.inner))
        must(len(number) and not rest.any() and number.min() >= 0)
        return number

    @cached_property
    def full(self) -> Ints:
        """The records whose lists are not empty."""
        return np.flatnonzero(self.number)

    @cached_property
    def finals(self) -> Ints:
        """The last object of each of those lists."""
        return np.cumsum(self.number[self.full]) - 1

    @cached_property
    def outer_at(self) -> list[Ints]:
        """The colon of each field of the records, and of the first field of the next record, by their numbers."""
        behind = len(self.layout.fields) - self.layout.list_at - 1
        head = [self.records[:-1] + nth for nth in range(self.layout.list_at + 1)]
        return head + [self.records[1:] - nth for nth in range(behind, -1, -1)]

    @cached_property
    def outer_colons(self) -> list[Ints]:
        return [self.colons[at] for at in self.outer_at]

    @cached_property
    def inner_colons(self) -> list[Ints]:
        """The colon of each field of the objects."""
        keep = np.ones(len(self.colons), dtype=bool)
        for at in self.outer_at:
            keep[at] = False
        return list(self.colons[keep].reshape(-1, len(self.layout.inner)).T)

    def outer(self, nth: int) -> Column:
        """The values of a field of the records."""
        left, right = self.outer_colons[nth : nth + 2]
        return self._between(left, right, self.layout.fields[nth], self.layout.closing(nth), self.layout.follower(nth))

    def inner(self, nth: int) -> Column:
        """The values of a field of the objects."""
        layout, field = self.layout, self.layout.inner[nth]
        if nth == len(layout.inner) - 1:
            return self._last()
        follower = layout.inner[nth + 1]
        closing = field.quote + layout.comma + follower.key
        left, right = self.inner_colons[nth : nth + 2]
        return self._between(left, right, field, closing, follower)

    def _last(self) -> Column:
        """The values of the objects' last field: another object follows, or the list ends."""
        layout, field, first = self.layout, self.layout.inner[-1], self.layout.inner[0]
        inside = field.quote + b"}" + layout.comma + b"{" + first.key
        final = field.quote + b"}]" + layout.closing(layout.list_at)
        end = np.roll(self.inner_colons[0], -1) - len(inside)
        end[self.finals] = self.outer_colons[layout.list_at + 1][self.full] - len(final)
        ended = np.zeros(len(end), dtype=bool)
        ended[self.finals] = True
        inside += layout.opening(first)
        final += layout.opening(layout.follower(layout.list_at))
        values = self._values(self.inner_colons[-1], end, field, max(len(inside), len(final)))
        values.followed_by(inside, but=ended)
        values.followed_by(final, self.finals)
        return values

    def _check_lists(self) -> None:
        """Behind a list's bracket stands its first object, or its end."""
        layout, first = self.layout, self.layout.inner[0]
        field, follower = layout.fields[layout.list_at], layout.follower(layout.list_at)
        left, right = self.outer_colons[layout.list_at : layout.list_at + 2]
        begin = self.inner_colons[0][np.append(0, self.finals + 1)[:-1]]
        lists = self._between(left[self.full], begin, field, b"{" + first.key, first)
        must(not lists.size.any())
        if len(self.full) < len(self.number):
            empty = np.flatnonzero(self.number == 0)
            none = self._between(left[empty], right[empty], field, b"]" + layout.closing(layout.list_at), follower)
            must(not none.size.any())

    def _between(self, left: Ints, right: Ints, field: Field, closing: bytes, follower: Field) -> Column:
        """The values behind the left colons, if `closing` stands before the right ones."""
        text = closing + self.layout.opening(follower)
        values = self._values(left, right - len(closing), field, len(text))
        values.followed_by(text)
        return values

    def _values(self, left: Ints, end: Ints, field: Field, behind: int) -> Column:
        """The values from behind the left colons up to their ends, with a window that has some bytes more."""
        start = left + len(self.layout.opening(field))
        size = end - start
        words = _words(int(size.max(initial=1)))
        must(size.min(initial=0) >= 0 and words <= WIDEST // WORD)
        width = WORD * (words + _words(behind))
        places = np.ndarray((self.size - width + 1,), f"V{width}", buffer=self.buffer, strides=(1,))
        window = places[end + (WIDEST - WORD * words)].view("<u8").reshape(-1, width // WORD)
        return Column(start, size, window, words)

    def numbers(self, column: Column) -> Ints:
        """Whole numbers of up to eight digits, which three multiplications join."""
        must(column.size.min(initial=1) >= 1 and column.width == 1)
        word = (column.window[:, 0] ^ _ZEROS) & _LAST[column.size]
        must(word.view(np.uint8).max(initial=0) <= 9)
        for factor, bits, mask in _JOINS:
            word = (word * factor + (word >> bits)) & mask
        must((word >= _LEAST[column.size]).all())  # no zeros in front
        return word.view(np.int64)


_ZEROS = np.uint64(0x3030303030303030)
_LEAST = np.array([0, 0, *(10**digits for digits in range(1, WORD))], dtype=np.uint64)
"""The least number of so many digits."""
_JOINS = [
    (np.uint64(factor), np.uint64(bits), np.uint64(mask))
    for factor, bits, mask in ((10, 8, 0x00FF00FF00FF00FF), (100, 16, 0x0000FFFF0000FFFF), (10_000, 32, 0xFFFFFFFF))
]
"""Digits to pairs, pairs to fours, fours to eight."""


def _words(size: int) -> int:
    return -(-size // WORD)


def blocks(source: Source, layout: Layout) -> Iterator[Block]:
    """The file in blocks of whole lines, all in one buffer, and hashed as they go by."""
    behind, digest, tail, buffer = layout.head + bytes(WORD), hashlib.sha256(), b"", bytearray()
    with source.path.open("rb", buffering=0) as file:
        while True:
            start = WIDEST + len(tail)
            if len(buffer) < start + BLOCK + len(behind) + 1:
                buffer = bytearray(2 * start + BLOCK + len(behind) + 1)
            buffer[WIDEST:start] = tail
            with memoryview(buffer)[start : start + BLOCK] as free:
                end = start + (file.readinto(free) or 0)
                digest.update(free[: end - start])
            if end == start and not tail:
                break
            if end == start:
                buffer[end : end + 1], end = b"\n", end + 1
            cut = buffer.rfind(b"\n", WIDEST, end) + 1
            tail = bytes(buffer[cut or WIDEST : end])
            if cut:
                buffer[cut : cut + len(behind)] = behind
                yield Block(buffer, cut + len(behind), layout)
    source.hashed(digest.hexdigest())


def joined(parts: Sequence[Sequence[Words]]) -> list[Words]:
    """The words of several blocks; those of shorter texts get zeros in front."""
    width = max(map(len, parts))
    none = [[np.zeros_like(words[0])] * (width - len(words)) for words in parts]
    full = [[*zeros, *words] for zeros, words in zip(none, parts, strict=True)]
    return [np.concatenate(column) for column in zip(*full, strict=True)]
