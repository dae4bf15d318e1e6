# SPDX-License-Identifier: Apache-2.0
"""Ordered predictions against label sets: per-item counts at a cutoff, and ranking losses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from karat.columns import Floats, Ints, Mask, distinct, firsts
from karat.contexts.groups import sums


@dataclass(frozen=True, eq=False)
class Lists:
    """Predicted labels of each item, best first; each label once.

    Rows are sorted by item, then ``rank`` (from 1). ``score`` falls along the list; equal
    scores are ties. Labels that a list leaves out are tied below its last one.
    """

    item: Ints
    label: Ints
    rank: Ints
    score: Floats
    true: Mask
    truths: Floats
    """Number of gold labels of each item."""
    labels: int
    """Number of labels that could be predicted."""

    def sum(self, x: Floats) -> Floats:
        return sums(self.item, x, len(self.truths))

    @cached_property
    def length(self) -> Floats:
        return self.sum(np.ones(len(self.item)))

    def hits(self, k: int) -> Floats:
        """True labels among the first ``k``."""
        return self.sum((self.true & (self.rank <= k)).astype(float))

    def listed(self, k: int) -> Floats:
        """Labels among the first ``k``: fewer than ``k`` for a short list."""
        return np.minimum(self.length, k)

    @cached_property
    def place(self) -> Floats:
        """Rank of each row with ties at the worst place: labels with a score as high or higher."""
        last = np.append((np.diff(self.score) != 0) | (np.diff(self.item) != 0), True)[: len(self.item)]
        group = np.cumsum(np.append(0, last[:-1]))[: len(self.item)]
        return self.rank[last].astype(float)[group]

    @cached_property
    def true_above(self) -> Floats:
        """True labels of the item with a score as high or higher."""
        start = np.searchsorted(self.item, self.item)
        running = np.concatenate([[0], np.cumsum(self.true)])
        return (running[start + self.place.astype(np.int64)] - running[start]).astype(float)

    @cached_property
    def unlisted(self) -> Floats:
        """True labels that the list leaves out."""
        return self.truths - self.sum(self.true.astype(float))

    def coverage(self) -> Floats:
        """How far down the list one must go to meet every true label."""
        deepest = np.zeros(len(self.truths))
        np.maximum.at(deepest, self.item[self.true], self.place[self.true])
        return np.where(self.unlisted > 0, self.labels, deepest)

    def ranking_precision(self) -> Floats:
        """Mean over true labels of (true labels at or above it) / (labels at or above it)."""
        inside = self.sum(np.where(self.true, self.true_above / np.maximum(self.place, 1), 0.0))
        total = inside + self.unlisted * self.truths / max(self.labels, 1)
        return np.divide(total, self.truths, out=np.zeros(len(total)), where=self.truths > 0)

    def ranking_loss(self) -> Floats:
        """Share of (true, false) label pairs in which the false one scores as high or higher."""
        false_above = self.sum(np.where(self.true, self.place - self.true_above, 0.0))
        falses = self.labels - self.truths
        pairs = self.truths * falses
        wrong = false_above + self.unlisted * falses
        return np.divide(wrong, pairs, out=np.zeros(len(wrong)), where=pairs > 0)


def lists(gold: tuple[Ints, Ints], pred: tuple[Ints, Ints, Floats], items: int, labels: int) -> Lists:
    """Lists from flat (item, label) of gold and (item, label, score) of the prediction.

    Equal scores go by the smaller label code; a label named twice keeps its best place.
    """
    item, label, score = pred
    order = np.lexsort((label, -score, item))
    order = order[_first(item[order] * labels + label[order])]
    item, label, score = item[order], label[order], score[order]
    rank = np.arange(len(item)) - np.searchsorted(item, item) + 1
    truth, _ = distinct(gold[0] * labels + gold[1])
    truths = sums(truth // max(labels, 1), None, items)
    return Lists(item, label, rank, score, _member(item * labels + label, truth), truths, labels)


def _first(key: Ints) -> Mask:
    """Rows whose key has not occurred before."""
    order = np.argsort(key, kind="stable")
    out = np.zeros(len(key), bool)
    out[order[firsts(key[order])]] = True
    return out


def _member(key: Ints, table: Ints) -> Mask:
    """Whether each key is in the sorted table."""
    if not len(table):
        return np.zeros(len(key), bool)
    return table[np.minimum(np.searchsorted(table, key), len(table) - 1)] == key
