# SPDX-License-Identifier: Apache-2.0
"""One side of an evaluation, read: a relation of the engine (or arrays) with a name and line numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from karat.contexts.base import Columns, Keys
from karat.findings import Finding
from karat.side import Side
from karat.values import Column


class Engine(Protocol):
    """What reading needs of an engine."""

    def run(self, sql: str) -> Columns: ...
    def execute(self, sql: str) -> None: ...
    def later(self, name: str, *statements: str) -> None: ...
    def register(self, name: str, columns: Any) -> None: ...
    def types(self, source: str) -> dict[str, str]: ...
    def stream(self, name: str, frame: Any) -> str: ...
    def columns(self, relation: str, names: Iterable[str] | None = None) -> dict[str, Column]: ...
    def lazily(self, relation: str, broken: Callable[[Exception], Exception] | None = None) -> Any: ...


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

    @property
    def side(self) -> str:
        """The side whose names of columns count."""
        return "" if self.either else self.role

    @property
    def chosen(self) -> bool:
        """Did the user choose the column of the values, so that the others are left out on purpose?"""
        return self.shared or "value" in self.columns

    @property
    def drops(self) -> bool:
        """Are records without a value left out later, so that they are no errors?"""
        return self.options.get("faulty") == "drop"


@dataclass
class Table:
    """Gold or predictions as a context sees them."""

    name: str
    role: str
    format: str
    sql: str
    columns: Mapping[str, str]
    kind: str
    rows: int
    coded: Mapping[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    line_of: Callable[[int], int | None] = lambda row: None
    context: str | None = None
    """The only context that this format can mean, if there is one."""
    system: str = ""
    """What the system is called."""
    roles: Mapping[str, str] = field(default_factory=dict)
    """The file's own names of our columns."""
    sha256: str | None = None
    bytes: int | None = None
    keys: Keys | None = None
    """What identifies the records, where the reader holds it in memory; then the memo holds the entries."""
    memo: dict[str, Any] = field(default_factory=dict)
    side: Side | None = None
    """The table as a side, for contexts that count sides."""

    def line(self, row: int) -> int | None:
        return self.line_of(row)


def side_table(side: Side, findings: list[Finding]) -> Side:
    """A side with what its reader found."""
    side.findings = findings
    return side
