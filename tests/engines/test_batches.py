# SPDX-License-Identifier: Apache-2.0
"""Files that are read in batches of whole units give the numbers, findings and lines that they give as a whole."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import duckdb
import pytest

from karat import batches, read
from karat.batches import files, rankings
from tests.engines.test_in_place import outcome

FAULTS = (
    "none", "missing query", "strange query", "nothing in common", "repeated document", "repeated judgement", "no score",
    "blank query", "infinite grade", "negative grade", "rank beside", "many repeated",
)  # fmt: skip


@pytest.fixture
def many_batches(monkeypatch):
    """Every file is too large for memory, and a batch has a few rows; gives how many batches there were."""
    seen = []
    monkeypatch.setattr(read, "WAITING", 1)
    monkeypatch.setattr(files, "ROW_BYTES", 1 << 30)
    monkeypatch.setattr(files, "LEAST_ROWS", 12)
    monkeypatch.setattr(files, "allowed", lambda engine: 1 << 30)
    monkeypatch.setattr(read, "BY_LINES", dict.fromkeys(read.BY_LINES, 1 << 50))
    plain = rankings.reduced

    def reduced(*args):
        seen.append(plain(*args))
        return seen[-1]

    monkeypatch.setattr(rankings, "reduced", reduced)
    return seen


def run_and_judgements(draw: random.Random, fault: str):
    """Rows of (query, document, number), and of (query, document, score, rank)."""
    queries = [f"q{n}" for n in range(9)]
    documents = [f"d{n}" for n in range(25)]
    gold = [[q, d, draw.randrange(4)] for q in queries for d in draw.sample(documents, 6)]
    run = [[q, d, draw.randrange(12) / 4, 0] for q in queries for d in draw.sample(documents, 15)]
    if fault == "missing query":
        run = [row for row in run if row[0] not in ("q3", "q7")]
    if fault == "strange query":
        run += [["strange", d, 1.0, 0] for d in documents[:4]]
    if fault == "nothing in common":
        run = [[f"other-{q}", *rest] for q, *rest in run]
    if fault in ("repeated document", "many repeated"):
        run += [list(row) for row in draw.sample(run, 3 if fault == "repeated document" else 60)]
    if fault == "repeated judgement":
        gold += [list(row) for row in draw.sample(gold, 2)]
    if fault == "no score":
        draw.choice(run)[2] = None
    if fault == "blank query":
        draw.choice(run)[0] = draw.choice(["", None])
    if fault == "infinite grade":
        draw.choice(gold)[2] = float("inf")
    if fault == "negative grade":
        for row in draw.sample(gold, 5):
            row[2] = -2
    order = draw.choice(["by query", "shuffled", "other order"])
    if order == "shuffled":
        draw.shuffle(run)
        draw.shuffle(gold)
    if order == "other order":
        gold.sort(key=lambda row: str(row[0]), reverse=True)
    if fault == "rank beside":
        for nth, row in enumerate(run):
            row[3] = nth % 15 + 1
    return gold, run


def written(path, rows, names, types):
    connection = duckdb.connect()
    fields = ", ".join(f"{name} {kind}" for name, kind in zip(names, types, strict=True))
    connection.execute(f"CREATE TABLE t ({fields})")
    marks = ", ".join("?" for _ in names)
    connection.executemany(f"INSERT INTO t VALUES ({marks})", [row[: len(names)] for row in rows])
    how = {"parquet": "FORMAT parquet", "csv": "FORMAT csv, HEADER", "tsv": "FORMAT csv, HEADER, DELIMITER '\t'"}
    connection.execute(f"COPY t TO '{path}' ({how[path.suffix[1:]]})")
    return str(path)


@pytest.mark.parametrize("seed", [*range(2), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 20))])
@pytest.mark.parametrize("fault", FAULTS)
def test_rankings(seed, fault, tmp_path, monkeypatch, many_batches):
    draw = random.Random(f"{seed} {fault}")
    gold, run = run_and_judgements(draw, fault)
    kind = draw.choice(["parquet", "csv", "tsv", "trec"])
    ranked = fault == "rank beside"
    names = ["query", "document", "score", *(["rank"] if ranked else [])]
    ends = draw.choice([["\n"], ["\r\n"], ["\n", "\n\n"]])
    paths = (
        [str(tmp_path / f"{side}.trec") for side in ("gold", "run")]
        if kind == "trec"
        else (
            written(
                tmp_path / f"gold.{kind}", gold, ["query", "document", "relevance"], ["VARCHAR", "VARCHAR", "DOUBLE"]
            ),
            written(tmp_path / f"run.{kind}", run, names, ["VARCHAR", "VARCHAR", "DOUBLE", "INTEGER"][: len(names)]),
        )
    )
    if kind == "trec":
        blanks = draw.choice([[], ["", "# a remark"]])
        for path, rows, form in ((paths[0], gold, "{0} 0 {1} {2}"), (paths[1], run, "{0} Q0 {1} {3} {2} tag")):
            lines = [form.format(*row) for row in rows] + blanks
            Path(path).write_text("".join(f"{line}{draw.choice(ends)}" for line in lines))
    options = {"hashes": False, "missing_queries": draw.choice(["zero", "skip", "error"])}
    in_batches = outcome(*paths, **options)
    if (kind, fault) != ("trec", "blank query"):  # a record that begins with blanks is looked at in the whole file
        assert len(many_batches) > 3
    monkeypatch.setattr(batches, "ON", False)
    whole = outcome(*paths, **options)
    if fault == "many repeated":  # a whole file shows the first by query, batches the first of the file
        lines = [int(place[1]) for text in in_batches if (place := re.search(r":(\d+):.*repeated-document", text))]
        assert lines == sorted(lines)
        whole, in_batches = (sorted(re.sub(r":.*(\[.*\]): doc.*", r"\1", t) for t in f) for f in (whole, in_batches))
    assert said(whole) == said(in_batches)


def said(found):
    """What is found may stand in another order: batches are checked one after the other."""
    if isinstance(found, list):
        return sorted(found)
    for system in found["systems"]:
        system["findings"].sort(key=str)
    return json.dumps(found, indent=1).splitlines()
