# SPDX-License-Identifier: Apache-2.0
"""Lists of tags to codes, by looking at the bytes of the joined strings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from karat.contexts.spans.span import Ints
from karat.contexts.spans.tags import Tagged

NEWLINE, LETTER_O, WORD = 10, 79, 8
SLOTS = 14
"""Bits of a tag's slot."""
BLOCK = 4096
"""Sentences at a time: their bytes and columns stay in the processor's cache."""
_MIXERS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93)


def encode(sides: Sequence[Sequence[Sequence[str]]], *, suffix: bool = False) -> list[Tagged]:
    """Lists of tag lists (one for each side) as codes over one vocabulary.

    Joining the strings and looking at bytes is twice as fast as a dictionary lookup for each token.
    """
    tags = {"O": 0}
    coded = [_side(side, tags) for side in sides]
    names = list(tags)
    return [Tagged(at, code, lengths, names, suffix) for at, code, lengths in coded]


def _side(side: Sequence[Sequence[str]], tags: dict[str, int]) -> tuple[Ints, Ints, Ints]:
    lengths = np.fromiter(map(len, side), dtype=np.int64, count=len(side))
    ends = np.append(0, np.cumsum(lengths))
    blocks = [
        _block(side[low : low + BLOCK], ends[low], ends[min(low + BLOCK, len(side))], tags)
        for low in range(0, len(side), BLOCK)
    ]
    none = np.zeros(0, dtype=np.int64)
    at, code = (np.concatenate([none, *(block[i] for block in blocks)]) for i in (0, 1))
    return at, code, lengths


def _block(rows: Sequence[Sequence[str]], first: int, end: int, tags: dict[str, int]) -> tuple[Ints, Ints]:
    """Positions and codes of the tags of some sentences; `tags` grows by what is new."""
    text = "\n".join(("", *map("\n".join, filter(len, rows)), "")).encode()
    at, start, size = _not_o(text, int(end - first))
    code, found = _distinct(text, start, size)
    place = np.array([tags.setdefault(tag, len(tags)) for tag in found], dtype=np.int64)
    return at + first, place[code]


def _not_o(text: bytes, tokens: int) -> tuple[Ints, Ints, Ints]:
    """Token index, first byte and number of bytes of every token that is not `O`."""
    raw = np.frombuffer(text, dtype=np.uint8)
    edge = raw == NEWLINE
    other = raw != LETTER_O  # of a byte: whether the token behind it is more than the letter O
    other[:-2] = other[1:-1] | ~edge[2:]
    edges = np.flatnonzero(edge)
    if len(edges) != tokens + 1 and tokens:
        raise ValueError("a tag holds a line break")
    at = np.flatnonzero(other[edges[:-1]]) if tokens else edges[:0]
    return at, edges[at] + 1, edges[at + 1] - edges[at] - 1


def _distinct(text: bytes, start: Ints, size: Ints) -> tuple[Ints, list[str]]:
    """A code for each token and the tags that the codes stand for."""
    words = _words(text, start, size)
    for mixer in _MIXERS:
        mixed = sum((word * np.uint64(mixer + 2 * i) for i, word in enumerate(words)), np.uint64(0))
        slot: Ints = np.asarray(mixed >> np.uint64(64 - SLOTS), dtype=np.int64)
        sample: Ints = np.full(1 << SLOTS, -1, dtype=np.int64)
        sample[slot] = np.arange(len(slot))
        model = sample[slot]
        if all(np.array_equal(word, word[model]) for word in words) and np.array_equal(size, size[model]):
            used = np.flatnonzero(sample >= 0)
            code = np.zeros(1 << SLOTS, dtype=np.int64)
            code[used] = np.arange(len(used))
            return code[slot], [_tag(text, start[i], size[i]) for i in sample[used]]
    return _distinct_by_sorting(text, start, size)


def _words(text: bytes, start: Ints, size: Ints) -> list[NDArray[np.uint64]]:
    """The tokens' bytes, eight at a time, zero behind a token's end."""
    longest = int(size.max(initial=1))
    padded = text + bytes(longest + WORD)
    view: NDArray[np.uint64] = np.ndarray((len(padded) - WORD + 1,), "<u8", buffer=padded, strides=(1,))
    mask = np.array([(1 << 8 * n) - 1 for n in range(WORD + 1)], dtype=np.uint64)
    offsets = range(0, longest, WORD)
    return [view[start + o] & mask[np.clip(size - o, 0, WORD)] for o in offsets]


def _tag(text: bytes, start: int, size: int) -> str:
    return text[start : start + size].decode()


def _distinct_by_sorting(text: bytes, start: Ints, size: Ints) -> tuple[Ints, list[str]]:
    """The same when tags share slots whatever the mixer: there are very many."""
    tokens = [_tag(text, low, n) for low, n in zip(start.tolist(), size.tolist(), strict=True)]
    tags = sorted(set(tokens))
    place = {tag: i for i, tag in enumerate(tags)}
    return np.fromiter(map(place.__getitem__, tokens), dtype=np.int64, count=len(tokens)), tags
