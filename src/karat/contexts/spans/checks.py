# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with a side of spans, each finding with its line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from karat.check import at_limit, repeated_ids
from karat.columns import Ints
from karat.contexts.spans.marked import Marked, scheme_of, tagged
from karat.contexts.spans.matching import Pairs, overlaps
from karat.contexts.spans.span import Bools, Spans, any_overlap, ascending, on_one_line
from karat.contexts.spans.tags import BadTag, Tagged, check_prefixes, malformed, only_between
from karat.findings import Finding, finding
from karat.side import Side


def check_side(side: Side, options: Mapping[str, Any]) -> list[Finding]:
    """Everything that is wrong with one side by itself; what gold's scheme says of predicted tags comes later."""
    findings = repeated_ids(side)
    if "tag" in side.entries:
        if side.role == "pred" and options["scheme"] == "strict":
            return findings  # gold's scheme is not known here
        return findings + check_tags(side, golds_scheme(options["scheme"], side))
    marked = Marked.of_entries(side.entries, side.names["label"], len(side), side.facts, options)
    findings += _places(side, marked)
    if any(f.severity == "error" for f in (*side.findings, *findings)):
        return findings
    return findings + _quotes(side, marked) + _overlapping(side, marked)


def golds_scheme(wanted: str, *sides: Side) -> str:
    """The scheme that an option means, for both sides: a prediction of tagged gold must not choose its own."""
    return scheme_of(wanted, *(_tagged(side) for side in sides if "tag" in side.entries and wanted == "strict"))


def check_tags(side: Side, scheme: str) -> list[Finding]:
    """Tags that the scheme does not know, or that continue what is not there."""
    if "tag" not in side.entries:
        return []
    tags = _tagged(side)
    try:
        check_prefixes(tags, scheme)
    except BadTag as error:
        return [finding("tag-unknown", side.name, _line(side, error.entry), tag=error.tag, scheme=error.scheme)]
    return _malformed(side, tags, scheme)


def _tagged(side: Side) -> Tagged:
    return tagged(side.entries, side.units["length"], side.names["tag"])


def _line(side: Side, entry: int) -> int | None:
    """The line of a span or tag, or of the document that it is in."""
    return int(side.entries["line"][entry]) if "line" in side.entries else side.line(int(side.entries.unit[entry]))


def _malformed(side: Side, tags: Tagged, scheme: str) -> list[Finding]:
    used = {tag[0] for tag in tags.used}
    if scheme in ("IOB1", "IOE1", "IOE2") or not used & set("BSUL"):
        return []  # an I- after O is how a span begins
    if scheme == "lenient" and used <= set("IB") and only_between(tags):
        return []  # IOB1, which lenient reading reads as it is meant
    return at_limit(
        "tag-malformed",
        malformed(tags),
        side,
        lambda entry: finding(
            "tag-malformed", side.name, _line(side, entry),
            tag=tags.tags[int(tags.code[entry])], sentence=side.keys.id[int(side.entries.unit[entry])],
        ),
    )  # fmt: skip


def _facts(side: Side, marked: Marked, row: int) -> dict[str, Any]:
    s = marked.spans
    return {
        "id": side.keys.id[int(s.unit[row])], "label": marked.labels[int(s.label[row])],
        "start": int(s.start[row]), "end": int(s.end[row]),
    }  # fmt: skip


def _places(side: Side, marked: Marked) -> list[Finding]:
    s = marked.spans
    size = _sizes(side)
    wrong = {"span-empty": s.end <= s.start, "span-negative": s.start < 0, "span-outside": s.end > size[s.unit]}
    out = []
    for code, rows in wrong.items():
        make = lambda row, code=code: finding(
            code, side.name, _line(side, row), size=int(size[s.unit[row]]), **_facts(side, marked, row)
        )
        out += at_limit(code, np.flatnonzero(rows), side, make)
    return out


def _sizes(side: Side) -> Ints:
    """Characters or tokens of each document; without a text there is no end to it."""
    endless = np.iinfo(np.int64).max
    texts = side.units.get("text")
    if texts is None:
        return np.full(len(side), endless)
    return np.array([endless if text is None else len(text) for text in texts], np.int64)


def _quotes(side: Side, marked: Marked) -> list[Finding]:
    """Spans whose own text is not what the document has at their place."""
    texts = side.units.get("text")
    if "quote" not in side.entries or texts is None:
        return []
    s, quotes = marked.spans, side.entries["quote"].tolist()
    rows = zip(s.unit.tolist(), s.start.tolist(), s.end.tolist(), quotes, strict=True)
    differ = [
        row
        for row, (unit, start, end, quote) in enumerate(rows)
        if quote is not None and texts[unit] is not None and texts[unit][start:end] != quote
    ]
    return at_limit(
        "span-text-differs",
        np.array(differ, np.int64),
        side,
        lambda row: finding(
            "span-text-differs", side.name, _line(side, row), quote=_short(str(quotes[row])),
            found=_short("".join(texts[s.unit[row]][s.start[row] : s.end[row]])), **_facts(side, marked, row),
        ),
    )  # fmt: skip


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"


def _overlapping(side: Side, marked: Marked) -> list[Finding]:
    """The same span twice on either side; gold spans of one label and level that overlap."""
    full = marked.full_names()
    rows = {"span-repeated": _repeated(full.spans)}
    if side.role == "gold":
        rows["span-overlaps"] = _crossing(full.spans, full.parent)
    out: list[Finding] = []
    for code, bad in rows.items():
        make = lambda row, code=code: finding(code, side.name, _line(side, row), **_facts(side, full, row))
        out += at_limit(code, bad, side, make)
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
    same: Bools = (np.diff(key[order]) == 0) & (np.diff(spans.end[order]) == 0)
    return np.sort(order[1:][same])


def _crossing(spans: Spans, parent: Ints | None) -> Ints:
    """Spans that overlap another of their label and level, but are not equal to it."""
    if not any_overlap(spans.in_place()):
        return np.zeros(0, dtype=np.int64)
    level = spans.unit if parent is None else parent + 1 + spans.unit * (len(spans) + 1)
    inside = Spans(level, spans.start, spans.end, spans.label).within_label(int(spans.label.max(initial=0)) + 1)
    order = spans.by_place()
    unit = np.unique(inside.unit, return_inverse=True)[1].astype(np.int64)
    ordered = Spans(unit, inside.start, inside.end, inside.label).take(order)
    crossed = overlaps(ordered, ordered)
    pairs: Pairs = crossed.take(crossed.gold < crossed.pred)
    first, second = order[pairs.gold], order[pairs.pred]
    same = (spans.start[first] == spans.start[second]) & (spans.end[first] == spans.end[second])
    return np.unique(second[~same])
