"""What is odd in a file of spans is said alike wherever it stands, however large the file and whatever holds it."""

import json
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pytest

import karat
from karat.findings import InputError

SPAN = {"start": 10, "end": 14, "label": "A"}

ODD = {
    "a fraction": '{"id": "odd", "spans": [{"start": 9.7, "end": 14, "label": "A"}]}',
    "a number with an empty fraction": '{"id": "odd", "spans": [{"start": 10.0, "end": 14, "label": "A"}]}',
    "a number as text": '{"id": "odd", "spans": [{"start": "10", "end": 14, "label": "A"}]}',
    "a power of ten": '{"id": "odd", "spans": [{"start": 1e1, "end": 14, "label": "A"}]}',
    "true": '{"id": "odd", "spans": [{"start": true, "end": 14, "label": "A"}]}',
    "a number beyond 64 bits": '{"id": "odd", "spans": [{"start": 10, "end": 18446744073709551616, "label": "A"}]}',
    "no label": '{"id": "odd", "spans": [{"start": 10, "end": 14}]}',
    "null as label": '{"id": "odd", "spans": [{"start": 10, "end": 14, "label": null}]}',
    "a list as label": '{"id": "odd", "spans": [{"start": 10, "end": 14, "label": ["A"]}]}',
    "an end twice": '{"id": "odd", "spans": [{"start": 10, "end": 14, "end": 15, "label": "A"}]}',
    "spans twice": '{"id": "odd", "spans": [{"start": 10, "end": 14, "label": "A"}], "spans": []}',
    "an end twice, apart": '{"id": "odd", "spans": [{"start": 10, "end" : 14, "end":15, "label": "A"}], "note": "a:b"}',
    "a field of something else twice": '{"id": "odd", "spans": [], "meta": {"a": [{"b": 1, "b": 2}]}}',
    "a comma before a bracket": '{"id": "odd", "spans": [{"start": 10, "end": 14, "label": "A"},]}',
    "a comma before a brace": '{"id": "odd", "spans": [{"start": 10, "end": 14, "label": "A",}]}',
    "children": '{"id": "odd", "spans": [{"start": 10, "end": 14, "label": "A", "Children": [{"start": 10, "end": 12, "label": "B"}]}]}',
    "a text": '{"id": "odd", "text": "ab", "spans": [{"start": 10, "end": 14, "label": "A"}]}',
    "a triple": '{"id": "odd", "spans": [[10, 14, "A"]]}',
    "null": '{"id": "odd", "spans": null}',
    "no spans": '{"id": "odd"}',
    "a tag": '{"id": "odd", "spans": ["B-A"]}',
    "a number": "7",
    "a list as id": '{"id": ["odd"], "spans": []}',
    "a number as label": '{"id": "odd", "spans": [{"start": 10, "end": 14, "label": 1.0}]}',
    "true as id": '{"id": true, "spans": [{"start": 10, "end": 14, "label": "A"}]}',
    "an escaped name": '{"id": "odd", "sp\\u0061ns": [{"start": 10, "end": 14, "label": "A"}]}',
    "a test case": '{"id": "odd", "test_case": "t", "spans": [{"start": 10, "end": 14, "label": "A"}]}',
    "spaces": '{"id" : "odd" , "spans" : [ { "start" : 10 , "end" : 14 , "label" : "A" } ] }',
    "a colon in a text": '{"id": "odd: \\"x\\": y", "spans": [{"start": 10, "end": 14, "label": "A"}]}',
}
GOOD = [json.dumps({"id": f"d{n}", "spans": [SPAN]}) for n in range(3)]
FILLED = [json.dumps({"id": f"d{n}", "spans": [SPAN], "note": "x: " * 2500}) for n in range(2300)]


def written(path, records):
    array = path.suffix == ".json"
    path.write_text("[" + ",\n".join(records) + "]" if array else "".join(r + "\n" for r in records), encoding="utf-8")
    return str(path)


def said(path, first=1):
    """Scores and findings, lines counted from the odd record; what is scored is the file against itself."""
    try:
        found = karat.evaluate(path, path, context="spans", metrics=["f1", "token_f1"], allow_same=True).systems[0]
    except InputError as error:
        return [(f.code, f.line - first, f.message.split(" (column")[0]) for f in error.findings]
    classes = sorted({name for score in found for name in score.by_class or ()})
    notes = [(f.code, None if f.line is None else f.line - first, f.message) for f in found.findings]
    return [score.value for score in found], classes, notes


@pytest.mark.parametrize("layout", ["json", "jsonl"])
@pytest.mark.parametrize("name", ODD)
def test_what_is_odd_is_said_wherever_it_stands(name, layout, tmp_path, monkeypatch):
    odd, path = ODD[name], tmp_path / f"spans.{layout}"
    many = [json.dumps({"id": f"m{n}", "spans": [SPAN]}) for n in range(1200)]
    small = said(written(path, [*GOOD, odd]), 4)
    places = {
        "first": [odd, *GOOD],
        "in the middle": [*GOOD, odd, *many],
        "after 1,000": [*many, odd],
        "last": [*GOOD, odd],
    }
    if name in ("a tag", "a number"):
        del places["first"]  # the first record tells what the file is
    for place, records in places.items():
        written(path, records)
        assert said(path, records.index(odd) + 1) == small, place
    monkeypatch.setattr("karat.read.fast.ON", False)
    assert said(path, 4) == small
    monkeypatch.setattr("karat.read.spans._alike", lambda *_: None)
    assert said(path, 4) == small


SCORED = {"children", "a text", "a triple", "a number as label", "true as id", "an escaped name", "a test case", "spaces", "a colon in a text"}  # fmt: skip
REFUSED = {
    "an end twice": "repeated-key", "an end twice, apart": "repeated-key", "a field of something else twice": "repeated-key", "spans twice": "bad-json",
    "a comma before a bracket": "bad-json", "a comma before a brace": "bad-json", "null": "spans-null", "a list as id": "nested-id",
}  # fmt: skip
"""All others hold a span that cannot be read."""


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("layout", ["json", "jsonl"])
@pytest.mark.parametrize("name", ODD)
def test_what_is_wrong_is_refused_on_its_line(name, layout, fast, tmp_path, monkeypatch):
    monkeypatch.setattr("karat.read.fast.ON", fast)
    found = said(written(tmp_path / f"spans.{layout}", [*GOOD, ODD[name]]), 4)
    if name in SCORED:
        assert found[0] == [1.0, 1.0]  # the file against itself
    else:
        assert {(code, line) for code, line, _ in found} == {(REFUSED.get(name, "span-unreadable"), 0)}


@pytest.mark.parametrize("layout", ["json", "jsonl"])
@pytest.mark.parametrize("name", ["a fraction", "an end twice", "a comma before a bracket", "children", "a text"])
def test_what_is_odd_is_said_above_16_megabytes(name, layout, tmp_path):
    path = tmp_path / f"spans.{layout}"
    small = said(written(path, [*FILLED[:3], ODD[name]]), 4)
    assert path.stat().st_size < 1 << 16
    written(path, [*FILLED, ODD[name]])
    assert path.stat().st_size > 1 << 24
    assert said(path, len(FILLED) + 1) == small


@pytest.mark.parametrize("name", ["a fraction", "a number with an empty fraction", "a number as text", "true", "no label"])  # fmt: skip
def test_data_in_memory_get_the_findings_of_a_file(name, tmp_path):
    odd = json.loads(ODD[name])
    of_file = said(written(tmp_path / "spans.jsonl", [ODD[name]]))
    with pytest.raises(InputError) as error:
        karat.evaluate([odd], [odd], context="spans")
    assert [(f.code, f.line - 1, f.message) for f in error.value.findings] == of_file


def test_spans_in_memory_need_no_context_to_be_refused():
    records = [{"id": "1", "spans": [{"start": 0.0, "end": 4, "label": "A"}]}]
    with pytest.raises(InputError, match="start and end must be whole numbers"):
        karat.evaluate(records, records)


def test_true_is_spelt_as_in_json_everywhere(tmp_path):
    records = [{"id": True, "spans": [SPAN]}, {"id": 1.0, "spans": [{**SPAN, "label": False}]}]
    plain = [{"id": "true", "spans": [SPAN]}, {"id": "1", "spans": [{**SPAN, "label": "false"}]}]
    for suffix in ("json", "jsonl"):
        path = written(tmp_path / f"spans.{suffix}", list(map(json.dumps, records)))
        assert karat.evaluate(plain, path)["f1"].value == 1
    assert karat.evaluate(plain, records)["f1"].value == 1


def test_ids_that_look_alike_are_named():
    gold, pred = ([{"id": id, "spans": [SPAN]} for id in ids] for ids in (["a", "Doc-1"], ["a", "doc-1"]))
    found = karat.evaluate(gold, pred).systems[0].findings
    assert "ids-alike" in {f.code for f in found}


def test_sentences_by_position_must_be_as_many(tmp_path):
    for gold, pred in (([["O"], ["B-X"]], [["O"]]), ([[[0, 4, "A"]], []], [[[0, 4, "A"]]])):
        with pytest.raises(InputError) as error:
            karat.evaluate(gold, pred, context="spans")
        assert [f.code for f in error.value.findings] == ["length-differs"]
    paths = [tmp_path / "gold.conll", tmp_path / "pred.conll"]
    paths[0].write_text("a B-X\n\nb O\n")
    paths[1].write_text("a B-X\n")
    with pytest.raises(InputError, match="gold has 2 items and the prediction 1"):
        karat.evaluate(*map(str, paths))


def test_label_sets_that_look_like_tags_are_label_sets_where_the_context_is_named():
    found = karat.evaluate([["O"], ["B-x"]], [["B-x", "O"], ["O"]], context="multilabel", metrics=["precision"])
    assert found.context == "multilabel"


def test_tags_that_are_none_are_named():
    with pytest.raises(InputError) as error:
        karat.evaluate([["O", "B-X"]] * 150 + [["O", None]], [["O", "B-X"]] * 151)
    assert [(f.code, f.line) for f in error.value.findings] == [("tags-unreadable", 151)]


def test_documents_are_clusters_by_a_column_of_gold(tmp_path):
    records = [{"id": str(n), "author": f"a{n % 3}", "spans": [{**SPAN, "label": "AB"[n % 2]}]} for n in range(60)]
    pred = [{**r, "spans": [SPAN] if n % 3 else []} for n, r in enumerate(records)]
    path = written(tmp_path / "gold.jsonl", list(map(json.dumps, records)))
    plain = karat.evaluate(path, pred, metrics=["f1"], intervals=True)["f1"].interval
    for gold in (path, records):
        clustered = karat.evaluate(gold, pred, metrics=["f1"], intervals=True, cluster_by="author")["f1"].interval
        assert (clustered.low, clustered.high) != (plain.low, plain.high)
    with pytest.raises(InputError, match="no column 'writer'"):
        karat.evaluate(path, pred, cluster_by="writer", intervals=True)


def test_documents_of_conll_are_clusters(tmp_path):
    path = tmp_path / "gold.conll"
    path.write_text("-DOCSTART- O\n\na B-X\n\nb O\n\n-DOCSTART- O\n\nc B-X\n")
    from contextlib import ExitStack

    from karat.read.conll import read_conll
    from karat.read.source import Source
    from karat.read.table import Read

    with ExitStack() as stack:
        side = read_conll(None, Source(path, stack), Read("gold", "gold"))
    assert side.units["cluster"].texts() == ["1", "1", "2"]


@pytest.mark.parametrize("layout", ["json", "jsonl"])
def test_spans_behind_a_long_text_are_spans(layout, tmp_path):
    records = [json.dumps({"id": f"d{n}", "text": "{x}: " * 20_000, "spans": [SPAN]}) for n in range(2)]
    path = written(tmp_path / f"spans.{layout}", records)
    assert karat.evaluate(path, path, allow_same=True).context == "spans"


KEYS = {
    "decimals": (Decimal("1.0"), Decimal("2.50")),
    "moments": (datetime(2024, 1, 1), datetime(2024, 1, 1, 12)),
    "moments in a zone": tuple(datetime(2024, 1, 1, n, tzinfo=timezone(timedelta(hours=2))) for n in (0, 2)),
    "numbers of NumPy": (np.float32(1.0), np.float32(2.5)),
    "floats": (1.0, 1e22),
}


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("field", ["spans", "tags"])
def test_ids_are_spelt_as_in_other_contexts(kind, field):
    """Those of records of spans had rules of their own, by which midnight was no date and Decimal("1.0") not 1."""
    value = {"spans": [SPAN], "tags": ["B-PER", "O"]}[field]
    gold, pred = ([{"id": id, field: value} for id in KEYS[kind]] for _ in range(2))
    labels = dict.fromkeys(KEYS[kind], "A")
    found = karat.evaluate(gold, pred, context="spans", units=True).only
    other = karat.evaluate(labels, dict(labels), units=True).only
    assert sorted(found.cells.unit_ids) == sorted(other.cells.unit_ids)
