# SPDX-License-Identifier: Apache-2.0
"""What happens as a threshold falls from the highest score to the lowest: the sum, or the largest, of any step along it.

A curve is a matrix like any other: ``W @ curve`` counts the positives and negatives at each distinct score, so that
resamples, slices and test cases need nothing else. Weights that differ from the counts by one unit (the jackknife) are
not written out: a unit shifts everything below its own score by one, whatever the step, and so two running totals
give the score without each of a million units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from karat.cells import Floats, Grouped, Ints, Sparse, Weights
from karat.weights import Dense, Memo, Scaled, Tilt, weighed


class Steps(NamedTuple):
    """At each threshold: positives and negatives at or above it, those at it, how many there are in all, the threshold."""

    tp: Floats
    fp: Floats
    dtp: Floats
    dfp: Floats
    positives: Floats
    negatives: Floats
    value: Floats


Step = Callable[[Steps], Floats]


@dataclass(frozen=True, eq=False)
class Curve(Sparse):
    """Cells × (negatives, positives of each distinct score), the highest score first."""

    value: Floats
    """The distinct scores, falling."""
    falling: Ints | None = None
    """The outcomes by falling score, where no two are equal and every cell has one."""

    own: ClassVar[bool] = True
    """The columns are this system's scores: another system's stand for something else."""
    tilted: ClassVar[int] = 16
    """Numbers that a row of the jackknife costs."""

    @staticmethod
    def through(cell: Ints, score: Floats, positive: Any, cells: int) -> Curve:
        """The curve of some outcomes: the cell, the score and the truth of each."""
        order = np.argsort(-score, kind="stable")
        falling = score[order]
        first = np.ones(len(order), bool)
        first[1:] = falling[1:] != falling[:-1]
        place = np.empty(len(order), np.int64)
        place[order] = np.cumsum(first) - 1
        value = falling[first]
        col = 2 * place + np.asarray(positive, np.int64)
        alone = order if len(value) == len(order) == cells and bool((cell[1:] > cell[:-1]).all()) else None
        return Curve(np.asarray(cell, np.int64), col, np.ones(len(col)), (cells, 2 * len(value)), value, alone)

    def mirrored(self, score: Floats) -> Curve:
        """The curve of the opposite question, whose scores (one a cell) fall where these rise: nothing is sorted again."""
        last = len(self.value) - 1
        place, yes = self.col >> 1, self.col & 1
        value = np.empty(len(self.value))
        value[last - place] = score[self.row]
        return Curve(self.row, 2 * (last - place) + (1 - yes), self.data, self.shape, value)

    @cached_property
    def totals(self) -> tuple[Floats, Floats]:
        """Positives and negatives of each cell."""
        cells, yes = self.shape[0], self.col & 1
        if len(self.row) == cells and bool((self.row[1:] > self.row[:-1]).all()):
            positive = yes.astype(float)
            return positive, 1 - positive
        return (
            np.bincount(self.row, yes, cells).astype(float),
            np.bincount(self.row, 1 - yes, cells).astype(float),
        )

    @cached_property
    def once(self) -> bool:
        """Whether no cell has two outcomes."""
        return len(self.row) < 2 or bool(np.bincount(self.row).max() < 2)

    def counts(self, W: Weights) -> tuple[Floats, Floats]:
        """How many positives and negatives there are, by row of ``W``."""
        return W @ self.totals[0], W @ self.totals[1]


def along(W: Weights, curve: Curve, step: Step, reduce: np.ufunc = np.add) -> Floats:
    """The sum (or the largest) of a step over all thresholds, for each row of ``W``."""
    plain: Any = W.weights if isinstance(W, Memo) else W
    if isinstance(plain, Scaled) and (rows := written(plain, curve.shape[1])) is not None:
        return np.concatenate([along(part, curve, step, reduce) for part in rows])
    if isinstance(plain, Tilt):
        return _without_each(plain, curve, step, reduce)
    if plain.grouped is not None and plain.shape[0] > 1:
        return _by_group(plain.grouped, curve, step, reduce)
    found = _one_row(plain.grouped, curve) if plain.grouped is not None and curve.falling is not None else None
    return reduce.reduce(step(found or _steps(W @ curve, curve)), axis=1, initial=_nothing(reduce))


def written(W: Scaled, width: int) -> Iterator[Dense] | None:
    """Rows of the jackknife over units that weigh differently, some at a time: what each moves is its own. None for others."""
    inner: Any = W.weights.weights if isinstance(W.weights, Memo) else W.weights
    if not isinstance(inner, Tilt):
        return None
    return _in_full(inner, W.weight, max(1, MOST_WRITTEN // max(width, len(inner.n), 1)))


MOST_WRITTEN = 4_000_000
"""Numbers of rows that are written out at once."""


def _in_full(W: Tilt, weight: Floats, step: int) -> Iterator[Dense]:
    for start in range(0, len(W.index), step):
        index = W.index[start : start + step]
        rows = np.tile(W.a * W.n, (len(index), 1))
        rows[np.arange(len(index)), index] += W.b
        yield Dense(rows * weight)


def _one_row(W: Grouped, curve: Curve) -> Steps:
    """The curve of all cells by their counts: each has a place of its own, so that nothing has to be added up."""
    weight = W.n[curve.falling][None, :]
    positive = weight * (curve.col[curve.falling] & 1)
    negative = weight - positive
    tp, fp = positive.cumsum(1), negative.cumsum(1)
    return Steps(tp, fp, positive, negative, tp[:, -1:], fp[:, -1:], curve.value)


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
    tp, fp = (np.cumsum(d) - (np.cumsum(total) - total)[group] for d, total in ((dtp, positives), (dfp, negatives)))
    each = step(Steps(tp, fp, dtp, dfp, positives[group], negatives[group], curve.value[key % wide]))
    out = np.full(groups, _nothing(reduce))
    if len(key):
        start = np.flatnonzero(np.append(True, np.diff(group) > 0))
        out[group[start]] = reduce.reduceat(each, start)
    return out


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
    own = step(Steps(moved.tp[at], moved.fp[at], base.dtp[at] + p, base.dfp[at] + q, all_p, all_q, base.value[at]))
    return np.asarray(reduce(reduce(above[at], own), below[at + 1]))


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
    own = step(
        Steps(
            base.tp[at] + W.b * (before_p + p), base.fp[at] + W.b * (before_q + q), base.dtp[at] + W.b * p,
            base.dfp[at] + W.b * q, base.positives + W.b * all_p[row], base.negatives + W.b * all_q[row], base.value[at],
        )
    )  # fmt: skip
    out = np.bincount(row, own, rows).astype(float)
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
