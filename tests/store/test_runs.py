# SPDX-License-Identifier: Apache-2.0
"""What a store gives back: the same numbers, new metrics, intervals and comparisons, without the data."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import text

import karat
from karat.evaluation import Evaluation
from karat.store import Store, StoreError, open_store
from karat.store.database import Database
from karat.store.listing import FORM
from karat.store.record import packed
from karat.store.run import compare_runs
from karat.store.tables import form_of, migrate, runs, settings, systems
from karat.store.verification import numbers

DATA = Path(__file__).parents[1] / "data"


def labels(seed: int, n: int = 200, right: float = 0.7) -> tuple[dict[str, str], dict[str, str]]:
    rng = np.random.default_rng(seed)
    gold = {f"é{i}": "ABC"[k] for i, k in enumerate(np.random.default_rng(0).integers(0, 3, n).tolist())}
    pred = {k: v if rng.random() < right else "A" for k, v in gold.items() if rng.random() < 0.95}
    return gold, pred


def evaluation(seed: int = 1, right: float = 0.7, **options) -> Evaluation:
    gold, pred = labels(seed, right=right)
    options = {"metrics": ["f1", "accuracy"], "names": [f"s{seed}"]} | options
    return karat.evaluate(gold, pred, units=True, hashes=True, **options)


def test_a_kept_run_has_the_same_numbers(store):
    found = evaluation(intervals=0.9, hierarchy={"X": ["A", "B"], "C": []})
    run = store.save(found, tags=["a", "b", "a"])
    again = open_store(store.address)[run.id]
    assert numbers(again.evaluation) == numbers(found)
    assert again.tags == ["a", "b"]
    assert again.whole
    assert again.evaluation.findings == found.findings
    assert again.evaluation.to_json() == found.to_json()
    assert again.evaluation.to_html() == found.to_html()


def test_metrics_and_intervals_that_were_not_asked_for(store):
    store.save(evaluation(missing="skip", undefined="zero", hierarchy={"X": ["A", "B"], "C": []}))
    asked = ["kappa", "icm", "hierarchical_f1", "f1(average=micro)"]
    fresh = store["latest"].evaluate(asked, intervals=0.9)
    direct = evaluation(
        missing="skip", undefined="zero", hierarchy={"X": ["A", "B"], "C": []}, metrics=asked, intervals=0.9
    )
    assert numbers(fresh) == numbers(direct)


def test_comparison_of_kept_runs(store):
    store.save(evaluation(1), tags=["one"])
    store.save(evaluation(2, right=0.4), tags=["two"])
    kept = compare_runs([store["one"], store["two"]], ["f1"])
    gold, a = labels(1)
    direct = karat.compare(gold, {"s1": a, "s2": labels(2, right=0.4)[1]}, metrics=["f1"])
    assert kept.pairs[0].sentence == direct.pairs[0].sentence
    with pytest.raises(StoreError, match="no system 'x'"):
        compare_runs([store["one"], store["two"]], systems=["x"])


def test_runs_on_other_gold_are_not_compared(store):
    other = karat.evaluate({"1": "A"}, {"1": "B"}, units=True, hashes=True)
    with pytest.raises(StoreError, match="different gold"):
        compare_runs([store.save(evaluation()), store.save(other)])
    with pytest.raises(StoreError, match="two systems"):
        store["latest"].compare()


def test_names_of_runs(store):
    first, second = store.save(evaluation(), tags=["best"]), store.save(evaluation(2))
    assert store["latest"].id == second.id
    assert store["best"].id == store[first.id[:6]].id == first.id
    store.tag("latest", "best", "new")
    assert store["best"].id == second.id
    store.untag("best", "best")
    assert store["best"].id == first.id
    assert [r.id for r in store.list(tag="new")] == [second.id]
    assert [r.id for r in store.list(limit=1)] == [second.id]
    assert store.list(context="multilabel") == []
    for bad in ("", "none", "abc"):
        with pytest.raises(StoreError, match="no run"):
            store[bad]
    for bad in ("", "latest", " x", "y" * 200):
        with pytest.raises(StoreError, match="cannot be a tag"):
            store.tag("latest", bad)


def test_a_tag_given_twice_is_there_once(store):
    run = store.save(evaluation(), tags=["best"])
    assert store.tag(run.id, "best", "new", "new") == ["best", "new"]
    assert store.tag(run.id, "new") == ["best", "new"]


def test_listing_shows_scores_without_unpacking(store):
    found = evaluation(intervals=True)
    store.save(found)
    (line,) = store.list()
    assert line.scores["f1"] == [found["f1"].value]
    assert line.systems == ["s1"]


def test_deleted_runs_are_gone(store):
    run = store.save(evaluation(), tags=["x"])
    assert store.delete("x") == run.id
    assert len(store) == 0
    with pytest.raises(StoreError):
        store[run.id]


def test_export_and_import(store, tmp_path):
    run = store.save(evaluation(), tags=["x"])
    data = store.export("x")
    assert data == store.export("x")
    other = open_store(tmp_path / "other.db")
    assert numbers(other.load(data).evaluation) == numbers(run.evaluation)
    assert other.load(data).id == run.id
    assert len(other) == 1
    assert other["x"].whole
    store.delete("x")
    assert store.load(data).tags == ["x"]


@pytest.mark.parametrize("at", [40, 300, -200, -1000])
def test_damaged_exports_are_refused(tmp_path, at):
    store = open_store(tmp_path / "a.db")
    store.save(evaluation())
    data = bytearray(store.export("latest"))
    data[at] ^= 1
    with pytest.raises(StoreError):
        open_store(tmp_path / "b.db").load(bytes(data))
    with pytest.raises(StoreError):
        open_store(tmp_path / "b.db").load(bytes(data[: len(data) // 2]))
    assert len(open_store(tmp_path / "b.db")) == 0


def test_a_changed_record_is_noticed(store):
    run = store.save(evaluation())
    with store._database.write() as connection:
        connection.execute(runs.update().values(plan=runs.c.plan + " "))
    assert not store[run.id].whole


def old_store(address: str) -> str:
    """A store of form 1 with one run."""
    database = Database(address)
    record = packed(evaluation())
    engine = database._engine.execution_options(karat_write=True)
    with engine.connect() as connection, connection.begin():
        migrate(connection, 1)
        connection.execute(runs.insert(), [record.run])
        part = record.systems[0]
        row = {"run_id": record.run["id"], "position": 0, "name": part.name, "result": part.result, "cells": part.cells}
        connection.execute(systems.insert(), [row])
    database.close()
    return record.run["id"]


def test_a_store_of_the_previous_form_is_migrated(address):
    run_id = old_store(address)
    store = Store(address)
    (line,) = store.list()
    assert line.id == run_id
    assert line.scores["f1"] == [store[run_id].evaluation["f1"].value]
    with store._database.read() as connection:
        assert form_of(connection) == FORM
    store.save(evaluation(2))
    assert len(Store(address)) == 2


def test_a_file_that_form_1_left_behind(tmp_path):
    shutil.copy(DATA / "store-form-1.db", tmp_path / "runs.db")
    store = open_store(tmp_path / "runs.db")
    (line,) = store.list()
    run = store[line.id]
    assert run.whole
    assert line.scores == {"f1": [run.evaluation["f1"].value], "accuracy": [run.evaluation["accuracy"].value]}
    assert numbers(run.evaluate()) == numbers(run.evaluation)


def test_a_failed_migration_changes_nothing(address, monkeypatch):
    old_store(address)

    def broken(connection):
        connection.execute(text("CREATE TABLE half (x INTEGER)"))
        raise RuntimeError("power cut")

    from karat.store import tables

    monkeypatch.setattr(tables, "STEPS", [tables.STEPS[0], broken])
    with pytest.raises(RuntimeError):
        Store(address).list()
    monkeypatch.undo()
    store = Store(address)
    assert len(store.list()) == 1
    with store._database.read() as connection:
        assert not connection.dialect.has_table(connection, "half")


def test_a_newer_store_is_left_alone(address):
    store = Store(address)
    store.save(evaluation())
    with store._database.write() as connection:
        connection.execute(settings.update().values(value=str(FORM + 1)))
    with pytest.raises(StoreError, match="newer karat"):
        Store(address).list()


def test_place_of_the_store(tmp_path, monkeypatch):
    monkeypatch.delenv("KARAT_STORE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "p" / "q").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "p" / "q")
    assert open_store(create=False).address == str(tmp_path / "data" / "karat" / "runs.db")
    assert open_store().address == str(tmp_path / "p" / "q" / ".karat" / "runs.db")
    monkeypatch.chdir(tmp_path / "p")
    (tmp_path / "p" / ".karat").mkdir()
    monkeypatch.chdir(tmp_path / "p" / "q")
    assert not list((tmp_path / "p" / "q").iterdir())
    assert open_store(create=False).address == str(tmp_path / "p" / ".karat" / "runs.db")
    monkeypatch.setenv("KARAT_STORE", str(tmp_path / "e.db"))
    assert open_store().address == str(tmp_path / "e.db")
    with pytest.raises(StoreError, match="mysql"):
        open_store("mysql://x/y")


def test_pages_and_filters_of_the_list(store):
    for day in range(1, 6):
        metrics = ["f1(average=micro)", "accuracy"] if day % 2 else ["kappa"]
        run = store.save(evaluation(day, metrics=metrics), tags=["odd"] if day % 2 else [])
        with store._database.write() as connection:
            changed = runs.update().where(runs.c.id == run.id).values(created=f"2026-03-0{day}T12:00:00.000000+00:00")
            connection.execute(changed)

    def days(**wanted) -> list[int]:
        found = store.list(**wanted)
        wanted = {k: v for k, v in wanted.items() if k not in ("limit", "offset")}
        assert store.count(**wanted) >= len(found)
        return [int(run.created[9]) for run in found]

    assert days() == [5, 4, 3, 2, 1]
    assert [days(limit=2, offset=k) for k in (0, 2, 4, 6)] == [[5, 4], [3, 2], [1], []]
    assert days(metric="f1") == days(metric="f1(average=micro)") == days(tag="odd") == [5, 3, 1]
    assert days(metric="f") == days(metric="f1(average=macro)") == days(metric="%") == days(tag="o") == []
    assert days(since="2026-03-03") == days(since="2026-03-03T12:00") == [5, 4, 3]
    assert days(until="2026-03-03") == days(until="2026-03-03T14:00+02:00") == [3, 2, 1]
    assert days(since="2026-03-02", until="2026-03-04", metric="kappa", context="monolabel") == [4, 2]
    assert store.list(limit=1)[0].scores == {m: [v] for m, v in zip(["f1(average=micro)", "accuracy"], store["odd"].evaluation, strict=True) for v in [v.value]}  # fmt: skip
    with pytest.raises(StoreError, match="is no date"):
        store.list(since="yesterday")


def test_ten_thousand_runs_are_listed_in_a_few_queries(store):
    """As many statements for a thousand runs as for one."""
    from sqlalchemy import event

    for _ in range(3):
        store.save(evaluation(), tags=["a", "b"])
    asked: list[str] = []
    event.listen(store._database._engine, "before_cursor_execute", lambda *args: asked.append(args[2]))
    (first,) = store.list(limit=1)
    once = len(asked)
    everything = store.list()
    assert len(asked) == 2 * once
    assert everything[0] == first
    assert [(run.systems, run.tags, list(run.scores)) for run in everything] == [(["s1"], ["a", "b"], ["f1", "accuracy"])] * 3  # fmt: skip


def test_runs_that_were_counted_differently_are_not_compared(store):
    wrong, skip = store.save(evaluation(1)), store.save(evaluation(2, missing="skip"))
    with pytest.raises(StoreError, match="differ in their options"):
        compare_runs([wrong, skip])
