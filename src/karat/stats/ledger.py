# SPDX-License-Identifier: Apache-2.0
"""Which vectors a system's metrics multiply with their weights: all that a metric knows of its cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.stats.weights import Floats, Recorder, Statistic, dense


@dataclass(frozen=True)
class Ledger:
    """What one system's metrics ask for: the distinct vectors, and which of them each request is."""

    columns: list[Floats]
    requests: list[int]
    flat: list[bool]
    """Whether the vector has one number per cell (and not one per class)."""

    @property
    def matrix(self) -> Floats:
        """All vectors side by side; the last row, all zero, stands for a unit that is not there."""
        whole = np.concatenate(self.columns, 1)
        return np.concatenate([whole, np.zeros((1, whole.shape[1]))])


MOST = 1e8
"""Largest table of cells × vectors that is written out."""


def ledger(statistic: Statistic, n: Floats) -> Ledger | None:
    """Run the metrics once on the counts and note what they multiply; None where that is too much to hold."""
    recorder = Recorder(n)
    statistic(recorder)
    distinct: dict[int, int] = {}
    requests = [distinct.setdefault(id(x), len(distinct)) for x in recorder.asked]
    first = [recorder.asked[requests.index(i)] for i in range(len(distinct))]
    if sum(np.prod(x.shape, dtype=float) for x in first) > MOST:
        return None
    arrays = [dense(x) for x in first]
    return Ledger([a if a.ndim == 2 else a[:, None] for a in arrays], requests, [a.ndim == 1 for a in arrays])


def same_shape(a: Ledger, b: Ledger) -> bool:
    """Whether both systems' metrics read alike tables (they do unless their label sets differ)."""
    return a.requests == b.requests and [c.shape[1] for c in a.columns] == [c.shape[1] for c in b.columns]
