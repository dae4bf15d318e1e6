# SPDX-License-Identifier: Apache-2.0
"""Ranking scores from karat's ranking context: ranks rise, ties keep the file's order, a query without relevant
documents is undefined.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from karat.contexts.ranking.metrics_binary import average_precision, precision, r_precision, reciprocal_rank
from karat.contexts.ranking.metrics_graded import dcg, err, ndcg, rbp
from karat.doors.pyevall.params import Params
from karat.doors.pyevall.result import Outcome
from karat.doors.pyevall.rows import TestCase
from karat.doors.pyevall.scores.counted import scorer
from karat.doors.pyevall.scores.setting import Setting


def options(setting: Setting) -> dict[str, Any]:
    return {"order": "rank", "ties": "order", "no_relevant": "undefined"}


ranking = partial(scorer, "ranking", "ranking", options)


def precision_at_k(setting: Setting, case: TestCase, params: Params) -> Outcome:
    """Undefined for k = 0; 0, not undefined, without relevant documents."""
    return ranking(precision, k="k_param")(setting, case, params) if params["k_param"] else Outcome(None)


SCORES = {
    "PrecisionAtK": precision_at_k,
    "RPrecision": ranking(r_precision),
    "MRR": ranking(reciprocal_rank),
    "MAP": ranking(average_precision, k="r_param"),
    "DCG": ranking(dcg, gain="exponential"),
    "nDCG": ranking(ndcg, gain="exponential"),
    "ERR": ranking(err, scale="query"),
    "RBP": ranking(rbp, p="p_param", gain="scaled"),
}
