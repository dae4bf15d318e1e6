# SPDX-License-Identifier: Apache-2.0
"""The Markdown report."""

from __future__ import annotations

import re
from collections.abc import Sequence

from karat.evaluation import Evaluation
from karat.report.rows import Grid, coverage
from karat.report.terminal import tables
from karat.report.text import brief, clear


def render(evaluation: Evaluation, by: Sequence[str] = (), digits: int = 4, show: Sequence[str] = ()) -> str:
    """Tables that GitHub and every other Markdown reader show."""
    covered = "; ".join(f"{s.name}: {coverage(s)}" for s in evaluation.systems)
    parts = [table(g) for g in tables(evaluation, by, digits, show)]
    return "\n\n".join([*parts, f"Context: {evaluation.context}. {escape(covered)}."]) + "\n"


def table(grid: Grid) -> str:
    """One table under its title, numbers to the right."""
    rule = ["---", *(["---:"] * (len(grid.head) - 1))]
    lines = [grid.head, rule, *grid.rows]
    body = "\n".join("| " + " | ".join(map(escape, line)) + " |" for line in lines)
    notes = "\n".join(f"- {escape(note)}" for note in grid.notes)
    return f"**{escape(grid.title)}**\n\n{body}" + (f"\n\n{notes}" if notes else "")


def escape(text: str) -> str:
    """Text that keeps its meaning inside a table."""
    shown = clear(" ".join(brief(text).splitlines()))
    return re.sub(r"([\\`*_|<&~]|\](?=[(\[]))", r"\\\1", shown)
