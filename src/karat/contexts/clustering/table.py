# SPDX-License-Identifier: Apache-2.0
"""Contingency tables of gold against predicted clusters, and the sums that scores are made of.

Every quantity is one vectorised expression over (table, column); pairs of items are counted
from sums of squares, never one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from karat.columns import Floats, Ints, firsts


@dataclass(frozen=True, eq=False)
class Table:
    """Row r of ``joint``, ``gold`` and ``pred`` holds one table: shared members and cluster sizes."""

    joint: Floats
    gold: Floats
    pred: Floats
    gold_at: Ints
    """Gold cluster of each joint column."""
    pred_at: Ints
    """Predicted cluster of each joint column."""

    @cached_property
    def n(self) -> Floats:
        """Gold memberships."""
        return self.gold.sum(1)

    @cached_property
    def pred_n(self) -> Floats:
        """Predicted memberships of gold items."""
        return self.pred.sum(1)

    def largest_by_pred(self) -> Floats:
        """Sum over predicted clusters of their largest share with one gold cluster."""
        return _largest(self.joint, self.pred_at).sum(1)

    def largest_by_gold(self) -> Floats:
        return _largest(self.joint, self.gold_at).sum(1)

    def best_f1(self) -> Floats:
        """Sum over gold clusters of size times the best F1 with a predicted cluster."""
        sizes = self.gold[:, self.gold_at] + self.pred[:, self.pred_at]
        f = divide(2 * self.joint, sizes)
        return _largest(f * self.gold[:, self.gold_at], self.gold_at).sum(1)

    @cached_property
    def pairs(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Item pairs together in both, in gold, in the prediction, and all."""
        both, gold, pred = (_pairs(x).sum(1) for x in (self.joint, self.gold, self.pred))
        return both, gold, pred, _pairs(self.n)

    @cached_property
    def entropies(self) -> tuple[Floats, Floats, Floats]:
        """H(gold), H(prediction) and H(gold, prediction) in bits, over the gold items."""
        return entropy(self.gold, self.n), entropy(self.pred, self.n), entropy(self.joint, self.n)

    @cached_property
    def mutual_information(self) -> Floats:
        gold, pred, joint = self.entropies
        return np.maximum(gold + pred - joint, 0.0)

    def clusters(self) -> tuple[Floats, Floats]:
        """Number of non-empty clusters on each side."""
        return (self.gold > 0).sum(1).astype(float), (self.pred > 0).sum(1).astype(float)


def divide(num: Floats, den: Floats) -> Floats:
    num, den = np.broadcast_arrays(num, den)
    return np.divide(num, den, out=np.zeros(num.shape), where=den != 0)


def _pairs(x: Floats) -> Floats:
    return x * (x - 1) / 2


def _largest(x: Floats, at: Ints) -> Floats:
    """Largest column of each cluster."""
    order = np.argsort(at, kind="stable")
    start = np.flatnonzero(firsts(at[order]))
    return np.maximum.reduceat(x[:, order], start, axis=1) if len(start) else np.zeros((len(x), 0))


def entropy(x: Floats, n: Floats) -> Floats:
    """Entropy in bits of each row's shares of n."""
    share = divide(x, n[:, None])
    return -(share * np.log2(share, out=np.zeros(share.shape), where=share > 0)).sum(1)
