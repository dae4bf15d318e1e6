# SPDX-License-Identifier: Apache-2.0
"""Columns: texts as codes into a list of names or as bytes in one buffer, and the array idioms that sort, match and count them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain, islice, repeat
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]

DENSE = 8
"""Possible keys for each key there is up to which a table of all of them is cheaper than sorting."""


@dataclass(frozen=True, eq=False, slots=True)
class Codes:
    """A column of texts as numbers: ``names[code]`` is the text, −1 is none."""

    code: Ints
    names: list[str]

    @staticmethod
    def of(texts: Sequence[str | None]) -> Codes:
        """Texts (None: nothing) as codes into their names, in the order in which they first appear."""
        return Codes.of_stream(texts, len(texts))

    @staticmethod
    def of_stream(texts: Iterable[Any], count: int, kind: Any = np.int64) -> Codes:
        """The same of ``count`` texts that are there but once."""
        lookup = Numbering()
        code, names = lookup.codes(texts, count, kind), list(lookup)
        if None in lookup:
            gap = names.index(None)
            code = np.where(code == gap, -1, code - (code > gap))
            del names[gap]
        return Codes(code, names)

    @staticmethod
    def constant(name: str, rows: int) -> Codes:
        """The same text in every row."""
        return Codes(np.zeros(rows, np.int64), [name])

    @staticmethod
    def joined(parts: Sequence[Codes]) -> Codes:
        """Several columns as one, with the names of all of them, sorted."""
        names = sorted({name for part in parts for name in part.names})
        at = dict(zip(names, range(len(names)), strict=True))
        places = [np.array([*map(at.__getitem__, part.names), -1])[part.code] for part in parts]
        return Codes(np.concatenate(places), names)

    def __len__(self) -> int:
        return len(self.code)

    def take(self, index: Any) -> Codes:
        return Codes(self.code[index], self.names)

    def text(self, row: int) -> str:
        return self.names[int(self.code[row])]

    def texts(self) -> list[str | None]:
        names: list[str | None] = [*self.names, None]
        return [names[code] for code in self.code.tolist()]

    def inside(self, names: Sequence[str]) -> Ints:
        """The codes in another list of names; −1 where it lacks them."""
        return recode(self.code, self.names, names)

    def by_appearance(self) -> Codes:
        """The names in use, in the order in which they first appear."""
        first = np.full(len(self.names) + 1, len(self))
        first[self.code[::-1]] = np.arange(len(self))[::-1]  # of several, the last one that is put there stays
        order = np.argsort(first[:-1], kind="stable")[: int((first[:-1] < len(self)).sum())]
        to = np.full(len(first), -1)
        to[order] = np.arange(len(order))
        return Codes(to[self.code], [self.names[i] for i in order.tolist()])

    def pruned(self) -> Codes:
        """Without the names that no row has."""
        known = self.code if self.code.min(initial=0) >= 0 else self.code[self.code >= 0]
        counts = np.bincount(known, minlength=len(self.names))
        if counts.all():
            return self
        names = [self.names[i] for i in np.flatnonzero(counts).tolist()]
        return Codes(np.append(np.cumsum(counts > 0) - 1, -1)[self.code], names)

    def used(self) -> list[str]:
        """The names that some row has."""
        counts = np.bincount(self.code[self.code >= 0], minlength=len(self.names))
        return [self.names[i] for i in np.flatnonzero(counts).tolist()]


ROW = '"karat row"'
"""What the column with the numbers of rows, from 0, is called in the SQL of readers and engines."""
PADDING = 8
"""Readable bytes that a buffer must have after its last text."""
BLOCK = 1 << 15
"""Texts that are looked at together: few enough to stay in the processor's cache."""
_KEEP = np.array([(1 << 8 * i) - 1 for i in range(9)], np.uint64)
"""Masks that keep the first 0 to 8 bytes of a word."""
_MIX = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


@dataclass(frozen=True, eq=False)
class Text:
    """A column of texts as bytes in one buffer (UTF-8, padded with `PADDING` bytes): no Python object for each.

    Texts are compared eight bytes at a time, as words; ids of a million documents are hashed in 11 ms.
    """

    buffer: Bytes
    start: Ints
    length: Ints

    @staticmethod
    def of(texts: Iterable[str | bytes]) -> Text:
        """Texts copied from Python objects."""
        parts = [t.encode() if isinstance(t, str) else t for t in texts]
        length = np.fromiter(map(len, parts), np.int64, len(parts))
        return Text(np.frombuffer(b"".join(parts) + bytes(PADDING), np.uint8), starts(length), length)

    @staticmethod
    def joined(parts: Sequence[Text]) -> Text:
        """Several columns as one."""
        first = parts[0]
        if all(part.buffer is first.buffer for part in parts):
            return Text(
                first.buffer, np.concatenate([p.start for p in parts]), np.concatenate([p.length for p in parts])
            )
        at = starts(np.array([len(part.buffer) for part in parts]))
        start = np.concatenate([part.start + begin for part, begin in zip(parts, at, strict=True)])
        return Text(np.concatenate([p.buffer for p in parts]), start, np.concatenate([p.length for p in parts]))

    def __len__(self) -> int:
        return len(self.start)

    def __getitem__(self, index: Any) -> Text:
        out = Text(self.buffer, self.start[index], self.length[index])
        if isinstance(index, slice) and "_hash" in self.__dict__:
            out.__dict__["_hash"] = self._hash[index]
        return out

    def blocks(self) -> Iterator[tuple[slice, Text]]:
        """The column in pieces that stay in the processor's cache."""
        for at in range(0, len(self), BLOCK):
            piece = slice(at, at + BLOCK)
            yield piece, self[piece]

    def tolist(self) -> list[bytes]:
        data, start = self._bytes()
        return [data[s : s + n] for s, n in zip(start.tolist(), self.length.tolist(), strict=True)]

    def texts(self) -> list[str]:
        """The texts as Python objects."""
        data, start = self._bytes()
        if not data.isascii():
            return [part.decode(errors="replace") for part in self.tolist()]
        signs = data.decode("ascii")  # one sign a byte: texts are cut out of the whole
        return [signs[s : s + n] for s, n in zip(start.tolist(), self.length.tolist(), strict=True)]

    def _bytes(self) -> tuple[bytes, Ints]:
        """Bytes in which all texts are, and where each begins: the whole buffer, or a few texts without what is between them."""
        if 8 * int(self.length.sum()) > len(self.buffer):
            return self.buffer.tobytes(), self.start
        start = starts(self.length)
        return self.buffer[
            np.repeat(self.start - start, self.length) + np.arange(int(self.length.sum()))
        ].tobytes(), start

    @cached_property
    def longest(self) -> int:
        return int(self.length.max(initial=0))

    @cached_property
    def pieces(self) -> int:
        """Words that the longest text takes."""
        return -(-self.longest // 8)

    @cached_property
    def vary(self) -> bool:
        """Are the texts of different lengths?"""
        return bool(len(self)) and bool((self.length != self.longest).any())

    def word(self, i: int) -> Words:
        """Bytes ``8i`` to ``8i+7`` of every text as a little-endian number, zero after its end."""
        bits = self.longest.bit_length()
        mask = _masks(bits)[(1 << bits) - 8 * i :]
        return self.window(8 * i) & mask[self.length if self.vary else self.longest]

    def window(self, skip: int) -> Words:
        """The eight bytes of every text from its ``skip``-th on, and what follows a shorter one."""
        every = np.ndarray((len(self.buffer) - 7,), "<u8", self.buffer, strides=(1,))
        if self._step and int(self.start[-1]) + skip < len(every):
            return every[int(self.start[0]) + skip : int(self.start[-1]) + skip + 1 : self._step].copy()
        at = self.start + skip if skip else self.start
        return every[np.minimum(at, len(every) - 1) if skip else at]

    @cached_property
    def _step(self) -> int:
        """How far apart the texts begin if all of them are equally far, else 0: they are then read in one stride."""
        if len(self) < 2:
            return 0
        first, last = int(self.start[0]), int(self.start[-1])
        step = int(self.start[1]) - first
        even = step > 0 and last - first == step * (len(self) - 1) and bool((np.diff(self.start) == step).all())
        return step if even else 0

    def hash(self, salt: int = 0) -> Words:
        """A number per text that does not depend on the other texts."""
        return self._hashed(salt) if salt else self._hash

    @cached_property
    def _hash(self) -> Words:
        return self._hashed(0)

    def _hashed(self, salt: int) -> Words:
        # A zero word adds nothing, so that the sum is the same however many words the longest text has.
        out = np.empty(len(self), np.uint64)
        for piece, texts in self.blocks():
            total = texts.length.astype(np.uint64) * _MIX
            for i in range(texts.pieces):
                part = texts.word(i)
                part *= odd(i, salt)
                part ^= part >> _HALF
                total += part
            out[piece] = total
        return out

    @cached_property
    def heads(self) -> Ints:
        """Where a text differs from the one before it; the first does."""
        other = self.length[1:] != self.length[:-1]
        for i in range(self.pieces):
            window = self.window(8 * i)
            other |= window[1:] != window[:-1]
        rows = np.flatnonzero(other)  # what follows a text may differ where it does not
        return np.append(0, rows[~self[rows].equals(self[rows + 1])] + 1)[: len(self)]

    def equals(self, other: Text) -> Mask:
        """Whether each text is, byte for byte, the other's at the same place."""
        same = self.length == other.length
        for i in range(min(self.pieces, other.pieces)):
            same &= self.word(i) == other.word(i)
        return same

    def sort_keys(self) -> list[Words]:
        """Words whose order is the byte order of the texts, the last being the first to compare."""
        return [self.word(i).byteswap() for i in reversed(range(max(self.pieces, 1)))]

    def codes(self) -> tuple[Ints, Ints]:
        """A code for each text, in order of first appearance, and the row where each code appears first; exact."""
        salt = 0
        while True:
            index = Index(self.hash(salt))
            if self.equals(self[index.row[index.code]]).all():
                break
            salt += 1
        first = np.empty(len(index.row), np.int64)
        first[index.code[::-1]] = np.arange(len(self))[::-1]
        order = np.argsort(first)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        return place[index.code], first[order]


@cache
def _masks(bits: int) -> Words:
    """Masks by how many bytes a text has from some place on, −2^bits leading: none of the word, 0 to 8, or all of it."""
    return np.concatenate([np.zeros(1 << bits, np.uint64), _KEEP, np.full(1 << bits, _KEEP[8])])


@cache
def odd(i: int, salt: int) -> np.uint64:
    """The factor of word ``i`` in a hash."""
    return np.uint64((0xD1342543DE82EF95 * (2 * i + 1) + 0x2545F4914F6CDD1D * 2 * salt) & 0xFFFFFFFFFFFFFFFF | 1)


FIRST = 20
"""Most bits of the first table of slots: values that come often, labels or queries, need no more."""


class Index:
    """Distinct 64-bit keys (hashes, or words of eight bytes) in tables of slots.

    The last key that wants a slot gets it; the others go through the next table, with another hash. What shares a
    key is for the caller to compare: every text or pair of a code has the same one.
    """

    def __init__(self, key: Words) -> None:
        self.code = np.empty(len(key), np.int64)
        """The code of each key."""
        self._tables: list[tuple[int, NDArray[np.int32]]] = []
        holders, known = [np.zeros(0, np.int64)], 0
        rows = np.arange(len(key))
        while len(rows):
            part, bits = key[rows], len(rows).bit_length() + 2
            bits = bits if self._tables else min(bits, FIRST)
            slot = self._slots(part, bits, len(self._tables))
            table = np.full(1 << bits, -1, np.int32)
            table[slot] = np.arange(len(rows), dtype=np.int32)
            holder = table[slot]
            used = np.flatnonzero(table >= 0)
            holders.append(rows[table[used]])
            table[used] = np.arange(known, known + len(used), dtype=np.int32)
            self._tables.append((bits, table))
            self.code[rows] = table[slot]
            known += len(used)
            rows = rows[part[holder] != part]
        self.row = np.concatenate(holders)
        """A row that has each code."""
        self._key = key[self.row]

    def find(self, blocks: Iterable[Words]) -> tuple[Ints, Ints]:
        """Which of the keys, which come in blocks that stay in the processor's cache, are here, and their codes."""
        bits, begin, near = len(self._used).bit_length() - 1, 0, [(np.zeros(0, np.int64), self._key[:0])]
        for keys in blocks:  # nearly all strangers are told by the first bits alone
            at = np.flatnonzero(self._used[self._slots(keys, bits, 0)])
            near.append((at + begin, keys[at]))
            begin += len(keys)
        at, key = (np.concatenate(parts) for parts in zip(*near, strict=True))
        hits = [(at[:0], at[:0])]
        for turn, (bits, table) in enumerate(self._tables):
            code = table[self._slots(key, bits, turn)]
            hit = (self._key[code] == key) & (code >= 0)
            hits.append((at[hit], code[hit]))
            other = np.flatnonzero((code >= 0) & ~hit)  # a slot that nobody has got was wanted by nobody
            at, key = at[other], key[other]
        rows, codes = (np.concatenate(parts) for parts in zip(*hits, strict=True))
        return rows, codes

    @cached_property
    def _used(self) -> Mask:
        """Which first bits some key has."""
        bits = max(len(self.row).bit_length() + 4, 8)
        used = np.zeros(1 << bits, bool)
        used[self._slots(self._key, bits, 0)] = True
        return used

    @staticmethod
    def _slots(key: Words, bits: int, turn: int) -> Ints:
        mixed = key * odd(turn, 1) if turn else key
        return (mixed >> np.uint64(64 - bits)).view(np.int64)


def repeats(key: Words) -> tuple[Ints, Ints]:
    """Rows whose key an earlier row has, in order of keys, and the first row that has it."""
    rising = np.sort(key)
    alike = rising[1:][rising[1:] == rising[:-1]]
    if not len(alike):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    at = np.minimum(np.searchsorted(alike, key), len(alike) - 1)
    rows = np.flatnonzero(alike[at] == key)
    rows = rows[np.argsort(key[rows], kind="stable")]
    new = np.append(True, key[rows[1:]] != key[rows[:-1]])
    return rows[~new], rows[new][np.cumsum(new) - 1][~new]


class Numbering(dict[Any, int]):
    """Texts with their codes, growing by each new one that is looked up."""

    def __missing__(self, text: Any) -> int:
        self[text] = code = len(self)
        return code

    def codes(self, texts: Iterable[Any], count: int, kind: Any = np.int64) -> Ints:
        """The code of each text. Labels in memory are most often few objects that come again and again: their codes are
        found by the addresses of the objects, many at a time, and what is not known by its address is looked up.
        """
        texts, out, begin = iter(texts), np.empty(count, kind), 0
        code, address = np.zeros(ADDRESSES, kind), np.zeros(ADDRESSES, np.intp)
        alive: list[Any] = []  # an address is an object's own only as long as that is there
        while count - begin > BLOCK and (begin < 2 * BLOCK or 2 * len(alive[-1]) < BLOCK):
            objects, part = np.fromiter(islice(texts, BLOCK), object, BLOCK), out[begin : begin + BLOCK]
            here = np.frombuffer(objects, np.intp)
            slot = (here >> 4) & (ADDRESSES - 1)
            code.take(slot, out=part, mode="clip")
            new = np.flatnonzero(address.take(slot, mode="clip") != here)
            alive.append(objects[new])
            part[new] = self._each(alive[-1].tolist(), len(new), kind)
            code[slot[new]], address[slot[new]] = part[new], here[new]
            begin += BLOCK
        out[begin:] = self._each(texts, count - begin, kind)  # short, or texts of a file, each an object of its own
        return out

    def _each(self, texts: Iterable[Any], count: int, kind: Any) -> Ints:
        return np.fromiter(map(self.__getitem__, texts), kind, count)


ADDRESSES = 1 << 16
"""Objects whose codes are remembered: what shares a place with another is looked up again."""


def narrow(count: int) -> Any:
    """The smallest type for so many codes, and −1: what is read at random is then in the cache more often."""
    return np.min_scalar_type(-count - 1)


def recode(code: Ints, names: Sequence[str], to: Sequence[str], kind: Any = None) -> Ints:
    """Codes into ``names`` as codes into ``to``; −1 stays, and is what ``to`` lacks."""
    if names is to or names == to:
        return code.astype(kind or code.dtype, copy=False)
    at = dict(zip(to, range(len(to)), strict=True))
    kind = kind or (code.dtype if len(to) <= np.iinfo(code.dtype).max else np.int64)
    return np.fromiter(chain(map(at.get, names, repeat(-1)), [-1]), kind, len(names) + 1)[code]


def ordered(names: Iterable[str]) -> list[str]:
    """Names in number order if all are numbers, else in text order. NaN is none: it has no place among numbers."""
    texts = sorted(set(names))
    try:
        numbers = list(map(float, texts))
    except ValueError:
        return texts
    return texts if any(map(isnan, numbers)) else sorted(texts, key=float)


def vocabulary(column: str, lists: Iterable[Sequence[str]]) -> list[str]:
    """One list of names for a column of several sides or batches, in an order that does not depend on them."""
    every = {name for names in lists for name in names}
    return sorted(every) if column in BY_BYTES else ordered(every)


BY_BYTES = ("document",)
"""Columns whose codes rise with the bytes of their texts, because ties are broken by them."""


def distinct(key: Ints) -> tuple[Ints, Ints]:
    """Sorted distinct keys (none below 0), and the place of each key among them; in linear time where they are dense."""
    if (key[1:] > key[:-1]).all():
        return key, np.arange(len(key))
    size = int(key.max(initial=-1)) + 1
    if size > DENSE * len(key):
        return _by_sorting(key)
    used = np.zeros(size, bool)
    used[key] = True
    return np.flatnonzero(used), (np.cumsum(used) - 1)[key]


def _by_sorting(key: Any) -> tuple[Ints, Ints]:
    order, rising = _sorted(key)
    new = firsts(rising)
    place = np.empty(len(key), np.int64)
    place[order] = np.cumsum(new) - 1
    return rising[new], place


def _sorted(key: Any) -> tuple[Ints, Ints]:
    """Rows in the order of their keys, and the keys in it; a key and its row are sorted as one number where they fit into it."""
    bits = len(key).bit_length()
    if key.dtype.kind == "f" or key.min(initial=0) < 0 or int(key.max(initial=0)).bit_length() + bits > 63:
        order = np.argsort(key, kind=None if key.dtype.kind == "f" else "stable")  # of equal weights any may be first
        return order, key[order]
    both = key.astype(np.int64, copy=False) << bits
    both |= np.arange(len(key))
    both.sort()
    rising = both >> bits
    both &= (1 << bits) - 1
    return both, rising


def groups(key: Ints, size: int, n: Ints) -> tuple[Ints, Ints, Callable[[], Ints]]:
    """Rows with the same key (from 0, below ``size``), by rising keys: the last of each, their ``n`` together, and the group of every row."""
    ones = n.max(initial=1) == 1
    if size <= 4 * len(key) + (1 << 20):
        last: Ints = np.empty(size, np.int32 if len(key) < 1 << 31 else np.int64)
        for at in range(0, len(key), BLOCK):
            last[key[at : at + BLOCK]] = np.arange(at, min(at + BLOCK, len(key)), dtype=last.dtype)
        count = np.bincount(key, minlength=size)
        used = np.flatnonzero(count > 0)
        total = (count if ones else np.bincount(key, n, size))[used].astype(np.int64, copy=False)
        return last[used], total, lambda: (np.cumsum(count > 0) - 1)[key]
    order, rising = _sorted(key)
    new = firsts(rising)
    begin = np.flatnonzero(new)
    end = np.append(begin[1:], len(key))
    total = end - begin if ones else np.add.reduceat(n[order], begin)

    def group() -> Ints:
        out = np.empty(len(key), np.int64)
        out[order] = np.cumsum(new) - 1
        return out

    return order[end - 1], total, group


def firsts(rising: Ints) -> Mask:
    """Where a new value begins in a sorted column."""
    return np.append(True, np.diff(rising) != 0)[: len(rising)]


def paired(first: Ints, second: Ints) -> Ints:
    """A code for each pair of codes (none below 0), rising with the first, then with the second."""
    return distinct(first.astype(np.int64, copy=False) * (int(second.max(initial=0)) + 1) + second)[1]


def ranked(column: Any) -> Ints:
    """Numbers as whole numbers from 0 that rise with them; codes (−1: none, which comes last) stay in their order."""
    if column.dtype.kind in "iu" and column.min(initial=0) >= 0:
        return column  # type: ignore[no-any-return]
    if column.dtype.kind in "iu" and column.min(initial=0) == -1:
        return np.where(column < 0, column.max(initial=0) + 1, column)
    if column.dtype.kind == "i" and column.itemsize < 4:
        return np.subtract(column, column.min(), dtype=np.int32)
    for parts in PARTS:
        if (whole := _wholes(column, parts)) is not None:
            return whole - whole.min(initial=0)
    return _by_sorting(column + 0.0)[1]


PARTS = (1, 10_000, 1_000_000)
"""Parts of one that numbers most often are: places and counts are whole, weights have up to four or six decimals."""
HEAD = 1000
"""Numbers that show whether it is worth while to look at all."""


def _wholes(column: Any, parts: int) -> Ints | None:
    """How many parts of one each number is; None where a number is not what so many parts are, and so none but it is."""
    whole = column
    for some in (column[:HEAD], column):
        if not np.abs(some).max(initial=0.0) < (1 << 31) / parts:
            return None
        whole = np.rint(some * parts)
        if not (whole / parts == some).all():
            return None
    return whole.astype(np.int64)  # type: ignore[no-any-return]


def starts(size: Ints) -> Ints:
    """Where each of consecutive groups of these sizes begins."""
    return np.cumsum(size) - size


def within(size: Ints) -> Ints:
    """The place, from 0, of every member in its group, for consecutive groups of these sizes."""
    return np.arange(int(size.sum())) - np.repeat(starts(size), size)


def places(size: Ints) -> Ints:
    """The same of groups that are lists, in less room."""
    kind, most = narrow(int(size.max(initial=0))), size.max(initial=0)
    if most and (size == most).all():
        return np.resize(np.tile(np.arange(most, dtype=kind), min(len(size), BLOCK)), int(most) * len(size))
    return within(size).astype(kind)


def matches(keys: Mapping[Any, int], wanted: Iterable[Any], rows: int) -> Ints:
    """Where each wanted key stands; −1 where it is not there."""
    get = keys.get
    return np.fromiter((get(key, -1) for key in wanted), np.int64, rows)


_MULTIPLIERS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93], np.uint64)


def hashed(words: NDArray[np.uint64]) -> tuple[NDArray[Any], NDArray[Any]]:
    """A row that holds each distinct value, and the code of every row.

    Every row is compared with the row that holds its slot, so that the result is exact. Values that lost
    their slot to another go through the next round, with another hash and more slots.
    """
    codes = np.full(len(words), -1, np.int32)
    holders: list[NDArray[Any]] = []
    rows, bits, known = np.arange(len(words), dtype=np.int32), 16, 0
    while len(rows):
        part = words if len(rows) == len(words) else words[rows]
        slot = _slots(part, bits, len(holders))
        holder = np.full(1 << bits, -1, np.int32)
        holder[slot] = np.arange(len(rows), dtype=np.int32)
        same = _equal(part, holder[slot])
        used = np.flatnonzero(holder >= 0)
        number = np.empty(1 << bits, np.int32)
        number[used] = np.arange(known, known + len(used), dtype=np.int32)
        codes[rows if len(rows) < len(words) else slice(None)] = number[slot]
        holders.append(rows[holder[used]])
        known += len(used)
        rows = rows[~same] if not same.all() else rows[:0]
        bits = max(16, min(24, int(4 * len(rows)).bit_length()))
    return np.concatenate(holders) if holders else rows, codes


def _slots(words: NDArray[np.uint64], bits: int, turn: int) -> NDArray[Any]:
    """The top bits of a multiplicative hash; every round mixes differently."""
    multiplier = _MULTIPLIERS[turn % 4] + np.uint64(2 * (turn // 4))
    mixed = words[:, 0] * multiplier
    for column in range(1, words.shape[1]):
        mixed ^= mixed >> np.uint64(29)
        mixed += words[:, column]
        mixed *= multiplier
    mixed ^= mixed >> np.uint64(32)
    mixed *= multiplier
    return (mixed >> np.uint64(64 - bits)).astype(np.int32)


def _equal(words: NDArray[np.uint64], others: NDArray[Any]) -> NDArray[np.bool_]:
    same = words[:, 0] == words[others, 0]
    for column in range(1, words.shape[1]):
        same &= words[:, column] == words[others, column]
    return same
