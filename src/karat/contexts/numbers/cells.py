# SPDX-License-Identifier: Apache-2.0
"""Cells of numbers: gold's and the predicted value of an item."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from karat.cells import Cells, Floats
from karat.contexts.curve import Curve
from karat.contexts.groups import middle
from karat.contexts.numbers.order import Order
from karat.state import stored

NEAR = 1000
"""Ranges of the predictions up to which gold's middle is theirs: farther off, squares would lose digits."""


@stored("number-cells")
class NumberCells(Cells):
    """Items with two numbers."""

    per_cell = ("gold", "pred")

    def __init__(
        self, gold: Any, pred: Any, n: Any, test_case: Any, test_cases: Sequence[str], **units: Any
    ) -> None:  # fmt: skip
        super().__init__(n, test_case, test_cases, **units)
        self.gold: Floats = np.asarray(gold, float)
        self.pred: Floats = np.asarray(pred, float)

    @cached_property
    def error(self) -> Floats:
        """How much too high the prediction is."""
        return self.pred - self.gold

    @cached_property
    def size(self) -> Floats:
        return np.abs(self.error)

    @cached_property
    def square(self) -> Floats:
        return self.error**2

    @cached_property
    def centred(self) -> tuple[Floats, Floats]:
        """Both sides less gold's middle: sums of squares of raw values would lose digits.

        Systems have the same, or their outcomes could not change places; predictions that lie elsewhere altogether have their own.
        """
        own, shared = middle(self.pred, self.n), middle(self.gold, self.n)
        near = abs(own - shared) <= NEAR * (self.pred.max(initial=own) - self.pred.min(initial=own))
        return self.gold - shared, self.pred - (shared if near else own)

    @cached_property
    def products(self) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Centred gold and prediction, their squares and their product."""
        x, y = self.centred
        return x, y, x * x, y * y, x * y

    @cached_property
    def errors(self) -> Curve:
        """The sizes of the errors, the largest first."""
        return Curve.through(np.arange(len(self)), self.size, np.ones(len(self), bool), len(self))

    @cached_property
    def order(self) -> Order:
        return Order.between(self.gold, self.pred)

    def answers(self, cell: int) -> tuple[str, str]:
        return f"{self.gold[cell]:.6g}", f"{self.pred[cell]:.6g}"
