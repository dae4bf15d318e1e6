# SPDX-License-Identifier: Apache-2.0
"""What happens as a threshold falls from the highest score to the lowest: the sum, or the largest, of any step along it.

A curve is a matrix like any other: ``W @ curve`` counts the positives and negatives at each distinct score, so that
resamples, slices and test cases need nothing else. Weights that differ from the counts by one unit (the jackknife) are
not written out: a unit shifts everything below its own score by one, whatever the step, and so two running totals
give the score without each of a million units.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from karat.cells import Floats, Grouped, Ints, Sparse, Weights
from karat.columns import Mask
from karat.contexts.groups import DUST
from karat.weights import Tilt, weighed


class Steps(NamedTuple):
    """At each threshold: positives and negatives at or above it, those at it, how many there are in all, the threshold."""

    tp: Floats
    fp: Floats
    dtp: Floats
    dfp: Floats
    positives: Floats
    negatives: Floats
    value: Floats

    @property
    def above(self) -> tuple[Floats, Floats]:
        """Positives and negatives above it. One by one: of fractions, nothing is left of each at the first, but of their sum dust."""
        return self.tp - self.dtp, self.fp - self.dfp


Step = Callable[[Steps], Floats]


def first_best(value: Floats) -> Ints:
    """The first of the largest along the last axis: the highest threshold, whatever the rounding."""
    return np.argmax(value >= value.max(-1, keepdims=True) - DUST, -1)


class Curve(Sparse):
    """Cells × (negatives, positives of each distinct score), the highest score first."""

    of_system: ClassVar[bool] = True
    """The columns are this system's scores: another system's stand for something else."""
    tilted: ClassVar[int] = 16
    """Numbers that a row of the jackknife costs."""

    row: Ints
    yes: Mask
    """Which outcomes are positive."""
    falling: Ints
    """The outcomes by falling score."""
    first: Ints | None
    """Where each distinct score begins among them; None where no two are equal."""
    value: Floats
    """The distinct scores, falling."""

    def __init__(self, row: Ints, yes: Mask, cells: int, falling: Ints, first: Ints | None, value: Floats) -> None:
        data, shape = np.broadcast_to(1.0, row.shape), (cells, 2 * len(value))
        for name, field in (("row", row), ("data", data), ("shape", shape), ("yes", yes), ("falling", falling)):
            object.__setattr__(self, name, field)
        object.__setattr__(self, "first", first)
        object.__setattr__(self, "value", value)

    @staticmethod
    def through(cell: Ints, score: Floats, positive: Any, cells: int) -> Curve:
        """The curve of some outcomes: the cell, the score and the truth of each."""
        order = np.argsort(-score, kind="stable")  # a merge where the outcomes of each class stand in order
        value = score[order]
        new = np.ones(len(order), bool)
        np.not_equal(value[1:], value[:-1], out=new[1:])
        first = None if new.all() else np.flatnonzero(new)
        return Curve(cell, np.asarray(positive, bool), cells, order, first, value if first is None else value[first])

    def mirrored(self, score: Floats) -> Curve:
        """The curve of the opposite question, whose scores (one a cell) fall where these rise: nothing is sorted again."""
        falling = self.falling[::-1]
        first = None if self.first is None else (len(falling) - np.append(self.first[1:], len(falling)))[::-1]
        value = score[self.row[falling if first is None else falling[first]]]
        return Curve(self.row, ~self.yes, self.shape[0], falling, first, value)

    @cached_property
    def runs(self) -> Curve:
        """The curve with scores taken together where positives stand above negatives: pairs of the two are in order.

        For who asks for the order of pairs alone. Its values say how much of a pair beside each other is lost: a half
        where the two score the same, else nothing.
        """
        positive = self.yes[self.falling]
        tied = np.zeros(len(self.value), bool)
        if self.first is not None and len(self.first):
            tied |= np.logical_or.reduceat(positive, self.first)
            positive = np.logical_and.reduceat(positive, self.first)
            tied &= ~positive
        new = np.ones(len(self.value), bool)
        np.greater(positive[1:], positive[:-1], out=new[1:])
        new[1:] |= tied[1:] | tied[:-1]
        first = np.flatnonzero(new) if self.first is None else self.first[new]
        return Curve(self.row, self.yes, self.shape[0], self.falling, first, tied[new] / 2)

    @cached_property
    def col(self) -> Ints:  # type: ignore[override]
        """The column of each outcome."""
        size = None if self.first is None else np.diff(np.append(self.first, len(self.falling)))
        place = np.arange(0, self.shape[1], 2)
        out = np.empty(len(self.falling), np.int64)
        out[self.falling] = place if size is None else np.repeat(place, size)
        out += self.yes
        return out

    @property
    def long(self) -> bool:
        """Whether rows of weights are summed along it one by one: of short curves many rows at once are faster."""
        return len(self.row) > LONG

    @property
    def breadth(self) -> int:
        """Numbers that a row of weights costs."""
        return self.tilted if self.long else self.shape[1]

    @cached_property
    def single(self) -> bool:
        """Whether every cell has one outcome, in order."""
        return len(self.row) == self.shape[0] and bool((self.row[1:] > self.row[:-1]).all())

    @cached_property
    def totals(self) -> tuple[Floats, Floats]:
        """Positives and negatives of each cell."""
        if self.single:
            return self.yes.astype(float), (~self.yes).astype(float)
        yes, cells = self.yes, self.shape[0]
        return np.bincount(self.row, yes, cells).astype(float), np.bincount(self.row, ~yes, cells).astype(float)

    @cached_property
    def once(self) -> bool:
        """Whether no cell has two outcomes."""
        return len(self.row) < 2 or bool(np.bincount(self.row).max() < 2)

    def counts(self, W: Weights) -> tuple[Floats, Floats]:
        """How many positives and negatives there are, by row of ``W``."""
        return W @ self.totals[0], W @ self.totals[1]


def along(W: Weights, curve: Curve, step: Step, reduce: np.ufunc = np.add) -> Floats:
    """The sum (or the largest) of a step over all thresholds, for each row of ``W``."""
    if (parts := W.in_full(max(1, MOST_WRITTEN // max(curve.shape[1], W.shape[1], 1)))) is not None:
        return np.concatenate([along(part, curve, step, reduce) for part in parts])
    if W.tilted is not None:
        return _without_each(W.tilted, curve, step, reduce)
    if W.grouped is not None and W.shape[0] > 1:
        return _by_group(W.grouped, curve, step, reduce)
    weight = W.weight if W.grouped is None else W.grouped.n[None, :]
    if weight is not None and (W.grouped is not None or curve.long):
        rows_of_W = zip(weight, *curve.counts(W), strict=True)
        return np.array([_one_row(n, curve, p, q, step, reduce) for n, p, q in rows_of_W])
    return reduce.reduce(step(_steps(W @ curve, curve)), axis=1, initial=_nothing(reduce))


MOST_WRITTEN = 4_000_000
"""Numbers of rows that are written out at once."""


LONG = 10_000
"""Outcomes of a curve that is too long to be written out for many rows."""
PIECE = 1 << 15
"""Distinct scores whose steps stay in the processor's cache."""


def _one_row(n: Floats, curve: Curve, positives: Floats, negatives: Floats, step: Step, reduce: np.ufunc) -> float:
    """The curve of all cells, each as often as ``n`` says, a piece at a time: its outcomes are in order already."""
    tp = fp = 0.0
    out = _nothing(reduce)
    for begin in range(0, len(curve.value), PIECE):
        dtp, dfp = _at_scores(n, curve, begin, begin + PIECE)
        value = curve.value[begin : begin + PIECE]
        at = Steps(tp + dtp.cumsum(), fp + dfp.cumsum(), dtp, dfp, positives, negatives, value)
        out = reduce(out, reduce.reduce(step(at)))
        tp, fp = at.tp[-1], at.fp[-1]
    return out


def _at_scores(n: Floats, curve: Curve, begin: int, end: int) -> tuple[Floats, Floats]:
    """Positives and negatives at some of the distinct scores."""
    first = curve.first
    cut = slice(begin, end) if first is None else slice(first[begin], first[end] if end < len(first) else None)
    outcome = curve.falling[cut]
    weight = n[outcome if curve.single else curve.row[outcome]]
    dtp = weight * curve.yes[outcome]
    dfp = weight - dtp
    if first is None:
        return dtp, dfp
    start = first[begin:end] - first[begin]
    return np.add.reduceat(dtp, start), np.add.reduceat(dfp, start)


def _nothing(reduce: np.ufunc) -> float:
    return 0.0 if reduce is np.add else -np.inf


def steps(W: Weights, curve: Curve) -> Steps:
    """The curve itself: rows of ``W`` × distinct scores."""
    return _steps(W @ curve, curve)


def _steps(counts: Floats, curve: Curve) -> Steps:
    negative, positive = counts[:, 0::2], counts[:, 1::2]
    tp, fp = positive.cumsum(1), negative.cumsum(1)
    return Steps(tp, fp, positive, negative, positive.sum(1)[:, None], negative.sum(1)[:, None], curve.value)


def _by_group(W: Grouped, curve: Curve, step: Step, reduce: np.ufunc) -> Floats:
    """Groups one after the other: no table of groups × scores is written."""
    groups, wide = W.shape[0], max(curve.shape[1] // 2, 1)
    weight = W.n[curve.row] * curve.data
    key, place = np.unique(W.group[curve.row] * wide + curve.col // 2, return_inverse=True)
    yes = curve.col & 1
    dtp, dfp = (np.bincount(place, weight * side, len(key)).astype(float) for side in (yes, 1 - yes))
    group = key // wide
    positives, negatives = (np.bincount(group, d, groups).astype(float) for d in (dtp, dfp))
    tp, fp = (_running(d, group) for d in (dtp, dfp))
    values = step(Steps(tp, fp, dtp, dfp, positives[group], negatives[group], curve.value[key % wide]))
    out = np.full(groups, _nothing(reduce))
    if len(key):
        start = np.flatnonzero(np.append(True, np.diff(group) > 0))
        out[group[start]] = reduce.reduceat(values, start)
    return out


def _running(counts: Floats, group: Ints) -> Floats:
    """Totals of each group so far. Fractions are added up group by group: a difference of totals would begin with dust."""
    start = np.flatnonzero(np.diff(group, prepend=-1))
    if (counts % 1 != 0).any():
        return np.concatenate([np.cumsum(part) for part in np.split(counts, start[1:])])
    total = np.cumsum(counts)
    return total - np.repeat((total - counts)[start], np.diff(np.append(start, len(counts))))


def _without_each(W: Tilt, curve: Curve, step: Step, reduce: np.ufunc) -> Floats:
    """Rows ``a · n + b · e(unit)``: above its score nothing changes, below it every count moves by ``b``."""
    counts = weighed(W.n, curve)
    dfp, dtp = W.a * counts[0::2], W.a * counts[1::2]
    base = Steps(np.cumsum(dtp), np.cumsum(dfp), dtp, dfp, dtp.sum(), dfp.sum(), curve.value)
    if not curve.once:
        if reduce is not np.add:
            raise TypeError("only sums run along a curve on which a unit has several places")
        return _many_places(W, curve, step, base)
    out = np.full(len(W.index), reduce.reduce(step(base), initial=_nothing(reduce)))
    place = np.full(len(W.n), -1)
    place[curve.row] = curve.col
    col = place[W.index]
    for yes in (0, 1):
        rows = np.flatnonzero((col >= 0) & (col % 2 == yes))
        if len(rows):
            out[rows] = _one_place(base, col[rows] // 2, W.b * yes, W.b * (1 - yes), step, reduce)
    return out


def _one_place(base: Steps, at: Ints, p: float, q: float, step: Step, reduce: np.ufunc) -> Floats:
    """With ``p`` positives and ``q`` negatives more at the score ``at``."""
    all_p, all_q = base.positives + p, base.negatives + q
    end = [_nothing(reduce)]
    above = np.concatenate([end, reduce.accumulate(step(base._replace(positives=all_p, negatives=all_q)))])
    moved = Steps(base.tp + p, base.fp + q, base.dtp, base.dfp, all_p, all_q, base.value)
    below = np.concatenate([reduce.accumulate(step(moved)[::-1])[::-1], end])
    here = step(Steps(moved.tp[at], moved.fp[at], base.dtp[at] + p, base.dfp[at] + q, all_p, all_q, base.value[at]))
    return np.asarray(reduce(reduce(above[at], here), below[at + 1]))


def _many_places(W: Tilt, curve: Curve, step: Step, base: Steps) -> Floats:
    """A unit with several outcomes cuts the curve in pieces; pieces that are moved alike share one running total."""
    wide = max(curve.shape[1] // 2, 1)
    row_of = np.full(len(W.n), -1)
    row_of[W.index] = np.arange(len(W.index))
    inside = np.flatnonzero(row_of[curve.row] >= 0)
    key, place = np.unique(row_of[curve.row[inside]] * wide + curve.col[inside] // 2, return_inverse=True)
    yes = curve.col[inside] & 1
    p, q = (np.bincount(place, side, len(key)).astype(float) for side in (yes, 1 - yes))
    row, at = key // wide, key % wide
    rows = len(W.index)
    all_p, all_q = (np.bincount(row, d, rows).astype(float) for d in (p, q))
    before_p, before_q = (np.cumsum(d) - d - (np.cumsum(total) - total)[row] for d, total in ((p, all_p), (q, all_q)))
    here = step(
        Steps(
            base.tp[at] + W.b * (before_p + p), base.fp[at] + W.b * (before_q + q), base.dtp[at] + W.b * p,
            base.dfp[at] + W.b * q, base.positives + W.b * all_p[row], base.negatives + W.b * all_q[row], base.value[at],
        )
    )  # fmt: skip
    out = np.bincount(row, here, rows).astype(float)
    first = np.append(True, np.diff(row) > 0) if len(row) else np.zeros(0, bool)
    begin = np.where(first, 0, np.append(0, at[:-1] + 1))
    # The pieces above each place, then the last piece of each row (the whole curve where a row has no place).
    last = np.zeros(rows, np.int64)
    last[row] = at + 1
    pieces = (
        np.concatenate([row, np.arange(rows)]), np.concatenate([begin, last]),
        np.concatenate([at, np.full(rows, wide if curve.shape[1] else 0)]),
        np.concatenate([before_p, all_p]), np.concatenate([before_q, all_q]),
    )  # fmt: skip
    moved = np.stack([pieces[3], pieces[4], all_p[pieces[0]], all_q[pieces[0]]])
    kinds, kind = np.unique(moved, axis=1, return_inverse=True)
    kind = kind.reshape(-1)
    order = np.argsort(kind, kind="stable")
    ends = np.searchsorted(kind[order], np.arange(kinds.shape[1] + 1))
    for j, (up, uq, tp, tq) in enumerate((W.b * kinds.T).tolist()):
        these = order[ends[j] : ends[j + 1]]
        part = Steps(
            base.tp + up, base.fp + uq, base.dtp, base.dfp, base.positives + tp, base.negatives + tq, base.value
        )
        total = np.append(0.0, np.cumsum(step(part)))
        out += np.bincount(pieces[0][these], total[pieces[2][these]] - total[pieces[1][these]], rows)
    return out
