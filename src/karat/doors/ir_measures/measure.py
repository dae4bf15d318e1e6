# SPDX-License-Identifier: Apache-2.0
"""ir_measures' measures as values: written, printed, compared and parsed as there, and calculated by karat."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from karat.api import evaluate
from karat.doors.ir_measures.inputs import Judged, Nested, nested
from karat.doors.ir_measures.kinds import ELSEWHERE, KINDS, Kind, Setting, adapted
from karat.evaluation import SystemResult
from karat.metric import Metric as KaratMetric
from karat.metric import MetricError, parse


class Measure:
    """A measure with parameters; equal measures print alike.

    >>> AP = Measure(KINDS[0])
    >>> AP(rel=2) @ 10
    AP(rel=2)@10
    """

    def __init__(self, kind: Kind, **params: Any) -> None:
        self.kind, self.params = kind, params

    @property
    def NAME(self) -> str:
        return self.kind.name

    def __call__(self, **params: Any) -> Measure:
        return Measure(self.kind, **self.params | params)

    def __matmul__(self, at: Any) -> Measure:
        return self(**{self.kind.at: at})

    def __getitem__(self, param: str) -> Any:
        return self.params.get(param, self.kind.defaults.get(param))

    def __repr__(self) -> str:
        given = {name: value for name, value in self.params.items() if name != self.kind.at}
        told = [f"{name}={spelt(value)}" for name, value in given.items() if value != self.kind.defaults.get(name)]
        end = f"@{self.params[self.kind.at]}" if self.kind.at in self.params else ""
        return f"{self.kind.name}({','.join(told)}){end}" if told else f"{self.kind.name}{end}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Measure) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    @property
    def metric(self) -> KaratMetric:
        """karat's metric for it."""
        changed = {name: value for name, value in self.params.items() if value != self.kind.defaults.get(name)}
        ours, given = adapted(self.kind, {name: value for name, value in changed.items() if name not in ELSEWHERE})
        unknown = given.keys() - self.kind.takes.keys()
        if ours is None or unknown:
            what = f"{self.kind.name}({', '.join(sorted(unknown))})" if ours else self.kind.name
            raise MetricError(f"karat does not compute ir_measures' {what}; `karat metrics` lists what it does")
        params = {self.kind.takes[name]: value for name, value in given.items()}
        return KaratMetric(ours)(**params | dict(self.kind.fixed))

    @property
    def setting(self) -> Setting:
        """The evaluation that it needs."""
        first = self.kind.name == "RR" and "cutoff" in self.params  # any judgement makes a document relevant
        gains = tuple(sorted((self["gains"] or {}).items()))
        unjudged = "drop" if self["judged_only"] else "keep"
        ties = "id" if first else self.kind.ties
        script = self.kind.name == "ERR" or self["dcg"] == "exp-log2"
        score_type = "single" if ties == "trec" and not script else "double"
        return Setting(ties, unjudged, gains, self.kind.topics or first, score_type)

    def calc_aggregate(self, qrels: Any, run: Any) -> float:
        return calc_aggregate([self], qrels, run)[self]

    def iter_calc(self, qrels: Any, run: Any) -> Iterator[Any]:
        return iter_calc([self], qrels, run)

    def calc(self, qrels: Any, run: Any) -> Any:
        results = calc([self], qrels, run)
        return CalcResults(results.aggregated[self], results.per_query)

    def evaluator(self, qrels: Any) -> Any:
        return Evaluator([self], qrels)


def spelt(value: Any) -> str:
    pairs = value.items() if isinstance(value, dict) else ()
    return "{" + ",".join(f"{key}:{gain}" for key, gain in sorted(pairs)) + "}" if pairs else repr(value)


MEASURES = {kind.name: Measure(kind) for kind in KINDS}
MEASURES |= {
    alias: MEASURES[name]
    for alias, name in {
        "MAP": "AP", "NDCG": "nDCG", "Precision": "P", "Recall": "R", "MRR": "RR", "RPrec": "Rprec", "BPref": "Bpref",
        "MAP_IA": "AP_IA", "α_DCG": "alpha_DCG", "α_nDCG": "alpha_nDCG",
    }.items()
}  # fmt: skip
MEASURES |= {"NumRelRet": MEASURES["NumRet"](rel=1), "SetRelP": MEASURES["SetP"](relative=True)}


def parse_measure(measure: Any) -> Measure:
    """A measure out of its text.

    >>> parse_measure("P(rel=2)@10")
    P(rel=2)@10
    """
    if isinstance(measure, Measure):
        return measure
    try:
        node: Any = ast.parse(measure, mode="eval").body
        at = [ast.literal_eval(node.right)] if isinstance(node, ast.BinOp) else []
        node = node.left if at else node
        params = {keyword.arg: ast.literal_eval(keyword.value) for keyword in getattr(node, "keywords", [])}
        name = ast.unparse(getattr(node, "func", node))
        if getattr(node, "args", None) or not name.isidentifier():
            raise ValueError("parameters need names, and one number stands behind @")
    except (SyntaxError, ValueError, AttributeError) as error:
        raise MetricError(f"{measure!r} is not a measure; write name, name@k or name(parameter=value)@k") from error
    if name not in MEASURES:
        raise NameError(f"measure not found: {name}")
    known = MEASURES[name](**params) if params else MEASURES[name]
    return known @ at[0] if at else known


def metric_of(measure: Any) -> tuple[KaratMetric, Setting]:
    """karat's metric for a measure of this module, of ir_measures itself (by its text), or in karat's own words."""
    if isinstance(measure, KaratMetric):
        return measure, Setting()
    try:
        parsed = parse_measure(measure if isinstance(measure, Measure) else str(measure))
    except NameError:
        return parse(str(measure)), Setting()
    return parsed.metric, parsed.setting


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
        self.measures = {measure: metric_of(measure) for measure in measures}
        self.qrels = Judged.of(qrels)

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
        queries = self.qrels.queries
        run = {query: run[query] for query in queries if run.get(query)}
        results = {setting: self.scored(run, setting) for _, setting in self.measures.values() if run}
        return {
            measure: {
                query: (results[setting][metric].by_test_case[query].value or 0.0) if query in run else 0.0
                for query in queries
            }
            for measure, (metric, setting) in self.measures.items()
        }

    def scored(self, run: Nested, setting: Setting) -> SystemResult:
        metrics = list(dict.fromkeys(metric for metric, wanted in self.measures.values() if wanted == setting))
        if setting.ties == "id":
            run = {query: dict(sorted(documents.items())) for query, documents in run.items()}
        return evaluate(
            self.qrels.seen(dict(setting.gains), setting.topics), run, context="ranking", metrics=metrics,
            ties="trec" if setting.ties == "trec" else "order", unjudged=setting.unjudged, names=["run"],
            score_type=setting.score_type,
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
