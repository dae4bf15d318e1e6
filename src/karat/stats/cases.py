# SPDX-License-Identifier: Apache-2.0
"""What intervals ask of each test case of a system, answered for all of them at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np

from karat.cells import Cells, ClassCells, Sparse
from karat.stats.random import stream
from karat.stats.resampling import Jackknife, Units
from karat.stats.sample import Stratum
from karat.stats.statistic import MANY_CLASSES, TRIALS, Blocked, Fold, Mask, Statistic, UnitScores, recorded
from karat.weights import CaseTilt, CaseTotals, Floats, Ints, Places, Scores, dense


@dataclass(frozen=True)
class Cases:
    """The test cases of one system: a metric is asked once for the rows of all of them, not for each by itself."""

    cells: Cells
    statistic: Statistic
    classes: bool

    @cached_property
    def places(self) -> Places:
        return Places.of(self.cells.test_case, len(self.cells.test_cases))

    @cached_property
    def n(self) -> Floats:
        return self.cells.n[self.places.order].astype(float)

    @cached_property
    def scores(self) -> Blocked:
        return Blocked(self.statistic.of(self.cells, self.classes), self.cells.n.astype(float))

    def of_case(self, case: int) -> Scores:
        """The statistic over the cells of one test case, which are taken when they are first asked for."""
        taken = cache(lambda: self.statistic.of(self.cells.take(self.places.cells(case)), self.classes))
        return lambda W: taken()(W)

    @cached_property
    def shared(self) -> bool:
        """Whether the scores of a test case are those of all cells with weights of 0 elsewhere.

        They are where vectors are plain and do not change with the cells around them: numbers are centred at the mean
        of all, and curves are walked along in an order of their own.
        """
        sizes = np.diff(self.places.start)
        if not isinstance(self.cells, ClassCells) or len(sizes) < 2 or not sizes.all() or not self.n.all():
            return False
        vectors = self.scores.vectors
        plain = all(isinstance(x, (Sparse, np.ndarray)) for x in vectors)
        narrow = all(len(x.shape) == 1 or x.shape[1] <= MANY_CLASSES for x in vectors)
        if not (plain and narrow):
            return False
        some = [self.places.cells(case) for case in {0, int(sizes.argmax()), len(sizes) - 1}]
        # Every cell, with others around it.
        halves = [np.flatnonzero(self.cells.test_case % 2 == odd) for odd in (0, 1)]
        return all(self._same(index, vectors) for index in (*some, *halves))

    def _same(self, index: Ints, vectors: list[Any]) -> bool:
        """Whether these cells, taken out, have the vectors that they have among all."""
        taken = self.statistic.of(self.cells.take(index), self.classes)
        alone = recorded(taken, self.cells.n[index].astype(float), (), ()).vectors
        return len(alone) == len(vectors) and all(
            np.array_equal(dense(x), dense(y.rows(index) if isinstance(y, Sparse) else y[index]), equal_nan=True)
            for x, y in zip(alone, vectors, strict=True)
        )

    @cached_property
    def folding(self) -> bool:
        """Whether any column may be a fold, in any test case."""
        return any(isinstance(x, Sparse) and bool((x.data < 0).any()) for x in self.scores.vectors)

    @cached_property
    def points(self) -> Floats:
        """Test cases × columns."""
        return np.asarray(self.scores(CaseTotals(self.places, self.n)), float)

    @cached_property
    def left_out(self) -> Floats:
        """Cells × columns, in the order of test cases: the score of the cell's test case without one of its units."""
        return np.asarray(self.scores(CaseTilt(self.places, self.n, 1.0, -1.0)), float)

    @cached_property
    def unit_scores(self) -> Floats:
        """Cells × columns, in the order of test cases: the score of one unit of the cell."""
        return np.asarray(self.scores(CaseTilt(self.places, self.n, 0.0, 1.0)), float)

    @cached_property
    def is_mean(self) -> Mask:
        """Test cases × columns: whether the score is the mean of its unit scores, tried on random weights."""
        known = ~np.isnan(self.unit_scores)
        back = np.argsort(self.places.order)
        value, there = np.where(known, self.unit_scores, 0.0)[back], known[back].astype(float)
        out = np.ones(self.points.shape, bool)
        for n in self._trials():
            W = CaseTotals(self.places, n)
            total, count = W @ value, W @ there
            mean = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
            out &= np.isclose(self.scores(W), mean, rtol=1e-9, atol=1e-12)
        return out

    def _trials(self) -> Floats:
        """Trials × cells: the weights that `unit_scores` tries on each test case by itself."""
        sizes, out = np.diff(self.places.start), np.empty((TRIALS, len(self.n)))
        for size in np.unique(sizes):
            cells = self.places.start[:-1][sizes == size][:, None] + np.arange(size)
            out[:, cells] = stream(0, "trial").integers(1, 100, (TRIALS, size))[:, None, :]
        return out


@dataclass(frozen=True)
class CaseStratum(Stratum):
    """One test case of many: what intervals ask of it, all of them are asked together."""

    cases: Cases = field(kw_only=True)
    at: int = field(kw_only=True)

    @property
    def _cells(self) -> slice:
        return slice(*self.cases.places.start[self.at : self.at + 2].tolist())

    @cached_property
    def point(self) -> Floats:
        return self.cases.points[self.at]

    @cached_property
    def jackknife(self) -> Jackknife:
        return Jackknife(self.design.n, self.cases.left_out[self._cells])

    @cached_property
    def unit_scores(self) -> UnitScores:
        return UnitScores(self.cases.unit_scores[self._cells], self.cases.is_mean[self.at])

    @cached_property
    def folds(self) -> dict[int, Fold]:
        return super().folds if self.cases.folding else {}


def strata_of(cells: Cells, statistic: Statistic, classes: bool) -> list[Stratum] | None:
    """Every test case with its units, all of which are asked at once; None where their scores are not those of all cells."""
    cases = Cases(cells, statistic, classes)
    if not cases.shared:
        return None
    facts = statistic.facts(len(cells.classes) if classes else 0)
    designs = [Units(n) for n in np.split(cases.n, cases.places.start[1:-1])]
    return [
        CaseStratum(name, Blocked(cases.of_case(t), design.n), design, *facts, cells.repeatable, cases=cases, at=t)
        for t, (name, design) in enumerate(zip(cells.test_cases, designs, strict=True))
    ]
