# SPDX-License-Identifier: Apache-2.0
"""Heat map of a confusion matrix: one hue, the count in every cell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from karat.report.charts import svg

CELL, ROW, HEAD, SIDE = 30, 24, 40, 200
NAMED = 8
"""Up to so many columns carry their names; more carry numbers, which the rows explain."""
LEVELS = 9
DIGIT = 6
"""Width of a digit of a count."""
DARK = 6
"""Shades above this carry their number in the paper's colour."""
SLANT, SLANTED = 40, 96
"""Degrees by which names of columns are turned where they would make the matrix wider than a phone, and their longest."""

Counts = NDArray[np.int64]


def heat_map(
    rows: Sequence[str],
    columns: Sequence[str],
    counts: Counts,
    *,
    title: str,
    link: Callable[[str, str], str] | None = None,
) -> str:
    """An SVG matrix, gold down and predicted across, coloured by the share of the row; ``link`` leads to a cell's units.

    Cells of one colour are one path and the numbers of one row one line of text, so that a
    matrix of twenty classes takes 10 kB.
    """
    numbered = len(columns) > NAMED
    names = [f"{i + 1}  {name}" for i, name in enumerate(rows)] if numbered else list(rows)
    side = int(min(max((svg.text_width(n) for n in names), default=0) + 12, SIDE))
    step = _step([] if numbered else columns, counts)
    top, over, heads = HEAD, 4, _heads
    if not numbered and side + step * len(columns) > svg.WIDTH:
        step, top, over, heads = _step([], counts), *_slanted_room(columns), _slanted_heads
    level = _levels(counts)
    parts = [svg.text(0, 12, "gold ↓   predicted →", css="muted", size=11), *_fills(level, side, step, top)]
    parts += (
        [_line(range(1, len(columns) + 1), side, step, top - 6, " tick")]
        if numbered
        else heads(columns, side, step, top)
    )
    for i, (name, full) in enumerate(zip(names, rows, strict=True)):
        y, shown = top + ROW * i + 16, svg.fitted(name, side - 10)
        parts.append(svg.text(side - 8, y, shown, anchor="end", title=full if shown != name else ""))
        dark = level[i] > DARK
        for css, own in (("", np.where(dark, 0, counts[i])), (" on", np.where(dark, counts[i], 0))):
            parts += [_line(own.tolist(), side, step, y, css)] if numbered else _lines(own.tolist(), side, step, y, css)
    parts += _links(rows, columns, counts, (side, top, step), link) if link else []
    return svg.document(max(side + step * len(columns) + over, 130), top + ROW * len(rows) + 6, parts, title)


def _links(
    rows: Sequence[str],
    columns: Sequence[str],
    counts: Counts,
    place: tuple[int, int, int],
    link: Callable[[str, str], str],
) -> Iterator[str]:
    """A place to click on over every cell that has units; ``place`` is where the first is, and how wide."""
    side, top, step = place
    for i, j in np.argwhere(counts > 0).tolist():
        label = f"gold {rows[i]}, predicted {columns[j]}: {counts[i, j]}"
        cell = svg.rect(side + step * j, top + ROW * i, step - 2, ROW - 2, opacity=0)
        yield svg.linked(link(rows[i], columns[j]), label, cell)


def _step(heads: Sequence[str], counts: Counts) -> int:
    widest = max((svg.text_width(h, 11) for h in heads), default=0)
    digits = 7 * len(str(counts.max(initial=0)))
    return int(min(max(widest, digits, CELL - 8) + 8, 110))


def _levels(counts: Counts) -> Counts:
    """Shades by the cube root of the share of the row: an error of one in a thousand is seen, too."""
    total = np.maximum(counts.sum(1, keepdims=True), 1)
    return np.where(counts > 0, np.maximum(np.ceil(np.cbrt(counts / total) * LEVELS), 1), 0).astype(np.int64)


def _heads(columns: Sequence[str], side: int, step: int, top: int) -> list[str]:
    out = []
    for j, column in enumerate(columns):
        shown = svg.fitted(column, step - 4, 11)
        full = column if shown != column else ""
        out.append(svg.text(side + step * (j + 0.5) - 1, top - 6, shown, anchor="middle", size=11, title=full))
    return out


def _slanted_heads(columns: Sequence[str], side: int, step: int, top: int) -> list[str]:
    """Names that climb to the right from the middle of their columns."""
    out = []
    for j, column in enumerate(columns):
        shown = svg.fitted(column, SLANTED, 11)
        name = svg.text(0, 0, shown, size=11, title=column if shown != column else "")
        out.append(
            f'<g transform="translate({svg.number(side + step * (j + 0.5))} {top - 6})rotate({-SLANT})">{name}</g>'
        )
    return out


def _slanted_room(columns: Sequence[str]) -> tuple[int, int]:
    """What slanted names take above the matrix, and to the right of it."""
    longest = min(max(svg.text_width(c, 11) for c in columns), SLANTED)
    last = min(svg.text_width(columns[-1], 11), SLANTED)
    turn = np.deg2rad(SLANT)
    return int(HEAD / 2 + longest * np.sin(turn)) + 8, max(int(last * np.cos(turn)) - CELL // 2 + 8, 4)


def _fills(level: Counts, side: int, step: int, top: int) -> list[str]:
    """A path for each shade: cells side by side are one thick line, dashed so that gaps part them."""
    out = []
    for shade in range(LEVELS + 1):
        path = "".join(
            f"M{side + step * start} {top + ROW * i + ROW // 2}h{step * length - 2}"
            for i, row in enumerate(level == shade)
            for start, length in _runs(row)
        )
        css, opacity = ("plain", 0.06) if shade == 0 else ("accent", 0.1 + 0.9 * (shade - 1) / (LEVELS - 1))
        if path:
            thick = f'stroke-width="{ROW - 2}" stroke-opacity="{svg.number(opacity)}" stroke-dasharray="{step - 2} 2"'
            out.append(f'<path class="{css}" {thick} d="{path}"/>')
    return out


def _runs(mask: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Start and length of each run of true values."""
    edge = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return [(int(a), int(b - a)) for a, b in zip(edge[::2], edge[1::2], strict=True)]


def _lines(numbers: Sequence[int], side: int, step: int, y: float, css: str = "") -> Iterator[str]:
    """The same in two lines: a number of two digits has no middle character, and stands half of one further left."""
    for odd in (True, False):
        own = [n if len(str(n)) % 2 == odd else 0 for n in numbers]
        yield _line(own, side if odd else side - DIGIT / 2, step, y, css)


def _line(numbers: Iterable[int], side: float, step: int, y: float, css: str = "") -> str:
    """The numbers of a row in the middle of their cells."""
    return svg.cells_line([str(n) if n else "" for n in numbers], side, step, y, f"count{css}")
