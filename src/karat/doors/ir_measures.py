# SPDX-License-Identifier: Apache-2.0
"""ir_measures' calc_aggregate and iter_calc on karat's ranking context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from karat.api import evaluate
from karat.evaluation import Score
from karat.metric import Metric, parse

Nested = dict[str, dict[str, float]]


class Result(NamedTuple):
    """One measure of one query."""

    query_id: str
    measure: Any
    value: float


def calc_aggregate(measures: Iterable[Any], qrels: Any, run: Any) -> dict[Any, float]:
    """The mean of each measure over the judged queries, those that the run lacks counting 0.

    >>> calc_aggregate(["AP"], {"q": {"a": 1, "b": 0}}, {"q": {"a": 0.2, "b": 0.9}})
    {'AP': 0.5}
    """
    return {measure: score.value or 0.0 for measure, score in scored(measures, qrels, run).items()}


def iter_calc(measures: Iterable[Any], qrels: Any, run: Any) -> Iterator[Result]:
    """Each measure of each judged query."""
    for measure, score in scored(measures, qrels, run).items():
        for query, part in score.by_test_case.items():
            yield Result(query, measure, part.value or 0.0)


def scored(measures: Iterable[Any], qrels: Any, run: Any) -> dict[Any, Score]:
    """Measures may be text or ir_measures' own objects: both print as the other reads them."""
    asked = {measure: metric(measure) for measure in measures}
    gold, pred = nested(qrels, "relevance"), nested(run, "score")
    found = evaluate(gold, pred, context="ranking", metrics=list(asked.values()), ties="trec").systems[0]
    return {measure: found[one] for measure, one in asked.items()}


def metric(measure: Any) -> Metric:
    """ir_measures writes nDCG(dcg='exp-log2')@10 for exponential gains and quotes text with apostrophes."""
    text = (
        str(measure)
        .replace("'", '"')
        .replace('dcg="exp-log2"', 'gain="exponential"')
        .replace('dcg="log2"', 'gain="linear"')
    )
    return parse(text)


def nested(data: Any, value: str) -> Nested:
    """query → document → value, from dictionaries, records with query_id and doc_id, or a frame of them."""
    if isinstance(data, Mapping):
        return {query: dict(documents) for query, documents in data.items()}
    if hasattr(data, "columns"):
        columns = (data["query_id"], data["doc_id"], data[value])
        rows: Iterable[Any] = zip(*(column.tolist() for column in columns), strict=True)
    else:
        rows = ((one.query_id, one.doc_id, getattr(one, value)) for one in data)
    found: Nested = {}
    for query, document, number in rows:
        found.setdefault(str(query), {})[str(document)] = number
    return found
