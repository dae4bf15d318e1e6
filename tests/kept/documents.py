# SPDX-License-Identifier: Apache-2.0
"""Inputs of documents: spans under the names of many tools, tags, page streams, judgements and runs."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from typing import Any

from tests.kept.inputs import ROLES, Inputs, array, everywhere, lines, rows
from tests.kept.reading import FOLDER, Input

TEXT = "Anna met Bob in Rome"
PLACES = ("start", "page_start", "start_offset", "startPos", "StartPosition", "startCharIndex", "begin", "ppa_span_start", "first")  # fmt: skip
ENDS = ("end", "page_end", "end_offset", "endPos", "EndPosition", "endCharIndex", "ppa_span_end", "last")
LABELS = ("label", "poem_id", "ref_id", "entity", "Name", "type", "tag", "entity_type", "entity_group", "name", "category", "class")  # fmt: skip
LISTS = ("spans", "entities", "excerpts", "poem_spans", "Entities", "ents", "labels", "label", "value", "annotations", "tags", "ner_tags", "other")  # fmt: skip
SPAN = {"start": 0, "end": 4, "label": "PER"}
OTHER = {"start": 9, "end": 12, "label": "LOC"}


def _document(**fields: Any) -> dict[str, Any]:
    return {"id": "d1", "text": TEXT, "spans": [SPAN], **fields}


DOCUMENTS: dict[str, list[Any]] = {
    "plain": [_document(), _document(id="d2", spans=[OTHER, SPAN]), _document(id="d3", spans=[])], "no text": [{"id": "d1", "spans": [SPAN]}, {"id": "d2", "spans": [OTHER]}], "empty first": [{"id": "d1", "spans": []}, {"id": "d2", "spans": [SPAN]}], "all empty": [{"id": "d1", "spans": []}, {"id": "d2", "spans": []}], "no ids": [{"spans": [SPAN]}, {"spans": [OTHER]}], "some ids": [{"spans": [SPAN], "id": "x"}, {"spans": [OTHER]}, {"id": None, "spans": []}], "ids of numbers": [{"id": 1, "spans": [SPAN]}, {"id": 2.0, "spans": []}, {"id": 2.5, "spans": []}, {"id": True, "spans": []}], "ids of lists": [{"id": ["a"], "spans": [SPAN]}, {"id": {"b": 1}, "spans": []}, {"id": "c", "spans": []}],
    "cases": [{"id": "a", "test_case": "t", "spans": [SPAN]}, {"id": "a", "test_case": "u", "spans": []}, {"id": "b", "spans": []}, {"id": "c", "test_case": 7, "spans": []}], "cases of lists": [{"id": "a", "test_case": ["t"], "spans": [SPAN]}], "null": [{"id": "a", "spans": None}, {"id": "b", "spans": [SPAN]}], "null alone": [{"id": "a", "spans": None}], "null beside a value": [{"id": "a", "spans": None, "value": "A"}], "lacking": [{"id": "a", "spans": [SPAN]}, {"id": "b"}, {"id": "c", "other": 1}], "empty record": [{}, {"spans": [SPAN]}], "no records": [7, {"spans": [SPAN]}, "x", None], "counts": [{"id": "a", "n_spans": 1, "spans": [SPAN]}, {"id": "b", "n_spans": 2, "spans": [SPAN]}, {"id": "c", "n_spans": None, "spans": []}], "right counts": [{"id": "a", "n_excerpts": 1, "excerpts": [SPAN]}, {"id": "b", "n_excerpts": 0, "excerpts": []}], "many wrong counts": [{"id": str(n), "n_spans": 3, "spans": [SPAN]} for n in range(25)],
    "classes": [_document(intent="ask"), _document(id="d2", intent=["a", 2]), _document(id="d3", intent=None)], "clusters": [_document(doc_group="g1"), _document(id="d2", doc_group=None), _document(id="d3", doc_group=3)], "triples": [{"id": "a", "spans": [[0, 4, "PER"], [5, 8, "X", 9]]}, {"id": "b", "spans": [[0, 4]]}], "good triples": [{"id": "a", "spans": [[0, 4, "PER"], [5, 8, "X", 9]]}, {"id": "b", "spans": []}], "spacy 2": [[TEXT, {"entities": [[0, 4, "PER"]]}], [TEXT, {"entities": []}]], "spacy 2 broken": [[TEXT, ["x"]], [TEXT, {"entities": [[0, 4, "PER"]]}], [TEXT]], "children": [{"id": "a", "spans": [{**SPAN, "children": [{"start": 1, "end": 2, "label": "X"}, {"start": 2, "end": 3, "label": "Y", "children": [{"start": 2, "end": 3, "label": "Z"}]}]}, OTHER]}, {"id": "b", "spans": [{**OTHER, "Children": None}]}], "a child": [{"id": "a", "spans": [{**SPAN, "children": {"start": 1, "end": 2, "label": "X"}}]}], "children of one": [{"id": "a", "spans": [SPAN]}, {"id": "b", "spans": [OTHER, {**SPAN, "children": [{"start": 1, "end": 2, "label": "X"}]}]}], "no children": [{"id": "a", "spans": [{**SPAN, "children": []}]}], "several labels": [{"id": "a", "spans": [{"start": 0, "end": 4, "labels": ["A", "B"]}, {"start": 0, "end": 4, "labels": []}]}], "labelled": [{"id": "a", "spans": [{"start": 0, "end": 4, "labels": ["A", "B"]}, SPAN]}], "quotes": [{"id": "a", "text": TEXT, "spans": [{**SPAN, "text": "Anna"}, {**OTHER, "text": None}]}], "quotes without text": [{"id": "a", "spans": [{**SPAN, "text": "Anna"}]}], "text is no text": [{"id": "a", "text": 7, "spans": [SPAN]}, {"id": "b", "text": None, "spans": []}, {"id": "c", "text": ["x"], "spans": []}],
    "labels of numbers": [{"id": "a", "spans": [{**SPAN, "label": 1}, {**SPAN, "label": 1.0}, {**SPAN, "label": True}, {**SPAN, "label": "1"}]}], "labels of null": [{"id": "a", "spans": [{**SPAN, "label": None}, SPAN]}], "labels of lists": [{"id": "a", "spans": [{**SPAN, "label": ["A"]}, {**SPAN, "label": {"a": 1}}]}], "no places": [{"id": "a", "spans": [{"start": 0, "label": "A"}, {"end": 1}, {}, {"start": 0, "end": 1}]}], "places of texts": [{"id": "a", "spans": [{**SPAN, "start": "0"}, {**SPAN, "end": 1.0}, {**SPAN, "end": None}, {**SPAN, "start": True}]}], "large places": [{"id": "a", "spans": [{**SPAN, "end": 2**63 - 1}]}], "larger places": [{"id": "a", "spans": [{**SPAN, "end": 2**63}]}, {"id": "b", "spans": [{**SPAN, "start": -(2**63)}]}], "negative places": [{"id": "a", "spans": [{**SPAN, "start": -1}]}], "reversed": [{"id": "a", "spans": [{"start": 9, "end": 3, "label": "A"}]}], "text spans": [{"id": "a", "spans": ["PER", SPAN]}, {"id": "b", "spans": [SPAN, "PER", 7, None]}], "many bad": [{"id": str(n), "spans": [{"start": "x", "end": 1, "label": "A"}]} for n in range(30)], "long span": [{"id": "a", "spans": [{"start": "x" * 100, "end": 1, "label": "A"}]}], "brief span": [{"id": "a", "spans": [{"start": "x" * 42, "end": 1, "label": "A"}, {"start": "x" * 43, "end": 1, "label": "A"}]}], "spans as text": [{"id": "a", "spans": "x"}, {"id": "b", "spans": 7}, {"id": "c", "spans": {}}], "fields differ": [_document(), {"id": "d2", "entities": [{"begin": 1, "end_offset": 3, "type": "X"}]}], "excerpts": [{"page_id": "p1", "excerpts": [{"page_start": 1, "page_end": 2, "poem_id": "q"}]}, {"page_id": "p2", "excerpts": []}], "inclusive": [{"id": "a", "text": TEXT, "entities": [{"startPos": 0, "endPos": 3, "entity": "PER"}]}, {"id": "b", "entities": []}],
    "tags": [{"id": "a", "tokens": ["x", "y"], "tags": ["B-A", "O"]}, {"id": "b", "tokens": [], "tags": []}, {"id": "c", "tokens": ["x"], "tags": ["I-A"]}], "ner tags": [{"tokens": ["x", "y"], "ner_tags": ["B-A", "O"]}], "ner numbers": [{"tokens": ["x", "y"], "ner_tags": [3, 0]}], "tags and tokens differ": [{"tokens": ["x", "y"], "tags": ["B-A", "O"]}, {"tokens": ["x"], "tags": ["B-A", "O"]}], "tags of numbers": [{"tokens": ["x"], "tags": ["O"]}, {"tokens": ["x"], "tags": [1]}, {"tokens": ["x"], "tags": ["O", 1]}], "tags null": [{"tokens": ["x"], "tags": ["O"]}, {"tokens": ["x"], "tags": None}, {"tokens": ["x"]}], "tags without tokens": [{"id": "a", "tags": ["B-A", "O"]}], "tokens of numbers": [{"tokens": ["x", 1], "tags": ["B-A", "O"]}], "tokens some": [{"tokens": ["x"], "tags": ["B-A"]}, {"tags": ["O"]}], "no tags first": [{"tokens": [], "tags": []}, {"tokens": ["x"], "tags": ["B-A"]}], "tags then record": [{"tokens": ["x"], "tags": ["B-A"]}, 7],
    "luis": [{"Text": TEXT, "LabeledData": {"Entities": [{"StartPosition": 0, "EndPosition": 3, "Name": "PER"}], "Classification": "ask"}, "PredictedData": {"Entities": [], "Classification": "tell"}}, {"Text": "x", "LabeledData": None, "PredictedData": {"Entities": [{"StartPosition": 0, "EndPosition": 0, "Name": "X", "Children": []}]}}], "prodigy": [{"text": TEXT, "_task_hash": 1, "spans": [SPAN], "answer": "accept"}, {"text": TEXT, "_task_hash": 2, "answer": "reject"}, {"text": TEXT, "_task_hash": 3, "answer": "ignore", "spans": []}, {"text": TEXT, "_task_hash": 4, "answer": "accept"}, {"text": TEXT, "_task_hash": 5, "spans": None}], "prodigy all left out": [{"text": TEXT, "_task_hash": 2, "answer": "reject", "spans": []}],
    "tasks": [{"id": 1, "data": {"text": TEXT, "n": 1}, "annotations": [{"was_cancelled": True, "result": []}, {"result": [{"value": {"start": 0, "end": 4, "labels": ["PER"]}}, {"value": {"choices": ["x"]}}, {"value": 7}, 7]}], "predictions": [{"result": [{"value": {"start": 9, "end": 12, "labels": ["LOC", "X"]}}]}]}, {"id": 2, "data": {"text": "x"}, "annotations": [{"was_cancelled": True}], "predictions": []}, {"data": 7, "annotations": "x", "predictions": [{"result": 7}]}], "tasks without annotations": [{"id": 1, "data": {"text": TEXT}, "annotations": [], "predictions": [{"result": [{"value": {"start": 0, "end": 4, "labels": ["PER"]}}]}]}], "tasks without predictions": [{"id": 1, "data": {"text": TEXT}, "annotations": [{"result": [{"value": {"start": 0, "end": 4, "hypertextlabels": ["PER"], "globalOffsets": {"start": 2, "end": 6}}}]}], "predictions": []}], "tasks of html": [{"data": {"text": TEXT}, "annotations": [{"result": [{"value": {"start": "/p", "end": "/p", "hypertextlabels": ["PER"], "globalOffsets": {"start": 2, "end": 6}}}]}]}],
}  # fmt: skip


def documents(layout: str) -> Inputs:
    write = {"json": array, "jsonl": lines}.get(layout)
    for name, records in DOCUMENTS.items():
        given = records if write is None else write(records)
        input = Input(given, "input" if write is None else f"input.{layout}")
        for role, context in product(ROLES, (None, "spans", "monolabel")):
            yield f"{name} {role} {context}", replace(input, role=role, context=context)
        for columns in ({"cluster": "doc_group"}, {"cluster": "nowhere"}, {"id": "text"}, {"value": "entities"}, {"id": "nowhere"}):  # fmt: skip
            yield f"{name} {columns}", replace(input, columns=columns, context="spans")
        yield f"{name} {layout} of pred", replace(input, columns={"cluster": "doc_group"}, role="pred", context="spans")
        yield f"{name} as spans", replace(input, format=None if write is None else "spans")


def span_names(layout: str) -> Inputs:
    write = {"json": array, "jsonl": lines}[layout]
    for start, end, label in [
        *((s, "end", "label") for s in PLACES[1:]),
        *(("start", e, "label") for e in ENDS[1:]),
        *(("start", "end", name) for name in LABELS),
    ]:
        records = [{"id": "a", "spans": [{start: 0, end: 4, label: "A"}]}, {"id": "b", "spans": [{start: 5, end: 15, label: "B"}]}]  # fmt: skip
        yield f"{start} {end} {label}", Input(write(records), context="spans")
        yield f"{start} {end} {label} with more", Input(write([{**records[0], "more": 1}, records[1]]))
    for name, other in product(LISTS, (None, "text", "value", "labels")):
        more = {} if other is None else {other: "x"}
        yield f"list {name} beside {other}", Input(write([{"id": "a", name: [SPAN], **more}]))
        yield f"no list {name} beside {other}", Input(write([{"id": "a", name: [], **more}]))
        yield f"null {name} beside {other}", Input(write([{"id": "a", name: None, **more}]))
        yield f"texts {name} beside {other}", Input(write([{"id": "a", name: ["O", "B-A"], "tokens": ["x", "y"], **more}]))  # fmt: skip


def uniform_lines() -> Inputs:
    """Lines as one program writes them, and what breaks the rule."""
    good = [{"id": f"p{n}", "n_spans": n % 3, "spans": [{"start": 10 * k, "end": 10 * k + n, "label": f"L{k}"} for k in range(n % 3)]} for n in range(9)]  # fmt: skip
    wide = [{"id": "p" * (1 + 7 * n), "spans": [{"start": 10**n - 1, "end": 10**n, "label": "L" * (1 + 5 * n)}]} for n in range(8)]  # fmt: skip
    inner = [{"spans": [{"label": f"l{k % 3}", "end": 90 + k, "start": k} for k in range(n)], "id": f"é{n}", "note": "x" * n} for n in range(6)]  # fmt: skip
    sets = {"good": good, "wide": wide, "list first": inner}
    for (name, records), (spacing, separators) in product(sets.items(), {"spaced": (", ", ": "), "tight": (",", ":"), "odd": (",", ": ")}.items()):  # fmt: skip
        text = [json.dumps(record, separators=separators, ensure_ascii=False) for record in records]
        yield f"{name} {spacing}", Input("\n".join(text) + "\n")
        yield f"{name} {spacing} without an end", Input("\n".join(text))
        yield f"{name} {spacing} crlf", Input("\r\n".join(text))
        yield f"{name} {spacing} pred", Input("\n".join(text), role="pred")
        yield f"{name} {spacing} blank line", Input("\n".join([*text[:3], "", *text[3:]]))
        for at, old, new in [
            (1, '"end"', '"End"'), (2, '"id"', '"di"'), (2, "{", " {"), (3, '"start"', '"start" '), (4, "}]", "} ]"), (4, "}]", "}],"), (5, "1", "01"), (5, "1", "-1"), (5, "1", "1.0"), (5, "1", '"1"'), (5, "p", '\\"'), (5, "L1", "L\\u0031"), (1, "L0", "L0\x01"), (1, "L0", "é" * 3), (4, "[", "[ "), (4, ":", " :"), (8, "L0", "L" * 300), (8, "1", "123456789"), (8, "8", "12345678"), (2, "]", "], "), (7, "n_spans", "n_spams"), (7, "}", '}, {"start": 1}'), (0, "}", "}}"), (8, "{", ""), (5, "p", "\udcff"), (4, "1", "2"), (4, "1", "0"),
        ]:  # fmt: skip
            if at < len(text):
                changed = [*text[:at], text[at].replace(old, new, 1), *text[at + 1 :]]
                yield f"{name} {spacing} {at} {old} {new[:20]}", Input("\n".join(changed) + "\n")
                last = [*text[:at], text[at].replace(old, new), *text[at + 1 :]]
                yield f"{name} {spacing} {at} every {old} {new[:20]}", Input("\n".join(last) + "\n")


# ---- tags by columns

CONLL = {
    "two": "Anna B-PER\nmet O\n\nBob B-PER\n", "no blank": "Anna B-PER\nmet O\n", "many blanks": "\n\nAnna B-PER\n\n\n\nmet O\n\n", "crlf": "Anna B-PER\r\nmet O\r\n\r\nBob O\r\n", "tabs": "Anna\tB-PER\nmet\tO\n", "three": "Anna NN B-PER\nmet VB O\n", "four": "Anna NN x B-PER\nmet VB y O\n", "two of tags": "Anna B-PER B-PER\nmet O O\n", "two of other tags": "Anna B-PER B-X\nmet O O\n", "two of tags in the middle": "Anna O B-PER\nmet O O\nx B-PER O\n", "one has labels": "Anna O B-PER\nmet O O\n", "other has labels": "Anna B-PER O\nmet O O\n", "chunks": "Anna B-NP B-PER\nmet O O\nx B-VP I-PER\n", "half of labels": "a B-A B-A\nb B-B B-C\nc B-D B-E\nd O O\n", "more labels": "a B-A B-A\nb B-B B-C\nc B-D B-E\nd B-F B-G\n",
    "short line": "Anna B-PER\nmet\n\nBob O\n", "many short": "Anna B-PER\n" + "met\n" * 25, "short alone": "Anna\nmet\n", "comments": "# sent_id = 1\nAnna B-PER\nmet O\n\n# text\nBob O\n", "hash": "# O\nAnna B-PER\n#\tO\n", "hash of three": "a b O\n# b O\n# O\n", "hash tag": "#a O\nb B-X\n", "documents": "-DOCSTART- O\n\nAnna B-PER\nmet O\n\nBob O\n-DOCSTART- -X- O\nx O\n\ny B-X\n", "document last": "Anna B-PER\n-DOCSTART-\n", "two documents": "-DOCSTART-\n\n-DOCSTART-\n\nAnna B-PER\n\nx O\n", "nine of ten": "a O\n" * 9 + "b x\n", "eight of nine": "a O\n" * 8 + "b x\n", "18 of 20": "a O\n" * 18 + "b x\n" * 2, "17 of 20": "a O\n" * 17 + "b x\n" * 3, "first column": "B-X a\nO b\nO c\n", "middle": "a O x\nb B-P y\nc O z\n", "middle without O": "a B-12 x\nb B-13 y\n", "ragged": "a x O\nb O\nc y z O\n", "bare letters": "a B\nb I\nc O\n", "letters alone": "a B\nb I\n", "lower": "a b-per\nb o\n", "bom": "\ufeffAnna B-PER\nmet O\n", "latin": "Ann\udce9 B-PER\nmet O\n", "empty": "\n\n", "only comments": "# x\n# y z w\n", "nul": "a\0 O\n", "long": "".join(f"w{n} {'O' if n % 3 else 'B-A'}\n" + ("\n" if n % 5 == 4 else "") for n in range(230)), "commas": "Anna,B-PER\nmet,O\n", "spaces": " Anna  B-PER \n met  O\n",
}  # fmt: skip


def conll() -> Inputs:
    for name, text in CONLL.items():
        for role, context in product(ROLES, (None, "spans")):
            yield f"{name} {role} {context}", Input(text, role=role, context=context)
        for value in ("1", "2", "3", "-1", "-2", "-3", "0", "x", "9", "-9"):
            for role in ROLES:
                yield f"{name} {role} column {value}", Input(text, role=role, columns={"value": value}, format="conll")
        for role, shared, either in ((*way,) for way in product(ROLES, (False, True), (False, True))):
            yield f"{name} {role} {shared} {either}", Input(text, role=role, shared=shared, either=either, format="conll")  # fmt: skip
        for cluster, role in product(("document", "x"), ROLES):
            yield f"{name} {role} of {cluster}", Input(text, role=role, columns={"cluster": cluster}, format="conll")


ANN = {
    "good": "T1\tPER 0 4\tAnna\nT2\tLOC 16 20\tRome\n", "pieces": "T1\tPER 0 4;9 12\tAnna Bob\nT2\tPER 9 12;0 4\tx\nT3\tX 1 2\ty\n", "three pieces": "T1\tPER 5 6;0 4;9 12\tx\n", "no text": "T1\tPER 0 4\n", "others": "T1\tPER 0 4\tAnna\nR1\tx\nA1\ty\n#1\tz\n*\tw\nE1\tv\nM1\tu\nN1\tt\n", "bad": "T1\tPER 0\tAnna\nT2\tX a b\ty\noops\n\n", "bad last": "T1\tPER 0 4\tAnna\noops", "bad first": "oops\nT1\tPER 0 4\tAnna\n", "blank lines": "\nT1\tPER 0 4\tAnna\n\n  \nT2\tPER 5 8\tmet\n", "crlf": "T1\tPER 0 4\tAnna\r\nT2\tX 5 8\tmet\r\n", "reversed": "T1\tPER 4 0\tx\n", "18 digits": "T1\tPER 0 123456789012345678\tx\n", "19 digits": "T1\tPER 0 1234567890123456789\tx\n", "notes only": "#1\tx\n", "many bad": "T1\tx\n" * 25 + "T1\tPER 0 4\tAnna\n", "latin": "T1\tPER 0 4\tAnn\udce9\n", "bom": "\ufeffT1\tPER 0 4\tAnna\n", "labels": "T1\tB 0 1\tx\nT2\tA 1 2\tx\nT3\tB 2 3\tx\n",
}  # fmt: skip


def brat() -> Inputs:
    for name, text in ANN.items():
        for role in ROLES:
            yield f"{name} {role}", Input(text, "a.ann", role)
        yield f"{name} without a name", Input(text, "a", format="brat")
        yield f"{name} with its text", Input(text, "a.ann", beside={"a.txt": TEXT}, format="brat")
        yield f"{name} with a bad text", Input(text, "a.ann", beside={"a.txt": b"\xff"}, format="brat")
        folder = {"more/a.ann": text, "more/b.ann": ANN["good"], "more/b.txt": TEXT, "more/c.ann": "", "more/d.txt": "x"}  # fmt: skip
        yield f"{name} in a folder", Input(FOLDER, "more", beside=folder)
    yield "many in pieces", Input(FOLDER, "more", beside={f"more/{n:02}.ann": ANN["pieces"] for n in range(23)})
    yield "no folder of ours", Input(FOLDER, "more", beside={"more/a.txt": TEXT})


# ---- judgements and runs

QRELS = {
    "good": "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\n", "apart": "q1 0 d1 1\nq2 0 d1 2\nq1 0 d2 0\n", "subtopics": "q1 1 d1 1\nq1 2 d1 1\nq1 1 d2 0\n", "tabs": "q1\t0\td1\t1\nq1\t0\td2\t0\n", "spaces": "  q1   0 d1\t 1  \n", "comments": "# x\nq1 0 d1 1\n#q1 0 d2 1\n", "blank": "\nq1 0 d1 1\n\n\nq1 0 d2 1\n\n", "crlf": "q1 0 d1 1\r\nq1 0 d2 0\r\n", "cr": "q1 0 d1 1\rq1 0 d2 0\r", "cr inside": "q1 0 d1 1\nq1 0 d2 1\rq1 0 d3 1\nq1 0 d4 1\n", "short": "q1 0 d1 1\nq1 0 d2\nq1 0 d3 1\n", "long": "q1 0 d1 1\nq1 0 d2 1 x\nq1 0 d3 1\n", "words": "q1 0 d1 1\nq1 0 d2 x\nq1 0 d3 1\n", "underscores": "q1 0 d1 1\nq1 0 d2 1_0\nq1 0 d3 1\n", "fractions": "q1 0 d1 0.5\nq1 0 d2 .25\nq1 0 d3 5.\nq1 0 d4 1e-3\nq1 0 d5 -2\nq1 0 d6 +3\nq1 0 d7 00012.50\nq1 0 d8 123456789.125\nq1 0 d9 12345678.1234567\nq1 0 da 0.000000000000001\nq1 0 db 12345678901234567890\n", "alike": "q1 0 d1 1.25\nq1 0 d2 10.50\nq1 0 d3 12345678.75\n", "not alike": "q1 0 d1 1.25\nq1 0 d2 10.5\nq1 0 d3 1\n", "long alike": "q1 0 d1 1.1234567\nq1 0 d2 12.7654321\n", "14 decimals": "q1 0 d1 1.12345678901234\nq1 0 d2 2.00000000000001\n", "15 decimals": "q1 0 d1 1.123456789012345\nq1 0 d2 2.000000000000001\n", "nine digits": "q1 0 d1 123456789\nq1 0 d2 1\n", "eight digits": "q1 0 d1 12345678\nq1 0 d2 1\n", "letters between": "q1 0 d1 1.25\nq1 0 d2 1x25\n", "signs": "q1 0 d1 -1\nq1 0 d2 -\nq1 0 d3 1\n", "inf": "q1 0 d1 inf\nq1 0 d2 -inf\nq1 0 d3 1\n", "nan": "q1 0 d1 nan\nq1 0 d2 1\nq1 0 d3 1\n", "many short": "q1 0 d1 1\n" * 30 + "q1 0\n" * 25, "all short": "q1 0\n" * 3, "three fields": "q1 d1 1\nq1 d2 0\n", "latin": "q1 0 d\udce9 1\nq1 0 d2 1\n", "accents": "q1 0 dé 1\nqé 0 d2 1\n", "nul": "q1 0 d\0 1\nq1 0 d2 1\n", "no end": "q1 0 d1 1\nq1 0 d2 0", "long names": f"q1 0 {'d' * 40} 1\n{'q' * 40} 0 d2 0\n", "commas": "q1,0,d1,1\nq1,0,d2,0\n", "one line": "q1 0 d1 1", "less than": "<a 0 d1 1\n<b 0 d2 1\n", "brace": "{a 0 d1 1\n{b 0 d2 1\n", "20 of 40": "q1 0 d1 1\n" * 20 + "x\n" * 20, "20 of 39": "q1 0 d1 1\n" * 20 + "x\n" * 19, "19 of 39": "q1 0 d1 1\n" * 19 + "x\n" * 20, "40 lines": "".join(f"q{n % 3} 0 d{n} {n % 2}\n" for n in range(45)), "half": "q1 0 d1 1\nx\nq1 0 d2 1\ny\n", "more than half": "q1 0 d1 1\nx\nq1 0 d2 1\n", "Q0": "q1 Q0 d1 x\nq1 Q0 d2 y\n", "five": "q1 0 d1 1 a\nq1 0 d2 1 b\n", "bracket": "[q1 0 d1 1\n[q1 0 d2 1\n", "only comments": "# x\n# y\n", "vertical": "q1 0 d1\x0b1\nq1\x0c0 d2 1\n",
}  # fmt: skip
RUN = {
    "good": "q1 Q0 d1 1 3.5 t\nq1 Q0 d2 2 2.5 t\nq2 Q0 d1 1 1 t\n", "apart": "q1 Q0 d1 1 3.5 t\nq2 Q0 d1 1 1 t\nq1 Q0 d2 2 2.5 t\n", "no tag": "q1 Q0 d1 1 3.5\nq1 Q0 d2 2 2.5\n", "seven": "q1 Q0 d1 1 3.5 t x\nq1 Q0 d2 2 2.5 t\nq1 Q0 d3 3 2 t y z\n", "all seven": "q1 Q0 d1 1 3.5 t x\nq1 Q0 d2 2 2.5 t y\n", "no Q0": "q1 x d1 1 3.5 t\nq1 x d2 2 2.5 t\n", "no Q0 five": "q1 x d1 1 3.5\nq1 x d2 2 2.5\n", "ranks of words": "q1 Q0 d1 a 3.5 t\nq1 Q0 d2 2 2.5 t\nq1 Q0 d3 3 2 t\n", "rank fractions": "q1 Q0 d1 1.5 3.5 t\nq1 Q0 d2 2 2.5 t\n", "rank nan": "q1 Q0 d1 nan 3.5 t\nq1 Q0 d2 2 2.5 t\n", "rank large": "q1 Q0 d1 99999999999 3.5 t\nq1 Q0 d2 2 2.5 t\n", "score words": "q1 Q0 d1 1 x t\nq1 Q0 d2 2 2.5 t\nq1 Q0 d3 3 2 t\n", "score nan": "q1 Q0 d1 1 nan t\nq1 Q0 d2 2 2.5 t\n", "comment": "# first\nq1 Q0 d1 1 3.5 tag1\nq1 Q0 d2 2 2.5 tag2\n", "short": "q1 Q0 d1 1 3.5 t\nq1 Q0 d2\nq1 Q0 d3 3 1 t\n", "cr": "q1 Q0 d1 1 3.5 t\nq1 Q0 d2 2 2.5 t\rq1 Q0 d3 3 1 t\nq1 Q0 d4 4 1 t\n", "tabs": "q1\tQ0\td1\t1\t3.5\tt\nq1\tQ0\td2\t2\t2.5\tt\n", "tag é": "q1 Q0 d1 1 3.5 é\n", "minus": "q1 Q0 d1 1 -3.5 t\nq1 Q0 d2 2 -4.25 t\n", "many": "".join(f"q{n // 9} Q0 d{n} {n % 9 + 1} {9 - n % 9}.{n % 7} run\n" for n in range(50)), "spare everywhere": "q1 Q0 d1 1 3.5 t x\n" * 3,
}  # fmt: skip


def trec() -> Inputs:
    for kind, files in (("qrels", QRELS), ("run", RUN)):
        for name, text in files.items():
            yield f"{kind} {name}", Input(text, role="gold" if kind == "qrels" else "pred")
            for context in ("ranking", "spans"):
                yield f"{kind} {name} {context}", Input(text, context=context)
            yield f"{kind} {name} named", Input(text, format=f"trec-{kind}")
            yield f"{kind} {name} as the other", Input(text, format="trec-run" if kind == "qrels" else "trec-qrels")


RANKINGS: list[Any] = [
    '{"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 2}}', '{"q1": {"d1": 1.5, "d2": -2}, "q2": {}}', '{"q1": {}}', "{}", '{"q1": {"d1": NaN, "d2": 1}}', '{"q1": {"d1": Infinity}}', '{"q1": {"d1": null}}', '{"q1": {"d1": "x"}}', '{"q1": {"d1": 1}, "q1": {"d2": 1}}', '{"q1": {"d1": 1, "d1": 2}}', '{"q1": {"d:1": 1}}', '{"id": {"d1": 1}}', '{"value": {"A": 1}}', '{"q1": {"d1": true}}', '{"q1": {"d1": [1]}}', '{"q1": {"d1": 1}, "q2": 7}', '{"q1": {"d1": 1}', '{"q1": {"d1": 1' + "0" * 400 + "}}", '{"q1": {"d1": -1' + "0" * 400 + "}}", '{"q1": {"\\ud800": 1}}', '{"q1": {"\\u0064": 1}}', '{"q1": {"d\udce9": 1}}', '{"a\\"b": {"d1": 1}}', '{"q1": {"d1": 1, "d1": 2, "d2": 1, "d2": 1}}', '{"q1":\n{"d1":\n1}}', '{"q1": {"d1": {"x": 1}}}',
    {"q1": {"d1": 1, "d2": 0.5}, "q2": {"d1": 2}}, {"q1": {1: 1, 2.0: 2}, 2: {"d": 1}}, {"q1": {"d": "x"}}, {"q1": {"d": None}}, {"q1": {"d": "1"}}, {"q1": {}}, {}, {"q1": {None: 1}}, {None: {"d": 1}}, {"q1": {"d": True}}, {"q1": {"d": 10**400, "e": 1}}, {"q1": {"d": -(10**400), "e": "1"}}, {"q1": {"d": [1]}}, {"q1": {f"d{n}": "x" for n in range(25)}}, {"q1": {"d": "x", "e": 10**400}}, {"q1": {"d": 10**400, "e": -(10**400)}},
]  # fmt: skip


def rankings() -> Inputs:
    for n, given in enumerate(RANKINGS):
        for role, context in product(ROLES, (None, "ranking")):
            yield f"{n} {str(given)[:60]} {role} {context}", Input(given, "input.json" if isinstance(given, str) else "input", role, context=context)  # fmt: skip
        if isinstance(given, str):
            yield f"{n} {given[:60]} named", Input(given, "input.json", format="rankings")


# ---- pages

PAGES: dict[str, list[dict[str, Any]]] = {
    "long": [{"document_id": d, "page": p, "is_first_page": f} for d, p, f in (("a", 1, True), ("a", 2, False), ("b", 1, True), ("a", 3, True))], "long flags": [{"doc": "a", "page": p, "first": f} for p, f in ((1, 1), (2, 0), (3, "yes"), (4, None), (5, "false"), (6, 2))], "long without first": [{"doc": "a", "page": p, "confidence": 0.25 * p} for p in (1, 2)], "long confidence": [{"doc": "a", "page": p, "first": 1, "confidence": c} for p, c in ((1, 0.5), (2, None), (3, "x"))], "long category": [{"doc": "a", "page": p, "first": 1, "category": c} for p, c in ((1, "X"), (2, ""), (3, None), (4, "Y"), (5, "X"))], "long odd pages": [{"doc": "a", "page": p, "first": 1} for p in (1, 2.0, 2.5, "3", "x", None, -1, 0)],
    "cases": [{"test_case": t, "doc": "a", "page": p, "first": 1} for t, p in (("t", 1), ("u", 1), (None, 1), ("", 2))], "ids": [{"doc": d, "page": 1, "first": 1} for d in ("a", None, "", " ", 7, 7.0)], "many without ids": [{"doc": None, "page": n, "first": 1} for n in range(25)], "listed": [{"id": "a", "pages": [{"number": 1, "is_first_page": True}, {"number": 2, "is_first_page": False}]}, {"id": "b", "pages": [{"is_first": 1, "category": "X"}, {"first": 0, "page": 5, "confidence": 0.5}]}, {"id": "c", "pages": []}], "listed flags": [{"id": "a", "pages": [1, 0, 1]}, {"id": "b", "pages": [True, False]}], "listed text": [{"id": "a", "pages": "[1, 0]"}, {"id": "b", "pages": " [true]"}, {"id": "c", "pages": "[1"}], "listed broken": [{"id": "a", "pages": [1]}, {"id": "b", "pages": 7}, {"id": "c", "pages": None}, {"id": "d", "pages": "x"}], "pages of numbers": [{"id": "a", "pages": 7}, {"id": "b", "pages": 8}], "listed with category": [{"id": "a", "category": "X", "pages": [{"number": 1}, {"number": 2, "category": "Y"}]}, {"id": "b", "category": None, "pages": [1]}], "listed with confidence": [{"id": "a", "confidence": 1, "pages": [{"number": 1}, 0]}],
    "points": [{"id": "a", "first_pages": [1, 4], "pages": 6}, {"id": "b", "first_pages": [], "pages": 2}, {"id": "c", "first_pages": None, "pages": 1}, {"id": "d", "first_pages": [3], "pages": None}, {"id": "e", "first_pages": "1 3;4", "pages": 5}, {"id": "f", "first_pages": 2, "pages": 0}], "points open": [{"id": "a", "splits": [1, 4]}, {"id": "b", "splits": []}, {"id": "c", "splits": [2, 2]}], "points bad": [{"id": "a", "split_points": [0, 2]}, {"id": "b", "split_points": ["x"]}, {"id": "c", "split_points": [1.5]}, {"id": "d", "split_points": "a 1"}, {"id": "e", "split_points": [2]}, {"id": "f", "split_points": [-3]}], "points large": [{"id": "a", "splits": [10_000_001]}], "pages large": [{"id": "a", "splits": [1], "pages": 10_000_001}, {"id": "b", "splits": [1], "pages": 10**30}], "points category": [{"id": "a", "splits": [2], "category": "X"}, {"id": "a", "splits": [3], "category": "Y"}],
    "files": [{"id": "a", "files": [[1, 2], [3, 3, "X"], [4]]}], "files good": [{"id": "a", "files": [[1, 2], [3, 3, "X"], {"first": 4, "last": 6, "category": "Y"}, "7-8", "9", 10]}, {"id": "b", "files": []}, {"id": "c", "category": "Z", "files": [{"first_page": 1, "last_page": 2}, {"start": 3, "end": 3, "category": "W"}]}], "files text": [{"id": "a", "ranges": "1-2, 3-4; 5"}, {"id": "b", "ranges": "[[1, 2]]"}, {"id": "c", "ranges": "1 - 3"}], "files bad": [{"id": "a", "files": [[2, 1]]}, {"id": "b", "files": "x"}, {"id": "c", "files": None}, {"id": "d", "files": [["x", 2]]}, {"id": "e", "files": [None]}, {"id": "f", "files": [[1, 1], [3, 2]]}, {"id": "g", "files": "[1"}], "files large": [{"id": "a", "files": [[1, 10_000_000]]}, {"id": "b", "files": [[1, 10_000_001]]}], "no files": [{"id": "a", "files": []}, {"id": "b", "files": []}], "files empty": [{"id": "a", "files": [""]}], "ranges": [{"id": "a", "first_page": 1, "last_page": 2}, {"id": "a", "first_page": 3, "last_page": 3}, {"id": "b", "first_page": 2, "last_page": 4}], "ranges bad": [{"id": "a", "first_page": 3, "last_page": 2}, {"id": "b", "first_page": None, "last_page": 2}, {"id": "c", "first_page": 1, "last_page": "x"}], "ranges category": [{"id": "a", "first_page": 1, "last_page": 2, "category": "X"}, {"id": "a", "first_page": 3, "last_page": 4, "category": None}],
    "members": [{"bundle": "s", "doc_id": d, "page": p} for d, p in (("x", 1), ("x", 2), ("y", 3), ("x", 4), ("y", 6), ("y", 5))], "members of two": [{"stream": s, "file": f, "page": p, "type": "T"} for s, f, p in (("s", "x", 2), ("t", "x", 1), ("s", "x", 1), ("t", "y", 2))], "members without": [{"bundle": "s", "document": d, "page": 1} for d in ("x", None, " ")], "members cases": [{"test_case": t, "bundle": "s", "file": "x", "page": p} for t, p in (("a", 1), ("b", 2), ("a", 2))], "extra": [{"doc": "a", "page": 1, "first": 1, **{f"x{n}": n for n in range(12)}}], "cluster": [{"doc": d, "page": p, "first": 1, "author": w} for d, p, w in (("a", 1, "z"), ("a", 2, "m"), ("b", 1, None), ("a", 3, None))], "with value": [{"id": "a", "page": 1, "first": 1, "value": "A"}], "with label": [{"id": "a", "page": 1, "first": 1, "label": "A"}], "page alone": [{"id": "a", "page": 1}],
}  # fmt: skip


def pages() -> Inputs:
    for name, records in PAGES.items():
        names = list(dict.fromkeys(key for record in records for key in record))
        cells = [[_cell(record.get(key)) for key in names] for record in records]
        columns = {key: [record.get(key) for record in records] for key in names}
        files: dict[str, Input] = {"jsonl": Input(lines(records), "input.jsonl"), "csv": Input(rows(names, *cells), "input.csv"), "records": Input(records), "columns": Input(columns)}  # fmt: skip
        for container, input in files.items():
            yield from everywhere(f"{name} {container}", input, (None, "splitting", "monolabel"))
            for cluster in ({"cluster": "author"}, {"cluster": "nowhere"}, {"id": "page"}, {"category": "author"}):
                yield f"{name} {container} {cluster}", replace(input, columns=cluster, context="splitting")
    yield "no rows", Input("doc,page,first\n", "input.csv")


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value)
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\n') else text
