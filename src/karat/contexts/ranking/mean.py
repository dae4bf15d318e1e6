# SPDX-License-Identifier: Apache-2.0
"""Means over queries, and what leaves a query out of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from karat.cells import Weights
from karat.contexts.ranking.cells import RankingCells
from karat.contexts.ranking.rows import Floats
from karat.score import Values, ratio

NO_RELEVANT = "no relevant document"
LEFT_OUT = "the query is not in the run"
NO_CLOSED_FORM = "no closed form over the orders of ties"


def mean(
    W: Weights, cells: RankingCells, x: Floats, ok: Any = True, reason: str = LEFT_OUT, *, any_order: bool = False
) -> Values:
    """Mean of ``x`` over the queries that count.

    ``any_order`` says that ``x`` honours averaged ties, or does not depend on them.
    """
    use = cells.needing(np.broadcast_to(np.asarray(ok, float), x.shape))
    if cells.ties == "average" and not any_order:
        use, reason = use * (cells.judged.sum(cells.judged.tied > 1) == 0), NO_CLOSED_FORM
    return ratio(W @ np.where(use > 0, x * use, 0.0), W @ use, reason)
