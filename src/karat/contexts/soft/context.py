# SPDX-License-Identifier: Apache-2.0
"""The context of weights and votes: what its sides must be, how its cells are made, what it says of both sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from karat.align import Aligned, Meeting
from karat.cells import Cells, Sparse
from karat.check import at_units, repeated_ids
from karat.columns import Floats, firsts
from karat.contexts.agreement import AGREEMENT
from karat.contexts.base import Context
from karat.contexts.labels import outside_hierarchy, unknown_labels
from karat.contexts.options import OPTIONS
from karat.contexts.soft.cells import SoftCells
from karat.contexts.soft.checks import check_votes, check_weights, texts_for_weights
from karat.contexts.soft.hard import tied
from karat.findings import Finding, InputError, finding
from karat.side import Entries, Side


class Soft(Context):
    """Weights by label, or votes."""

    name = "soft"
    title = "Learning with disagreement"
    cells = SoftCells
    kinds = ("weights", "votes", "label")
    metrics = ("icm_soft", "icm_soft_norm", "cross_entropy", "js_divergence", "mae", "soft_f1", "accuracy", "f1")
    options = OPTIONS["soft"]
    example = '{"id": "1", "value": {"A": 0.7, "B": 0.3}}'

    def defaults(self, gold: Side) -> tuple[str, ...]:
        return AGREEMENT if gold.facts.get("alone") else self.metrics

    def prepare(self, side: Side, options: Mapping[str, Any]) -> Side:
        """A single label has all the weight."""
        if side.kind != "label":
            return side
        columns = {"label": side.entries["label"], "number": np.ones(len(side.entries))}
        return replace(side, entries=Entries(side.entries.unit, columns))

    def check_side(self, side: Side, options: Mapping[str, Any]) -> list[Finding]:
        findings = repeated_ids(side)
        if side.kind == "label":
            objects = [code for code, name in enumerate(side.names["label"]) if name.startswith("{")]
            rows = side.entries.unit[np.isin(side.entries["label"], objects)]
            return findings + at_units(side, "bad-json", rows, reason="an object that JSON cannot read")
        return findings + (check_weights(side) if side.kind == "weights" else check_votes(side))

    def coverage(self, gold: Side, pred: Side, both: Meeting, options: Mapping[str, Any]) -> list[Finding]:
        texts_for_weights(gold, pred)
        return super().coverage(gold, pred, both, options)

    def reduce(self, both: Aligned, options: Mapping[str, Any]) -> Aligned:
        """Items without a gold weight are left out; equal items are one."""
        keep = both.gold.sizes(len(both)) > 0
        both = both if keep.all() else both.take(np.flatnonzero(keep))
        both = replace(both, gold=both.gold.by("label", len(both)), pred=both.pred.by("label", len(both)))
        return both.collapsed()

    def cells_of(self, both: Aligned, options: Mapping[str, Any]) -> SoftCells:
        classes, annotators = both.names["label"], both.names.get("annotator", [])
        size = (len(both), len(classes))
        weights = _weights(both.gold, size), _weights(both.pred, size)
        if np.array_equal(weights[0].col, weights[1].col):  # most often: one column serves both
            weights = weights[0], replace(weights[1], col=weights[0].col)
        votes, answers = (_votes(side, len(annotators), size) for side in (both.gold, both.pred))
        return SoftCells(
            *weights, both.case.code, both.case.names, classes, n=both.n,
            hierarchy=options["hierarchy"], how=options["harden"], at=options["threshold"],
            position=positions(classes, options["order"]), annotators=annotators, votes_of=votes, answers_of=answers,
            unit=both.unit, unit_ids=both.ids,
        )  # fmt: skip

    def remarks(self, gold: Side, pred: Side, cells: Cells, options: Mapping[str, Any]) -> list[Finding]:
        known = gold.names["label"]
        strange = [code for code, name in enumerate(pred.names["label"]) if name not in {*known}]
        lone = {pred.names["label"][code]: count for code in strange if (count := _uses(pred, code))}
        out = unknown_labels(lone, known, pred) + outside_hierarchy(known, options["hierarchy"], gold.name)
        assert isinstance(cells, SoftCells)
        return out + _ties(cells, gold)


def _uses(side: Side, code: int) -> int:
    """How many units give a label a weight above 0."""
    of = side.entries
    used = (of["label"] == code) & (of["number"] > 0) if "number" in of else of["label"] == code
    return side.units_in(of.unit[used])


def _weights(side: Entries, size: tuple[int, int]) -> Sparse:
    """Weights by item and label; votes become shares. Zeros are kept: a label can be named with weight 0."""
    if "number" in side:
        return Sparse(side.unit, side["label"].astype(np.int64, copy=False), side["number"], size)
    wide = max(size[1], 1)
    key = np.sort(side.unit * wide + side["label"])
    start = np.flatnonzero(firsts(key))
    votes, row = np.diff(np.append(start, len(key))), key[start] // wide
    total = np.bincount(row, votes, size[0])
    return Sparse(row, key[start] % wide, votes / total[row], size)


def _votes(side: Entries, annotators: int, size: tuple[int, int]) -> Sparse | None:
    if "annotator" not in side:
        return None
    column = side["annotator"] * size[1] + side["label"]
    return Sparse.of(side.unit, column, 1.0, (size[0], annotators * size[1]))


def positions(classes: Sequence[str], order: str | None) -> Floats | None:
    """Where each label stands: by the order given, else by its number; None for names without an order."""
    if order is None:
        try:
            return np.array([float(label) for label in classes])
        except ValueError:
            return None
    place = {label.strip(): float(i) for i, label in enumerate(order.split(","))}
    lost = [label for label in classes if label not in place]
    if lost:
        raise InputError(
            [
                finding(
                    "bad-option",
                    None,
                    message=f"order leaves out {', '.join(lost[:5])}",
                    way_out="name every label once",
                )
            ]
        )
    return np.array([place[label] for label in classes])


def _ties(cells: SoftCells, gold: Side) -> list[Finding]:
    if cells.how != "majority":
        return []
    count = sum(int(cells.n[items][tied(part, part.gold)].sum()) for items, part in cells.aligned.blocks())
    return [finding("tied-majority", gold.name, count=count, total=int(cells.n.sum()))] if count else []


context = Soft()
