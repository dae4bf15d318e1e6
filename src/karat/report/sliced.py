# SPDX-License-Identifier: Apache-2.0
"""Scores by slice as tables, records and charts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from karat.evaluation import Evaluation, Score, Slice, Slicing, SystemResult
from karat.metric import Metric
from karat.report.rows import Grid, cell, number


def has_slices(evaluation: Evaluation) -> bool:
    return any(score.slices for system in evaluation.systems for score in system)


def grids(evaluation: Evaluation, digits: int) -> Iterator[Grid]:
    """A table for each system and column: slices down, worst first by the first metric, metrics across."""
    for system in evaluation.systems:
        for column in _columns(system):
            yield grid(system, column, digits)


def _columns(system: SystemResult) -> list[str]:
    return list(dict.fromkeys(column for score in system for column in score.slices))


def grid(system: SystemResult, column: str, digits: int) -> Grid:
    """The slices of one column of one system."""
    scores = [s for s in system if column in s.slices]
    told = {s.name: _told(s.name, scores, column) for s in scores[0].slices[column]}
    marked = any(told.values())
    head = [column, "units", *(s.label for s in scores), *(["against the rest"] if marked else [])]
    rows = [
        [
            part.name, f"{part.units:,}", *(_cell(s.slices[column][part.name], digits) for s in scores),
            *([told[part.name]] if marked else []),
        ]
        for part in scores[0].slices[column]
    ]  # fmt: skip
    return Grid(f"By {column}: {system.name}", head, rows, notes(scores, column, digits))


def _cell(part: Slice, digits: int) -> str:
    return cell(part.value, part.interval, digits)


def _told(name: str, scores: list[Score], column: str) -> str:
    """Which metrics tell the slice from the rest, and which way."""
    verdicts = [(s.label.split(" (")[0], s.slices[column][name].verdict(s.better)) for s in scores]
    words = [
        f"{verdict} on {', '.join(label for label, v in verdicts if v == verdict)}"
        for verdict in ("worse", "better")
        if any(v == verdict for _, v in verdicts)
    ]
    return "; ".join(words)


def notes(scores: list[Score], column: str, digits: int) -> list[str]:
    """The widest gap on each metric, and what the corrections are for."""
    gaps = [gap for s in scores if (gap := gap_text(s, s.slices[column], digits))]
    many = len(scores[0].slices[column].slices)
    if not gaps:
        return []
    return [*gaps, f"Gaps and what is said against the rest are corrected for looking at {many} slices."]


def gap_text(score: Score, slicing: Slicing, digits: int) -> str:
    """The gap in words."""
    gap = slicing.gap
    if gap is None:
        return ""
    sure = gap.interval is not None and not gap.interval.low <= 0 <= gap.interval.high
    doubt = "" if sure else ", which chance alone may give"
    return f"{score.label}: {gap.best} minus {gap.worst} is {cell(gap.value, gap.interval, digits)}{doubt}."


def records(system: SystemResult, score: Score) -> Iterator[dict[str, Any]]:
    """One flat record per slice, and one per gap."""
    for column, slicing in score.slices.items():
        for s in slicing:
            yield _record(system, score, "slice", column, s.name, s.units, s.value, s.undefined, s.interval)
        if slicing.gap:
            gap = slicing.gap
            name = f"{gap.best} − {gap.worst}"
            yield _record(system, score, "gap", column, name, None, gap.value, None, gap.interval)


def _record(
    system: SystemResult, score: Score, scope: str, column: str, name: str, units: int | None, value: float | None,
    undefined: str | None, interval: Any,
) -> dict[str, Any]:  # fmt: skip
    return {
        "system": system.name, "metric": str(score.metric), "name": score.label, "scope": scope, "test_case": None,
        "class": None, "value": value, "undefined": undefined, "low": interval.low if interval else None,
        "high": interval.high if interval else None, "column": column, "slice": name, "units": units,
    }  # fmt: skip


def documents(score: Score) -> list[dict[str, Any]]:
    """The slices of a score as the JSON report has them."""
    return [
        {
            "column": s.column,
            "slices": [asdict(part) | {"verdict": part.verdict(s.better)} for part in s],
            "gap": None if s.gap is None else asdict(s.gap),
        }
        for s in score.slices.values()
    ]


def chart(
    system: SystemResult, metric: Metric, column: str, digits: int, link: Callable[[str], str] | None = None
) -> tuple[str, str]:
    """Title and SVG of the slices of one column, worst first, beside the score of all units."""
    from karat.report.charts.slices import Point, slices_chart  # most reports have no slices
    from karat.report.charts.svg import or_nan

    score = system.scores[metric]
    tone = {"worse": "bad", "better": "good"}
    points = [
        Point(
            part.name, or_nan(part.value), *((part.interval.low, part.interval.high) if part.interval else (np.nan, np.nan)),
            f"{_cell(part, digits)}  n {part.units:,}", tone.get(part.verdict(score.better), "accent"),
        )
        for part in score.slices[column]
    ]  # fmt: skip
    title = f"{score.label} by {column}"
    of_system, overall = f"{title}: {system.name}", f"all {number(score.value, digits)}"
    return title, slices_chart(points, overall=score.value, title=of_system, label=overall, link=link)
