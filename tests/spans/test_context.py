# SPDX-License-Identifier: Apache-2.0
import doctest
import json
import warnings

import numpy as np
import pytest
from seqeval.metrics import classification_report

import karat
from karat.contexts import catalogue
from karat.findings import InputError
from tests.spans.vectors import DATA, load, random_tags


@pytest.fixture(autouse=True, params=["fast", "plain"])
def reader(request, monkeypatch):
    """Everything here holds with the fast readers and without them."""
    monkeypatch.setattr("karat.read.fast.ON", request.param == "fast")


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def codes(findings):
    return {f.code for f in findings}


@pytest.mark.parametrize("definition", list(catalogue("spans")), ids=lambda d: d.name)
def test_docstring_example(definition):
    examples = doctest.DocTestParser().get_doctest(definition.doc, {"karat": karat}, definition.name, None, None)
    assert examples.examples
    assert len(definition.doc.splitlines()) <= 20
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(examples)
    assert result.failed == 0


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("strict", [False, True])
def test_report_is_seqevals(seed, strict):
    from seqeval.scheme import IOB2

    gold, pred = random_tags(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        choice = {"mode": "strict", "scheme": IOB2} if strict else {}
        expected = classification_report(gold, pred, output_dict=True, zero_division=0, **choice)
    found = karat.evaluate(gold, pred, context="spans", scheme="IOB2" if strict else "lenient")
    rows = {row[0]: row[1:] for row in found.systems[0].detail("report").rows}
    for name, scores in expected.items():
        if not np.isnan(scores["precision"]):
            assert rows[name] == pytest.approx([scores[k] for k in ("precision", "recall", "f1-score", "support")])
    e = found["f1"]
    assert e.value is None or e.value == pytest.approx(expected["micro avg"]["f1-score"])


def test_tags_are_recognised_without_naming_the_context():
    assert karat.evaluate([["O", "B-X"]], [["O", "B-X"]])["f1"].value == 1


def test_greedy_option_is_nervaluates_table():
    v = next(v for v in load("spans") if v["id"] == "span-30")
    sides = [
        [{"id": str(i), "spans": [[s, e, x] for x, s, e in d[k]]} for i, d in enumerate(v["docs"])]
        for k in ("true", "pred")
    ]
    found = karat.evaluate(*sides, matching="greedy", overlap=0.01)
    expected = v["peers"]["nervaluate_1.2.1_end_minus_1_thr1"]["overall"]
    for row in found.systems[0].detail("semeval").rows:
        theirs = expected["ent_type" if row[0] == "type" else row[0]]
        assert row[1:] == pytest.approx(
            [theirs[k] for k in ("correct", "incorrect", "partial", "missed", "spurious", "precision", "recall", "f1")]
        )


@pytest.mark.parametrize(
    "v",
    [v for v in load("page-excerpts") if v["kind"] == "files" and v["output"]["exit_code"] == 0],
    ids=lambda v: v["id"],
)
def test_poetry_files(v, tmp_path):
    """The mean over pages that the script prints, from its own file layout."""
    args = v["input"]["args"]
    paths = [tmp_path / "ref.jsonl", tmp_path / "sys.jsonl"]
    for path, side in zip(paths, ("ref_jsonl", "sys_jsonl"), strict=True):
        path.write_text(v["input"][side], encoding="utf-8")
    weight = float(args[args.index("--partial-match-weight") + 1]) if "--partial-match-weight" in args else 1.0
    ignore = "--ignore-label" in args
    if v["note"].startswith(("duplicate",)) or not 0 <= weight <= 1:
        pytest.skip("karat refuses repeated pages and weights outside 0 to 1")
    choice = f"weight={weight},ignore_label={str(ignore).lower()},merge_gold=false"
    names = [f"excerpt_precision({choice})", f"excerpt_recall({choice})"]
    found = karat.evaluate(*map(str, paths), metrics=names)
    printed = v["output"]["stdout"].split("Overall: ")[1]
    values = [f"{s.value:.4g}" for s in found.systems[0]]
    assert printed.startswith(
        f"{found.systems[0].counts['gold']} Pages | Precision = {values[0]} | Recall = {values[1]}"
    )


def test_luis_file_gives_entities_and_intents(tmp_path):
    example = {
        "Text": "book a flight to Rome",
        "LabeledData": {"Classification": ["Book"], "Entities": [
            {"Name": "Trip", "StartPosition": 5, "EndPosition": 20, "Children": [{"Name": "City", "StartPosition": 17, "EndPosition": 20}]}]},
        "PredictedData": {"Classification": ["Book", "Fly"], "Entities": [
            {"Name": "Trip", "StartPosition": 5, "EndPosition": 20, "Children": [{"Name": "City", "StartPosition": 17, "EndPosition": 19}]}]},
    }  # fmt: skip
    path = tmp_path / "batch.json"
    path.write_text(json.dumps([example]))
    e = karat.evaluate(str(path), str(path), metrics=["entity_f1", "entity_text_f1", "entity_type_f1"], allow_same=True)
    # two entities a side; text 1, type 2
    assert e["entity_f1"].value == pytest.approx((1 + 2) / 4)
    assert (e["entity_text_f1"].value, e["entity_type_f1"].value) == (0.5, 1.0)
    tables = {d.name: d for d in e.systems[0].details}
    assert [row[0] for row in tables["entities"].rows] == ["Trip", "Trip::City", "level 1", "level 2"]
    assert tables["intents"].rows[-1][:4] == ["all (micro)", 1, 2, 1]
    second = example | {side: {"Classification": ["Fly"], "Entities": []} for side in ("LabeledData", "PredictedData")}
    path.write_text(json.dumps([example, second]))
    both = karat.evaluate(str(path), str(path), metrics=["entity_f1"], allow_same=True)
    rows = {d.name: d for d in both.systems[0].details}["intents"].rows
    assert [row[:4] for row in rows] == [["Book", 1, 1, 1], ["Fly", 1, 2, 1], ["all (micro)", 2, 3, 2]]
    assert tables["queries"].rows[0][2] == "Book, Fly"


def test_conll_files_with_lines_in_findings(tmp_path):
    gold, pred = tmp_path / "gold.conll", tmp_path / "pred.conll"
    gold.write_text("Anna B-PER\nSmith I-PER\n\nRome B-LOC\n")
    pred.write_text("Anna B-PER\nSmith I-PER\n\nRome I-LOC\n")
    e = karat.evaluate(str(gold), str(pred))
    assert e["f1"].value == 1
    bad = next(f for f in e.findings if f.code == "tag-malformed")
    assert (bad.file, bad.line) == (str(pred), 4)
    assert karat.evaluate(str(gold), str(pred), scheme="strict")["recall"].value == 0.5
    pred.write_text("Anna B-PER\n\nRome B-LOC\n")
    with pytest.raises(InputError, match="has 2 tags in gold and 1 in the prediction"):
        karat.evaluate(str(gold), str(pred))


def test_brat_spans_in_pieces_are_said_by_document(tmp_path):
    (tmp_path / "one.ann").write_text("T1\tPER 0 4\tAnna\n")
    (tmp_path / "two.ann").write_text("T1\tPER 0 4\tAnna\nT2\tLOC 6 9;12 15\tNew Ork\nT3\tLOC 20 21;23 25\tab c\n")
    found = karat.evaluate(tmp_path, tmp_path, metrics=["f1"], allow_same=True)
    pieces = [f for f in found.systems[0].findings if f.code == "span-discontinuous"]
    assert {(f.file.rpartition("/")[2], f.line) for f in pieces} == {("two.ann", 2)}
    assert "'two' has 2 spans in pieces" in pieces[0].message


def test_brat_folder(tmp_path):
    for side, end in (("gold", 4), ("pred", 3)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "a.ann").write_text(f"T1\tPER 0 {end}\t{'Anna'[:end]}\nR1\tx Arg1:T1 Arg2:T1\n")
        (tmp_path / side / "a.txt").write_text("Anna came")
    e = karat.evaluate(str(tmp_path / "gold"), str(tmp_path / "pred"), metrics=["f1", "muc_f1(reading=type)"])
    assert [s.value for s in e.systems[0]] == [0.0, 1.0]
    single = karat.evaluate(str(tmp_path / "gold" / "a.ann"), str(tmp_path / "pred" / "a.ann"))
    assert single["f1"].value == 0


LAYOUTS = {
    "spans": {"id": "1", "text": "Anna came", "spans": [{"start": 0, "end": 4, "label": "PER"}]},
    "prodigy": {"text": "Anna came", "_input_hash": 7, "spans": [{"start": 0, "end": 4, "label": "PER", "token_start": 0}], "answer": "accept"},
    "doccano": {"id": 1, "text": "Anna came", "label": [[0, 4, "PER"]]},
    "doccano-2": {"id": 1, "text": "Anna came", "entities": [{"id": 9, "label": "PER", "start_offset": 0, "end_offset": 4}], "relations": []},
    "luis-batch": {"text": "Anna came", "intent": "Come", "entities": [{"entity": "PER", "startPos": 0, "endPos": 3}]},
    "label-studio": {"id": 1, "data": {"text": "Anna came"}, "annotations": [
        {"result": [{"value": {"start": 0, "end": 4, "text": "Anna", "labels": ["PER"]}, "from_name": "l", "type": "labels"}]}]},
    "poetry": {"page_id": "1", "n_excerpts": 1, "excerpts": [{"start": 0, "end": 4, "poem_id": "PER"}]},
    "poetry-system": {"page_id": "1", "n_spans": 1, "poem_spans": [{"page_start": 0, "page_end": 4, "ref_id": "PER"}]},
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("array", [False, True])
def test_layouts_read_alike(layout, array, tmp_path):
    path = tmp_path / "file.json"
    path.write_text(json.dumps([LAYOUTS[layout]]) if array else json.dumps(LAYOUTS[layout]) + "\n")
    gold = write(tmp_path / "gold.jsonl", LAYOUTS["spans"])
    assert karat.evaluate(gold, str(path))["f1"].value == 1


def test_inclusive_ends_by_option(tmp_path):
    gold = write(tmp_path / "g.jsonl", {"id": "1", "spans": [{"start": 0, "end": 0, "label": "X"}]})
    with pytest.raises(InputError, match=r"""ends="inclusive"|--ends inclusive"""):
        karat.evaluate(gold, gold, allow_same=True)
    assert karat.evaluate(gold, gold, ends="inclusive", allow_same=True)["f1"].value == 1


def test_checks_come_all_at_once(tmp_path):
    path = write(
        tmp_path / "g.jsonl",
        {
            "id": "1",
            "text": "Anna",
            "spans": [{"start": 0, "end": 4, "label": "A"}, {"start": 0, "end": 4, "label": "A"}],
        },
        {
            "id": "2",
            "text": "Rome",
            "spans": [{"start": 0, "end": 9, "label": "A"}, {"start": 2, "end": 5, "label": "A"}],
        },
        {"id": "3", "text": "Rome", "spans": [{"start": 1, "end": 3, "label": "A", "text": "Ro"}]},
    )
    found = karat.validate(path)
    assert codes(found) >= {"span-repeated", "span-outside", "span-overlaps", "span-text-differs"}
    assert {f.code: f.line for f in found}["span-text-differs"] == 3
    bad = write(
        tmp_path / "b.jsonl",
        {"id": "1", "spans": [{"start": 4, "end": 1, "label": "A"}]},
        {"id": "2", "spans": [{"start": -1, "end": 3, "label": "A"}]},
    )
    assert [(f.code, f.line) for f in karat.validate(bad)][:2] == [("span-empty", 1), ("span-negative", 2)]


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"id": "1", "spans": [{"start": 0, "end": 4}]}, "no label"),
        ({"id": "1", "spans": [{"start": 0.5, "end": 4, "label": "A"}]}, "whole numbers"),
        ({"id": "1", "spans": [7]}, "a span is 7"),
        ({"id": "1", "excerpts": None, "spans": {"a": 1}}, "no list of spans"),
        ({"id": "1", "spans": None}, "spans is null"),
        ({"id": "1", "spans": ["B-A"]}, "spans or tags, not both"),
    ],
)
def test_unreadable_spans(record, said, tmp_path):
    path = write(tmp_path / "g.jsonl", {"id": "0", "spans": [{"start": 0, "end": 4, "label": "A"}]}, record)
    with pytest.raises(InputError, match=said) as error:
        karat.evaluate(path, path, allow_same=True)
    assert error.value.findings[0].line == 2


@pytest.mark.parametrize("kind", ["file", "memory"])
def test_null_in_place_of_all_spans(kind, tmp_path):
    records = {"id": "1", "spans": None}, {"id": "2", "spans": None}
    found = karat.validate(write(tmp_path / "p.jsonl", *records) if kind == "file" else list(records))
    assert [(f.code, f.line, f.message) for f in found] == [("spans-null", line, "spans is null") for line in (1, 2)]


def test_null_spans_beside_a_value_are_no_matter(tmp_path):
    path = write(tmp_path / "g.jsonl", {"id": "1", "value": "a", "spans": None})
    other = write(tmp_path / "p.jsonl", {"id": "1", "value": "a", "spans": None})
    assert karat.evaluate(path, other).context == "monolabel"


@pytest.mark.parametrize("name", ["tags", "ner_tags", "iob"])
def test_records_of_tags(name, tmp_path):
    gold = [["B-PER", "I-PER", "O"], [], ["O", "B-LOC"]]
    pred = [["B-PER", "O", "O"], [], ["O", "B-LOC"]]
    tokens = [["Ann", "Lee", "ran"], [], ["in", "Rome"]]
    paths = [
        write(
            tmp_path / f"{i}.jsonl", *({"id": f"s{n}", "tokens": tokens[n], name: side[n]} for n in (0, 1, 2)[::step])
        )
        for i, (side, step) in enumerate([(gold, 1), (pred, -1)])  # found by id, not by place
    ]
    named = {"columns": {"value": name}} if name == "iob" else {}
    found = karat.evaluate(*paths, context="spans", **named)
    assert found["f1"].value == karat.evaluate(gold, pred)["f1"].value == 0.5


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"id": "2", "tokens": ["a", "b"], "tags": ["O"]}, "tokens: 2, tags: 1"),
        ({"id": "2", "tags": None}, "tags is no list of tags"),
        ({"id": "2", "tags": ["O", 1]}, "tags is no list of tags"),
        ({"id": "2", "tags": ["O", "x"]}, "the tag 'x' has no meaning"),
        (7, "the record is no list of tags"),
    ],
)
def test_unreadable_records_of_tags(record, said, tmp_path):
    path = write(tmp_path / "g.jsonl", {"id": "1", "tags": ["O"]}, record)
    with pytest.raises(InputError, match=said) as error:
        karat.evaluate(path, path, context="spans", allow_same=True)
    assert next(f for f in error.value.findings if f.code != "same-file").line == 2


def test_documents_that_one_side_lacks(tmp_path):
    span = [{"start": 0, "end": 4, "label": "A"}]
    gold = write(tmp_path / "g.jsonl", {"id": "1", "spans": span}, {"id": "2", "spans": span})
    pred = write(tmp_path / "p.jsonl", {"id": "3", "spans": span}, {"id": "1", "spans": span})
    values = {
        (missing, extra): [karat.evaluate(gold, pred, missing=missing, extra=extra)[m].value for m in ("precision", "recall")]
        for missing in ("wrong", "skip") for extra in ("ignore", "wrong")
    }  # fmt: skip
    assert values == {
        ("wrong", "ignore"): [1, 0.5], ("wrong", "wrong"): [0.5, 0.5], ("skip", "ignore"): [1, 1], ("skip", "wrong"): [0.5, 1],
    }  # fmt: skip
    assert codes(karat.evaluate(gold, pred).findings) >= {"gold-only-ids", "pred-only-ids"}
    with pytest.raises(InputError, match="has no prediction"):
        karat.evaluate(gold, pred, missing="error")


def test_children_late_in_a_file_are_not_lost(tmp_path):
    rows = [{"id": str(i), "spans": [{"start": 0, "end": 4, "label": "A"}]} for i in range(3000)]
    rows[-1]["spans"][0]["children"] = [{"start": 0, "end": 2, "label": "B"}]
    path = write(tmp_path / "g.jsonl", *rows)
    e = karat.evaluate(path, path, metrics=["f1"], allow_same=True)
    assert list(e["f1"].by_class) == ["A", "A::B"]


def test_label_free_policies_have_one_class():
    gold, pred = [["B-A", "O", "B-B"]], [["B-B", "O", "B-B"]]
    assert karat.evaluate(gold, pred)["f1"].value == 0.5
    exact = karat.evaluate(gold, pred, match="exact")
    assert exact["f1"].value == 1
    assert list(exact["f1"].by_class) == ["any label"]


def test_threshold_and_iou():
    # gold [0,10), predicted [0,6): 0.6 of gold; IoU 0.6
    gold, pred = [{"id": "p", "spans": [[0, 10, "a"]]}], [{"id": "p", "spans": [[0, 6, "a"]]}]
    assert [karat.evaluate(gold, pred, match="type", overlap=t, overlap_of="iou")["f1"].value for t in (0.6, 0.61)] == [
        1,
        0,
    ]


def test_intervals_resample_documents():
    gold, pred = random_tags(1, sentences=40)
    low, high = (
        getattr(karat.evaluate(gold, pred, context="spans", metrics=["f1"], intervals=0.95)["f1"].interval, k)
        for k in ("low", "high")
    )
    assert 0 <= low < high <= 1


def test_data_files_are_modest():
    assert sum(p.stat().st_size for p in DATA.glob("*.jsonl.gz")) < 2_000_000


def test_a_system_that_marks_insides_and_ends_alone_has_no_malformed_tags(tmp_path):
    """Nothing says that its spans should begin with another tag."""
    gold, pred = tmp_path / "gold.conll", tmp_path / "pred.conll"
    gold.write_text("Anna B-PER\nSmith I-PER\n\nRome B-LOC\n")
    pred.write_text("Anna I-PER\nSmith E-PER\n\nRome E-LOC\n")
    e = karat.evaluate(str(gold), str(pred), scheme="lenient")
    assert "tag-malformed" not in {f.code for f in e.findings if f.file == str(pred)}
