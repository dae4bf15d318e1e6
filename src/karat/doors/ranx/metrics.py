# SPDX-License-Identifier: Apache-2.0
"""ranx.metrics: a function for each metric, of judgements and run as arrays by query; the answer is an array."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.doors.ranx.scoring import by_query, metric
from karat.metric import parse

Score = Callable[..., NDArray[np.float64]]


def scores(name: str, qrels: Any, run: Any, k: int = 0, rel_lvl: int = 1) -> NDArray[np.float64]:
    """The metric of each query, over the first k documents, grades from rel_lvl on being relevant."""
    return np.array(list(by_query(qrels, run, {name: metric(f"{name}@{k}-l{rel_lvl}")})[name].values()))


def rank_biased_precision(qrels: Any, run: Any, p: float, rel_lvl: int = 1) -> NDArray[np.float64]:
    """RBP with the persistence p.

    >>> rank_biased_precision([[[1, 1]]], [[[1, 0.9], [2, 0.8]]], 0.5)
    array([0.5])
    """
    return np.array(list(by_query(qrels, run, {"rbp": (parse("rbp(gain=raw)")(p=p), rel_lvl)})["rbp"].values()))


hits: Score = partial(scores, "hits")
hit_rate: Score = partial(scores, "hit_rate")
precision: Score = partial(scores, "precision")
recall: Score = partial(scores, "recall")
f1: Score = partial(scores, "f1")
r_precision: Score = partial(scores, "r-precision")
reciprocal_rank: Score = partial(scores, "mrr")
average_precision: Score = partial(scores, "map")
dcg: Score = partial(scores, "dcg")
dcg_burges: Score = partial(scores, "dcg_burges")
ndcg: Score = partial(scores, "ndcg")
ndcg_burges: Score = partial(scores, "ndcg_burges")
bpref: Score = partial(scores, "bpref")
