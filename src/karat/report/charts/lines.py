# SPDX-License-Identifier: Apache-2.0
"""Lines over two axes: curves of thresholds, calibration, scores by cut-off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from karat.report.charts import svg
from karat.weights import Floats

WIDTH, HEIGHT, LEFT, TOP, BELOW, ROW = 330, 250, 52, 48, 40, 18
MOST_POINTS = 240
"""Points of a line that are drawn; a curve of a million looks the same."""


@dataclass(frozen=True)
class Line:
    """One curve: its name, what stands behind the name, its points; in steps, or with dots."""

    name: str
    x: Floats
    y: Floats
    note: str = ""
    steps: bool = False
    dots: bool = False
    sizes: Sequence[float] = ()
    """Shares that the dots stand for."""


@dataclass(frozen=True)
class Axes:
    """What the axes are called, and between what they run (as far as the lines go where nothing is said)."""

    x: str
    y: str
    x_range: tuple[float, float] | None = (0.0, 1.0)
    y_range: tuple[float, float] | None = (0.0, 1.0)


def lines(
    curves: Sequence[Line], axes: Axes, *, title: str, diagonal: bool = False, level: float | None = None, note: str = ""
) -> str:  # fmt: skip
    """An SVG of the curves with a legend; ``diagonal`` and ``level`` draw what chance would give."""
    across, up = _ticks(curves, axes)
    x = svg.Scale(across[0], across[-1], LEFT, LEFT + WIDTH)
    y = svg.Scale(up[0], up[-1], TOP + HEIGHT, TOP)
    parts = [svg.text(0, 14, svg.fitted(title, LEFT + WIDTH), css="title", title=title)]
    parts += _y_axis(y, up, x) + svg.x_axis(x, across, TOP + HEIGHT, top=TOP)
    parts.append(svg.text(LEFT + WIDTH / 2, TOP + HEIGHT + 34, axes.x, anchor="middle", css="muted", size=11))
    parts.append(svg.text(8, TOP - 10, axes.y, css="muted", size=11))
    if diagonal:
        parts.append(svg.line(x(across[0]), y(up[0]), x(across[-1]), y(up[-1]), css="plain", dash="3 4"))
    if level is not None:
        parts.append(svg.line(LEFT, y(level), LEFT + WIDTH, y(level), css="plain", dash="3 4"))
    for i, curve in enumerate(curves):
        parts += _drawn(curve, i, x, y)
    bottom = TOP + HEIGHT + BELOW
    parts += [part for i, curve in enumerate(curves) for part in _legend(curve, i, bottom + 14 + ROW * i)]
    end = bottom + ROW * len(curves) + 6
    if note:
        parts.append(svg.text(0, end + 10, svg.fitted(note, LEFT + WIDTH, 11), css="muted", size=11, title=note))
    return svg.document(LEFT + WIDTH + 12, end + (20 if note else 0), parts, title)


def _ticks(curves: Sequence[Line], axes: Axes) -> list[list[float]]:
    out = []
    for given, name in ((axes.x_range, "x"), (axes.y_range, "y")):
        values = np.concatenate([getattr(curve, name) for curve in curves] or [np.zeros(1)])
        values = values[np.isfinite(values)]
        low, high = given or ((float(values.min()), float(values.max())) if len(values) else (0.0, 1.0))
        out.append(svg.nice_ticks(low, high))
    return out


def _y_axis(scale: svg.Scale, ticks: Sequence[float], x: svg.Scale) -> list[str]:
    parts = [svg.line(x.start, scale.start, x.start, scale.end)]
    for tick, label in zip(ticks, svg.tick_labels(ticks), strict=True):
        at = scale(tick)
        parts += [svg.line(x.start, at, x.end, at, css="grid"), svg.line(x.start - 4, at, x.start, at)]
        parts.append(svg.text(x.start - 8, at + 4, label, anchor="end", css="muted tick", size=11))
    return parts


def thinned(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """The points of a curve at even distances along it, ends kept."""
    keep = np.isfinite(x) & np.isfinite(y)
    x, y = x[keep], y[keep]
    if len(x) <= MOST_POINTS:
        return x, y
    spread = [float(np.ptp(v)) or 1.0 for v in (x, y)]
    run = np.append(0.0, np.cumsum(np.abs(np.diff(x)) / spread[0] + np.abs(np.diff(y)) / spread[1]))
    at = np.unique(np.append(np.searchsorted(run, np.linspace(0, run[-1], MOST_POINTS)), [0, len(x) - 1]))
    return x[at], y[at]


def _drawn(curve: Line, nth: int, x: svg.Scale, y: svg.Scale) -> list[str]:
    points = [(x(a), y(b)) for a, b in zip(*thinned(curve.x, curve.y), strict=True)]
    if not points:
        return []
    join = "H{0}V{1}" if curve.steps else "L{0} {1}"
    (a, b), rest = points[0], points[1:]
    path = f"M{svg.number(a)} {svg.number(b)}" + "".join(join.format(*map(svg.number, point)) for point in rest)
    dash = ' stroke-dasharray="7 4"' if nth >= svg.SERIES else ""
    css = f"s{nth % svg.SERIES}"
    hover = f"<title>{svg.escape(curve.name)}</title>"
    out = [f'<path class="{css}" stroke-width="2" stroke-linejoin="round"{dash} d="{path}">{hover}</path>']
    if curve.dots:
        sizes = curve.sizes or [0.1] * len(points)
        for (a, b), size, value, share in zip(points, sizes, curve.x.tolist(), curve.y.tolist(), strict=False):
            radius = 2.5 + 5 * float(np.sqrt(size))
            out.append(svg.dot(a, b, css=f"{css} dot", radius=radius, title=f"{curve.name}: {value:.3g}, {share:.3g}"))
    return out


def _legend(curve: Line, nth: int, y: float) -> list[str]:
    dash = "7 4" if nth >= svg.SERIES else ""
    room = WIDTH - 30 - svg.text_width(curve.note, 11)
    shown = svg.fitted(curve.name, room)
    full = curve.name if shown != curve.name else ""
    return [
        svg.line(LEFT, y - 4, LEFT + 22, y - 4, css=f"s{nth % svg.SERIES}", width=2.5, dash=dash),
        svg.text(LEFT + 30, y, shown, title=full),
        svg.text(LEFT + WIDTH, y, curve.note, anchor="end", css="muted", size=11),
    ]
