# SPDX-License-Identifier: Apache-2.0
"""Bars with intervals: one row per class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from karat.report.charts import svg

ROW, TOP, LABEL, PLOT, NOTE = 22, 8, 150, 220, 170


@dataclass(frozen=True)
class Bar:
    """A row: what it is, its value (none where undefined), its interval, and a note beside it."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""


def bars(rows: Sequence[Bar], *, title: str, link: Callable[[str], str] | None = None) -> str:
    """An SVG bar chart from 0; labels that are too long are shortened, and ``link`` leads to a row's units."""
    ends = [v for row in rows for v in (row.low, row.value, row.high) if v is not None]
    ticks = svg.nice_ticks(min([0.0, *ends]), max([1.0, *ends]))
    side = svg.side([row.label for row in rows], LABEL)
    scale = svg.Scale(ticks[0], ticks[-1], side + 8, side + PLOT)
    bottom = TOP + ROW * len(rows)
    lengths = "".join(_bar(row, TOP + ROW * (i + 0.5), scale) for i, row in enumerate(rows))
    whiskers = "".join(_whisker(row, TOP + ROW * (i + 0.5), scale) for i, row in enumerate(rows))
    parts = svg.x_axis(scale, ticks, bottom, top=TOP - 4)
    parts.append(f'<path class="accent" stroke-width="{ROW - 8}" stroke-opacity="0.55" d="{lengths}"/>')
    parts += [f'<path class="line" stroke-width="1.5" fill="none" d="{whiskers}"/>'] if whiskers else []
    for i, row in enumerate(rows):
        parts += _texts(row, side, TOP + ROW * i + 15)
    note = svg.side([row.note for row in rows], NOTE, 11)
    if link:
        place = [svg.rect(0, TOP + ROW * i, side + PLOT + note, ROW - 2, opacity=0) for i in range(len(rows))]
        parts += [svg.linked(link(r.label), f"{r.label}: {r.note}", p) for r, p in zip(rows, place, strict=True)]
    return svg.document(side + PLOT + note + 8, bottom + 24, parts, title)


def _bar(row: Bar, y: float, scale: svg.Scale) -> str:
    if row.value is None:
        return ""
    return f"M{svg.number(scale(0))} {svg.number(y)}H{svg.number(scale(row.value))}"


def _whisker(row: Bar, y: float, scale: svg.Scale) -> str:
    if row.low is None or row.high is None:
        return ""
    low, high = svg.number(scale(row.low)), svg.number(scale(row.high))
    return f"M{low} {svg.number(y - 4)}v8m0-4H{high}m0-4v8"


def _texts(row: Bar, side: float, y: float) -> list[str]:
    shown = svg.fitted(row.label, side - 4)
    full = row.label if shown != row.label else ""
    note = svg.text(side + PLOT + 10, y, svg.fitted(row.note, NOTE - 12, 11), css="muted", size=11)
    return [svg.text(side, y, shown, anchor="end", title=full), note]
