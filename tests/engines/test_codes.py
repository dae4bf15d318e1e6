# SPDX-License-Identifier: Apache-2.0
"""Texts that the engine makes codes of are the codes that its texts make."""

from __future__ import annotations

import random

import pytest

from karat.columns import Codes
from karat.engines.duckdb import Engine

TEXTS = ["a", "B", "", " ", "ä", "'", '"', "a ", "naïve", "1", "1.0", None]


@pytest.mark.parametrize("seed", range(20))
def test_codes_are_those_of_the_texts(seed):
    draw = random.Random(seed)
    texts = draw.choices(draw.sample(TEXTS, draw.randrange(1, 12)), k=draw.choice([0, 1, 5, 40, 5000]))
    with Engine() as engine:
        engine.execute('CREATE TABLE t ("a ""column" VARCHAR)')
        engine.connection.execute("INSERT INTO t SELECT unnest(?::VARCHAR[])", [texts])
        columns = engine.lazily("t")
        coded, plain = columns.coded('a "column'), Codes.of(texts)
        assert (coded.code.tolist(), coded.names) == (plain.code.tolist(), plain.names)
        assert engine.types("t") == columns.types  # what it needed on the way is gone
        assert not engine.connection.execute("SELECT * FROM duckdb_types() WHERE NOT internal").fetchall()


def test_names_by_appearance():
    """Gaps stay, and names that no row has go."""
    codes = Codes(Codes.of(["c", None, "a", "c"]).code[[1, 2, 2, 0]], ["c", "a", "z"]).by_appearance()
    assert (codes.texts(), codes.names) == ([None, "a", "a", "c"], ["a", "c"])
