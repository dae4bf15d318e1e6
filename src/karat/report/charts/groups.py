# SPDX-License-Identifier: Apache-2.0
"""Dots side by side: the score of every system for each class, or the share of each class on both sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from karat.report.charts import svg

ROW, TOP, LABEL, PLOT, KEY = 26, 30, 170, 330, 18


def groups(
    labels: Sequence[str], series: Mapping[str, Sequence[float | None]], *, title: str, notes: Sequence[str] = (),
    whole: bool = True,
) -> str:  # fmt: skip
    """An SVG with a row for each label and a dot for each of the series; ``whole`` begins at 0 and ends at 1 or more."""
    values = [v for row in series.values() for v in row if v is not None]
    ticks = svg.nice_ticks(min([0.0, *values]), max([1.0 if whole else 0.0, *values]))
    side = svg.side(labels, LABEL)
    scale = svg.Scale(ticks[0], ticks[-1], side + 10, side + PLOT)
    bottom = TOP + ROW * len(labels)
    parts = [svg.text(0, 14, svg.fitted(title, side + PLOT), css="title", title=title)]
    parts += svg.x_axis(scale, ticks, bottom, top=TOP - 4)
    for i, label in enumerate(labels):
        y, shown = TOP + ROW * (i + 0.5), svg.fitted(label, side - 4)
        row = [(name, values[i]) for name, values in series.items()]
        known = [scale(v) for _, v in row if v is not None]
        parts.append(svg.text(side, y + 4, shown, anchor="end", title=label if shown != label else ""))
        parts += [svg.line(min(known), y, max(known), y, css="plain", width=1.5)] if len(known) > 1 else []
        for k, (name, value) in enumerate(row):
            if value is not None:
                css = f"s{k % svg.SERIES} dot"
                parts.append(svg.dot(scale(value), y, css=css, radius=4.5, title=f"{name}, {label}: {value:.4g}"))
        parts += [svg.text(side + PLOT + 10, y + 4, notes[i], css="muted", size=11)] if i < len(notes) else []
    for k, name in enumerate(series):
        y = bottom + 34 + KEY * k
        parts += [
            svg.dot(side + 16, y - 4, css=f"s{k % svg.SERIES} dot", radius=4.5),
            svg.text(side + 28, y, svg.fitted(name, PLOT - 30)),
        ]
    room = svg.side(notes, 150, 11) if notes else 0
    return svg.document(side + PLOT + room + 18, bottom + 28 + KEY * len(series), parts, title)
