# SPDX-License-Identifier: Apache-2.0
"""The report for a terminal: rich tables, or plain aligned text where it is piped."""

from __future__ import annotations

import re
from collections.abc import Sequence

from karat.evaluation import Detail, Evaluation
from karat.report.rows import Grid, coverage, grids
from karat.report.text import brief, clear, width


def render(evaluation: Evaluation, by: Sequence[str] = (), digits: int = 4, show: Sequence[str] = ()) -> str:
    """Plain text, columns aligned by blanks."""
    parts = [header(evaluation), *(plain(g) for g in tables(evaluation, by, digits, show))]
    return "\n\n".join(parts) + "\n"


def tables(evaluation: Evaluation, by: Sequence[str], digits: int, show: Sequence[str]) -> list[Grid]:
    out = list(grids(evaluation, by, digits))
    for system in evaluation.systems:
        out += [grid_of(d, system.name) for d in system.details if d.name in show or "all" in show]
    return out


def header(evaluation: Evaluation) -> str:
    """What was evaluated, how it was read, and how much of gold is covered."""
    inputs = evaluation.provenance["inputs"]
    lines = [f"Context: {evaluation.context}"]
    lines += [f"{i['role'].capitalize()}: {i['path']} ({i['format']}, {i['rows']:,} records)" for i in inputs]
    for system in evaluation.systems:
        lines.append(f"Coverage: {system.name}: {coverage(system)}")
    return "\n".join(map(clear, lines))


def grid_of(detail: Detail, system: str) -> Grid:
    """A detail table as text."""
    rows = [["" if v is None else f"{v:.4f}" if isinstance(v, float) else str(v) for v in row] for row in detail.rows]
    return Grid(f"{detail.title}: {system}", detail.columns, rows)


_NUMBER = re.compile(r"\b\d[\d.,:]*(e[+-]?\d+)?(?!\w)", re.ASCII)


def worded(rows: Sequence[Sequence[str]], column: int) -> bool:
    """Does the column hold words? Numbers, signs and nothing are none.

    >>> [worded([[text]], 0) for text in ("Rome", "/gold.tsv", "3fa9c1", "8 found", "0.81 [0.7, 0.9]", "1e-05", "–", "")]
    [True, True, True, True, False, False, False, False]
    """
    return any(_is_word(brief(row[column])) for row in rows)


def _is_word(text: str) -> bool:
    return any(c.isalpha() for c in _NUMBER.sub("", text))


def plain(grid: Grid) -> str:
    """The table as aligned text: the first column and words to the left, numbers to the right."""
    left = [i == 0 or worded(grid.rows, i) for i in range(len(grid.head))]
    head, *rows = [[clear(brief(str(text))) for text in row] for row in (grid.head, *grid.rows)]
    widths = [max(map(width, column)) for column in zip(head, *rows, strict=True)]

    def line(row: Sequence[str]) -> str:
        gaps = [" " * (w - width(text)) for text, w in zip(row, widths, strict=True)]
        fields = [c + gap if to_left else gap + c for c, gap, to_left in zip(row, gaps, left, strict=True)]
        return "  ".join(fields).rstrip()

    rule = "  ".join("-" * w for w in widths)
    return "\n".join([clear(brief(grid.title)), line(head), rule, *map(line, rows), *map(clear, grid.notes)])
