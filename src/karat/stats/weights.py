# SPDX-License-Identifier: Apache-2.0
"""Weight matrices that are never written out: one unit more or less, what is left, what was computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Texts = NDArray[np.str_]

BLOCK = 64 * 2**20 // 8
"""Numbers in one block of a weight matrix: 64 MB."""


class Weights(Protocol):
    """What a metric needs of ``W``: a shape and ``W @ x``."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def __matmul__(self, x: Any) -> Any: ...


Statistic = Callable[[Any], Floats]
"""``f(W)``: one value (or one row of values) for each row of ``W``."""


def block_sizes(rows: int, width: int) -> Iterator[int]:
    """Sizes of consecutive blocks of ``rows`` rows that keep a block of ``width`` columns in bounds."""
    step = max(1, min(rows, BLOCK // max(width, 1)))
    for start in range(0, rows, step):
        yield min(step, rows - start)


def dense(x: Any) -> Floats:
    """A per-cell vector or matrix as an array, whatever sparse form it has."""
    return np.asarray(x.toarray() if hasattr(x, "toarray") else x, float)


class Tilt:
    """Row ``i`` is ``a · n + b · e(unit i)``: leave-one-out is (1, −1), one unit alone is (0, 1).

    ``W @ x`` is ``a · (n @ x) + b · x``, so the jackknife of any number of cells costs one
    pass, where the matrix itself would have a row and a column for each cell.
    """

    def __init__(self, n: Floats, a: float, b: float, index: Ints | None = None) -> None:
        self.n, self.a, self.b = n, a, b
        self.index = np.arange(len(n)) if index is None else index

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.index), len(self.n)

    def __getitem__(self, rows: slice) -> Tilt:
        return Tilt(self.n, self.a, self.b, self.index[rows])

    def __matmul__(self, x: Any) -> Floats:
        rows = x.rows(self.index).toarray() if hasattr(x, "rows") else np.asarray(x, float)[self.index]
        total = _Row(self.n) @ x
        return np.asarray(self.a * total + self.b * rows, float)


class _Row:
    """One row of weights as a vector."""

    def __init__(self, n: Floats) -> None:
        self.n = n

    def __matmul__(self, x: Any) -> Floats:
        if hasattr(x, "row"):
            return np.asarray(np.bincount(x.col, x.data * self.n[x.row], x.shape[1]), float)
        return np.asarray(self.n @ np.asarray(x, float))


class Memo:
    """Weights that remember their products, so that metrics which read the same vector share it."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self._known: dict[int, tuple[Any, Floats]] = {}

    @property
    def shape(self) -> tuple[int, int]:
        return self.weights.shape

    def __matmul__(self, x: Any) -> Floats:
        # The vector is kept beside its product: an id may be used again once its owner is gone.
        if id(x) not in self._known:
            self._known[id(x)] = (x, self.weights @ x)
        return self._known[id(x)][1]


class Rest:
    """What remains of ``total`` when ``taken`` is taken away: the other system's half of a swap."""

    def __init__(self, total: Floats, taken: Weights) -> None:
        self.total, self.taken = _Row(total), taken

    @property
    def shape(self) -> tuple[int, int]:
        return self.taken.shape

    def __matmul__(self, x: Any) -> Floats:
        return np.asarray((self.total @ x) - (self.taken @ x), float)


class Scripted:
    """Weights that must see every product that a metric asks for, in order."""

    metric = 0
    """The metric that is asking, by its number."""


class Recorder(Scripted):
    """Weighs one row and keeps every vector that it is multiplied with."""

    def __init__(self, n: Floats) -> None:
        self.n, self.asked, self.asker = n, list[Any](), list[int]()

    @property
    def shape(self) -> tuple[int, int]:
        return 1, len(self.n)

    def __matmul__(self, x: Any) -> Floats:
        self.asked.append(x)
        self.asker.append(self.metric)
        return np.asarray(_Row(self.n) @ x, float)[None, ...]


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
        found = self.products[self.next]
        self.next += 1
        return found
