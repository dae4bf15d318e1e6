# SPDX-License-Identifier: Apache-2.0
"""Forest plot: one row per estimate, its interval as a line, a reference line at no difference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from karat.report.charts import svg

ROW, TOP, LABEL, NOTE, PLOT = 24, 30, 260, 190, 260


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
    """An SVG forest plot. Every row has its own line, and labels that are too long are shortened.

    ``link`` gives for the place of a row where it leads.
    """
    height = TOP + ROW * len(rows) + 28
    ticks = _ticks(rows, reference)
    side, note = svg.side([row.label for row in rows], LABEL), svg.side([row.note for row in rows], NOTE)
    scale = svg.Scale(ticks[0], ticks[-1], side + 10, side + PLOT)
    bottom = TOP + ROW * len(rows)
    parts = [svg.text(0, 14, svg.fitted(title, side + PLOT + note), css="title", title=title)]
    parts += svg.x_axis(scale, ticks, bottom, top=TOP - 6)
    if reference is not None:
        parts.append(svg.line(scale(reference), TOP - 6, scale(reference), bottom, dash="4 3"))
    for i, row in enumerate(rows):
        parts += _row(row, TOP + ROW * i + ROW / 2, scale)
        if link:
            whole = svg.rect(0, TOP + ROW * i, side + PLOT + note + 16, ROW - 2, opacity=0)
            parts.append(svg.linked(link(i), f"{row.label}: {row.note}", whole))
    return svg.document(side + PLOT + note + 20, height, parts, title)


def _ticks(rows: Sequence[Estimate], reference: float | None) -> list[float]:
    ends = [v for row in rows for v in (row.low, row.value, row.high) if np.isfinite(v)]
    ends += [] if reference is None else [reference]
    return svg.nice_ticks(min(ends, default=0.0), max(ends, default=1.0))


def _row(row: Estimate, y: float, scale: svg.Scale) -> list[str]:
    span = f" [{row.low:.4f}, {row.high:.4f}]" if np.isfinite(row.low) and np.isfinite(row.high) else ""
    said = f"{row.label}: {row.value:.4f}{span}"
    side = scale.start - 10
    shown, full = svg.fitted(row.label, side - 4), row.label
    parts = [svg.text(side, y + 4, shown, anchor="end", title=full if shown != full else "")]
    if np.isfinite(row.low) and np.isfinite(row.high):
        low, high = scale(row.low), scale(row.high)
        parts += [svg.line(low, y, high, y, css=row.tone, width=2)]
        parts += [svg.line(x, y - 4, x, y + 4, css=row.tone, width=2) for x in (low, high)]
    if np.isfinite(row.value):
        parts.append(svg.dot(scale(row.value), y, css=row.tone, title=said))
    note = svg.fitted(row.note, NOTE)
    return [*parts, svg.text(side + PLOT + 14, y + 4, note, css="muted", title=row.note if note != row.note else "")]
