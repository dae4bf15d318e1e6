# SPDX-License-Identifier: Apache-2.0
"""Byte strings that lie in one buffer: compared, hashed and found without a Python object each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
Ints = NDArray[np.int64]

PADDING = 8
"""Readable bytes that a buffer must have after its last string."""
_KEEP = np.array([(1 << 8 * i) - 1 for i in range(9)], np.uint64)
"""Masks that keep the first 0 to 8 bytes of a word."""
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)


@dataclass(frozen=True, eq=False)
class Strings:
    """Strings by start and length in a buffer that is padded with `PADDING` bytes."""

    buffer: Bytes
    start: Ints
    length: Ints

    @staticmethod
    def of(texts: Iterable[str | bytes]) -> Strings:
        """Strings copied from Python objects (text as UTF-8)."""
        parts = [t.encode() if isinstance(t, str) else t for t in texts]
        length = np.fromiter(map(len, parts), np.int64, len(parts))
        buffer = np.frombuffer(b"".join(parts) + bytes(PADDING), np.uint8)
        return Strings(buffer, np.cumsum(length) - length, length)

    def __len__(self) -> int:
        return len(self.start)

    def __getitem__(self, index: NDArray[np.int64] | NDArray[np.bool_] | slice) -> Strings:
        out = self._take(index)
        if isinstance(index, slice) and index.start is None and "heads" in self.__dict__:
            out.__dict__["heads"] = self.heads[self.heads < len(out)]
        return out

    def _take(self, index: Any) -> Strings:
        return Strings(self.buffer, self.start[index], self.length[index])

    def tolist(self) -> list[bytes]:
        first, last = int(self.start.min(initial=len(self.buffer))), int((self.start + self.length).max(initial=0))
        data = self.buffer[first:last].tobytes()
        return [data[s : s + n] for s, n in zip((self.start - first).tolist(), self.length.tolist(), strict=True)]

    def texts(self) -> NDArray[np.object_]:
        """The strings as Python text."""
        return np.array([b.decode(errors="replace") for b in self.tolist()], object)

    @cached_property
    def longest(self) -> int:
        return int(self.length.max(initial=0))

    @cached_property
    def pieces(self) -> int:
        """Eight-byte words that the longest string takes."""
        return -(-self.longest // 8)

    @cached_property
    def vary(self) -> bool:
        """Are the strings of different lengths?"""
        return bool(len(self)) and bool((self.length != self.longest).any())

    @cached_property
    def _windows(self) -> Words:
        """The eight bytes from every position on, as one little-endian number: a view, no copy."""
        return np.ndarray((len(self.buffer) - 7,), "<u8", self.buffer, strides=(1,))

    def word(self, i: int) -> Words:
        """Bytes ``8i`` to ``8i+7`` of every string, zero after its end."""
        bits = self.longest.bit_length()
        mask = _masks(bits)[(1 << bits) - 8 * i :]
        return self._bytes(8 * i) & mask[self.length if self.vary else self.longest]

    def _bytes(self, skip: int) -> Words:
        """The eight bytes of every string from its ``skip``-th on, and what follows a shorter one."""
        if self._step and int(self.start[-1]) + skip < len(self._windows):
            return self._windows[int(self.start[0]) + skip : int(self.start[-1]) + skip + 1 : self._step].copy()
        at = self.start + skip if skip else self.start
        if skip and at.size and int(at.max()) >= len(self._windows):
            at = np.minimum(at, len(self._windows) - 1)
        return self._windows[at]

    @cached_property
    def _step(self) -> int:
        """How far apart the strings begin if all of them are equally far, else 0: they are then read in one stride."""
        if len(self) < 2:
            return 0
        first, last = int(self.start[0]), int(self.start[-1])
        step = int(self.start[1]) - first
        even = step > 0 and last - first == step * (len(self) - 1) and bool((np.diff(self.start) == step).all())
        return step if even else 0

    def hash(self, salt: int = 0) -> Words:
        """A number per string that does not depend on the other strings.

        A zero word adds nothing, so the sum is the same however many words the longest string has.
        """
        total = (self.length if self.vary else self.length[:1]).astype(np.uint64) * _MIX
        for i in range(self.pieces):
            part = self.word(i)
            part *= odd(i, salt)
            part ^= part >> _SHIFT
            part += total
            total = part
        return total

    @cached_property
    def heads(self) -> Ints:
        """Where a string differs from the one before it; the first does."""
        return np.flatnonzero(self.changes())

    @property
    def sizes(self) -> Ints:
        """Strings from each head to the next."""
        return spans(self.heads, len(self))

    def changes(self) -> NDArray[np.bool_]:
        """Whether each string differs from the one before it (the first does)."""
        out = np.ones(len(self), bool)
        if len(self) > 1:
            out[1:] = self.length[1:] != self.length[:-1]
            for i in range(self.pieces):
                word = self.word(i)
                out[1:] |= word[1:] != word[:-1]
        return out

    def equals(self, other: Strings) -> NDArray[np.bool_]:
        """Whether each string is, byte for byte, the other's at the same place."""
        same = self.length == other.length
        for i in range(min(self.pieces, other.pieces)):
            same &= self.word(i) == other.word(i)
        return same

    def sort_keys(self) -> list[Words]:
        """Words whose order is the byte order of the strings, the last being the first to compare."""
        return [self.word(i).byteswap() for i in reversed(range(max(self.pieces, 1)))]


class Views(Strings):
    """Strings of up to twelve bytes as Polars keeps them: four bytes for the length, then the text and zeros."""

    vary, pieces = True, 2

    def __init__(self, buffer: Bytes) -> None:
        self.__dict__.update(buffer=buffer, length=buffer.view("<i4")[::4])

    @cached_property
    def start(self) -> Ints:  # type: ignore[override]
        return np.arange(4, len(self.buffer), 16)

    def __len__(self) -> int:
        return len(self.length)

    def _take(self, index: Any) -> Strings:
        return Views(self.buffer.view("V16")[index].view(np.uint8))

    def word(self, i: int) -> Words:
        if i == 0:
            return np.ndarray((len(self),), "<u8", self.buffer, 4, (16,)).copy()
        return self._half(1) >> _SHIFT

    def changes(self) -> NDArray[np.bool_]:
        out = np.ones(len(self), bool)
        for i in range(2):
            half = self._half(i)
            change = half[1:] != half[:-1]
            out[1:] = change if i == 0 else out[1:] | change
        return out

    def equals(self, other: Strings) -> NDArray[np.bool_]:
        if not isinstance(other, Views):
            return super().equals(other)
        return (self._half(0) == other._half(0)) & (self._half(1) == other._half(1))

    def _half(self, i: int) -> Words:
        return self.buffer.view("<u8")[i::2]


@cache
def _masks(bits: int) -> Words:
    """Masks by how many bytes a string has from some place on, −2^bits leading: none of the word, 0 to 8, or all of it."""
    return np.concatenate([np.zeros(1 << bits, np.uint64), _KEEP, np.full(1 << bits, _KEEP[8])])


def spans(first: Ints, end: int) -> Ints:
    """From each of ``first`` to the next one, and from the last to ``end``; np.diff takes thrice as long."""
    out = np.empty(len(first), np.int64)
    np.subtract(first[1:], first[:-1], out=out[:-1])
    out[-1:] = end - first[-1:]
    return out


def odd(i: int, salt: int) -> np.uint64:
    """The factor of word ``i``."""
    return np.uint64((0xD1342543DE82EF95 * (2 * i + 1) + 0x2545F4914F6CDD1D * 2 * salt) & 0xFFFFFFFFFFFFFFFF | 1)
