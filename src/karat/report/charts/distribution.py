# SPDX-License-Identifier: Apache-2.0
"""Distribution of scores over test cases or units: a histogram per row on a shared axis, its median marked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from karat.report.charts import svg

ROW, TOP, HEAD = 52, 2, 16
BINS = 30


Link = Callable[[str, float, float], str]
"""Where the values of a row between two ends lead."""


def distribution(rows: Sequence[tuple[str, NDArray[np.float64]]], *, title: str, link: Link | None = None) -> str:
    """An SVG of one histogram per row; undefined values (NaN) are counted beside it."""
    seen = np.concatenate([values[np.isfinite(values)] for _, values in rows] or [np.zeros(0)])
    ticks = svg.nice_ticks(min(0.0, seen.min(initial=0.0)), max(1.0, seen.max(initial=1.0)))
    scale = svg.Scale(ticks[0], ticks[-1], svg.EDGE, svg.WIDTH - svg.EDGE)
    bottom = TOP + ROW * len(rows)
    parts = svg.x_axis(scale, ticks, bottom, top=TOP)
    for i, (name, values) in enumerate(rows):
        parts += _row(name, values, TOP + ROW * i, scale)
        parts += _links(name, values, TOP + ROW * i, scale, link) if link else []
    return svg.document(svg.WIDTH, bottom + 24, parts, title)


def _row(name: str, values: NDArray[np.float64], y: float, scale: svg.Scale) -> list[str]:
    known = values[np.isfinite(values)]
    base = y + ROW - 1
    missing = len(values) - len(known)
    size = f"{len(known)} of {len(values)} defined" if missing else f"n = {len(known)}"
    if not len(known):
        return svg.heading(name, f"no value, {size}", y + 13)
    median = float(np.median(known))
    marks = [_histogram(known, base, scale), svg.line(scale(median), y + HEAD + 2, scale(median), base, width=1.5)]
    return [*svg.heading(name, f"median {median:.4f}, {size}", y + 13), *marks]


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
    tall = (ROW - HEAD - 6) * counts / counts.max()
    path = "".join(
        f"M{svg.number(scale(edge))} {svg.number(base)}v{svg.number(-h)}h{svg.number(wide)}v{svg.number(h)}z"
        for edge, h in zip(edges, tall, strict=False)
        if h
    )
    return f'<path class="accent box" fill-opacity="0.55" d="{path}"/>'
