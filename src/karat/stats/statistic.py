# SPDX-License-Identifier: Apache-2.0
"""The metrics of a plan as one statistic: a column for each metric and, if asked, for each of its classes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from karat.cells import Cells, Sparse
from karat.metric import Catalogue, Metric, Result
from karat.patched import WrittenOut, below, beside
from karat.stats.multiplying import multiplied
from karat.stats.random import stream
from karat.stats.resampling import Clusters, Design
from karat.weights import BLOCK, Dense, Floats, Ints, Memo, Recorder, Replay, Scores, Scripted, Tilt, dense, weighed

TRIALS = 4
"""Random weightings on which a statistic must be a mean to count as one."""

Mask = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True)
class Statistic:
    """Metrics that read the same weights; products ``W @ x`` are shared among them."""

    catalogue: Catalogue
    metrics: Sequence[Metric]
    fill: float = np.nan

    def results(self, W: Any, cells: Cells) -> list[Result]:
        shared: Any = W if isinstance(W, Scripted) else Memo(Dense(W) if isinstance(W, np.ndarray) else W)
        return [self._result(shared, cells, i, m) for i, m in enumerate(self.metrics)]

    def _result(self, W: Any, cells: Cells, at: int, metric: Metric) -> Result:
        if isinstance(W, Scripted):
            W.metric = at
        return self.catalogue[metric.name].compute(W, cells, metric, self.fill)

    def values(self, W: Any, cells: Cells) -> Floats:
        """One column per metric."""
        return np.stack([r.value for r in self.results(W, cells)], -1)

    def with_classes(self, W: Any, cells: Cells) -> Any:
        """The metrics' columns, then the classes of those that have classes."""
        results = self.results(W, cells)
        by_class = [r.by_class for r in results if r.by_class is not None]
        return beside([np.stack([r.value for r in results], -1), *by_class])

    def of(self, cells: Cells, classes: bool = False) -> Scores:
        """``f(W)`` over these cells."""
        compute = self.with_classes if classes else self.values
        return lambda W: compute(W, cells)

    def shares(self, classes: int) -> Mask:
        """Columns (of `with_classes`) whose scores lie between 0 and 1, as a share of units must."""
        definitions = [self.catalogue[m.name] for m in self.metrics]
        inside = [d.bounds == (0, 1) for d in definitions]
        return np.array(inside + [d.bounds == (0, 1) for d in definitions if d.by_class for _ in range(classes)], bool)

    def declared(self, fact: str, classes: int) -> Mask:
        """Columns (of `with_classes`) whose metrics declare it."""
        definitions = [self.catalogue[m.name] for m in self.metrics]
        return np.array(
            [getattr(d, fact) for d in [*definitions, *(d for d in definitions if d.by_class for _ in range(classes))]],
            bool,
        )

    def facts(self, classes: int) -> tuple[Mask, Mask, Mask]:
        """Columns that may be shares of units, that are chances of pairs, and whose spread a few units may make up."""
        return self.shares(classes), self.declared("pairs", classes), self.declared("squares", classes)

    def limits(self, metric: Metric) -> tuple[float, float]:
        """Between what a score can lie: the metric's bounds, and what stands in for undefined values."""
        low, high = self.catalogue[metric.name].bounds
        return float(np.fmin(low, self.fill)), float(np.fmax(high, self.fill))

    def class_columns(self, classes: int) -> dict[Metric, int]:
        """Where each metric's classes begin among the columns of `with_classes`."""
        by_class = [m for m in self.metrics if self.catalogue[m.name].by_class]
        return {m: len(self.metrics) + i * classes for i, m in enumerate(by_class)}


@dataclass(frozen=True)
class UnitScores:
    """What the statistic gives for one unit of each cell, and for which columns that decides the score."""

    value: Any
    """Cells that occur × columns (patched, where classes are many); NaN where a single unit has no score."""
    is_mean: Mask
    """Columns that are the mean of their unit scores."""

    @cached_property
    def is_share(self) -> Mask:
        """Columns that are a share of units: a mean of zeros and ones."""
        value = self.value
        return np.asarray(self.is_mean & (np.isnan(value) | (value == 0) | (value == 1)).all(0))


def unit_scores(statistic: Scores, n: Floats) -> UnitScores:
    """Unit scores of the cells that occur; whether the statistic is their mean is tried on random weights."""
    seen = np.flatnonzero(n > 0)
    value = statistic(Tilt(n, 0.0, 1.0, seen))
    known = ~np.isnan(value)
    trial = np.zeros((TRIALS, len(n)))
    trial[:, seen] = stream(0, "trial").integers(1, 100, (TRIALS, len(seen)))
    total, count = (multiplied(trial[:, seen], x) for x in (np.where(known, value, 0.0), known.astype(float)))
    mean = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return UnitScores(value, np.isclose(statistic(trial), mean, rtol=1e-9, atol=1e-12).all(0))


class Gaps(NamedTuple):
    """Distances of bins with their signs."""

    gap: Floats
    se: Floats
    together: Floats | None = None
    """Correlations of their errors, where the units of a cluster lie in several bins; a unit alone lies in one."""


MOST_BINS = 512
"""Bins whose correlations are written out."""


@dataclass(frozen=True)
class Fold:
    """A score that is Σ_b |Σ x_b| / Σ v over units: distances of bins, which chance makes larger."""

    part: Any
    """Cells × bins, sparse: x."""
    whole: Floats
    """v of each cell."""

    def gives(self, W: Floats, score: Floats) -> bool:
        """Whether these are the scores of these weights."""
        sums = np.abs(np.stack([weighed(row, self.part) for row in W])).sum(1)
        return np.allclose(sums, score * (W @ self.whole), rtol=1e-9, atol=1e-12)

    def gaps(self, design: Design) -> Gaps:
        """What each bin adds, with its sign, and the standard error of that by its units or clusters."""
        n, size, x = design.n, design.size, self.part
        total, together = float(n @ self.whole), None
        gap = weighed(n, x) / total
        if isinstance(design, Clusters):
            apart = Dense(design.matrix) @ x - np.outer(design.matrix @ self.whole, gap)
            square = (apart**2).sum(0)
            if len(gap) <= MOST_BINS:
                scaled = np.divide(apart, np.sqrt(square), out=np.zeros_like(apart), where=square > 0)
                together = scaled.T @ scaled
        else:
            twice = replace(x, data=x.data**2)
            square = weighed(n, twice) - 2 * gap * weighed(n * self.whole, x) + gap**2 * float(n @ self.whole**2)
        return Gaps(gap, np.sqrt(np.maximum(square, 0.0) * size / max(size - 1, 1)) / total, together)


def folds(statistic: Scores, n: Floats) -> dict[int, Fold]:
    """By column, the fold that it is; like the means of `unit_scores` they are tried on random weights."""
    tape, tried = recorded(statistic, n, (), ()), list[tuple[int, Fold]]()
    for column in set(tape.metric):
        asked = [tape.vectors[v] for v in tape.of(column)]
        # Of numbers without a sign |Σ x| is Σ x: that chance folds is not true of them, whatever they add up to.
        wide = [x for x in asked if hasattr(x, "col") and not getattr(x, "of_system", False) and (x.data < 0).any()]
        flat = [np.asarray(x, float) for x in asked if len(x.shape) == 1]
        tried += [(column, Fold(part, whole)) for part, whole in product(wide, flat)]
    if not tried:
        return {}
    trial = np.where(n > 0, stream(0, "trial").integers(1, 100, (TRIALS, len(n))), 0.0)
    score = statistic(trial)
    return {column: fold for column, fold in tried if fold.gives(trial, score[:, column])}


MOST = 2e7
"""Largest table of cells × vectors that is written out."""
FEW_ROWS = 16
"""Rows of weights that any metric may hold the products of."""
MANY_CLASSES = 256
"""Classes beyond which the rows of the jackknife are kept as what is alike in all of them and what differs."""
TRIED_ROWS = 64
WIDE = 512
"""Vectors beyond which a dense product costs more than the metrics' own sparse ones."""


def marks(table: Any) -> Floats:
    """A number for each row; rows that are alike have the same one."""
    weight = stream(0, "marks").random(table.shape[1]) + 0.5
    return np.asarray(np.einsum("ij,j->i", table, weight) if isinstance(table, np.ndarray) else table @ weight, float)


def _entries(x: Any, start: int) -> tuple[Ints, Ints, Floats]:
    """Row, column (counted from ``start``) and value of what is not zero."""
    if hasattr(x, "col"):
        return x.row, x.col + np.int64(start), x.data  # labels of sets are narrow
    table = np.asarray(x, float).reshape(len(x), -1)
    row, col = np.nonzero(table)
    return row, col + start, table[row, col]


PLAIN = -1
"""Kind of a vector of one number per cell; one by class is as wide as there are classes, which may be none."""


@dataclass(frozen=True)
class Tape:
    """One system's requests, in order: which metric asked, and for which of the distinct vectors."""

    metric: list[int]
    vector: list[int]
    vectors: list[Any]
    n: Floats
    labels: tuple[str, ...]
    """What the columns of a vector by class stand for."""
    widths: frozenset[int]
    """Widths of vectors whose columns mean the same for every system with the same labels."""
    _matrices: dict[Any, Any] = field(default_factory=dict)

    def of(self, metric: int) -> list[int]:
        """The vectors that a metric asks for, in order."""
        return self._asked.get(metric, [])

    @cached_property
    def _asked(self) -> dict[int, list[int]]:
        out: dict[int, list[int]] = {}
        for metric, vector in zip(self.metric, self.vector, strict=True):
            out.setdefault(metric, []).append(vector)
        return out

    def kind(self, vector: int) -> int | None:
        """`PLAIN` for one number per cell, the width of a vector by class, None for columns of the system's own."""
        shape = self.vectors[vector].shape
        if getattr(self.vectors[vector], "of_system", False):
            return None
        if len(shape) == 1:
            return PLAIN
        return int(shape[1]) if shape[1] == 1 or shape[1] in self.widths else None

    def total(self, vector: int) -> Floats:
        """The vector weighed by the counts, as one row."""
        return Recorder(self.n) @ self.vectors[vector]

    def matrix(self, places: tuple[tuple[int, int], ...], width: int) -> Any:
        """Vectors side by side, each from its first column on: cells × ``width``, sparse."""
        from scipy.sparse import csr_array

        if places in self._matrices:  # a system meets many others, most often in the same columns
            return self._matrices[places]
        parts = [_entries(self.vectors[vector], start) for vector, start in places]
        row, col, data = (np.concatenate(x) for x in zip(*parts, strict=True)) if parts else np.zeros((3, 0))
        whole = csr_array((data, (row.astype(np.int64), col.astype(np.int64))), shape=(len(self.n), width))
        return self._matrices.setdefault(places, whole)


def recorded(statistic: Scores, n: Floats, labels: Sequence[str], widths: Sequence[int]) -> Tape:
    """Run the metrics once on the counts and note what they multiply."""
    recorder = Recorder(n)
    statistic(recorder)
    distinct: dict[int, int] = {}
    vector = [distinct.setdefault(id(x), len(distinct)) for x in recorder.asked]
    vectors = [recorder.asked[vector.index(i)] for i in range(len(distinct))]
    return Tape(recorder.asker, vector, vectors, n, tuple(labels), frozenset(widths))


@dataclass(frozen=True)
class Blocked:
    """A statistic that takes its rows of weights in blocks, so that its products stay in bounds however wide they are."""

    statistic: Scores
    n: Floats

    @cached_property
    def vectors(self) -> list[Any]:
        return recorded(self.statistic, self.n, (), ()).vectors

    @cached_property
    def breadth(self) -> int:
        """Numbers that the products hold for each row of weights."""
        return sum(getattr(x, "breadth", x.shape[1] if len(x.shape) > 1 else 1) for x in self.vectors)

    @cached_property
    def tilted(self) -> int:
        """The same for the jackknife's rows, which metrics along a curve do not write out."""
        return sum(getattr(x, "tilted", x.shape[1] if len(x.shape) > 1 else 1) for x in self.vectors)

    @cached_property
    def slim(self) -> bool:
        """Whether the rows of the jackknife are alike but for few entries: tried on some of them."""
        if max((x.shape[1] for x in self.vectors if isinstance(x, Sparse)), default=0) <= MANY_CLASSES:
            return False
        some = np.unique(np.linspace(0, len(self.n) - 1, TRIED_ROWS).astype(np.int64))
        try:
            self.statistic(Tilt(self.n, 1.0, -1.0, some, patched=True))
        except WrittenOut:
            return False
        return True

    def _patched(self, W: Tilt) -> Any:
        entries = sum(len(x.row) if isinstance(x, Sparse) else len(self.n) for x in self.vectors) / len(self.n)
        W = Tilt(W.n, W.a, W.b, W.index, patched=True)
        return below([self.statistic(rows) for rows in W.blocks(int(BLOCK / max(entries, 1) / 4))])

    def __call__(self, W: Any) -> Any:
        W = Dense(W) if isinstance(W, np.ndarray) else W
        if isinstance(W, Tilt) and self.slim:
            with suppress(WrittenOut):
                return self._patched(W)
        if W.shape[0] <= FEW_ROWS:
            return self.statistic(W)
        breadth = self.tilted if isinstance(W, Tilt) else self.breadth
        return np.concatenate([self.statistic(rows) for rows in W.blocks(BLOCK // max(breadth, 1))])


@dataclass(frozen=True)
class Shared:
    """What several systems' metrics have in common, so that their outcomes can be mixed."""

    tapes: Sequence[Tape]

    @cached_property
    def eligible(self) -> list[bool]:
        """By metric: whether every system asks for vectors that mean the same."""
        count = 1 + max((m for tape in self.tapes for m in tape.metric), default=-1)
        return [self._alike(m) for m in range(count)]

    def _alike(self, metric: int) -> bool:
        kinds = [[tape.kind(v) for v in tape.of(metric)] for tape in self.tapes]
        if any(None in k or k != kinds[0] for k in kinds):
            return False
        by_label = any(kind is not None and kind > 1 for kind in kinds[0])
        return not by_label or all(tape.labels == self.tapes[0].labels for tape in self.tapes)

    @cached_property
    def columns(self) -> dict[tuple[int, ...], slice]:
        """Where the vectors that eligible metrics share are in `matrix`."""
        out: dict[tuple[int, ...], slice] = {}
        end = 0
        for metric in (m for m, ok in enumerate(self.eligible) if ok):
            for key in zip(*(tape.of(metric) for tape in self.tapes), strict=True):
                if key not in out:
                    kind = self.tapes[0].kind(key[0])
                    width = 1 if kind in (None, PLAIN) else kind
                    out[key] = slice(end, end + width)
                    end += width
        return out

    @cached_property
    def matrices(self) -> list[Any]:
        """Each system's vectors side by side, cells × vectors, sparse."""
        width = max((place.stop for place in self.columns.values()), default=0)
        return [
            tape.matrix(tuple((key[system], place.start) for key, place in self.columns.items()), width)
            for system, tape in enumerate(self.tapes)
        ]

    def _asked(self, system: int) -> list[tuple[Any, Floats | None]]:
        """By request of a system, its place among the columns, or its own total where the metric is not eligible."""
        tape, nth, out = self.tapes[system], dict[int, int](), list[tuple[Any, Floats | None]]()
        for metric, vector in zip(tape.metric, tape.vector, strict=True):
            at = nth[metric] = nth.get(metric, -1) + 1
            if self.eligible[metric]:
                place = self.columns[tuple(other.of(metric)[at] for other in self.tapes)]
                out.append((place.start if tape.kind(vector) == PLAIN else place, None))
            else:
                out.append((None, tape.total(vector)))
        return out

    @cached_property
    def _requests(self) -> list[list[tuple[Any, Floats | None]]]:
        return [self._asked(system) for system in range(len(self.tapes))]

    def replay(self, system: int, totals: Floats) -> Replay:
        """Weights that give these totals to the eligible metrics, and the system's own to the others."""
        products = [
            totals[:, place] if own is None else np.broadcast_to(own, (len(totals), *own.shape[1:]))
            for place, own in self._requests[system]
        ]
        return Replay(products, len(self.tapes[system].n), len(totals))


FEW_CELLS = 5_000
"""Up to this many, cells stay apart, so that resamples do not depend on which metrics are asked for together."""


def merged(statistic: Scores, n: Floats, few: int = FEW_CELLS) -> tuple[Scores, Floats] | None:
    """The statistic as one dense product, over cells (and, if there are many, over those that metrics tell apart).

    With the counts that go with it; None where the vectors are too many to write out.
    """
    tape = recorded(statistic, n, (), ())
    width = sum(x.shape[1] if len(x.shape) > 1 else 1 for x in tape.vectors)
    if not 0 < width <= WIDE or width * len(n) > MOST:
        return _by_column(statistic, tape) if len(n) > few else None
    parts = [dense(x).reshape(len(n), -1) for x in tape.vectors]
    ends = np.cumsum([0, *(p.shape[1] for p in parts)])
    table = np.concatenate(parts, 1)
    key = marks(table) if len(n) > few else np.arange(len(n))
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    distinct = table[first]

    def score(W: Any) -> Floats:
        totals = multiplied(W, distinct)
        columns = [
            totals[:, ends[i]] if len(x.shape) == 1 else totals[:, ends[i] : ends[i + 1]]
            for i, x in enumerate(tape.vectors)
        ]
        return statistic(Replay([columns[v] for v in tape.vector], len(n), len(totals)))

    return score, np.bincount(inverse, n, len(first)).astype(float)


def _by_column(statistic: Scores, tape: Tape) -> tuple[Scores, Floats] | None:
    """The statistic over the columns of its widest vector, where each cell has one and all else follows from it.

    Rows of weights over columns are their own product with that vector: nothing is multiplied. None elsewhere, and
    where there are more columns than cells.
    """
    cells = len(tape.n)
    wide = max(tape.vectors, key=lambda x: x.shape[-1] if len(x.shape) > 1 else 1)
    if not hasattr(wide, "col") or wide.shape[1] > cells or len(wide.row) != cells or (wide.data != 1).any():
        return None
    column, member = np.full(cells, -1), np.zeros(wide.shape[1], np.int64)
    column[wide.row] = wide.col
    member[column] = np.arange(cells)
    rest = {v: dense(x) for v, x in enumerate(tape.vectors) if x is not wide and len(x.shape) == 1}
    same = all((x == x[member][column]).all() for x in rest.values())
    if (column < 0).any() or len(rest) + 1 < len(tape.vectors) or not same:
        return None
    rest = {v: x[member] for v, x in rest.items()}

    def score(W: Any) -> Floats:
        parts = (W[start : start + CACHED] for start in range(0, len(W), CACHED))
        return np.concatenate(
            [_replayed(statistic, tape, {v: part @ x for v, x in rest.items()}, part) for part in parts]
        )

    return score, np.bincount(column, tape.n, wide.shape[1]).astype(float)


CACHED = 8
"""Rows of weights over many columns that stay in the processor's cache."""


def _replayed(statistic: Scores, tape: Tape, products: dict[int, Floats], W: Floats) -> Floats:
    return statistic(Replay([products.get(v, W) for v in tape.vector], len(tape.n), len(W)))
