# SPDX-License-Identifier: Apache-2.0
"""Products of many rows with a small table, in one thread."""

from __future__ import annotations

import numpy as np

from karat.weights import Floats, cuts

ALONE = 2**18
"""Multiplications up to which OpenBLAS does not share a product among threads."""
FEW_ROWS = 16
"""Rows of a block below which blocks cost more than they save."""


def multiplied(rows: Floats, table: Floats) -> Floats:
    """``rows @ table`` in blocks that one thread multiplies, to the same bits whatever the number of processors.

    Threads that share a product wait for the next one at full speed, each up to a tenth of a second.
    """
    step = 2 ** int(np.log2(max(ALONE // max(table.size, 1), 1)))
    if step < FEW_ROWS or len(rows) <= step:
        return np.asarray(rows @ table, float)
    return np.concatenate([rows[a:b] @ table for a, b in cuts(len(rows), step)])
