# SPDX-License-Identifier: Apache-2.0
"""Errors as reports show them: worst units, disagreements, confused labels, as data and as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from karat.evaluation import Detail, Evaluation, SystemResult
from karat.metric import Metric, MetricError
from karat.mistakes import Difference, Worst, confused, disagreements, has_units, worst
from karat.report.rows import Grid, number

LONGEST = 160
"""Characters of a text that are shown."""
PAIRS = 10
"""Most pairs of labels of a list in a report."""


class Disputed(NamedTuple):
    """Units that two systems score differently."""

    a: str
    b: str
    metric: Metric
    units: list[Difference]
    total: int


def main_metric(evaluation: Evaluation) -> Metric:
    """The metric that a report leads with: the first with classes, F1 before others; else the first."""
    scores = list(evaluation.systems[0])
    return min(scores, key=lambda s: (s.result.by_class is None, s.metric.name != "f1")).metric


def most_units(evaluation: Evaluation) -> int:
    """Units of a list in a report: many systems have short lists."""
    return next(
        most
        for systems, most in ((1, 100), (4, 30), (9, 10), (12, 5), (np.inf, 0))
        if len(evaluation.systems) <= systems
    )


def worst_units(evaluation: Evaluation, system: SystemResult) -> Worst | None:
    """The units with the worst scores, where units were kept and any is wrong."""
    if not has_units(system.cells):
        return None
    try:
        units = worst(evaluation, system, None, most_units(evaluation))
    except MetricError:
        return None
    return units if units.units else None


def disputed_units(evaluation: Evaluation) -> Disputed | None:
    """The units on which the two best systems differ most."""
    if len(evaluation.systems) < 2 or not all(has_units(s.cells) for s in evaluation.systems):
        return None
    a, b = (s.name for s in _best_two(evaluation, main_metric(evaluation)))
    try:
        metric, units, total = disagreements(evaluation, a, b, None, max(most_units(evaluation), 5))
    except MetricError:
        return None
    return Disputed(a, b, metric, units, total) if units else None


def _best_two(evaluation: Evaluation, metric: Metric) -> list[SystemResult]:
    def key(system: SystemResult) -> float:
        score = system.scores[metric]
        return -np.inf if score.value is None else -score.value if score.better == "lower" else score.value

    return sorted(evaluation.systems, key=key, reverse=True)[:2]


def confused_labels(detail: Detail, limit: int = PAIRS) -> list[dict[str, Any]]:
    """The pairs of labels that a confusion matrix mistakes most often."""
    return [
        {"gold": gold, "pred": pred, "units": n, "of": total, "share": n / total}
        for gold, pred, n, total in confused(detail)[:limit]
    ]


def worst_grid(evaluation: Evaluation, system: SystemResult, metric: str | Metric | None, limit: int) -> Grid:
    """The units with the worst scores."""
    return worst_table(system.name, worst(evaluation, system, metric, limit))


def worst_table(name: str, wrong: Worst, digits: int = 4) -> Grid:
    title = f"Worst units: {name} ({len(wrong.units)} of {wrong.total:,} that are not perfect)"
    head = [str(wrong.metric), "gold", "predicted"]
    return _grid(title, wrong.units, head, lambda u: [number(u.score, digits), u.gold, u.pred])


def disagreement_grid(evaluation: Evaluation, a: str, b: str, metric: str | Metric | None, limit: int) -> Grid:
    """The units that two systems score differently."""
    return disputed_table(Disputed(a, b, *disagreements(evaluation, a, b, metric, limit)))


def disputed_table(disputed: Disputed, digits: int = 4) -> Grid:
    title = f"Where {disputed.a} and {disputed.b} disagree by {disputed.metric} ({len(disputed.units)} of {disputed.total:,} units)"
    head = [f"score {disputed.a}", f"score {disputed.b}", "gold", disputed.a, disputed.b]
    return _grid(title, disputed.units, head, lambda u: [*(number(x, digits) for x in u.scores), u.gold, *u.preds])


def confusion_grids(system: SystemResult, limit: int = PAIRS) -> Iterator[Grid]:
    """The labels that are confused most, for each confusion matrix of the system."""
    matrices = [d for d in system.details if d.kind == "matrix"]
    for detail in matrices:
        title = f"Most confused: {system.name}" + (f", {detail.title.split(' (')[0].lower()}" if matrices[1:] else "")
        grid = confusion_grid(title, detail, limit)
        if grid.rows:
            yield grid


def confusion_grid(title: str, detail: Detail, limit: int = PAIRS) -> Grid:
    """The labels that one matrix confuses most."""
    rows = [
        [pair["gold"], pair["pred"], f"{pair['units']:,}", f"{100 * pair['share']:.1f} %"]
        for pair in confused_labels(detail, limit)
    ]
    return Grid(title, ["gold", "predicted", "units", "of gold"], rows)


def _grid(title: str, units: Sequence[Any], columns: list[str], cells: Callable[[Any], list[str]]) -> Grid:
    """Units down; a column that would be empty, or of one test case, is left out."""
    cases = len({u.test_case for u in units}) > 1
    rows = [[u.id, u.test_case, *cells(u), _short(u.text)] for u in units]
    head = ["unit", "test case", *columns, "text"]
    kept = [i for i in range(len(head)) if any(row[i] for row in rows) and (i != 1 or cases)]
    kept = kept or list(range(len(head)))
    return Grid(title, [head[i] for i in kept], [[row[i] for i in kept] for row in rows])


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST else flat[: LONGEST - 1] + "…"
