# SPDX-License-Identifier: Apache-2.0
"""Slices as dots with intervals, beside a line at the score of all units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from karat.report.charts import svg

ROW, TOP, TRACK = 36, 20, 25
MOST = 30
"""Most slices that are drawn: the worst."""


class Point(NamedTuple):
    """A slice: its name, score, interval, what is said beside it, and whether it is good, bad or neither."""

    label: str
    value: float
    low: float
    high: float
    note: str
    tone: str


def slices_chart(
    points: Sequence[Point],
    *,
    overall: float | None,
    title: str,
    label: str = "",
    link: Callable[[str], str] | None = None,
) -> str:
    """An SVG of one row per slice, in the order given; ``overall`` is a line, and ``label`` what it is.

    ``link`` leads to the units of a slice.
    """
    rows = points[:MOST]
    ends = [v for p in rows for v in (p.low, p.value, p.high) if np.isfinite(v)]
    ends += [] if overall is None else [overall]
    ticks = svg.nice_ticks(min(ends, default=0.0), max(ends, default=1.0), 5)
    scale = svg.Scale(ticks[0], ticks[-1], svg.EDGE, svg.WIDTH - svg.EDGE)
    bottom = TOP + ROW * len(rows)
    parts = svg.x_axis(scale, ticks, bottom, top=TOP + svg.HEADING, row=ROW)
    if overall is not None:
        at = scale(overall)
        half = svg.text_width(label, 11) / 2
        middle = min(max(at, half), svg.WIDTH - half)
        parts += [
            svg.line(at, TOP + svg.HEADING, at, bottom, dash=svg.dashes(ROW, (4, 3))),
            svg.text(middle, 12, label, anchor="middle", css="muted", size=11),
        ]
    for i, point in enumerate(rows):
        parts += _row(point, TOP + ROW * i, scale)
        if link:
            place = svg.rect(0, TOP + ROW * i, svg.WIDTH, ROW - 2, opacity=0)
            parts.append(svg.linked(link(point.label), f"{point.label}: {point.note}", place))
    return svg.document(svg.WIDTH, bottom + 24, parts, title)


def _row(point: Point, y: float, scale: svg.Scale) -> list[str]:
    parts, at = svg.heading(point.label, point.note, y + 12), y + TRACK
    if np.isfinite(point.low) and np.isfinite(point.high):
        low, high = svg.number(scale(point.low)), svg.number(scale(point.high))
        parts.append(f'<path class="{point.tone}" stroke-width="2" d="M{low} {svg.number(at)}H{high}"/>')
    if np.isfinite(point.value):
        parts.append(svg.dot(scale(point.value), at, css=point.tone, radius=4.5))
    return parts
