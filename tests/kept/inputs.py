# SPDX-License-Identifier: Apache-2.0
"""Small inputs by the thousand, good, odd and broken: those of which a family is made differ in one thing each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from tests.inputs.odd_tables import TABLES
from tests.inputs.oddities import READERS
from tests.kept.reading import Input

CONTEXTS = (None, "monolabel", "multilabel", "soft", "probabilities", "ranking", "numbers", "clustering", "spans", "splitting")  # fmt: skip
ROLES = ("gold", "pred")
Inputs = Iterator[tuple[str, Input]]


def lines(records: Sequence[Any]) -> str:
    return "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)


def array(records: Sequence[Any]) -> str:
    return "[" + ",\n".join(json.dumps(record, ensure_ascii=False) for record in records) + "]\n"


def rows(*cells: Sequence[Any], mark: str = ",") -> str:
    return "".join(mark.join(map(str, row)) + "\n" for row in cells)


def everywhere(name: str, input: Input, contexts: Sequence[str | None] = CONTEXTS, roles: Sequence[str] = ROLES) -> Inputs:  # fmt: skip
    for role, context in product(roles, contexts):
        yield f"{name} | {role} {context}", replace(input, role=role, context=context)


# ---- what is odd in one record


def oddities(reader: str) -> Inputs:
    made = (READERS | TABLES)[reader]
    how = {key: value for key, value in made.options.items() if key in ("context", "format")}
    for name, odd in made.odd.items():
        if isinstance(odd, str) and (",]" in odd or ",}" in odd):
            continue  # of which every version of Python says something else
        for title, records in (("alone", [odd]), ("between", [made.plain(0), odd, made.plain(1)])):
            yield f"{name} {title}", Input(made.file(records), f"input.{made.suffix}", made.role, **how)  # type: ignore[arg-type]


# ---- tables of text

HEADERS = [
    "value", "label", "output", "actual", "gold", "prediction", "word", "id", "id,value", "ID,Value", " id , value ", "id;value", "id\tvalue", "text,label", "doc_id,gold", "a,b", "name,colour",
    ",value", ",a", ",a,value", ",,value", "id,value,value", "id,id,value", "id,note,note,value", "id,label,labels", "id,gold,y_true", "id,pred", "id,pred,y_pred", "id,prediction", "id,gold,pred", "id,gold,note", "id,value,extra", "id,value,text",
    "id,value,title,note", "test_case,id,value", "a,b,c", "a,id,c", "query,doc,score", "query,doc,rank,score", "query,doc,relevance", "query,doc,rank", "id,score", "id,rank", "id,grade", "id,cluster", "id,cluster,note", "id,cluster,cluster_id",
    "id,class,target", "id,label,gold", "id,label,target", "id,gold_label,pred_label", "id,prob_A,prob_B", "id,p-A,p-B", "id,score A,score B", "id,prob_A,p_B", "id,A,B", "A,B", "id,A,B,text", "id,A,B,label", "id,annotator,label", "id,rater,value", "id,label,score", "id,label,weight", "id,ann1,ann2", "id,ann1,ann2,text",
    "item,category", "Unnamed: 0,value", "index,value", "one,two,three,four", "id,Value,value", "sentence,label,id", "a;b,c;value", "id,\"value\"", "\"id\",\"value\"", "id,y", "id,probability", "uid,true label,predicted label", "test_case,value", "id,test_case", "id,page,first", "id,value,rank", "id,score,rank,text", "document,page,is_first_page",
]  # fmt: skip
CELLS: dict[str, Callable[[int, int], str]] = {
    "words": lambda row, column: f"i{row}" if column == 0 else "ABBA"[(row * column) % 4],
    "numbers": lambda row, column: str(row + 1) if column == 0 else str((row + column) % 3),
    "fractions": lambda row, column: f"r{row}" if column == 0 else str(0.25 * (row + column)),
    "gaps": lambda row, column: "" if (row + column) % 3 == 1 else f"v{(row + column) % 2}",
    "few words": lambda row, column: f"i{row}" if column == 0 else "x" if row == 3 else "0.5",
    "digits behind": lambda row, column: f"7{row}" if column == 0 else f"{'AB'[row % 2]}",
}


def tables() -> Inputs:
    for header, (kind, cell) in product(HEADERS, CELLS.items()):
        mark = ";" if ";" in header and "," not in header else "\t" if "\t" in header else ","
        width = header.count(mark) + 1
        body = [mark.join(cell(row, column) for column in range(width)) for row in range(4)]
        text = "\n".join([header, *body]) + "\n"
        suffix = ".tsv" if mark == "\t" else ".csv"
        contexts = CONTEXTS if kind in ("words", "numbers") else (None, "probabilities", "soft")
        yield from everywhere(f"{header!r} {kind}", Input(text, f"input{suffix}"), contexts)


SHAPES = {
    "no end": "id,value\n1,A\n2,B", "crlf": "id,value\r\n1,A\r\n2,B\r\n", "cr": "id,value\r1,A\r2,B\r", "mixed ends": "id,value\r\n1,A\n2,B\r\n3,C\n", "blank lines": "id,value\n\n1,A\n\n\n2,B\n\n", "blank before": "\n\nid,value\n1,A\n2,B\n",
    "short": "id,value\n1,A\n2\n3,B\n", "long": "id,value\n1,A\n2,B,C\n3,B\n", "short and long": "id,value\n1\n2,B,C\n3,B,C,D\n", "many short": "id,value\n" + "1\n" * 25, "quoted": 'id,value\n"1","A"\n2,"B, C"\n3,"say ""x"""\n', "quoted over lines": 'id,value\n1,"A\nB"\n2,C\n3,\n',
    "quote open": 'id,value\n1,A\n2,"B\n3,C\n', "quote open last": 'id,value\n1,A\n2,"B', "quote closed early": 'id,value\n1,"A"x\n2,B\n', "quote in first": '"id,value\n1,A\n', "quote twice open": 'id,value\n1,"A\nB"x\n2,B\n', "only header": "id,value\n", "only header crlf": "id,value\r\n", "quoted empty": 'id,value\n1,""\n2,A\n"",B\n',
    "late names": f"{'n' * 300},id,value\nq,1,A\nr,2,B\n", "one line": "1,A", "one line and its end": "1,A\n", "late marks": f"{'n' * 300}\tvalue\n1\tA\n2\tB\n", "one column": "value\nA\nB\n\n\n", "one column gap": "value\nA\n\nB\n\n", "one column quoted": 'value\n"A"\n\n"B"\n""\n\n', "no header 1": "A\nB\nA\n", "no header 2": "1,A\n2,B\n3,A\n", "no header 3": "t,1,A\nt,2,B\nu,1,A\n", "no header 4": "1,2,3,4\n5,6,7,8\n", "no header 4 blank": "1,2,3, \n5,6,7,8\n", "no header semicolons": "1;A\n2;B\n", "both marks": "1;A,B\n2;B,C\n",
    "both marks header": "id;value,x\n2;B,C\n", "tabs": "id\tvalue\n1\tA\n2\tB\n", "tabs and commas": "id\tvalue\n1\tA,B\n2\tB\n", "tabs no header": "1\tA\n2\tB\n", "words": "name,colour\nann,red\nbob,blue\ncid,red\n", "words repeated": "ann,red\nbob,blue\ncid,red\n", "words digits": "name,colour\nann1,red\nbob2,blue\n", "words few": "name,colour\nann1,red\n", "words three": "a,name,colour\nx,ann1,red\ny,bob2,blue\n",
    "words half digits": "name,colour\nann1,red\nbob,blue\n", "word digit": "name1,colour\nann1,red\nbob2,blue\n", "word long": f"{'n' * 40},colour\nann1,red\nbob2,blue\n", "word shorter": f"{'n' * 39},colour\nann1,red\nbob2,blue\n", "blank word": "name, \nann1,red\nbob2,blue\n", "known word": "name,label\nann,red\nbob,blue\n", "known id": "doc,colour\nann,red\nbob,blue\n", "index": ",value\n0,A\n1,B\n", "index other": ",colour\n0,A\n1,B\n", "index blank": ",colour\n,A\n,B\n", "index some": ",colour\n,A\n1,B\n", "index three": ",name,colour\n0,x1,A\n1,x2,B\n", "two blanks": ",,colour\n0,x1,A\n1,x2,B\n", "index blank words": ",value\n,A\n,B\n",
    "nul": "id,value\n1,A\0\n2,B\n", "latin": "id,value\n1,\udce9\n2,B\n", "latin header": "id,valu\udce9\n1,A\n2,B\n", "bom": "\ufeffid,value\n1,A\n2,B\n", "bom inside": "id,value\n\ufeff1,A\n2,B\n", "blank": "  \n \n", "spaces": " id , value \n 1 , A \n 2 , B \n", "apostrophe": "id,val'ue\n1,A\n", "quote in name": 'id,"val""ue"\n1,A\n', "same names": "id,note,Note,value\n1,a,b,A\n2,c,d,B\n", "same needed": "id,value,VALUE\n1,A,B\n", "same both": "id,ID,value,VALUE\n1,1,A,B\n", "no name": "id,,value\n1,x,A\n2,y,B\n", "comment": "# x,y\nid,value\n1,A\n",
    "deep quotes": 'id,value\n1,"a""b""c"\n2,""""\n3,"x"\n', "space quote": 'id,value\n1, "A"\n2,B\n', "space quote text": 'id,value\n1,x "A"\n2,B\n', "carriage in quotes": 'id,value\n1,"A\rB"\n2,C\n', "tab quote": 'id\tvalue\n1\t"A\tB"\n2\tC\n', "numbers": "id,value\n1,1\n2,2.0\n3,03\n", "numbers no header": "1,1\n2,2\n3,3\n", "space only row": "id,value\n1,A\n \n2,B\n", "one field row": "id,value\n1,A\nx\n", "ids blank": "id,value\n ,A\n,B\n3,C\n", "cases blank": "test_case,id,value\n,1,A\nt,2,B\n ,3,C\n", "cases all blank": "test_case,id,value\n,1,A\n,2,B\n", "many ids blank": "id,value\n" + ",A\n" * 23 + "1,B\n",
}  # fmt: skip


def shapes() -> Inputs:
    for name, text in SHAPES.items():
        suffix = "tsv" if "tab" in name else "csv"
        for role in ROLES:
            yield f"{name} {role}", Input(text, f"input.{suffix}", role)
        yield f"{name} without a name", Input(text, "input")
        yield f"{name} as csv", Input(text, "input", format="csv")
        yield f"{name} as tsv", Input(text, "input", format="tsv")
        yield f"{name} either", Input(text, f"input.{suffix}", either=True)
        yield f"{name} in multilabel", Input(text, f"input.{suffix}", context="multilabel")
        yield f"{name} of a cluster", Input(text, f"input.{suffix}", columns={"cluster": "id"})
        yield f"{name} of a value", Input(text, f"input.{suffix}", columns={"value": "value"})
        yield f"{name} of a colour", Input(text, f"input.{suffix}", columns={"value": "colour", "id": "NAME"})


NAMED: list[dict[str, str]] = [
    {"value": "label"}, {"value": "labels"}, {"value": "lable"}, {"id": "doc"}, {"id": "id", "value": "note"}, {"id": ""}, {"test_case": "note"}, {"test_case": "nowhere"}, {"id": "nowhere"}, {"value": "nowhere", "id": "nowhere"}, {"value": "id"}, {"annotator": "note"}, {"score": "weight"},
    {"cluster": "doc"}, {"cluster": "nowhere"}, {"value": "LABEL"}, {"id": "value"}, {"value": ""}, {"cluster": "doc", "value": "label"}, {"id": "label", "value": "label"},
]  # fmt: skip


def named() -> Inputs:
    """Columns that the user named."""
    head = ["id", "label", "note", "doc", "weight"]
    cells = [["1", "A", "x", "d1", "0.5"], ["2", "B", "y", "d1", "0.25"], ["3", "A", "x", "d2", "1"], ["1", "A", "z", "d2", "2"]]  # fmt: skip
    files = {"input.csv": rows(head, *cells), "bare.csv": rows(*cells), "input.jsonl": lines([dict(zip(head, row, strict=True)) for row in cells])}  # fmt: skip
    for (name, text), columns in product(files.items(), NAMED):
        yield from everywhere(f"{name} {columns}", Input(text, name, columns=columns), (None, "soft", "probabilities", "ranking"))  # fmt: skip
        yield f"{name} {columns} either", Input(text, name, columns=columns, either=True)
        yield f"{name} {columns} shared", Input(text, name, "pred", columns=columns, shared=True)


SHARED = [
    "id,gold,pred\n1,A,B\n2,B,B\n", "id,label,prediction\n1,A,B\n2,B,B\n", "id,label\n1,A\n2,B\n", "id,gold\n1,A\n2,B\n", "id,gold,A,B\nx,A,0.5,0.5\ny,B,0.25,0.75\n", "id,label,A,B\nx,A,0.5,0.5\ny,B,0.25,0.75\n", "id,pred\n1,A\n2,B\n", "id,y_true,y_score\n1,1,0.5\n2,0,0.25\n",
    "id,target,output\n1,A,B\n", "gold,pred\nA,B\nB,B\n", "id,ann1,ann2\n1,A,B\n2,B,B\n", "id,label,note\n1,A,x\n2,B,y\n", "id,value,text\n1,A,x\n2,B,y\n",
]  # fmt: skip


def shared() -> Inputs:
    for text in SHARED:
        yield from (
            (f"{name} shared", replace(input, shared=True))
            for name, input in everywhere(repr(text), Input(text, "input.csv"), (None, "soft", "probabilities"))
        )
        yield f"{text!r} either", Input(text, "input.csv", either=True, shared=True)


# ---- values of every kind

KINDS: dict[str, list[Any]] = {
    "texts": ["A", "B", "A", "C"], "numbers": [1, 2, 1, 0], "fractions": [1.0, 2.5, 0, -0.125], "whole floats": [1.0, 2.0, 1.0, 3.0], "truths": [True, False, True, True], "truths and numbers": [True, 1, 0, 2], "texts and a number": ["A", 1, "B", "B"], "numbers and a text": [1, 2, "B", 4], "half and half": [1, 2, "B", "C"],
    "lists": [["A"], ["B", "C"], [], ["A", "B"]], "lists and null": [["A"], None, ["B"], []], "no lists": [[], [], [], []], "indicators": [[1, 0], [0, 1], [1, 1], [0, 0]], "wide indicators": [[1, 0, 1], [0, 1, 0], [0, 0, 0], [1, 1, 1]], "one wide": [[1], [0], [1], [0]], "indicators of other widths": [[1, 0], [0, 1], [1], [0, 0]], "indicators and 2": [[1, 0], [0, 2], [1, 1], [0, 0]], "indicators and null": [[1, 0], None, [1, 1], [0, 0]],
    "true indicators": [[True, False], [False, False], [True, True], [False, True]], "mixed indicators": [[True, 0], [1, 0], [False, 1], [0, 0]], "lists of null": [["A", None], ["B"], [None], ["C"]], "numbers in lists": [[1, 2], [3], [], [2]], "mixed lists": [["A", 1], ["B"], ["C"], ["D"]], "lists in lists": [[["A"]], ["B"], ["C"], []], "lists of lists": [[["A"]], [["B"]], [["C"]], [["A"]]], "objects in lists": [[{"a": 1}], ["B"], ["C"], []],
    "truth in lists": [["A", True], ["B"], [False], ["C"]], "equal kinds in lists": [["A", 1], ["B", 2], [], []], "fractions in lists": [[0.5, 0.5], [0.25, 0.75], [1.0, 0.0], [0, 1]], "weights": [{"A": 0.5, "B": 0.5}, {"A": 1, "B": 0}, {"A": 0.25, "B": 0.75}, {"A": 0, "B": 1}], "ragged weights": [{"A": 0.5, "B": 0.5}, {"A": 1}, {"B": 1}, {}], "weights and null": [{"A": 0.5}, None, {"B": 1}, {"A": None}], "weights of text": [{"A": 0.5}, {"B": "x"}, {"B": 1}, {"A": 2}], "true weights": [{"A": True}, {"B": False}, {"B": True}, {"A": 1}],
    "votes": [{"a": "X", "b": "Y"}, {"a": "X"}, {"b": "Z"}, {"a": "Y", "b": "Y"}], "votes and numbers": [{"a": "X", "b": 1}, {"a": "X"}, {"a": 2, "b": "Y"}, {"a": "Y"}], "votes and null": [{"a": "X", "b": None}, {"a": None}, {"b": "Y"}, {}], "nested weights": [{"A": {"x": 1}}, {"A": 1}, {"B": 1}, {"A": 2}], "listed votes": [{"a": ["X"]}, {"a": "X"}, {"b": "Y"}, {"a": "Z"}], "no objects": [{}, {}, {}, {}], "null": [None, None, None, None], "null and texts": [None, "A", "B", None], "null and numbers": [None, 1, 2.5, 3], "blank texts": ["", "A", " ", "\t"],
    "bars": ["A|B", "B", "C|A", ""], "bars and lists": ['["A", "B"]', "A|B", "C", "D"], "bars and objects": ["A|B", "{x", "C|D", "A"], "semicolons": ["A;B", "B", " C ; A ", ";"], "commas": ["A,B", "C", "A, B", ","], "bars and commas": ["A|B,C", "B", "A", "C"], "json lists": ['["A"]', '["B", "C"]', "[]", ' ["A"]'], "python lists": ["['A', 'B']", "['C']", "[]", "[]"], "broken lists": ["[A", "[B", "[C", "[D"], "a broken list": ['["A"]', "[B", "[]", "[]"], "some lists": ['["A"]', "B", "C", "D"], "json objects": ['{"A": 1}', '{"B": 0.5}', "{}", '{"A": 0.25, "B": 0.75}'], "json votes": ['{"a": "X"}', '{"b": "Y"}', '{"a": "X"}', '{"a": "X"}'],
    "a broken object": ['{"A": 1}', "{A", "{}", "{}"], "broken objects": ["{A", "{B", "{C", "{D"], "objects and lists": ['{"A": 1}', '["B"]', "{}", "[]"], "words of truth": ["true", "false", "true", "true"], "spelt numbers": ["1", "2", "3", "1"], "spelt fractions": ["1.5", "2", "0.25", "-1"], "number words": ["1.5", "2", "x", "3"], "two number words": ["1.5", "y", "x", "3"], "odd numbers": ["nan", "inf", "1", "-inf"], "large numbers": [10**20, 2**63, 2**53 + 1, 1e300], "lists of numbers as text": ["[1, 0]", "[0, 1]", "[1, 1]", "[0, 0]"], "grades": [3, 0, 2, 1], "negative": [-1, 0, 1, -2], "spaces": ["A ", " A", "A", "a"],
}  # fmt: skip


SOME = (None, "multilabel", "probabilities")


def values(container: str) -> Inputs:
    for kind, given in KINDS.items():
        for name in ("value", "label", "score", "rank"):
            input = _in(container, name, given)
            if input is None or (name in ("label", "rank") and container not in ("jsonl", "csv")):
                continue
            if name == "value":
                yield from everywhere(f"{kind} as {name}", input, CONTEXTS[:7] if container == "jsonl" else SOME)
                for mark in ("|", "/"):
                    yield f"{kind} apart by {mark}", replace(input, separator=mark)
                for context in (None, "ranking"):
                    yield f"{kind} dropped {context}", replace(input, options={"faulty": "drop"}, context=context)
            else:
                yield from everywhere(f"{kind} as {name}", input, (None,) if container == "csv" else (None, "ranking"))


def _in(container: str, name: str, given: list[Any]) -> Input | None:
    ids = [f"i{n}" for n in range(len(given))]
    table = {"id": ids, name: given}
    records = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    if container == "jsonl":
        return Input(lines(records), "input.jsonl")
    if container == "json":
        return Input(array(records), "input.json")
    if container == "csv":
        texts = [None if value is None else value if isinstance(value, str) else json.dumps(value) for value in given]
        quoted = ['"' + text.replace('"', '""') + '"' if text else "" for text in map(_text, texts)]
        return Input(rows(["id", name], *zip(ids, quoted, strict=True)), "input.csv")
    if container == "records":
        return Input(records)
    if container == "columns":
        return Input(table)
    if container == "pandas":
        import pandas as pd

        return Input(pd.DataFrame({"id": ids, name: pd.Series(given, dtype=object)}))
    if name != "value":
        return None
    return Input(given if container == "list" else dict(zip(ids, given, strict=True)))


def _text(value: str | None) -> str:
    return "" if value is None else value


CONTAINERS = ("jsonl", "json", "csv", "records", "columns", "pandas", "list", "dict")


def keys() -> Inputs:
    """Ids and test cases."""
    ids: dict[str, list[Any]] = {
        "texts": ["a", "b", "c"], "numbers": [1, 2, 3], "floats": [1.0, 2.0, 3.5], "nulls": [None, "b", None], "all null": [None, None, None], "blank": ["", "b", " "], "lists": [["a"], "b", "c"], "objects": [{"a": 1}, {"b": 2}, "c"], "truths": [True, False, None], "mixed": [1, "1", 1.0], "same": ["a", "a", "b"], "tabs": ["\t", "b", "!"], "before !": [" a", "b", "c"],
    }  # fmt: skip
    for name, given in ids.items():
        for title, columns in (("id", {"id": given}), ("case", {"test_case": given, "id": ["x", "y", "z"]}), ("case without ids", {"test_case": given})):  # fmt: skip
            table = {**columns, "value": ["A", "B", "A"]}
            records = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
            lacking = [{key: value for key, value in record.items() if value is not None} for record in records]
            for container, input in {"jsonl": Input(lines(records)), "json": Input(array(records)), "lacking": Input(lines(lacking)), "records": Input(records), "columns": Input(table)}.items():  # fmt: skip
                for role in ROLES:
                    yield f"{title} {name} {container} {role}", replace(input, role=role)
        many = [{"id": given[n % 3], "value": "A"} for n in range(80)]
        yield f"many {name}", Input(lines(many))
        yield f"many cases {name}", Input(lines([{"test_case": r["id"], "id": n, "value": "A"} for n, r in enumerate(many)]))  # fmt: skip


def long_tables() -> Inputs:
    """A row for each label or annotator of an item."""
    tables = {
        "votes": (["id", "annotator", "label"], [["1", "ann", "A"], ["1", "bob", "B"], ["2", "ann", "A"], ["2", "bob", "A"]]),
        "votes again": (["id", "annotator", "label"], [["1", "ann", "A"], ["1", "ann", "B"], ["2", "ann", "A"], ["2", "bob", "A"], ["2", "bob", "B"], ["1", "ann", "C"]]),
        "votes apart": (["id", "annotator", "label"], [["1", "ann", "A"], ["2", "ann", "B"], ["1", "bob", "A"], ["2", "bob", "A"]]),
        "votes without": (["id", "annotator", "label"], [["1", "", "A"], ["1", "bob", ""], ["2", "ann", "A"]]),
        "votes of numbers": (["id", "worker", "value"], [["1", "7", "1"], ["1", "8", "2"], ["2", "7", "1"]]),
        "scores": (["id", "label", "score"], [["1", "A", "0.5"], ["1", "B", "0.25"], ["2", "A", "1"], ["2", "B", "0"]]),
        "scores again": (["id", "label", "score"], [["1", "A", "0.5"], ["1", "A", "0.75"], ["2", "B", "1"], ["1", "A", "0.6"], ["2", "B", "1"]]),
        "scores once": (["id", "label", "score"], [["1", "A", "0.5"], ["2", "B", "0.25"], ["3", "A", "1"]]),
        "scores without": (["id", "label", "score"], [["1", "A", ""], ["1", "", "0.25"], ["2", "A", "x"], ["2", "B", "nan"]]),
        "weights": (["id", "label", "weight", "note"], [["1", "A", "3", "x"], ["1", "B", "1", "y"], ["2", "A", "2", "z"]]),
        "both": (["id", "label", "score", "rater"], [["1", "A", "3", "x"], ["1", "B", "1", "y"], ["2", "A", "2", "z"]]),
        "many without": (["id", "label", "score"], [["1", "", ""]] * 23 + [["2", "A", "x"]] * 22),
        "no ids": (["label", "score"], [["A", "0.5"], ["B", "0.25"]]),
        "cases": (["test_case", "id", "label", "confidence"], [["t", "1", "A", "0.5"], ["u", "1", "B", "0.25"], ["t", "1", "B", "0.75"]]),
        "text": (["id", "text", "annotator", "label"], [["1", "x", "a", "A"], ["1", "x", "b", "B"]]),
    }  # fmt: skip
    for name, (head, cells) in tables.items():
        records = [{key: cell for key, cell in zip(head, row, strict=True) if cell != ""} for row in cells]
        typed = [{key: float(cell) if key in ("score", "weight", "confidence") and cell != "x" else cell for key, cell in record.items()} for record in records]  # fmt: skip
        contexts = (None, "soft", "multilabel", "probabilities", "monolabel", "ranking")
        yield from everywhere(f"{name} csv", Input(rows(head, *cells), "input.csv"), contexts)
        yield from everywhere(f"{name} jsonl", Input(lines(typed), "input.jsonl"), contexts)
        yield from everywhere(f"{name} records", Input(typed), contexts)


WIDE: dict[str, list[Any]] = {
    "numbers": [0.5, 0.25, 1, 0], "a word": [0.5, "x", 1, 0], "two words": [0.5, "x", "y", 0], "words": ["x", "y", "x", "z"], "gaps": [0.5, None, 1, None], "truths": [True, False, True, True], "spelt": ["0.5", "1", "0", "2"], "lists": [[1], [2], [3], [4]],
}  # fmt: skip


def wide_tables() -> Inputs:
    """A column for each class, or what could be taken for one."""
    for first, second, third in product(WIDE, repeat=3):
        for names in (("A", "B", "C"), ("prob_A", "prob_B", "label"), ("p A", "p_B", "p-C")):
            if (names[0] != "A" and third not in ("numbers", "words", "a word")) or WIDE[first] is WIDE["lists"]:
                continue
            table = {"id": [1, 2, 3, 4], **{name: WIDE[kind] for name, kind in zip(names, (first, second, third), strict=True)}}  # fmt: skip
            records = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
            title = f"{names[0]} {first}, {second}, {third}"
            for context in (None, "probabilities"):
                yield f"{title} {context}", Input(lines(records), role="pred", context=context)
                if "lists" not in (second, third):
                    cells = [["" if value is None else value for value in record.values()] for record in records]
                    yield f"{title} {context} csv", Input(rows(list(table), *cells), "input.csv", "pred", context=context)  # fmt: skip


# ---- JSON as a file

DEEP = {n: "[" * n + "]" * n for n in (97, 98, 99, 100, 101, 127, 150)}


def json_files() -> Inputs:
    a, b, c = '{"id": "1", "value": "A"}', '{"id": "2", "value": "B"}', '{"id": "3", "value": "C"}'
    deep = {f"deep {n}": f'{{"id": "1", "value": "A", "x": {text}}}' for n, text in DEEP.items()}
    deep |= {f"deep {n} of objects": f'{{"id": "1", "x": {"{" + chr(34) + "a" + chr(34) + ":" }{text}{"}"}, "value": "A"}}' for n, text in DEEP.items()}  # fmt: skip
    texts = {
        "one": f"[{a}]", "none": "[]", "none over lines": "[\n\n]\n", "two on lines": f"[\n{a},\n{b}\n]", "two on one": f"[{a}, {b}]", "over lines": '[{\n"id": "1",\n"value":\n"A"\n},\n\n{"id": "2", "value": "B"}]', "cut off": f"[{a}, {b}", "no comma": f"[{a} {b}]", "text behind": f"[{a}] x", "text behind lines": f"[{a},\n{b}]\n\nx", "number": f"[{a}, 7]", "list": f"[{a}, []]", "text": f'[{a}, "x"]', "null": f"[{a}, null]", "true": f"[{a}, true]", "fraction": f"[{a}, 1.5]", "object": '{"a": [1]}', "object over lines": '{\n"id": 1,\n"value": 2\n}', "text alone": '["x"]', "empty records": "[{}, {}]", "an empty record": f"[{{}}, {a}]",
        "twice": '[{"id": "1", "id": "2", "value": "A"}]', "twice inside": '[{"id": "1", "value": {"A": 1, "A": 2}}]', "twice deeper": '[{"id": "1", "value": "A", "x": [{"A": 1, "A": 2}]}]', "twice in both": '[{"id": "1", "id": "2", "value": {"A": 1, "A": 2}}]', "colons": '[{"id": "1: 2", "value": "A:B"}]', "escaped colons": '[{"id": "1\\": 2", "value": "A"}]', "spaced colons": '[{"id"  : "1", "value" : "A"}]', "case": '[{"id": "1", "ID": "2", "value": "A"}]', "cases": f'[{a}, {{"ID": "2", "value": "A"}}]', "same by case": f'[{a}, {{"VALUE": "2", "Id": "A"}}]', "surrogate": '[{"id": "1", "value": "\\ud800"}]', "surrogates": '[{"id": "1", "value": "\\ud83d\\ude00"}]', "surrogate in a key": '[{"id": "1", "value": "A", "\\ud800": 1}]', "escape": '[{"id": "\\u0031", "value": "A"}]', "NaN": '[{"id": "1", "value": NaN}]', "Infinity": '[{"id": "1", "value": -Infinity}]',
        "bom": f"\ufeff[{a}]", "latin": '[{"id": "1", "value": "\udce9"}]', "nul": '[{"id": "1", "value": "\0"}]', "more fields": f'[{a}, {{"id": "2", "value": "B", "note": 1}}, {c}]', "fewer fields": f'[{{"id": "1", "value": "A", "note": 1}}, {b}, {{"value": "C"}}]', "other order": f'[{a}, {{"value": "B", "id": "2"}}]', "other kinds": f'[{a}, {{"value": 1, "id": 2}}]', "numbers first": '[{"id": 1, "value": {"A": 1, "B": 2}}, {"id": 2, "value": {"A": 0.5, "B": 2}}]', "weights of other names": '[{"id": 1, "value": {"A": 1, "B": 2}}, {"id": 2, "value": {"A": 0.5}}]', "weights then text": '[{"id": 1, "value": {"A": 1, "B": 2}}, {"id": 2, "value": {"A": "x", "B": 1}}]', "no fields": '[{"note": 1}]', "tabs": f"[\t{a}\t,\t{b}\t]", "broken second": f'[{a},\n{{"id" "2"}},\n{c}]', "broken last": f'[{a},\n{b},\n{{"id": "3", "value": }}]', "many broken": "[" + ",\n".join(['{"id": "1", "id": "2", "value": "A"}'] * 25) + "]", "quote in name": '[{"i\\"d": 1, "value": "A"}]', "odd names": '[{"": 1, " ": 2, "value": "A"}]',
        "a:1 without": '[{"value": "A"}, {"value": "B"}]', "blank start": f"\n\n [{a}]", "texts in lists": '[{"id": 1, "value": ["A", "B"]}, {"id": 2, "value": []}, {"id": 3, "value": null}]', "numbers in lists": '[{"id": 1, "value": [1, 2]}, {"id": 2, "value": []}]', "objects in lists": '[{"id": 1, "value": "A", "x": [{"a": 1}, {"b": [{"c": 2}]}]}, {"id": 2, "value": "B", "x": null}]',
    }  # fmt: skip
    texts |= {name: f"[{record}, {b}]" for name, record in deep.items()}
    texts |= {f"{name} over lines": f"[{b},\n{record},\n{c}]".replace('"x": [', '"x":\n[') for name, record in deep.items()}  # fmt: skip
    texts |= {f"{name} and broken": f'[{record}, {{"id": "1", "id": "2", "value": 1}}]' for name, record in deep.items()}  # fmt: skip
    for name, text in texts.items():
        yield f"array {name}", Input(text, "input.json")
        yield f"array {name} as json", Input(text, "input.json", format="json")
    inside = {name: text[1:-1] for name, text in texts.items() if text.startswith("[") and text.endswith("]")}
    more = {
        "two": f"{a}\n{b}\n", "crlf": f"{a}\r\n{b}\r\n", "no end": f"{a}\n{b}", "blank lines": f"\n{a}\n\n  \n{b}\n\n", "two on one": f"{a} {b}\n{c}\n", "two joined": f"{a}{b}\n", "over lines": '{"id": "1",\n"value": "A"}\n', "one object": '{\n"id": "1",\n"value": "A"\n}\n', "comma": f"{a},\n{b}\n", "array line": f"{a}\n[{b}]\n", "number line": f"{a}\n7\n", "text line": f"{a}\noops\n", "cut off": f'{a}\n{{"id": "2", "va', "many faults": "oops\n" * 25, "a fault in many": f"{a}\n" * 30 + "oops\n" + f"{b}\n" * 3, "spaces before": f"  {a}\n {b}\n", "bom": f"\ufeff{a}\n{b}\n", "latin": f'{a}\n{{"id": "2", "value": "\udce9"}}\n', "nul": f"{a}\n\0\n", "half": f'{a}\n{{"id": "\\udc00", "value": "B"}}\n', "sentence": '{"value": "A: \\"x\\": b"}\n',
    }  # fmt: skip
    for name, text in (inside | more).items():
        yield f"lines {name}", Input(text, "input.jsonl")
        yield f"lines {name} as jsonl", Input(text, "input.jsonl", format="jsonl")
