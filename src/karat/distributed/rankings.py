# SPDX-License-Identifier: Apache-2.0
"""Rankings on a cluster: the records of a query meet in one partition, which keeps its judged documents with their places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from karat.batches.rankings import Ranked, counted, reduced, whole
from karat.columns import Text
from karat.contexts.base import Counted
from karat.distributed.frames import key_findings, lacking
from karat.engines import spark
from karat.engines.spark import Frame
from karat.findings import InputError, finding
from karat.read.names import rank_beside
from karat.side import Origin, Side, by_query


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
            parts: list[Ranked] = spark.mapped(both, partial(of_table, setting=setting))
            rows = [watch() for _, watch in records]
        sides = [self._side(role, parts, seen) for role, seen in zip(("gold", "pred"), rows, strict=True)]
        return counted(parts, (sides[0], sides[1]), options), (sides[0], sides[1])

    def _side(self, role: str, parts: Sequence[Ranked], seen: Mapping[str, Any]) -> Side:
        """What is known of a side as a whole; its documents have stayed where they are."""
        frame = self.gold if role == "gold" else self.pred
        if not seen["rows"]:
            raise InputError([finding("no-records", frame.name)])
        side = whole(parts, role, by_name=True)
        findings = key_findings(frame, seen)
        if seen["no_value"]:
            findings.append(finding("missing-field", f"{frame.name} ({seen['no_value']:,} records)", field="value"))
        if seen["not_number"] is not None:
            findings.append(finding("not-a-number", frame.name, field="value", text=seen["not_number"]))
        return replace(side, records=seen["rows"], findings=findings)


def of_table(table: Any, setting: Setting) -> Ranked:
    """The queries of one partition, checked and reduced; runs where the partition is."""
    gold, pred = (_side(table, role, setting) for role in ("gold", "pred"))
    return reduced(gold, pred, setting.options, _place)


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
