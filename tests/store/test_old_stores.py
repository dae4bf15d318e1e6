# SPDX-License-Identifier: Apache-2.0
"""Runs that were kept while modules stood in the store still open, and nothing but karat's own data comes back."""

from __future__ import annotations

import lzma
import zlib
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

import karat
from karat.cli.main import karat as command
from karat.contexts import MODULES, context
from karat.state import _CLASSES, _RESTORERS, FORMER, StateError, pack, restored, stored, to_state, unpack
from karat.store import bundle, open_store
from karat.store.record import Record, record_digest
from karat.store.verification import numbers

OLD = Path(__file__).parents[1] / "data" / "store-module-names.db.xz"
"""Seventeen runs of all contexts, with units and intervals, from files of every kind of reader, as version 36bd5c2 kept
them: every class that it wrote is there, and so are the caches that it wrote beside the data.
"""
TAGS = (
    "labels", "label-sets", "weights", "rankings", "spans", "splitting", "clusters", "labels-test-cases", "annotators",
    "scored-labels", "span-lines", "tagged-tokens", "nested", "excerpts", "trec", "memory", "confidences",
)  # fmt: skip


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    path = tmp_path_factory.mktemp("old") / "runs.db"
    path.write_bytes(lzma.decompress(OLD.read_bytes()))
    found = open_store(path)
    yield found
    found.close()


def test_all_contexts_are_there(old):
    assert {tag for run in old.list() for tag in run.tags} == set(TAGS)
    assert {run.context for run in old.list()} == set(MODULES) - {"numbers", "probabilities"}  # which are younger


@pytest.mark.parametrize("tag", TAGS)
def test_a_run_opens_and_its_cells_give_its_numbers(old, tag):
    run = old[tag]
    assert run.whole
    recorded = {k: v for k, v in numbers(run.evaluation).items() if k[2:] not in (("low",), ("high",))}
    again = {k: v for k, v in numbers(run.evaluate()).items() if v != recorded[k]}
    # Logarithms of other processors may differ in the last bit.
    assert again == pytest.approx({k: recorded[k] for k in again}, rel=1e-13)
    assert "_kept" not in str(to_state(run.evaluation.systems[0].cells))


@pytest.mark.parametrize("tag", TAGS)
def test_a_run_that_is_kept_again_is_the_same_under_stable_names(old, tag, tmp_path):
    was = old[tag].evaluation
    again = open_store(tmp_path / "runs.db").save(was)
    assert numbers(again.evaluation) == numbers(was)
    for system in was.systems:
        assert tags_of(to_state([system, system.cells])) <= set(FORMER.values())


def tags_of(state) -> set[str]:
    """Names of the objects in a state."""
    if isinstance(state, list):
        return set().union(*map(tags_of, state))
    if not isinstance(state, dict):
        return set()
    own = {state["$"]} if "fields" in state else set()
    return own | set().union(*map(tags_of, state.values()))


def test_every_former_name_means_something_and_every_class_has_one_name():
    for name in MODULES:
        context(name)
    assert set(FORMER.values()) <= set(_CLASSES) | set(_RESTORERS)
    assert not set(_CLASSES) & set(_RESTORERS)
    assert not [name for name in _CLASSES if ":" in name]


def test_a_name_is_given_once():
    for decorator in (stored, restored):
        with pytest.raises(ValueError, match="taken"):
            decorator("metric")(object)


@pytest.mark.parametrize("tag", ["karat.read.source:Path", "karat.metric:Definition", "pathlib:Path", "Path"])
def test_only_classes_with_a_stored_name_are_made(tag):
    import karat.read.source  # noqa: F401

    state = {"$": tag, "number": 0, "version": 1, "fields": {}}
    with pytest.raises(StateError, match="keeps no"):
        unpack(packed(state))


def packed(state) -> bytes:
    return b"K1" + zlib.compress(msgspec.msgpack.encode(state))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value": "high"}, "'value' of 'score'"),
        ({"classes": {"$": "dict", "items": []}}, "'classes' of 'score'"),
        ({"metric": "f1"}, "'metric' of 'score'"),
        ({"label": None}, "'label' of 'score'"),
        ({"stranger": 1}, "no field 'stranger'"),
    ],
)
def test_fields_are_of_their_kinds(change, message):
    state = to_state(karat.evaluate(["A", "B"], ["A", "A"], metrics=["f1"])["f1"])
    state["fields"].update(change)
    with pytest.raises(StateError, match=message):
        unpack(packed(state))


def test_a_field_that_is_missing_is_named():
    state = to_state(karat.evaluate(["A", "B"], ["A", "A"], metrics=["f1"])["f1"])
    del state["fields"]["result"]
    with pytest.raises(StateError, match="lacks its field 'result'"):
        unpack(packed(state))


def test_cells_hold_together():
    state = to_state(karat.evaluate(["A", "B"], ["A", "A"]).systems[0].cells)
    state["fields"]["n"] = to_state(karat.evaluate(["A"], ["A"]).systems[0].cells)["fields"]["n"]
    with pytest.raises(StateError, match="differ in length"):
        unpack(packed(state))


def test_a_hierarchy_that_runs_in_a_circle_is_refused():
    with pytest.raises(StateError, match="circle"):
        unpack(packed({"$": "hierarchy", "number": 0, "version": 1, "fields": {"parent": {"$": "dict", "items": [["a", "b"], ["b", "a"]]}}}))  # fmt: skip


def test_depth_and_size_are_limited():
    deep = b"K1" + zlib.compress(b"\x91" * 200_000 + b"\xc0")
    with pytest.raises(StateError):
        unpack(deep)
    with pytest.raises(StateError, match="more than 1,000 bytes"):
        unpack(pack("a" * 2_000), 1_000)
    assert unpack(pack("a" * 2_000), 10_000) == "a" * 2_000


def forged(store, change) -> bytes:
    """An exported run, changed and hashed anew."""
    store.save(karat.evaluate(["A", "B"], ["A", "A"], units=True))
    record, names = bundle.read(store.export("latest"))
    run, part = dict(record.run, id="0123456789ab"), record.systems[0]
    run, part = change(run, part)
    whole = Record(run, [part])
    return bundle.write(Record(run | {"digest": record_digest(run, whole.systems)}, whole.systems), names)


FORGERIES = {
    "a result that is a list": lambda run, part: (run, replace(part, result=pack([]))),
    "no cells": lambda run, part: (run, replace(part, cells=pack(None))),
    "cells of another context": lambda run, part: (run, replace(part, cells=pack(karat.evaluate([["A"]], [["A"]]).systems[0].cells))),
    "a path for a context": lambda run, part: (run | {"context": "../x"}, part),
    "no such day": lambda run, part: (run | {"created": "9999-99-99T00:00:00.000000+00:00"}, part),
    "lists in lists": lambda run, part: (run, replace(part, result=b"K1" + zlib.compress(b"\x91" * 200_000 + b"\xc0"))),
    "a plan of lists": lambda run, part: (run | {"plan": '{"context": ' + "[" * 900 + "]" * 900 + "}"}, part),
    "a class of another module": lambda run, part: (
        run, replace(part, cells=packed({"$": "karat.read.source:Path", "number": 0, "version": 1, "fields": {}}))
    ),
    "scores of fewer test cases": lambda run, part: (run, replace(part, result=pack(shortened(unpack(part.result))))),
    "classes that are not there": lambda run, part: (run, replace(part, cells=pack(strange(unpack(part.cells))))),
    "two gigabytes": lambda run, part: (run, replace(part, cells=b"K1" + zlib.compress(bytes(80 << 20), 9))),
}  # fmt: skip


def shortened(system):
    return replace(system, cells=None, scores={m: replace(s, test_cases=[]) for m, s in system.scores.items()})


def strange(cells):
    cells.gold = cells.gold + 7
    return cells


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_runs_are_refused_and_nothing_is_kept(name, tmp_path):
    store = open_store(tmp_path / "from.db")
    (tmp_path / "run.karat").write_bytes(forged(store, FORGERIES[name]))
    there = tmp_path / "to.db"
    open_store(there).save(karat.evaluate(["A"], ["A"]))
    said = CliRunner().invoke(command, ["runs", "import", str(tmp_path / "run.karat"), "--store", str(there)])
    assert (said.exit_code, said.stdout) == (2, "")
    assert said.stderr.startswith("error: ")
    assert len(open_store(there)) == 1


def test_the_forger_alone_breaks_nothing(tmp_path):
    store = open_store(tmp_path / "from.db")
    assert open_store(tmp_path / "to.db").load(forged(store, lambda run, part: (run, part))).id == "0123456789ab"
