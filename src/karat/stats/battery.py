# SPDX-License-Identifier: Apache-2.0
"""The metrics of a plan as one statistic: a column for each metric and, if asked, for each of its classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.cells import Cells, Dense
from karat.metric import Catalogue, Metric, Result
from karat.stats.streams import stream
from karat.stats.weights import Floats, Memo, Scripted, Tilt

TRIALS = 4
"""Random weightings on which a statistic must be a mean to count as one."""

Mask = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True)
class Battery:
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

    def with_classes(self, W: Any, cells: Cells) -> Floats:
        """The metrics' columns, then the classes of those that have classes."""
        results = self.results(W, cells)
        by_class = [r.by_class for r in results if r.by_class is not None]
        return np.concatenate([np.stack([r.value for r in results], -1), *by_class], -1)

    def statistic(self, cells: Cells, classes: bool = False) -> Callable[[Any], Floats]:
        """``f(W)`` over these cells."""
        compute = self.with_classes if classes else self.values
        return lambda W: compute(W, cells)

    def shares(self, classes: int) -> Mask:
        """Columns (of `with_classes`) whose scores lie between 0 and 1, as a share of units must."""
        own = [self.catalogue[m.name] for m in self.metrics]
        inside = [d.bounds == (0, 1) for d in own]
        return np.array(inside + [d.bounds == (0, 1) for d in own if d.by_class for _ in range(classes)], bool)

    def limits(self, metric: Metric) -> tuple[float, float]:
        """Between what a score can lie: the metric's bounds, and what stands in for undefined values."""
        low, high = self.catalogue[metric.name].bounds
        return float(np.fmin(low, self.fill)), float(np.fmax(high, self.fill))

    def class_columns(self, classes: int) -> dict[Metric, slice]:
        """Where each metric's classes are among the columns of `with_classes`."""
        own = [m for m in self.metrics if self.catalogue[m.name].by_class]
        return {
            m: slice(len(self.metrics) + i * classes, len(self.metrics) + (i + 1) * classes) for i, m in enumerate(own)
        }


@dataclass(frozen=True)
class UnitScores:
    """What the statistic gives for one unit of each cell, and for which columns that decides the score."""

    value: Floats
    """Cells that occur × columns; NaN where a single unit has no score."""
    is_mean: Mask
    """Columns that are the mean of their unit scores."""

    def is_share(self, column: int) -> bool:
        """Whether the column is a share of units: a mean of zeros and ones."""
        value = self.value[:, column]
        return bool(self.is_mean[column]) and bool(np.isin(value[~np.isnan(value)], (0.0, 1.0)).all())


def unit_scores(statistic: Callable[[Any], Floats], n: Floats) -> UnitScores:
    """Unit scores of the cells that occur; whether the statistic is their mean is tried on random weights."""
    seen = np.flatnonzero(n > 0)
    value = statistic(Tilt(n, 0.0, 1.0, seen))
    known = ~np.isnan(value)
    trial = np.zeros((TRIALS, len(n)))
    trial[:, seen] = stream(0, "trial").integers(1, 100, (TRIALS, len(seen)))
    total, count = trial[:, seen] @ np.where(known, value, 0.0), trial[:, seen] @ known.astype(float)
    mean = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return UnitScores(value, np.isclose(statistic(trial), mean, rtol=1e-9, atol=1e-12).all(0))
