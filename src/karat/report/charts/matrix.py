# SPDX-License-Identifier: Apache-2.0
"""p-value matrix: every pair of systems, coloured by which one is better and how surely."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from karat.report.charts import svg

CELL, CELL_OF_MANY, HEAD = 46, 36, 26
FEW = 8
"""Systems up to which the cells are roomy."""


def p_text(p: float) -> str:
    """A p-value in four characters or so.

    >>> p_text(0.03114), p_text(0.00004), p_text(0.731)
    ('.031', '<.001', '.73')
    """
    if np.isnan(p):
        return "–"
    if p < 0.001:
        return "<.001"
    shown = f"{p:.3f}" if p < 0.1 else f"{p:.2f}"
    return shown if p >= 0.995 else shown[1:]


def p_matrix(
    names: Sequence[str],
    p: NDArray[np.float64],
    better: NDArray[np.float64],
    *,
    alpha: float = 0.05,
    title: str,
    link: Callable[[str, str], str] | None = None,
) -> str:
    """An SVG matrix; ``better[i, j]`` is 1 where row i scores better than column j, −1 where worse.

    Columns carry the number of their row, so that long names never meet.
    """
    cell = CELL if len(names) <= FEW else CELL_OF_MANY
    side = round(min(max((svg.text_width(n) for n in names), default=0) + 34, 220))
    legend = f"row better: green, row worse: red; full colour where p ≤ {alpha:g}"
    width = max(side + cell * len(names) + 8, round(svg.text_width(legend, 11)) + 8)
    height = HEAD * 2 + HEAD * len(names) + 24
    parts = [svg.text(0, 14, svg.fitted(title, width), css="title", title=title)]
    parts += _fills(p, better, alpha, side, cell)
    for i, name in enumerate(names):
        y, shown = HEAD * 2 + HEAD * i, svg.fitted(f"{i + 1}  {name}", side - 10)
        full = name if "…" in shown else ""
        parts.append(svg.text(side - 8, y + 17, shown, anchor="end", title=full))
        parts.append(svg.text(side + cell * (i + 0.5) - 1, HEAD * 2 - 6, i + 1, anchor="middle", css="tick"))
        row = ["" if i == j else p_text(p[i, j]) for j in range(len(names))]
        parts.append(svg.cells_line(row, side, cell, y + 16, "figures"))
        for j, other in enumerate(names if link else ()):
            if link and i != j:
                whole = svg.rect(side + cell * j, y, cell - 2, HEAD - 2, opacity=0)
                parts.append(svg.linked(link(name, other), f"{name} against {other}: p = {p[i, j]:.4g}", whole))
    parts.append(svg.text(0, height - 6, legend, css="muted", size=11))
    return svg.document(width, height, parts, title)


def _fills(
    p: NDArray[np.float64], better: NDArray[np.float64], alpha: float, side: float, cell: int
) -> list[str]:  # fmt: skip
    """A path for each colour, so that the matrix of many systems stays small."""
    paths: dict[tuple[str, float], str] = {}
    for i, j in np.ndindex(p.shape):
        kind = ("plain", 0.08) if i == j else _colour(float(p[i, j]), float(better[i, j]), alpha)
        at = f"M{svg.number(side + cell * j)} {svg.number(HEAD * 2 + HEAD * i + HEAD / 2 - 1)}h{cell - 2}"
        paths[kind] = paths.get(kind, "") + at
    return [
        f'<path class="{tone}" stroke-width="{HEAD - 2}" stroke-opacity="{svg.number(sure)}" d="{path}"/>'
        for (tone, sure), path in paths.items()
        if sure
    ]


def _colour(p: float, better: float, alpha: float) -> tuple[str, float]:
    """Whose win it is, and how surely."""
    tone = "good" if better > 0 else "bad" if better < 0 else "plain"
    return tone, 0.0 if np.isnan(p) else 0.45 if p <= alpha else 0.12
