# SPDX-License-Identifier: Apache-2.0
"""Matrices whose rows are alike but for single entries: what leaving out one unit after the other does to counts by class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

Array = NDArray[Any]


class WrittenOut(TypeError):
    """Something was asked of a patched matrix that only one with every entry can answer."""


class Patched(NDArrayOperatorsMixin):
    """Every row is ``base``, but for ``value[e]`` at row ``key[e] // width``, column ``key[e] % width``.

    Elementwise functions cost what the base and the entries cost, not rows × columns. The matrix is never
    written out unasked: what needs that raises `WrittenOut`, and its caller takes the way of full matrices.
    """

    ndim = 2

    def __init__(self, base: Array, key: NDArray[np.int64], value: Array, rows: int) -> None:
        self.base, self.key, self.value = base, key, value
        self.shape = rows, len(base)

    @property
    def row(self) -> NDArray[np.int64]:
        return self.key // max(self.shape[1], 1)

    @property
    def col(self) -> NDArray[np.int64]:
        return self.key % max(self.shape[1], 1)

    def at(self, key: NDArray[np.int64]) -> Array:
        """The values at these places, which include all entries."""
        if key is self.key:
            return self.value
        out = self.base[key % max(self.shape[1], 1)]
        out[np.searchsorted(key, self.key)] = self.value
        return out

    def toarray(self) -> Array:
        out = np.repeat(self.base[None, :], self.shape[0], 0)
        out[self.row, self.col] = self.value
        return out

    def __array__(self, *_: Any, **__: Any) -> Array:
        raise WrittenOut("a patched matrix is not written out")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        if method != "__call__" or named:
            raise WrittenOut(f"{ufunc.__name__} of a patched matrix")
        if ufunc is np.matmul:
            return self.weighed(inputs[0])
        return elementwise(ufunc, *inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, named: Any) -> Any:
        if function in (np.where, np.nan_to_num, np.clip) and not named:
            return elementwise(function, *args)
        if function is np.nansum and args[1:] in ((-1,), (1,)):
            return elementwise(np.nan_to_num, args[0]).sum(-1)
        raise WrittenOut(f"{function.__name__} of a patched matrix")

    def __getitem__(self, place: Any) -> Any:
        rows, column = place if isinstance(place, tuple) and len(place) == 2 else (None, None)
        if not isinstance(rows, slice) or rows != slice(None) or not isinstance(column, (slice, int, np.integer)):
            raise WrittenOut("rows of a patched matrix")
        if isinstance(column, slice):
            return self._columns(*column.indices(self.shape[1]))
        out = np.full(self.shape[0], self.base[column])
        entry = np.flatnonzero(self.col == column % self.shape[1])
        out[self.row[entry]] = self.value[entry]
        return out

    def _columns(self, start: int, stop: int, step: int) -> Patched:
        if step != 1:
            raise WrittenOut("columns of a patched matrix that do not lie side by side")
        row, col = self.row, self.col
        inside = (col >= start) & (col < stop)
        key = row[inside] * (stop - start) + col[inside] - start
        return Patched(self.base[start:stop], key, self.value[inside], self.shape[0])

    def astype(self, dtype: Any) -> Patched:
        return Patched(self.base.astype(dtype), self.key, self.value.astype(dtype), self.shape[0])

    def sum(self, axis: int) -> Array:
        """The sum of each row."""
        if axis not in (-1, 1):
            raise WrittenOut("the sum of all rows of a patched matrix")
        base, value = self.base.astype(float), self.value.astype(float)
        if not np.isfinite(base).all():
            raise WrittenOut("sums over entries that are not finite")
        return np.asarray(base.sum() + np.bincount(self.row, value - base[self.col], self.shape[0]), float)

    def all(self, axis: int) -> Array:
        """By column: whether it holds in every row."""
        if axis != 0:
            raise WrittenOut("all of each row of a patched matrix")
        return np.asarray(self.weighed(np.ones(self.shape[0]), elementwise(np.logical_not, self)) == 0)

    def weighed(self, weight: Array, of: Patched | None = None) -> Array:
        """``weight @ self``; what stands in no row with a weight does not count, not even NaN."""
        of = self if of is None else of
        if np.ndim(weight) == 2:
            return np.stack([of.weighed(row) for row in weight])
        row, col, width = of.row, of.col, of.shape[1]
        rest = np.sum(weight) - np.bincount(col, weight[row], width)
        base = np.where(rest != 0, of.base, 0)
        return np.asarray(rest * base + np.bincount(col, weight[row] * of.value, width), float)


def elementwise(function: Callable[..., Any], *operands: Any) -> Any:
    """The function of operands that are patched, or the same in every row; of arrays, what it gives by itself."""
    patched = [x for x in operands if isinstance(x, Patched)]
    if not patched:
        return function(*operands)
    rows, width = patched[0].shape
    key = patched[0].key
    for other in patched[1:]:
        if other.shape != (rows, width):
            raise WrittenOut("patched matrices of two shapes")
        if other.key is not key:
            key = key if np.array_equal(key, other.key) else np.union1d(key, other.key)
    plain = [x if isinstance(x, Patched) else _row(x, rows, width) for x in operands]
    base = function(*(x.base if isinstance(x, Patched) else x for x in plain))
    col = key % max(width, 1)
    value = function(*(x.at(key) if isinstance(x, Patched) else x if np.ndim(x) == 0 else x[col] for x in plain))
    return Patched(np.asarray(base), key, np.asarray(value), rows)


def _row(x: Any, rows: int, width: int) -> Any:
    """A number, or one for each column, where all rows have the same."""
    x = np.asarray(x)
    if x.ndim == 0 or x.shape == (width,):
        return x
    if x.shape == (1, width):
        return x[0]
    if x.shape == (rows, 1) and (x == x[0]).all():
        return x[0, 0]
    raise WrittenOut("an operand that differs from row to row")


def beside(parts: Sequence[Any]) -> Any:
    """Matrices of the same rows, side by side; patched if one of them is."""
    if not any(isinstance(x, Patched) for x in parts):
        return np.concatenate(parts, -1)
    rows, width = parts[0].shape[0], sum(x.shape[1] for x in parts)
    base, key, value, start = [], [], [], 0
    for x in (x if isinstance(x, Patched) else _full(x) for x in parts):
        base.append(x.base)
        key.append(x.row * width + x.col + start)
        value.append(x.value)
        start += x.shape[1]
    keys = np.concatenate(key)
    order = np.argsort(keys, kind="stable")
    return Patched(np.concatenate(base), keys[order], np.concatenate(value)[order], rows)


def _full(x: Array) -> Patched:
    return Patched(np.zeros(x.shape[1]), np.arange(x.size), x.reshape(-1), len(x))


def below(parts: Sequence[Any]) -> Any:
    """Matrices of the same columns, one below the other; patched if all are and their rows are alike."""
    if not all(isinstance(x, Patched) and np.array_equal(x.base, parts[0].base, equal_nan=True) for x in parts):
        return np.concatenate([written(x) for x in parts])
    start = np.cumsum([0, *(x.shape[0] for x in parts)])
    key = np.concatenate([x.key + s * x.shape[1] for x, s in zip(parts, start, strict=False)])
    return Patched(parts[0].base, key, np.concatenate([x.value for x in parts]), int(start[-1]))


def written(x: Any) -> Array:
    """The matrix with every entry."""
    return x.toarray() if isinstance(x, Patched) else np.asarray(x)
