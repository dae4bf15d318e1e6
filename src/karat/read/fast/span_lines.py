# SPDX-License-Identifier: Apache-2.0
"""Spans from uniform JSON Lines, of which only bytes are looked at.

What it buys: 100,000 pages of 5 excerpts (two files of 33 MB) are scored in 0.51 s of CPU, and in 1.34 s without it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from karat.columns import Codes, Ints
from karat.read import fast
from karat.read.annotators import is_wrapped
from karat.read.fast.byte_codes import Words, coded
from karat.read.fast.uniform import LINE_BREAK, Block, Irregular, Layout, blocks, joined, must
from karat.read.source import Source
from karat.read.span_names import EXCERPTS, INCLUSIVE, UNFOLDS, Names, names_of_document, names_of_span
from karat.read.table import Read
from karat.side import Entries, Keys, Origin, Side

SAMPLE = 1000
"""Lines in which the first document with spans is looked for."""

Chosen = tuple[Names, Names]
"""The names of a document's fields and of a span's."""


def read_side(source: Source, read: Read, line_of: Callable[[int], int | None]) -> Side | None:
    """The documents of a file of uniform lines; None if it is anything else."""
    if not fast.ON or (columns := read_columns(source, lambda record: _names(record, read))) is None:
        return None
    if not all(id.strip(" \t\n\r") for id in columns.ids):
        return None  # the plain reader says whose id is empty
    entries = Entries(columns.unit, {"start": columns.start, "end": columns.end, "label": columns.label})
    facts = {"excerpts": columns.names[0]["spans"] in EXCERPTS, "inclusive": columns.names[1]["end"] in INCLUSIVE}
    origin, rows = Origin(read.name, read.role, "spans (jsonl)", line_of), len(columns.ids)
    keys, names = Keys(Codes.constant("", rows), columns.ids), {"label": columns.labels}
    return Side(
        origin, "spans", keys, entries, names, {}, facts, records=rows, context="spans", findings=list(source.findings)
    )


def _names(record: dict[str, Any], read: Read) -> Chosen | None:
    """The names that the first document with spans shows; what has more than ids, counts and flat spans is not read here."""
    names = names_of_document(record, read)
    spans = record.get(names["spans"])
    if not isinstance(spans, list) or not spans:
        return None
    places = names_of_span(spans[0])
    more = any(names[role] is not None for role in ("text", "test_case", "classes", "cluster"))
    must(not more and not is_wrapped(record) and not UNFOLDS.intersection(spans[0]))
    return names, places


@dataclass(frozen=True, eq=False)
class Columns:
    """Documents and their spans."""

    names: Chosen
    ids: list[str]
    unit: Ints
    start: Ints
    end: Ints
    label: Ints
    labels: list[str]


def read_columns(source: Source, look: Callable[[dict[str, Any]], Chosen | None]) -> Columns | None:
    """The documents of a file of uniform lines under the names that `look` finds in its first document with spans."""
    try:
        layout, names = _shown(source, look)
        parts = [_part(block, *names) for block in blocks(source, layout)]
        number, start, end = (np.concatenate([getattr(p, name) for p in parts]) for name in ("number", "start", "end"))
        label = joined([part.label for part in parts])
        code, rows = coded(label)
        ids, labels = joined([part.ids for part in parts]), [word[rows] for word in label]
        unit = np.repeat(np.arange(len(number)), number)
        return Columns(names, _texts(ids), unit, start, end, code, _texts(labels))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None  # a reader that can read more finds out why


def _texts(words: list[Words]) -> list[str]:
    """The texts, which hold no control characters: zeros fill them up, and line breaks can part them."""
    rows = np.stack([*words, np.full_like(words[0], LINE_BREAK)], 1)
    return rows.tobytes().translate(None, b"\0").decode()[:-1].split("\n")


def _shown(source: Source, look: Callable[[dict[str, Any]], Chosen | None]) -> tuple[Layout, Chosen]:
    """What the first document that has spans shows."""
    for line in islice(source.lines(), SAMPLE):
        names = look(json.loads(line))
        if names is not None:
            return Layout.of(line, names[0]["spans"]), names
    raise Irregular


@dataclass(frozen=True, eq=False)
class Part:
    """The columns of some documents and their spans."""

    ids: list[Words]
    number: Ints
    start: Ints
    end: Ints
    label: list[Words]


def _part(block: Block, names: Names, places: Names) -> Part:
    """Every field is looked at, so that none is overlooked."""
    outer = {f.name: block.outer(nth) for nth, f in enumerate(block.layout.fields) if f.name != names["spans"]}
    inner = {f.name: block.inner(nth) for nth, f in enumerate(block.layout.inner)}
    both = [(block.layout.fields, outer), (block.layout.inner, inner)]
    number = {f.name: block.numbers(of[f.name]) for fields, of in both for f in fields if not f.text and f.name in of}
    must(not names["count"] or np.array_equal(number[names["count"]], block.number))
    label = inner[places["label"]]
    start, end = (number[places[role]] for role in ("start", "end"))
    return Part(outer[names["id"]].words, block.number, start, end, label.words)
