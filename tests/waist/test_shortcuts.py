# SPDX-License-Identifier: Apache-2.0
"""Shortcuts for a million labels in memory: each gives what would be there without it."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import karat
from karat.cells import Sparse
from karat.columns import Numbering, groups
from karat.side import Entries, Even
from karat.stats.statistic import _entries
from karat.weights import Grouped

sets = import_module("karat.contexts.multilabel.context")
LABELS = [f"label {i}" for i in range(9)]
NAN = float("nan")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So small that a few labels pass them, and that objects share the places of their addresses."""
    monkeypatch.setattr("karat.columns.BLOCK", 8)
    monkeypatch.setattr("karat.columns.ADDRESSES", 4)
    monkeypatch.setattr("karat.side.BLOCK", 8)
    monkeypatch.setattr(sets, "BLOCK", 8)
    monkeypatch.setattr("karat.weights.IN_CACHE", 8)


# ---- codes by address


def again(values: list[Any]) -> list[Any]:
    return random.Random(1).choices(values, k=500)


TEXTS = {
    "the same objects": lambda: again(LABELS),
    "two objects": lambda: again(LABELS[:2]),
    "objects of their own": lambda: [f"label {i % 9}" for i in range(500)],
    "objects that are gone at once": lambda: (f"label {i % 9}" for i in range(500)),
    "few objects, then many": lambda: [*again(LABELS), *(f"label {i % 90}" for i in range(500))],
    "all new in turn": lambda: [f"label {i}" for i in range(500)] * 2,
    "equal values of other types": lambda: again(["1", 1, True, 1.0, 0, False, -0.0, None, NAN]),
    "one": lambda: ["a"],
    "none": list,
}


@pytest.mark.parametrize("make", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_codes_by_address_are_those_by_text(make, kind):
    known: dict[Any, int] = {}
    wanted = [known.setdefault(text, len(known)) for text in make()]
    numbering = Numbering()
    code = numbering.codes(make(), len(wanted), kind)
    assert (code.tolist(), list(map(id, numbering)) if NAN in known else list(numbering), code.dtype) == (
        wanted,
        list(map(id, known)) if NAN in known else list(known),
        kind,
    )


def test_what_cannot_be_looked_up_is_an_error_by_address_too():
    with pytest.raises(TypeError):
        Numbering().codes([*again(LABELS), ["a"], *again(LABELS)], 1001)


# ---- lists of texts


ODD = {
    "nothing": None, "no number": NAN, "no label": [], "tuple": ("a", "b"), "set": {"a"}, "array": np.array(["a", "b"]),
    "text": "ab", "number": 1, "truth": True, "object": {"a": 0.5}, "nothing inside": ["a", None],
    "number inside": ["a", 1], "numbers": [1, 1.0], "truth inside": [True, "a"], "list inside": ["a", ["b"]],
    "object inside": ["a", {"b": 1}], "list of a list": [["a"]], "blank": ["a", " "], "empty": [""],
    "twice": ["b", "a", "b"], "other text": [np.str_("a"), "b"], "surrogate": ["a", "\ud800"],
}  # fmt: skip


def outcome(gold: Any, pred: Any, **options: Any) -> Any:
    """Scores, findings and what is known of every unit; or why there are none."""
    metrics = ["precision", "f1(average=samples)", "subset_accuracy", "coverage_error", "icm"]
    try:
        evaluation = karat.evaluate(gold, pred, context="multilabel", metrics=metrics, units=True, **options)
    except karat.InputError as error:
        return [(f.code, f.file, f.line, str(f)) for f in error.findings]
    system = evaluation.systems[0]
    order = system.cells.lists()
    return (
        [repr((score.value, score.interval)) for score in system], [(f.code, f.line, str(f)) for f in evaluation.findings],
        system.cells.classes, system.cells.unit.tolist(), order.item.tolist(), order.label.tolist(), order.score.tolist(),
    )  # fmt: skip


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
@pytest.mark.parametrize("at", [0, 2, 4])
@pytest.mark.parametrize("faulty", ["error", "drop"])
def test_lists_of_texts_mean_the_same_taken_apart_or_not(odd, at, faulty, monkeypatch):
    plain = [["b", "a"], ["a"], ["c", "a"], ["b"]]
    rows = [*plain[:at], odd, *plain[at:]]
    for gold, pred in ((rows, [*plain, ["a"]]), ([*plain, ["a"]], rows)):
        apart = outcome(gold, pred, faulty=faulty)
        with monkeypatch.context() as patch:
            patch.setattr("karat.values.lists_of_texts", lambda column: column)
            assert outcome(gold, pred, faulty=faulty) == apart


def test_data_of_the_caller_stay_as_they_are():
    gold, pred = [["b", "a"], ["a"], []], [["a", "b", "a"], [], ["b"]]
    outcome(gold, pred)
    assert (gold, pred) == ([["b", "a"], ["a"], []], [["a", "b", "a"], [], ["b"]])


# ---- each label once, in order


def by_hand(label: list[list[int]]) -> tuple[list[list[tuple[int, int]]], list[int]]:
    """Labels with minus their first place (from 1), and the units that name one twice."""
    first = [sorted({code: -row.index(code) - 1 for code in row}.items()) for row in label]
    return first, [unit for unit, row in enumerate(label) if len({*row}) < len(row)]


def in_rows(of: Entries, units: int) -> list[list[tuple[int, int]]]:
    out: list[list[tuple[int, int]]] = [[] for _ in range(units)]
    for unit, label, score in zip(of.unit.tolist(), of["label"].tolist(), of["score"].tolist(), strict=True):
        out[unit].append((label, score))
    return out


@pytest.mark.parametrize("wide", range(1, 10))
@pytest.mark.parametrize("most", [3, 126, 30_000, 1 << 30])
def test_labels_of_units_with_as_many_each_are_sorted_as_those_of_others(wide, most, monkeypatch):
    rng = np.random.default_rng(wide)
    label = rng.integers(-1, most, (50, wide))
    label[rng.random(50) < 0.2] = label[0, 0]
    columns = {"label": label.ravel(), "place": np.tile(np.arange(wide), 50)}
    wanted = by_hand(label.tolist())
    for few in (8, 0):
        monkeypatch.setattr(sets, "FEW", few)
        entries, twice = sets._first(Even(50, wide, columns), 50)
        assert (in_rows(entries, 50), twice.tolist()) == wanted


def test_labels_of_lists_of_any_length_are_sorted():
    rng = random.Random(2)
    label = [rng.choices(range(-1, 40), k=rng.randrange(9)) for _ in range(200)]
    unit = np.repeat(np.arange(200), [*map(len, label)])
    of = Entries(unit, {"label": np.array([code for row in label for code in row])})
    entries, twice = sets._first(of, 200)
    assert (in_rows(entries, 200), twice.tolist()) == by_hand(label)


@pytest.mark.parametrize("labels", [126, 127, 128, 129, 300])
@pytest.mark.parametrize("names", ["label {}", "{}"])
def test_few_labels_are_small_numbers_and_score_as_large_ones(labels, names, monkeypatch):
    """Also for intervals, and where lists are that long."""
    rng = random.Random(labels)
    gold, pred = ([[names.format(code) for code in rng.sample(range(labels), 3)] for _ in range(200)] for _ in "gp")
    gold[0] = pred[1] = [names.format(code) for code in range(labels)]
    small = outcome(gold, pred, intervals=True, interval_method="bca", resamples=100)
    monkeypatch.setattr(sets, "narrow", lambda count: np.dtype(np.int64))
    monkeypatch.setattr("karat.columns.narrow", lambda count: np.dtype(np.int64))
    assert outcome(gold, pred, intervals=True, interval_method="bca", resamples=100) == small


def test_matrices_of_small_numbers_stand_beside_many_others():
    row, col, data = np.arange(3), np.array([0, 1, 126], np.int8), np.ones(3)
    assert _entries(Sparse(row, col, data, (3, 127)), 40_000)[1].tolist() == [40_000, 40_001, 40_126]


# ---- sums by class


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("ones", [True, False])
@pytest.mark.parametrize("weight", [1.0, 2.0, 0.1])
def test_sums_by_class_are_the_same_to_the_last_bit(groups, ones, weight):
    rng = np.random.default_rng(5)
    row, col = np.sort(rng.integers(0, 60, 200)), rng.integers(0, 7, 200).astype(np.int8)
    data = np.broadcast_to(1.0, 200) if ones else rng.random(200)
    n = np.full(60, weight) if weight != 0.1 else rng.random(60)
    group = rng.integers(0, groups, 60)
    wanted = np.bincount(group[row] * 7 + col.astype(int), n[row] * data, groups * 7).reshape(groups, 7)
    assert np.array_equal(Grouped(group, n, (groups, 60)) @ Sparse(row, col, data, (60, 7)), wanted)


# ---- class codes


@pytest.mark.parametrize("size", [40, 1 << 40])
@pytest.mark.parametrize("most", [1, 5])
def test_rows_with_the_same_key_are_one_group(size, most):
    """In a table of all keys, or by sorting where there are too many."""
    rng = np.random.default_rng(most)
    key, n = rng.integers(0, 40, 300) * (size // 40), rng.integers(1, most + 1, 300)
    last, total, group = groups(key, size, n)
    keys = sorted({*key.tolist()})
    assert key[last].tolist() == keys
    assert total.tolist() == [int(n[key == k].sum()) for k in keys]
    assert last.tolist() == [int(np.flatnonzero(key == k)[-1]) for k in keys]
    assert np.array(keys)[group()].tolist() == key.tolist()


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint64, np.int64])
@pytest.mark.parametrize(
    ("gold", "pred"),
    [
        ([3, 1, 2, 2, 1], [3, 2, 2, 1, 1]),
        ([3, 1, 2, 2, 1], [3.5, 2, 2.25, 1, 1]),
        ([1, 0, 1, 1, 0], [0.9, 0.2, 0.4, 0.8, 0.5]),
        ([0.5, 1.5, 2.5, 0, 1], [0, 1, 2, 0, 1]),
    ],
    ids=["labels", "numbers", "probabilities", "predicted codes"],
)
def test_whole_numbers_of_any_type_are_what_lists_of_them_are(gold, pred, kind):
    def said(gold: Any, pred: Any) -> Any:
        evaluation = karat.evaluate(gold, pred, hashes=True)
        codes = [f.code for f in evaluation.findings]
        records = [{k: v for k, v in i.items() if k not in ("format", "name")} for i in evaluation.provenance["inputs"]]
        return evaluation.context, [repr(s.value) for s in evaluation.systems[0]], codes, records

    arrays = [np.array(v, kind) if all(isinstance(x, int) for x in v) else np.array(v) for v in (gold, pred)]
    before = [array.copy() for array in arrays]
    assert said(*arrays) == said(gold, pred)
    assert all(map(np.array_equal, arrays, before))
