# SPDX-License-Identifier: Apache-2.0
"""Soft cells: one item each, with gold's and the prediction's weight of every label."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from karat.cells import Floats, Ints, Sparse, TakenCells
from karat.columns import Mask
from karat.contexts.agreement import Votes
from karat.contexts.groups import sums
from karat.contexts.soft.aligned import ROUNDED, Aligned, align
from karat.contexts.soft.hard import harden
from karat.contexts.soft.information import Spread, information, spread
from karat.contexts.tree import TreeCells
from karat.hierarchy import Hierarchy
from karat.state import stored


@stored("soft-cells")
class SoftCells(TakenCells, TreeCells):
    """Items with weighted labels. The metrics of hard labels see them after ``harden``."""

    per_cell = ("gold_weight", "pred_weight", "votes_of", "answers_of")

    def __init__(
        self, gold_weight: Sparse, pred_weight: Sparse, test_case: Any, test_cases: Sequence[str], classes: Sequence[str],
        *, n: Any = None, hierarchy: Hierarchy | None = None, how: str = "majority", at: float = 0.5,
        position: Any = None, annotators: Sequence[str] = (), votes_of: Sparse | None = None,
        answers_of: Sparse | None = None, **units: Any,
    ) -> None:  # fmt: skip
        items = gold_weight.shape[0]
        super().__init__(
            np.ones(items) if n is None else n, test_case, test_cases, classes, hierarchy=hierarchy, **units
        )
        self.gold_weight, self.pred_weight = gold_weight, pred_weight
        self.how, self.at = how, at
        self.position: Floats | None = None if position is None else np.asarray(position, float)
        """Where each label stands on a line; None when the labels have no order."""
        self.annotators = list(annotators)
        nothing = Sparse.of([], [], [], (items, len(annotators) * len(self.classes)))
        self.votes_of = nothing if votes_of is None else votes_of
        """Gold votes; column annotator · labels + label."""
        self.answers_of = nothing if answers_of is None else answers_of
        """Predicted votes, in the same columns."""

    def as_whole(self) -> Self:
        self.source = None
        return self

    @cached_property
    def _case(self) -> Ints:
        """Which test case of `whole` each cell is of."""
        at = {name: i for i, name in enumerate(self.whole.test_cases)}
        return np.array([at[name] for name in self.test_cases], np.int64)[self.test_case]

    @cached_property
    def aligned(self) -> Aligned:
        gold, pred = self.gold_weight, self.pred_weight
        return align((gold.row, gold.col, gold.data), (pred.row, pred.col, pred.data), len(self), len(self.classes))

    @cached_property
    def _vectors(self) -> dict[Any, Any]:
        return {}

    def vector(self, kernel: Callable[..., Floats], *params: Any, at_once: bool = False) -> Floats:
        """``kernel`` over the aligned weights, of some items at a time, computed once for each set of parameters."""
        key = (kernel.__name__, *params)
        if key not in self._vectors:
            parts = [self.aligned] if at_once else (part for _, part in self.aligned.blocks())
            self._vectors[key] = np.concatenate([np.zeros(0), *(kernel(part, *params) for part in parts)])
        vector: Floats = self._vectors[key]
        return vector

    def answers(self, cell: int) -> tuple[str, str]:
        """The weights, heaviest first."""
        return self._weights(self.gold_weight, cell), self._weights(self.pred_weight, cell)

    def _weights(self, of: Sparse, cell: int) -> str:
        at = np.flatnonzero(of.row == cell)
        heaviest = sorted(zip(of.data[at].tolist(), of.col[at].tolist(), strict=True), key=lambda x: (-x[0], x[1]))
        return ", ".join(f"{self.classes[c]} {w:.3g}" for w, c in heaviest) or "—"

    @cached_property
    def in_gold(self) -> Floats:  # type: ignore[override]
        return np.ones(len(self))

    @cached_property
    def weighted(self) -> Floats:
        """1 for items whose gold weights are not all 0."""
        return (self.aligned.gold_mass > 0).astype(float)

    def _sparse(self, rows: Mask, data: Any = 1.0) -> Sparse:
        a = self.aligned
        at = np.flatnonzero(rows)
        return Sparse.of(
            a.item[at], a.label[at], data if np.isscalar(data) else data[at], (len(self), len(self.classes))
        )

    @cached_property
    def hard(self) -> tuple[Mask, Mask]:
        """Rows of the aligned weights that are labels after hardening, of gold and of the prediction."""
        a = self.aligned
        return harden(a, a.gold, self.how, self.at), harden(a, a.pred, self.how, self.at)

    @cached_property
    def gold_of(self) -> Sparse:  # type: ignore[override]
        return self._sparse(self.hard[0])

    @cached_property
    def pred_of(self) -> Sparse:  # type: ignore[override]
        return self._sparse(self.hard[1])

    @cached_property
    def hit_of(self) -> Sparse:  # type: ignore[override]
        return self._sparse(self.hard[0] & self.hard[1])

    @cached_property
    def exact(self) -> Floats:
        """1 where the hardened labels of both sides are the same; none at all are an answer only if they are given."""
        gold, pred = self.hard
        return ((self.aligned.sum((gold != pred).astype(float)) == 0) & (self.lost == 0)).astype(float)

    @cached_property
    def independent(self) -> Mask:
        """Test cases in which most of gold's weights do not sum to 1: several labels may hold, or none."""
        total = sums(self.test_case, self.n, len(self.test_cases))
        apart = sums(self.test_case, self.n * (np.abs(self.aligned.gold_mass - 1) > ROUNDED), len(self.test_cases))
        return 2 * apart > total

    @cached_property
    def lost(self) -> Floats:
        """Weight that an item without a prediction has on labels of its own: 1, or 1 for each independent label.

        No answer over gold's labels is farther off, so that silence never helps. Independent weights may all be 0.
        """
        free, named = self.whole.independent[self._case], self.aligned.sum(self.aligned.in_pred.astype(float)) > 0
        silent = np.where(free, ~named, ~self.aligned.answered)
        return silent * np.where(free, self.gold_labels, 1.0)

    @cached_property
    def lost_labels(self) -> Sparse:
        """1 for every label that gold of the test case names, in items without a prediction."""
        item = np.flatnonzero(self.lost > 0)
        row, label = np.nonzero(self.whole.named[self._case[item]])
        return Sparse.of(item[row], label, 1.0, (len(self), len(self.classes)))

    @cached_property
    def gold_share(self) -> Sparse:
        """Gold's weight of each label."""
        return self._sparse(self.aligned.in_gold, self.aligned.gold)

    @cached_property
    def pred_share(self) -> Sparse:
        return self._sparse(self.aligned.in_pred, self.aligned.pred)

    @cached_property
    def shared(self) -> Sparse:
        """The smaller of both sides' weights of each label."""
        a = self.aligned
        return self._sparse(a.in_gold & a.in_pred, np.minimum(a.gold, a.pred))

    @cached_property
    def named(self) -> Mask:
        """Whether gold of a test case (rows) names a label (columns)."""
        out = np.zeros((len(self.test_cases), len(self.classes)), bool)
        out[self.test_case[self.gold_weight.row], self.gold_weight.col] = True
        return out

    @cached_property
    def gold_labels(self) -> Floats:
        """Number of labels that gold names in the item's test case."""
        return self.whole.named.sum(1).astype(float)[self._case]

    @cached_property
    def known_gap(self) -> Floats:
        """Sum of differences over the labels that gold names, as PyEvALL's MAE has it: silence is weight 0."""
        a = self.aligned
        known = self.whole.named[self._case[a.item], a.label]
        return a.sum(np.where(known, np.abs(a.gold - a.pred), 0.0))

    @cached_property
    def by_node(self) -> Aligned:
        """The weights under the numbers of the tree's nodes, of which labels are some."""
        at = {node: i for i, node in enumerate(self.nodes)}
        code: Ints = np.array([at[label] for label in self.classes], np.int32)  # type: ignore[assignment]  # half the room
        if (np.diff(code) > 0).all():  # so that rows stay in order
            return replace(self.aligned, label=code[self.aligned.label], labels=len(self.nodes))
        gold, pred = self.gold_weight, self.pred_weight
        sides = (gold.row, code[gold.col], gold.data), (pred.row, code[pred.col], pred.data)
        return align(*sides, len(self), len(self.nodes))

    @cached_property
    def spread(self) -> Spread:
        tree = np.array([self.hierarchy is not None and node in self.hierarchy.parent for node in self.nodes], bool)
        silent = np.array([node == "" for node in self.nodes], bool)
        cases, one = len(self.test_cases), self.lightest
        return spread(self.by_node, self.test_case, self.mass, cases, self.parents, tree, silent, one)

    def information(self, variant: str) -> tuple[Floats, Floats, Floats]:
        """IC of gold, of the prediction and of both together, per item."""
        key = ("information", variant)
        if key not in self._vectors:
            self._vectors[key] = information(self.by_node, self.whole.spread, self._case, self.parents, variant)
        vectors: tuple[Floats, Floats, Floats] = self._vectors[key]
        return vectors

    @cached_property
    def votes(self) -> Votes:
        v, size = self.votes_of, max(len(self.classes), 1)
        return Votes(v.row, v.col // size, v.col % size, len(self), len(self.annotators), len(self.classes))

    @cached_property
    def voted(self) -> Sparse:
        """Gold votes by annotator."""
        v = self.votes
        return Sparse.of(v.item, v.annotator, 1.0, (len(self), len(self.annotators)))

    @cached_property
    def answer(self) -> Ints:
        """Label predicted for each gold vote: for that annotator or, where predictions are not votes, the top label."""
        v, given, size = self.votes, self.answers_of, max(len(self.classes), 1)
        if not len(given.row):
            return self._top_label[v.item]
        key = given.row * len(self.annotators) + given.col // size
        order = np.argsort(key, kind="stable")
        asked = v.item * len(self.annotators) + v.annotator
        at = order[np.minimum(np.searchsorted(key[order], asked), len(order) - 1)]
        return np.where(key[at] == asked, given.col[at] % size, -1)

    @cached_property
    def met(self) -> Floats:
        """1 for each gold vote that the prediction meets."""
        return (self.answer == self.votes.label).astype(float)

    @cached_property
    def _top_label(self) -> Ints:
        a, out = self.aligned, np.full(len(self), -1)
        top = harden(a, a.pred, "majority")
        out[a.item[top]] = a.label[top]
        return out
