# SPDX-License-Identifier: Apache-2.0
"""Labels, label sets, weights and numbers in batches of whole units: units of which both sides say the same are one that stands for many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from karat.align import Aligned, meet
from karat.batches.files import NotInBatches, Table, checked_table
from karat.batches.lines import JsonLines
from karat.check import repeated_ids
from karat.columns import Codes, Mask
from karat.engines.duckdb import Engine
from karat.findings import InputError
from karat.progress import told
from karat.read import Unread, Waiting
from karat.side import Apart, Entries, Keys, Side

MOST_LONE = 2_000_000
"""Units without a partner that are kept in mind, to be shown and looked through for other spellings."""
KINDS = ("label", "labels", "weights", "votes", "number")
ALIKE = ("truth", "numeric", "width")
"""Facts that decide how values are spelt: they must hold for all batches, or for none."""


def distinct_outcomes(engine: Engine, gold: Any, pred: Any) -> tuple[Side, Side]:
    """Both sides, each unit of which stands for all that have its test case and say the same."""
    tables = [_by_id(engine, side) for side in (gold, pred)]
    batches = max(table.batches for table in tables)
    rows, _ = (table.by_hash(batches) for table in tables)
    parts: list[Aligned] = []
    first: list[Side] = []
    lone: tuple[list[Keys], list[Keys]] = [], []
    for batch in told(range(batches), "records", rows):
        sides = [_read(table, batch) for table in tables]
        if sides[0] is None or sides[1] is None:
            raise NotInBatches  # few records, or nothing in common
        first = first or [sides[0], sides[1]]
        for side, before in zip(sides, first, strict=True):
            _same_meaning(side, before)
        parts.append(_met(sides[0], sides[1], lone))
    merged = Aligned.merge(parts).collapsed()
    return _side(merged, merged.in_gold, tables[0], first[0], lone[0]), _side(
        merged, merged.in_pred, tables[1], first[1], lone[1]
    )


def _by_id(engine: Engine, side: Any) -> Table | JsonLines:
    if isinstance(side, Waiting):
        return checked_table(engine, side, "id")
    if isinstance(side, Unread) and side.format in ("json", "jsonl"):
        return JsonLines(engine, side)
    raise NotInBatches


def _read(table: Table | JsonLines, batch: int) -> Any:
    try:
        side = table.side(batch)
    except InputError as error:
        raise NotInBatches from error
    if side is None:
        return None
    odd = any(f.line is not None or f.severity == "error" for f in side.findings)
    unsure = side.kind == "number" and table.read.context is None  # what numbers mean is told by all of them
    if side.kind not in KINDS or unsure or odd or repeated_ids(side):
        raise NotInBatches
    return side


def _same_meaning(side: Any, first: Side) -> None:
    alike = [[part.facts.get(fact) for fact in ALIKE] for part in (side, first)]
    if side.kind != first.kind or alike[0] != alike[1] or {*side.entries.columns} != {*first.entries.columns}:
        raise NotInBatches


def _met(gold: Side, pred: Side, lone: tuple[list[Keys], list[Keys]]) -> Aligned:
    both = meet(gold.keys, pred.keys)
    lone[0].append(gold.keys.take(both.gold[both.pred < 0]))
    lone[1].append(pred.keys.take(both.pred[both.gold < 0]))
    if any(sum(map(len, keys)) > MOST_LONE for keys in lone):
        raise NotInBatches
    return Aligned.of(gold, pred, both, units=False).collapsed()


def _side(merged: Aligned, there: Mask, table: Table | JsonLines, first: Side, lone: Sequence[Keys]) -> Side:
    """One side of the outcomes: the units are called by their numbers, which are those of the other side."""
    rows = np.flatnonzero(there)
    to = np.full(len(merged), -1)
    to[rows] = np.arange(len(rows))
    entries: Entries = merged.gold if table.origin.role == "gold" else merged.pred
    vocabularies = {name: names for name, names in merged.names.items() if name in first.names}
    used, entries = _used(vocabularies, entries.moved(to))
    case = merged.case.take(rows)
    keys = Keys(Codes(case.code, list(case.names)), [str(row) for row in rows.tolist()])
    keys_apart = Keys(Codes.of([c for k in lone for c in k.case.texts()]), [id for k in lone for id in k.id])
    apart = Apart(keys_apart, table.first)
    findings = [*table.findings, *first.findings]
    return replace(
        first, origin=table.origin, keys=keys, entries=entries, names=used, units={}, record=None,
        records=table.records, findings=findings, n=merged.n[rows], apart=apart,
    )  # fmt: skip


def _used(names: dict[str, list[str]], entries: Entries) -> tuple[dict[str, list[str]], Entries]:
    """Only the names that the side itself uses."""
    out, columns = dict(names), dict(entries.columns)
    for name, texts in names.items():
        kept = Codes(columns[name], texts).pruned()
        out[name], columns[name] = kept.names, kept.code
    return out, Entries(entries.unit, columns, entries.single)
