# SPDX-License-Identifier: Apache-2.0
"""The report on a live terminal, with colour and rules."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from karat.evaluation import Evaluation
from karat.report.rows import Grid
from karat.report.terminal import clear, header, tables, worded


def print_table(evaluation: Evaluation, by: Sequence[str] = (), digits: int = 4, show: Sequence[str] = ()) -> None:
    """The tables to stdout."""
    console = Console()
    console.print(header(evaluation), style="dim", markup=False, highlight=False)
    for grid in tables(evaluation, by, digits, show):
        console.print(as_rich(grid))
        for note in grid.notes:
            console.print(Text(clear(note)), style="dim")


def as_rich(grid: Grid) -> Table:
    """A plain table with rules and a bold head."""
    table = Table(title=Text(clear(grid.title)), title_justify="left", header_style="bold", title_style="bold")
    for i, head in enumerate(grid.head):
        left = i == 0 or worded(grid.rows, i)
        table.add_column(Text(clear(head)), justify="left" if left else "right", overflow="fold")
    for row in grid.rows:
        table.add_row(*(Text(clear(text)) for text in row))  # not markup: users' texts may hold brackets
    return table
