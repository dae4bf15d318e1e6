"""Weights and votes in every shape, and what is said of broken ones: the code and the line."""

import json

import pandas as pd
import polars as pl
import pytest

import karat

WEIGHTS = {"1": {"A": 0.75, "B": 0.25}, "2": {"A": 0.25, "B": 0.75}, "3": {"A": 1.0}}
VOTES = {"1": {"ann1": "A", "ann2": "A", "ann3": "B"}, "2": {"ann1": "B", "ann2": "B"}, "3": {"ann3": "A"}}
PRED = {"1": {"A": 0.5, "B": 0.5}, "2": {"A": 0.0, "B": 1.0}, "3": {"A": 0.5, "B": 0.5}}
NAMES = ["mae", "kl", "accuracy", "perspectivist_accuracy", "krippendorff_alpha"]


def records(values):
    return [{"id": i, "value": value} for i, value in values.items()]


def long(values, inner, outer):
    return [{"item": i, inner: name, outer: x} for i, value in values.items() for name, x in value.items()]


def shapes(values, path, inner, outer):
    """The same values as objects, frames and files."""
    rows, flat = records(values), long(values, inner, outer)
    yield rows
    yield pd.DataFrame(rows)
    yield pl.DataFrame(rows)
    yield pd.DataFrame(flat)
    pl.DataFrame(rows).write_parquet(path / "struct.parquet")
    pl.DataFrame(flat).write_parquet(path / "long.parquet")
    pl.DataFrame(flat).write_csv(path / "long.csv")
    pl.DataFrame(flat).write_csv(path / "long.tsv", separator="\t")
    (path / "a.json").write_text(json.dumps(rows))
    (path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    yield from sorted(map(str, path.iterdir()))


def scores(gold):
    return [s.value for s in karat.evaluate(gold, PRED, metrics=NAMES).systems[0]]


@pytest.mark.parametrize(
    ("values", "inner", "outer"),
    [(WEIGHTS, "label", "weight"), (VOTES, "annotator", "label")],
    ids=["weights", "votes"],
)
def test_every_shape_gives_the_same(values, inner, outer, tmp_path):
    expected = scores(values)
    for shape in shapes(values, tmp_path, inner, outer):
        assert scores(shape) == pytest.approx(expected), shape


BROKEN = {
    "name twice": ('{"id":"1","value":{"A":1}}\n{"id":"2","value":{"A":0.5,"A":0.5}}', [("repeated-key", 2)]),
    "annotator twice": ('{"id":"1","value":{"a":"A","b":"B"}}\n{"id":"2","value":{"a":"A","a":"B"}}', [("repeated-key", 2)]),
    "blank vote": ('{"id":"1","value":{"a":"A","b":"B"}}\n{"id":"2","value":{"a":" "}}', [("empty-value", 2)]),
    "in quotes": ('{"id":"1","value":{"A":"0.5","B":"0.5"}}', [("weight-not-number", 1)] * 2),
    "other kind": ('{"id":"1","value":{"A":1}}\n{"id":"2","value":{"B":1}}\n{"id":"3","value":"A"}', [("wrong-type", 3)]),
    "no numbers": ("id,label,score\n1,A,0.5\n1,B,x\n2,A,", [("not-a-number", 3), ("missing-field", 4)]),
}  # fmt: skip


@pytest.mark.parametrize("text", BROKEN)
def test_broken_files_stop_with_code_and_line(text, tmp_path):
    content, expected = BROKEN[text]
    path = tmp_path / ("pred.csv" if content.startswith("id,") else "pred.jsonl")
    path.write_text(content)
    with pytest.raises(karat.InputError) as stopped:
        karat.evaluate(WEIGHTS, path, metrics=["mae"])
    assert [(f.code, f.line) for f in stopped.value.findings if f.severity == "error"] == expected


def test_names_that_are_spelt_alike_are_one_name_twice():
    """1 and "1" are two keys of a dict, and one label."""
    pred = [{"A": 1.0}, {1: 0.5, "1": 0.5}, {1: 0.3, "1": 0.3, 1.5: 0.4}]
    with pytest.raises(karat.InputError) as stopped:
        karat.evaluate([{"A": 1.0}] * 3, pred, context="soft", metrics=["mae"])
    errors = [(f.code, f.line) for f in stopped.value.findings if f.severity == "error"]
    assert errors == [("repeated-key", 2), ("repeated-key", 3)]


def test_weights_in_quotes_are_said_of_gold_too():
    quoted = {i: {label: str(w) for label, w in value.items()} for i, value in WEIGHTS.items()}
    with pytest.raises(karat.InputError, match="not a number"):
        karat.evaluate(quoted, WEIGHTS, metrics=["mae"])


def test_items_without_votes_are_said():
    e = karat.evaluate({**VOTES, "4": {}}, PRED, metrics=["mae"])
    assert ("weights-empty", 4) in {(f.code, f.line) for f in e.findings}


def test_a_second_vote_or_score_in_a_long_table():
    votes = [("1", "a", "A"), ("1", "a", "B"), ("1", "b", "A")]
    gold = [dict(zip(("item", "annotator", "label"), row, strict=True)) for row in votes]
    e = karat.evaluate(gold, {"1": {"A": 1.0}}, metrics=["mae"])
    assert e["mae"].value == 0
    assert ("repeated-vote", 2) in {(f.code, f.line) for f in e.findings}
    rows = [("1", "B", 0.2), ("1", "A", 0.5), ("1", "B", 0.9)]
    pred = [dict(zip(("id", "label", "score"), row, strict=True)) for row in rows]
    assert karat.evaluate([["B"]], pred, context="multilabel", metrics=["hit@1"])["hit"].value == 1


def test_an_object_that_does_not_end_is_no_label(tmp_path):
    path = tmp_path / "weights.csv"
    path.write_text('id,value\n1,A\n2,"{""A"": 1"\n')
    with pytest.raises(karat.InputError) as error:
        karat.evaluate({"1": "A", "2": "B"}, str(path), context="soft")
    assert [(f.code, f.line) for f in error.value.findings] == [("bad-json", 3)]


@pytest.mark.parametrize("ending", ["json", "jsonl"])
@pytest.mark.parametrize("name", ['say "A"', "back\\slash", "tab\there", "line\nend"])
def test_names_may_be_such_as_json_writes_with_a_backslash(name, ending, tmp_path):
    def scored(label):
        paths = [tmp_path / f"{side}.{ending}" for side in ("gold", "pred")]
        for path, values in zip(paths, (WEIGHTS, PRED), strict=True):
            rows = [
                {"id": i, "about " + name: 1, "value": {label if k == "A" else k: w for k, w in v.items()}}
                for i, v in values.items()
            ]
            path.write_text(json.dumps(rows) if ending == "json" else "\n".join(map(json.dumps, rows)))
        return karat.evaluate(*paths, metrics=["mae", "kl"], context="soft")

    odd, plain = scored(name), scored("A")
    assert [odd[m].value for m in ("mae", "kl")] == [plain[m].value for m in ("mae", "kl")]
