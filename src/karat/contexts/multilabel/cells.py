# SPDX-License-Identifier: Apache-2.0
"""A set of labels per item: the cells are distinct pairs of gold and predicted sets."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from karat.cells import Floats, Ints, Sparse
from karat.contexts.multilabel.lists import Lists, lists
from karat.contexts.tree import TreeCells
from karat.hierarchy import Hierarchy
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
            ranked = score.row[known], to[score.col[known]], score.data[known].astype(float)
            self._lists[level] = lists(truth, ranked, len(self), int(to.max(initial=-1)) + 1)
        return self._lists[level]

    def _ancestors(self, level: int) -> Ints:
        """A code for each class's ancestor at a level (0: roots); −1 for classes above it."""
        tree = (self.hierarchy or Hierarchy({})).extended(self.classes)
        paths = [tree.path(label)[::-1] for label in self.classes]
        names = [path[level] if level < len(path) else None for path in paths]
        at = {name: i for i, name in enumerate(dict.fromkeys(n for n in names if n is not None))}
        return np.array([-1 if name is None else at[name] for name in names], np.int64)
