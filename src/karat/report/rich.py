# SPDX-License-Identifier: Apache-2.0
"""The report on a live terminal, with colour and rules."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from karat.evaluation import Evaluation
from karat.report.published import published
from karat.report.rows import Grid
from karat.report.terminal import header, tables, worded
from karat.report.text import brief, clear

EDGE, BETWEEN = 1, 3
"""What rules and blanks take: once, and for each column."""
WORDS = 12
"""Least room of a column of words, which may break."""


def print_table(evaluation: Evaluation, by: Sequence[str] = (), digits: int = 4, show: Sequence[str] = ()) -> None:
    """The tables to stdout."""
    console = Console()
    console.print(header(published(evaluation)), style="dim", markup=False, highlight=False)
    for grid in tables(evaluation, by, digits, show):
        print_grid(grid, console)


def print_grid(grid: Grid, console: Console | None = None) -> None:
    """One table, in the form that the terminal has room for."""
    console = console or Console()
    for part in shaped(grid, console.width):
        console.print(as_rich(part, _whole(part) > console.width))


def as_rich(grid: Grid, tight: bool = False) -> Table:
    """A plain table with rules and a bold head; in a tight one columns of numbers are as narrow as they can be."""
    table = Table(title=Text(clear(brief(grid.title))), title_justify="left", header_style="bold", title_style="bold")
    for i, head in enumerate(grid.head):
        left = i == 0 or worded(grid.rows, i)
        width = _room(grid, i) if tight and not left else None
        table.add_column(Text(clear(brief(head))), justify="left" if left else "right", overflow="fold", width=width)
    for row in grid.rows:
        table.add_row(*(Text(clear(brief(text))) for text in row))  # not markup: users' texts may hold brackets
    return table


def shaped(grid: Grid, width: int) -> list[Grid]:
    """The table as it is if numbers stay whole, else turned, else in parts that each begin with the first column.

    >>> wide = Grid("Scores", ["system", "Accuracy", "Recall"], [["a", "0.5", "0.25"]])
    >>> [part.head for part in shaped(wide, 20)]
    [['metric', 'a']]
    >>> [part.head for part in shaped(Grid("Units", ["unit", "first", "second"], [["1", "0.5", "x"]] * 3), 22)]
    [['unit', 'first'], ['unit', 'second']]
    """
    if _needs(grid) <= width:
        return [grid]
    turned = _turned(grid)
    if turned and _needs(turned) <= width:
        return [turned]
    return _parts(grid, width)


def _needs(grid: Grid) -> int:
    return EDGE + sum(BETWEEN + _room(grid, i) for i in range(len(grid.head)))


def _whole(grid: Grid) -> int:
    """Width of the table if nothing breaks."""
    return EDGE + sum(BETWEEN + max(len(row[i]) for row in (grid.head, *grid.rows)) for i in range(len(grid.head)))


def _room(grid: Grid, i: int) -> int:
    """Columns of the screen without which a number or a word of the head would break."""
    head = max(map(len, grid.head[i].split()), default=0)
    cells = max((len(row[i]) for row in grid.rows), default=0)
    return max(head, min(cells, WORDS) if i == 0 or worded(grid.rows, i) else cells)


def _turned(grid: Grid) -> Grid | None:
    """Systems across and metrics down, for a table of numbers that is wider than long."""
    if grid.head[0] != "system" or len(grid.rows) >= len(grid.head):
        return None
    rows = [[head, *(row[i] for row in grid.rows)] for i, head in enumerate(grid.head) if i]
    return Grid(grid.title, ["metric", *(row[0] for row in grid.rows)], rows)


def _parts(grid: Grid, width: int) -> list[Grid]:
    groups: list[list[int]] = [[]]
    for i in range(1, len(grid.head)):
        taken = EDGE + sum(BETWEEN + _room(grid, k) for k in (0, *groups[-1], i))
        if groups[-1] and taken > width:
            groups.append([])
        groups[-1].append(i)
    return [
        Grid(grid.title, [grid.head[k] for k in (0, *g)], [[row[k] for k in (0, *g)] for row in grid.rows])
        for g in groups
    ]
