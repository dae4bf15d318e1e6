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
            one.name, f"{one.units:,}", *(_cell(s.slices[column][one.name], digits) for s in scores),
            *([told[one.name]] if marked else []),
        ]
        for one in scores[0].slices[column]
    ]  # fmt: skip
    return Grid(f"By {column}: {system.name}", head, rows, notes(scores, column, digits))


def _cell(one: Slice, digits: int) -> str:
    return cell(one.value, one.interval, digits)


def _told(name: str, scores: list[Score], column: str) -> str:
    """Which metrics tell the slice from the rest, and which way."""
    found = [(s.label.split(" (")[0], s.slices[column][name].verdict(s.better)) for s in scores]
    said = [
        f"{verdict} on {', '.join(label for label, v in found if v == verdict)}"
        for verdict in ("worse", "better")
        if any(v == verdict for _, v in found)
    ]
    return "; ".join(said)


def notes(scores: list[Score], column: str, digits: int) -> list[str]:
    """The widest gap on each metric, and what the corrections are for."""
    said = [gap for s in scores if (gap := gap_said(s, s.slices[column], digits))]
    many = len(scores[0].slices[column].slices)
    if not said:
        return []
    return [*said, f"Gaps and what is said against the rest are corrected for looking at {many} slices."]


def gap_said(score: Score, slicing: Slicing, digits: int) -> str:
    """The gap in words."""
    gap = slicing.gap
    if gap is None:
        return ""
    found = cell(gap.value, gap.interval, digits)
    sure = gap.interval is not None and not gap.interval.low <= 0 <= gap.interval.high
    doubt = "" if sure else ", which chance alone may give"
    return f"{score.label}: {gap.best} is {found} from {gap.worst}{doubt}."


def records(system: SystemResult, score: Score) -> Iterator[dict[str, Any]]:
    """One flat record per slice, and one per gap."""
    for column, slicing in score.slices.items():
        for one in slicing:
            yield _record(system, score, "slice", column, one.name, one.units, one.value, one.undefined, one.interval)
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
            "slices": [asdict(one) | {"verdict": one.verdict(s.better)} for one in s],
            "gap": None if s.gap is None else asdict(s.gap),
        }
        for s in score.slices.values()
    ]


def chart(
    system: SystemResult, metric: Metric, column: str, digits: int, link: Callable[[str], str] | None = None
) -> tuple[str, str]:
    """Title and SVG of the slices of one column, worst first, beside the score of all units."""
    from karat.report.charts.slices import Point, slices_chart  # most reports have no slices

    score = system.scores[metric]
    tone = {"worse": "bad", "better": "good"}
    points = [
        Point(
            one.name, _nan(one.value), *((one.interval.low, one.interval.high) if one.interval else (np.nan, np.nan)),
            f"{_cell(one, digits)}  n {one.units:,}", tone.get(one.verdict(score.better), "accent"),
        )
        for one in score.slices[column]
    ]  # fmt: skip
    title = f"{score.label} by {column}"
    label = f"{title}: {system.name}"
    said = f"all {number(score.value, digits)}"
    return title, slices_chart(points, overall=score.value, title=label, said=said, link=link)


def _nan(value: float | None) -> float:
    return np.nan if value is None else value
