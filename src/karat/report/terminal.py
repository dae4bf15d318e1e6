# SPDX-License-Identifier: Apache-2.0
"""The report for a terminal: rich tables, or plain aligned text where it is piped."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from karat.evaluation import Detail, Evaluation
from karat.report.rows import Grid, coverage
from karat.report.tables import grids
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


def wrapped(text: str, columns: int, indent: str = "") -> str:
    """A sentence in lines of at most so many columns, the later ones set in."""
    whole = re.sub(r"\[[^][ ]+, |\bp [=≤<] ", lambda match: match[0].replace(" ", "\xa0"), clear(text))
    lines = textwrap.wrap(whole, columns, subsequent_indent=indent, break_on_hyphens=False)
    return "\n".join(lines).replace("\xa0", " ")


NAME = 24
"""Letters of a name that a table which is too wide keeps."""


def fitted(grid: Grid, columns: int) -> str:
    """The table in so many columns: whole, with names cut in the middle, or in parts that begin with the same columns.

    >>> wide = Grid("Pairs", ["pair", "difference", "verdict"], [["a − b", "0.25 [0.1, 0.4]", "better"]])
    >>> print(fitted(wide, 24))
    Pairs
    pair        difference
    -----  ---------------
    a − b  0.25 [0.1, 0.4]
    <BLANKLINE>
    pair   verdict
    -----  -------
    a − b  better
    """
    keys = 2 if grid.head[0] == "rank" else 1
    head, *rest = [plain(part) for part in _parts(_named(grid, keys, columns), keys, columns)]
    title, _, body = head.partition("\n")
    parts = [f"{wrapped(title, columns)}\n{body}", *(part.partition("\n")[2] for part in rest)]
    return "\n".join(["\n\n".join(parts), *(wrapped(note, columns) for note in grid.notes)])


def _widths(grid: Grid) -> list[int]:
    return [max(width(clear(brief(row[i]))) for row in (grid.head, *grid.rows)) for i in range(len(grid.head))]


def _named(grid: Grid, keys: int, columns: int) -> Grid:
    """The table with its names cut to the room that the numbers leave, or to more where that is needed to tell them apart."""
    at, widths = keys - 1, _widths(grid)
    room = max(columns - sum(widths) + widths[at] - 2 * (len(widths) - 1), NAME)
    for wide in range(room, widths[at]):
        names = [cut(row[at], wide) for row in grid.rows]
        if len({*names}) == len({row[at] for row in grid.rows}):
            rows = [[*row[:at], name, *row[at + 1 :]] for row, name in zip(grid.rows, names, strict=True)]
            return grid._replace(rows=rows)
    return grid


def cut(name: str, room: int) -> str:
    """The name without its middle; of a pair, each name.

    >>> cut("multilingual-large", 10), cut("multilingual-large − base", 15)
    ('multi…arge', 'mult…rge − base')
    """
    first, mark, second = name.partition(" − ")
    if mark and len(name) > room:
        share = (room - 3) // 2
        spare = max(share - len(second), share - len(first), 0)
        return f"{cut(first, share + spare)} − {cut(second, share + spare)}"
    half = room // 2
    return name if len(name) <= room else f"{name[:half]}…{name[len(name) - (room - half - 1) :]}"


def _parts(grid: Grid, keys: int, columns: int) -> list[Grid]:
    """The columns in runs that fit, each behind the columns that name the rows."""
    widths, start = _widths(grid), list(range(keys))
    groups: list[list[int]] = [[]]
    for i in range(keys, len(widths)):
        taken = sum(widths[k] + 2 for k in (*start, *groups[-1], i)) - 2
        if groups[-1] and taken > columns:
            groups.append([])
        groups[-1].append(i)
    return [
        Grid(grid.title, [grid.head[k] for k in (*start, *g)], [[row[k] for k in (*start, *g)] for row in grid.rows])
        for g in groups
    ]
