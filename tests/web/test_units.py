# SPDX-License-Identifier: Apache-2.0
"""Lists of units and single units: what is filtered, found, shown and downloaded, in every context."""

from __future__ import annotations

import numpy as np
import pytest

import karat
from karat.contexts import MODULES
from karat.evaluation import Evaluation
from karat.report.page import Mark
from karat.store import open_store
from karat.web import units
from karat.web.demo import EXAMPLES
from karat.web.unit_view import pieces, side
from karat.web.units import Units, Wanted

GOLD = [{"id": f"i{k}", "value": "ABC"[k % 3]} for k in range(30)]
ONE = [{"id": f"i{k}", "value": "ABC"[(k + (k < 6)) % 3]} for k in range(30)]
TWO = [{"id": f"i{k}", "value": "ABC"[(k + (k < 3 or k > 26)) % 3]} for k in range(30)]


@pytest.fixture(scope="module")
def pair() -> Evaluation:
    """Two systems: one is wrong on the first six items, the other on the first three and the last three."""
    return karat.evaluate(GOLD, [ONE, TWO], names=["one", "two"], units=True)


def ids(found: Units, wanted: Wanted, theirs: Units | None = None) -> list[str]:
    return [found.ids[i] for i in found.find(wanted, theirs)]


def of(evaluation: Evaluation, name: str) -> Units:
    found = units.units(evaluation, name)
    assert found
    return found


def test_units_are_wrong_right_or_both(pair):
    one = of(pair, "one")
    assert ids(one, Wanted("wrong")) == [f"i{k}" for k in range(6)]
    assert sorted(ids(one, Wanted("right"))) == sorted(f"i{k}" for k in range(6, 30))
    assert len(ids(one, Wanted("all"))) == 30


def test_a_pair_of_classes(pair):
    assert ids(of(pair, "one"), Wanted("all", gold="A", pred="B")) == ["i0", "i3"]
    assert ids(of(pair, "one"), Wanted("all", gold="A", pred="Z")) == []


def test_where_one_is_right_and_the_other_wrong(pair):
    one, two = of(pair, "one"), of(pair, "two")
    assert ids(one, Wanted(worse="two"), two) == ["i27", "i28", "i29"]
    assert ids(one, Wanted(better="two"), two) == ["i3", "i4", "i5"]
    assert ids(two, Wanted(worse="one"), one) == ["i3", "i4", "i5"]


def test_where_runs_differ(pair):
    """The system beside may be of another evaluation of the same gold."""
    alone = karat.evaluate(GOLD, TWO, names=["two"], units=True)
    assert ids(of(pair, "one"), Wanted(worse="x/two"), of(alone, "two")) == ["i27", "i28", "i29"]


def test_texts_and_ids_are_searched_whatever_their_case():
    gold = [{"id": f"Item-{k}", "value": "x", "text": f"Straße {k}"} for k in range(12)]
    found = of(karat.evaluate(gold, [{"id": g["id"], "value": "y"} for g in gold], units=True), "")
    assert ids(found, Wanted(text="STRASSE 7")) == ["Item-7"]
    assert ids(found, Wanted(text="item-11")) == ["Item-11"]


def test_scores_between_two_ends():
    gold = {f"q{q}": {f"d{i}": int(i < 3) for i in range(6)} for q in range(4)}
    records = [{"query": q, "id": d, "value": v} for q, docs in gold.items() for d, v in docs.items()]
    run = [
        {"query": q, "id": d, "score": float((v if k % 2 else -v) + 0.01 * i)}
        for k, (q, docs) in enumerate(gold.items())
        for i, (d, v) in enumerate(docs.items())
    ]
    found = of(karat.evaluate(records, run, context="ranking", units=True), "")
    assert [found.ids[i] for i in found.find(Wanted(low="0.99"))] == ["q1", "q3"]
    assert [found.ids[i] for i in found.find(Wanted(high="0.99"))] == ["q0", "q2"]


def test_a_perfect_system_has_units_too():
    found = of(karat.evaluate(GOLD, [*GOLD], units=True), "")
    assert (ids(found, Wanted("wrong")), len(ids(found, Wanted("right")))) == ([], 30)


def test_one_test_case_of_several():
    gold = [{"test_case": t, "id": f"{k}", "value": "x"} for t in ("one", "two") for k in range(3)]
    found = of(karat.evaluate(gold, [*gold], units=True), "")
    assert [found.cases[i] for i in found.find(Wanted("all", case_of="two"))] == ["two"] * 3
    assert found.test_cases == ["one", "two"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_kind_of_error_has_units_that_show_it(name, tmp_path):
    example = EXAMPLES[name](np.random.default_rng(3))
    evaluation = karat.evaluate(example.gold, list(example.systems.values()), names=list(example.systems), context=example.context, units=True)  # fmt: skip
    for system in example.systems:
        found = of(evaluation, system)
        for fault in found.faults:
            places = found.find(Wanted("all", fault=fault))
            assert 0 < len(places) <= len(found.ids), fault
        if example.context == "splitting":
            wrong = set(ids(found, Wanted("wrong"))) | set(found.cases[found.find(Wanted("wrong"))])
            faulty = {found.cases[i] or found.ids[i] for f in found.faults for i in found.find(Wanted("all", fault=f))}
            assert faulty <= wrong


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_context_shows_more_than_words(name):
    example = EXAMPLES[name](np.random.default_rng(3))
    evaluation = karat.evaluate(example.gold, list(example.systems.values()), names=list(example.systems), context=example.context, units=True)  # fmt: skip
    found = of(evaluation, next(iter(example.systems)))
    shown = side(found, int(found.find(Wanted("all"))[0]))
    seen = {
        "spans": shown.gold.pieces, "ranking": shown.pred.grades, "soft": shown.gold.bars, "splitting": shown.pred.image, "probabilities": shown.pred.bars, "numbers": shown.pred.words,
        "clustering": shown.pred.words,
    }  # fmt: skip
    assert seen.get(example.context, shown.gold.chips)
    assert shown.pred.words


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_context_can_be_kept(name, tmp_path):
    """A number of NumPy in a table of details could not be written."""
    example = EXAMPLES[name](np.random.default_rng(1))
    system = next(iter(example.systems.values()))
    found = karat.evaluate(example.gold, system, context=example.context, units=True)
    assert open_store(tmp_path / "runs.db").save(found).evaluate().only


def test_every_context_has_an_example():
    assert {example(np.random.default_rng(0)).context for example in EXAMPLES.values()} == set(MODULES)


def test_spans_inside_others_and_across_them_are_all_marked():
    text = "New York City Hall"
    marks = [Mark(0, 13, "CITY", "correct"), Mark(0, 8, "STATE", "missed"), Mark(9, 18, "PLACE", "spurious")]
    cut = list(pieces(text, marks))
    assert "".join(p.text for p in cut) == text
    assert {m.label for p in cut for m in p.marks} == {"CITY", "STATE", "PLACE"}
    assert [m.label for p in cut for m in p.ends] == ["STATE", "CITY", "PLACE"]
    assert [[m.label for m in p.marks] for p in cut if p.text == "City"] == [["CITY", "PLACE"]]
    assert list(pieces("ab", [Mark(5, 9, "X", "")]))[-1].text == "ab"
