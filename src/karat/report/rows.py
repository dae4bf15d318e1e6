# SPDX-License-Identifier: Apache-2.0
"""What tabular reports share: a plain table, and how its cells are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from karat.evaluation import Interval, SystemResult

BY = ("test-case", "class", "query")
"""What a report can break scores down by."""


class Grid(NamedTuple):
    """A plain table: a title, column heads and rows of text."""

    title: str
    head: list[str]
    rows: list[list[str]]
    notes: Sequence[str] = ()
    """Sentences that belong under the table."""


def number(value: float | None, digits: int = 4) -> str:
    """A score as people read it; a dash where it is undefined."""
    if value is None:
        return "–"
    text = f"{value:.{digits}f}"
    return text.replace("-0." + "0" * digits, "0." + "0" * digits) if float(text) == 0 else text


def cell(value: float | None, interval: Interval | None, digits: int) -> str:
    span = f" [{number(interval.low, digits)}, {number(interval.high, digits)}]" if interval else ""
    return number(value, digits) + span


def coverage(system: SystemResult) -> str:
    """How much of gold was predicted, in words."""
    counts = system.counts
    text = f"{counts.get('aligned', 0):,} of {counts.get('gold', 0):,} gold {'unit' if counts.get('gold') == 1 else 'units'} predicted"
    return text + (f", {counts['pred_only']:,} predicted only" if counts.get("pred_only") else "")


def p_text(p: float | None, bound: bool = False) -> str:
    """``bound``: p is only known to be at most this."""
    if p is None or p != p:
        return "–"
    return ("≤ " if bound else "") + (f"{p:.2g}" if p < 0.995 else "1")
