# SPDX-License-Identifier: Apache-2.0
"""The Markdown report."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from karat.evaluation import Evaluation
from karat.findings import Finding, folded
from karat.report.rows import Grid, coverage
from karat.report.terminal import tables, worded
from karat.report.text import brief, clear


def render(evaluation: Evaluation, by: Sequence[str] = (), digits: int = 4, show: Sequence[str] = ()) -> str:
    """Tables that GitHub and every other Markdown reader show."""
    covered = "; ".join(f"{s.name}: {coverage(s)}" for s in evaluation.systems)
    parts = [table(g) for g in tables(evaluation, by, digits, show)]
    return (
        "\n\n".join([*parts, f"Context: {evaluation.context}. {escape(covered)}.", *findings(evaluation.findings)])
        + "\n"
    )


def findings(listed: Iterable[Finding]) -> list[str]:
    """What was found, as one list; none where there is nothing but notes."""
    lines = [
        f"- {escape(str(first))}" + (f" ({escape(rest)})" if rest else "")
        for first, rest in folded(f for f in listed if f.severity != "note")
    ]
    return ["**Findings**\n\n" + "\n".join(lines)] if lines else []


def table(grid: Grid) -> str:
    """One table under its title, words to the left and numbers to the right."""
    rule = ["---" if i == 0 or worded(grid.rows, i) else "---:" for i in range(len(grid.head))]
    lines = [grid.head, rule, *grid.rows]
    body = "\n".join("| " + " | ".join(map(escape, line)) + " |" for line in lines)
    notes = "\n".join(f"- {escape(note)}" for note in grid.notes)
    return f"**{escape(grid.title)}**\n\n{body}" + (f"\n\n{notes}" if notes else "")


def escape(text: str) -> str:
    """Text that keeps its meaning inside a table."""
    shown = clear(" ".join(brief(text).splitlines()))
    return re.sub(r"([\\`*_|<&~]|\](?=[(\[]))", r"\\\1", shown)
