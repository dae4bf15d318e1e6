# SPDX-License-Identifier: Apache-2.0
"""Labels that are counted where they lie: large tables of one label to an item, of which no row leaves the engine.

The values of a label column are few, so that a side is read from its distinct values alone (`summary`), by the rules for
every other side; ids are compared inside the engine, and only (test case, gold, predicted, how often) comes out. What
is not clean (blank or repeated ids, records without a value, anything that a finding would name a line for) raises
`NotInPlace`: then the rows are read as those of a small file are, and said what is wrong with. So this module can be
deleted without changing a number or a message. It buys (1M rows of Parquet in the same order, process start included):
1.2 s CPU and 142 MB in place of 2.6 s and 520 MB, and tables that do not fit into memory.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.align import Aligned, Meeting, lacking
from karat.columns import Codes, Ints, vocabulary
from karat.contexts.base import Context, Counted
from karat.engines.duckdb import KEYS, PLAIN, Engine, LabelTable, Pairs
from karat.findings import InputError, finding
from karat.read import Waiting
from karat.read.roles import Records, read_side, roles_of
from karat.side import Entries, Keys, Side

ON = not os.environ.get("KARAT_PLAIN")
"""Whether tables are counted inside the engine at all."""
MOST_VALUES = 100_000
"""Distinct values up to which a column can be one of labels."""
MOST_LONE = 2_000_000
"""Units without a partner that leave the engine, to be shown and looked through for other spellings."""


class NotInPlace(Exception):
    """The rows have to be looked at one by one."""


@dataclass(eq=False, kw_only=True)
class Summary(Side):
    """A side whose units stand for all records with the same test case and value, which stay in the engine."""

    table: LabelTable
    raw: list[tuple[Any, Any]]
    """Test case and value of each unit as the engine has them."""

    @property
    def code(self) -> Ints:
        """The label of each unit."""
        code = np.full(len(self), -1)
        code[self.entries.unit] = self.entries["label"]
        return code


def summary(engine: Engine, waiting: Waiting) -> Summary:
    """A large table as a side, read from its distinct values by the rules for all sides."""
    records, read = waiting.records, waiting.read
    columns: Any = records.columns
    roles = roles_of(records, read)
    if (
        waiting.pages
        or "value" not in roles
        or columns.types[roles["value"]] not in PLAIN
        or read.wants_numbers(roles["value"])
    ):
        raise NotInPlace
    if not all(columns.types[roles[role]] in KEYS for role in ("id", "test_case") if role in roles):
        raise NotInPlace
    table = LabelTable(
        columns.relation, roles["value"], roles.get("id"), roles.get("test_case"), not records.typed, columns.types
    )
    distinct = engine.distinct(f"{read.role} {read.name}", table, MOST_VALUES)
    if distinct is None:
        raise NotInPlace
    values, n = distinct
    rows = len(n)
    few: dict[str, Any] = {name: [None] * rows for name in columns}
    few |= {roles["value"]: values["v"]}
    few |= {roles["id"]: [str(row) for row in range(rows)]} if "id" in roles else {}
    few |= {roles["test_case"]: values["c"]} if "test_case" in roles else {}
    side = read_side(Records(records.origin, few, rows, records.typed, list(records.findings)), read)
    cases = _listed(values["c"])
    if any(f not in records.findings and f.code != "extra-fields" for f in side.findings):
        raise NotInPlace
    if side.keys.case.texts() != cases or side.record is not None:
        raise NotInPlace
    fields = {field.name: getattr(side, field.name) for field in dataclasses.fields(side)}
    raw = list(zip(cases, _listed(values["v"]), strict=True))
    return Summary(**fields | {"records": records.rows, "n": n}, table=table, raw=raw)


def _listed(column: Any) -> list[Any]:
    out: list[Any] = column.tolist() if hasattr(column, "tolist") else list(column)
    return out


CONTEXTS = ("monolabel", "clustering")
"""Contexts whose cells need no more than which labels met how often."""


def count(engine: Engine, context: Context, gold: Summary, pred: Summary, options: Mapping[str, Any]) -> Counted:
    """Both sides aligned and counted by the engine, reduced and turned into cells as all others are."""
    if context.name not in CONTEXTS:
        raise NotInPlace
    for side in (gold, pred):
        if side.kind != "label" or "label" not in side.entries or len(side.entries) != len(side):
            raise NotInPlace
    by_position = gold.table.id is None and pred.table.id is None
    if by_position and gold.records != pred.records:
        raise InputError([finding("length-differs", pred.name, gold=gold.records, pred=pred.records)])
    if (gold.table.id is None) != (pred.table.id is None):
        raise NotInPlace
    pairs = engine.pairs(gold.table, pred.table)
    if not pairs.clean:
        raise NotInPlace
    counts = _coverage(pairs)
    findings = _findings(engine, gold, pred, counts, options)
    aligned = _aligned(gold, pred, pairs, options)
    merged = Aligned.merge([context.reduce(aligned, options)])
    cells = context.cells_of(merged, options)
    counts |= context.totals(merged)
    return Counted(cells, counts, findings + context.remarks(gold, pred, cells, options))


def _coverage(pairs: Pairs) -> dict[str, int]:
    gold, pred = int(pairs.n[pairs.in_gold].sum()), int(pairs.n[pairs.in_pred].sum())
    both = int(pairs.n[pairs.in_gold & pairs.in_pred].sum())
    return {"gold": gold, "pred": pred, "aligned": both, "gold_only": gold - both, "pred_only": pred - both}


def _findings(engine: Engine, gold: Summary, pred: Summary, counts: dict[str, int], options: Mapping[str, Any]) -> Any:
    """What either side lacks, of the units that have no partner and the first of each side."""
    if counts["aligned"] == counts["gold"] == counts["pred"]:
        return []
    none = not counts["aligned"]
    lone = [
        _keys(engine.lone(here.table, there.table, MOST_LONE)) if counts[only] else Keys(Codes.constant("", 0), [])
        for here, there, only in ((gold, pred, "gold_only"), (pred, gold, "pred_only"))
    ]
    first = [engine.first_ids(side.table, 3) if none else [] for side in (gold, pred)]
    return lacking(pred.name, counts, (lone[0], lone[1]), (first[0], first[1]), options)


def _keys(rows: tuple[list[str], list[str]]) -> Keys:
    case, id = rows
    return Keys(Codes.of(case), id)


def _aligned(gold: Summary, pred: Summary, pairs: Pairs, options: Mapping[str, Any]) -> Aligned:
    """The pairs as rows, those that are scored."""
    names = vocabulary("label", [gold.names["label"], pred.names["label"]])
    labels, cases = [], []
    for side, case, value in ((gold, pairs.gold_case, pairs.gold_value), (pred, pairs.pred_case, pairs.pred_value)):
        of = {raw: unit for unit, raw in enumerate(side.raw)}
        unit = np.array([of.get(key, -1) for key in zip(case, value, strict=True)], np.int64)
        labels.append(np.append(Codes(side.code, side.names["label"]).inside(names), -1)[unit])
        cases.append([side.keys.case.text(u) if u >= 0 else "" for u in unit.tolist()])
    in_gold, in_pred = pairs.in_gold, pairs.in_pred
    case = [g if inside else p for g, p, inside in zip(*cases, in_gold.tolist(), strict=True)]
    rows = np.arange(len(pairs.n))
    meeting = Meeting(np.where(in_gold, rows, -1), np.where(in_pred, rows, -1))
    keep = meeting.kept(options.get("missing", "wrong"), options.get("extra", "ignore"))
    kept = np.maximum(keep.gold, keep.pred)
    known = sorted({case[row] for row in kept.tolist()})
    at = {name: code for code, name in enumerate(known)}
    sides = []
    for label in labels:
        has = np.flatnonzero(label[kept] >= 0)
        sides.append(Entries(has, {"label": label[kept][has]}, single=len(has) == len(kept)))
    return Aligned(
        Codes(np.array([at[case[row]] for row in kept.tolist()], np.int64), known),
        pairs.n[kept], in_gold[kept], in_pred[kept], sides[0], sides[1], {"label": names},
        facts={"gold": gold.facts, "pred": pred.facts},
    )  # fmt: skip
