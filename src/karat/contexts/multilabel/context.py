# SPDX-License-Identifier: Apache-2.0
"""The context of label sets: what its sides must be, how its cells are made, what it says of both sides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from karat.align import LARGEST_KEY, Aligned
from karat.cells import Cells, Sparse
from karat.check import at_units, blank, repeated_ids
from karat.columns import Floats, Ints, firsts, within
from karat.contexts.base import Context
from karat.contexts.labels import label_findings
from karat.contexts.multilabel.cells import MultiLabelCells
from karat.contexts.options import OPTIONS
from karat.findings import Finding, finding
from karat.side import Entries, Side, gathered


class MultiLabel(Context):
    """Multi-label classification, with or without a hierarchy."""

    name = "multilabel"
    title = "Multi-label classification"
    cells = MultiLabelCells
    kinds = ("labels", "label", "weights")
    metrics = ("precision", "recall", "f1", "jaccard", "subset_accuracy", "hamming_loss", "icm", "icm_norm")
    options = OPTIONS["multilabel"]
    example = '{"id": "1", "value": ["A", "B"]}'

    def prepare(self, side: Side, options: Mapping[str, Any]) -> Side:
        """One unit for each id, each of its labels once, best first; a list scores its labels by minus their place."""
        side = gathered(side) if side.kind in ("label", "number") else side
        of = side.entries
        score = of["number"] if side.kind == "weights" else -within(of.sizes(len(side))).astype(float)
        entries, repeated = _once(of.unit, of["label"], score, by_place=side.kind != "weights")
        facts = side.facts | {"scored": side.kind == "weights", "repeated": repeated}
        return replace(side, entries=entries, facts=facts)

    def check_side(self, side: Side, options: Mapping[str, Any]) -> list[Finding]:
        found = repeated_ids(side)
        empty = (side.entries["label"] < 0) | np.isin(side.entries["label"], blank(side.names["label"]))
        if side.kind != "label":
            found += at_units(side, "empty-value", np.unique(side.entries.unit[empty]), field="label in the list")
        repeated = side.facts["repeated"]
        strict = side.role == "gold" and options["faulty"] == "error"
        if len(repeated):
            code = "repeated-gold-label" if strict else "repeated-label"
            count = side.units_in(repeated)
            found.append(finding(code, side.name, side.line(int(repeated[0])), count=count))
        return found

    def reduce(self, both: Aligned, options: Mapping[str, Any]) -> Aligned:
        """Gold's scores only say which labels hold; the prediction's also order them."""
        gold = both.gold
        if both.facts["gold"]["scored"]:
            gold = gold.at(np.flatnonzero(gold["score"] >= options["threshold"]))
        return replace(both, gold=Entries(gold.unit, {"label": gold["label"]})).collapsed()

    def cells_of(self, both: Aligned, options: Mapping[str, Any]) -> MultiLabelCells:
        shape = len(both), len(both.names["label"])
        gold, pred = both.gold, both.pred
        score = Sparse(pred.unit, pred["label"], pred["score"], shape)
        if both.facts["pred"]["scored"]:
            pred = pred.at(np.flatnonzero(pred["score"] >= options["threshold"]))
        gold_of, pred_of = (Sparse(side.unit, side["label"], np.ones(len(side)), shape) for side in (gold, pred))
        return MultiLabelCells(
            gold_of, pred_of, both.in_gold, both.in_pred, both.n, both.case.code, both.case.names, both.names["label"],
            options["hierarchy"], score, unit=both.unit, unit_ids=both.ids,
        )  # fmt: skip

    def remarks(self, gold: Side, pred: Side, cells: Cells, options: Mapping[str, Any]) -> list[Finding]:
        return [*label_findings(gold, pred, options["hierarchy"]), *_unlabelled(gold), *_tied(pred)]


def _once(unit: Ints, label: Ints, score: Floats, *, by_place: bool) -> tuple[Entries, Ints]:
    """Each label of a unit once, where it is best, in the order of labels; and the units that name one twice."""
    wide, deep = int(label.max(initial=0)) + 2, int(-score.min(initial=0.0)) + 1 if by_place else 1
    key = unit * wide + label + 1
    if (key[1:] > key[:-1]).all():
        return Entries(unit, {"label": label, "score": score}), np.zeros(0, np.int64)
    if by_place and (len(key) == 0 or int(key.max()) < LARGEST_KEY // deep):
        packed = np.sort(key * deep - score.astype(np.int64))
        key, score = packed // deep, -(packed % deep).astype(float)
    else:
        order = np.lexsort((-score, key))
        key, score = key[order], score[order]
    first = firsts(key)
    repeated = np.unique(key[~first] // wide)
    key, score = key[first], score[first]
    return Entries(key // wide, {"label": key % wide - 1, "score": score}), repeated


def _unlabelled(gold: Side) -> list[Finding]:
    """How many gold items have no label."""
    empty = gold.entries.sizes(len(gold)) == 0
    if not empty.any():
        return []
    return [finding("no-gold-labels", gold.name, count=gold.units_in(empty), total=gold.units_in(np.arange(len(gold))))]


def _tied(pred: Side) -> list[Finding]:
    """How many items have labels that their scores do not order."""
    if not pred.facts["scored"]:
        return []
    of = pred.entries
    order = np.lexsort((of["score"], of.unit))
    unit, score = of.unit[order], of["score"][order]
    tied = np.unique(unit[1:][(unit[1:] == unit[:-1]) & (score[1:] == score[:-1])])
    if not len(tied):
        return []
    count, total = (pred.units_in(units) for units in (tied, np.unique(unit)))
    return [finding("tied-labels", pred.name, count=count, total=total)]


context = MultiLabel()
