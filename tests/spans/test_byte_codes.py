# SPDX-License-Identifier: Apache-2.0
"""Codes of texts by their bytes are those that a dictionary gives, whatever the hash and however many collide."""

import random

import numpy as np
import pytest

from karat.read.fast.byte_codes import WORD, coded, windows, words_of


@pytest.mark.parametrize("rounds", [(), ((1, 3),), ((2, 0x9E3779B97F4A7C15), (1, 5))])
def test_codes_are_those_of_a_dictionary(rounds: tuple[tuple[int, int], ...]) -> None:
    rng = random.Random(len(rounds))
    rows = [(rng.randrange(4), rng.randrange(3)) for _ in range(200)]
    code, which = coded([np.array(column, np.uint64) for column in zip(*rows, strict=True)], rounds)
    assert [rows[which[c]] for c in code] == rows
    assert len(which) == len(set(rows)) == len({rows[at] for at in which})


def test_texts_are_told_apart_behind_their_eighth_byte() -> None:
    texts = [b"organisation", b"organism", b"organisatio", b"o", b"", b"organisation", b"organisms and organisations"]
    size = np.array(list(map(len, texts)))
    buffer = np.frombuffer(b"".join(texts) + bytes(WORD), np.uint8)
    code, which = coded(words_of(windows(buffer), np.cumsum(size) - size, size))
    assert [texts[which[c]] for c in code] == texts
