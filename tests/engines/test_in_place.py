# SPDX-License-Identifier: Apache-2.0
"""Tables that are counted inside the engine give the numbers, findings and lines that their rows give."""

from __future__ import annotations

import json
import random

import duckdb
import pytest

import karat
from karat import in_place
from karat.engines.duckdb import Engine

VALUES = {
    "texts": lambda draw: draw.choice(["a", "b", "c", "ä"]),
    "whole": lambda draw: draw.choice([1, 2, 3, 10]),
    "floats": lambda draw: draw.choice([0.0, -0.0, 1.0, 2.5]),
    "truth": lambda draw: draw.random() < 0.5,
}
IDS = {
    "texts": lambda n: f"item-{n:04d}",
    "whole": lambda n: n,
    "numbers as texts": lambda n: f"{n}.0",
    "unpadded": lambda n: str(n),
}
FAULTS = (
    "none", "none", "missing", "extra", "both lack", "repeated", "repeated extra", "blank id", "null id", "null value", "blank value",
    "shorter", "nothing in common", "other case", "unknown label", "padded ids",
)  # fmt: skip


def rows(draw: random.Random, ids, values, cases: bool, fault: str):
    """Gold and prediction as lists of [case, id, value]."""
    size = draw.choice([3, 7, 40])
    gold = [[draw.choice(["t1", "t2"]) if cases else "", IDS[ids](n), VALUES[values](draw)] for n in range(size)]
    pred = [[case, id, VALUES[values](draw)] for case, id, _ in gold]
    side = draw.choice([gold, pred])
    if fault in ("missing", "both lack"):
        del pred[draw.randrange(size)]
    if fault in ("extra", "both lack", "repeated extra"):
        pred.append([pred[0][0], IDS[ids](size + 5), pred[0][2]])
    if fault == "repeated extra":
        pred.append(list(pred[-1]))
    if fault == "repeated":
        side.append(list(side[0]))
    if fault == "blank id" and ids != "whole":
        side[1][1] = draw.choice(["", " "])
    if fault == "null id":
        side[1][1] = None
    if fault == "null value":
        side[1][2] = None
    if fault == "blank value" and values == "texts":
        side[1][2] = " "
    if fault == "shorter":
        pred.pop()
    if fault == "nothing in common":
        pred = [[case, IDS[ids](n + 1000), value] for n, (case, _, value) in enumerate(pred)]
    if fault == "other case" and ids == "texts":
        pred[0][1] = pred[0][1].upper()
    if fault == "unknown label" and values == "texts":
        pred[0][2] = "A"
    if fault == "padded ids" and ids == "unpadded":
        pred = [[case, str(id).zfill(3), value] for case, id, value in pred]
    if draw.random() < 0.5:
        draw.shuffle(pred)
    return gold, pred


def written(path, rows, cases: bool, ids: bool, types):
    """The rows as a file of the kind that its name says."""
    names = [*(["test_case"] if cases else []), *(["id"] if ids else []), "label"]
    keep = [i for i, name in enumerate(("test_case", "id", "label")) if name in names]
    connection = duckdb.connect()
    fields = ", ".join(f"{name} {types[name]}" for name in names)
    connection.execute(f"CREATE TABLE t ({fields})")
    marks = ", ".join("?" for _ in names)
    connection.executemany(f"INSERT INTO t VALUES ({marks})", [[row[i] for i in keep] for row in rows])
    how = {"parquet": "FORMAT parquet", "csv": "FORMAT csv, HEADER", "tsv": "FORMAT csv, HEADER, DELIMITER '\t'"}
    connection.execute(f"COPY t TO '{path}' ({how[path.suffix[1:]]})")
    return str(path)


def outcome(*args, **options):
    """All that an evaluation says, or why there is none."""
    try:
        found = karat.evaluate(*args, **options)
    except karat.InputError as error:
        return [str(f) for f in error.findings]
    document = json.loads(found.to_json())
    del document["provenance"]["created"]
    return document


@pytest.fixture
def in_place_always(monkeypatch):
    """Tables of any size may stay in the engine; gives how often they were counted there."""
    counted = []
    monkeypatch.setattr("karat.read.table.WAITING", 1)
    plain = Engine.pairs

    def pairs(self, gold, pred):
        found = plain(self, gold, pred)
        counted.append(found.clean)
        return found

    monkeypatch.setattr(Engine, "pairs", pairs)
    return counted


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 20))])
@pytest.mark.parametrize("fault", sorted(set(FAULTS)))
def test_as_row_by_row(seed, fault, tmp_path, monkeypatch, in_place_always):
    draw = random.Random(f"{seed} {fault}")
    ids, values = draw.choice(list(IDS)), draw.choice(list(VALUES))
    cases, with_ids, kind = draw.random() < 0.3, draw.random() < 0.9, draw.choice(["parquet", "csv", "tsv"])
    types = {
        "test_case": "VARCHAR",
        "id": "BIGINT" if ids == "whole" else "VARCHAR",
        "label": {"texts": "VARCHAR", "whole": "BIGINT", "floats": "DOUBLE", "truth": "BOOLEAN"}[values],
    }
    gold, pred = rows(draw, ids, values, cases, fault)
    files = [
        written(tmp_path / f"{name}.{kind}", side, cases, with_ids, types)
        for name, side in (("gold", gold), ("pred", pred))
    ]
    options = {
        "context": draw.choice([None, "monolabel", "clustering"]),
        "missing": draw.choice(["wrong", "skip"]),
        "hashes": False,
    }
    if options["context"] == "monolabel":
        options["extra"] = draw.choice(["ignore", "wrong"])
    inside = outcome(*files, **options)
    monkeypatch.setattr(in_place, "ON", False)
    assert outcome(*files, **options) == inside


def test_clean_tables_are_counted_in_place(tmp_path, in_place_always):
    gold, pred = ([["", f"i{n}", "ab"[n % k % 2]] for n in range(50)] for k in (2, 3))
    types = {"id": "VARCHAR", "label": "VARCHAR"}
    files = [written(tmp_path / f"{n}.parquet", r, False, True, types) for n, r in (("gold", gold), ("pred", pred))]
    files.append(written(tmp_path / "shuffled.parquet", pred[::-1], False, True, types))
    found = karat.evaluate(files[0], files[1:], hashes=False, intervals=True, resamples=199)
    assert in_place_always == [True, True]
    one, two = found.systems
    assert {s.metric: s.value for s in one.scores.values()} == {s.metric: s.value for s in two.scores.values()}
    assert one.scores[next(iter(one.scores))].interval is not None


@pytest.mark.parametrize("options", [{"missing": "singletons"}, {"noise": "a"}, {"noise": "a", "missing": "skip"}])
def test_items_in_clusters_of_their_own_stay_single(options, tmp_path, monkeypatch, in_place_always):
    """Those with the same answer were one cluster: adjusted mutual information of a random clustering was 0.4."""
    rows = [["", f"i{n}", "abc"[n % 3]] for n in range(60)]
    files = []
    for name, side in (("gold", rows), ("pred", [[*row[:2], "abc"[n % 7 % 3]] for n, row in enumerate(rows)][:50])):
        types = {"id": "VARCHAR", "label": "VARCHAR"}
        files.append(written(tmp_path / f"{name}.parquet", side, False, True, types))
    options = {"context": "clustering", "hashes": False, **options}
    found = outcome(*files, **options)
    monkeypatch.setattr(in_place, "ON", False)
    assert outcome(*files, **options) == found


def test_repeated_hashes_are_not_taken_for_repeated_ids(tmp_path, in_place_always, monkeypatch):
    """Ids that do not rise are counted by distinct hashes; two that share one are looked at row by row."""
    rows = [["", f"i{n * 7 % 50}", "ab"[n % 2]] for n in range(50)]
    types = {"id": "VARCHAR", "label": "VARCHAR"}
    files = [written(tmp_path / f"{n}.parquet", rows, False, True, types) for n in ("gold", "pred")]
    assert karat.evaluate(*files, metrics=["accuracy"], hashes=False)["accuracy"].value == 1.0
    monkeypatch.setattr(Engine, "_distinct_ids", lambda self, keys: 49)
    assert karat.evaluate(*files, metrics=["accuracy"], hashes=False)["accuracy"].value == 1.0
    assert in_place_always == [True, False]
