# SPDX-License-Identifier: Apache-2.0
"""Labels, label sets, weights and clusters on a cluster: every distinct outcome is one unit that stands for many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from karat.align import EXAMPLES
from karat.columns import Ints
from karat.distributed.frames import key_findings, lacking, record_key
from karat.engines import spark
from karat.engines.spark import Frame, Outcomes
from karat.findings import LIMIT, Finding, InputError, finding
from karat.read.names import match_columns
from karat.read.roles import LONG, Records, read_side
from karat.side import Origin, Side
from karat.stats.clusters import GROUPS, UnitGroups
from karat.stats.random import hash_group

AFTER_GOLD = 1 << 40
"""Where the numbers of a prediction's records begin, so that a finding tells of which side it is."""


@dataclass(eq=False)
class Pair:
    """Gold and one system's predictions on the cluster, joined."""

    gold: Frame
    pred: Frame
    context: str | None
    options: Mapping[str, Any] = field(default_factory=dict)
    groups: bool = False
    """Whether units are kept apart by random groups, for intervals."""

    @property
    def frames(self) -> dict[str, Frame]:
        return {"gold": self.gold, "pred": self.pred}

    @cached_property
    def long(self) -> dict[str, str | None]:
        """By role, the column beside the labels of a long table (None: labels alone), where the table is long."""
        shapes = {role: _long(frame, self.context) for role, frame in self.frames.items()}
        return {role: column for role, (is_long, column) in shapes.items() if is_long}

    @cached_property
    def outcomes(self) -> Outcomes:
        frames = [
            spark.gathered(frame, self.long[role]) if role in self.long else frame
            for role, frame in self.frames.items()
        ]
        sets = self.context in (None, "multilabel")
        clusters = self.context == "clustering"
        values = [
            spark.values_of(frames[0], ordered=not (sets or clusters)),
            spark.values_of(frames[1], ordered=not clusters),
        ]
        with spark.guarded(f"{self.gold.name}, {self.pred.name}"):
            outcomes = spark.outcomes(frames[0], frames[1], values, group_of if self.groups else None)
        alone = self.options.get("noise") is not None or self.options.get("missing") == "singletons"
        return _spread(outcomes, self.options) if clusters and alone else outcomes

    def sides(self) -> tuple[Side, Side]:
        """Both sides as the engine of data in memory takes them."""
        bad = [f for frame in (self.gold, self.pred) for f in lacking(frame)]
        if bad:
            raise InputError(bad)
        gold, pred = (self._side(role) for role in ("gold", "pred"))
        return gold, pred

    def _side(self, role: str) -> Side:
        frame, out = self.frames[role], self.outcomes
        index = np.flatnonzero(out.in_gold if role == "gold" else out.in_pred)
        columns, record = self._records(role, index)
        begin = 1 if role == "gold" else AFTER_GOLD
        origin = Origin(frame.name, role, "spark", lambda row: begin + int(record[row]))
        read = replace(frame.read, context=self.context)
        side = read_side(Records(origin, columns, len(record), frame.typed), read)
        origin.system = frame.name if role == "pred" else ""
        side.n = out.n[[int(id) for id in side.keys.id]]
        side.keys = replace(side.keys, shown=self._shown(role))
        side.records = out.rows[role]
        side.findings += self._of_ids(role)
        return side

    def _records(self, role: str, index: Ints) -> tuple[dict[str, Any], Ints]:
        """The outcomes as records under the frame's own names, and the outcome of each record."""
        frame, out = self.frames[role], self.outcomes
        values = [(out.gold if role == "gold" else out.pred)[i] for i in index.tolist()]
        record, beside = index, None
        if role in self.long:
            size = [max(len(entries), 1) for entries in values]
            record = np.repeat(index, size)
            entries = [entry for listed in values for entry in (listed or [{"value": None}])]
            values, beside = [entry["value"] for entry in entries], [entry.get("other") for entry in entries]
        columns: dict[str, Any] = {name: [None] * len(record) for name in frame.data.columns}
        columns[frame.roles["value"]] = values
        columns[frame.roles.get("id", "id")] = [str(i) for i in record.tolist()]
        if "test_case" in frame.roles:
            columns[frame.roles["test_case"]] = [out.case[i] for i in record.tolist()]
        if beside is not None and self.long[role] is not None:
            columns[str(self.long[role])] = beside
        return columns, record

    def _shown(self, role: str) -> dict[str, str]:
        """Ids of some units that only one side has, by the number of an outcome."""
        out = self.outcomes
        lone = np.flatnonzero(out.in_gold & ~out.in_pred if role == "gold" else out.in_pred & ~out.in_gold)
        ids = out.alone.ids[role][:EXAMPLES] if out.alone else []
        return {str(i): id for i, id in zip(lone.tolist(), ids)}

    def _of_ids(self, role: str) -> list[Finding]:
        """What is wrong with the ids of a side."""
        frame, out = self.frames[role], self.outcomes
        if "id" not in frame.roles:
            return []
        again = role not in self.long and (out.repeats or self.gold.data is self.pred.data)
        return (key_findings(frame, spark.key_counts(frame)) if out.blank else []) + (_repeated(frame) if again else [])

    @property
    def unit_groups(self) -> UnitGroups | None:
        """The random groups of the units, where they were asked for."""
        out = self.outcomes
        return None if out.group is None else UnitGroups(out.group, out.n)

    def alike(self) -> list[Finding]:
        """Ids of either side that would meet if they were spelt alike, or if the test cases were."""
        if self.outcomes.alone is None:
            return []
        _, _, spelt, moved = self.outcomes.alone
        findings = []
        if spelt:
            findings.append(finding("ids-alike", self.pred.name, count=spelt[0], gold=spelt[1], pred=spelt[2]))
        if moved:
            count, id, mine, theirs = moved
            findings.append(finding("test-cases-differ", self.pred.name, count=count, id=id, gold=mine, pred=theirs))
        return findings

    def located(self, findings: Sequence[Finding]) -> list[Finding]:
        """The findings with the key of a record in place of a line: a table on a cluster has none."""
        out, places = self.outcomes, dict[int, tuple[str, int]]()
        for f in findings:
            if f.line is not None:
                role, row = ("pred", f.line - AFTER_GOLD) if f.line >= AFTER_GOLD else ("gold", f.line - 1)
                places[f.line] = role, row
        ids = {
            role: spark.ids_of(frame, [int(out.key[row]) for of, row in places.values() if of == role])
            for role, frame in self.frames.items()
        }
        return [f if f.line is None else self._at(f, places[f.line][1], ids[places[f.line][0]]) for f in findings]

    def _at(self, f: Finding, row: int, ids: Mapping[int, tuple[str, str]]) -> Finding:
        case, id = ids.get(int(self.outcomes.key[row]), (self.outcomes.case[row], "?"))
        n = int(self.outcomes.n[row])
        place = record_key(case, id) + (f" and {n - 1:,} more like it" if n > 1 else "")
        return msgspec.structs.replace(f, file=f"{f.file} ({place})", line=None)


def group_of(batch: Any) -> Ints:
    """The random group of each unit of an Arrow batch, as units in memory have it."""
    case, id = (np.array(batch.column(name).to_pylist(), str) for name in ("case", "id"))
    return hash_group(np.char.add(np.char.add(case, "\x1f"), id), GROUPS)


def _long(frame: Frame, context: str | None) -> tuple[bool, str | None]:
    """Has the table a row for each label of an item, or for each annotator? And which column stands beside the label?"""
    if "value" not in frame.roles or spark.kind_of(frame) not in ("text", "number", "label"):
        return False, None
    if context not in (None, "soft", "multilabel"):
        return False, None
    read = frame.read
    free = [name for name in frame.data.columns if name not in frame.roles.values()]
    roles = match_columns(free, {k: v for k, v in read.columns.items() if k in LONG}, LONG)
    if "annotator" in roles:
        return True, roles["annotator"]
    if "score" in roles and (context == "soft" or spark.repeats(frame)):
        return True, roles["score"]
    return context == "multilabel", None


def _repeated(frame: Frame) -> list[Finding]:
    keys, total = spark.repeated(frame)
    out = [
        finding("repeated-id", frame.name, id=id, where=f" of test case {case!r}" if case else "", first=None)
        for case, id in keys
    ]
    return out + ([finding("more", frame.name, count=total - LIMIT, kind="repeated-id")] if total > LIMIT else [])


def _holds(value: Any, noise: str | None) -> bool:
    return noise is not None and noise in (map(str, value) if isinstance(value, list) else [str(value)])


def _spread(out: Outcomes, options: Mapping[str, Any]) -> Outcomes:
    """Items that are clusters of their own stay single: no other is equal to them."""
    noise = options.get("noise")
    lone = np.array([_holds(g, noise) or _holds(p, noise) for g, p in zip(out.gold, out.pred, strict=True)], np.bool_)
    if options.get("missing") == "singletons":
        lone = lone | ~out.in_pred | np.array([p in (None, []) for p in out.pred], np.bool_)
    order = sorted(range(len(out)), key=lambda i: (out.case[i], repr(out.gold[i]), repr(out.pred[i])))
    times = np.where(lone, out.n, 1)[order]
    at = np.repeat(np.array(order, np.int64), times)
    rows = at.tolist()
    return replace(
        out, case=[out.case[i] for i in rows], gold=[out.gold[i] for i in rows], pred=[out.pred[i] for i in rows],
        in_gold=out.in_gold[at], in_pred=out.in_pred[at], n=np.where(lone, 1, out.n)[at], key=out.key[at],
        group=None if out.group is None else out.group[at],
    )  # fmt: skip
