# SPDX-License-Identifier: Apache-2.0
"""ranx's evaluate on karat's ranking context."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.api import evaluate as karat_evaluate
from karat.doors.ranx.rankings import Run
from karat.evaluation import SystemResult
from karat.metric import Metric, MetricError, parse

Nested = Mapping[str, Mapping[str, float]]
Asked = tuple[Metric, int]
"""A metric, and the grade from which a document is relevant."""

OURS = {
    "hits": "hits",
    "hit_rate": "success",
    "precision": "precision",
    "recall": "recall",
    "f1": "f",
    "r-precision": "r_precision",
    "r_precision": "r_precision",
    "mrr": "reciprocal_rank",
    "map": "average_precision",
    "dcg": "dcg",
    "dcg_burges": "dcg(gain=exponential)",
    "ndcg": "ndcg",
    "ndcg_burges": "ndcg(gain=exponential)",
    "bpref": "bpref",
    "rbp": "rbp(gain=raw)",
}
"""karat's name of each of ranx's metrics."""
WHOLE = ("bpref", "r-precision", "r_precision")
"""Metrics of whole runs, to which a cut-off is nothing."""


def evaluate(
    qrels: Any,
    run: Any,
    metrics: str | Sequence[str],
    return_mean: bool = True,
    return_std: bool = False,
    threads: int = 0,
    save_results_in_run: bool = True,
    make_comparable: bool = False,
) -> Any:
    """A number for one metric, a dictionary for several; with return_mean=False an array with a number a query.

    ``make_comparable`` scores the queries that the run lacks as 0 and drops those without judgements.

    >>> evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 0.2, "b": 0.9}}, "map@5")
    0.5
    """
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    values = by_query(qrels, run, {name: metric(name) for name in names}, make_comparable)
    if isinstance(run, Run) and save_results_in_run:
        kept(run, values, return_std and return_mean)
    answers = {name: answer(list(by.values()), return_mean, return_std) for name, by in values.items()}
    return answers[names[0]] if len(names) == 1 else answers


def by_query(
    qrels: Any, run: Any, asked: Mapping[str, Asked], make_comparable: bool = False
) -> dict[str, dict[str, float]]:
    """Each metric of each query, in the order of the queries' ids."""
    gold, pred = nested(qrels), nested(run)
    if not isinstance(run, Mapping) and not hasattr(run, "to_dict"):  # arrays are ranked as they stand
        pred = {
            query: dict(zip(documents, range(0, -len(documents), -1), strict=True)) for query, documents in pred.items()
        }
    if make_comparable:
        pred = {query: pred.get(query, {}) for query in gold}
    elif gold.keys() != pred.keys():
        raise AssertionError(
            "the queries of judgements and run differ; make_comparable=True takes those of the judgements"
        )
    answered = {query: documents for query, documents in sorted(pred.items()) if documents}
    levels = {level for _, level in asked.values()}
    scores = {level: scored(gold, answered, asked.values(), level) for level in levels if answered}
    return {
        name: {query: scores[level][m].by_test_case[query].value or 0.0 if answered else 0.0 for query in sorted(pred)}
        for name, (m, level) in asked.items()
    }


def scored(gold: Nested, run: Nested, asked: Iterable[Asked], level: int) -> SystemResult:
    """The metrics for which grades below ``level`` are 0."""
    if level > 1:
        gold = {query: {d: g if g >= level else 0 for d, g in grades.items()} for query, grades in gold.items()}
    metrics = list(dict.fromkeys(chosen for chosen, wanted in asked if wanted == level))
    return karat_evaluate(gold, run, context="ranking", metrics=metrics, ties="order").systems[0]


def kept(run: Run, values: Mapping[str, Mapping[str, float]], std: bool) -> None:
    """The numbers also in the run, as there."""
    for name, by in values.items():
        numbers = list(by.values())
        run.mean_scores[name] = float(np.mean(numbers))
        run.scores[name] |= by
        if std:
            run.std_scores[name] = float(np.std(numbers))


def answer(values: list[float], mean: bool, std: bool) -> float | dict[str, float] | NDArray[np.float64]:
    if not mean:
        return np.array(values)
    return {"mean": float(np.mean(values)), "std": float(np.std(values))} if std else float(np.mean(values))


def metric(name: str) -> Asked:
    """ndcg@10, precision@5-l2 (grades from 2 count), rbp.95 (persistence 0.95), or karat's own words."""
    match = re.fullmatch(r"(?P<name>[a-z0-9_]+|r-precision)(?:@(?P<k>\d+)|\.(?P<p>\d+))?(?:-l(?P<level>\d+))?", name)
    if not match or match["name"] not in OURS:
        return parse(name), 1
    out, level = parse(OURS[match["name"]]), int(match["level"] or 1)
    if not level:
        raise MetricError(f"{name}: with -l0 every judged document would be relevant; levels begin with 1")
    if match["name"] == "rbp":
        if not (digits := match["p"] or match["k"]):
            raise MetricError("rbp needs its persistence: rbp.95")
        return out(p=float(f"0.{digits}")), level
    k = 0 if match["name"] in WHOLE else int(match["k"] or 0)
    return (out @ k if k else out), level


def nested(data: Any) -> Nested:
    """Dictionaries; Qrels and Run of this module or of ranx; arrays or lists of (document, number) by query."""
    if isinstance(data, Mapping):
        return data
    if hasattr(data, "to_dict"):
        return dict(data.to_dict())
    return {f"{nth:09}": by_place(np.asarray(rows, float).reshape(-1, 2)) for nth, rows in enumerate(data)}


def by_place(rows: NDArray[np.float64]) -> dict[str, float]:
    """Documents with their numbers, in the order given; one that stands there again only takes up its place."""
    documents: dict[str, float] = {}
    for place, (document, number) in enumerate(rows.tolist()):
        documents[f"{document} again at {place}" if str(document) in documents else str(document)] = number
    return documents
