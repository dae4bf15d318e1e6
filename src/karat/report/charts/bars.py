# SPDX-License-Identifier: Apache-2.0
"""Bars with intervals: one row per class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from karat.report.charts import svg

ROW, TOP, TRACK, THICK = 34, 2, 23, 10
"""Height of a row, space above the first, where a row's bar lies in it, and how thick it is."""


@dataclass(frozen=True)
class Bar:
    """A row: what it is, its value (none where undefined), its interval, and a note beside it."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""


def bars(rows: Sequence[Bar], *, title: str, link: Callable[[str], str] | None = None) -> str:
    """An SVG bar chart from 0, names above the bars so that a phone shows it; ``link`` leads to a row's units."""
    ends = [v for row in rows for v in (row.low, row.value, row.high) if v is not None]
    ticks = svg.nice_ticks(min([0.0, *ends]), max([1.0, *ends]))
    scale = svg.Scale(ticks[0], ticks[-1], svg.EDGE, svg.WIDTH - svg.EDGE)
    bottom = TOP + ROW * len(rows)
    lengths = "".join(_bar(row, TOP + ROW * i + TRACK, scale) for i, row in enumerate(rows))
    whiskers = "".join(_whisker(row, TOP + ROW * i + TRACK, scale) for i, row in enumerate(rows))
    parts = svg.x_axis(scale, ticks, bottom, top=TOP + svg.HEADING, row=ROW)
    parts.append(f'<path class="accent" stroke-width="{THICK}" stroke-opacity="0.55" d="{lengths}"/>')
    parts += [f'<path class="line" stroke-width="1.5" fill="none" d="{whiskers}"/>'] if whiskers else []
    for i, row in enumerate(rows):
        parts += svg.heading(row.label, row.note, TOP + ROW * i + 13)
    if link:
        place = [svg.rect(0, TOP + ROW * i, svg.WIDTH, ROW - 2, opacity=0) for i in range(len(rows))]
        parts += [svg.linked(link(r.label), f"{r.label}: {r.note}", p) for r, p in zip(rows, place, strict=True)]
    return svg.document(svg.WIDTH, bottom + 24, parts, title)


def _bar(row: Bar, y: float, scale: svg.Scale) -> str:
    if row.value is None:
        return ""
    return f"M{svg.number(scale(0))} {svg.number(y)}H{svg.number(scale(row.value))}"


def _whisker(row: Bar, y: float, scale: svg.Scale) -> str:
    if row.low is None or row.high is None:
        return ""
    low, high = svg.number(scale(row.low)), svg.number(scale(row.high))
    return f"M{low} {svg.number(y - 4)}v8m0-4H{high}m0-4v8"
