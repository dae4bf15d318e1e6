# SPDX-License-Identifier: Apache-2.0
"""The fastest way to read JSON spans: uniform lines, of which only bytes are looked at."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from karat.contexts.spans import Annotated, Spans
from karat.contexts.spans.annotated import Encoded
from karat.contexts.spans.byte_codes import Words, coded
from karat.contexts.spans.span import Ints
from karat.read.source import Source
from karat.read.spans import EXCERPTS, INCLUSIVE
from karat.read.spans_columns import SAMPLE, Names, names_of, objects
from karat.read.table import Read
from karat.read.uniform import Block, Irregular, Layout, blocks, joined, must, packed


def read_uniform(source: Source, read: Read) -> Annotated | None:
    """The documents of a file of uniform lines; None if it is anything else."""
    return _read(source, lambda record: names_of({name: objects([v]) for name, v in record.items()}, read))


def read_named(source: Source, names: Names) -> Annotated | None:
    """The same where the names are known and ids and labels are texts."""
    return _read(source, lambda record: names if record[names.spans] and _are_texts(record, names) else None)


def _are_texts(record: dict[str, Any], names: Names) -> bool:
    values = (record[names.id], *(span[names.inner["label"]] for span in record[names.spans]))
    return all(isinstance(value, str) for value in values)


def _read(source: Source, look: Callable[[dict[str, Any]], Names | None]) -> Annotated | None:
    try:
        layout, names = _shown(source, look)
        return _annotated([_part(block, names) for block in blocks(source, layout)], names)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None  # a reader that can read more finds out why


def _shown(source: Source, look: Callable[[dict[str, Any]], Names | None]) -> tuple[Layout, Names]:
    """What the first document that has spans shows."""
    for line in islice(source.lines(), SAMPLE):
        names = look(json.loads(line))
        if names is not None:
            must(not names.text)
            return Layout.of(line, names.spans), names
    raise Irregular


@dataclass(frozen=True, eq=False)
class Part:
    """The columns of some documents and their spans."""

    ids: list[Words]
    number: Ints
    start: Ints
    end: Ints
    label: list[Words]


def _part(block: Block, names: Names) -> Part:
    """Every field is looked at, so that none is overlooked."""
    outer = {f.name: block.outer(nth) for nth, f in enumerate(block.layout.fields) if f.name != names.spans}
    inner = {f.name: block.inner(nth) for nth, f in enumerate(block.layout.inner)}
    both = [(block.layout.fields, outer), (block.layout.inner, inner)]
    number = {f.name: block.numbers(of[f.name]) for fields, of in both for f in fields if not f.text and f.name in of}
    must(not names.count or np.array_equal(number[names.count], block.number))
    label = inner[names.inner["label"]]
    return Part(
        outer[names.id].words, block.number, number[names.inner["start"]], number[names.inner["end"]], label.words
    )


def _annotated(parts: list[Part], names: Names) -> Annotated:
    number, start, end = (np.concatenate([getattr(p, name) for p in parts]) for name in ("number", "start", "end"))
    label = joined([p.label for p in parts])
    code, rows = coded(label)
    spans = Spans(np.repeat(np.arange(len(number)), number), start, end, code)
    ids = Encoded(packed(joined([p.ids for p in parts])))
    known = list(Encoded(packed([word[rows] for word in label])))
    inclusive, excerpts = names.inner["end"] in INCLUSIVE, names.spans in EXCERPTS
    return Annotated(ids, spans, known, inclusive=inclusive, excerpts=excerpts)
