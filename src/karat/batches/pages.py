# SPDX-License-Identifier: Apache-2.0
"""Page streams in batches of whole bundles: each is read as a small file is; of a page its number, flag and codes stay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from karat.batches.files import NotInBatches, Table, batch_rows, renumbered
from karat.batches.lines import JsonLines
from karat.batches.rankings import stretched
from karat.columns import Codes, recode
from karat.engines.duckdb import KEYS, Engine
from karat.findings import InputError
from karat.progress import told
from karat.read import Unread, Waiting
from karat.read.pages import bundle_column
from karat.side import Entries, Side, joined


def may_be_pages(sides: Sequence[Any]) -> bool:
    """Can these be page streams? Of lines the first ones tell."""
    return all(
        side.pages if isinstance(side, Waiting) else isinstance(side, Unread) or side.context == "splitting"
        for side in sides
    )


def bundles(engine: Engine, given: Any) -> Side:
    """One side, its bundles and pages in the order of the file; what a finding of the reader would name a line for is not read here."""
    if isinstance(given, Side):
        return given
    try:
        read = _of_table(engine, given) if isinstance(given, Waiting) else _of_lines(engine, given)
        parts = [_slim(part) for part in read]
    except InputError as error:
        raise NotInBatches from error
    findings = parts[0].findings
    if any(part.findings != findings or {*part.entries.columns} != {*parts[0].entries.columns} for part in parts):
        raise NotInBatches  # fields that only some records have
    record = np.concatenate([part.record for part in parts if part.record is not None])
    side = replace(joined(parts), record=record)
    parts.clear()  # their pages are there a second time
    return replace(_by_appearance(side.take(np.argsort(record))), origin=given.origin, findings=list(findings))


def _of_table(engine: Engine, waiting: Waiting) -> Iterator[Side]:
    """Stretches of the file where its pages stand by bundle, else of a copy in which they do."""
    columns: Any = waiting.records.columns
    key, typed = bundle_column(waiting.records, waiting.read), waiting.records.typed
    if columns.types[key] not in KEYS or (not typed and engine.spells_fractions(columns.relation, [key])):
        raise NotInBatches  # whether 1.0 is 1 depends on all ids
    table = Table(engine, waiting, key)
    units = table.stretches()
    batch, cuts = stretched(units, batch_rows(engine))
    batches = int(batch.max(initial=0)) + 1
    table.arrange(dict(zip(units.key, batch.tolist(), strict=True)), cuts, batches)
    rows = np.bincount(batch, units.rows, batches).astype(int).tolist()
    for nth in told(range(batches), "pages", rows):
        if (side := table.side(nth)) is not None:
            yield side


def _of_lines(engine: Engine, unread: Unread) -> Iterator[Side]:
    """Lines by a hash of their bundle."""
    if unread.format not in ("json", "jsonl"):
        raise NotInBatches
    lines = JsonLines(engine, unread, "splitting")
    rows = lines.by_hash(lines.batches)
    unread.origin.line_of = lambda record: int(lines.lines[record])
    for nth in told(range(len(rows)), "records", rows):
        if (side := lines.side(nth)) is not None:
            yield renumbered(side, np.concatenate(lines.place[nth]))


def _slim(side: Side) -> Side:
    """Its numbers in half the room, where they fit."""
    limits = np.iinfo(np.int32)
    columns = {
        name: column.astype(np.int32)
        if column.dtype == np.int64 and column.min(initial=0) >= limits.min and column.max(initial=0) <= limits.max
        else column
        for name, column in side.entries.columns.items()
    }
    return replace(side, entries=Entries(side.entries.unit, columns))


def _by_appearance(side: Side) -> Side:
    """Categories in the order in which the file names them."""
    code, names = side.entries["category"], side.names["category"]
    there = Codes(code[np.argsort(side.entries["record"], kind="stable")], names).by_appearance().names
    columns = {**side.entries.columns, "category": recode(code, names, there)}
    entries = Entries(side.entries.unit, columns)
    return replace(side, entries=entries, names={"category": there}, facts={**side.facts, "categories": there})
