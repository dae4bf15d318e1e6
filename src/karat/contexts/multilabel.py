# SPDX-License-Identifier: Apache-2.0
"""A set of labels per item: the cells are distinct pairs of gold and predicted sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from karat.align import Aligned
from karat.cells import Cells, Floats, Ints, Sparse, Weights
from karat.check import at_units, blank, repeated_ids
from karat.columns import within
from karat.contexts.base import Context
from karat.contexts.labels import label_findings
from karat.contexts.lists import Lists, lists
from karat.contexts.options import OPTIONS
from karat.contexts.tree import TreeCells
from karat.findings import Finding, finding
from karat.hierarchy import Hierarchy
from karat.metric import metric
from karat.score import Values, ratio
from karat.side import Entries, Side, gathered
from karat.state import stored


@stored("multilabel-cells")
class MultiLabelCells(TreeCells):
    """Cells of items with label sets; ``in_gold`` and ``in_pred`` say which sides know the item."""

    per_cell = ("gold_of", "pred_of", "score_of", "in_gold", "in_pred")
    class_codes = ()
    averages = ("macro", "micro", "weighted", "samples")

    def __init__(
        self, gold_of: Sparse, pred_of: Sparse, in_gold: Any, in_pred: Any, n: Any, test_case: Any,
        test_cases: Sequence[str], classes: Sequence[str], hierarchy: Hierarchy | None = None,
        score_of: Sparse | None = None, **units: Any,
    ) -> None:  # fmt: skip
        super().__init__(n, test_case, test_cases, classes, hierarchy=hierarchy, **units)
        self.gold_of = gold_of
        self.pred_of = pred_of
        self.score_of = pred_of if score_of is None else score_of
        """Scores of the labels that a prediction ranks; of a list, minus the place."""
        self.in_gold = np.asarray(in_gold, float)
        self.in_pred: Floats = np.asarray(in_pred, float)

    @cached_property
    def hit_of(self) -> Sparse:
        return self.gold_of.shared(self.pred_of)

    @cached_property
    def exact(self) -> Floats:
        """1 where both sets are the same."""
        hit, gold, pred = (np.bincount(s.row, minlength=len(self)) for s in (self.hit_of, self.gold_of, self.pred_of))
        return ((hit == gold) & (hit == pred) & (self.in_gold > 0) & (self.in_pred > 0)).astype(float)

    @cached_property
    def _lists(self) -> dict[int | None, Lists]:
        return {}

    def lists(self, level: int | None = None) -> Lists:
        """The ranked labels of each item; at a level of the hierarchy, labels become their ancestors there."""
        if level not in self._lists:
            gold, score = self.gold_of, self.score_of
            to = np.arange(len(self.classes)) if level is None else self._ancestors(level)
            inside, known = to[gold.col] >= 0, to[score.col] >= 0
            truth = gold.row[inside], to[gold.col[inside]]
            ranked = score.row[known], to[score.col[known]], score.data[known]
            self._lists[level] = lists(truth, ranked, len(self), int(to.max(initial=-1)) + 1)
        return self._lists[level]

    def _ancestors(self, level: int) -> Ints:
        """A code for each class's ancestor at a level (0: roots); −1 for classes above it."""
        tree = (self.hierarchy or Hierarchy({})).extended(self.classes)
        paths = [tree.path(label)[::-1] for label in self.classes]
        names = [path[level] if level < len(path) else None for path in paths]
        at = {name: i for i, name in enumerate(dict.fromkeys(n for n in names if n is not None))}
        return np.array([-1 if name is None else at[name] for name in names], np.int64)


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
        order = np.lexsort((-score, of["label"], of.unit))
        again = np.append(False, (np.diff(of.unit[order]) == 0) & (np.diff(of["label"][order]) == 0))[: len(order)]
        repeated = np.unique(of.unit[order[again]])
        kept = order[~again]
        entries = Entries(of.unit[kept], {"label": of["label"][kept], "score": score[kept]})
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
            found.append(finding(code, side.name, side.line(int(repeated[0])), count=len(repeated)))
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


def _unlabelled(gold: Side) -> list[Finding]:
    """How many gold items have no label."""
    empty = int((gold.entries.sizes(len(gold)) == 0).sum())
    return [finding("no-gold-labels", gold.name, count=empty, total=len(gold))] if empty else []


def _tied(pred: Side) -> list[Finding]:
    """How many items have labels that their scores do not order."""
    if not pred.facts["scored"]:
        return []
    of = pred.entries
    order = np.lexsort((of["score"], of.unit))
    unit, score = of.unit[order], of["score"][order]
    tied = np.unique(unit[1:][(unit[1:] == unit[:-1]) & (score[1:] == score[:-1])])
    return [finding("tied-labels", pred.name, count=len(tied), total=len(np.unique(unit)))] if len(tied) else []


@metric(MultiLabelCells, proportion=True, symmetric=True, reference="Zhang & Zhou 2014, doi:10.1109/TKDE.2013.39")
def subset_accuracy(W: Weights, cells: MultiLabelCells) -> Values:
    """Share of gold items whose predicted set is exactly the gold set.

    Undefined without gold items.

    >>> # gold {A, B}, {A}; predicted {A, B}, {B}: 1 of 2
    >>> karat.evaluate([["A", "B"], ["A"]], [["A", "B"], ["B"]], metrics=["subset_accuracy"])["subset_accuracy"].value
    0.5
    """
    return ratio(W @ cells.exact, W @ cells.in_gold, "no gold items")


@metric(MultiLabelCells, better="lower", symmetric=True, reference="Zhang & Zhou 2014, doi:10.1109/TKDE.2013.39")
def hamming_loss(W: Weights, cells: MultiLabelCells) -> Values:
    """Share of (item, class) decisions that are wrong.

    HL = Σ_c (gold_c + predicted_c − 2·hits_c) / (n·K), K the classes in use on either side.
    Undefined without gold items or classes.

    >>> # gold {A, B}, {A}; predicted {A, B}, {B}: A missed and B added in the second: 2 of 2·2
    >>> karat.evaluate([["A", "B"], ["A"]], [["A", "B"], ["B"]], metrics=["hamming_loss"])["hamming_loss"].value
    0.5
    """
    gold, pred = W @ cells.gold_of, W @ cells.pred_of
    wrong = (gold + pred - 2 * (W @ cells.hit_of)).sum(-1)
    return ratio(wrong, (W @ cells.in_gold) * ((gold > 0) | (pred > 0)).sum(-1), "no gold items or classes")


context = MultiLabel()
