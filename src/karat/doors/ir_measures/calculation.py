# SPDX-License-Identifier: Apache-2.0
"""ir_measures' calculations on karat's ranking context."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from karat.api import evaluate
from karat.doors.ir_measures.inputs import Nested, judgements, nested, queries_of, regraded
from karat.doors.ir_measures.measure import Setting, meant
from karat.evaluation import SystemResult
from karat.metric import Metric as KaratMetric


class Metric(NamedTuple):
    """One measure of one query."""

    query_id: str
    measure: Any
    value: float


class CalcResults(NamedTuple):
    """Means over queries, and every query's values."""

    aggregated: Any
    per_query: list[Metric]


class Evaluator:
    """Measures and judgements, for several runs."""

    def __init__(self, measures: Iterable[Any], qrels: Any) -> None:
        self.measures = {measure: meant(measure) for measure in measures}
        self.qrels = judgements(qrels)

    def calc(self, run: Any) -> CalcResults:
        """The means of all measures, and each measure of each judged query."""
        values = self.values(nested(run, "score"))
        means = {measure: total(self.measures[measure][0], list(by.values())) for measure, by in values.items()}
        return CalcResults(means, list(by_query(values)))

    def calc_aggregate(self, run: Any) -> dict[Any, float]:
        """The mean of each measure over the judged queries, those that the run lacks counting 0."""
        aggregated: dict[Any, float] = self.calc(run).aggregated
        return aggregated

    def iter_calc(self, run: Any) -> Iterator[Metric]:
        """Each measure of each judged query."""
        yield from by_query(self.values(nested(run, "score")))

    calc_iter = iter_calc

    def values(self, run: Nested) -> dict[Any, dict[str, float]]:
        """Each measure by query; whatever it is, a query that the run lacks has 0."""
        run = {query: documents for query, documents in run.items() if documents}
        queries, settings = queries_of(self.qrels), {setting for _, setting in self.measures.values()}
        found = {setting: self.scored(run, setting) for setting in settings if queries and run}
        return {
            measure: {
                query: (found[setting][metric].by_test_case[query].value or 0.0) if query in run else 0.0
                for query in queries
            }
            for measure, (metric, setting) in self.measures.items()
        }

    def scored(self, run: Nested, setting: Setting) -> SystemResult:
        metrics = list(dict.fromkeys(metric for metric, own in self.measures.values() if own == setting))
        if setting.ties == "id":
            run = {query: dict(sorted(documents.items())) for query, documents in run.items()}
        return evaluate(
            regraded(self.qrels, dict(setting.gains)), run, context="ranking", metrics=metrics,
            ties="trec" if setting.ties == "trec" else "order", unjudged=setting.unjudged,
        ).systems[0]  # fmt: skip


def total(metric: KaratMetric, values: list[float]) -> float:
    """Counts are summed, the rest is averaged; the mean of no query is not a number, as there."""
    if metric.name.startswith("num_"):
        return sum(values)
    return sum(values) / len(values) if values else math.nan


def by_query(values: dict[Any, dict[str, float]]) -> Iterator[Metric]:
    for query in next(iter(values.values()), {}):
        for measure, by in values.items():
            yield Metric(query, measure, by[query])


def evaluator(measures: Iterable[Any], qrels: Any) -> Evaluator:
    """Measures and judgements, for several runs."""
    return Evaluator(measures, qrels)


def calc(measures: Iterable[Any], qrels: Any, run: Any) -> CalcResults:
    """Means and values by query at once."""
    return Evaluator(measures, qrels).calc(run)


def calc_aggregate(measures: Iterable[Any], qrels: Any, run: Any) -> dict[Any, float]:
    """The mean of each measure over the judged queries, those that the run lacks counting 0.

    >>> calc_aggregate(["AP"], {"q": {"a": 1, "b": 0}}, {"q": {"a": 0.2, "b": 0.9}})
    {'AP': 0.5}
    """
    return Evaluator(measures, qrels).calc_aggregate(run)


def iter_calc(measures: Iterable[Any], qrels: Any, run: Any) -> Iterator[Metric]:
    """Each measure of each judged query."""
    return Evaluator(measures, qrels).iter_calc(run)
