# SPDX-License-Identifier: Apache-2.0
"""Records that are odd in one way each, for every reader, and the plain records among which they stand."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

TEXTS = [
    "A", "a", "A ", " A", "", " ", "\\t", "\\u0041", "\\ud83d\\ude00", "\\ud800", "\\q", "\u00e9", "e\u0301", "\ufeffA", "\u00a0", "\u2028",
    "[x]", "{x}", "[1]", "null", "NaN", "1", "1.0", "true", "A: \\\"value\\\": B", "A,]", "\x7f", "\\u0000", "\\/", "#A", "O", "B-A", "x" * 300,
]  # fmt: skip
"""What stands between the quotes of a JSON text."""
BARE = [
    "null", "true", "false", "0", "-0", "-0.0", "1", "1.0", "1e0", "10e-1", "1e400", "-1e400", "1.5", "12345678901234567890", "18446744073709551616",
    "0.1e1", "01", "+1", ".5", "1.", "1e", "NaN", "Infinity", "-Infinity", "nan", "[]", '["A"]', '["A", "A"]', "[1]", "[[1]]", "[null]", '["A",]',
    "{}", '{"A": 1}', '{"A": 1, "A": 2}', '{"A": "x"}', "'A'", "A", '"A', '"A\tB"', '"A\0"', "undefined", "0x1", "1_0", "1 2", "", "[1, 0]", "9.7", "10.0",
]  # fmt: skip
"""What may stand for a value of JSON, right or wrong."""
VALUES = [f'"{text}"' for text in TEXTS] + BARE

FIELDS = [
    "A", "a", '"A"', " A", "A ", ' "A"', '"A" ', '"A""B"', '"A"B', 'A"B', '"A', 'A"', '""', '"  "', "", " ", "NULL", "null", "NaN", "nan", "NA", "None",
    "\\N", "-", "1", "1.0", "01", "1e3", "-0", "+1", '"1,5"', "[1]", '"[""A""]"', "{}", '"{""A"": 1}"', '"{""A"": 1', "'A'", "A\\", "#A", "\u00e9", "\ufeffA",
    "\u00a0", "\u2028", "A\x1fB", "\x1a", "true", "A|B", '"A\nB"', '"A\r\nB"', '"A\rB"', "A\rB", "A\0B", "A\udcffB", "x" * 5000, "//", "A\x0bB", "A\x0cB", "%", "=1+1",
    '"""A"""', '""A""', "''", "A\x85B",
]  # fmt: skip
"""What may stand in a field of CSV or TSV; half of a surrogate pair is written as a byte that is no UTF-8."""

TOKENS = [
    "A", "#A", "\u00e9", "\u00a0A", "A\u00a0B", "\ufeffA", '"A"', "1", "1.0", "-1", "+1", "0", "-0.0", "1.5", ".5", "5.", "1e1", "1e", "1e400", "-1e400",
    "nan", "NaN", "inf", "-inf", "Infinity", "1_0", "0x10", "1,5", "--1", "\uff11", "1d3", "true", "1234567890123456789012345678901", "1.0000000000000001",
    "0.30000000000000004", "123456789.123456789", "4.9e-324", "A\0B", "A\udcffB", "A\rB", "A\x0bB", "A\x0cB", "A\x85B", "A\x1fB", "x" * 300, "", "Q0", "q0",
]  # fmt: skip
"""What may stand in a field of a TREC file."""

TAGS = [
    "O",
    "B-A",
    "I-A",
    "E-A",
    "S-A",
    "L-A",
    "U-A",
    "B",
    "I",
    "B-",
    "-A",
    "A",
    "b-a",
    "o",
    "BA",
    "B_A",
    "B-A-B",
    "B-\u00e9",
    "X-A",
    "0",
    "_",
    "|",
    "B-A,I-A",
    "#",
]

TELLING = re.compile(r'"spans": \["|^\[|^\ufeff|f1')
"""Records that cannot stand first: lists of tags, arrays, the mark of an encoding, and ids of others, of which the later is named."""


@dataclass(frozen=True)
class Reader:
    """How the records of a format are written, what can be odd in one, and how its file is scored."""

    suffix: str
    odd: dict[str, Any]
    plain: Callable[[int], Any]
    fat: Callable[[int], Any]
    """A plain record of some thousand letters, to get past thresholds with few of them."""
    head: str = ""
    between: str = "\n"
    foot: str = "\n"
    other: str | None = None
    """What stands on the other side of the evaluation; without it, the small file itself."""
    role: str = "gold"
    options: dict[str, str] = field(default_factory=lambda: {"missing": "skip"})
    by_position: bool = False
    """Whether records have no ids, so that a file can be scored against itself alone."""
    format: str | None = None
    """How the format is called, where both sides have the same."""

    def file(self, records: Sequence[Any]) -> bytes:
        return (self.head + self.between.join(records) + self.foot).encode(errors="surrogateescape")

    def line(self, before: Sequence[Any]) -> int:
        """The line on which the record behind these begins."""
        return 1 + self.head.count("\n") + sum(text.count("\n") + self.between.count("\n") for text in before)

    def lines(self, odd: Any) -> int:
        """How many lines the odd record takes."""
        return int(odd.count("\n")) + 1

    def may_lead(self, odd: Any) -> bool:
        """Whether the odd record means the same where it stands first."""
        return not TELLING.search(odd)


def _in(template: str, values: list[str]) -> dict[str, str]:
    return {f"{template % '…'} with {value[:40]!r} {i}": template % value for i, value in enumerate(values)}


LABELS = (
    _in('{"id": "odd", "value": %s}', VALUES)
    | _in('{"id": %s, "value": "A"}', VALUES)
    | _in('{"id": "odd", "value": "A", "test_case": %s}', VALUES[::4])
    | _in('{"id": "odd", "value": "A", "note": %s}', BARE[::2])
    | _in("%s", [
        '{"id": "odd"}', '{"value": "A"}', "{}", '{"id": "odd", "value": "A", "value": "B"}', '{"id": "odd", "id": "even", "value": "A"}',
        '{"id": "odd", "value": "A", "Value": "B"}', '{"id": "odd", "value": "A", "more": 1, "more": 2}', '{"id": "odd", "value": "A",}', '{"id": "odd", "value": "A"} ',
        '{"id": "odd", "value": "A"} {"id": "two", "value": "A"}', '{"id": "odd", "value": "A"}x', '{"id": "odd" "value": "A"}', '{"id": "odd",, "value": "A"}',
        "7", "null", "true", '"x"', '["odd", "A"]', "{", "}", "oops", "// odd", '{"id" : "odd" , "value" : "A" }', '\ufeff{"id": "odd", "value": "A"}',
        '{"id": "odd", "value": "A"}\r', '\t{"id": "odd", "value": "A"}', '{"ID": "odd", "VALUE": "A"}', '{"\\u0069d": "odd", "value": "A"}', '{"id": "f1", "value": "A"}',
        '{"id": "odd", "value": "A", "note": {"a": 1, "a": 2}}', '{"id": "odd", "value": "A", "note": "b: c"}', '{"id": "odd", "value": ' + "[" * 150 + "]" * 150 + "}",
        '{"id": "odd", "value": "A\udcff"}', '{"id": "odd", "value": "A\nB"}', '{"id": "odd",\n"value": "A"}',
    ])
)  # fmt: skip

SPANS = (
    _in('{"id": "odd", "spans": [{"start": %s, "end": 14, "label": "A"}]}', VALUES)
    | _in('{"id": "odd", "spans": [{"start": 10, "end": %s, "label": "A"}]}', BARE)
    | _in('{"id": "odd", "spans": [{"start": 10, "end": 14, "label": %s}]}', VALUES)
    | _in('{"id": %s, "spans": [{"start": 10, "end": 14, "label": "A"}]}', VALUES)
    | _in('{"id": "odd", "spans": %s}', BARE)
    | _in('{"id": "odd", "spans": [%s]}', ['{"start": 10, "end": 14}', "{}", "null", "7", '"B-A"', '[10, 14, "A"]', '{"start": 14, "end": 10, "label": "A"}', '{"start": -1, "end": 4, "label": "A"}'])
    | _in('{"id": "odd", "text": %s, "spans": [{"start": 10, "end": 14, "label": "A"}]}', VALUES[::3])
    | _in("%s", [
        '{"id": "odd"}', '{"spans": []}', "{}", "7", "null", '["odd"]', '{"id": "odd", "spans": [], "spans": []}', '{"id": "odd", "spans": [{"start": 10, "end": 14, "end": 15, "label": "A"}]}',
        '{"id": "odd", "spans": [{"start": 10, "end": 14, "label": "A"},]}', '{"id": "odd", "spans": [{"start": 10, "end": 14, "label": "A",}]}', '{"id": "odd", "spans": []} {"id": "two", "spans": []}',
        '{"id": "odd", "spans": [{"start": 10, "end": 14, "label": "A", "Children": [{"start": 10, "end": 12, "label": "B"}]}]}', '{"id": "odd", "spans": [{"start":10,"end":14,"label":"A"}]}',
        '{"id": "odd", "spans": [{"label": "A", "start": 10, "end": 14}]}', '{"id": "odd", "test_case": "t", "spans": []}', '{"id": "f1", "spans": []}', '{"id": "odd", "spans": [{"start": 10, "end": 14, "label": "A"}]}\r',
        '{"id": "odd", "entities": [{"start": 10, "end": 14, "label": "A"}]}', '{"id": "odd", "spans": [{"start": 10, "end": 14, "label": "A\udcff"}]}', '{"id": "odd", "spans": [{"start": 10, "end": 14, "label": "A\0"}]}',
    ])
)  # fmt: skip


def _rows(mark: str) -> dict[str, str]:
    fields = [text.replace(",", mark) for text in FIELDS]
    raw = [
        "odd",
        f"odd{mark}A{mark}B",
        "",
        " ",
        mark,
        f"{mark}{mark}",
        f"# odd{mark}A",
        f"id{mark}value",
        f"odd{mark}A\r",
        f"odd{mark}A{mark}",
        "odd;A",
        "odd|A",
        f"f1{mark}A",
        f" odd{mark}A",
        f"odd {mark}A",
    ]
    return _in(f"odd{mark}%s", fields) | _in(f"%s{mark}A", fields) | _in("%s", raw)


def _lines(columns: list[str], raw: list[str]) -> dict[str, str]:
    """Each column with each odd token, and whole lines."""
    out = _in("%s", raw)
    for i in range(len(columns)):
        line = " ".join("%s" if nth == i else text for nth, text in enumerate(columns))
        out |= _in(line, TOKENS)
    return out


RUN = _lines(
    ["odd", "Q0", "d1", "2", "1.5", "tag"],
    ["odd Q0 d1 2 1.5", "odd Q0 d1 2 1.5 tag more", "", " ", "odd\tQ0\td1\t2\t1.5\ttag", "odd  Q0  d1 2 1.5 tag", " odd Q0 d1 2 1.5 tag", "odd Q0 d1 2 1.5 tag ", "odd Q0 d1 2 1.5 tag\r",
     "odd Q0 d1 2 1.5 tag\rodd Q0 d2 3 1.0 tag", "# odd Q0 d1 2 1.5 tag", "# odd", "odd Q0 d1 2 1.5 tag\nodd Q0 d1 3 1.0 tag", "odd d1 1.5", "f1 Q0 d9 5 0.5 tag"],
)  # fmt: skip
QRELS = _lines(
    ["odd", "0", "d1", "1"],
    ["odd 0 d1", "odd 0 d1 1 more", "", " ", "odd\t0\td1\t1", "odd  0 d1 1", " odd 0 d1 1", "odd 0 d1 1 ", "odd 0 d1 1\r", "odd 0 d1 1\rodd 0 d2 1", "# odd 0 d1 1", "# 0 d1 1", "odd 0 d1 1\nodd 0 d1 0", "odd 1 d1 1", "f1 0 d9 1"],
)  # fmt: skip
RANKINGS = (
    _in('"odd": {"d1": %s}', VALUES)
    | _in('"odd": %s', BARE)
    | _in('%s: {"d1": 1}', VALUES)
    | _in('"odd": {%s: 1}', VALUES[::2])
    | _in("%s", ['"odd": {"d1": 1, "d1": 2}', '"odd": {"d1": 1,}', '"odd": {"d1": 1} "x": {}', '"f1": {"d1": 1}', '"odd" {"d1": 1}', '"odd":{"d1":1}', '"odd": {"d1\udcff": 1}', '"odd": {"d1": {"x": 1}}'])
)  # fmt: skip
CONLL = (
    _in("w %s", TAGS + TOKENS)
    | _in("%s B-A", TOKENS)
    | _in("w B-A\nv %s", TAGS)
    | _in("%s", ["w", "w x B-A", "w\tB-A", " w B-A", "w B-A ", "w B-A\r", "# w B-A", "# comment", "-DOCSTART- O", "", " ", "w B-A\n\n\nv O", "w B-A\rv O"])
)  # fmt: skip
ANN = (
    _in("T1\t%s 10 14\tword", TOKENS)
    | _in("T1\tA %s 14\tword", TOKENS)
    | _in("T1\tA 10 %s\tword", TOKENS[::2])
    | _in("T1\tA 10 14\t%s", [*TEXTS, *TOKENS[::3]])
    | _in("%s", [
        "T1\tA 10 12;13 14\tword", "T1\tA 10 12;13\tword", "T1\tA 13 14;10 12\tword", "T1\tA 14 10\tword", "T1\tA 10 14", "T1\tA 10 14\t", "T1 A 10 14 word", "T\tA 10 14\tword", "t1\tA 10 14\tword",
        "T1\tA  10 14\tword", "T1\tA 10 14\tword\r", "T1\tA 10 14\tword\rT2\tA 10 14\tword", "", " ", "#1\tAnnotatorNotes T1\tx", "# comment", "R1\tOrg Arg1:T1 Arg2:T2", "E1\tA:T1", "A1\tNegated T1",
        "N1\tReference T1 Wiki:1", "*\tEquiv T1 T2", "X1\tA 10 14\tword", "oops", "T1\tA 10 14\tword\nT2\tA 10 14\tword", "\tA 10 14\tword", "T1\tA 0 0\t", "T1\tA 10 14\tword\tmore",
    ])
)  # fmt: skip


def _json(suffix: str, odd: dict[str, str], record: Callable[[int, str], str], **more: object) -> Reader:
    layout = {"head": "[\n", "between": ",\n", "foot": "\n]\n"} if suffix == "json" else {}
    plain, fat = (lambda n: record(n, "")), (lambda n: record(n, ", " + '"note": "' + "x: " * 2500 + '"'))
    return Reader(suffix, odd, plain, fat, **layout, **more)  # type: ignore[arg-type]


def _label(n: int, more: str) -> str:
    return f'{{"id": "f{n}", "value": "{"AB"[n % 2]}"{more}}}'


def _span(n: int, more: str) -> str:
    return f'{{"id": "f{n}", "spans": [{{"start": 10, "end": 14, "label": "{"AB"[n % 2]}"}}]{more}}}'


def _table(suffix: str, mark: str) -> Reader:
    row = lambda n: f"f{n}{mark}{'AB'[n % 2]}"
    return Reader(suffix, _rows(mark), row, lambda n: f"{'f' * 7000}{n}{mark}A", head=f"id{mark}value\n", format=suffix)


_JUDGED = "".join(f"{q} 0 d{n} {n % 2}\n" for q in ("odd", "f0", "f1", "f2", "A", "1") for n in range(4))
_RETRIEVED = "".join(f"{q} Q0 d{n} {n} {9 - n} t\n" for q in ("odd", "f0", "f1", "f2", "A", "1") for n in range(4))
_DICT = json.dumps({q: {f"d{n}": 9 - n for n in range(4)} for q in ("odd", "f0", "f1", "f2", "A", "1")})

_QUERIES = {"context": "ranking", "missing_queries": "skip"}

READERS = {
    "json": _json("json", {name: text for name, text in LABELS.items() if text != "{"}, _label, format="json"),
    "jsonl": _json("jsonl", LABELS, _label, format="jsonl"),
    "csv": _table("csv", ","),
    "tsv": _table("tsv", "\t"),
    "span json": _json("json", SPANS, _span, options={"context": "spans", "missing": "skip"}, format="spans"),
    "span jsonl": _json("jsonl", SPANS, _span, options={"context": "spans", "missing": "skip"}, format="spans"),
    "run": Reader("run", RUN, lambda n: f"f{n} Q0 d1 1 2.5 tag", lambda n: f"f{n} Q0 d1{'x' * 7000} 1 2.5 tag", other=_JUDGED, role="pred", options=_QUERIES),
    "qrels": Reader("qrels", QRELS, lambda n: f"f{n} 0 d1 1", lambda n: f"f{n} 0 d1{'x' * 7000} 1", other=_RETRIEVED, options=_QUERIES),
    "rankings": Reader(
        "json", RANKINGS, lambda n: f'"f{n}": {{"d1": 1}}', lambda n: f'"f{n}": {{"d1{"x" * 7000}": 1}}', head="{\n", between=",\n", foot="\n}\n", other=_DICT, format="rankings",
        options=_QUERIES,
    ),
    "brat": Reader("ann", ANN, lambda n: f"T{n}\tA {9 * n} {9 * n + 4}\tword", lambda n: f"T{n}\tA {7001 * n} {7001 * n + 7000}\t{'w' * 7000}", options={"context": "spans", "format": "brat"}, by_position=True),
    "conll": Reader("conll", CONLL, lambda n: f"w{n} B-A\nv O\n", lambda n: f"{'w' * 7000} B-A\nv O\n", options={"context": "spans", "format": "conll"}, by_position=True),
}  # fmt: skip
