# SPDX-License-Identifier: Apache-2.0
"""Distribution of scores over test cases or units: a histogram per row on a shared axis, its median marked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from karat.report.charts import svg

ROW, TOP, LABEL, PLOT, NOTE = 46, 8, 150, 220, 120
BINS = 30


Link = Callable[[str, float, float], str]
"""Where the values of a row between two ends lead."""


def distribution(rows: Sequence[tuple[str, NDArray[np.float64]]], *, title: str, link: Link | None = None) -> str:
    """An SVG of one histogram per row; undefined values (NaN) are counted beside it."""
    seen = np.concatenate([values[np.isfinite(values)] for _, values in rows] or [np.zeros(0)])
    ticks = svg.nice_ticks(min(0.0, seen.min(initial=0.0)), max(1.0, seen.max(initial=1.0)))
    side = svg.side([name for name, _ in rows], LABEL)
    scale = svg.Scale(ticks[0], ticks[-1], side + 8, side + PLOT)
    bottom = TOP + ROW * len(rows)
    parts = svg.x_axis(scale, ticks, bottom, top=TOP - 4)
    for i, (name, values) in enumerate(rows):
        parts += _row(name, values, TOP + ROW * i, scale)
        parts += _links(name, values, TOP + ROW * i, scale, link) if link else []
    return svg.document(side + PLOT + NOTE, bottom + 24, parts, title)


def _row(name: str, values: NDArray[np.float64], y: float, scale: svg.Scale) -> list[str]:
    known = values[np.isfinite(values)]
    base = y + ROW - 4
    shown = svg.fitted(name, scale.start - 12)
    parts = [svg.text(scale.start - 8, base - 12, shown, anchor="end", title=name if shown != name else "")]
    note = "no value"
    if len(known):
        median = float(np.median(known))
        parts += [_histogram(known, base, scale), svg.line(scale(median), y + 2, scale(median), base, width=1.5)]
        note = f"median {median:.4f}"
    missing = len(values) - len(known)
    said = f"{len(known)} of {len(values)} defined" if missing else f"n = {len(known)}"
    parts.append(svg.text(scale.end + 10, base - 20, note, css="muted", size=11))
    return [*parts, svg.text(scale.end + 10, base - 5, svg.fitted(said, NOTE - 12, 11), css="muted", size=11)]


def _links(name: str, values: NDArray[np.float64], y: float, scale: svg.Scale, link: Link) -> Iterator[str]:
    """A link over every bar."""
    counts, edges = np.histogram(values[np.isfinite(values)], BINS, (scale.low, scale.high))
    for n, low, high in zip(counts.tolist(), edges.tolist(), edges[1:].tolist(), strict=False):
        if n:
            last = high >= scale.high
            place = svg.rect(scale(low), y, scale(high) - scale(low), ROW - 4, opacity=0)
            yield svg.linked(
                link(name, low, np.inf if last else high), f"{name}: {n} from {low:.3g} to {high:.3g}", place
            )


def _histogram(values: NDArray[np.float64], base: float, scale: svg.Scale) -> str:
    counts, edges = np.histogram(values, BINS, (scale.low, scale.high))
    wide = (scale.end - scale.start) / BINS - 1
    tall = (ROW - 10) * counts / counts.max()
    path = "".join(
        f"M{svg.number(scale(edge))} {svg.number(base)}v{svg.number(-h)}h{svg.number(wide)}v{svg.number(h)}z"
        for edge, h in zip(edges, tall, strict=False)
        if h
    )
    return f'<path class="accent box" fill-opacity="0.55" d="{path}"/>'
