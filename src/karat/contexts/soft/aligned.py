# SPDX-License-Identifier: Apache-2.0
"""Gold and predicted weights side by side, one row per item and label that either names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from karat.columns import Floats, Ints, Mask, distinct
from karat.contexts.groups import sums

BLOCK = 1 << 15
"""Rows that are looked at together."""
ROUNDED = 2e-3
"""Sums may miss 1 by this much: shares written with three digits."""


@dataclass(frozen=True, eq=False)
class Aligned:
    """Rows sorted by item, then label; a label that one side leaves out has weight 0 there."""

    item: Ints
    label: Ints
    gold: Floats
    pred: Floats
    in_gold: Mask
    in_pred: Mask
    items: int
    labels: int

    def sum(self, x: Floats) -> Floats:
        """Sum of ``x`` over the labels of each item."""
        return sums(self.item, x, self.items)

    def blocks(self) -> Iterator[tuple[slice, Aligned]]:
        """The items some at a time, so that what is made of them stays in the processor's cache, and which they are."""
        step = max(BLOCK * max(self.items, 1) // max(len(self.item), 1), 1)
        begin = range(0, self.items, step)
        cuts = [*np.searchsorted(self.item, begin).tolist(), len(self.item)]
        for first, start, end in zip(begin, cuts, cuts[1:], strict=False):
            rows, items = slice(start, end), min(step, self.items - first)
            part = Aligned(
                self.item[rows] - first, self.label[rows], self.gold[rows], self.pred[rows],
                self.in_gold[rows], self.in_pred[rows], items, self.labels,
            )  # fmt: skip
            yield slice(first, first + items), part

    @cached_property
    def gold_mass(self) -> Floats:
        return self.sum(self.gold)

    @cached_property
    def pred_mass(self) -> Floats:
        return self.sum(self.pred)

    @cached_property
    def answered(self) -> Mask:
        """Items with a predicted weight above 0: the others count as missing."""
        return self.pred_mass > 0

    @cached_property
    def shares(self) -> tuple[Floats, Floats]:
        """Both sides divided by their sums, so that each is a distribution (or all 0)."""
        return share(self.gold, self.gold_mass[self.item]), share(self.pred, self.pred_mass[self.item])


def share(weight: Floats, mass: Floats) -> Floats:
    return np.divide(weight, mass, out=np.zeros(len(weight)), where=mass > 0)


def align(gold: tuple[Ints, Ints, Floats], pred: tuple[Ints, Ints, Floats], items: int, labels: int) -> Aligned:
    """Join (item, label, weight) of both sides on item and label; a repeated pair keeps its last weight."""
    wide, split = max(labels, 1), len(gold[0])
    if _alike(gold, pred):  # both name the same labels: nothing to join
        named = np.ones(split, bool)
        return Aligned(gold[0], gold[1], gold[2], pred[2], named, named, items, labels)
    keys = [item * wide + label for item, label, _ in (gold, pred)]
    key, place = distinct(np.concatenate(keys))
    gold_weight, in_gold = _put(place[:split], gold[2], len(key))
    pred_weight, in_pred = _put(place[split:], pred[2], len(key))
    return Aligned(key // wide, key % wide, gold_weight, pred_weight, in_gold, in_pred, items, labels)


def _alike(gold: tuple[Ints, Ints, Floats], pred: tuple[Ints, Ints, Floats]) -> bool:
    """Have both sides the same items and labels, in their order and each once?"""
    (item, label, _), (other, their, _) = gold, pred
    if len(item) != len(other):
        return False
    for start in range(0, len(item), BLOCK):
        here = slice(start, start + BLOCK + 1)
        i, j = item[here], label[here]
        if not ((i == other[here]) & (j == their[here])).all():
            return False
        if not ((i[1:] > i[:-1]) | ((i[1:] == i[:-1]) & (j[1:] > j[:-1]))).all():
            return False
    return True


def _put(place: Ints, weight: Floats, length: int) -> tuple[Floats, Mask]:
    out, named = np.zeros(length), np.zeros(length, bool)
    out[place], named[place] = weight, True
    return out, named
