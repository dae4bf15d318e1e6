# SPDX-License-Identifier: Apache-2.0
"""Canonical hashes: alike for the same data in any format and order, different for any other data."""

from __future__ import annotations

import json
import random

import duckdb
import pytest

import karat
from karat.provenance import question, signature

ROWS = [(f"T{i % 3}", f"ítem {i}", "AÑB"[i % 3]) for i in range(60)]


def written(folder, name: str, rows) -> str:
    path = folder / name
    if name.endswith(".tsv"):
        path.write_text("test_case\tid\tvalue\n" + "".join("\t".join(r) + "\n" for r in rows), encoding="utf-8")
    elif name.endswith(".csv"):
        path.write_text("value,test_case,id\n" + "".join(f"{v},{t},{i}\n" for t, i, v in rows), encoding="utf-8")
    elif name.endswith(".jsonl"):
        path.write_text("".join(json.dumps({"id": i, "test_case": t, "value": v}) + "\n" for t, i, v in rows))
    elif name.endswith(".parquet"):
        con = duckdb.connect()
        con.execute("CREATE TABLE t (test_case VARCHAR, id VARCHAR, value VARCHAR)")
        con.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
        con.execute(f"COPY t TO '{path}' (FORMAT parquet)")
    else:
        path.write_text(json.dumps([{"test_case": t, "id": i, "value": v} for t, i, v in rows], ensure_ascii=False))
    return str(path)


def hash_of(path: str) -> str:
    return karat.evaluate(path, path, metrics=["accuracy"], allow_same=True).provenance["inputs"][0]["canonical"]


@pytest.mark.parametrize("name", ["b.json", "b.jsonl", "b.csv", "b.parquet", "b.tsv"])
def test_same_data_in_every_format_and_order(tmp_path, name):
    shuffled = random.Random(1).sample(ROWS, len(ROWS))
    assert hash_of(written(tmp_path, name, shuffled)) == hash_of(written(tmp_path, "a.tsv", ROWS))


def test_composed_and_decomposed_letters_are_the_same(tmp_path):
    import unicodedata

    decomposed = [(t, unicodedata.normalize("NFD", i), unicodedata.normalize("NFD", v)) for t, i, v in ROWS]
    assert hash_of(written(tmp_path, "a.tsv", ROWS)) == hash_of(written(tmp_path, "b.json", decomposed))


@pytest.mark.parametrize("column", [0, 1, 2])
def test_any_other_value_changes_it(tmp_path, column):
    changed = list(ROWS)
    row = list(changed[7])
    row[column] += "x"
    changed[7] = tuple(row)
    assert hash_of(written(tmp_path, "a.tsv", ROWS)) != hash_of(written(tmp_path, "b.tsv", changed))


def test_swapped_values_change_it(tmp_path):
    swapped = list(ROWS)
    (t1, i1, v1), (t2, i2, v2) = swapped[0], swapped[1]
    swapped[0], swapped[1] = (t1, i1, v2), (t2, i2, v1)
    assert hash_of(written(tmp_path, "a.tsv", ROWS)) != hash_of(written(tmp_path, "b.tsv", swapped))


def test_weights_do_not_depend_on_the_order_of_keys():
    first = karat.evaluate([{"id": "1", "value": ["A", "B"]}], [{"id": "1", "value": ["A", "B"]}])
    assert first.provenance["inputs"][0]["canonical"]


def test_arrays_are_hashed_when_asked():
    plain = karat.evaluate(["A", "B"], ["A", "A"])
    assert plain.provenance["inputs"][0]["canonical"] is None
    asked = karat.evaluate(["A", "B"], ["A", "A"], hashes=True).provenance["inputs"]
    assert asked[0]["canonical"] != asked[1]["canonical"]
    as_records = karat.evaluate({"1": "A", "2": "B"}, {"1": "A", "2": "A"}).provenance["inputs"]
    assert asked[0]["canonical"] == as_records[0]["canonical"]


def test_signature_says_what_is_not_usual():
    gold, pred = {"1": "A", "2": "B"}, {"1": "A", "2": "A"}
    e = karat.evaluate(
        gold, pred, metrics=["f1(average=micro)", "kappa"], missing="skip", undefined="zero", intervals=0.9, seed=3
    )
    line = signature(e, e["f1(average=micro)"])
    assert line.startswith("f1|avg:micro|missing:skip|undefined:zero|ci:0.9.")
    assert line.split("|")[-2] == "karat:0.1"
    assert signature(e, e["kappa"]).startswith("kappa|missing:skip")
    tree = karat.evaluate(gold, pred, metrics=["icm"], hierarchy={"X": ["A", "B"]})
    assert "|hierarchy:" in signature(tree, tree["icm"])


def test_same_question_has_the_same_mark(tmp_path):
    a, b = written(tmp_path, "a.tsv", ROWS), written(tmp_path, "a.json", ROWS)
    asked = [karat.evaluate(p, p, names=["s"], metrics=["f1"], allow_same=True) for p in (a, b)]
    assert question(asked[0]) == question(asked[1])
    assert question(asked[0]) != question(karat.evaluate(a, a, names=["s"], metrics=["kappa"], allow_same=True))


def hashes(gold, pred, **options) -> list[str]:
    return [i["canonical"] for i in karat.evaluate(gold, pred, hashes=True, **options).provenance["inputs"]]


def test_rankings_in_every_form(tmp_path):
    graded = {"q1": {"a": 2, "b": 0}, "q2": {"c": 1}}
    scored = {"q1": {"b": 0.75, "a": 0.5}, "q2": {"c": 3.0}}
    (tmp_path / "qrels").write_text("q2 0 c 1\nq1 0 a 2\nq1 0 b 0\n")
    (tmp_path / "run").write_text("q1 Q0 b 1 0.75 x\nq1 Q0 a 2 0.5 x\nq2 Q0 c 1 3 x\n")
    flat = [[{"query": q, "id": d, k: v} for q, row in s.items() for d, v in row.items()] for s, k in ((graded, "grade"), (scored, "score"))]  # fmt: skip
    want = hashes(graded, scored, context="ranking")
    assert hashes(str(tmp_path / "qrels"), str(tmp_path / "run")) == want
    assert hashes(*flat, context="ranking") == want
    (tmp_path / "run").write_text("q1 Q0 b 1 0.5 x\nq1 Q0 a 2 0.75 x\nq2 Q0 c 1 3 x\n")
    assert hashes(str(tmp_path / "qrels"), str(tmp_path / "run"))[1] != want[1]
    (tmp_path / "qrels").write_text("q2 0 c 1\nq1 0 a 2\nq1 0 b 1\n")
    assert hashes(str(tmp_path / "qrels"), str(tmp_path / "run"))[0] != want[0]


def test_ranks_that_contradict_the_scores_count(tmp_path):
    (tmp_path / "qrels").write_text("q 0 a 1\nq 0 b 0\n")
    found = set()
    for ranks in ((1, 2), (2, 1)):
        (tmp_path / "run").write_text(f"q Q0 a {ranks[0]} 9 x\nq Q0 b {ranks[1]} 8 x\n")
        found.add(hashes(str(tmp_path / "qrels"), str(tmp_path / "run"))[1])
    assert len(found) == 2


def test_spans_and_tags(tmp_path):
    person, place = {"start": 0, "end": 3, "label": "PER"}, {"start": 4, "end": 6, "label": "LOC"}
    first, second = {"id": "1", "text": "Ann in", "spans": [person, place]}, {"id": "2", "text": "Bob", "spans": []}
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(r) + "\n" for r in (second, first)))
    want, other = hashes([first, second], [first | {"spans": [place, person]}, second], context="spans")
    assert want == other
    assert hashes(str(tmp_path / "a.jsonl"), [first, second], context="spans")[0] == want
    for changed in ([person], [person, place | {"label": "ORG"}], [person, place | {"end": 5}]):
        assert hashes([first, second], [first | {"spans": changed}, second], context="spans")[1] != want
    assert hashes([first, second], [first], context="spans")[1] != want
    tags = [["B-PER", "O"], ["O", "B-LOC"]]
    assert len(set(hashes(tags, [["B-PER", "O"], ["B-LOC", "O"]]))) == 2


LONG = {
    "multilabel": ("id\tvalue\n", lambda r: [(r["id"], label) for label in r["value"]]),
    "weights": ("id\tlabel\tscore\n", lambda r: [(r["id"], label, w) for label, w in r["value"].items()]),
    "votes": ("item\tannotator\tlabel\n", lambda r: [(r["id"], who, label) for who, label in r["value"].items()]),
}


@pytest.mark.parametrize("kind", LONG)
@pytest.mark.parametrize("seed", [1, 2])
def test_long_tables_have_the_hash_of_their_records(tmp_path, kind, seed):
    """A row for each label or vote, in any order, says what JSON says with a record for each item."""
    made = {
        "multilabel": lambda i: ["ÀBCD"[k] for k in range(4) if (i >> k) & 1 or k == i % 4],
        "weights": lambda i: {"A": i / 40, "B": 1 - i / 40},
        "votes": lambda i: {f"ann{k}": "AB"[(i + k) % 3 == 0] for k in range(3)},
    }[kind]
    records = [{"id": f"u{i}", "value": made(i)} for i in range(40)]
    (tmp_path / "gold.json").write_text(json.dumps(records), encoding="utf-8")
    head, rows = LONG[kind]
    lines = ["\t".join(map(str, row)) + "\n" for record in records for row in rows(record)]
    random.Random(seed).shuffle(lines)
    (tmp_path / "gold.tsv").write_text(head + "".join(lines), encoding="utf-8")
    context = "multilabel" if kind == "multilabel" else "soft"
    found = [
        karat.evaluate(str(tmp_path / name), str(tmp_path / "gold.json"), context=context, hashes=True, allow_same=True)
        for name in ("gold.json", "gold.tsv")
    ]
    assert len({e.provenance["inputs"][0]["canonical"] for e in found}) == 1
