# SPDX-License-Identifier: Apache-2.0
"""Label sets as a matrix of zeros and ones: a row per item, a column per label, as scikit-learn has them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.findings import InputError, finding
from karat.read.relation import Engine, normalise, quoted
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
    raw, flat = (quoted(f"{what} {read.role} {read.name}") for what in ("raw", "ones of"))
    engine.register(flat.strip('"'), {"nth": marks.row.astype(np.int64), "label": marks.column.astype(np.int64)})
    held = f"SELECT nth, list(CAST(label AS VARCHAR) ORDER BY label) AS labels FROM {flat} GROUP BY nth"
    engine.execute(
        f"CREATE OR REPLACE TEMP TABLE {raw} AS SELECT CAST(i + 1 AS VARCHAR) AS id, coalesce(labels, []) AS value"
        f" FROM range({marks.rows}) t(i) LEFT JOIN ({held}) ON nth = i ORDER BY i"
    )
    return normalise(engine, read, raw, "array", line_of=lambda row: row + 1)
