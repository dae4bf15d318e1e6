# SPDX-License-Identifier: Apache-2.0
"""Cells of every context survive being kept, and nothing but karat's own data comes back."""

from __future__ import annotations

import dataclasses

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import karat
from karat.cells import Cells, Sparse
from karat.contexts import MODULES
from karat.state import FORMAT, StateError, from_state, pack, to_state, unpack
from karat.store import open_store
from karat.store.verification import numbers

INPUTS = {
    "monolabel": ({"1": "A", "2": "B", "3": "A"}, {"1": "A", "2": "A"}, {"hierarchy": {"X": ["A", "B"]}}),
    "multilabel": ({"1": ["A", "B"], "2": ["B"], "3": []}, {"1": ["A"], "2": ["B", "C"]}, {}),
    "soft": ({"1": {"A": 0.7, "B": 0.3}, "2": {"A": 0.2, "B": 0.8}}, {"1": {"A": 0.5, "B": 0.5}, "2": {"A": 0.1, "B": 0.9}}, {}),
    "ranking": (
        [{"query": "q", "id": d, "value": r} for d, r in (("a", 1), ("b", 0), ("c", 2))],
        [{"query": "q", "id": d, "value": r} for d, r in (("b", 3), ("a", 2), ("c", 1))],
        {},
    ),
    "clustering": ({"1": "x", "2": "x", "3": "y"}, {"1": "k", "2": "l", "3": "l"}, {}),
    "splitting": (
        [{"bundle": "b", "page": i, "first": f, "category": c} for i, f, c in ((1, True, "A"), (2, False, "A"), (3, True, "B"))],
        [{"bundle": "b", "page": i, "first": f, "category": c} for i, f, c in ((1, True, "A"), (2, True, "B"), (3, True, "B"))],
        {},
    ),
    "numbers": ({"1": 1.5, "2": 2.0, "3": 4.25}, {"1": 1.0, "2": 2.5, "3": 4.0}, {}),
    "probabilities": ({"1": "A", "2": "B", "3": "A"}, {"1": {"A": 0.7, "B": 0.3}, "2": {"A": 0.4, "B": 0.6}, "3": {"A": 0.2, "B": 0.8}}, {}),
    "spans": (
        [{"id": "d", "text": "Ann met Bob", "spans": [{"start": 0, "end": 3, "label": "PER"}, {"start": 8, "end": 11, "label": "PER"}]}],
        [{"id": "d", "text": "Ann met Bob", "spans": [{"start": 0, "end": 3, "label": "PER"}, {"start": 4, "end": 7, "label": "LOC"}]}],
        {},
    ),
}  # fmt: skip


def test_every_context_is_tried():
    assert set(INPUTS) == set(MODULES)


@pytest.mark.parametrize("name", INPUTS)
def test_kept_cells_give_the_same_numbers(name, tmp_path):
    gold, pred, options = INPUTS[name]
    found = karat.evaluate(gold, pred, context=name, metrics=["all"], units=True, **options)
    store = open_store(tmp_path / "runs.db")
    store.save(found)
    run = store["latest"]
    assert numbers(run.evaluation) == numbers(found)
    assert numbers(run.evaluate()) == numbers(found)


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.tuples(st.text()), inner) | st.tuples(inner),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(plain)
def test_plain_data_survive(value):
    assert unpack(pack(value)) == value


@pytest.mark.parametrize(
    "array",
    [
        np.array([], np.int64), np.arange(300), np.array([[1.5, np.nan], [np.inf, -0.0]]), np.array([2**40, -1]),
        np.array([True, False]), np.array(["a", None, "ü"], object), np.array(["a", "bc"]), np.array([-0.0, 1.0]),
        np.array(5), np.array([2**63], np.uint64), np.arange(6, dtype=np.float32).reshape(2, 3),
    ],
)  # fmt: skip
def test_arrays_survive_with_their_type(array):
    back = unpack(pack(array))
    assert back.dtype.kind == array.dtype.kind
    np.testing.assert_array_equal(back, array)
    if array.dtype.kind == "f":
        assert (np.signbit(back) == np.signbit(array)).all()


def test_whole_numbers_take_the_fewest_bytes():
    assert len(to_state(np.arange(100))["data"]) == 100
    assert len(to_state(np.arange(100.0))["data"]) == 100


def test_foreign_classes_are_neither_kept_nor_made():
    with pytest.raises(StateError, match="cannot be kept"):
        pack(object())
    for tag in (
        "os:system",
        "builtins:eval",
        "karat.cli.main:main",
        "karat.cells:missing",
        "karat.nowhere:X",
        "karatx:Y",
    ):
        with pytest.raises(StateError):
            from_state({"$": tag, "number": 0, "version": 1, "fields": {}})


def test_cached_vectors_are_made_anew():
    cells = karat.evaluate(["A", "B"], ["A", "A"]).systems[0].cells
    assert "hit_of" in vars(cells)
    back = unpack(pack(cells))
    assert "hit_of" not in vars(back)
    assert isinstance(back, type(cells))
    assert isinstance(back.hit_of, Sparse)


def test_fields_that_a_class_gained_take_their_default():
    finding = karat.Finding("x", "note", "m", "h")
    assert unpack(pack(finding)) == finding
    state = to_state(karat.parse("f1"))
    del state["fields"]["params"]
    assert from_state(state) == karat.parse("f1")
    assert dataclasses.is_dataclass(karat.Metric)


def test_objects_that_refer_to_themselves():
    cells = Cells([1], [0], ["t"])
    cells.whole = cells  # type: ignore[attr-defined]
    back = unpack(pack([cells, cells]))
    assert back[0] is back[1] is back[0].whole


def test_newer_and_older_forms(monkeypatch):
    state = to_state(Cells([1], [0], ["t"]))
    with pytest.raises(StateError, match="newer"):
        from_state(state | {"version": 2})
    monkeypatch.setattr(Cells, "state_version", 2)
    monkeypatch.setattr(Cells, "upgrade_state", classmethod(lambda cls, fields, version: fields | {"extra": version}))
    assert from_state(state).extra == 1


def test_damage_is_said():
    for data in (b"", b"XX123", FORMAT + b"junk", FORMAT + __import__("zlib").compress(b"\xc1")):
        with pytest.raises(StateError):
            unpack(data)
    assert msgspec.msgpack.decode(b"\xc0") is None
