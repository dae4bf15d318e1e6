# SPDX-License-Identifier: Apache-2.0
"""Files that are read in batches of whole units give the numbers, findings and lines that they give as a whole."""

from __future__ import annotations

import itertools
import json
import random
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from karat import batches, in_place, larger, read
from karat.batches import documents, files, lines, outcomes, pages, rankings
from karat.contexts.spans import data
from tests.engines.test_in_place import outcome
from tests.engines.test_spark import CASES

FAULTS = (
    "none", "missing query", "strange query", "nothing in common", "repeated document", "repeated judgement", "no score",
    "blank query", "infinite grade", "negative grade", "rank beside", "many repeated",
)  # fmt: skip


@pytest.fixture
def many_batches(monkeypatch):
    """Every file is too large for memory, and a batch has a few rows; gives how many batches there were."""
    seen = []
    monkeypatch.setattr("karat.read.table.WAITING", 1)
    monkeypatch.setattr(files, "ROW_BYTES", 1 << 30)
    monkeypatch.setattr(files, "LEAST_ROWS", 12)
    monkeypatch.setattr(files, "allowed", lambda engine: 1 << 30)
    monkeypatch.setattr(read, "BY_LINES", dict.fromkeys(read.BY_LINES, 1 << 50))
    monkeypatch.setattr(lines, "batch_bytes", lambda engine, unread: 1000 if unread.format == "json" else 400)
    monkeypatch.setattr("karat.read.json.BLOCK", 500)
    monkeypatch.setattr(data, "_texts", lambda both: None)  # batches leave none behind: lists of errors show places
    plain = rankings.reduced

    def reduced(*args):
        seen.append(plain(*args))
        return seen[-1]

    monkeypatch.setattr(rankings, "reduced", reduced)
    met, slim, joined = outcomes._met, documents._slim, pages.joined
    monkeypatch.setattr(outcomes, "_met", lambda *args: seen.append(met(*args)) or seen[-1])
    monkeypatch.setattr(documents, "_slim", lambda side: seen.append(slim(side)) or seen[-1])
    monkeypatch.setattr(pages, "joined", lambda parts: seen.extend(parts) or joined(parts))
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


LABELS = (
    "labels", "labels of a tree", "label sets", "weights", "votes", "probabilities", "scores", "clusters", "measured numbers",
)  # fmt: skip
TABLES = (*LABELS, "rankings", "pages")
LINES = (*LABELS, "spans", "tags", "pages")
BATCHED = {"parquet": TABLES, "csv": TABLES, "json": (*LABELS, "pages"), "jsonl": LINES}
"""Cases that go through batches; of the others the tables are read as a whole."""


def put(table, path):
    """A table as a file."""
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix == ".csv":
        table.to_pandas().to_csv(path, index=False)
    else:
        maps = [field.name for field in table.schema if pa.types.is_map(field.type)]
        rows = [{**row, **{name: dict(row[name]) for name in maps if row[name]}} for row in table.to_pylist()]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        path.write_text(json.dumps(rows, indent=len(rows) % 3 or None) if path.suffix == ".json" else text)


@pytest.mark.parametrize("kind", BATCHED)
@pytest.mark.parametrize("name", CASES)
def test_every_context(name, kind, tmp_path, monkeypatch, many_batches):
    case = CASES[name]()
    nested = any(pa.types.is_nested(column.type) for table in case.tables() for column in table.columns)
    if kind == "csv" and nested:
        pytest.skip("a CSV file has no lists")
    paths = [tmp_path / f"{side}.{kind}" for side in ("gold", "pred")]
    for path, table in zip(paths, case.tables(), strict=True):
        put(table, path)
    monkeypatch.setattr(in_place, "ON", False)
    options = case.options | {"hashes": False, "intervals": True, "resamples": 199}
    found = outcome(*map(str, paths), **options)
    assert (len(many_batches) > 3) == (name in BATCHED[kind])
    monkeypatch.setattr(batches, "ON", False)
    assert said(outcome(*map(str, paths), **options)) == said(found)


PAGE_FAULTS = (
    "none", "shuffled", "missing pages", "missing bundle", "strange bundle", "from zero", "repeated page", "no flag", "bad number",
    "confidence", "odd confidence", "no bundle", "numbers as ids", "extra field", "some extra field", "some without category",
    "members", "ranges", "bad range", "points", "lists", "bad list",
)  # fmt: skip


def streams(draw: random.Random, fault: str):
    """Pages of gold and prediction as records; what a category is called first depends on where its bundle begins."""
    sides = []
    bundles = [f"b{n}" if fault != "numbers as ids" else float(n) for n in range(9)]
    sizes = {bundle: draw.randrange(2, 9) for bundle in bundles}
    for role in ("gold", "pred"):
        rows = []
        for bundle, size in sizes.items():
            category = draw.choice(["invoice", "letter", "form"])
            for page in range(1, size + 1):
                row = {"bundle": bundle, "page": page, "is_first_page": page == 1 or draw.random() < 0.3}
                row["category"] = draw.choice([category, category, "contract"])
                if fault in ("confidence", "odd confidence") and role == "pred":
                    row["confidence"] = round(draw.random(), 2)
                rows.append(row)
        sides.append(rows)
    gold, pred = sides
    side, nth = draw.choice(sides), draw.randrange(20)
    if fault == "missing pages":
        del pred[nth : nth + 4]
    if fault == "missing bundle":
        pred[:] = [row for row in pred if row["bundle"] not in ("b2", "b6")]
    if fault == "strange bundle":
        pred += [{**pred[0], "bundle": "strange", "page": page, "category": "odd"} for page in (1, 2)]
    if fault == "from zero":
        for row in side:
            row["page"] -= 1
    if fault == "repeated page":
        side.insert(nth, dict(side[3]))
    if fault == "no flag":
        side[nth]["is_first_page"] = None
    if fault == "bad number":
        side[nth]["page"] = -7
    if fault == "odd confidence":
        pred[nth]["confidence"] = 1.5
    if fault == "no bundle":
        side[nth]["bundle"] = None
    if fault == "some without category":
        for row in draw.sample(side, 9):
            row["category"] = None
    if fault == "extra field":
        for row in side:
            row["colour"] = "red"
    if fault == "some extra field":
        side[nth]["colour"] = "red"
    if fault == "members":
        for rows in sides:
            file = 0
            for row in rows:
                file += row.pop("is_first_page")
                row["file"] = f"f{file}"
    if fault in ("ranges", "bad range", "points", "lists", "bad list"):
        sides[:] = [list(whole_bundles(rows, fault)) for rows in sides]
        gold, pred = sides
    if fault == "bad range":
        pred[nth % len(pred)]["last_page"] = 0
    if fault == "bad list":
        pred[nth % len(pred)]["pages"] = None
    if fault != "none" and draw.random() < 0.6:
        draw.shuffle(pred)
        draw.shuffle(gold)
    return gold, pred


def whole_bundles(rows, shape):
    """Records of files, or of bundles with their pages."""
    for bundle, group in itertools.groupby(rows, lambda row: row["bundle"]):
        pages = list(group)
        begins = [row["page"] for row in pages if row["is_first_page"]]
        if "range" in shape:
            for first, last in itertools.pairwise([*begins, len(pages) + 1]):
                yield {"bundle": bundle, "first_page": first, "last_page": last - 1, "category": pages[0]["category"]}
        elif shape == "points":
            yield {"bundle": bundle, "first_pages": begins, "category": pages[0]["category"]}
        else:
            yield {
                "bundle": bundle,
                "pages": [{"number": p["page"], "is_first_page": p["is_first_page"]} for p in pages],
            }


@pytest.mark.parametrize("seed", [*range(2), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 20))])
@pytest.mark.parametrize("ending", ["parquet", "csv", "json", "jsonl"])
@pytest.mark.parametrize("fault", PAGE_FAULTS)
def test_page_streams(seed, fault, ending, tmp_path, monkeypatch, many_batches):
    draw = random.Random(f"{seed} {fault}")
    paths = [tmp_path / f"{name}.{ending}" for name in ("gold", "pred")]
    for path, rows in zip(paths, streams(draw, fault), strict=True):
        names = list(dict.fromkeys(name for row in rows for name in row))
        if ending in ("json", "jsonl"):
            path.write_text(
                json.dumps(rows, indent=1) if ending == "json" else "".join(json.dumps(r) + "\n" for r in rows)
            )
            continue
        table = pa.table({name: [row.get(name) for row in rows] for name in names})
        if ending == "csv":
            table.to_pandas().to_csv(path, index=False)
        else:
            pq.write_table(table, path)
    options = {"hashes": False, "context": draw.choice([None, "splitting"])}
    options |= {"missing_pages": draw.choice(["error", "not-first", "truncate"])}
    found = outcome(*map(str, paths), **options)
    if fault in ("none", "shuffled", "missing pages", "strange bundle", "repeated page", "members", "confidence"):
        assert len(many_batches) > 3
    monkeypatch.setattr(batches, "ON", False)
    assert said(outcome(*map(str, paths), **options)) == said(found)


LABEL_FAULTS = (
    "none",
    "missing",
    "extra",
    "spelling",
    "nothing in common",
    "repeated",
    "blank id",
    "unknown label",
    "no value",
)


@pytest.mark.parametrize("seed", [*range(2), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 12))])
@pytest.mark.parametrize("fault", LABEL_FAULTS)
@pytest.mark.parametrize("ending", ["parquet", "jsonl", "json"])
def test_label_sets_and_weights(seed, fault, ending, tmp_path, monkeypatch, many_batches):
    draw = random.Random(f"{seed} {fault}")
    weights = draw.random() < 0.5
    share = lambda: draw.randrange(5) / 4
    value = (lambda: {"A": (x := share()), "B": 1 - x}) if weights else (lambda: draw.sample("ABCD", draw.randrange(4)))
    gold, pred = ([[f"Item-{n}", value()] for n in range(90)] for _ in range(2))
    draw.shuffle(pred)
    side = draw.choice([gold, pred])
    if fault == "missing":
        del pred[10:20]
    if fault == "extra":
        pred += [[f"Other-{n}", value()] for n in range(5)]
    if fault == "spelling":
        for row in pred[:30]:
            row[0] = row[0].lower()
    if fault == "nothing in common":
        pred = [[f"{id}x", v] for id, v in pred]
    if fault == "repeated":
        side.append(list(side[3]))
    if fault == "blank id":
        side[4][0] = draw.choice([" ", None])
    if fault == "unknown label":
        pred[5][1] = {"Z": 1.0} if weights else ["Z"]
    if fault == "no value":
        side[7][1] = None
    kind = pa.map_(pa.string(), pa.float64()) if weights else pa.list_(pa.string())
    paths = [tmp_path / f"{name}.{ending}" for name in ("gold", "pred")]
    for path, rows in zip(paths, (gold, pred), strict=True):
        values = [list(v.items()) if isinstance(v, dict) else v for _, v in rows]
        put(pa.table({"id": [id for id, _ in rows], "value": pa.array(values, kind)}), path)
    options = {"hashes": False, "missing": draw.choice(["wrong", "skip"])}
    counted = larger.merged_in_batches
    done: list[Any] = []
    monkeypatch.setattr(larger, "merged_in_batches", lambda *args: done.append(counted(*args)) or done[-1])
    found = outcome(*map(str, paths), **options)
    if fault in ("none", "missing", "extra", "spelling"):  # most others have a line to be named
        assert done
    monkeypatch.setattr(batches, "ON", False)
    assert said(outcome(*map(str, paths), **options)) == said(found)


SPAN_FAULTS = (
    "none", "missing", "extra", "no ids", "repeated", "no id", "outside", "empty span", "other quote", "other text", "overlap",
    "null", "a text for a span", "bad line", "twice", "two faults", "inner", "blank lines", "last line open", "spelling", "other names",
)  # fmt: skip


def texts_with_spans(draw: random.Random, fault: str):
    """Documents of gold and prediction as records."""
    words = ["Anna", "Bo", "Rome", "May", "went"]
    texts = [" ".join(draw.choices(words, k=8)) for _ in range(40)]
    sides = []
    for _ in range(2):
        side = []
        for n, text in enumerate(texts):
            found = [m for m in re.finditer(r"\w+", text) if draw.random() < 0.4]
            spans = [
                {"start": m.start(), "end": m.end(), "label": draw.choice(["PER", "LOC"]), "text": m[0]} for m in found
            ]
            side.append({"id": f"Doc-{n}", "text": text, "spans": spans})
        sides.append(side)
    gold, pred = sides
    draw.shuffle(pred)
    side, nth = draw.choice(sides), draw.randrange(30)
    span = {"start": 0, "end": 3, "label": "PER"}
    if fault in ("missing", "two faults"):
        del pred[10:15]
    if fault == "extra":
        pred += [{"id": f"Other-{n}", "text": "Bo", "spans": []} for n in range(5)]
    if fault == "no ids":
        pred.sort(key=lambda record: int(record["id"][4:]))
        for record in gold + pred:
            del record["id"]
    if fault == "repeated":
        side.append(dict(side[3]))
    if fault == "no id":
        del side[nth]["id"]
    if fault in ("outside", "two faults"):
        side[nth]["spans"] = [{**span, "end": 500}]
    if fault in ("empty span", "two faults"):
        side[-1]["spans"] = [{**span, "end": 0}]
    if fault == "other quote":
        for record in side[5:30:4]:
            record["spans"] = [{**span, "text": "none"}]
    if fault == "other text":
        for record in pred[5:30:6]:
            record["text"] += "."
    if fault == "overlap":
        for record in side[5:30:4]:
            record["spans"] = [span, {**span, "end": 2}, span]
    if fault == "null":
        side[nth]["spans"] = None
    if fault == "a text for a span":
        side[nth]["spans"] = ["PER", 1]
    if fault == "inner":
        side[nth]["spans"] = [{**span, "children": [{**span, "end": 1}]}]
    if fault == "spelling":
        for record in pred[:20]:
            record["id"] = record["id"].lower()
    if fault == "other names":
        for record in side[20:]:
            record["spans"] = [
                {"start": s["start"], "endPos": s["end"] - 1, "label": s["label"]} for s in record["spans"]
            ]
    return gold, pred


@pytest.mark.parametrize("seed", [*range(2), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 20))])
@pytest.mark.parametrize("fault", SPAN_FAULTS)
def test_documents_with_spans(seed, fault, tmp_path, monkeypatch, many_batches):
    draw = random.Random(f"{seed} {fault}")
    paths = [tmp_path / f"{name}.jsonl" for name in ("gold", "pred")]
    for path, side in zip(paths, texts_with_spans(draw, fault), strict=True):
        rows = [json.dumps(record) for record in side]
        if fault in ("bad line", "twice") and draw.random() < 0.7:
            nth = draw.randrange(40)
            rows[nth] = '{"id": "x", ' if fault == "bad line" else rows[nth].replace("{", '{"id": "x", ', 1)
        end = "\n\n \n" if fault == "blank lines" else draw.choice(["\n", "\r\n"])
        path.write_text(end.join(rows) + ("" if fault == "last line open" else end))
    options = {"hashes": False, "missing": draw.choice(["wrong", "skip"])}
    found = outcome(*map(str, paths), **options)
    assert len(many_batches) > 3
    monkeypatch.setattr(batches, "ON", False)
    assert said(outcome(*map(str, paths), **options)) == said(found)


def test_a_small_side_beside_a_large_one(tmp_path, monkeypatch, many_batches):
    """An array of JSON is read as a whole, and met by what is read in batches."""
    gold, pred = texts_with_spans(random.Random(3), "other text")
    (tmp_path / "gold.json").write_text(json.dumps(gold))
    (tmp_path / "pred.jsonl").write_text("\n".join(map(json.dumps, pred)))
    paths = [str(tmp_path / name) for name in ("gold.json", "pred.jsonl")]
    found = outcome(*paths, hashes=False)
    assert len(many_batches) > 3
    assert "texts-differ" in str(found)
    monkeypatch.setattr(batches, "ON", False)
    assert said(outcome(*paths, hashes=False)) == said(found)


INTERRUPTED = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import karat
from karat.batches import rankings
plain = rankings.reduced
def reduced(*args):
    print("begun", flush=True)
    time.sleep(0.05)
    return plain(*args)
rankings.reduced = reduced
try:
    karat.evaluate(*sys.argv[1:3], memory=20_000_000, temp=sys.argv[3])
except KeyboardInterrupt:
    sys.exit(130)
"""


def test_ctrl_c_between_batches_leaves_nothing_behind(tmp_path):
    connection = duckdb.connect()
    for name, value, rows in (("gold", "relevance", 30_000), ("run", "score", 300_000)):
        fields = f"'q' || (i % 300) AS query, 'd' || (i // 300) AS document, CAST(hash(i) % 50 AS DOUBLE) AS {value}"
        connection.execute(f"COPY (SELECT {fields} FROM range({rows}) t(i)) TO '{tmp_path}/{name}.parquet'")
    temp = tmp_path / "temp"
    temp.mkdir()
    files = [str(tmp_path / f"{name}.parquet") for name in ("gold", "run")]
    running = subprocess.Popen([sys.executable, "-c", INTERRUPTED, *files, str(temp)], stdout=subprocess.PIPE)
    try:
        assert running.stdout.readline() == b"begun\n"
        assert any(temp.rglob("*.parquet"))  # a run that does not stand by query was copied
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 130
    finally:
        running.kill()
    assert list(temp.iterdir()) == []
