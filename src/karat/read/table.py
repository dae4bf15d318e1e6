# SPDX-License-Identifier: Apache-2.0
"""What to read, what readers need of an engine, and the names that columns usually have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from karat.findings import Finding
from karat.read.names import NUMBERS
from karat.side import Side
from karat.values import Column

WAITING = 20_000
"""Rows from which on a table may be counted where it lies: below, its rows are read in a moment."""


class Engine(Protocol):
    """What reading needs of an engine."""

    @property
    def memory(self) -> int | None: ...
    def execute(self, sql: str) -> None: ...
    def stream(self, name: str, frame: Any, limit: Any = None) -> str: ...
    def columns(self, relation: str, names: Iterable[str] | None = None) -> dict[str, Column]: ...
    def lazily(
        self, relation: str, broken: Callable[[Exception], Exception] | None = None, numbered: str | None = None,
        limit: Any = None,
    ) -> Any: ...  # fmt: skip
    def parquet_names(self, path: Path) -> list[str]: ...
    def parquet_sizes(self, path: Path) -> dict[str, tuple[int, bool]]: ...


@dataclass
class Read:
    """What to read and what the user said of it."""

    name: str
    role: str
    columns: Mapping[str, str] = field(default_factory=dict)
    """The user's names of our columns."""
    context: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    shared: bool = False
    """Whether gold and predictions are columns of this one table."""
    separator: str | None = None
    """What stands between the labels of a cell."""
    either: bool = False
    """Whether nobody said which side this is."""
    side: str = field(init=False)
    """The side whose names of columns count."""
    all_numbers: bool = field(init=False)
    """Has the context that was named no values but numbers?"""
    drops: bool = field(init=False)
    """Are records without a value left out later, so that they are no errors?"""

    def __post_init__(self) -> None:
        self.side = "" if self.either else self.role
        self.all_numbers = self.context in ("ranking", "numbers")
        self.drops = self.options.get("faulty") == "drop"

    @property
    def chosen(self) -> bool:
        """Did the user choose the column of the values, so that the others are left out on purpose?"""
        return self.shared or "value" in self.columns

    def wants_numbers(self, column: str) -> bool:
        """Are the values of the column numbers and no labels, by the context or by its name?"""
        if self.context is None:
            return column.strip().lower() in NUMBERS
        return self.all_numbers or (self.context == "probabilities" and self.role == "pred")


def side_table(side: Side, findings: list[Finding]) -> Side:
    """A side with what its reader found."""
    side.findings = findings
    return side
