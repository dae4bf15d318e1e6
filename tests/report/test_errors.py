# SPDX-License-Identifier: Apache-2.0
"""Errors unit by unit: the worst, the disputed, the confused; each checked by hand."""

from __future__ import annotations

import json

import pytest
from tests.store.test_state import INPUTS

import karat
from karat.contexts import MODULES
from karat.metric import MetricError
from karat.mistakes import confused, disagreements, has_units, worst
from karat.store import open_store

GOLD = [
    {"id": "1", "value": "A", "text": "one"},
    {"id": "2", "value": "A", "text": "two\nlines"},
    {"id": "3", "value": "B", "text": "three"},
    {"id": "4", "value": "B", "text": None},
]


def files(folder, **systems: str) -> list[str]:
    out = []
    for name, labels in systems.items():
        rows = "".join(f"{i + 1}\t{v}\n" for i, v in enumerate(labels) if v != "-")
        (folder / f"{name}.tsv").write_text("id\tvalue\n" + rows)
        out.append(str(folder / f"{name}.tsv"))
    return out


def two(folder):
    (folder / "gold.tsv").write_text("id\tvalue\ttext\n1\tA\tone\n2\tA\ttwo\n3\tB\tthree\n4\tB\tfour\n")
    paths = files(folder, x="ABB-", y="AABA")
    return karat.evaluate(str(folder / "gold.tsv"), paths, names=["x", "y"], metrics=["f1", "accuracy"], units=True)


def test_worst_units_with_their_texts():
    found = karat.evaluate(GOLD, {"1": "A", "2": "B", "3": "A"}, metrics=["kappa", "accuracy"], units=True)
    bad = worst(found, found.systems[0])
    assert str(bad.metric) == "accuracy"
    assert [(u.id, u.score, u.gold, u.pred, u.text) for u in bad.units] == [
        ("2", 0.0, "A", "B", "two\nlines"),
        ("3", 0.0, "B", "A", "three"),
        ("4", 0.0, "B", "—", ""),
    ]
    assert bad.total == 3
    assert len(worst(found, found.systems[0], limit=1).units) == 1


def test_lower_is_better_turns_the_order():
    gold, pred = {"1": ["A"], "2": ["A"], "3": ["B"]}, {"1": ["A"], "2": ["A", "B"], "3": ["A", "C"]}
    found = karat.evaluate(gold, pred, metrics=["hamming_loss"], units=True)
    assert [u.id for u in worst(found, found.systems[0]).units] == ["3", "2"]


def test_units_on_which_two_systems_disagree(tmp_path):
    found = two(tmp_path)
    metric, units, total = disagreements(found, "x", "y", "accuracy")
    assert (str(metric), total) == ("accuracy", 1)
    assert [(u.id, u.scores, u.gold, u.preds, u.text) for u in units] == [("2", (0.0, 1.0), "A", ("B", "A"), "two")]
    with pytest.raises(MetricError, match="no system 'z'"):
        disagreements(found, "x", "z")


def test_texts_do_not_change_the_hash(tmp_path):
    with_texts = two(tmp_path).provenance["inputs"][0]["canonical"]
    (tmp_path / "gold.tsv").write_text("id\tvalue\n1\tA\n2\tA\n3\tB\n4\tB\n")
    bare = karat.evaluate(str(tmp_path / "gold.tsv"), str(tmp_path / "x.tsv")).provenance["inputs"][0]["canonical"]
    assert with_texts == bare


def test_confused_labels():
    detail = karat.evaluate(["A", "A", "A", "B"], ["B", "B", "A", "A"]).systems[0].detail("confusion")
    assert confused(detail) == [("A", "B", 2, 3), ("B", "A", 1, 1)]


def test_a_kept_run_still_has_texts_and_units(tmp_path):
    found = two(tmp_path)
    store = open_store(tmp_path / "runs.db")
    store.save(found)
    kept = store["latest"]
    assert kept.whole
    assert worst(kept.evaluation, kept.evaluation.systems[0]) == worst(found, found.systems[0])
    assert store.load(store.export("latest")).evaluation.texts == found.texts


def test_html_shows_worst_and_disputed_units(tmp_path):
    html = two(tmp_path).to_html()
    assert "Worst units: x" in html
    assert "x and y disagree" in html or "y and x disagree" in html


def test_units_that_were_not_kept():
    found = karat.evaluate({"1": "A", "2": "B"}, {"1": "B", "2": "B"}, metrics=["accuracy"])
    assert not has_units(found.systems[0].cells)
    with pytest.raises(MetricError, match="units=True"):
        worst(found, found.systems[0])
    assert "Worst units" not in found.to_html()


@pytest.mark.parametrize("name", sorted(MODULES))
def test_every_context_has_a_page(name):
    gold, pred, options = INPUTS[name]
    found = karat.evaluate(gold, pred, context=name, units=True, **options)
    html = found.to_html()
    assert "<h2" in html
    assert ">nan<" not in html.lower()
    assert found._repr_html_()


def test_where_nothing_is_scored_no_unit_is_listed():
    """Gold gives no label a weight, so that there are no cells of which a list of errors could be made."""
    found = karat.evaluate([{}], [{"A": 1.0}], units=True)
    assert json.loads(found.to_json())["systems"][0]["counts"]["gold"] == 1
