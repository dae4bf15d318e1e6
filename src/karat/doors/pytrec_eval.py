# SPDX-License-Identifier: Apache-2.0
"""pytrec_eval's evaluator on karat's ranking context: the same names, the same numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from karat.api import evaluate
from karat.contexts.ranking.trec import ALL_TREC, GROUPS
from karat.metric import Metric, parse

Scores = dict[str, dict[str, float]]
supported_measures = frozenset(name.rstrip("0123456789.").rstrip("_") for name in ALL_TREC) | {"map", "ndcg"}
"""Names that take their usual cutoffs when none is given."""
supported_nicknames = frozenset(GROUPS)


class RelevanceEvaluator:
    """Judgements and measures; `evaluate` scores a run of them.

    >>> evaluator = RelevanceEvaluator({"q": {"a": 1, "b": 0}}, {"map", "ndcg_cut_5"})
    >>> evaluator.evaluate({"q": {"a": 0.2, "b": 0.9}})["q"]["map"]
    0.5
    """

    def __init__(
        self, query_relevance: Mapping[str, Mapping[str, int]], measures: Iterable[str], relevance_level: int = 1
    ) -> None:
        self.query_relevance, self.relevance_level = query_relevance, relevance_level
        self.measures = list(dict.fromkeys(name for measure in measures for name in expanded(measure)))

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> Scores:
        """By query, those of the run that have judgements; scores are compared in single precision, as there."""
        asked = {name: self.metric(name) for name in self.measures}
        found = evaluate(
            self.query_relevance, scores, context="ranking", metrics=list(asked.values()),
            missing_queries="skip", score_type="single", ties="trec",
        ).systems[0]  # fmt: skip
        by_name = {name: found[metric].by_test_case for name, metric in asked.items()}
        queries = [query for query in scores if query in self.query_relevance]
        return {query: {name: parts[query].value or 0.0 for name, parts in by_name.items()} for query in queries}

    def metric(self, name: str) -> Metric:
        metric = parse(name)
        return metric(rel=self.relevance_level) if self.relevance_level > 1 and takes_level(metric) else metric


def takes_level(metric: Metric) -> bool:
    return metric.name not in ("ndcg", "ndcg_rel", "r_ndcg", "g", "num_q", "num_ret", "dcg")


def expanded(measure: str) -> Iterator[str]:
    """A nickname's measures, a family's usual cutoffs (P: P_5, P_10, …; P.1,7: those), or the name itself."""
    family, _, cuts = measure.partition(".")
    if measure in GROUPS:
        yield from GROUPS[measure]
    elif cuts and not measure.startswith(("iprec", "Rprec_mult")):
        yield from (f"{family}_{cut}" for cut in cuts.split(","))
    else:
        usual = [name for name in ALL_TREC if name.startswith(f"{measure}_") and name[len(measure) + 1 :][:1].isdigit()]
        yield from (measure,) if measure in ALL_TREC else usual or (measure,)


def compute_aggregated_measure(measure: str, values: Iterable[float]) -> float:
    """The mean over queries; sums for counts, the geometric mean for gm_ measures."""
    import math

    values = list(values)
    if measure.startswith("num_"):
        return float(sum(values))
    if measure.startswith("gm_"):
        return math.exp(sum(math.log(max(value, 1e-5)) for value in values) / len(values))
    return sum(values) / len(values)


def parse_qrel(lines: Iterable[str]) -> dict[str, dict[str, int]]:
    """Judgements in TREC form: query, iteration, document, grade."""
    found: dict[str, dict[str, int]] = {}
    for line in lines:
        query, _, document, grade = line.split()
        found.setdefault(query, {})[document] = int(grade)
    return found


def parse_run(lines: Iterable[str]) -> Scores:
    """A run in TREC form: query, Q0, document, rank, score, tag."""
    found: Scores = {}
    for line in lines:
        query, _, document, _, score, _ = line.split()
        found.setdefault(query, {})[document] = float(score)
    return found


__all__: list[Any] = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]
