# SPDX-License-Identifier: Apache-2.0
"""Tables as text: with rules, as Markdown, with tabs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Cells = Sequence[Sequence[Any]]


def grid(columns: Sequence[str], rows: Cells) -> str:
    """Rules above, below and under the heading."""
    table = [Column(name, values) for name, values in numbered(columns, rows)]
    edge = "+" + "+".join("-" * (column.width + 2) for column in table) + "+"
    lines = text_lines(table, len(rows))
    return "\n".join([edge, lines[0], "|" + edge[1:-1] + "|", *lines[1:], edge])


def pipes(columns: Sequence[str], rows: Cells) -> str:
    """Markdown, with the side that each column leans to."""
    table = [Column(name, values) for name, values in numbered(columns, rows)]
    rule = "|".join("-" * (c.width + 1) + ":" if c.numeric else ":" + "-" * (c.width + 1) for c in table)
    lines = text_lines(table, len(rows))
    return "\n".join([lines[0], f"|{rule}|", *lines[1:]])


def tabs(columns: Sequence[str], rows: Cells) -> str:
    """Full precision, the row number first, nothing for NaN."""
    lines = [["", *columns], *([index, *row] for index, row in enumerate(rows))]
    return "\n".join("\t".join("" if cell != cell else str(cell) for cell in line) for line in lines) + "\n"


def numbered(columns: Sequence[str], rows: Cells) -> list[tuple[str, list[Any]]]:
    """Columns with their values, the row numbers in front."""
    by_column = [[row[nth] for row in rows] for nth in range(len(columns))]
    return [("", list(range(len(rows)))), *zip(columns, by_column, strict=True)]


def text_lines(table: Sequence[Column], rows: int) -> list[str]:
    heads = [column.aligned(column.name) for column in table]
    body = [[column.aligned(column.texts[nth]) for column in table] for nth in range(rows)]
    return ["| " + " | ".join(line) + " |" for line in [heads, *body]]


class Column:
    """A column of text, or of numbers with their points one under the other."""

    def __init__(self, name: str, values: Sequence[Any]) -> None:
        self.name = name
        self.numeric = all(map(is_number, values))
        self.texts = [f"{float(value):g}" for value in values] if self.numeric else [str(value) for value in values]
        if self.numeric:
            self.texts = pointed(self.texts)
        self.width = max([len(name) + 2, *map(len, self.texts)])

    def aligned(self, text: str) -> str:
        return text.rjust(self.width) if self.numeric else text.ljust(self.width)


def is_number(value: Any) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def pointed(texts: list[str]) -> list[str]:
    """Blanks behind the shorter fractions, so that the points stand in line."""
    points = [max(text.find("."), 0) or text.find("e") for text in texts]
    behind = [len(text) - point if point >= 0 else 0 for text, point in zip(texts, points, strict=True)]
    return [text + " " * (max(behind) - length) for text, length in zip(texts, behind, strict=True)]
