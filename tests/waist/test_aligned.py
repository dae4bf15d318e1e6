"""Laws of the waist: batches merge to the whole, order does not matter, equal rows collapse exactly."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.align import Aligned, _carried, coverage_findings, meet, met
from karat.columns import Codes, distinct, groups, ordered, ranked, recode
from karat.side import Entries, Even, Keys, Origin, Positions, Side

LABELS = ["a", "b", "10", "9"]


def side(role, units):
    """A side of {(test case, id): [(label, number), …]}."""
    keys = list(units)
    flat = [(u, label, number) for u, key in enumerate(keys) for label, number in units[key]]
    label = Codes.of([label for _, label, _ in flat])
    entries = Entries(
        np.array([u for u, _, _ in flat], np.int64),
        {"label": label.code, "number": np.array([n for *_, n in flat], float)},
    )
    cases = Codes.of([case for case, _ in keys])
    return Side(Origin(role, role), "weights", Keys(cases, [id for _, id in keys]), entries, {"label": label.names})


def said(both):
    """Every row as plain Python: test case, n, presence, and what both sides say."""
    out = []
    for row in range(len(both)):
        sides = []
        for entries in (both.gold, both.pred):
            at = np.flatnonzero(entries.unit == row)
            sides.append(sorted((both.names["label"][entries["label"][i]], float(entries["number"][i])) for i in at))
        flags = bool(both.in_gold[row]), bool(both.in_pred[row])
        out.append((both.case.text(row), int(both.n[row]), *flags, *sides))
    return out


values = st.lists(
    st.tuples(st.sampled_from(LABELS), st.sampled_from([0.0, 0.5, 1.0])), max_size=3, unique_by=lambda e: e[0]
)
sides = st.dictionaries(st.tuples(st.sampled_from(["", "t1", "t2"]), st.sampled_from("uvwxyz")), values, max_size=9)


@given(sides, sides, st.sampled_from(["wrong", "skip"]), st.sampled_from(["ignore", "wrong"]))
def test_what_meets_is_what_plain_python_pairs(gold, pred, missing, extra):
    both = meet(side("gold", gold).keys, side("pred", pred).keys)
    counts = both.counts()
    assert counts == {
        "gold": len(gold), "pred": len(pred), "aligned": len(gold.keys() & pred.keys()),
        "gold_only": len(gold.keys() - pred.keys()), "pred_only": len(pred.keys() - gold.keys()),
    }  # fmt: skip
    aligned = Aligned.of(side("gold", gold), side("pred", pred), both.kept(missing, extra)).in_order()
    keys = sorted(k for k in {*gold, *pred} if (k in gold or extra == "wrong") and (k in pred or missing != "skip"))
    wanted = [
        (c, 1, (c, i) in gold, (c, i) in pred, sorted(gold.get((c, i), [])), sorted(pred.get((c, i), [])))
        for c, i in keys
    ]
    assert said(aligned) == wanted
    assert list(aligned.ids) == [i for _, i in keys]


@given(sides, sides, st.integers(1, 4), st.randoms(use_true_random=False))
def test_batches_in_any_order_are_the_whole(gold, pred, batches, rng):
    whole = _aligned(gold, pred).collapsed()
    keys = [*{**gold, **pred}]
    rng.shuffle(keys)
    parts = [keys[i::batches] for i in range(batches)]
    reduced = [
        _aligned({k: gold[k] for k in part if k in gold}, {k: pred[k] for k in part if k in pred}).collapsed()
        for part in parts
    ]
    merged = Aligned.merge(reduced).collapsed()
    assert said(merged) == said(whole)
    assert merged.names == whole.names
    assert merged.case.names == whole.case.names
    assert int(whole.n.sum()) == len(keys)


def _aligned(gold, pred):
    gold, pred = side("gold", gold), side("pred", pred)
    return Aligned.of(gold, pred, meet(gold.keys, pred.keys))


@given(sides, sides)
def test_each_unit_knows_its_collapsed_row(gold, pred):
    each, whole = _aligned(gold, pred), _aligned(gold, pred).collapsed()
    alone, together = said(each), said(whole)
    for unit, row in enumerate(whole.unit.tolist()):
        assert (alone[unit][0], *alone[unit][2:]) == (together[row][0], *together[row][2:])
    assert np.bincount(whole.unit, minlength=len(whole)).tolist() == whole.n.tolist()


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 3)), min_size=1, max_size=20),
    st.sampled_from([1, 1 << 30, 1 << 58]),
    st.booleans(),
)
def test_equal_keys_are_grouped_by_a_table_by_packing_and_by_sorting_alike(rows, step, alone):
    key, n = np.array([k * step for k, _ in rows]), np.array([1 if alone else n for _, n in rows])
    last, total, group = groups(key, int(key.max()) + 1, n)
    keys = sorted(set(key.tolist()))
    assert last.tolist() == [max(i for i, k in enumerate(key.tolist()) if k == wanted) for wanted in keys]
    assert total.tolist() == [int(n[key == wanted].sum()) for wanted in keys]
    assert group().tolist() == [keys.index(k) for k in key.tolist()]


def test_keys_inside_a_unit_are_joined():
    gold, pred = side("gold", {("", "q"): []}), side("pred", {("", "q"): []})
    page = lambda *numbers: Entries(np.zeros(len(numbers), np.int64), {"page": np.array(numbers)})
    gold.entries, pred.entries, gold.names, pred.names = page(1, 2, 4), page(4, 3, 1), {}, {}
    both = Aligned.of(gold, pred, meet(gold.keys, pred.keys))
    assert [x.tolist() for x in both.met("page")] == [[0, 0, 0, 0], [0, 1, -1, 2], [2, -1, 1, 0]]


def test_a_key_of_one_unit_is_none_of_the_next():
    gold, pred = side("gold", {("", "p"): [], ("", "q"): []}), side("pred", {("", "p"): [], ("", "q"): []})
    page = lambda units, numbers: Entries(np.array(units), {"page": np.array(numbers)})
    gold.entries, pred.entries, gold.names, pred.names = (
        page([0, 0, 1], [-2, 7, -1]),
        page([0, 1, 1], [-2, 7, 8]),
        {},
        {},
    )
    both = Aligned.of(gold, pred, meet(gold.keys, pred.keys))
    assert [x.tolist() for x in both.met("page")] == [[0, 0, 1, 1, 1], [0, 1, 2, -1, -1], [0, -1, -1, 1, 2]]


def test_ids_that_look_alike_are_named():
    gold, pred = side("gold", {("", "007"): [], ("", "x"): []}), side("pred", {("", "7.0"): [], ("", "x"): []})
    found = coverage_findings(gold, pred, meet(gold.keys, pred.keys), {"missing": "wrong"})
    assert [f.code for f in found] == ["gold-only-ids", "pred-only-ids", "ids-alike"]


def test_positions_are_equal_when_they_are_as_many():
    assert Positions(3) == Positions(3)
    assert Positions(3) != Positions(4)
    assert list(Positions(3)) == ["1", "2", "3"] == Positions(3)[:]


@pytest.mark.parametrize("keys", [[], [0], [3, 1, 3], [10**12, 5, 10**12]])
def test_distinct_keys_and_places(keys):
    found, place = distinct(np.array(keys, np.int64))
    assert found.tolist() == sorted(set(keys))
    assert found[place].tolist() == keys


@pytest.mark.parametrize("decimals", [0, 2, 4, 6, 7, 17])
@pytest.mark.parametrize("shift", [0.0, -0.5, 1e6])
@pytest.mark.parametrize("odd", [None, np.nan, np.inf, -0.0, 1e300, 5e-324, 1 / 3])
def test_numbers_rank_alike_by_their_decimals_and_by_sorting(decimals, shift, odd, monkeypatch):
    monkeypatch.setattr("karat.columns.HEAD", 3)
    column = (np.random.default_rng(3).random(60) + shift).round(decimals)
    column = np.concatenate([column, column[:9], column[:9] * -1, [] if odd is None else [odd]])
    with np.errstate(all="raise"):
        rank = ranked(column)
    _, wanted = np.unique(column + 0.0, return_inverse=True)
    assert rank.min() == 0
    assert np.array_equal(np.unique(rank, return_inverse=True)[1], wanted)


def test_numbers_as_names_are_in_number_order():
    assert ordered(["10", "9", "x"]) == ["10", "9", "x"]
    assert ordered(["10", "9"]) == ["9", "10"]
    assert recode(np.array([0, 1, -1]), ["a", "b"], ["b"]).tolist() == [-1, 0, -1]


def test_the_last_units_may_have_no_prediction():
    """Labels stand one to a unit on either side, also where the prediction ends early."""
    gold = [{"id": str(i), "value": "AB"[i % 2]} for i in range(10)]
    assert karat.evaluate(gold, gold[:7], metrics=["accuracy"])["accuracy"].value == 0.7
    assert karat.evaluate(gold[:7], gold, metrics=["accuracy"])["accuracy"].value == 1.0


def test_rows_stand_for_as_many_units_as_the_sides_do():
    gold, pred = (side(role, {("", id): [] for id in ids}) for role, ids in (("gold", "ab"), ("pred", "bc")))
    some = replace(gold, n=np.array([3, 2])), replace(pred, n=np.array([2, 7]))
    both = met(*some)
    ids = [(["a", "b"][g] if g >= 0 else ["b", "c"][p]) for g, p in zip(both.gold, both.pred, strict=True)]
    assert dict(zip(ids, both.n.tolist(), strict=True)) == {"a": 3, "b": 2, "c": 7}
    assert met(gold, some[1]).n is None  # a side whose units stand for themselves alone
    assert met(some[0], pred).n is None


@pytest.mark.parametrize("even", [True, False])
def test_entries_are_put_in_order_within_their_units(even: bool) -> None:
    """The same labels in the same order in each unit are moved as columns of a table, any others by sorting."""
    unit = np.repeat(np.arange(4), 3) if even else np.array([0, 0, 0, 1, 2, 2, 2, 2, 3, 3, 3, 3])
    label = np.tile([2, 0, 1], 4)
    entries = Entries(unit, {"label": label, "number": np.arange(12.0)})
    order = np.lexsort((label, unit))
    found = entries.by("label", 4)
    assert found.unit.tolist() == unit.tolist()
    assert found["label"].tolist() == label[order].tolist()
    assert found["number"].tolist() == np.arange(12.0)[order].tolist()
    assert found.by("label", 4) is found


def test_entries_of_units_that_stand_among_each_other_are_not_even():
    """The first and the last of every three are those of units 0 and 1; what stands between them is not."""
    entries = Entries(np.array([0, 1, 0, 1, 0, 1]), {"number": np.arange(6.0)})
    assert entries.wide(2) == 0
    assert entries.sums("number", 2).tolist() == [0 + 2 + 4, 1 + 3 + 5]
    assert Entries(np.repeat([0, 1], 3), {"number": np.arange(6.0)}).wide(2) == 3


@pytest.mark.parametrize("most", [1, 4, 6, 14, 100])
@pytest.mark.parametrize("even", [True, False])
def test_blocks_hold_whole_units_and_every_entry_once(even, most, monkeypatch):
    """Seven units of two entries each; a block ends with the unit that fills it."""
    monkeypatch.setattr("karat.side.BLOCK", most)
    columns = {"number": np.arange(14.0)}
    entries = Even(7, 2, columns) if even else Entries(np.repeat(np.arange(7), 2), columns)
    blocks = list(entries.blocks())
    numbers = [part["number"].tolist() for _, part in blocks]
    assert [number for part in numbers for number in part] == columns["number"].tolist()
    assert [begin for begin, _ in blocks] == [part[0] for part in numbers]
    assert [part.unit.tolist() for _, part in blocks] == [[number // 2 for number in part] for part in numbers]
    assert {len(part) for part in numbers[:-1]} <= {max(most, 2)}


def test_a_unit_that_gold_lacks_has_no_name_in_a_column_of_names():
    carried = _carried(Codes(np.array([0, 1, 2]), ["a", "b", "c"]), np.array([2, -1, 0]))
    assert carried.texts() == ["c", None, "a"]


def test_units_that_were_merged_are_shown_by_what_was_looked_up():
    """Engines that merge units number them, and look up the ids of those alone that a finding shows."""
    keys = Keys(Codes.of(["", "", ""]), ["0", "1", "2"], {"1": "paper-17"})
    assert list(keys.known(np.array([0, 1])).pairs()) == [("", "paper-17")]
    merged = replace(side("gold", {("", "0"): [("a", 1.0)], ("", "1"): []}), keys=keys.take(np.arange(2)))
    pred = side("pred", {("", "0"): [("a", 1.0)]})
    assert [(f.code, f.message.split("first: ")[1][:8]) for f in coverage_findings(
        merged, pred, meet(merged.keys, pred.keys), {"missing": "wrong", "extra": "ignore"}
    )] == [("gold-only-ids", "paper-17")]  # fmt: skip


def test_rows_whose_ids_were_not_kept_stay_in_their_order():
    gold = side("gold", {("", "b"): [("a", 1.0)], ("", "a"): [("b", 0.5)]})
    both = Aligned.of(gold, gold, met(gold, gold))
    bare = replace(both, ids=None)
    assert bare.in_order() is bare
    assert said(both.in_order()) == said(both)[::-1]


def test_slices_ride_along_through_batches():
    """Columns of codes have a list of names of their own in each batch."""
    parts = []
    for names in (["de", "en"], ["en", "fr"]):
        gold = side("gold", {("", name): [("a", 1.0)] for name in names})
        gold = replace(gold, units={"language": Codes.of(names)})
        parts.append(replace(Aligned.of(gold, gold, met(gold, gold)), rows={"language": Codes.of(names)}))
    assert Aligned.merge(parts).rows["language"].texts() == ["de", "en", "en", "fr"]


def test_single_labels_are_sets_of_one():
    labels = {"1": "A", "2": "B", "3": "B"}
    found = karat.evaluate(labels, {**labels, "3": "A"}, context="multilabel", metrics=["subset_accuracy"])
    assert found["subset_accuracy"].value == pytest.approx(2 / 3)
