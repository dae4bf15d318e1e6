# SPDX-License-Identifier: Apache-2.0
"""trec_eval's output: one line per metric and query, name, query and value separated by tabs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from karat.contexts.ranking.trec import ALL_TREC, relstring, trec_name
from karat.evaluation import Evaluation, Score, SystemResult
from karat.metric import MetricError

_WHOLE = ("num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret")
_SUMMARY_ONLY = ("num_q", "gm_map", "gm_bpref")


def render(evaluation: Evaluation, by: Sequence[str] = ()) -> str:
    """Every query if asked for (trec_eval -q), then all of them together."""
    if evaluation.context != "ranking":
        raise MetricError(f"the report trec is for rankings, not for {evaluation.context}")
    skipped = evaluation.plan["options"]["missing_queries"] == "skip"
    return "".join(line for system in evaluation.systems for line in _lines(system, bool(by), skipped))


def _lines(system: SystemResult, queries: bool, skipped: bool) -> Iterator[str]:
    cells: Any = system.cells
    scores = _printed({trec_name(score.metric): score for score in system})
    order = sorted(range(len(cells)), key=lambda at: cells.test_cases[at].encode())
    for at in order if queries else ():
        # Missing queries are averaged in (-c) without a line for each; where they are skipped none is here.
        if skipped or cells.retrieved[at]:
            yield from _query(cells, scores, at)
    yield f"{'runid':<22}\tall\t{cells.run_id or system.name}\n"
    yield from (_line(name, "all", score, _added_up(score, order)) for name, score in scores.items())


def _query(cells: Any, scores: dict[str, Score], at: int) -> Iterator[str]:
    query = cells.test_cases[at]
    for name, score in scores.items():
        if score.metric.name not in _SUMMARY_ONLY:
            yield _line(name, query, score, float(score.result.value[at]))
        if name == "P_1000" and len(scores) >= len(ALL_TREC):
            yield f"{'relstring':<22}\t{query}\t{relstring(cells, at)}\n"


def _added_up(score: Score, order: list[int]) -> float:
    """A mean as trec_eval adds it up, query by query in order of ids: the last bit decides how a half is rounded."""
    value = score.result.value[order]
    total = np.cumsum(value[~np.isnan(value)])
    mean = total[-1] / len(total) if len(total) else np.nan
    return float(mean) if score.value is None or abs(mean - score.value) < 1e-12 else score.value


def _printed(scores: dict[str, Score]) -> dict[str, Score]:
    """The scores by trec_eval's names; its whole set has R-precision under two of them."""
    again = "Rprec_mult_1.00"
    if set(ALL_TREC) - set(scores) != {again}:
        return scores
    return {name: scores.get(name, scores["Rprec"]) for name in dict.fromkeys((*ALL_TREC, *scores))}


def _line(name: str, query: str, score: Score, value: float) -> str:
    whole = score.metric.name in _WHOLE
    shown = "undefined" if np.isnan(value) else f"{value:.0f}" if whole else f"{value:6.4f}"
    return f"{name:<22}\t{query}\t{shown}\n"
