# SPDX-License-Identifier: Apache-2.0
"""Products that one thread makes, so that no digit hangs on the number of processors.

OpenBLAS shares longer ones among threads, each of which then waits for the next one at full speed, up to a tenth of a second.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from karat.weights import Floats, cuts

ALONE = 2**18
"""Multiplications up to which a product with a matrix is not shared."""
LONG = 10_000
"""Numbers up to which one of two columns is not shared."""
FEW_ROWS = 16
"""Rows of a block below which blocks cost more than they save."""


def multiplied(rows: Floats, table: Any) -> Any:
    """``rows @ table``, in blocks of rows; where the table is large, many rows are shared all the same."""
    if not isinstance(table, np.ndarray):
        return rows @ table  # a table that is not written out has its own product
    if len(rows) == 1:
        return added(rows[0], table)[None, :]
    step = 2 ** int(np.log2(max(ALONE // max(table.size, 1), 1)))
    if len(rows) <= step:
        return np.asarray(rows @ table, float)
    if step >= FEW_ROWS:
        return np.concatenate([rows[a:b] @ table for a, b in cuts(len(rows), step)])
    return np.stack([added(row, table) for row in rows]) if len(rows) < FEW_ROWS else np.asarray(rows @ table, float)


def added(n: Floats, table: Floats) -> Floats:
    """``n @ table`` of one row with a table, in blocks of two columns and more, or with one column."""
    if table.ndim == 1:
        return np.asarray(dotted(n, table))
    columns = table.shape[1]
    if columns == 1:
        return np.array([dotted(n, table[:, 0])])
    # What tensordot does in the end; to find that out takes longer than the product, for each of thousands of test cases.
    if table.size <= ALONE:
        return np.asarray(np.dot(n[None, :], table)[0], float)
    step = max(ALONE // len(n) // 8, 1) * 8  # as many as the library adds up side by side, so that the bits are its own
    blocks = np.split(table, range(step, columns - 1, step), axis=1)
    return np.concatenate([np.dot(n[None, :], block)[0] for block in blocks])


def dotted(x: Floats, y: Floats) -> float:
    """``x @ y`` of two columns."""
    return float(sum(x[a:b] @ y[a:b] for a, b in cuts(len(x), LONG)))
