"""Columns, entries, keys and what is left out: every function against what a few lines of plain Python say."""

from __future__ import annotations

import random
from decimal import Decimal
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

import karat
from karat import check, columns, side, values
from karat.align import Aligned, Meeting, meet
from karat.columns import Codes, Index, Text
from karat.findings import LIMIT
from karat.side import Entries, Even, Keys, Origin, Positions, Side

SEEDS = range(12)


def ints(*numbers: int) -> Any:
    return np.array(numbers, np.int64)


# Codes


@pytest.mark.parametrize("seed", SEEDS)
def test_codes(seed: int) -> None:
    rng = random.Random(seed)
    names = ["c", "a", "d", "b", "e"][: rng.randint(1, 5)]
    code = [rng.randint(-1 if seed % 2 else 0, len(names) - 1) for _ in range(rng.randint(0, 9))]
    made = Codes(ints(*code), names)
    texts = [names[c] if c >= 0 else None for c in code]
    assert made.texts() == texts
    assert len(made) == len(code)
    assert [made.text(row) for row, c in enumerate(code) if c >= 0] == [t for t in texts if t]
    used = [name for name in names if name in texts]
    assert made.used() == used
    for other, listed in (
        (made.pruned(), used),
        (made.by_appearance(), [t for t in dict.fromkeys(texts) if t]),
        (Codes.of(texts), [t for t in dict.fromkeys(texts) if t]),
    ):
        assert other.texts() == texts
        assert other.names == listed
        assert all(c >= -1 for c in other.code.tolist())
    assert made.inside(["b", "a"]).tolist() == [{"b": 0, "a": 1}.get(t, -1) if t else -1 for t in texts]
    assert made.take(ints(*range(len(code)))[::-1]).texts() == texts[::-1]
    assert Codes.constant("x", 3).texts() == ["x"] * 3
    both = Codes.joined([made, Codes.of(["z", None, "a"])])
    assert both.texts() == [*texts, "z", None, "a"]
    assert both.names == sorted({*names, "z", "a"})


def test_nothing_may_come_first_between_and_last() -> None:
    for texts in ([None, "a", "b"], ["a", None, "b", "a"], ["b", "a", None], [None, None], []):
        made = Codes.of(texts)
        assert made.texts() == texts
        assert made.names == [t for t in dict.fromkeys(texts) if t]


def test_codes_in_longer_lists_take_more_room() -> None:
    few = np.array([0, 1, -1], np.int8)
    many = [f"n{i}" for i in range(200)]
    assert columns.recode(few, ["n150", "x"], many).tolist() == [150, -1, -1]
    assert columns.recode(few, ["n150", "x"], many[:127]).dtype == np.int8
    assert columns.recode(few, ["n127", "x"], many[:128]).tolist() == [127, -1, -1]
    assert columns.recode(few, ["a", "b"], ["a", "b"]) is few


# Columns


@pytest.mark.parametrize("seed", SEEDS)
def test_texts_by_their_bytes(seed: int) -> None:
    rng = random.Random(seed)
    words = ["", "a", "ab", "ä", "12345678", "123456789", "x" * 17, "x" * 16 + "y", "id-1", "id-2"]
    texts = [rng.choice(words) for _ in range(rng.randint(0, 12))]
    made = Text.of(texts)
    raw = [text.encode() for text in texts]
    assert made.texts() == texts
    assert made.tolist() == raw
    assert len(made) == len(texts)
    assert made.longest == max(map(len, raw), default=0)
    assert made.pieces == -(-made.longest // 8)
    assert made.vary == (len({*map(len, raw)}) > 1)
    code, first = made.codes()
    assert [texts[i] for i in first.tolist()] == list(dict.fromkeys(texts))
    assert [texts[first[c]] for c in code.tolist()] == texts
    assert made.heads.tolist() == [i for i in range(len(texts)) if i == 0 or texts[i] != texts[i - 1]]
    other = [rng.choice(words) for _ in texts]
    assert made.equals(Text.of(other)).tolist() == [a == b for a, b in zip(texts, other, strict=True)]
    both = Text.joined([made, Text.of(other)])
    assert both.texts() == texts + other
    assert Text.joined([made[:2], made[2:]]).texts() == texts
    some = ints(*[rng.randrange(len(texts)) for _ in texts][:5])
    assert made[some].texts() == [texts[i] for i in some.tolist()]
    made.hash()
    assert made[1:4].hash().tolist() == Text.of(texts[1:4]).hash().tolist()
    assert [part.texts() for _, part in made.blocks()] == ([texts] if texts else [])


def test_a_few_texts_of_a_long_buffer() -> None:
    made = Text.of(["first", "é" * 300, "last"])
    assert made[ints(0, 2)].texts() == ["first", "last"]
    assert made[ints(2)].tolist() == [b"last"]
    assert made[ints(1, 0)].texts() == ["é" * 300, "first"]


@pytest.mark.parametrize("seed", SEEDS)
def test_an_index_finds_what_is_there(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    if seed % 2:
        monkeypatch.setattr(columns, "FIRST", 2)  # so that keys lose their slots to others
    keys = [rng.choice((rng.getrandbits(64), rng.getrandbits(3), 7 << 61 | rng.getrandbits(4))) for _ in range(60)]
    index = Index(np.array(keys, np.uint64))
    assert sorted(keys[row] for row in index.row.tolist()) == sorted({*keys})
    assert [keys[index.row[code]] for code in index.code.tolist()] == keys
    wanted = [*keys[::3], *(rng.getrandbits(64) for _ in range(20)), 0, 8]
    words = np.array(wanted, np.uint64)
    rows, codes = index.find([words[:7], words[7:7], words[7:]])
    assert sorted(rows.tolist()) == [i for i, key in enumerate(wanted) if key in keys]
    assert [keys[index.row[c]] for c in codes.tolist()] == [wanted[r] for r in rows.tolist()]


@pytest.mark.parametrize("seed", SEEDS)
def test_keys_that_come_again(seed: int) -> None:
    rng = random.Random(seed)
    keys = [rng.randint(0, 6) for _ in range(rng.randint(0, 12))]
    later, first = columns.repeats(np.array(keys, np.uint64))
    again = [i for i, key in enumerate(keys) if key in keys[:i]]
    assert later.tolist() == sorted(again, key=lambda i: (keys[i], i))
    assert first.tolist() == [keys.index(keys[i]) for i in later.tolist()]


@pytest.mark.parametrize("seed", SEEDS)
def test_ranks_pairs_and_groups(seed: int) -> None:
    rng = random.Random(seed)
    for low, high in ((0, 5), (-1, 5), (-4, 5)):
        numbers = [rng.randint(low, high) for _ in range(rng.randint(1, 9))]
        rank = columns.ranked(ints(*numbers)).tolist()
        key = [n if n >= 0 or min(numbers) < -1 else 99 for n in numbers]
        assert all((rank[i] < rank[j]) == (key[i] < key[j]) for i, j in product(range(len(key)), repeat=2))
        assert min(rank) >= 0
    for parts in (1, 4, 10_000, 1_000_000, 3):
        weights = [rng.randint(-9, 9) / parts for _ in range(9)]
        rank = columns.ranked(np.array(weights)).tolist()
        assert all((rank[i] < rank[j]) == (weights[i] < weights[j]) for i, j in product(range(9), repeat=2))
    first, second = ([rng.randint(0, 3) for _ in range(8)] for _ in range(2))
    every = sorted({*zip(first, second, strict=True)})
    assert columns.paired(ints(*first), ints(*second)).tolist() == [
        every.index(p) for p in zip(first, second, strict=True)
    ]
    size = [rng.randint(0, 3) for _ in range(5)]
    assert columns.starts(ints(*size)).tolist() == [sum(size[:i]) for i in range(5)]
    assert (
        columns.within(ints(*size)).tolist()
        == [k for n in size for k in range(n)]
        == columns.places(ints(*size)).tolist()
    )
    assert columns.places(ints(2, 2, 2)).tolist() == [0, 1] * 3
    assert columns.places(ints()).tolist() == []
    assert columns.firsts(ints(1, 1, 2, 5, 5)).tolist() == [True, False, True, True, False]


@pytest.mark.parametrize("seed", SEEDS)
def test_distinct_words(seed: int) -> None:
    rng = random.Random(seed)
    words = [[rng.choice((1, 2, 1 << 40)) for _ in range(1 + seed % 3)] for _ in range(rng.randint(0, 30))]
    holders, codes = columns.hashed(np.array(words, np.uint64).reshape(len(words), 1 + seed % 3))
    assert len(holders) == len({*map(tuple, words)})
    assert [words[holders[c]] for c in codes.tolist()] == words


# Entries


def ragged(rng: random.Random, units: int, wide: int | None) -> tuple[Entries, list[list[int]]]:
    lists = [[rng.randint(0, 4) for _ in range(rng.randint(0, 3) if wide is None else wide)] for _ in range(units)]
    unit = [u for u, values in enumerate(lists) for _ in values]
    return Entries(ints(*unit), {"label": ints(*(v for values in lists for v in values))}), lists


def shown(entries: Entries, units: int) -> list[list[int]]:
    out: list[list[int]] = [[] for _ in range(units)]
    for unit, label in zip(entries.unit.tolist(), entries["label"].tolist(), strict=True):
        out[unit].append(label)
    return out


@pytest.mark.parametrize("wide", [None, 0, 1, 2, 3, 4])
@pytest.mark.parametrize("seed", SEEDS)
def test_entries(seed: int, wide: int | None) -> None:
    rng = random.Random(seed)
    units = rng.randint(1, 6)
    entries, lists = ragged(rng, units, wide)
    if seed % 3 == 0:
        lists = [sorted(values) for values in lists]
    elif seed % 3 == 1 and wide:
        lists = [lists[0]] * units
    entries = entries.of({"label": ints(*(v for values in lists for v in values))})
    sides = [entries, *([Even(units, wide, entries.columns)] if wide else [])]
    if wide == 1:
        sides.append(Entries(entries.unit, entries.columns, single=True))
    sizes = [len(values) for values in lists]
    index = [rng.randrange(units) for _ in range(rng.randint(0, 2 * units))]
    to = rng.sample(range(-1, units), units)
    for of in sides:
        assert len(of) == sum(sizes)
        assert shown(of, units) == lists
        assert of.wide(units) == (sizes[0] if len({*sizes}) == 1 else 0)
        assert of.sizes(units).tolist() == sizes
        assert of.sizes(units + 1).tolist() == [*sizes, 0]
        assert shown(of.taken(ints(*index), units), len(index)) == [lists[i] for i in index]
        moved = of.moved(ints(*to))
        assert moved.in_order
        assert shown(moved, units) == [lists[to.index(u)] if u in to else [] for u in range(units)]
        assert of.sums("label", units).tolist() == [sum(values) for values in lists]
        assert of.rises("label", units) == all(a < b for v in lists for a, b in pairwise(v))
        assert of.rises("label", units, again=True) == all(v == sorted(v) for v in lists)
        assert shown(of.by("label", units), units) == [sorted(values) for values in lists]
        pattern = of.pattern("label", units)
        alike = len({*map(tuple, lists)}) == 1 and sizes[0] > 0
        assert (None if pattern is None else pattern.tolist()) == (lists[0] if alike else None)
        assert of.one_each(units) == (of.single and wide == 1)
        later = [(u, i) for u, values in enumerate(lists) for i in range(len(values))]
        assert [of.unit[i] for i in range(len(of))] == [u for u, _ in later]


def test_entries_of_units_out_of_their_turn_are_not_wide() -> None:
    for unit in ([0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 0, 1], [0, 1, 1, 1], [0, 1, 0, 0, 1, 1]):
        of = Entries(ints(*unit), {"label": np.arange(len(unit))})
        assert of.wide(2) == 0, unit
        assert of.sizes(2).tolist() == [unit.count(0), unit.count(1)]
    assert Entries(ints(0, 1, 0, 1, 0, 1), {}).wide(2) == 0
    assert Entries(ints(0, 1, 0, 1, 1, 1), {}).wide(2) == 0
    assert Entries(ints(0, 0, 0, 1, 1, 1), {}).wide(2) == 3
    assert Entries(ints(0, 1), {}).wide(2) == 1
    assert Entries(ints(), {}).wide(2) == Entries(ints(), {}).wide(0) == 0
    assert not Entries(ints(0, 1, 0), {}).in_order
    assert Entries(ints(0, 0, 1), {}).in_order


def test_a_later_unit_before_an_earlier_one_does_not_rise() -> None:
    assert not Entries(ints(1, 0), {"label": ints(0, 1)}).rises("label", 3)
    assert Entries(ints(0, 2), {"label": ints(1, 0)}).rises("label", 3)


@pytest.mark.parametrize("block", [1, 2, 3, 100])
def test_blocks_of_entries(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side, "BLOCK", block)
    uneven = Entries(ints(0, 0, 0, 1, 3, 3), {"label": np.arange(6)})
    even = Even(4, 2, {"label": np.arange(8)})
    for of in (uneven, even, Entries(ints(), {"label": ints()})):
        at = 0
        for begin, part in of.blocks():
            assert begin == at
            assert len(part)
            at += len(part)
            assert part.unit.tolist() == of.unit[begin:at].tolist()
            assert part["label"].tolist() == of["label"][begin:at].tolist()
            assert at == len(of) or of.unit[at] != of.unit[at - 1]
            assert len(part) <= block or len({*part.unit[:-1].tolist()}) <= 2
        assert at == len(of)


def test_blocks_are_as_large_as_they_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side, "BLOCK", 4)
    assert [len(part) for _, part in Even(5, 2, {}).blocks()] == [4, 4, 2]
    assert [len(part) for _, part in Entries(np.repeat(np.arange(5), 2), {}).blocks()] == [4, 4, 2]
    assert [len(part) for _, part in Even(3, 9, {}).blocks()] == [9, 9, 9]
    assert side._columns(np.arange(12).reshape(6, 2), [1, 0]).tolist() == [1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10]


def test_entries_of_one_unit_and_text() -> None:
    texts = Text.of(["a", "b", "a", "a", "b", "a"])
    of = Entries(ints(0, 0, 0, 1, 1, 1), {"doc": texts})
    later, first = of.repeated("doc")
    assert (later.tolist(), first.tolist()) == ([2, 5], [0, 3])
    index, _ = of.index("doc")
    pairs = [(u, t) for u, t in zip(of.unit.tolist(), texts.texts(), strict=True)]
    assert [pairs[index.row[c]] for c in index.code.tolist()] == pairs
    assert len(index.row) == 4
    assert of.alike("doc", ints(0, 0, 0), of, ints(2, 3, 1)).tolist() == [True, False, False]
    joined = Entries.joined([of, Entries(ints(2), {"doc": Text.of(["z"])})])
    assert joined.unit.tolist() == [0, 0, 0, 1, 1, 1, 2]
    assert joined["doc"].texts()[-1] == "z"
    assert Entries.joined([of]) is of
    assert len(Entries.none("label")) == 0
    assert Entries.none("label")["label"].tolist() == []


# Sides


def plain_side(ids: Any, labels: list[list[str]], role: str = "gold", kind: str = "labels", cases: Any = None) -> Side:
    names = list(dict.fromkeys(label for some in labels for label in some))
    unit = [u for u, some in enumerate(labels) for _ in some]
    entries = Entries(ints(*unit), {"label": ints(*(names.index(x) for some in labels for x in some))})
    case = Codes.of(cases or [""] * len(labels))
    keys = Keys(case, ids)
    return Side(
        Origin("file", role, line_of=lambda record: record + 1),
        kind,
        keys,
        entries,
        {"label": names},
        records=len(labels),
    )


def test_a_side_counts_what_its_units_stand_for() -> None:
    made = plain_side(["1", "2", "3"], [["a"], ["b", "a"], []])
    assert made.uses().tolist() == [2, 1]
    assert len(made) == 3
    assert made.units_in(np.array([True, False, True])) == 2
    assert made.units_in([0, 2]) == 2
    made.n = ints(5, 7, 11)
    assert made.uses().tolist() == [12, 7]
    assert made.units_in(np.array([True, False, True])) == 16
    assert made.units_in([1]) == 7
    taken = made.take(ints(2, 1))
    assert taken.keys.id == ["3", "2"]
    assert taken.n is not None
    assert taken.n.tolist() == [11, 7]
    assert shown(taken.entries, 2) == [[], [1, 0]]
    assert [taken.line(unit) for unit in range(2)] == [3, 2]
    assert [taken.take(ints(1)).line(0)] == [2]


def test_rows_of_an_id_are_gathered() -> None:
    made = plain_side(["x", "y", "x", "x"], [["a"], ["b"], ["c"], ["d"]], cases=["T", "T", "T", "U"])
    made.units = {"text": ["p", "q", "r", "s"], "slice": Codes.of(["k", "l", "m", "n"]), "size": ints(1, 2, 3, 4)}
    out = side.gathered(made)
    assert list(out.keys.pairs()) == [("T", "x"), ("T", "y"), ("U", "x")]
    assert shown(out.entries, 3) == [[0, 2], [1], [3]]
    assert out.units["text"] == ["p", "q", "s"]
    assert out.units["slice"].texts() == ["k", "l", "n"]
    assert out.units["size"].tolist() == [1, 2, 4]
    assert [out.line(u) for u in range(3)] == [1, 2, 4]
    apart = plain_side(["x", "y"], [["a"], ["b"]])
    assert side.gathered(apart) is apart
    by_position = plain_side(Positions(2), [["a"], ["b"]])
    assert side.gathered(by_position) is by_position


def test_batches_of_a_side_are_joined() -> None:
    left = plain_side(["1", "2"], [["b"], ["a", "b"]], cases=["T", "S"])
    right = plain_side(["3"], [["c"]], cases=["T"])
    left.units, right.units = {"text": ["p", "q"], "n": ints(1, 2)}, {"n": ints(3), "part": Codes.of(["z"])}
    left.facts, right.facts = {"x": 1}, {"y": 2}
    out = side.joined([left, right])
    assert list(out.keys.pairs()) == [("T", "1"), ("S", "2"), ("T", "3")]
    assert out.keys.case.names == ["S", "T"]
    assert out.names == {"label": ["a", "b", "c"]}
    assert shown(out.entries, 3) == [[1], [0, 1], [2]]
    assert out.units["text"] == ["p", "q", None]
    assert out.units["part"] == [None, None, "z"]
    assert out.units["n"].tolist() == [1, 2, 3]
    assert out.facts == {"x": 1, "y": 2}
    assert out.records == 3


def test_queries_are_units() -> None:
    query = Text.of(["q1", "q2", "q1"])
    number = np.array([5.0, 4.0, 3.0, 2.0])
    out = side.by_query(Origin("run", "pred", line_of=lambda r: r + 1), query, ints(1, 2, 1), {"number": number})
    assert out.keys.case.texts() == ["q1", "q2"]
    assert out.records == 4
    assert out.context == "ranking"
    assert out.entries.unit.tolist() == [0, 0, 1, 1]
    assert out.entries["number"].tolist() == [5, 2, 4, 3]
    assert [out.line(u) for u in range(2)] == [1, 2]
    assert [out.entry_line(e) for e in range(4)] == [1, 4, 2, 3]


def test_positions_are_the_numbers_from_one() -> None:
    three = Positions(3)
    assert list(three) == ["1", "2", "3"] == [three[i] for i in range(3)] == three.stored_as()
    assert len(three) == 3
    assert three[-1] == "3"
    assert three[1:] == ["2", "3"]
    assert three == ["1", "2", "3"]
    assert three == Positions(3)
    assert three != Positions(4)
    assert three != ["1", "2"]
    assert Keys(Codes.constant("", 3), three).by_position
    assert not Keys(Codes.constant("", 1), ["1"]).by_position


def test_keys_are_the_same_only_in_the_same_order() -> None:
    one = Keys(Codes.of(["T", "U"]), ["1", "2"])
    assert one.same(Keys(Codes(ints(1, 0), ["U", "T"]), ["1", "2"]))
    assert not one.same(Keys(Codes.of(["U", "T"]), ["1", "2"]))
    assert not one.same(Keys(Codes.of(["T", "T"]), ["1", "2"]))
    assert not one.same(Keys(Codes(ints(1, 0), ["T", "U"]), ["1", "2"]))
    assert not one.same(Keys(Codes.of(["T", "U"]), ["2", "1"]))
    assert not one.same(Keys(Codes.of(["T"]), ["1"]))
    assert not Keys(Codes.of(["T"]), ["1"]).same(Keys(Codes.of(["U"]), ["1"]))
    assert list(one.comparable(False)) == [("T", "1"), ("U", "2")]
    assert list(one.comparable(True)) == ["1", "2"]
    merged = Keys(Codes.constant("", 3), ["0", "1", "2"], {"1": "name"})
    assert merged.known(ints(0, 1)).id == ["name"]
    assert one.known(ints(1)).id == ["2"]


# Meeting


@pytest.mark.parametrize("seed", SEEDS)
def test_units_meet(seed: int) -> None:
    rng = random.Random(seed)
    cases = ["T"] if seed % 3 == 0 else ["T", "U"]
    every = [(case, str(i)) for case in cases for i in range(4)]
    gold, pred = (rng.sample(every, rng.randint(1, len(every))) for _ in range(2))
    if seed % 4 == 0:
        pred = list(gold)
    both = meet(*(Keys(Codes.of([c for c, _ in some]), [i for _, i in some]) for some in (gold, pred)))
    more = [p for p, key in enumerate(pred) if key not in gold]
    assert both.same == (gold == pred)
    assert both.gold.tolist() == [*range(len(gold)), *[-1] * len(more)]
    assert both.pred.tolist() == [*(pred.index(key) if key in pred else -1 for key in gold), *more]
    shared = len({*gold} & {*pred})
    counts = {
        "gold": len(gold),
        "pred": len(pred),
        "aligned": shared,
        "gold_only": len(gold) - shared,
        "pred_only": len(more),
    }
    assert both.counts() == counts
    assert both.both == shared
    for missing, extra in product(("wrong", "skip"), ("ignore", "wrong")):
        kept = both.kept(missing, extra)
        pairs = [(g, p) for g, p in zip(both.gold.tolist(), both.pred.tolist(), strict=True)
                 if (p >= 0 or missing == "wrong") and (g >= 0 or extra == "wrong")]  # fmt: skip
        assert list(zip(kept.gold.tolist(), kept.pred.tolist(), strict=True)) == pairs
    n = ints(*(rng.randint(1, 5) for _ in both.gold))
    many = Meeting(both.gold, both.pred, both.same, n)
    assert many.counts()["aligned"] == sum(n[i] for i in range(len(n)) if both.gold[i] >= 0 and both.pred[i] >= 0)
    assert many.counts()["gold"] == sum(n[i] for i in range(len(n)) if both.gold[i] >= 0)
    kept = many.kept("skip", "ignore")
    assert kept.n is not None
    assert len(kept.n) == len(kept.gold)
    assert kept.n.sum() == many.counts()["aligned"]


@pytest.mark.parametrize("seed", SEEDS)
def test_aligned_rows_say_what_their_units_say(seed: int) -> None:
    rng = random.Random(seed)
    every = [str(i) for i in range(8)]
    sides = []
    for role in ("gold", "pred"):
        ids = rng.sample(every, 6)
        labels = [rng.sample("abcd", rng.randint(0, 2)) for _ in ids]
        made = plain_side(ids, labels, role, cases=["TU"[int(i) % 2] for i in ids])
        made.units = {"text": [f"{role} {i}" for i in ids], "part": Codes.of(list(ids))}
        sides.append((made, dict(zip(ids, labels, strict=True))))
    (gold, of_gold), (pred, of_pred) = sides
    both = Aligned.of(gold, pred, meet(gold.keys, pred.keys))
    assert both.ids is not None
    assert sorted(both.ids) == sorted({*of_gold, *of_pred})

    def check_rows(rows: Aligned, ids: Any) -> None:
        for which, of in (("gold", of_gold), ("pred", of_pred)):
            entries = getattr(rows, which)
            labels: list[list[str]] = [[] for _ in ids]
            for unit, label in zip(entries.unit.tolist(), entries["label"].tolist(), strict=True):
                labels[unit].append(rows.names["label"][label])
            assert labels == [of.get(i, []) for i in ids]
        assert rows.in_gold.tolist() == [i in of_gold for i in ids]
        assert rows.in_pred.tolist() == [i in of_pred for i in ids]
        assert rows.case.texts() == ["TU"[int(i) % 2] for i in ids]
        assert rows.rows["text"] == [f"gold {i}" if i in of_gold else None for i in ids]
        assert rows.rows["pred text"] == [f"pred {i}" if i in of_pred else None for i in ids]
        assert rows.rows["part"].texts() == [i if i in of_gold else None for i in ids]

    check_rows(both, both.ids)
    index = rng.sample(range(len(both)), len(both) - 2)
    part = both.take(ints(*index))
    check_rows(part, [both.ids[i] for i in index])
    assert part.unit is not None
    assert part.ids is not None
    assert [part.ids[np.flatnonzero(part.unit == row)[0]] for row in range(len(part))] == [both.ids[i] for i in index]
    ordered = both.in_order()
    check_rows(ordered, sorted(both.ids, key=lambda i: (int(i) % 2, int(i))))
    check_rows(part.in_order(), sorted((both.ids[i] for i in index), key=lambda i: (int(i) % 2, int(i))))
    alone = both.take(np.flatnonzero(both.case.code == 0))
    assert alone.case.names == ["T"]
    assert len(alone) == sum(int(i) % 2 == 0 for i in both.ids)
    small = both.collapsed()
    content = [
        (int(i) % 2, *(tuple(sorted(of[i])) if i in of else None for of in (of_gold, of_pred))) for i in both.ids
    ]
    assert sorted(small.n.tolist()) == sorted(content.count(c) for c in {*content})
    assert small.unit is not None
    assert all(
        (small.unit[i] == small.unit[j]) == (content[i] == content[j])
        for i, j in product(range(len(content)), repeat=2)
    )


def test_ids_are_ordered_as_numbers_where_all_are() -> None:
    for ids, order in (
        (["10", "9", "010", "1"], ["1", "9", "010", "10"]),
        (["b", "10", "a", "9"], ["10", "9", "a", "b"]),
    ):
        made = plain_side(ids, [["x"]] * 4)
        assert Aligned.of(made, made, meet(made.keys, made.keys)).in_order().ids == order


def test_entries_by_number() -> None:
    gold = plain_side(["1", "2"], [[], []])
    gold.entries = Entries(ints(0, 0, 1), {"number": ints(3, -1, 3)})
    pred = plain_side(["1", "2"], [[], []], "pred")
    pred.entries = Entries(ints(0, 1, 1), {"number": ints(3, 4, 3)})
    both = Aligned.of(gold, pred, meet(gold.keys, pred.keys))
    row, left, right = both.met("number")
    assert row.tolist() == [0, 0, 1, 1]
    assert left.tolist() == [1, 0, 2, -1]
    assert right.tolist() == [-1, 0, 2, 1]


# What is left out


def test_what_cannot_be_scored_is_left_out() -> None:
    gold = plain_side(["1", "2", "3", "3"], [["a"], [], [], ["b"]], kind="label")
    pred = plain_side(["1", "2", "3", "1", "9"], [["a"], ["b"], [" "], ["c"], []], "pred", "label")
    kept, (answers,) = check.leave_out(gold, [pred])
    assert list(kept.keys.id) == ["1", "3", "3"]
    assert list(answers.keys.id) == ["1"]
    assert [str(f) for f in kept.findings] == [
        "file:2: warning[left-out]: 1 record without a value is left out (the first is shown)"
    ]
    assert [str(f) for f in answers.findings] == [
        "file:3: warning[left-out]: 2 records without a value are left out (the first is shown)",
        "file:2: warning[left-out]: 1 record for gold records without a value is left out (the first is shown)",
        "file:4: warning[left-out]: 1 record with the id of another is left out (the first is shown)",
    ]
    with pytest.raises(karat.InputError, match="no record"):
        check.leave_out(plain_side(["1"], [[]], kind="label"), [])


def test_an_empty_answer_is_no_first_one() -> None:
    pred = plain_side(["1", "1", "1"], [[], ["a"], ["b"]], "pred", "label")
    _, (answers,) = check.leave_out(plain_side(["1"], [["a"]], kind="label"), [pred])
    assert answers.names["label"][answers.entries["label"][0]] == "a"
    assert len(answers) == 1


def test_empty_labels_of_a_set_are_left_out() -> None:
    pred = plain_side(["1", "2"], [["a", ""], ["", "b"]], "pred")
    _, (answers,) = check.leave_out(plain_side(["1", "2"], [["a"], ["b"]]), [pred])
    assert [[answers.names["label"][c] for c in some] for some in shown(answers.entries, 2)] == [["a"], ["b"]]
    assert [str(f) for f in answers.findings] == [
        "file:1: warning[left-out]: 2 empty labels are left out (the first is shown)"
    ]


@pytest.mark.parametrize("count", [LIMIT - 1, LIMIT, LIMIT + 1, LIMIT + 5])
def test_findings_past_the_limit_are_counted(count: int) -> None:
    made = plain_side(["x"] * (count + 1), [["a"]] * (count + 1))
    for found in (
        check.repeated_ids(made),
        check.at_units(made, "empty-value", range(1, count + 1), field="label"),
        check.at_limit("empty-value", np.arange(1, count + 1), made, lambda row: check.finding("empty-value", "file", row + 1, field="label")),
    ):  # fmt: skip
        assert [f.line for f in found[: min(count, LIMIT)]] == list(range(2, min(count, LIMIT) + 2))
        rest = found[LIMIT:]
        assert [f.code for f in rest] == (["more"] if count > LIMIT else [])
        assert all(f"{count - LIMIT} more finding" in f.message for f in rest)


def test_repeated_ids_name_their_first_line_and_test_case() -> None:
    made = plain_side(["x", "", "x", "", "y"], [["a"]] * 5, cases=["T", "T", "T", "T", "U"])
    (found,) = check.repeated_ids(made)
    assert (found.line, found.facts["first"], found.facts["where"]) == (3, 1, " of test case 'T'")
    assert check.repeated_ids(plain_side(["x", "x"], [["a"]] * 2, cases=["T", "U"])) == []
    assert check.blank(["a", " ", "", "\t\n", "b "]) == [1, 2, 3]


# Values


def test_kinds_of_values() -> None:
    nan = float("nan")
    assert values.kinds_of(["a", 1, True, [1], {"a": 1}, None, 2.5, nan]).tolist() == [0, 1, 2, 3, 4, -1, 1, -1]
    assert values.kinds_of([1.5, nan]).tolist() == [1, -1]
    assert values.kinds_of([1, 2]).tolist() == [1, 1]
    assert values.kinds_of(["a", "b"]).tolist() == [0, 0]
    assert values.kinds_of([None, None]).tolist() == [-1, -1]
    assert values.kinds_of(np.array([1.5, nan])).tolist() == [1, -1]
    assert values.kinds_of(np.array([True, False])).tolist() == [2, 2]
    assert values.kinds_of(np.array([3])).tolist() == [1]
    assert values.kinds_of(np.array(["a"])).tolist() == [0]
    assert values.kinds_of(np.array([b"a"])).tolist() == [0]
    assert values.kinds_of(Codes.of(["a", None])).tolist() == [0, -1]


def test_flags_and_spellings() -> None:
    assert values.flags([True, 0, "yes", "NO", 1.0, "1.0", None, "perhaps", [1], {}]).tolist() == [
        1,
        0,
        1,
        0,
        1,
        1,
        -1,
        -1,
        -1,
        -1,
    ]
    assert values.flags(np.array([True, False])).tolist() == [1, 0]
    assert values.flags(Codes.of(["true", None, "0"])).tolist() == [1, -1, 0]
    assert values.spelt(["a", 1, None, 2.0, [1], "a"]).texts() == ["a", "1", None, "2", None, "a"]
    assert values.spelt([True, False, None]).texts() == ["true", "false", None]
    assert values.spelt(np.array([3, 1])).texts() == ["3", "1"]


def test_kinds_are_counted() -> None:
    used = values.kinds_used
    assert used(Codes.of(["a", None, "b"])) == {"text": 2}
    assert used(Codes.of([None])) == {}
    assert used(np.array([1.5, np.nan])) == {"number": 1}
    assert used(np.array([np.nan])) == {}
    assert used(np.array([True, False])) == {"truth": 2}
    assert used(np.array([], bool)) == {}
    assert used(np.array([3, 4, 5])) == {"number": 3}
    assert used(["a", "b"]) == {"text": 2}
    assert used([None, None]) == {}
    assert used([[1], None]) == {"list": 1}
    assert used([{"a": 1}, "x", 2, 3.5, False]) == {"text": 1, "number": 2, "truth": 1, "object": 1}
    lists, objects = values.taken_apart([["a"], None, []], False), values.taken_apart([{"a": 1}, None], True)
    assert used(lists) == {"list": 2}
    assert used(objects) == {"object": 1}
    assert used(values.taken_apart([None], False)) == used(values.taken_apart([None], True)) == {}
    assert values.kinds_of(lists).tolist() == [3, -1, 3]
    assert values.kinds_of(objects).tolist() == [4, -1]


def test_what_is_there() -> None:
    assert values.given(Codes.of(["a", None])).tolist() == [True, False]
    assert values.given(np.array([np.nan, 1.0])).tolist() == [True, True]
    assert values.given(["a", None, float("nan"), 0, ""]).tolist() == [True, False, True, True, True]


def test_numbers_and_what_is_none() -> None:
    number, bad = values.numbers(["1", " 2.5 ", "x", None, True, 3, 4.5, "nan", "1e3", "-.5", 10**400, -(10**400)])
    assert np.array_equal(
        number, [1, 2.5, np.nan, np.nan, np.nan, 3, 4.5, np.nan, 1000, -0.5, np.inf, -np.inf], equal_nan=True
    )
    assert bad.tolist() == [2, 4]
    for column in (np.array([1, 2]), np.array([1.0, 2.0]), [1.0, 2.0], Codes.of(["1", "2"])):
        number, bad = values.numbers(column)
        assert number.tolist() == [1, 2]
        assert number.dtype == float
        assert bad.tolist() == []
    assert values.fractional(np.array([1.0, 1.5]))
    assert not values.fractional(np.array([1.0, -2.0]))
    assert not values.fractional(np.array([1, 2]))


def test_whole_numbers_and_what_is_none() -> None:
    no = values.NO_NUMBER
    assert values.whole(["1", 2, 2.5, None, "x", -3.0, 0]).tolist() == [1, 2, no, no, no, -3, 0]
    assert values.whole(np.array([5, 7], np.int32)).tolist() == [5, 7]
    assert values.whole(Codes.of(["4", None, "4.5", "9"])).tolist() == [4, no, no, 9]
    assert values.whole([2.0**61, 2.0**62, -(2.0**62), -(2.0**61), float("inf")]).tolist() == [2**61, no, no, -(2**61), no]  # fmt: skip
    assert values.whole(np.array([3, 2**63], np.uint64)).tolist() == [3, no]


def test_texts_of_values() -> None:
    assert values.text(1e21) == "1000000000000000000000"
    assert values.text(1e22) == "1e+22"
    assert values.text(-0.0) == "0"
    assert values.text(2.5) == "2.5"
    assert values.text(float("nan")) is None
    assert values.text(float("inf")) == "inf"
    assert values.text(-3.0) == "-3"
    assert values.text(7) == "7"
    assert [values.text(True), values.text(False), values.text(True, True), values.text(False, True)] == ["true", "false", "1", "0"]  # fmt: skip
    assert values.texts_of(["a", None, 1]).texts() == ["a", None, None]
    assert values.texts_of(["a", None]).texts() == ["a", None]
    assert values.texts_of(np.array(["b", "a"])).texts() == ["b", "a"]
    assert values.spelt([True, 2, None]).texts() == ["1", "2", None]
    assert values.spelt([False, 0.5]).texts() == ["0", "0.5"]
    assert values.spelt([True, "a"]).texts() == ["true", "a"]
    assert values.spelt([1, 1.0, "1"]).texts() == ["1"] * 3


def test_texts_that_are_numbers_lose_an_empty_fraction() -> None:
    short = lambda *texts: values.as_numbers(Codes.of(texts)).texts()
    assert short("1.0", "2.50", "3") == ["1", "2.50", "3"]
    assert short("1.0", "1", None) == ["1", "1", None]
    assert short("-0.0", "0", "0.00") == ["0", "0", "0"]
    assert short("1.0", "x") == ["1.0", "x"]
    assert short("x", "1.0") == ["x", "1.0"]
    assert short("01.0", "2.0") == ["01.0", "2.0"]
    assert short(None) == [None]
    assert values.are_numbers(Codes.of(["1", "-2.5"]))
    assert not values.are_numbers(Codes.of(["1", "x"]))
    assert not values.are_numbers([])
    assert values.are_numbers(["1", None])
    assert not values.are_numbers(["1", 2])
    assert values.as_grades([True, None, False]) == [1, None, 0]
    assert values.as_grades(np.array([True, False])).tolist() == [1, 0]


class Odd(int):
    """A number of a type of its own."""


def test_values_of_other_types_become_plain() -> None:
    from fractions import Fraction

    given = [
        np.int64(3), np.float32(0.5), np.str_("a"), {"b", "a"}, frozenset(), np.array([1, 2]), range(2), Decimal("0.1"), Decimal("0.1000000000000000000001"),
        Decimal("NaN"), b"x", Odd(4), Fraction(1, 2), np.datetime64("NaT"), None, "t",
    ]  # fmt: skip
    expected = [3, 0.5, "a", ["a", "b"], [], [1, 2], [0, 1], 0.1, values.Exact(Decimal("0.1000000000000000000001")), None, "x", 4, 0.5, None, None, "t"]  # fmt: skip
    found = values.plain(given)
    assert found == expected
    assert [type(v) for v in found[:3]] == [int, float, str]
    assert type(found[11]) is int
    whole = np.array([1, 2])
    assert values.plain(whole) is whole
    assert values.plain(np.array(["a", None], object)) == ["a", None]
    assert values.plain(np.array(["2020-01-02"], "M8[D]")) == ["2020-01-02"]


def test_decimals_of_more_digits_than_decimals_divide_are_whole_numbers() -> None:
    """Division of decimals ends at 28 digits with an exception, which read as broken Parquet."""
    long = "12345678901234567890123456789012345"
    assert values.plain([Decimal(long), Decimal("-1E399"), Decimal(long + ".0")]) == [int(long), -(10**399), int(long)]
    e = karat.evaluate([Decimal(long), Decimal(1)], [Decimal(long), Decimal(3)], context="numbers", metrics=["mae"])
    assert e["mae"].value == 1.0


@pytest.mark.parametrize(
    "rows",
    [
        [["a", "b"], [], ["c"]], [["a"], None, "x", ("b",)], [[1, "a"], [None]], [["a", 1], [["x"]]], [[]], [],
        [["a", ["x"]]], [[True, 2]],
    ],
)  # fmt: skip
def test_lists_taken_apart(rows: list[Any]) -> None:
    made = values.taken_apart(rows, False)
    lists = [list(row) if isinstance(row, (list, tuple)) else None for row in rows]
    assert made.rows() == lists == list(made)
    assert len(made) == len(rows)
    assert made.size.tolist() == [len(row or ()) for row in lists]
    assert made.given.tolist() == [r is not None for r in lists]
    assert made.row.tolist() == [i for i, row in enumerate(lists) for _ in row or ()]


@pytest.mark.parametrize(
    "rows",
    [
        [{"a": 1.5, "b": 2}, {"a": 0, "b": 3}], [{"a": 1}, {"b": 2}, {}], [{"a": 1, "b": 2}, {"b": 1, "a": 2}], [{}, {"a": 1}], [{"a": 1}, None, 3],
        [{1: 0.5, 2: 0.5}, {1: 0.25, 2: 0.75}], [{"a": 1, "b": 2}, {"a": 1}],
    ],
)  # fmt: skip
def test_objects_taken_apart(rows: list[Any]) -> None:
    made = values.taken_apart(rows, True)
    named = [{str(k): v for k, v in row.items()} if isinstance(row, dict) else None for row in rows]
    assert made.rows() == named
    assert made.given.tolist() == [row is not None for row in named]
    assert made.size.tolist() == [len(row or ()) for row in named]


def test_pieces_of_a_column_are_joined() -> None:
    assert values.joined([Codes.of(["b", "a"]), Codes.of(["a", None, "c"])]).texts() == ["b", "a", "a", None, "c"]
    assert values.joined([Codes.of(["b"]), Codes.of(["b", "c"])]).names == ["b", "c"]
    assert values.joined([Codes.of(["a"]), [1, None]]) == ["a", 1, None]
    assert values.joined([[1], [2]]) == [1, 2]
    lists = [values.taken_apart(rows, False) for rows in ([["a"], None], [["b", "a"]])]
    assert values.joined(lists).rows() == [["a"], None, ["b", "a"]]
    weights = [values.taken_apart(rows, True) for rows in ([{"a": 0.5}, {"b": 1.0}], [{"c": 0.25, "a": 0.75}])]
    weights = [values.Nested(w.size, w.keys, np.array(w.members), w.given) for w in weights]
    assert values.joined(weights).rows() == [{"a": 0.5}, {"b": 1.0}, {"c": 0.25, "a": 0.75}]
    assert values.joined([lists[0], weights[0]]) == [["a"], None, {"a": 0.5}, {"b": 1.0}]
    many = [Codes(np.arange(100, dtype=np.int8), [f"{p}{i}" for i in range(100)]) for p in "xy"]
    assert values.joined(many).texts() == [f"{p}{i}" for p in "xy" for i in range(100)]


def test_texts_that_are_json_or_python() -> None:
    assert values.parsed(['["a"]', "1"]) == [["a"], 1]
    assert values.parsed(["[1]", "["]) is None
    assert values.literals(["['a', 1]", " []"]) == [["a", 1], []]
    assert values.literals(["['a']", "1"]) is None
    assert values.literals(["['a'"]) is None
    assert values.is_json("{}")
    assert not values.is_json("{")


@pytest.mark.parametrize(
    "array",
    [
        [3, 1, 3, 2], [-2, 5, -2], [0, 10**9, 0], [1.5, -0.0, 0.0, 1.5], [2.0, float("nan"), 2.0], ["b", "a", "b"], ["", "ä", "€uro", "ä"],
        [True, False, True], ["12345678", "123456789", "1234567"], [5, 5], [2**40, 3],
    ],
)  # fmt: skip
def test_arrays_as_codes(array: list[Any]) -> None:
    texts = [values.text(value) for value in array]
    found = values.factorise(np.array(array))
    assert found.texts() == texts
    assert sorted(found.names) == sorted({t for t in texts if t is not None})
    if type(array[0]) is int and min(array) >= 0:
        assert values.factorise(np.array(array, np.uint64)).texts() == texts


def test_a_range_of_numbers_as_wide_as_it_may_be() -> None:
    for wide in (1007, 1008, 1009):
        assert values.factorise(np.array([7, 7 + wide])).texts() == ["7", str(7 + wide)]


def test_columns_of_other_libraries() -> None:
    import pandas
    import polars
    import pyarrow

    texts = ["b", None, "a", "b"]
    for column in (
        pandas.Series(texts, dtype="category"), pandas.Categorical(texts), polars.Series(texts), polars.Series(texts, dtype=polars.Categorical),
        polars.Series(texts, dtype=polars.Enum(["c", "a", "b"])), pyarrow.array(texts), pyarrow.chunked_array([["b", None], ["a", "b"]]),
        pyarrow.array(texts, pyarrow.large_string()), pyarrow.array(texts).dictionary_encode(),
    ):  # fmt: skip
        found = values.coded(column)
        assert found is not None
        assert found.texts() == texts
        assert sorted(found.names) == ["a", "b"]
    for column in (pandas.Series([1, 2]), polars.Series([1, 2]), pyarrow.array([1, 2]), ["a"]):
        assert values.coded(column) is None
    alike = values.coded(pandas.Categorical.from_codes([0, 1, 2, -1], categories=[1, 1.5, "1"]))
    assert alike is not None
    assert alike.texts() == ["1", "1.5", "1", None]
