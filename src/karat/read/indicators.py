# SPDX-License-Identifier: Apache-2.0
"""Label sets as a matrix of zeros and ones: a row per item, a column per label, as scikit-learn has them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.contexts.base import CodedSets
from karat.findings import InputError, finding
from karat.read.relation import Engine
from karat.read.sets import sets_table
from karat.read.table import Read, Table


class Marks(NamedTuple):
    """Where the ones stand."""

    row: NDArray[np.int64]
    column: NDArray[np.int64]
    rows: int


def as_indicators(given: Any) -> Marks | None:
    """The ones of a matrix of zeros and ones, dense or of scipy.sparse; None if it is something else."""
    if hasattr(given, "tocoo"):
        found = given.tocoo()
        keep = found.data != 0
        return Marks(np.asarray(found.row)[keep], np.asarray(found.col)[keep], int(found.shape[0]))
    if not isinstance(given, np.ndarray) or given.ndim != 2 or given.dtype.kind not in "biuf":
        return None
    if given.dtype.kind != "b" and not ((given == 0) | (given == 1)).all():
        return None
    row, column = np.nonzero(given)
    return Marks(row, column, len(given))


def read_indicators(engine: Engine, marks: Marks, read: Read) -> Table:
    """One list of labels per row; a column's number, from 0, is its label."""
    if not marks.rows:
        raise InputError([finding("no-records", read.name)])
    names = [str(i) for i in range(int(marks.column.max(initial=-1)) + 1)]
    order = np.lexsort((marks.column, marks.row)) if (marks.row[1:] < marks.row[:-1]).any() else slice(None)
    row, code = marks.row[order].astype(np.int64), marks.column[order].astype(np.int64)
    return sets_table(engine, read, CodedSets(row, code, names, marks.rows), "array")
