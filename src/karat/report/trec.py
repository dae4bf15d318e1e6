# SPDX-License-Identifier: Apache-2.0
"""trec_eval's output: one line per metric and query, name, query and value separated by tabs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from karat.contexts.ranking.trec import trec_name
from karat.evaluation import Evaluation, Score, SystemResult
from karat.metric import MetricError

_WHOLE = ("num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret")
_SUMMARY_ONLY = ("num_q", "gm_map", "gm_bpref")


def render(evaluation: Evaluation, by: Sequence[str] = ()) -> str:
    """Every query if asked for (trec_eval -q), then all of them together."""
    if evaluation.context != "ranking":
        raise MetricError(f"the report trec is for rankings, not for {evaluation.context}")
    return "".join(line for system in evaluation.systems for line in _lines(system, bool(by)))


def _lines(system: SystemResult, each: bool) -> Iterator[str]:
    scores = list(system)
    parts = [s.by_test_case for s in scores] if each else []
    for query in sorted(scores[0].test_cases if parts else (), key=str.encode):
        for score, values in zip(scores, parts, strict=True):
            if score.metric.name not in _SUMMARY_ONLY:
                yield _line(score, query, values[query].value)
    yield f"{'runid':<22}\tall\t{system.name}\n"
    yield from (_line(s, "all", s.value) for s in scores)


def _line(score: Score, query: str, value: float | None) -> str:
    whole = score.metric.name in _WHOLE
    shown = "undefined" if value is None else f"{value:.0f}" if whole else f"{value:6.4f}"
    return f"{trec_name(score.metric):<22}\t{query}\t{shown}\n"
