# SPDX-License-Identifier: Apache-2.0
"""Columns of rows that are grouped by query."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.state import stored

Ints = NDArray[np.int64]
SmallInts = NDArray[np.int32]
Floats = NDArray[np.float64]
BLOCK = 1 << 18
"""Rows that are worked on together: what millions of documents need beside their columns is needed for one block at a time."""


@stored("ranking-rows")
class Rows:
    """Columns whose rows ``start[q]`` to ``start[q + 1]`` belong to query ``q``."""

    def __init__(self, start: Any, **columns: Any) -> None:
        self.start: Ints = np.asarray(start, np.int64)
        self.columns: dict[str, NDArray[Any]] = {name: np.asarray(c) for name, c in columns.items()}

    @staticmethod
    def grouped(query: Ints, queries: int, **columns: Any) -> Rows:
        """Rows with the query of each given, in any order of queries."""
        start = np.concatenate([[0], np.cumsum(np.bincount(query, minlength=queries))])
        if (query[1:] < query[:-1]).any():
            order = np.argsort(query, kind="stable")
            columns = {name: np.asarray(c)[order] for name, c in columns.items()}
        return Rows(start, **columns)

    def __len__(self) -> int:
        return int(self.start[-1])

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["columns"][name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def queries(self) -> int:
        return len(self.start) - 1

    @cached_property
    def size(self) -> Ints:
        return np.diff(self.start)

    @cached_property
    def query(self) -> Ints:
        """Query of each row."""
        return np.repeat(np.arange(self.queries), self.size)

    def __getitem__(self, index: Ints) -> Rows:
        """The rows of queries ``index``, repeats allowed."""
        if len(index) and (np.diff(index) == 1).all():
            first, last = self.start[index[0]], self.start[index[-1] + 1]
            rows = {name: c[first:last] for name, c in self.columns.items()}
            return Rows(self.start[index[0] : index[-1] + 2] - first, **rows)
        size = self.size[index]
        start = np.concatenate([[0], np.cumsum(size)])
        old = np.arange(start[-1]) + np.repeat(self.start[:-1][index] - start[:-1], size)
        return Rows(start, **{name: c[old] for name, c in self.columns.items()})

    def where(self, keep: NDArray[np.bool_]) -> Rows:
        """The rows for which ``keep`` holds."""
        kept = np.flatnonzero(keep)
        start = np.searchsorted(kept, self.start)
        return Rows(start, **{name: c[kept] for name, c in self.columns.items()})

    def count(self, keep: NDArray[np.bool_]) -> Ints:
        """Rows of each query for which ``keep`` holds."""
        return np.diff(np.searchsorted(np.flatnonzero(keep), self.start))

    def by(self, key: Callable[[Rows], Any]) -> Rows:
        """The rows of each query sorted by ``key`` of them; rows with the same one keep their order."""
        order = np.empty(len(self), np.int64)
        for first, last in self.cuts():
            block, begin = self[np.arange(first, last)], int(self.start[first])
            order[begin : begin + len(block)] = _order(block.query, np.asarray(key(block))) + begin
        return Rows(self.start, **{name: c[order] for name, c in self.columns.items()})

    def cuts(self) -> Iterator[tuple[int, int]]:
        """The first query of each block of rows, and the one after its last."""
        ends = np.unique(np.searchsorted(self.start, np.arange(BLOCK, len(self), BLOCK), "right") - 1)
        return pairwise([0, *ends[(ends > 0) & (ends < self.queries)].tolist(), self.queries])

    def sum(self, x: Any = 1.0) -> Floats:
        """Sum of ``x`` over the rows of each query, in row order."""
        return summed(self.query, np.broadcast_to(np.asarray(x, float), (len(self),)), self.queries)

    def nth(self) -> Ints:
        """1 for a query's first row, 2 for its second, …"""
        return np.arange(1, len(self) + 1) - self.start[:-1][self.query]

    def running(self, x: Any) -> Floats:
        """Sum of ``x`` over the rows of a query up to and with each row.

        Sums are doubled in reach within each query, so that other queries leave no rounding behind.
        """
        out, nth = np.array(x, float), self.nth()
        step, longest = 1, self.size.max(initial=0)
        while step < longest:
            late = np.flatnonzero(nth > step)
            out[late] += out[late - step]
            step *= 2
        return out

    def with_columns(self, **columns: Any) -> Rows:
        return Rows(self.start, **(self.columns | columns))


def _order(group: Ints, key: NDArray[Any]) -> Ints:
    """The stable order by group, then key; small whole keys are sorted in one word with the row, in a fraction of the time."""
    with np.errstate(invalid="ignore"):
        whole = key.astype(np.int64)
    low, high, rows = int(whole.min(initial=0)), int(whole.max(initial=0)), len(key)
    bits = [int(n).bit_length() for n in (group.max(initial=0), high - low, rows)]
    if sum(bits) > 63 or not np.array_equal(whole, key):
        return np.lexsort((key, group))
    packed = ((group << bits[1] | whole - low) << bits[2]) | np.arange(rows)
    packed.sort()
    return packed & ((1 << bits[2]) - 1)


def summed(group: Ints, x: Any, groups: int) -> Floats:
    """Sum of ``x`` by group, in order."""
    return np.bincount(group, x, groups).astype(float, copy=False)
