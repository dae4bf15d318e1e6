# SPDX-License-Identifier: Apache-2.0
"""Rankings on a cluster: the records of a query meet in one partition, which keeps its judged documents with their places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from karat.align import Aligned, meet
from karat.columns import Text
from karat.contexts import context
from karat.contexts.base import Counted
from karat.distributed.frames import key_findings, lacking
from karat.distributed.notes import Note, noted, worded
from karat.engines import spark
from karat.engines.memory import finished
from karat.engines.spark import Frame
from karat.findings import InputError, finding, stop_on_errors
from karat.read.names import rank_beside
from karat.side import Entries, Origin, Side, by_query, joined


class Ranked(NamedTuple):
    """What a partition gives: its queries reduced, what the whole must know of either side, and what is wrong."""

    part: Aligned
    gold: Side
    pred: Side
    retrieved: int
    notes: list[Note]


@dataclass(frozen=True)
class Setting:
    """What a partition must know: names of the sides, facts of their columns, and the options."""

    names: Mapping[str, str]
    facts: Mapping[str, Mapping[str, Any]]
    ranked: bool
    """Whether the prediction has ranks beside its scores."""
    options: Mapping[str, Any]


@dataclass(eq=False)
class Rankings:
    """Judgements and a run on the cluster."""

    gold: Frame
    pred: Frame

    def count(self, options: Mapping[str, Any]) -> tuple[Counted, tuple[Side, Side]]:
        """Both sides as far as the driver needs them, and the cells of all queries."""
        bad = [f for frame in (self.gold, self.pred) for f in lacking(frame)]
        if bad:
            raise InputError(bad)
        rank = rank_beside(self.pred.data.columns, self.pred.roles["value"])
        records = [spark.numbered(self.gold, None), spark.numbered(self.pred, rank)]
        facts = {f.role: {"column": f.roles["value"].strip().lower()} for f in (self.gold, self.pred)}
        names = {f.role: f.name for f in (self.gold, self.pred)}
        setting = Setting(names, facts, rank is not None, options)
        with spark.guarded(f"{self.gold.name}, {self.pred.name}"):
            both = spark.together([data for data, _ in records], "case")
            parts: list[Ranked] = spark.mapped(both, partial(reduced, setting=setting))
            rows = [dict(watch.get) for _, watch in records]
        sides = [self._side(role, parts, seen) for role, seen in zip(("gold", "pred"), rows, strict=True)]
        notes = worded([note for part in parts for note in part.notes])
        stop_on_errors([*sides[0].findings, *sides[1].findings, *notes])
        merged = Aligned.merge([part.part for part in parts])
        ranking = context("ranking")
        meeting = meet(sides[0].keys, sides[1].keys)
        counted = finished(ranking, sides[0], sides[1], meeting, merged, options)
        return replace(counted, findings=[*notes, *counted.findings]), (sides[0], sides[1])

    def _side(self, role: str, parts: Sequence[Ranked], seen: Mapping[str, Any]) -> Side:
        """What is known of a side as a whole; its documents have stayed where they are."""
        frame = self.gold if role == "gold" else self.pred
        if not seen["rows"]:
            raise InputError([finding("no-records", frame.name)])
        side = joined([getattr(part, role) for part in parts])
        side = side.take(np.array(sorted(range(len(side)), key=lambda i: side.keys.case.text(i)), np.int64))
        if role == "pred":
            retrieved = sum(part.retrieved for part in parts)
            side = replace(side, entries=Entries(np.broadcast_to(np.int64(0), retrieved), {}))
        findings = key_findings(frame, seen)
        if seen["no_value"]:
            findings.append(finding("missing-field", f"{frame.name} ({seen['no_value']:,} records)", field="value"))
        if seen["not_number"] is not None:
            findings.append(finding("not-a-number", frame.name, field="value", text=seen["not_number"]))
        return replace(side, records=seen["rows"], findings=findings)


def reduced(table: Any, setting: Setting) -> Ranked:
    """The queries of one partition, checked and reduced; runs where the partition is."""
    ranking, options = context("ranking"), setting.options
    gold, pred = (_side(table, role, setting) for role in ("gold", "pred"))
    notes: list[Note] = []
    for side in (gold, pred):
        notes += noted(ranking.check_side(side, options), partial(_place, side))
    both = meet(gold.keys, pred.keys)
    aligned = Aligned.of(gold, pred, ranking.kept(both, options), units=False)
    slim = Entries(gold.entries.unit, {"number": gold.entries["number"]})
    return Ranked(
        ranking.reduce(aligned, options), replace(gold, entries=slim, record=None, origin=_origin(gold)),
        replace(pred, entries=Entries.none(), record=None, origin=_origin(pred)), len(pred.entries), notes,
    )  # fmt: skip


def _origin(side: Side) -> Origin:
    """Where a side is from, without what only its worker can say."""
    return Origin(side.name, side.role, "spark")


def _place(side: Side, line: int) -> str:
    entry = int(np.flatnonzero(side.entries["record"] == line - 1)[0])
    query = side.keys.case.text(int(side.entries.unit[entry]))
    return f"document {side.entries['document'][entry : entry + 1].texts()[0]!r} of query {query!r}"


def _side(table: Any, role: str, setting: Setting) -> Side:
    """The records of a side by query, documents by the order of their bytes: a cluster knows no order of lines."""
    rows = table.filter(spark.is_role(table, role))
    query, document = (_texts(rows[name]) for name in ("case", "id"))
    code = query.codes()[0] if len(query) else np.zeros(0, np.int64)
    order = np.lexsort((*document.sort_keys(), code))
    columns: dict[str, Any] = {"number": rows["number"].to_numpy()[order].astype(float), "document": document[order]}
    if role == "pred" and setting.ranked:
        columns["rank"] = rows["rank"].to_numpy()[order].astype(float)
    origin = Origin(setting.names[role], role, "spark", lambda row: row + 1)
    side = by_query(origin, query[order], np.ones(len(order), np.int64), columns)
    side.facts |= setting.facts[role]
    return side


def _texts(column: Any) -> Text:
    """An Arrow column of texts, its bytes as they are."""
    return Text.of(column.cast("binary").to_pylist())
