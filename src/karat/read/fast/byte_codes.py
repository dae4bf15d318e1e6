# SPDX-License-Identifier: Apache-2.0
"""Texts inside bytes as numbers: eight bytes are a word, and rows of equal words get one code. Goes with its users."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from karat.columns import Ints

WORD = 8
Words = NDArray[np.uint64]
_ROUNDS = ((14, 0x9E3779B97F4A7C15), (16, 0xC2B2AE3D27D4EB4F), (18, 0x165667B19E3779F9), (20, 0xD6E8FEB86659FD93))
"""Bits of a slot and a mixer for each round; few texts need few slots, which the processor's cache holds."""


_MASKS = np.array([(1 << 8 * n) - 1 for n in range(WORD + 1)], dtype=np.uint64)


def windows(text: bytes) -> Words:
    """The eight bytes from each place on, as far as there are eight."""
    return np.ndarray((len(text) - WORD + 1,), "<u8", buffer=text, strides=(1,))


def words_of(view: Words, start: Ints, size: Ints) -> list[Words]:
    """The bytes of texts, eight at a time, zero behind a text's end."""
    offsets = range(0, int(size.max(initial=1)), WORD)
    last = len(view) - 1
    return [view[np.minimum(start + o, last)] & _MASKS[np.clip(size - o, 0, WORD)] for o in offsets]


def coded(words: Sequence[Words], rounds: Sequence[tuple[int, int]] = _ROUNDS) -> tuple[Ints, Ints]:
    """A code for each row of words, and one row for each code.

    Rows go to slots by a hash; those that differ from the last one of their slot get another hash.
    """
    if not rounds:
        return _by_sorting(words)
    (bits, mixer), *later = rounds
    slot = _slots(words, mixer, bits)
    sample: Ints = np.full(1 << bits, -1, dtype=np.int64)
    sample[slot] = np.arange(len(slot))
    used = np.flatnonzero(sample >= 0)
    number = np.zeros(1 << bits, dtype=np.int64)
    number[used] = np.arange(len(used))
    code, rows = number[slot], sample[used]
    other = np.flatnonzero(reduce(np.logical_or, (word != word[rows][code] for word in words)))
    if len(other):
        more, which = coded([word[other] for word in words], later)
        code[other], rows = more + len(rows), np.append(rows, other[which])
    return code, rows


def _slots(words: Sequence[Words], mixer: int, bits: int) -> Ints:
    mixed = words[0] * np.uint64(mixer)
    for i, word in enumerate(words[1:], 1):
        mixed += word * np.uint64(mixer + 2 * i)
    return (mixed >> np.uint64(64 - bits)).view(np.int64)


def _by_sorting(words: Sequence[Words]) -> tuple[Ints, Ints]:
    """The same for very many texts, which share slots whatever the mixer."""
    _, rows, code = np.unique(np.stack(words, 1), axis=0, return_index=True, return_inverse=True)
    return code.reshape(-1), rows
