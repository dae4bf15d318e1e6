# SPDX-License-Identifier: Apache-2.0
"""What a door does otherwise than the original, as data: the tables of docs/doors and the doors' findings say it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Difference:
    """One row of the table, and for which metrics and data it makes a finding."""

    what: str
    there: str
    here: str
    metrics: tuple[str, ...] = ()
    applies: Callable[..., Any] = lambda *facts: False

    def sentence(self, tool: str) -> str:
        """As a sentence of a finding."""
        return f"{self.here}; {tool}: {self.there}"


def table(rows: Iterable[Difference], tool: str) -> str:
    """The rows in Markdown, without a first column where they have nothing to say in it."""
    rows = list(rows)
    first = any(row.what for row in rows)
    cells = [[row.what, row.there, row.here][not first :] for row in rows]
    heads = ["", tool, "here"][not first :]
    return "\n".join(f"| {' | '.join(line)} |" for line in (heads, ["---"] * len(heads), *cells))
