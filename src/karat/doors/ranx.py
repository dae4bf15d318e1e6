# SPDX-License-Identifier: Apache-2.0
"""ranx's evaluate on karat's ranking context."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from karat.api import evaluate as karat_evaluate
from karat.metric import Metric, parse

SPELLINGS = {
    r"recall(@\d+)?-l(\d+)": r"recall(rel=\2)\1",
    r"precision(@\d+)?-l(\d+)": r"precision(rel=\2)\1",
    r"(?:r-precision|r_precision)": "r_precision",
    r"(?:map)(@\d+)?": r"average_precision\1",
    r"(?:mrr)(@\d+)?": r"reciprocal_rank\1",
    r"hit_rate(@\d+)?": r"success\1",
    r"hits(@\d+)?": r"hits\1",
    r"f1(@\d+)?": r"f\1",
    r"rbp\.(\d+)": r"rbp(gain=raw,p=0.\1)",
    r"ndcg_burges(@\d+)?": r"ndcg(gain=exponential)\1",
    r"dcg_burges(@\d+)?": r"dcg(gain=exponential)\1",
}


def evaluate(
    qrels: Any,
    run: Any,
    metrics: str | Sequence[str],
    return_mean: bool = True,
    make_comparable: bool = False,
    **ignored: Any,
) -> Any:
    """A number for one metric, a dictionary for several; with return_mean=False one number a query, by query id.

    ``make_comparable`` scores the queries that the run lacks as 0 and drops those without judgements.

    >>> evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 0.2, "b": 0.9}}, "map@5")
    0.5
    """
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    asked = {name: metric(name) for name in names}
    found = karat_evaluate(
        nested(qrels), nested(run), context="ranking", metrics=list(asked.values()), ties="order",
        missing_queries="zero" if make_comparable else "error",
    ).systems[0]  # fmt: skip
    scores = {name: found[one] for name, one in asked.items()}
    answers = {
        name: (score.value or 0.0) if return_mean else [part.value or 0.0 for part in score.by_test_case.values()]
        for name, score in scores.items()
    }
    return answers[names[0]] if isinstance(metrics, str) else answers


def metric(name: str) -> Metric:
    for pattern, ours in SPELLINGS.items():
        if found := re.fullmatch(pattern, name):
            return parse(re.sub(r"\\(\d)", lambda group: found[int(group[1])] or "", ours))
    return parse(name)


def nested(data: Any) -> Mapping[str, Mapping[str, float]]:
    """Dictionaries, or ranx's own Qrels and Run."""
    found: Mapping[str, Mapping[str, float]] = data if isinstance(data, Mapping) else data.to_dict()
    return found
