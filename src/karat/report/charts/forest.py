# SPDX-License-Identifier: Apache-2.0
"""Forest plot: one row per estimate, its interval as a line under its name, a reference line at no difference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from karat.report.charts import svg

ROW, TOP, TRACK = 36, 26, 25
"""Height of a row, space above the first, and where a row's interval lies in it."""


@dataclass(frozen=True)
class Estimate:
    """A row: what it is, its value and interval, a note beside it, and whether it is good, bad or neither."""

    label: str
    value: float
    low: float
    high: float
    note: str = ""
    tone: str = "plain"


def forest(
    rows: Sequence[Estimate],
    *,
    title: str,
    reference: float | None = 0.0,
    link: Callable[[int], str] | None = None,
) -> str:
    """An SVG forest plot, narrow enough for a phone: names and notes stand above the lines.

    ``link`` gives for the place of a row where it leads.
    """
    ticks = _ticks(rows, reference)
    scale = svg.Scale(ticks[0], ticks[-1], svg.EDGE, svg.WIDTH - svg.EDGE)
    bottom = TOP + ROW * len(rows)
    parts = [svg.text(0, 14, svg.fitted(title, svg.WIDTH), css="title", title=title)]
    parts += svg.x_axis(scale, ticks, bottom, top=TOP + svg.HEADING, row=ROW)
    if reference is not None:
        at = scale(reference)
        parts.append(svg.line(at, TOP + svg.HEADING, at, bottom, dash=svg.dashes(ROW, (4, 3))))
    for i, row in enumerate(rows):
        parts += _row(row, TOP + ROW * i, scale)
        if link:
            whole = svg.rect(0, TOP + ROW * i, svg.WIDTH, ROW - 2, opacity=0)
            parts.append(svg.linked(link(i), f"{row.label}: {row.note}", whole))
    return svg.document(svg.WIDTH, bottom + 24, parts, title)


def _ticks(rows: Sequence[Estimate], reference: float | None) -> list[float]:
    ends = [v for row in rows for v in (row.low, row.value, row.high) if np.isfinite(v)]
    ends += [] if reference is None else [reference]
    return svg.nice_ticks(min(ends, default=0.0), max(ends, default=1.0), 5)


def _row(row: Estimate, y: float, scale: svg.Scale) -> list[str]:
    parts, at = svg.heading(row.label, row.note, y + 12), y + TRACK
    if np.isfinite(row.low) and np.isfinite(row.high):
        low, high = scale(row.low), scale(row.high)
        ends = f"M{svg.number(low)} {svg.number(at - 4)}v8m0-4H{svg.number(high)}m0-4v8"
        parts.append(f'<path class="{row.tone}" stroke-width="2" fill="none" d="{ends}"/>')
    if np.isfinite(row.value):
        parts.append(svg.dot(scale(row.value), at, css=row.tone))
    return parts
