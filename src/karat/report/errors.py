# SPDX-License-Identifier: Apache-2.0
"""Errors as tables: worst units, disagreements, confused labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from karat.errors import confused, disagreements, worst
from karat.evaluation import Evaluation, SystemResult
from karat.metric import Metric
from karat.report.rows import Grid, number

LONGEST = 160
"""Characters of a text that are shown."""


def worst_grid(
    evaluation: Evaluation, system: SystemResult, metric: str | Metric | None, limit: int, digits: int = 4
) -> Grid:
    """The units with the worst scores."""
    found = worst(evaluation, system, metric, limit)
    title = f"Worst units: {system.name} ({len(found.units)} of {found.total:,} that are not perfect)"
    return _grid(
        title,
        found.units,
        [str(found.metric), "gold", "predicted"],
        lambda u: [number(u.score, digits), u.gold, u.pred],
    )


def disagreement_grid(
    evaluation: Evaluation, a: str, b: str, metric: str | Metric | None, limit: int, digits: int = 4
) -> Grid:
    """The units that two systems score differently."""
    chosen, units, total = disagreements(evaluation, a, b, metric, limit)
    title = f"Where {a} and {b} disagree by {chosen} ({len(units)} of {total:,})"
    head = [f"score {a}", f"score {b}", "gold", a, b]
    return _grid(title, units, head, lambda u: [*(number(x, digits) for x in u.scores), u.gold, *u.preds])


def confusion_grids(system: SystemResult, limit: int) -> Iterator[Grid]:
    """The labels that are confused most, for each confusion matrix of the system."""
    for detail in (d for d in system.details if d.kind == "matrix"):
        pairs = confused(detail)[:limit]
        rows = [[gold, pred, f"{n:,}", f"{100 * n / total:.1f} %"] for gold, pred, n, total in pairs]
        if rows:
            yield Grid(f"Most confused: {system.name}", ["gold", "predicted", "units", "of the gold class"], rows)


def _grid(title: str, units: Sequence[Any], columns: list[str], said: Callable[[Any], list[str]]) -> Grid:
    """Units down; test case and text have a column where a unit has one."""
    cases, texts = (any(getattr(u, what) for u in units) for what in ("test_case", "text"))
    head = ["unit", *(["test case"] if cases else []), *columns, *(["text"] if texts else [])]
    rows = [
        [u.id, *([u.test_case] if cases else []), *said(u), *([_short(u.text)] if texts else [])] for u in units
    ]  # fmt: skip
    return Grid(title, head, rows)


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST else flat[: LONGEST - 1] + "…"
