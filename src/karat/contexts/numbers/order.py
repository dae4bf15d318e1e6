# SPDX-License-Identifier: Apache-2.0
"""How two numbers of each item order the items: weighted ranks, and pairs that both order alike.

Pairs are counted by merging, level by level, so that n items cost n · log n. The indices of a level do not depend on
weights: rows of resamples share them. Without a unit, all changes follow from the pairs that the unit is part of.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from karat.cells import Floats, Ints, Sparse, Weights
from karat.weights import Grouped, Tilt


@dataclass(frozen=True, eq=False)
class Order(Sparse):
    """Items by two numbers. As a matrix it is the identity: ``W @ order`` are the weights themselves."""

    x: Floats
    y: Floats

    of_system: ClassVar[bool] = True
    tilted: ClassVar[int] = 64

    @staticmethod
    def between(x: Floats, y: Floats) -> Order:
        every = np.arange(len(x))
        return Order(every, every, np.ones(len(x)), (len(x), len(x)), x, y)

    @cached_property
    def ties(self) -> tuple[Ties, Ties, Ties]:
        """Items alike in x, in y, and in both."""
        x, y = Ties.of(_codes(self.x)), Ties.of(_codes(self.y))
        return x, y, Ties.of(_codes(x.code * (int(y.code.max(initial=0)) + 1) + y.code))

    @cached_property
    def lower(self) -> Below:
        return Below(self.ties[0].code, self.ties[1].code)

    @cached_property
    def upper(self) -> Below:
        return Below(-self.ties[0].code, -self.ties[1].code)


def _codes(values: Any) -> Ints:
    return np.asarray(np.unique(values, return_inverse=True)[1], np.int64).reshape(-1)


@dataclass(frozen=True, eq=False)
class Ties:
    """Groups of items with equal numbers, in the order of the numbers."""

    code: Ints
    order: Ints
    start: Ints

    @staticmethod
    def of(code: Ints) -> Ties:
        order = np.argsort(code, kind="stable")
        start = np.flatnonzero(np.append(True, np.diff(code[order]) > 0)) if len(code) else np.zeros(0, np.int64)
        return Ties(code, order, start)

    def sums(self, weight: Floats) -> Floats:
        """Rows × groups: the weight of each group."""
        if not len(self.start):
            return np.zeros((len(weight), 0))
        return np.add.reduceat(weight[:, self.order], self.start, axis=1)

    def ranks(self, weight: Floats) -> Floats:
        """Rows × items: the weight below each item, and half of that beside it."""
        group = self.sums(weight)
        return (np.cumsum(group, 1) - group / 2)[:, self.code]

    def above(self, weight: Floats) -> Floats:
        """Rows × items: the weight above each item, and half of that beside it."""
        return weight.sum(1)[:, None] - self.ranks(weight)


class Below:
    """For each item, the weight of those that are below it in both numbers."""

    def __init__(self, x: Ints, y: Ints) -> None:
        # Of items alike in x the larger y comes first, so that none is below another.
        self.order = np.lexsort((-y, x))
        by_y = np.argsort(y[self.order], kind="stable")
        ranked = y[self.order]
        place, self.levels, size = np.arange(len(x)), list[tuple[Ints, Floats, Ints]](), 1
        while size < len(x):
            left = (place // size) % 2 == 0
            block = place // (2 * size)
            index = by_y[np.lexsort((left[by_y], ranked[by_y], block[by_y]))]
            first = np.searchsorted(block[index], block[index])
            self.levels.append((index, left[index].astype(float), first))
            size *= 2

    def __call__(self, weight: Floats) -> Floats:
        """Rows × items."""
        weight = weight[:, self.order]
        total = np.zeros_like(weight)
        for index, left, first in self.levels:
            running = np.cumsum(weight[:, index] * left, 1)
            before = np.concatenate([np.zeros((len(weight), 1)), running], 1)[:, first]
            total[:, index] += np.where(left > 0, 0.0, running - before)
        out = np.empty_like(total)
        out[:, self.order] = total
        return out


def over_rows(W: Weights, order: Order, rows: Any, without: Any) -> Floats:
    """A coefficient of each row of weights: by ``rows`` (rows × items), or by ``without`` for the jackknife's."""
    if W.tilted is not None:
        return np.asarray(without(order, W.tilted), float)
    if W.grouped is not None and W.shape[0] > 1:
        return _by_group(W.grouped, order, rows)
    return np.asarray(rows(order, W @ order), float)


def _by_group(W: Grouped, order: Order, rows: Any) -> Floats:
    out = np.full(W.shape[0], np.nan)
    by_group = np.argsort(W.group, kind="stable")
    group, start = np.unique(W.group[by_group], return_index=True)
    for g, items in zip(group.tolist(), np.split(by_group, start[1:]), strict=True):
        if len(items) > 1:
            out[g] = rows(Order.between(order.x[items], order.y[items]), W.n[items][None, :])[0]
    return out


def _pairs(total: Any) -> Any:
    return total * (total - 1) / 2


def kendall_rows(order: Order, weight: Floats) -> Floats:
    """τ_b of each row of weights, weights being numbers of copies."""
    alike = (weight * order.lower(weight)).sum(1)
    tied = [_pairs(ties.sums(weight)).sum(1) for ties in order.ties]
    return _tau(alike, weight.sum(1), tied)


def _tau(alike: Floats, size: Floats, tied: list[Floats]) -> Floats:
    whole = _pairs(size)
    apart = whole - tied[0] - tied[1] + tied[2] - alike
    untied_x, untied_y = whole - tied[0], whole - tied[1]
    ok = (untied_x > 1e-9 * whole) & (untied_y > 1e-9 * whole) & (whole > 0)
    value = np.full(np.shape(whole), np.nan)
    np.divide(alike - apart, np.sqrt(np.where(ok, untied_x * untied_y, 1.0)), out=value, where=ok)
    return np.clip(value, -1, 1)


def kendall_without(order: Order, W: Tilt) -> Floats:
    """τ_b of rows ``a · n + b · e(unit)``: only the unit's own pairs change."""
    n, a, b, at = W.n[None, :], W.a, W.b, W.index
    below, above = order.lower(n)[0], order.upper(n)[0]
    alike = a * a * (W.n * below).sum() + a * b * (below + above)[at]
    size = np.full(len(at), a * W.n.sum() + b)
    tied = []
    for ties in order.ties:
        group = ties.sums(n)[0]
        same = group[ties.code[at]]
        tied.append(_pairs(a * group).sum() - _pairs(a * same) + _pairs(a * same + b))
    return _tau(alike, size, tied)


def spearman_rows(order: Order, weight: Floats) -> Floats:
    """Pearson's correlation of mid-ranks, for each row of weights."""
    x, y, _ = order.ties
    size = weight.sum(1)
    product = (weight * (x.ranks(weight) + 0.5) * (y.ranks(weight) + 0.5)).sum(1)
    spread = [_spread(size, _cubes(ties.sums(weight)).sum(1)) for ties in (x, y)]
    return _rho(product, size, spread)


def _cubes(group: Floats) -> Floats:
    return group**3 - group


def _spread(size: Floats, tied: Floats) -> Floats:
    return (size**3 - size - tied) / 12


def _rho(product: Floats, size: Floats, spread: list[Floats]) -> Floats:
    least = 1e-9 * np.maximum(size, 1.0) ** 3
    ok = (spread[0] > least) & (spread[1] > least)
    value = np.full(np.shape(size), np.nan)
    over = product - size * ((size + 1) / 2) ** 2
    np.divide(over, np.sqrt(np.where(ok, spread[0] * spread[1], 1.0)), out=value, where=ok)
    return np.clip(value, -1, 1)


def spearman_without(order: Order, W: Tilt) -> Floats:
    """The same of rows ``a · n + b · e(unit)``: a unit moves the ranks of all above it by b, of its equals by b/2."""
    n, a, b, at = W.n[None, :], W.a, W.b, W.index
    x, y, both = order.ties
    rank_x, rank_y = a * x.ranks(n)[0] + 0.5, a * y.ranks(n)[0] + 0.5
    moved = x.above(n * rank_y)[0] + y.above(n * rank_x)[0]
    # Weight above the unit in both, half of what is beside it in one, a quarter of its equals.
    joint = both.sums(n)[0][both.code]
    beside_x, beside_y = _beside(x, y, n[0]), _beside(y, x, n[0])
    corner = order.upper(n)[0] + beside_x / 2 + beside_y / 2 + joint / 4
    product = a * (W.n * rank_x * rank_y).sum() + a * b * moved[at] + a * b * b * corner[at]
    product = product + b * (rank_x[at] + b / 2) * (rank_y[at] + b / 2)
    size = np.full(len(at), a * W.n.sum() + b)
    spread = []
    for ties in (x, y):
        group = ties.sums(n)[0]
        same = a * group[ties.code[at]]
        spread.append(_spread(size, _cubes(a * group).sum() - _cubes(same) + _cubes(same + b)))
    return _rho(product, size, spread)


def _beside(level: Ties, higher: Ties, n: Floats) -> Floats:
    """The weight of the items alike in one number and higher in the other."""
    order = np.lexsort((higher.code, level.code))
    running = np.cumsum(n[order])
    group, inner = level.code[order], higher.code[order]
    wide = int(inner.max(initial=0)) + 1
    key = group * wide + inner
    last = running[np.searchsorted(key, key, "right") - 1]
    end = running[np.searchsorted(group, group, "right") - 1]
    out = np.empty(len(n))
    out[order] = end - last
    return out
