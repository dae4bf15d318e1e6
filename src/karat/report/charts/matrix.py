# SPDX-License-Identifier: Apache-2.0
"""p-value matrix: every pair of systems, coloured by which one is better and how surely."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from karat.report.charts import svg

CELL, HEAD = 62, 26


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
    side = min(max((svg.text_width(n) for n in names), default=0) + 34, 260)
    width, height = side + CELL * len(names) + 8, HEAD * 2 + HEAD * len(names) + 24
    parts = [svg.text(0, 14, svg.fitted(title, width), css="title", title=title)]
    for i, name in enumerate(names):
        y = HEAD * 2 + HEAD * i
        parts.append(svg.text(side - 8, y + 17, svg.fitted(f"{i + 1}  {name}", side - 10), anchor="end", title=name))
        parts.append(svg.text(side + CELL * i + CELL / 2, HEAD * 2 - 6, i + 1, anchor="middle", css="tick", title=name))
        for j, other in enumerate(names):
            parts += _cell(side + CELL * j, y, i == j, p[i, j], better[i, j], alpha, f"{name} against {other}")
            if link and i != j:
                whole = svg.rect(side + CELL * j, y, CELL - 2, HEAD - 2, opacity=0)
                parts.append(svg.linked(link(name, other), f"{name} against {other}: p = {p[i, j]:.4g}", whole))
    legend = f"row better: green, row worse: red; full colour where p ≤ {alpha:g}"
    parts.append(svg.text(0, height - 6, svg.fitted(legend, width, 11), css="muted", size=11, title=legend))
    return svg.document(width, height, parts, title)


def _cell(x: float, y: float, same: bool, p: float, better: float, alpha: float, who: str) -> list[str]:
    if same:
        return [svg.rect(x, y, CELL - 2, HEAD - 2, css="plain", opacity=0.08)]
    tone = "good" if better > 0 else "bad" if better < 0 else "plain"
    sure = 0.0 if np.isnan(p) else 0.45 if p <= alpha else 0.12
    return [
        svg.rect(x, y, CELL - 2, HEAD - 2, css=tone, opacity=sure, title=f"{who}: p = {p:.4g}"),
        svg.text(x + CELL / 2 - 1, y + 17, p_text(p), anchor="middle", size=11),
    ]
