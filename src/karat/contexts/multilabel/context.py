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
        if side.kind == "weights":
            entries, repeated = _best(of.unit, of["label"], of["number"])
        else:
            entries, repeated = _first(of.unit, of["label"], within(of.sizes(len(side))))
        facts = side.facts | {"scored": side.kind == "weights", "repeated": repeated}
        return replace(side, entries=entries, facts=facts)

    def check_side(self, side: Side, options: Mapping[str, Any]) -> list[Finding]:
        findings = repeated_ids(side)
        empty = (side.entries["label"] < 0) | np.isin(side.entries["label"], blank(side.names["label"]))
        if side.kind != "label":
            findings += at_units(side, "empty-value", np.unique(side.entries.unit[empty]), field="label in the list")
        repeated = side.facts["repeated"]
        strict = side.role == "gold" and options["faulty"] == "error"
        if len(repeated):
            code = "repeated-gold-label" if strict else "repeated-label"
            count = side.units_in(repeated)
            findings.append(finding(code, side.name, side.line(int(repeated[0])), count=count))
        return findings

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


def _first(unit: Ints, label: Ints, place: Ints) -> tuple[Entries, Ints]:
    """Each label of a unit once, where it stands first, in the order of labels; and the units that name one twice."""
    key, bits = _keys(unit, label)
    deep = int(place.max(initial=0)).bit_length()
    if len(key) and int(key.max()) >= LARGEST_KEY >> deep:
        return _best(unit, label, -place.astype(float))
    packed = (key << deep) + place
    if (key[1:] < key[:-1]).any():
        packed.sort()
    return _once(packed >> deep, bits, -(packed & (1 << deep) - 1).astype(float))


def _best(unit: Ints, label: Ints, score: Floats) -> tuple[Entries, Ints]:
    """The same of scores: each label where its score is best."""
    key, bits = _keys(unit, label)
    if (key[1:] > key[:-1]).all():
        return Entries(unit, {"label": label, "score": score}), np.zeros(0, np.int64)
    order = np.lexsort((-score, key))
    return _once(key[order], bits, score[order])


def _keys(unit: Ints, label: Ints) -> tuple[Ints, int]:
    """Unit and label (−1: none) as one number, and how many bits the label has."""
    bits = (int(label.max(initial=0)) + 1).bit_length()
    return (unit << bits) + label + 1, bits


def _once(key: Ints, bits: int, score: Floats) -> tuple[Entries, Ints]:
    first = firsts(key)
    repeated = np.unique(key[~first] >> bits)
    if len(repeated):
        key, score = key[first], score[first]
    return Entries(key >> bits, {"label": (key & (1 << bits) - 1) - 1, "score": score}), repeated


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
