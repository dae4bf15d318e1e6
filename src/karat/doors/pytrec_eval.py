# SPDX-License-Identifier: Apache-2.0
"""pytrec_eval's evaluator on karat's ranking context: the same names, the same numbers."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from karat.api import evaluate
from karat.contexts.ranking.trec import ALL_TREC, GROUPS
from karat.metric import Metric, MetricError, parse

Scores = dict[str, dict[str, float]]
_CUT = re.compile(r"_\d+(\.\d+)?$")
FAMILIES: dict[str, list[str]] = {}
"""Every name that may be asked for, with what is computed under it: P means P_5, P_10, …"""
for _name in ALL_TREC:
    FAMILIES.setdefault(_CUT.sub("", _name), []).append(_name)

supported_measures = set(FAMILIES)
supported_nicknames = {
    group: {_CUT.sub("", name) for name in names} for group, names in GROUPS.items() if group not in FAMILIES
}

__all__ = [
    "RelevanceEvaluator", "compute_aggregated_measure", "parse_qrel", "parse_run", "supported_measures",
    "supported_nicknames",
]  # fmt: skip

UNSEEN = {"a query of its own": {"a document": 1}}
LEAST = 1e-5
"""What trec_eval puts for 0 before it takes a logarithm."""


class RelevanceEvaluator:
    """Judgements and measures; `evaluate` scores a run of them.

    >>> evaluator = RelevanceEvaluator({"q": {"a": 1, "b": 0}}, {"map", "ndcg_cut_5"})
    >>> evaluator.evaluate({"q": {"a": 0.2, "b": 0.9}})["q"]["map"]
    0.5
    """

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
    ) -> None:
        self.query_relevance = {query: grades for query, grades in query_relevance.items() if grades}
        if not all(isinstance(query, str) for query in self.query_relevance):
            raise TypeError("the ids of queries must be texts")
        self.relevance_level, self.judged_docs_only_flag = relevance_level, judged_docs_only_flag
        self.measures = {name: at_level(metric, relevance_level) for name, metric in expanded(measures)}

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> Scores:
        """By query, those of the run that have judgements; scores are compared in single precision, as there."""
        queries = [query for query in scores if query in self.query_relevance]
        if not queries:
            return {}
        gold: Any = {query: self.query_relevance[query] for query in queries}
        if not any(scores[query] for query in queries):  # no data at all is no run to karat: a query more, unseen
            gold, scores = gold | UNSEEN, UNSEEN
        result = evaluate(
            gold, scores, context="ranking", metrics=list(self.measures.values()), score_type="single", ties="trec",
            unjudged="drop" if self.judged_docs_only_flag else "keep",
        ).systems[0]  # fmt: skip
        by_name = {name: result[metric].by_test_case for name, metric in self.measures.items()}
        return {query: {name: shown(name, by[query].value) for name, by in by_name.items()} for query in queries}


def shown(name: str, value: float | None) -> float:
    """Undefined is 0 there, and a geometric mean's part is a logarithm."""
    return math.log(max(value or 0.0, LEAST)) if name.startswith("gm_") else value or 0.0


def at_level(metric: Metric, level: int) -> Metric:
    ungraded = ("ndcg", "ndcg_rel", "g", "num_q", "num_ret", "dcg")
    return metric(rel=level) if level > 1 and metric.name not in ungraded else metric


def expanded(measures: Iterable[str]) -> Iterator[tuple[str, Metric]]:
    """Printed names with their metrics; a family asked for with numbers loses its usual ones."""
    numbers: dict[str, list[str]] = {}
    for measure in measures:
        for name in supported_nicknames.get(measure, [measure]):
            family, given = divided(name)
            numbers.setdefault(family, []).extend(given)
    for family, given in numbers.items():
        if given:
            yield from (numbered(family, number) for number in dict.fromkeys(given))
        else:
            yield from ((name, parse(name)) for name in FAMILIES[family])


def divided(name: str) -> tuple[str, list[str]]:
    """A measure and the numbers behind it: P_5, P.5 and P_5,10."""
    if name in FAMILIES:
        return name, []
    match = re.fullmatch(r"(.+?)[._](\d+(?:\.\d+)?(?:,\d+(?:\.\d+)?)*)", name)
    if not match or match[1] not in FAMILIES:
        raise MetricError(f"unsupported measure {name}; there are {', '.join(sorted(FAMILIES))}")
    return match[1], match[2].split(",")


def numbered(family: str, number: str) -> tuple[str, Metric]:
    if family == "set_F":  # trec_eval's weight of recall is the square of beta
        return family, parse("set_F")(beta=math.sqrt(float(number)))
    shares = family in ("iprec_at_recall", "Rprec_mult")
    name = f"{family}_{float(number):.2f}" if shares else f"{family}_{int(float(number))}"
    return name, parse(name)


def compute_aggregated_measure(measure: str, values: Iterable[float]) -> float:
    """The mean over queries; sums for counts, the geometric mean for gm_ measures."""
    values = [float(value) for value in values]
    if measure.startswith("num_"):
        return sum(values)
    mean = sum(values) / len(values) if values else math.nan
    return math.exp(mean) if measure.startswith("gm_") else mean


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Judgements in TREC form: query, iteration, document, grade."""
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for line in f_qrel:
        query, _, document, grade = line.split()
        once(grades[query], query, document)[document] = int(grade)
    return grades


def parse_run(f_run: Iterable[str]) -> Scores:
    """A run in TREC form: query, Q0, document, rank, score, tag."""
    scores: Scores = defaultdict(dict)
    for line in f_run:
        query, _, document, _, score, _ = line.split()
        once(scores[query], query, document)[document] = float(score)
    return scores


def once(documents: dict[str, Any], query: str, document: str) -> dict[str, Any]:
    if document in documents:
        raise AssertionError(f"document {document} is listed twice for query {query}")
    return documents
