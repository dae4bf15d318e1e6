# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with a file of spans, each finding with its line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from operator import lt
from typing import Any

import numpy as np

from karat.contexts.base import Table
from karat.contexts.pairing import more
from karat.contexts.spans.annotated import Annotated, Encoded, Numbered, Side, Text
from karat.contexts.spans.matching import Pairs, overlaps
from karat.contexts.spans.span import Bools, Ints, Spans, any_overlap, ascending, on_one_line
from karat.contexts.spans.tags import BadTag, malformed, only_between
from karat.findings import LIMIT, Finding, finding


def check_side(table: Table, options: Mapping[str, Any]) -> list[Finding]:
    """Everything that is wrong with one side by itself."""
    side: Annotated = table.coded["spans"]  # type: ignore[assignment]
    found = _repeated_documents(table, side)
    try:
        spans = side.side(options)
    except BadTag as error:
        line = _token_line(table, side, error.position)
        return [*found, finding("tag-unknown", table.name, line, tag=error.tag, scheme=error.scheme)]
    if side.tagged is not None:
        return found + _malformed(table, side, options["scheme"])
    found += _places(table, side, spans)
    if any(f.severity == "error" for f in found):
        return found
    return found + _quotes(table, side, spans) + _overlapping(table, side, spans)


def _limited(code: str, rows: Ints, table: Table, make: Callable[[int], Finding]) -> list[Finding]:
    return [make(row) for row in rows[:LIMIT].tolist()] + more(code, len(rows), table)


def _span_line(table: Table, side: Annotated, spans: Spans, row: int) -> int | None:
    if side.span_lines is not None:
        return int(side.span_lines[row])
    document = int(spans.unit[row])
    return int(side.lines[document]) if side.lines is not None else table.line(document)


def _token_line(table: Table, side: Annotated, position: int) -> int | None:
    return table.line(_document(side, position)) if side.token_lines is None else int(side.token_lines[position])


def _facts(side: Annotated, spans: Side, row: int) -> dict[str, Any]:
    s = spans.spans
    return {
        "id": side.ids[int(s.unit[row])], "label": spans.labels[int(s.label[row])],
        "start": int(s.start[row]), "end": int(s.end[row]),
    }  # fmt: skip


def _repeated_documents(table: Table, side: Annotated) -> list[Finding]:
    if isinstance(side.ids, Numbered) or (
        isinstance(side.ids, Encoded) and side.test_case is None and side.ids.ascending
    ):
        return []
    keys = side.keys
    if all(map(lt, keys, islice(keys, 1, None))) or len(set(keys)) == len(keys):
        return []
    first: dict[Any, int] = {}
    again = [row for row, key in enumerate(keys) if first.setdefault(key, row) != row]

    def line(row: int) -> int | None:
        return table.line(row) if side.lines is None else int(side.lines[row])

    make = lambda row: finding(
        "repeated-id", table.name, line(row), id=side.ids[row], where="", first=line(first[keys[row]])
    )
    return _limited("repeated-id", np.array(again), table, make)


def _malformed(table: Table, side: Annotated, scheme: str) -> list[Finding]:
    assert side.tagged is not None
    tagged = side.tagged
    used = {tag[-1 if tagged.suffix else 0] for tag in tagged.used}
    if scheme in ("IOB1", "IOE1", "IOE2") or not used & set("BSUL"):
        return []  # an I- after O is how a span begins
    if scheme == "lenient" and used <= set("IB") and only_between(tagged):
        return []  # IOB1, which lenient reading reads as it is meant
    at = malformed(tagged)

    def tag(position: int) -> str:
        return tagged.tags[int(tagged.code[np.searchsorted(tagged.at, position)])]

    make = lambda p: finding(
        "tag-malformed", table.name, _token_line(table, side, p), tag=tag(p), sentence=str(side.ids[_document(side, p)])
    )
    return _limited("tag-malformed", at, table, make)


def _document(side: Annotated, position: int) -> int:
    assert side.tagged is not None
    return int(np.searchsorted(np.cumsum(side.tagged.lengths), position, side="right"))


def _places(table: Table, side: Annotated, spans: Side) -> list[Finding]:
    s = spans.spans
    rows = {"span-empty": s.end <= s.start, "span-negative": s.start < 0, "span-outside": _outside(side, s)}
    out = []
    for code, wrong in rows.items():
        make = lambda row, code=code: finding(
            code, table.name, _span_line(table, side, s, row), size=_size(side, s, row), **_facts(side, spans, row)
        )
        out += _limited(code, np.flatnonzero(wrong), table, make)
    return out


def _outside(side: Annotated, spans: Spans) -> Bools:
    if side.texts is None:
        return np.zeros(len(spans), dtype=bool)
    size = np.array([np.iinfo(np.int64).max if text is None else len(text) for text in side.texts], dtype=np.int64)
    return np.asarray(spans.end > size[spans.unit])


def _size(side: Annotated, spans: Spans, row: int) -> int:
    text = None if side.texts is None else side.texts[int(spans.unit[row])]
    return 0 if text is None else len(text)


def _quotes(table: Table, side: Annotated, spans: Side) -> list[Finding]:
    """Spans whose own text is not what the document has at their place."""
    if side.quotes is None or side.texts is None:
        return []
    s = spans.spans
    rows = zip(s.unit.tolist(), s.start.tolist(), s.end.tolist(), side.quotes, strict=True)
    differ = [i for i, (u, a, b, quote) in enumerate(rows) if _differs(side.texts[u], a, b, quote)]
    make = lambda row: finding(
        "span-text-differs", table.name, _span_line(table, side, s, row), quote=_short(side.quotes, row),
        found=_short([_cut(side, s, row)], 0), **_facts(side, spans, row),
    )  # fmt: skip
    return _limited("span-text-differs", np.array(differ, dtype=np.int64), table, make)


def _differs(text: Text, start: int, end: int, quote: str | None) -> bool:
    return text is not None and quote is not None and text[start:end] != quote


def _cut(side: Annotated, spans: Spans, row: int) -> str:
    text = (side.texts or [])[int(spans.unit[row])]
    return "" if text is None else "".join(text[int(spans.start[row]) : int(spans.end[row])])


def _short(texts: Any, row: int) -> str:
    text = str(texts[row])
    return text if len(text) <= 40 else text[:39] + "…"


def _overlapping(table: Table, side: Annotated, spans: Side) -> list[Finding]:
    """The same span twice on either side; gold spans of one label and level that overlap."""
    s = spans.paths.spans
    rows = {"span-repeated": _repeated(s)}
    if table.role == "gold":
        rows["span-overlaps"] = _crossing(s, spans.parent)
    out: list[Finding] = []
    for code, found in rows.items():
        make = lambda row, code=code: finding(
            code, table.name, _span_line(table, side, s, row), **_facts(side, spans.paths, row)
        )
        out += _limited(code, found, table, make)
    return out


def _repeated(spans: Spans) -> Ints:
    """Spans that an earlier one equals in document, place and label."""
    if ascending(spans.unit, spans.start):
        return np.zeros(0, dtype=np.int64)
    size = int(spans.label.max(initial=0)) + 1
    start = on_one_line(spans, spans).gold_start
    key = start * size + spans.label
    if np.all(key[1:] > key[:-1]):
        return np.zeros(0, dtype=np.int64)
    order = np.lexsort((np.arange(len(key)), spans.end, key))
    same = (np.diff(key[order]) == 0) & (np.diff(spans.end[order]) == 0)
    return np.sort(order[1:][same])


def _crossing(spans: Spans, parent: Ints | None) -> Ints:
    """Spans that overlap another of their label and level, but are not equal to it."""
    level = (
        spans
        if parent is None
        else Spans(parent + 1 + spans.unit * (len(spans) + 1), spans.start, spans.end, spans.label)
    )
    pairs = _among(spans, level)
    first, second = pairs.gold, pairs.pred
    same = (spans.start[first] == spans.start[second]) & (spans.end[first] == spans.end[second])
    return np.unique(second[~same])


def _among(spans: Spans, grouped: Spans) -> Pairs:
    """Overlapping pairs of one label among spans (each pair once)."""
    if not any_overlap(spans.in_place()):
        return Pairs(*(np.zeros(0, dtype=np.int64) for _ in range(3)))
    order = spans.by_place()
    inside = grouped.within_label(int(spans.label.max(initial=0)) + 1)
    unit = np.unique(inside.unit, return_inverse=True)[1].astype(np.int64)
    ordered = Spans(unit, inside.start, inside.end, inside.label).take(order)
    pairs = overlaps(ordered, ordered)
    keep = pairs.take(pairs.gold < pairs.pred)
    return Pairs(order[keep.gold], order[keep.pred], keep.common)


def check_lengths(gold: Annotated, pred: Annotated, rows: Iterable[tuple[int, int]], table: Table) -> list[Finding]:
    """Sentences whose tags do not pair up."""
    if gold.tagged is None or pred.tagged is None:
        return []
    mine, theirs = gold.tagged.lengths, pred.tagged.lengths
    pairs = np.array([(g, p) for g, p in rows], dtype=np.int64).reshape(-1, 2)
    wrong = np.flatnonzero(mine[pairs[:, 0]] != theirs[pairs[:, 1]])
    make = lambda i: finding(
        "sentence-length-differs", table.name, None if pred.lines is None else int(pred.lines[pairs[i, 1]]),
        id=gold.ids[int(pairs[i, 0])], gold=int(mine[pairs[i, 0]]), pred=int(theirs[pairs[i, 1]]),
    )  # fmt: skip
    return _limited("sentence-length-differs", wrong, table, make)
