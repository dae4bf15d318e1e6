# SPDX-License-Identifier: Apache-2.0
"""The tables of an evaluation, and its scores as flat records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from karat.evaluation import Evaluation, Interval, Score, SystemResult
from karat.report import sliced
from karat.report.rows import Grid, cell, number


def dicts(evaluation: Evaluation) -> list[dict[str, Any]]:
    """One flat record per system, metric, test case, class and slice; ``scope`` says which of these a record is."""
    out: list[dict[str, Any]] = []
    for system in evaluation.systems:
        for score in system:
            out.append(_record(system, score, "overall", score.value, score.undefined, score.interval))
            if len(score.test_cases) > 1:
                for name, part in score.by_test_case.items():
                    out.append(_record(system, score, "test_case", part.value, part.undefined, part.interval, name))
            for part in score.class_parts():
                out.append(
                    _record(
                        system, score, "class", part.value, part.undefined, part.interval, part.test_case, part.label
                    )
                )
            out += sliced.records(system, score)
    if sliced.has_slices(evaluation):
        out = [row | {k: row.get(k) for k in ("column", "slice", "units")} for row in out]
    return out


def _record(
    system: SystemResult, score: Score, scope: str, value: float | None, undefined: str | None,
    interval: Interval | None, test_case: str | None = None, label: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    return {
        "system": system.name, "metric": str(score.metric), "name": score.label, "scope": scope, "test_case": test_case,
        "class": label, "value": value, "undefined": undefined,
        "low": interval.low if interval else None, "high": interval.high if interval else None,
    }  # fmt: skip


def grids(evaluation: Evaluation, by: Sequence[str] = (), digits: int = 4) -> Iterator[Grid]:
    """The tables of a report: the scores, then whatever they are to be broken down by."""
    yield overall(evaluation, digits)
    yield from rejected(evaluation)
    yield from summaries(evaluation, digits)
    yield from sliced.grids(evaluation, digits)
    for what in by:
        yield from {"test-case": _by_test_case, "query": _by_test_case, "class": _by_class}[what](evaluation, digits)


def rejected(evaluation: Evaluation) -> Iterator[Grid]:
    """The systems that could not be scored, and the first reason of each."""
    rows = []
    for system in evaluation.rejected:
        errors = [f for f in system.findings if f.severity == "error"]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        line = f"line {errors[0].line}: " if errors[0].line else ""
        rows.append([system.name, f"{line}{errors[0].message}{more}"])
    if rows:
        yield Grid("Rejected", ["system", "why"], rows)


def overall(evaluation: Evaluation, digits: int) -> Grid:
    """A row per system; with one system, a row per metric."""
    if len(evaluation.systems) == 1:
        rows = [[s.label, cell(s.value, s.interval, digits)] for s in evaluation.systems[0]]
        return Grid("Scores", ["metric", "score"], rows, undefined(evaluation))
    head = ["system", *(s.label for s in evaluation.systems[0])]
    rows = [[s.name, *(cell(x.value, x.interval, digits) for x in s)] for s in evaluation.systems]
    return Grid("Scores", head, rows, undefined(evaluation))


def summaries(evaluation: Evaluation, digits: int) -> Iterator[Grid]:
    """What stands above single systems: means over runs, estimates with a judge."""
    yield from methods(evaluation, digits)
    yield from judged(evaluation, digits)


def judged(evaluation: Evaluation, digits: int) -> Iterator[Grid]:
    """Scores from gold and judge together, beside those of either alone."""
    if not evaluation.judged:
        return
    rows = [
        [
            s.system, s.label, cell(s.value, s.interval, digits), cell(s.gold_value, s.gold_interval, digits),
            number(s.judge_value, digits), f"{s.weight:.2f}", f"{s.labelled:,}",
            "–" if s.effective is None else f"{s.effective:,.0f}",
        ]
        for s in evaluation.judged
    ]  # fmt: skip
    head = ["system", "metric", "gold and judge", "gold alone", "judge alone", "weight of judge", "labels", "worth"]
    total = evaluation.judged[0].labelled + evaluation.judged[0].unlabelled
    note = f"Worth: how many gold labels alone would give the same error, of {total:,} units. The judge alone may be off by any amount."
    yield Grid("With a judge", head, rows, [note])


def methods(evaluation: Evaluation, digits: int) -> Iterator[Grid]:
    """Means over runs, where methods have several."""
    if not evaluation.methods:
        return
    rows = [
        [
            s.method, s.label, str(s.runs), cell(s.value, s.interval, digits), number(s.deviation, digits),
            "–" if s.runs_share is None else f"{s.runs_share:.0%}",
        ]
        for s in evaluation.methods
    ]  # fmt: skip
    note = "Intervals are of the mean over runs, for new runs and new units."
    head = ["method", "metric", "runs", "mean", "deviation of runs", "variance due to runs"]
    yield Grid("Methods", head, rows, [note])


def undefined(evaluation: Evaluation) -> list[str]:
    """Which scores, or parts of them, have no value, and why; scores of which the same holds share a sentence."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for system in evaluation.systems:
        for score in system:
            for what in _without_value(score):
                reasons.setdefault((system.name, what), []).append(score.label)
    several = len(evaluation.systems) > 1
    return [
        f"{system + ': ' if several else ''}{', '.join(labels)}: no value{what}"
        for (system, what), labels in reasons.items()
    ]


def _without_value(score: Score) -> Iterator[str]:
    """Where a score has no value, and the reason."""
    if score.undefined:
        yield f" ({score.undefined})"
        return
    if score.n_undefined:
        yield f" for {score.n_undefined:,} of {len(score.test_cases):,} test cases ({score.result.reason})"
    by_class, scope = score.result.by_class, score.result.scope
    if by_class is None or scope is None or score.params.get("average") not in ("macro", "weighted"):
        return
    without = int((np.isnan(by_class) & scope).any(0).sum())
    if without:
        yield f" for {without:,} of {int(scope.any(0).sum()):,} classes ({score.result.class_reason})"


def _by_test_case(evaluation: Evaluation, digits: int) -> Iterator[Grid]:
    for system in evaluation.systems:
        scores = list(system)
        parts = [list(s.by_test_case.values()) for s in scores]
        rows = [
            [name or "(all)", *(cell(p[i].value, p[i].interval, digits) for p in parts)]
            for i, name in enumerate(scores[0].test_cases if scores else [])
        ]
        yield Grid(f"By test case: {system.name}", ["test case", *(s.label for s in scores)], rows)


def _by_class(evaluation: Evaluation, digits: int) -> Iterator[Grid]:
    for system in evaluation.systems:
        scores = [s for s in system if s.result.by_class is not None]
        if not scores:
            continue
        parts = [{(p.test_case, p.label): p for p in s.class_parts()} for s in scores]
        place = {label: i for i, label in enumerate(scores[0].classes)}
        keys = sorted({k for p in parts for k in p}, key=lambda k: (k[0] or "", place[k[1] or ""]))
        several = len(scores[0].test_cases) > 1
        rows = [
            [*([t or ""] if several else []), label or "", *(_class_cell(p.get((t, label)), digits) for p in parts)]
            for t, label in keys
        ]
        head = [*(["test case"] if several else []), "class", *(s.label.split(" (")[0] for s in scores)]
        yield Grid(f"By class: {system.name}", head, rows)


def _class_cell(part: Any, digits: int) -> str:
    return "" if part is None else cell(part.value, part.interval, digits)
