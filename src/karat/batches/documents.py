# SPDX-License-Identifier: Apache-2.0
"""Documents with spans or tags from JSON Lines: read some at a time; their spans stay, of their texts a digest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import numpy as np

from karat.batches.files import NotInBatches
from karat.batches.lines import read_lines, stretches
from karat.check import repeated_ids
from karat.columns import Ints
from karat.contexts import context
from karat.engines.duckdb import Engine
from karat.findings import Finding, InputError, any_error
from karat.notes import Note, noted, worded
from karat.read import Unread
from karat.side import Entries, Keys, Positions, Side, joined

OF_TEXTS = ("span-outside", "span-text-differs")
"""What can only be found where the text is."""


def are_documents(sides: Sequence[Any]) -> bool:
    """Does the format say that these are documents with spans?"""
    formats = (side.format if isinstance(side, Unread) else isinstance(side, Side) and side.context for side in sides)
    return all(format == "spans" for format in formats)


def without_texts(engine: Engine, given: Side | Unread, options: Mapping[str, Any]) -> Side:
    """One side without its texts, with what they alone can tell."""
    parts, lines = list[Side](), list[Ints]()
    read, checked = list[Note](), list[Note]()
    bad = False
    for part, number in _parts(engine, given):
        if isinstance(part, InputError):
            read, bad = [*read, *noted(part.findings, int)], True
            continue
        read += noted(part.findings, int)
        checked += noted(_checked(part, options), int)
        parts.append(_slim(part))
        lines.append(number)
    if not parts:
        raise NotInBatches  # one object over several lines, say
    if bad:
        raise InputError(worded(read))
    if isinstance(given, Side):
        return replace(parts[0], findings=[*given.findings, *_of_texts(parts[0], checked)])
    side = _joined(parts)
    line = np.concatenate(lines)
    if len(line) != len(side):
        raise NotInBatches  # some records are no documents
    side.origin = replace(given.origin, format="spans (jsonl)", line_of=lambda row: int(line[row]))
    side.findings = [*given.source.findings, *worded(read), *_of_texts(side, checked)]
    return side


def _parts(engine: Engine, given: Side | Unread) -> Any:
    """The batches, or what is wrong with them, with the lines of their documents."""
    if isinstance(given, Side):
        yield replace(given, findings=[]), np.zeros(0, np.int64)
        return
    for lines, number in stretches(engine, given):
        try:
            yield read_lines(engine, given, lines, number), number
        except InputError as error:
            yield error, number


def _checked(part: Side, options: Mapping[str, Any]) -> list[Finding]:
    """What is wrong with a batch; what tags mean is known when all of them are."""
    if "tag" in part.entries or "text" not in part.units:
        return []
    return [f for f in context("spans").check_side(part, options) if f.code != "repeated-id"]


def _of_texts(side: Side, checked: Sequence[Note]) -> list[Finding]:
    """Of what was found in batches only what cannot be found again; quotes are not looked at where something is wrong."""
    kept = [note for note in checked if note.facts.get("kind", note.code) in OF_TEXTS]
    findings = worded(kept)
    wrong = any_error(worded(checked)) or repeated_ids(side)
    return [f for f in findings if f.facts.get("kind", f.code) != "span-text-differs"] if wrong else findings


def _slim(side: Side) -> Side:
    entries = {name: column for name, column in side.entries.columns.items() if name != "quote"}
    units = {name: column for name, column in side.units.items() if name != "text"}
    if "text" in side.units:
        units["digest"] = [None if text is None else _digest(text) for text in side.units["text"]]
    return replace(side, entries=Entries(side.entries.unit, entries), units=units)


def _digest(text: Any) -> int:
    """Enough of a text to tell it from another."""
    return int.from_bytes(blake2b(repr(text).encode(errors="surrogatepass"), digest_size=8).digest(), "little")


def _joined(parts: Sequence[Side]) -> Side:
    """The batches as one side, if they are of one kind."""
    if len({_kind(part) for part in parts}) > 1 or any("by_role" in part.facts for part in parts):
        raise NotInBatches  # what a record of an annotation tool means is known when all are
    if any("parent" in part.entries for part in parts):
        parts = [replace(part, entries=_with_parents(part.entries)) for part in parts]
    side = joined(parts)
    return replace(side, keys=Keys(side.keys.case, Positions(len(side)))) if parts[0].keys.by_position else side


def _kind(side: Side) -> Any:
    facts = tuple(sorted(name for name, value in side.facts.items() if value))
    return facts, "tag" in side.entries, side.keys.by_position, *sorted({*side.units} - {"digest"})


def _with_parents(entries: Entries) -> Entries:
    return Entries(
        entries.unit, {**entries.columns, "parent": entries.columns.get("parent", np.full(len(entries), -1))}
    )
