# SPDX-License-Identifier: Apache-2.0
"""One label per item: the cells are (test case, gold label, predicted label)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from karat.cells import Floats, Ints, Sparse
from karat.contexts.tree import TreeCells
from karat.hierarchy import Hierarchy
from karat.state import stored


@stored("monolabel-cells")
class MonoLabelCells(TreeCells):
    """Cells of mono-label items; −1 stands for no label on that side."""

    per_cell = ("gold", "pred")
    averages = ("macro", "micro", "weighted", "binary")
    class_codes = ("gold", "pred")

    def __init__(
        self, gold: Any, pred: Any, n: Any, test_case: Any, test_cases: Sequence[str], classes: Sequence[str],
        hierarchy: Hierarchy | None = None, pos_label: str | None = None, **units: Any,
    ) -> None:  # fmt: skip
        self.pos_label = pos_label
        super().__init__(n, test_case, test_cases, classes, hierarchy=hierarchy, **units)
        self.gold: Ints = np.asarray(gold, np.int64)
        self.pred: Ints = np.asarray(pred, np.int64)

    def _one_hot(self, codes: Ints, keep: Any) -> Sparse:
        at = np.flatnonzero((codes >= 0) & keep)
        return Sparse.of(at, codes[at], 1.0, (len(self), len(self.classes)))

    @cached_property
    def in_gold(self) -> Floats:
        return (self.gold >= 0).astype(float)

    @cached_property
    def in_pred(self) -> Floats:
        return (self.pred >= 0).astype(float)

    @cached_property
    def hit(self) -> Floats:
        return ((self.gold == self.pred) & (self.gold >= 0)).astype(float)

    @cached_property
    def hit_of(self) -> Sparse:
        return self._one_hot(self.gold, self.hit > 0)

    @cached_property
    def gold_of(self) -> Sparse:
        return self._one_hot(self.gold, True)

    @cached_property
    def pred_of(self) -> Sparse:
        return self._one_hot(self.pred, True)

    @cached_property
    def answer_of(self) -> Sparse:
        """Predictions for gold items by class, the last column being *no prediction*."""
        last = len(self.classes)
        at = np.flatnonzero(self.gold >= 0)
        code = np.where(self.pred[at] >= 0, self.pred[at], last)
        return Sparse.of(at, code, 1.0, (len(self), last + 1))

    @cached_property
    def both(self) -> Floats:
        return self.in_gold * self.in_pred

    def distance(self, power: int) -> Floats:
        """|gold − predicted|^power in class order, as the share of the largest; no prediction is the largest."""
        span = max(len(self.classes) - 1, 1)
        apart = np.where(self.pred >= 0, np.abs(self.gold - self.pred), span)
        return (apart / span) ** power * self.in_gold
