# SPDX-License-Identifier: Apache-2.0
"""Which vectors a system's metrics multiply with their weights: all that a metric knows of its cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from karat.stats.streams import stream
from karat.stats.weights import Floats, Recorder, Replay, Statistic, Tilt, block_sizes, dense

MOST = 2e7
"""Largest table of cells × vectors that is written out."""
FEW_ROWS = 16
"""Rows of weights that any metric may hold the products of."""
WIDE = 512
"""Vectors beyond which a dense product costs more than the metrics' own sparse ones."""


def marks(table: Floats) -> Floats:
    """A number for each row; rows that are alike have the same one."""
    return np.einsum("ij,j->i", table, stream(0, "marks").random(table.shape[1]) + 0.5)


@dataclass(frozen=True)
class Ledger:
    """One system's requests, in order: which metric asked, and for which of the distinct vectors."""

    metric: list[int]
    vector: list[int]
    vectors: list[Any]
    n: Floats
    labels: tuple[str, ...]
    """What the columns of a vector by class stand for."""
    widths: frozenset[int]
    """Widths of vectors whose columns mean the same for every system with the same labels."""

    def of(self, metric: int) -> list[int]:
        """The vectors that a metric asks for, in order."""
        return [v for m, v in zip(self.metric, self.vector, strict=True) if m == metric]

    def kind(self, vector: int) -> int | None:
        """0 for one number per cell, the width of a vector by class, None for columns of the system's own."""
        shape = self.vectors[vector].shape
        if len(shape) == 1:
            return 0
        return int(shape[1]) if shape[1] == 1 or shape[1] in self.widths else None

    def total(self, vector: int) -> Floats:
        """The vector weighed by the counts, as one row."""
        return Recorder(self.n) @ self.vectors[vector]


def ledger(statistic: Statistic, n: Floats, labels: Sequence[str], widths: Sequence[int]) -> Ledger:
    """Run the metrics once on the counts and note what they multiply."""
    recorder = Recorder(n)
    statistic(recorder)
    distinct: dict[int, int] = {}
    vector = [distinct.setdefault(id(x), len(distinct)) for x in recorder.asked]
    vectors = [recorder.asked[vector.index(i)] for i in range(len(distinct))]
    return Ledger(recorder.asker, vector, vectors, n, tuple(labels), frozenset(widths))


@dataclass(frozen=True)
class Blocked:
    """A statistic that takes its rows of weights in blocks, so that its products stay in bounds however wide they are."""

    statistic: Statistic
    n: Floats

    @cached_property
    def breadth(self) -> int:
        """Numbers that the products hold for each row of weights."""
        return sum(x.shape[1] if len(x.shape) > 1 else 1 for x in ledger(self.statistic, self.n, (), ()).vectors)

    def __call__(self, W: Any) -> Floats:
        if W.shape[0] <= FEW_ROWS or not isinstance(W, np.ndarray | Tilt):
            return self.statistic(W)
        ends = np.cumsum([0, *block_sizes(W.shape[0], self.breadth)])
        return np.concatenate([self.statistic(W[a:b]) for a, b in pairwise(ends.tolist())])


@dataclass(frozen=True)
class Shared:
    """What several systems' metrics have in common, so that their outcomes can be mixed."""

    ledgers: Sequence[Ledger]

    @cached_property
    def eligible(self) -> list[bool]:
        """By metric: whether every system asks for vectors that mean the same."""
        count = 1 + max((m for led in self.ledgers for m in led.metric), default=-1)
        return [self._alike(m) for m in range(count)]

    def _alike(self, metric: int) -> bool:
        kinds = [[led.kind(v) for v in led.of(metric)] for led in self.ledgers]
        if any(None in k or k != kinds[0] for k in kinds):
            return False
        by_label = any(kind is not None and kind > 1 for kind in kinds[0])
        return not by_label or all(led.labels == self.ledgers[0].labels for led in self.ledgers)

    @cached_property
    def columns(self) -> dict[tuple[int, ...], slice]:
        """Where the vectors that eligible metrics share are in `matrix`."""
        out: dict[tuple[int, ...], slice] = {}
        end = 0
        for metric in (m for m, ok in enumerate(self.eligible) if ok):
            for key in zip(*(led.of(metric) for led in self.ledgers), strict=True):
                if key not in out:
                    width = max(self.ledgers[0].kind(key[0]) or 1, 1)
                    out[key] = slice(end, end + width)
                    end += width
        return out

    @property
    def small(self) -> bool:
        """Whether the vectors can be written out."""
        width = max((s.stop for s in self.columns.values()), default=0)
        return sum(len(led.n) for led in self.ledgers) * width <= MOST

    def matrix(self, system: int) -> Floats:
        """A system's vectors side by side; the last row, all zero, stands for a unit that is not there."""
        led = self.ledgers[system]
        parts = [dense(led.vectors[key[system]]).reshape(len(led.n), -1) for key in self.columns]
        whole = np.concatenate(parts, 1) if parts else np.zeros((len(led.n), 0))
        return np.concatenate([whole, np.zeros((1, whole.shape[1]))])

    def replay(self, system: int, totals: Floats) -> Replay:
        """Weights that give these totals to the eligible metrics, and the system's own to the others."""
        led, nth, products = self.ledgers[system], dict[int, int](), []
        for metric, vector in zip(led.metric, led.vector, strict=True):
            at = nth[metric] = nth.get(metric, -1) + 1
            if self.eligible[metric]:
                place = self.columns[tuple(other.of(metric)[at] for other in self.ledgers)]
                products.append(totals[:, place.start] if led.kind(vector) == 0 else totals[:, place])
            else:
                own = led.total(vector)
                products.append(np.broadcast_to(own, (len(totals), *own.shape[1:])))
        return Replay(products, len(led.n), len(totals))


FEW_CELLS = 5_000
"""Up to this many, cells stay apart, so that resamples do not depend on which metrics are asked for together."""


def merged(statistic: Statistic, n: Floats, few: int = FEW_CELLS) -> tuple[Statistic, Floats] | None:
    """The statistic as one dense product, over cells (and, if there are many, over those that metrics tell apart).

    With the counts that go with it; None where the vectors are too many to write out.
    """
    led = ledger(statistic, n, (), ())
    width = sum(x.shape[1] if len(x.shape) > 1 else 1 for x in led.vectors)
    if not 0 < width <= WIDE or width * len(n) > MOST:
        return None
    parts = [dense(x).reshape(len(n), -1) for x in led.vectors]
    ends = np.cumsum([0, *(p.shape[1] for p in parts)])
    table = np.concatenate(parts, 1)
    key = marks(table) if len(n) > few else np.arange(len(n))
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    distinct = table[first]

    def score(W: Any) -> Floats:
        totals = W @ distinct
        columns = [
            totals[:, ends[i]] if len(x.shape) == 1 else totals[:, ends[i] : ends[i + 1]]
            for i, x in enumerate(led.vectors)
        ]
        return statistic(Replay([columns[v] for v in led.vector], len(n), len(totals)))

    return score, np.bincount(inverse, n, len(first)).astype(float)
