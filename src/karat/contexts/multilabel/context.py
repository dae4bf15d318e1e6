# SPDX-License-Identifier: Apache-2.0
"""The context of label sets: what its sides must be, how its cells are made, what it says of both sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from karat.align import Aligned
from karat.cells import Cells, Sparse
from karat.check import at_units, blank, repeated_ids
from karat.columns import BLOCK, Ints, Mask, narrow, ordered, recode, within
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
        """One unit for each id, each of its labels once; a list scores its labels by minus their place, from 1."""
        side = gathered(side) if side.kind in ("label", "number") else side
        names = {**side.names, "label": ordered(side.names["label"])}  # as in the end, so that nothing is sorted twice
        label = recode(side.entries["label"], side.names["label"], names["label"], narrow(len(names["label"])))
        of = side.entries.of(side.entries.columns | {"label": label})
        entries, repeated = _best(of, len(side)) if side.kind == "weights" else _first(of, len(side))
        facts = side.facts | {"scored": side.kind == "weights", "repeated": repeated}
        return replace(side, entries=entries, names=names, facts=facts)

    def check_side(self, side: Side, options: Mapping[str, Any]) -> list[Finding]:
        findings = repeated_ids(side)
        label, blanks = side.entries["label"], blank(side.names["label"])
        if side.kind != "label" and (blanks or label.min(initial=0) < 0):
            empty = (label < 0) | np.isin(label, blanks)
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
        return replace(both, gold=gold.of({"label": gold["label"]})).collapsed()

    def cells_of(self, both: Aligned, options: Mapping[str, Any]) -> MultiLabelCells:
        shape = len(both), len(both.names["label"])
        gold, pred = both.gold, both.pred
        number = pred["score"] if both.facts["pred"]["scored"] else pred["score"] + 1
        score = Sparse(pred.unit, pred["label"], number, shape)
        if both.facts["pred"]["scored"]:
            pred = pred.at(np.flatnonzero(pred["score"] >= options["threshold"]))
        one = np.broadcast_to(1.0, max(len(gold), len(pred)))
        gold_of, pred_of = (Sparse(side.unit, side["label"], one[: len(side)], shape) for side in (gold, pred))
        return MultiLabelCells(
            gold_of, pred_of, both.in_gold, both.in_pred, both.n, both.case.code, both.case.names, both.names["label"],
            options["hierarchy"], score, unit=both.unit, unit_ids=both.ids,
        )  # fmt: skip

    def remarks(self, gold: Side, pred: Side, cells: Cells, options: Mapping[str, Any]) -> list[Finding]:
        return [*label_findings(gold, pred, options["hierarchy"]), *_unlabelled(gold), *_tied(pred)]


def _first(of: Entries, units: int) -> tuple[Entries, Ints]:
    """Each label of a unit once, where it stands first, in the order of labels; and the units that name one twice."""
    label: Ints = of["label"]
    place: Ints = of["place"] if "place" in of else within(of.sizes(units))
    bits, last = (int(label.max(initial=0)) + 1).bit_length(), int(place.max(initial=0))
    deep, score = last.bit_length(), narrow(last + 1)
    if of.rises("label", units):
        return of.of({"label": label, "score": np.invert(place, dtype=score)}), np.zeros(0, np.int64)
    if bits + deep > MOST_BITS or not of.in_order:
        return _best(of.of({"label": label, "number": np.invert(place)}), units)
    out = np.empty(len(label), label.dtype), np.empty(len(label), score)
    wide, both = of.wide(units), of.of({"label": label, "place": place})
    blocks = _even(both, wide, bits, deep, out) if 1 < wide <= FEW else _ragged(both, bits, deep, out)
    twice = np.unique(np.concatenate([np.zeros(0, np.int64), *blocks]))
    entries = of.of({"label": out[0], "score": out[1]})
    return (entries.at(np.flatnonzero(_news(entries))), twice) if len(twice) else (entries, twice)


def _ragged(of: Entries, bits: int, deep: int, out: tuple[Ints, Ints]) -> Iterator[Ints]:
    """Write labels and scores in the order of labels, a unit's together; gives the units that name one twice."""
    for begin, part in of.blocks():
        here, first = slice(begin, begin + len(part)), int(part.unit[0])
        small = (int(part.unit[-1]) - first + 1 << bits + deep) < 1 << 31
        key: Any = (part.unit - first).astype(np.int32 if small else np.int64)
        key <<= bits
        key += part["label"]
        key += 1
        key <<= deep
        key += part["place"]
        key.sort()
        out[1][here] = ~(key & (1 << deep) - 1)
        key >>= deep
        out[0][here] = (key & (1 << bits) - 1) - 1
        again = np.flatnonzero(key[1:] == key[:-1])
        yield (key[again] >> bits) + np.int64(first)


FEW = 8
"""Labels of a unit up to which they are sorted by comparing two at a time, those of all units at once."""


def _even(of: Entries, wide: int, bits: int, deep: int, out: tuple[Ints, Ints]) -> Iterator[Ints]:
    """The same of units that have as many labels each."""
    for begin in range(0, len(of) // wide, BLOCK):
        label, place, to_label, to_score = (
            c[begin * wide : (begin + BLOCK) * wide] for c in (of["label"], of["place"], *out)
        )
        key = [label[at::wide].astype(narrow(1 << bits + deep)) for at in range(wide)]
        for at in range(wide):
            key[at] += 1
            key[at] <<= deep
            key[at] += place[at::wide]
        for end in range(wide - 1, 0, -1):
            for at in range(end):
                key[at], key[at + 1] = np.minimum(key[at], key[at + 1]), np.maximum(key[at], key[at + 1])
        for at in range(wide):
            to_score[at::wide] = ~(key[at] & (1 << deep) - 1)
            key[at] >>= deep
            to_label[at::wide] = key[at] - 1
        yield from (np.flatnonzero(key[at] == key[at - 1]) + begin for at in range(1, wide))


def _news(of: Entries) -> Mask:
    """Where an entry has another unit or label than the one before it."""
    return np.append(True, (np.diff(of.unit) != 0) | (np.diff(of["label"]) != 0))[: len(of)]


MOST_BITS = 40
"""Bits of a label and its place up to which both fit into a number beside the units of a block."""


def _best(of: Entries, units: int) -> tuple[Entries, Ints]:
    """The same of scores: each label where its score is best."""
    label, score = of["label"], of["number"]
    if of.rises("label", units):
        return of.of({"label": label, "score": score}), np.zeros(0, np.int64)
    order = np.lexsort((-score, label, of.unit))
    entries = Entries(of.unit[order], {"label": label[order], "score": score[order]})
    new = _news(entries)
    return (entries if new.all() else entries.at(np.flatnonzero(new))), np.unique(entries.unit[~new])


def _unlabelled(gold: Side) -> list[Finding]:
    """How many gold items have no label."""
    if gold.entries.wide(len(gold)) or not (empty := gold.entries.sizes(len(gold)) == 0).any():
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
