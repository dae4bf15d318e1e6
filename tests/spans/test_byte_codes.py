# SPDX-License-Identifier: Apache-2.0
"""Codes of texts by their bytes are those that a dictionary gives, whatever the hash and however many collide."""

import random

import numpy as np
import pytest

from karat.read.fast.byte_codes import coded


@pytest.mark.parametrize("rounds", [(), ((1, 3),), ((2, 0x9E3779B97F4A7C15), (1, 5))])
def test_codes_are_those_of_a_dictionary(rounds: tuple[tuple[int, int], ...]) -> None:
    rng = random.Random(len(rounds))
    rows = [(rng.randrange(4), rng.randrange(3)) for _ in range(200)]
    code, which = coded([np.array(column, np.uint64) for column in zip(*rows, strict=True)], rounds)
    assert [rows[which[c]] for c in code] == rows
    assert len(which) == len(set(rows)) == len({rows[at] for at in which})
