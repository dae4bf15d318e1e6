"""Files of spans as annotation tools write them, and as they break."""

import json

import pytest
from click.testing import CliRunner

import karat
from karat.cli.main import karat as command
from karat.findings import InputError
from karat.read.documents import labelled

TEXT = "Anna Smith went to Rome"
SPANS = [[0, 10, "PER"], [19, 23, "LOC"]]


@pytest.fixture(autouse=True, params=["fast", "plain"])
def reader(request, monkeypatch):
    """Everything here holds with the fast readers and without them."""
    monkeypatch.setattr("karat.read.fast.ON", request.param == "fast")


def written(path, content):
    lines = content if isinstance(content, str) else "".join(json.dumps(record) + "\n" for record in content)
    path.write_text(lines, encoding="utf-8")
    return str(path)


def scored(tmp_path, gold, pred=None, suffix="jsonl", **options):
    pred = gold if pred is None else pred
    paths = written(tmp_path / f"gold.{suffix}", gold), written(tmp_path / f"pred.{suffix}", pred)
    return karat.evaluate(*paths, metrics=["f1"], **options)


def codes(evaluation):
    return [found.code for found in evaluation.systems[0].findings]


def counted(evaluation):
    data = evaluation.systems[0].cells.data
    return len(data.gold), len(data.pred)


def region(start, end, *labels, kind="labels", places=None):
    value = {"start": start, "end": end, "text": TEXT[start:end], kind: list(labels)}
    return {
        "value": value | (places or {}),
        "id": "r",
        "from_name": "label",
        "to_name": "text",
        "type": kind,
        "origin": "manual",
    }


def task(number, *results, predictions=(), **annotation):
    return {
        "id": number,
        "annotations": [{"id": 9, "result": list(results), "was_cancelled": False, "ground_truth": False} | annotation],
        "predictions": list(predictions),
        "drafts": [],
        "data": {"text": TEXT},
        "meta": {},
    }


def answer(spans=((0, 10, "PER"),), text=TEXT, verdict="accept"):
    marked = [{"start": s, "end": e, "token_start": 0, "token_end": 1, "label": label} for s, e, label in spans]
    return {
        "text": text, "_input_hash": 1, "_task_hash": 2, "tokens": [{"text": "Anna", "start": 0, "end": 4, "id": 0}],
        "spans": marked, "_view_id": "ner_manual", "answer": verdict,
    }  # fmt: skip


DOCCANO = {
    "label": {"id": 1, "text": TEXT, "label": SPANS, "Comments": []},
    "labels": {"id": 1, "text": TEXT, "labels": SPANS},
    "relations": {
        "id": 1,
        "text": TEXT,
        "entities": [{"id": n, "label": x, "start_offset": s, "end_offset": e} for n, (s, e, x) in enumerate(SPANS)],
        "relations": [{"id": 1, "from_id": 0, "to_id": 1, "type": "in"}],
    },
    "annotations": {
        "id": 1,
        "text": TEXT,
        "annotations": [
            {"label": n, "start_offset": s, "end_offset": e, "user": 1} for n, (s, e, _) in enumerate(SPANS)
        ],
        "meta": {},
    },
    "username": {"doc_id": 1, "text": TEXT, "entities": SPANS, "username": "admin"},
}


@pytest.mark.parametrize("record", DOCCANO.values(), ids=DOCCANO)
def test_doccano(tmp_path, record):
    found = scored(tmp_path, [record])
    assert (found.context, counted(found), found["f1"].value) == ("spans", (2, 2), 1.0)


def test_entities_of_a_pipeline(tmp_path):
    record = {"id": 1, "entities": [{"entity_group": "PER", "score": 0.9, "word": "Anna", "start": 0, "end": 4}]}
    assert counted(scored(tmp_path, [record])) == (1, 1)


def test_spans_far_below_are_no_labels(tmp_path):
    """With empty lists in the whole head a file looks like label sets; the spans are then errors, not labels."""
    empty = [{"id": n, "text": "x", "label": []} for n in range(3000)]
    with pytest.raises(InputError, match="a list that holds lists") as raised:
        scored(tmp_path, [*empty, DOCCANO["label"] | {"id": 3000}])
    assert raised.value.findings[0].line == 3001


def test_prodigy(tmp_path):
    """What was rejected or ignored is left out; what has no spans has none."""
    bare = answer()
    del bare["spans"]
    gold = [answer(), answer(verdict="reject"), answer(verdict="ignore"), bare]
    found = scored(tmp_path, gold, [answer()] * 4)
    assert counted(found) == (1, 2)
    assert codes(found) == ["documents-left-out", "pred-only-ids"]


def test_documents_that_are_not_the_same_are_named(tmp_path):
    gold, pred = [answer(), answer((), "none")], [answer((), "none"), answer()]
    found = scored(tmp_path, gold, pred)
    assert codes(found) == ["texts-differ"]
    assert "2 documents have another text in the prediction than in gold (first: 1, 2)" in str(
        found.systems[0].findings[0]
    )


def test_label_studio(tmp_path):
    """Only labelled regions are spans; each label of a region is one."""
    others = [
        {"from_id": "r", "to_id": "r", "type": "relation", "direction": "right"},
        {"value": {"choices": ["good"]}, "id": "c", "type": "choices"},
        {"value": {"start": 0, "end": 4, "text": ["a remark"]}, "id": "r", "type": "textarea"},
    ]
    found = scored(tmp_path, json.dumps([task(1, region(0, 10, "PER", "NAME"), region(19, 23, "LOC"), *others)]))
    assert (counted(found), found["f1"].value) == ((3, 3), 1.0)


def test_label_studio_leaves_out_what_was_cancelled(tmp_path):
    twice = task(1, region(0, 10, "PER"))
    twice["annotations"].insert(0, {"id": 1, "result": [], "was_cancelled": True})
    found = scored(tmp_path, json.dumps([twice, task(2, region(0, 4, "PER"), was_cancelled=True)]))
    assert (counted(found), codes(found)) == ((1, 1), ["documents-left-out"] * 2)  # once a file


def test_label_studio_predictions_never_come_from_annotations(tmp_path):
    """One file as gold and as prediction: a task without a prediction has none, whatever was annotated."""
    guess = {"model_version": "m", "result": [region(0, 10, "PER")]}
    found = scored(
        tmp_path, json.dumps([task(1, region(0, 10, "PER"), predictions=[guess]), task(2, region(0, 4, "PER"))])
    )
    assert counted(found) == (2, 1)
    assert counted(scored(tmp_path, json.dumps([task(1, region(0, 10, "PER"), predictions=[7])]))) == (1, 1)


def test_annotations_by_annotator_are_votes(tmp_path):
    """LeWiDi calls the votes of an item so; only lists of objects are spans."""
    gold = [{"id": 1, "annotations": {"ann1": "yes", "ann2": "no"}}, {"id": 2, "annotations": {"ann1": "no"}}]
    path = tmp_path / "gold.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in gold))
    pred = {"1": {"yes": 0.5, "no": 0.5}, "2": {"yes": 0.5, "no": 0.5}}
    e = karat.evaluate(path, pred, columns={"gold_value": "annotations"}, metrics=["manhattan"])
    assert (e.context, e["manhattan"].value) == ("soft", 0.5)


def test_tags_called_annotations_stand_beside_their_tokens(tmp_path):
    for name, layout in (("gold.json", "[%s]"), ("gold.jsonl", "%s\n")):
        path = tmp_path / name
        path.write_text(layout % '{"id": "a", "annotations": ["O", "B-PER"], "tokens": ["in", "Paris"]}')
        assert karat.evaluate(path, path, metrics=["f1"], allow_same=True).context == "spans"


def test_label_studio_in_html(tmp_path):
    path = "/div[1]/text()[1]"
    place = {"start": path, "end": path, "startOffset": 3, "globalOffsets": {"start": 3, "end": 9}}
    found = scored(tmp_path, json.dumps([task(1, region(3, 9, "PER", kind="hypertextlabels", places=place))]))
    assert (counted(found), codes(found)) == ((1, 1), [])


def test_label_studio_in_short(tmp_path):
    marked = [{"start": 0, "end": 10, "text": "Anna Smith", "labels": ["PER"]}]
    brief = {"text": TEXT, "id": 1, "annotator": 1, "lead_time": 3.2}
    found = scored(tmp_path, json.dumps([brief | {"label": marked}]))
    assert (found.context, counted(found)) == ("spans", (1, 1))
    named = scored(tmp_path, json.dumps([brief | {"ner": marked}]), context="spans", columns={"value": "ner"})
    assert counted(named) == (1, 1)


@pytest.mark.parametrize(
    ("span", "said"),
    [
        ({"start": 0, "end": 4, "label": ["A"]}, "label is a list"),
        ("B-PER", "a list holds spans or tags, not both"),
        (None, "a span is None"),
    ],
)
def test_spans_that_are_none(tmp_path, span, said):
    good = {"id": 1, "spans": [{"start": 0, "end": 4, "label": "A"}]}
    with pytest.raises(InputError, match=said):
        scored(tmp_path, [good, {"id": 2, "spans": [span]}])


def test_texts_of_spans_are_checked_on_the_fast_way(tmp_path):
    span = {"start": 0, "end": 4, "label": "A", "text": "Anna"}
    good = {"id": "1", "text": TEXT, "spans": [span, span | {"start": 5, "end": 10, "text": None}]}
    assert codes(scored(tmp_path, [good])) == []
    wrong = {"id": "1", "text": TEXT, "spans": [span | {"text": "Rome"}]}
    assert "span-text-differs" in codes(scored(tmp_path, [good], [wrong]))


def rows(*lines):
    return "".join(line + "\n" for line in lines)


def test_conll_with_the_tags_in_another_column(tmp_path):
    text = rows("Anna B-PER 0.9", "went O 0.8")
    assert counted(scored(tmp_path, text, suffix="conll", columns={"value": "2"})) == (1, 1)
    with pytest.raises(InputError, match=r"'0\.9' has no meaning") as raised:
        scored(tmp_path, text, suffix="conll")
    assert "--value N" in raised.value.findings[0].hint


def test_conll_lines_without_a_tag_are_named(tmp_path):
    good = rows("Anna B-PER", "went O") * 20
    with pytest.raises(InputError) as raised:
        scored(tmp_path, good, good + "went\n" + good, suffix="conll")
    assert [(found.code, found.line) for found in raised.value.findings] == [("bad-row", 41)]
    with pytest.raises(InputError) as raised:
        scored(tmp_path, good, good + "went Q-PER\n" + good, suffix="conll")
    assert [(found.code, found.line) for found in raised.value.findings] == [("tag-unknown", 41)]


def test_conll_tokens_may_be_a_sign_of_comments(tmp_path):
    found = scored(tmp_path, rows("# id = 1", "# B-TAG", "x O"), rows("# id = 1", "# O", "x O"), suffix="conll")
    assert counted(found) == (1, 0)


def test_iob1_is_not_malformed(tmp_path):
    """In IOB1 a B- only parts neighbours of one label; strict reading would take these tags for IOB2."""
    text = rows("a I-X", "b O", "c I-X", "d B-X")
    for scheme, expected in (("lenient", []), ("IOB1", []), ("strict", ["tag-malformed"] * 4)):
        found = scored(tmp_path, text, suffix="conll", scheme=scheme)
        assert [code for code in codes(found) if code == "tag-malformed"] == expected


def folder(path, **files):
    path.mkdir()
    for name, content in files.items():
        (path / f"{name}.ann").write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("T1\tPER 4 0\tAnna", "span-empty"),
        ("hello world", "span-unreadable"),
        ("T1\tPER 0 99999999999999999999\tAnna", "span-unreadable"),
        (b"T1\tPER 0 4\tAnn\xe9", "file-unreadable"),
    ],
)
def test_brat_lines_that_are_none(tmp_path, line, code):
    gold = folder(tmp_path / "gold", a="T1\tPER 0 4\tAnna\nR1\tIn Arg1:T1 Arg2:T1\n#1\tAnnotatorNotes T1\thm\n")
    result = CliRunner().invoke(command, ["evaluate", gold, folder(tmp_path / "pred", a=line)])
    assert result.exit_code == 2
    assert f"error[{code}]" in result.stderr


@pytest.mark.parametrize("odd", [{"spans": []}, {"id": None, "spans": []}])
def test_a_document_without_an_id_among_others(odd, tmp_path):
    """It was called by its place in the file, and met whatever document stood there in another."""
    records = [{"id": "a", "spans": [{"start": 0, "end": 4, "label": "A"}]}, odd]
    path = tmp_path / "gold.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    for given in (str(path), records):
        found = [(f.code, f.line) for f in karat.validate(given, context="spans") if f.severity == "error"]
        assert found == [("missing-field", 2)]


@pytest.mark.parametrize("size", [80, 81])
def test_a_long_span_that_is_wrong_is_quoted_up_to_80_characters(tmp_path, size):
    rest = '{"start": 0, "end": "x", "label": ""}'
    span = {"start": 0, "end": "x", "label": "L" * (size - len(rest))}
    with pytest.raises(InputError) as error:
        scored(tmp_path, [{"text": TEXT, "spans": [span]}])
    whole = json.dumps(span)
    quoted = whole if size == 80 else whole[:79] + "…"
    assert f"must be whole numbers: {quoted}" in error.value.findings[0].message
    assert ("…" in error.value.findings[0].message) == (size == 81)


@pytest.mark.parametrize("labels", [[], "PER", None])
def test_labels_that_are_no_list_of_some_leave_a_span_as_it_is(labels):
    span = {"start": 0, "end": 4, "labels": labels}
    assert labelled(span) == [span]
    assert labelled(span | {"labels": ["PER", "ORG"]}) == [
        span | {"labels": ["PER", "ORG"], "label": label} for label in ("PER", "ORG")
    ]


def test_spans_that_all_quote_their_text_are_checked(tmp_path):
    quoted = [{"start": 0, "end": 4, "label": "A", "text": "Rome"}]
    plain = [{"start": 0, "end": 4, "label": "A"}]
    gold = [{"id": "1", "text": TEXT, "spans": plain}]
    assert "span-text-differs" in codes(scored(tmp_path, gold, [{"id": "1", "text": TEXT, "spans": quoted}]))
    assert codes(scored(tmp_path, gold)) == []


@pytest.mark.parametrize("blank", ["", "  ", "\t"])
@pytest.mark.parametrize("before", [1, 2_000])
def test_documents_without_a_name_are_errors_as_items_are(tmp_path, blank, before):
    """Two of them met by their order: F1 1/3 for 1, without a word."""
    named = [{"id": f"d{n}", "spans": [{"start": 1, "end": 3, "label": "A"}]} for n in range(before)]
    nameless = [{"id": blank, "spans": [{"start": n, "end": n + 2, "label": "A"}]} for n in (1, 5)]
    with pytest.raises(InputError) as refused:
        scored(tmp_path, named + nameless, named + nameless[::-1])
    lines = [(found.code, found.line) for found in refused.value.findings]
    assert lines == [("empty-value", before + 1), ("empty-value", before + 2)] * 2


ROWS = "id,start,end,label\n1,0,4,PER\n1,6,9,LOC\n2,1,3,PER\n"
ROW_FILES = {
    "csv": ROWS,
    "tsv": ROWS.replace(",", "\t"),
    "jsonl": '{"id": "1", "start": 0, "end": 4, "label": "PER"}\n{"id": "1", "start": 6, "end": 9, "label": "LOC"}\n',
}


@pytest.mark.parametrize("context", [None, "spans"])
@pytest.mark.parametrize("suffix", ROW_FILES)
def test_rows_of_single_spans_are_said_to_be_that(tmp_path, suffix, context):
    """Neither a label for each row, nor tokens, nor documents without spans."""
    with pytest.raises(InputError) as refused:
        scored(tmp_path, ROW_FILES[suffix], suffix=suffix, context=context, allow_same=True)
    assert {found.code for found in refused.value.findings} == {"span-rows"}


def test_starts_beside_labels_of_different_items_are_ignored(tmp_path):
    evaluation = scored(tmp_path, "id,start,end,label\n1,0,4,PER\n2,6,9,LOC\n", suffix="csv", allow_same=True)
    assert evaluation.context == "monolabel"
    assert "extra-fields" in codes(evaluation)
