# SPDX-License-Identifier: Apache-2.0
"""Every kind of weight matrix ``W`` (rows = groups, columns = cells) behind one protocol: a shape and ``W @ x``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from karat.patched import Patched

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Texts = NDArray[np.str_]

BLOCK = 16 * 2**20 // 8
"""Numbers in one block of a weight matrix: 16 MB, which one block after the other can have without asking the system."""
IN_CACHE = 1 << 15
"""Numbers that stay in the processor's cache while a few more of the same number are made of them."""
NARROW = 8
"""Columns up to which a sparse matrix is written out to be multiplied with rows."""
SMALL = 1 << 12
"""Numbers up to which it is written out, too: to set up SciPy's product takes longer, for each of thousands of test cases."""


Scores = Callable[[Any], Floats]
"""``f(W)``: one value (or one row of values) for each row of ``W``."""


class Weights(Protocol):
    """What a metric may ask of ``W``."""

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def grouped(self) -> Grouped | None:
        """These weights, where every cell belongs to one row; None elsewhere."""

    @property
    def tilted(self) -> Tilt | None:
        """These weights, where a row is all counts but for one unit; None elsewhere."""

    @property
    def weight(self) -> Floats | None:
        """The matrix itself, where it is written out; None elsewhere."""

    def __matmul__(self, x: Any) -> Floats: ...

    def blocks(self, rows: int) -> Iterator[Weights]:
        """The same weights in runs of at most ``rows`` rows, where they can be cut."""

    def in_full(self, rows: int) -> Iterator[Dense] | None:
        """At most ``rows`` rows of the jackknife at a time, where units weigh differently, so that each moves its own; else None."""


class _Unwritten:
    """Weights of which no more can be said than their products."""

    __slots__ = ()
    grouped: Any = None
    tilted: Any = None
    weight: Any = None

    def in_full(self, rows: int) -> Iterator[Dense] | None:
        return None


def block_sizes(rows: int, width: int) -> Iterator[int]:
    """Sizes of consecutive blocks of ``rows`` rows that keep a block of ``width`` columns in bounds."""
    step = max(1, min(rows, BLOCK // max(width, 1)))
    for start in range(0, rows, step):
        yield min(step, rows - start)


def cuts(rows: int, step: int) -> Iterator[tuple[int, int]]:
    """Ends of consecutive runs of at most ``step`` of so many rows."""
    return pairwise([*range(0, rows, max(step, 1)), rows])


def dense(x: Any) -> Floats:
    """A per-cell vector or matrix as an array, whatever sparse form it has."""
    return np.asarray(x.toarray() if hasattr(x, "toarray") else x, float)


def weighed(n: Floats, x: Any) -> Floats:
    """``n @ x`` for one row of weights."""
    if hasattr(x, "col"):
        return np.asarray(np.bincount(x.col, x.data * n[x.row], x.shape[1]), float)
    return np.asarray(n @ np.asarray(x, float))


@dataclass(frozen=True, slots=True)
class Grouped(_Unwritten):
    """A weight matrix in which each cell belongs to one row: ``W[g, u] = n[u] if group[u] == g``.

    Products with sparse matrices are remembered, because several metrics read the same ones.
    """

    group: Ints
    n: Floats
    shape: tuple[int, int]
    _known: dict[int, tuple[Any, Floats]] = field(default_factory=dict)

    def __matmul__(self, x: Any) -> Floats:
        groups = self.shape[0]
        if hasattr(x, "passing"):
            return self._by_class(x)
        if hasattr(x, "col"):
            if id(x) not in self._known:
                self._known[id(x)] = x, self._by_class(x)
            return self._known[id(x)][1].copy()
        x = np.asarray(x, float)
        if x.ndim == 1 and groups == 1:
            return np.array([(x * self.n).sum()])
        if x.ndim == 1:
            return np.bincount(self.group, x * self.n, groups).astype(float)
        out = np.empty((groups, x.shape[1]))
        for j in range(x.shape[1]):
            out[:, j] = np.bincount(self.group, x[:, j] * self.n, groups)
        return out

    def _by_class(self, x: Any) -> Floats:
        groups, width = self.shape[0], x.shape[1]
        ones = x.data.strides == (0,) and bool((x.data[:1] == 1).all())
        if groups == 1 and ones and (self.n == 1).all():
            return np.bincount(x.col, minlength=width).astype(float).reshape(1, width)
        out = np.zeros(groups * width)
        for a, b in cuts(len(x.col), IN_CACHE):  # one after the other, as in one go
            row, key = x.row[a:b], x.col[a:b].astype(np.int64, copy=False)
            weight = self.n[row] if ones else self.n[row] * x.data[a:b]
            np.add.at(out, key if groups == 1 else self.group[row] * width + key, weight)
        return out.reshape(groups, width)

    @property
    def grouped(self) -> Grouped:
        return self

    def blocks(self, rows: int) -> Iterator[Weights]:
        yield self


@dataclass(frozen=True, slots=True)
class Dense(_Unwritten):
    """A weight matrix given row by row: resamples, left-out units, slices."""

    weight: Floats

    @property
    def shape(self) -> tuple[int, int]:
        return self.weight.shape[0], self.weight.shape[1]

    def __matmul__(self, x: Any) -> Floats:
        if not hasattr(x, "col") or x.shape[1] <= NARROW or x.shape[0] * x.shape[1] <= SMALL:
            return np.asarray(self.weight @ (x.toarray() if hasattr(x, "col") else x))
        from scipy.sparse import csr_array

        transposed = csr_array((x.data, (x.col, x.row)), shape=(x.shape[1], x.shape[0]))
        return np.asarray((transposed @ self.weight.T).T)

    def blocks(self, rows: int) -> Iterator[Weights]:
        return (Dense(self.weight[a:b]) for a, b in cuts(len(self.weight), rows))


class Scaled(_Unwritten):
    """Weights over units that do not count as one each: every unit of a cell counts ``each`` times."""

    def __init__(self, weights: Weights, each: Floats) -> None:
        self.weights, self.each, self.shape = weights, each, weights.shape

    @property
    def grouped(self) -> Grouped | None:
        of = self.weights.grouped
        return None if of is None else Grouped(of.group, of.n * self.each, of.shape)

    def __matmul__(self, x: Any) -> Floats:
        if hasattr(x, "col"):
            return self.weights @ (x * self.each)
        return self.weights @ (np.asarray(x, float).T * self.each).T

    def blocks(self, rows: int) -> Iterator[Weights]:
        return (Scaled(part, self.each) for part in self.weights.blocks(rows))

    def in_full(self, rows: int) -> Iterator[Dense] | None:
        of = self.weights.tilted
        return None if of is None else (Dense(part.written() * self.each) for part in of.blocks(rows))


class Tilt(_Unwritten):
    """Row ``i`` is ``a · n + b · e(unit i)``: leave-one-out is (1, −1), one unit alone is (0, 1).

    ``W @ x`` is ``a · (n @ x) + b · x``, so the jackknife of any number of cells costs one
    pass, where the matrix itself would have a row and a column for each cell. ``patched`` keeps products
    by class as what is the same in all rows and the entries that a unit changes.
    """

    def __init__(self, n: Floats, a: float, b: float, index: Ints | None = None, patched: bool = False) -> None:
        self.n, self.a, self.b, self.patched = n, a, b, patched
        self.index = np.arange(len(n)) if index is None else index

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.index), len(self.n)

    def __matmul__(self, x: Any) -> Any:
        if self.patched and hasattr(x, "rows") and x.shape[1] > NARROW:
            return self._patched(x)
        rows = x.rows(self.index).toarray() if hasattr(x, "rows") else np.asarray(x, float)[self.index]
        return np.asarray(self.a * weighed(self.n, x) + self.b * rows, float)

    @property
    def tilted(self) -> Tilt:
        return self

    def blocks(self, rows: int) -> Iterator[Tilt]:
        return (Tilt(self.n, self.a, self.b, self.index[a:b], self.patched) for a, b in cuts(len(self.index), rows))

    def written(self) -> Floats:
        """The matrix itself."""
        rows = np.tile(self.a * self.n, (len(self.index), 1))
        rows[np.arange(len(self.index)), self.index] += self.b
        return rows

    def _patched(self, x: Any) -> Patched:
        base, entries, width = self.a * weighed(self.n, x), x.rows(self.index), x.shape[1]
        key, inverse = np.unique(entries.row * width + entries.col, return_inverse=True)
        value = base[key % width] + self.b * np.bincount(inverse, entries.data, len(key))
        return Patched(base, key, value, len(self.index))


@dataclass(frozen=True)
class Places:
    """Where the cells of each test case are: ``order[start[t]:start[t + 1]]`` are those of test case ``t``."""

    order: Ints
    case: Ints
    """Test case of each cell, in that order."""
    start: Ints

    @staticmethod
    def of(test_case: Ints, cases: int) -> Places:
        order = np.argsort(test_case, kind="stable")
        case = test_case[order]
        return Places(order, case, np.searchsorted(case, np.arange(cases + 1)))

    def cells(self, case: int) -> Ints:
        return self.order[self.start[case] : self.start[case + 1]]


class CaseTotals(_Unwritten):
    """Row ``t`` is what the cells of test case ``t`` count, and 0 elsewhere, for test cases ``first`` to ``last``.

    Each row's product is the one that its test case has by itself, to the last bit: `Grouped` adds in another order.
    """

    def __init__(self, places: Places, n: Floats, first: int = 0, last: int | None = None) -> None:
        self.places, self.n = places, n
        """The counts are in the order of ``places``."""
        self.first, self.last = first, len(places.start) - 1 if last is None else last

    @property
    def shape(self) -> tuple[int, int]:
        return self.last - self.first, len(self.n)

    def __matmul__(self, x: Any) -> Floats:
        ends = self.places.start[self.first : self.last + 1]
        inside = slice(ends[0], ends[-1])
        if hasattr(x, "rows"):
            part, width = x.rows(self.places.order[inside]), x.shape[1]
            key = (self.places.case[inside][part.row] - self.first) * width + part.col
            total = np.bincount(key, part.data * self.n[inside][part.row], self.shape[0] * width)
            return np.asarray(total, float).reshape(self.shape[0], width)
        x, n = np.asarray(x, float)[self.places.order[inside]], self.n[inside]
        return np.array([n[a:b] @ x[a:b] for a, b in pairwise((ends - ends[0]).tolist())], float)

    def blocks(self, rows: int) -> Iterator[Weights]:
        runs = cuts(self.shape[0], rows)
        return (CaseTotals(self.places, self.n, self.first + a, self.first + b) for a, b in runs)


class CaseTilt(_Unwritten):
    """A `Tilt` of every test case, one after the other: row ``i`` is ``a · n + b · e(i)`` with the counts of its own test case."""

    def __init__(self, places: Places, n: Floats, a: float, b: float, rows: slice | None = None) -> None:
        self.places, self.n, self.a, self.b = places, n, a, b
        self.rows = rows or slice(0, len(n))

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.stop - self.rows.start, len(self.n)

    def __matmul__(self, x: Any) -> Floats:
        index, case = self.places.order[self.rows], self.places.case[self.rows]
        rows = x.rows(index).toarray() if hasattr(x, "rows") else np.asarray(x, float)[index]
        totals = CaseTotals(self.places, self.n, int(case[0]), int(case[-1]) + 1) @ x
        return np.asarray(self.a * totals[case - case[0]] + self.b * rows, float)

    def blocks(self, rows: int) -> Iterator[Weights]:
        start = self.rows.start
        for a, b in cuts(self.shape[0], rows):
            yield CaseTilt(self.places, self.n, self.a, self.b, slice(start + a, start + b))


class Memo:
    """Weights that remember their products, so that metrics which read the same vector share it."""

    def __init__(self, weights: Weights) -> None:
        self.weights, self.in_full = weights, weights.in_full
        self.shape, self.grouped, self.tilted, self.weight = (
            weights.shape,
            weights.grouped,
            weights.tilted,
            weights.weight,
        )
        self._known: dict[int, tuple[Any, Floats]] = {}

    def __matmul__(self, x: Any) -> Floats:
        if hasattr(x, "passing"):
            return self.weights @ x
        # The vector is kept beside its product: an id may be used again once its owner is gone.
        if id(x) not in self._known:
            self._known[id(x)] = (x, self.weights @ x)
        return self._known[id(x)][1]

    def blocks(self, rows: int) -> Iterator[Weights]:
        return iter([self]) if self.shape[0] <= rows else self.weights.blocks(rows)


class Scripted(_Unwritten):
    """Weights that must see every product that a metric asks for, in order."""

    metric = 0
    """The metric that is asking, by its number."""

    def blocks(self, rows: int) -> Iterator[Any]:
        yield self


class Recorder(Scripted):
    """Weighs one row and keeps every vector that it is multiplied with."""

    def __init__(self, n: Floats) -> None:
        self.n, self.shape = n, (1, len(n))
        self.asked, self.asker = list[Any](), list[int]()

    def __matmul__(self, x: Any) -> Floats:
        self.asked.append(x)
        self.asker.append(self.metric)
        return weighed(self.n, x)[None, ...]


class Replay(Scripted):
    """Gives products that were computed beforehand, in the order in which a metric asks for them.

    A metric is a function of its products alone, so this scores weights over two systems'
    cells at once, which no single table of cells holds.
    """

    def __init__(self, products: list[Floats], width: int, rows: int) -> None:
        self.products, self.next = products, 0
        self.shape = rows, width
        """Said by itself: a metric that is undefined from the start asks for no product."""

    def __matmul__(self, x: Any) -> Floats:
        product = self.products[self.next]
        self.next += 1
        return product
