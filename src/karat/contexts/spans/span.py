# SPDX-License-Identifier: Apache-2.0
"""Spans as columns: unit, start, end (half open) and label code, one row a span."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from karat.state import stored

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@stored("spans")
@dataclass(frozen=True, eq=False, slots=True)
class Spans:
    """Spans of many units; `start <= position < end`, `label` indexes a shared vocabulary."""

    unit: Ints
    start: Ints
    end: Ints
    label: Ints

    @classmethod
    def of(cls, unit: object, start: object, end: object, label: object) -> Spans:
        return cls(*(np.asarray(column, dtype=np.int64).reshape(-1) for column in (unit, start, end, label)))

    def __len__(self) -> int:
        return len(self.unit)

    @property
    def length(self) -> Ints:
        return self.end - self.start

    def take(self, rows: NDArray[np.int64] | Bools) -> Spans:
        return Spans(self.unit[rows], self.start[rows], self.end[rows], self.label[rows])

    def order(self) -> Ints:
        """The row order by (unit, start, end, label); rows already in order are recognised, not sorted."""
        if ascending(self.unit, self.start):
            return np.arange(len(self))
        return np.lexsort((self.label, self.end, self.start, self.unit))

    def by_place(self) -> Ints:
        """The row order by (unit, start, end); equal places keep their order."""
        if ascending(self.unit, self.start):
            return np.arange(len(self))
        return np.lexsort((self.end, self.start, self.unit))

    def in_place(self) -> Spans:
        """The spans by (unit, start, end); no copy where they are in order."""
        return self if ascending(self.unit, self.start) else self.take(self.by_place())

    def labelled(self, label: Ints) -> Spans:
        """The same places under other labels."""
        return Spans(self.unit, self.start, self.end, label)

    def within_label(self, labels: int) -> Spans:
        """The same spans, every (unit, label) a unit of its own: what matching inside a label needs."""
        return Spans(self.unit * labels + self.label, self.start, self.end, self.label)


@dataclass(frozen=True, eq=False, slots=True)
class Line:
    """Gold and predicted spans laid end to end on one line, a unit after the other, so that one sweep serves all."""

    gold_start: Ints
    gold_end: Ints
    pred_start: Ints
    pred_end: Ints


def on_one_line(gold: Spans, pred: Spans) -> Line:
    """Shift every unit to a place of its own; spans of two units can then never overlap."""
    low = min((int(side.start.min()) for side in (gold, pred) if len(side)), default=0)
    high = max((int(side.end.max()) for side in (gold, pred) if len(side)), default=0)
    g, p = (side.unit * (high - low + 1) - low for side in (gold, pred))
    return Line(gold.start + g, gold.end + g, pred.start + p, pred.end + p)


def runs(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """The pairs (row, position) of all positions `first[row] <= position < last[row]`."""
    size = np.maximum(last - first, 0)
    row = np.repeat(np.arange(len(size)), size)
    return row, np.arange(len(row)) + np.repeat(first - (np.cumsum(size) - size), size)


def searched(ahead: Ints, keys: Ints, side: str = "left") -> Ints:
    """What `np.searchsorted` gives: keys that rise are merged with what they are looked for in, in half its time."""
    left = side == "left"
    order = np.argsort(np.concatenate((keys, ahead) if left else (ahead, keys)), kind="stable")
    at = np.flatnonzero(order < len(keys) if left else order >= len(ahead))
    place = np.empty(len(keys), dtype=np.int64)
    place[order[at] - (0 if left else len(ahead))] = at - np.arange(len(at))
    return place


def totals(rows: Ints, weights: NDArray[np.number], size: int) -> NDArray[np.float64]:
    """The sum of the weights of each row number, added one by one in their order."""
    return np.asarray(np.bincount(rows, weights=weights, minlength=size), dtype=np.float64)


def counts(rows: Ints, size: int, some: Bools | None = None) -> Ints:
    """How often each row number occurs, be it in some places alone."""
    return np.asarray(np.bincount(rows, some, size), dtype=np.int64)


def firsts(sorted_key: Ints) -> Bools:
    """Where a new value begins in a sorted column."""
    new = np.ones(len(sorted_key), dtype=bool)
    new[1:] = sorted_key[1:] != sorted_key[:-1]
    return new


def rank_in_group(group: Ints) -> Ints:
    """0, 1, 2, … inside each group, in row order."""
    order = np.argsort(group, kind="stable")
    begin = firsts(group[order])
    rank = np.empty(len(group), dtype=np.int64)
    rank[order] = np.arange(len(group)) - np.maximum.accumulate(np.where(begin, np.arange(len(group)), 0))
    return rank


def distinct(keys: Ints) -> Ints:
    """The distinct values, sorted (NumPy's own hashes, which is slower for so many values)."""
    ordered = np.sort(keys)
    return ordered[firsts(ordered)]


def among(keys: Ints, known: Ints) -> Bools:
    """Which keys are among the sorted known ones."""
    if not len(known):
        return np.zeros(len(keys), dtype=bool)
    return np.asarray(known[np.minimum(np.searchsorted(known, keys), len(known) - 1)] == keys)


def merged(spans: Spans) -> Spans:
    """Spans of one unit that overlap become one, with the first one's label; touching spans stay apart."""
    if not len(spans):
        return spans
    rows = spans.in_place()
    line = on_one_line(rows, rows)
    reach = np.maximum.accumulate(line.gold_end)
    begin = np.flatnonzero(np.append(True, line.gold_start[1:] >= reach[:-1]))
    last = np.append(begin[1:], len(rows)) - 1
    end = reach[last] - (line.gold_end - rows.end)[begin]
    return Spans(rows.unit[begin], rows.start[begin], end, rows.label[begin])


def merged_by_label(spans: Spans) -> Spans:
    """Spans of one unit and label that overlap become one."""
    labels = int(spans.label.max(initial=0)) + 1
    joined = merged(spans.within_label(labels))
    out = Spans(joined.unit // labels, joined.start, joined.end, joined.label)
    return out.take(out.order())


def any_overlap(spans: Spans) -> bool:
    """Do any two spans of a unit overlap? The spans must be sorted by place."""
    return bool(np.any((spans.start[1:] < spans.end[:-1]) & (spans.unit[1:] == spans.unit[:-1])))


def ascending(major: Ints, minor: Ints) -> bool:
    """Strictly ascending by (major, minor)?"""
    later, same = major[1:] > major[:-1], major[1:] == major[:-1]
    return bool(np.all(later | (same & (minor[1:] > minor[:-1]))))


def rising(places: Ints) -> bool:
    """In ascending order, equal ones allowed?"""
    return bool(np.all(places[1:] >= places[:-1]))
