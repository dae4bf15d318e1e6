# SPDX-License-Identifier: Apache-2.0
"""Columns of texts are compared by words of eight bytes, as Python compares the bytes."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np

from karat.columns import Text
from karat.values import factorise

LONGEST = 27
"""More than three words, so that every place of a word is once the last."""


def columns() -> Iterator[list[bytes]]:
    """Texts at even steps with a last one of any length, and texts of mixed lengths, some of them alike."""
    rng = random.Random(3)
    some = lambda size: bytes(rng.choices(b"ab\xff", k=size))
    for size in range(LONGEST):
        for last in range(LONGEST):
            yield [some(size), some(size), some(last)]
        yield [some(size), b"", some(rng.randrange(LONGEST)), some(size)] * 2
    yield from ([], [b""], [b"", b""])


def test_words_hold_the_bytes_of_their_text_and_nothing_of_the_next():
    for parts in columns():
        text = Text.of(parts)
        assert text.pieces == -(-max(map(len, parts), default=0) // 8)
        for i in range(text.pieces):
            wanted = [int.from_bytes(part[8 * i : 8 * i + 8], "little") for part in parts]
            assert text.word(i).tolist() == wanted


def test_texts_are_alike_where_all_bytes_are():
    for parts in columns():
        text, turned = Text.of(parts), parts[::-1]
        assert text.tolist() == parts
        assert text.equals(Text.of(turned)).tolist() == [a == b for a, b in zip(parts, turned, strict=True)]
        assert text.heads.tolist() == [i for i, part in enumerate(parts) if i == 0 or part != parts[i - 1]]
        code, row = text.codes()
        assert row.tolist() == [parts.index(part) for part in dict.fromkeys(parts)]
        assert [parts[row[c]] for c in code.tolist()] == parts


def test_a_last_byte_makes_a_difference_at_every_length():
    for size in range(1, 3 * LONGEST):
        parts = [b"x" * (size - 1) + mark for mark in (b"a", b"b", b"a")]
        assert Text.of(parts).codes()[0].tolist() == [0, 1, 0]
        assert Text.of(parts).hash().tolist() == [Text.of([part]).hash()[0] for part in parts]


def test_salts_give_texts_other_numbers():
    """Texts that share a number are told apart by that of another salt."""
    text = Text.of([b"a", b"longer than a word"])
    plain, other = text.hash(), text.hash(1)
    assert plain.tolist() == Text.of([b"a", b"longer than a word"]).hash(0).tolist()
    assert not np.any(plain == other)


def test_the_order_of_keys_is_the_order_of_bytes():
    for parts in columns():
        order = np.lexsort(Text.of(parts).sort_keys()) if parts else []
        assert [parts[i] for i in order] == sorted(parts)


def test_thousands_of_texts_that_begin_alike_have_codes_of_their_own():
    """So many that some share a slot, where only the words behind the first tell them apart."""
    parts = [b"category-%06d" % n for n in range(3000)]
    code, first = Text.of(parts * 2).codes()
    assert len(first) == 3000
    assert (code[:3000] == code[3000:]).all()
    assert len(set(code.tolist())) == 3000


def test_arrays_of_thousands_of_texts_that_begin_alike_have_codes_of_their_own():
    texts = [f"category-{n:06d}" for n in range(3000)]
    found = factorise(np.array(texts * 2))
    assert [found.names[code] for code in found.code.tolist()] == texts * 2
