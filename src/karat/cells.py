# SPDX-License-Identifier: Apache-2.0
"""Cells: distinct outcomes of units, with their counts."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from karat.state import stored
from karat.weights import Dense, Floats, Grouped, Ints, Weights

__all__ = ["Cells", "ClassCells", "Collapsed", "Dense", "Floats", "Grouped", "Ints", "Passing", "Sparse", "Weights"]


@stored("sparse")
@dataclass(frozen=True, slots=True, eq=False)
class Sparse:
    """A matrix of cells × columns that is mostly zero, as coordinates."""

    row: Ints
    col: Ints
    data: Floats
    shape: tuple[int, int]

    @staticmethod
    def of(row: Any, col: Any, data: Any, shape: tuple[int, int]) -> Sparse:
        row, col = np.asarray(row, np.int64), np.asarray(col, np.int64)
        data = np.broadcast_to(np.asarray(data, float), row.shape)
        keep = data != 0
        return Sparse(row, col, data, shape) if keep.all() else Sparse(row[keep], col[keep], data[keep], shape)

    def rows(self, index: Ints) -> Sparse:
        """The matrix whose row ``i`` is this one's row ``index[i]``."""
        row, col, data = self.row, self.col, self.data
        if (row[1:] < row[:-1]).any():
            order = np.argsort(row, kind="stable")
            row, col, data = row[order], col[order], data[order]
        start = np.searchsorted(row, np.arange(self.shape[0] + 1))
        length = (start[1:] - start[:-1])[index]
        new_row = np.repeat(np.arange(len(index)), length)
        within = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
        old = np.repeat(start[:-1][index], length) + within
        return Sparse(new_row, col[old], data[old], (len(index), self.shape[1]))

    def columns(self, index: Ints, width: int) -> Sparse:
        """The matrix with column ``j`` moved to ``index[j]``, ``width`` columns wide."""
        return Sparse(self.row, index[self.col], self.data, (self.shape[0], width))

    def shared(self, other: Sparse) -> Sparse:
        """1 where both matrices have an entry."""
        hits = _in_both(self, other)
        if hits is None:
            width = max(self.shape[1], 1)
            keys = np.concatenate([m.row * width + m.col for m in (self, other)])
            keys.sort(kind="stable")
            both = keys[1:][keys[1:] == keys[:-1]]
            return Sparse(both // width, both % width, np.ones(len(both)), self.shape)
        return Sparse(self.row[hits], self.col[hits], np.broadcast_to(1.0, len(hits)), self.shape)

    def row_sums(self) -> Sparse:
        """One column: the sum of each row."""
        total = np.bincount(self.row, self.data, self.shape[0])
        return Sparse.of(np.arange(self.shape[0]), np.zeros(self.shape[0], np.int64), total, (self.shape[0], 1))

    def __mul__(self, factor: Floats) -> Sparse:
        """Each row times its factor."""
        return Sparse.of(self.row, self.col, self.data * factor[self.row], self.shape)

    def toarray(self) -> Floats:
        out = np.zeros(self.shape)
        np.add.at(out, (self.row, self.col), self.data)
        return out

    def check_state(self) -> None:
        """Every entry has a row, a column and a value."""
        alike = len(self.row) == len(self.col) == len(self.data)
        if not alike or not _indexes(self.row, self.shape[0]) or not _indexes(self.col, self.shape[1]):
            raise ValueError("a matrix with entries outside of it")


class Passing(Sparse):
    """A large matrix that is made anew for every product: weights do not keep it."""

    __slots__ = ()
    passing = True


TABLE = 1 << 21
"""Entries of the tables in which a few rows at a time are written out: they stay in the processor's cache."""


FEW = 64
"""Rows for which such a table is not worth its while."""


def _in_both(matrix: Sparse, other: Sparse) -> Ints | None:
    """The entries of one matrix that the other has too; None where they are too wide, or not in the order of rows."""
    rows, width = matrix.shape
    step = TABLE // max(width, 1)
    if step < FEW or not all((m.row[1:] >= m.row[:-1]).all() for m in (matrix, other)):
        return None
    table, hit = np.zeros(min(step, rows) * width, bool), np.zeros(len(matrix.row), bool)
    begin = range(0, rows, step)
    cuts = [np.append(np.searchsorted(m.row, begin), len(m.row)).tolist() for m in (matrix, other)]
    for nth, row in enumerate(begin):
        here, there = (
            (m.row[cut[nth] : cut[nth + 1]] - row) * width + m.col[cut[nth] : cut[nth + 1]]
            for m, cut in zip((matrix, other), cuts, strict=True)
        )
        table[there] = True
        hit[cuts[0][nth] : cuts[0][nth + 1]] = table[here]
        table[there] = False
    return np.flatnonzero(hit)


def _indexes(codes: Ints, size: int) -> bool:
    return not len(codes) or bool(codes.min() >= 0 and codes.max() < size)


@stored("cells")
class Cells:
    """Distinct outcomes with their counts; contexts add the vectors that their metrics read.

    Every per-cell field is an array (or `Sparse`) with one row per cell and is named in
    ``per_cell``, so that `take` and `stack` can re-index any context's cells.

    A store keeps cells by their fields (`karat.state`): arrays, texts, numbers, lists, dicts and
    objects of karat's own classes. Cached properties are made anew unless ``per_cell`` names them.
    A class that changes its fields raises ``state_version`` and turns older fields into its own.
    """

    state_version: ClassVar[int] = 1

    per_cell: ClassVar[tuple[str, ...]] = ()
    repeatable: ClassVar[bool] = True
    """Whether a unit that is drawn twice counts as two: not where units are scored by their mates."""
    averages: ClassVar[tuple[str, ...]] = ("macro", "micro", "weighted")
    weight: Floats | None = None
    """What a unit of each cell counts, where that is not 1."""
    class_codes: ClassVar[tuple[str, ...] | None] = None
    """Fields of ``per_cell`` that hold class numbers; None where cells cannot be given other classes."""

    def __init__(
        self,
        n: Any,
        test_case: Any,
        test_cases: Sequence[str],
        classes: Sequence[str] = (),
        unit: Any = None,
        unit_ids: Sequence[str] | None = None,
    ) -> None:
        self.n: Ints = np.asarray(n, np.int64)
        self.test_case: Ints = np.asarray(test_case, np.int64)
        self.test_cases = list(test_cases)
        self.classes = list(classes)
        self.unit: Ints | None = None if unit is None else np.asarray(unit, np.int64)
        """Cell of each unit, where units were asked for."""
        self.unit_ids = unit_ids

    def __len__(self) -> int:
        return len(self.n)

    @cached_property
    def ones(self) -> Floats:
        """1 for every cell: ``W @ cells.ones`` counts units."""
        return np.ones(len(self))

    @property
    def mass(self) -> Floats:
        """What the units of each cell count together."""
        return np.asarray(self.n if self.weight is None else self.n * self.weight, float)

    @cached_property
    def lightest(self) -> Floats:
        """What one unit of each test case counts: 1, or less where weights are shares. What no unit has is as rare as what one has."""
        out = np.ones(len(self.test_cases))
        if self.weight is not None:
            np.minimum.at(out, self.test_case, np.where(self.weight > 0, self.weight, 1.0))
        return out

    @property
    def copies(self) -> bool:
        """Whether weights are numbers of copies: for who counts pairs of units, which half a unit has not."""
        return self.weight is None or not (self.weight % 1).any()

    def check_state(self) -> None:
        """Every cell has its count, its test case and its rows, and every unit its cell."""
        rows = [getattr(self, name) for name in ("n", "test_case", *self.per_cell)]
        sizes = {r.shape[0] for r in rows if isinstance(r, (Sparse, np.ndarray))}
        if len(sizes) > 1 or not _indexes(self.test_case, len(self.test_cases)):
            raise ValueError("cells whose fields differ in length")
        if self.unit is not None and not _indexes(self.unit + 1, len(self) + 1):
            raise ValueError("units without a cell")

    @classmethod
    def upgrade_state(cls, fields: dict[str, Any], version: int) -> dict[str, Any]:
        """Fields as this class has them, from those that its form ``version`` had."""
        raise TypeError(f"{cls.__name__} cannot read its form {version}")

    @property
    def are_test_cases(self) -> bool:
        """Whether each cell is the one unit of a test case of its own (a query)."""
        return len(self.test_cases) == len(self) and bool((self.n == 1).all())

    @property
    def counts(self) -> NDArray[np.bool_]:
        """Whether each cell has a part in the scores at all."""
        return np.ones(len(self), bool)

    @property
    def left_out(self) -> Ints | None:
        """What of each cell's unit is not scored because the system lacks it, as a number: 0 for nothing; None where no unit is partial."""
        return None

    def by_test_case(self) -> Grouped:
        """One row per test case: the scores that are reported, and averaged."""
        return Grouped(self.test_case, self.n.astype(float), (len(self.test_cases), len(self)))

    def pooled(self) -> Grouped:
        """One row: all test cases as one."""
        return Grouped(np.zeros(len(self), np.int64), self.n.astype(float), (1, len(self)))

    def per_cell_weights(self) -> Grouped:
        """One row per cell, weight 1: the metric of a single unit of each cell."""
        return Grouped(np.arange(len(self)), np.ones(len(self)), (len(self), len(self)))

    def take(self, index: Any, n: Any = None) -> Self:
        """Cells ``index`` of these (repeats allowed), with their counts or ``n``."""
        index = np.asarray(index, np.int64)
        out = copy.copy(self)
        for name in [k for k in out.__dict__ if isinstance(getattr(type(self), k, None), cached_property)]:
            del out.__dict__[name]
        for name in ("test_case", *self.per_cell):
            old = getattr(self, name)
            setattr(out, name, old.rows(index) if isinstance(old, Sparse) else old[index])
        out.n = self.n[index] if n is None else np.asarray(n, np.int64)
        if self.weight is not None:
            out.weight = self.weight[index]
        out.unit, out.unit_ids = None, None
        return out

    def as_whole(self) -> Self:
        """The cells as a data set of their own: nothing is read from what they were taken of."""
        return self

    def blocks(self) -> Iterator[Self]:
        """The cells in runs, few enough in each to make a metric's vectors of."""
        yield self

    def answers(self, cell: int) -> tuple[str, str]:
        """What gold and the system say of a unit of the cell, for a list of errors."""
        return "", ""

    def text(self, cell: int) -> str:
        """The text of the cell's unit, where the cells hold it."""
        return ""

    def unit_scores(self, metric: str) -> Floats | None:
        """The score of a unit of each cell where the metric needs the others beside it; None where it does not."""
        return None

    def with_classes(self, classes: Sequence[str]) -> Self:
        """The same cells over more classes, so that systems which use different labels can be put side by side."""
        if self.class_codes is None:
            raise TypeError(f"{type(self).__name__} cannot be given other classes")
        out, at = self.take(np.arange(len(self))), {label: i for i, label in enumerate(classes)}
        index = np.array([at[label] for label in self.classes], np.int64)
        for name in self.per_cell:
            old = getattr(self, name)
            if isinstance(old, Sparse):
                setattr(out, name, old.columns(index, len(classes)))
            elif name in self.class_codes:
                setattr(out, name, np.append(index, -1)[old])
        out.classes, out.unit, out.unit_ids = list(classes), self.unit, self.unit_ids
        return out


YES = ("1", "true", "yes", "y", "pos", "positive")
"""Labels that say by themselves that they are the positive one of two."""


def positive_of(classes: Sequence[str], named: str | None) -> int | None:
    """The positive class: the one that was named, else that of two which says yes, or comes last, as 2 does after 1."""
    if named is not None:
        return list(classes).index(named) if named in classes else None
    if len(classes) != 2:
        return None
    return 0 if [says_yes(label) for label in classes] == [True, False] and not _is_number(classes[1]) else 1


def says_yes(label: str) -> bool:
    return label.strip().lower() in YES


def _is_number(label: str) -> bool:
    return label.strip().lstrip("+-").replace(".", "", 1).isdigit()


def guessed_positive(classes: Sequence[str]) -> bool:
    """Does nothing in the names say which of two classes is positive?"""
    return not any(map(says_yes, classes)) and not all(map(_is_number, classes))


class TakenCells(Cells):
    """Cells of which metrics read something that does not change when some of them are taken: gold's spread, ends of bins."""

    source: Self | None = None
    """The cells that these were taken of. Cells that named themselves would stay in memory until the collector comes."""

    @property
    def whole(self) -> Self:
        """The cells as counted."""
        return self if self.source is None else self.source

    @whole.setter
    def whole(self, cells: Self) -> None:
        """As runs that were kept before spell it."""
        self.source = None if cells is self else cells

    def take(self, index: Any, n: Any = None) -> Self:
        out = super().take(index, n)
        out.source = self.whole
        return out


class ClassCells(Cells):
    """Cells with counts by class: the base of every context whose scores come per class."""

    @cached_property
    def hit_of(self) -> Sparse:
        """1 where a class is both gold and predicted."""
        raise AttributeError("hit_of")

    @cached_property
    def gold_of(self) -> Sparse:
        """1 where a class is gold."""
        raise AttributeError("gold_of")

    @cached_property
    def pred_of(self) -> Sparse:
        """1 where a class is predicted."""
        raise AttributeError("pred_of")

    pos_label: str | None = None
    """The class that a yes-or-no question asks for, where it was named."""

    @property
    def positive(self) -> int | None:
        """The number of the positive class."""
        return positive_of(self.classes, self.pos_label)

    def average_of(self, average: str) -> str:
        """The average that is meant by a word that leaves it to the data."""
        return average

    def collapsed(self) -> Collapsed:
        """All classes as one."""
        return Collapsed(self)

    def answers(self, cell: int) -> tuple[str, str]:
        return self._labels(self.gold_of, cell), self._labels(self.pred_of, cell)

    def _labels(self, of: Sparse, cell: int) -> str:
        at = np.flatnonzero(of.row == cell)
        named = [(self.classes[c], v) for c, v in zip(of.col[at].tolist(), of.data[at].tolist(), strict=True)]
        return ", ".join(label if v == 1 else f"{label} ×{v:g}" for label, v in named) or "—"

    def in_scope(self, W: Weights, classes: str, members: Sparse) -> NDArray[np.bool_]:
        """Classes that an average covers: those on either side, or those in gold, with ``members`` of what the metric counts."""
        # The same products whatever the weights: what a metric asks for is recorded once and given back in that order.
        gold = W @ members > 0
        return gold if classes == "gold" else gold | (W @ self.pred_of > 0)


class Collapsed:
    """Cells seen as if all classes were one: their counts by class become row sums."""

    def __init__(self, cells: ClassCells) -> None:
        self._cells = cells

    def __getattr__(self, name: str) -> Any:
        return _collapsed(getattr(self._cells, name))

    def __len__(self) -> int:
        return len(self._cells)


def _collapsed(value: Any) -> Any:
    """Counts by class as row sums, also those that a method gives."""
    if isinstance(value, Sparse):
        return value.row_sums()
    return (lambda *args, **named: _collapsed(value(*args, **named))) if callable(value) else value
