# SPDX-License-Identifier: Apache-2.0
"""Tags to codes by looking at the bytes of the joined texts.

What it buys: the codes of 6 million tags of two sides in 0.20 s of CPU, where a dictionary needs 0.30 s; that is a
quarter of an evaluation of tag lists.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat.columns import Ints, Numbering
from karat.read import fast
from karat.read.fast.byte_codes import WORD, coded, windows, words_of

NEWLINE, LETTER_O = 10, 79
BLOCK = 4096
"""Sentences at a time: their bytes and columns stay in the processor's cache."""


def marked(sentences: Sequence[Sequence[str]], lengths: Ints, tags: Numbering) -> tuple[Ints, Ints] | None:
    """Which tokens have another tag than O, and its code in `tags`, which grows by what is new; None if it cannot tell."""
    if not fast.ON:
        return None
    rows = sentences if lengths.all() else list(filter(len, sentences))
    begins = range(0, len(rows), BLOCK)
    ends = np.append(0, np.cumsum(lengths[lengths > 0]))[[*begins, len(rows)]].tolist()
    at, code = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    try:
        for low, first, end in zip(begins, ends, ends[1:], strict=False):
            marks = _block(rows[low : low + BLOCK], end - first, tags)
            at.append(marks[0] + first)
            code.append(marks[1])
    except (TypeError, ValueError):
        return None
    return np.concatenate(at), np.concatenate(code)


def _block(rows: Sequence[Sequence[str]], tokens: int, tags: Numbering) -> tuple[Ints, Ints]:
    text = "\n".join(("", *map("\n".join, rows), "")).encode()
    at, start, size = _not_o(text, tokens)
    words = words_of(windows(text + bytes(WORD)), start, size)
    code, models = coded(words if b"\0" not in text else [*words, size.astype(np.uint64)])
    names = [text[start[row] : start[row] + size[row]].decode() for row in models.tolist()]
    return at, tags.codes(names, len(names))[code]


def _not_o(text: bytes, tokens: int) -> tuple[Ints, Ints, Ints]:
    """Token index, first byte and number of bytes of every token that is not `O`."""
    raw = np.frombuffer(text, dtype=np.uint8)
    edge = raw == NEWLINE
    other = raw != LETTER_O  # of a byte: whether the token behind it is more than the letter O
    other[:-2] = other[1:-1] | ~edge[2:]
    edges = np.flatnonzero(edge)
    if len(edges) != tokens + 1:
        raise ValueError("a tag holds a line break")
    at = np.flatnonzero(other[edges[:-1]])
    return at, edges[at] + 1, edges[at + 1] - edges[at] - 1
