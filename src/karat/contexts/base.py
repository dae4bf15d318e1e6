# SPDX-License-Identifier: Apache-2.0
"""What a context is: how its data look, what a cell of it is, which metrics and options it has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from karat.align import Aligned, Meeting, coverage_findings
from karat.cells import Cells
from karat.contexts.options import MISSING, Option
from karat.evaluation import Detail
from karat.findings import Finding
from karat.side import Side

Columns = dict[str, NDArray[Any]]
Run = Callable[[str], Columns]
"""Runs a query in the engine and gives its columns."""


@dataclass(frozen=True, slots=True)
class Coded:
    """A column as integer codes into its distinct values; −1 is missing."""

    codes: NDArray[np.int64]
    values: list[str]


@dataclass(frozen=True, slots=True)
class CodedSets:
    """Label sets as (row, code) pairs in row order, each set's labels in the order given."""

    row: NDArray[np.int64]
    code: NDArray[np.int64]
    values: list[str]
    rows: int


@dataclass(frozen=True, slots=True)
class Keys:
    """Test case and id of every record, in row order."""

    test_case: list[str]
    id: list[str]

    def pairs(self) -> Iterator[tuple[str, str]]:
        return zip(self.test_case, self.id, strict=True)

    def repeat(self) -> bool:
        """Does any record have the test case and id of another?"""
        return len(set(self.id)) < len(self.id) and len(set(self.pairs())) < len(self.id)


class Table(Protocol):
    """Gold or predictions as a context sees them: a relation of the engine, or coded arrays."""

    name: str
    role: str
    format: str
    sql: str
    """What to select from; has the columns test_case, id and those that the context's schema names."""
    columns: Mapping[str, str]
    """Column names and SQL types."""
    kind: str
    """What the values are: label, labels, weights, number or none."""
    rows: int
    coded: Mapping[str, Any]
    """Columns that are already arrays, in row order, or a context's own form (empty for relations)."""
    roles: Mapping[str, str]
    """The file's own names of our columns."""
    keys: Keys | None
    """What identifies the records, where the reader holds it in memory; then the memo holds the entries."""
    memo: dict[str, Any]
    """What a context read of it and will need again."""
    side: Side | None
    """The table as a side, where its reader gave it at once."""

    def line(self, row: int) -> int | None:
        """Physical line of a record (rows count from 0)."""
        ...


@dataclass
class Counted:
    """What counting gives: cells, coverage and what was found on the way."""

    cells: Cells
    counts: dict[str, int]
    findings: list[Finding] = field(default_factory=list)


AnyTable = TypeVar("AnyTable", bound=Table)


class Context:
    """One kind of evaluation. Subclasses are stateless; one instance per module, called ``context``."""

    name: ClassVar[str]
    title: ClassVar[str]
    cells: ClassVar[type[Cells]]
    kinds: ClassVar[tuple[str, ...]]
    """Kinds of value that it takes, the first being the one that selects it."""
    metrics: ClassVar[tuple[str, ...]]
    """What is computed when no metric is named."""
    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Names that stand for several metrics."""
    options: ClassVar[tuple[Option, ...]] = (MISSING,)
    unit: ClassVar[str] = "item"
    example: ClassVar[str] = ""

    def defaults(self, gold: Table) -> tuple[str, ...]:
        """What is computed for these data when no metric is named."""
        return self.metrics

    def records(self, table: AnyTable) -> AnyTable:
        """The table with one record to an item, as its hash is taken of it."""
        return table

    def check(self, run: Run, table: Table, options: Mapping[str, Any]) -> list[Finding]:
        """What is wrong with one file by itself, for this context."""
        return []

    def count(self, run: Run, gold: Table, pred: Table, options: Mapping[str, Any], *, units: bool = False) -> Counted:
        """Align the two sides and count cells; ``units`` also asks for the cell of each unit."""
        raise TypeError(f"context {self.name} does not count")

    waist: ClassVar[bool] = False
    """Whether it counts aligned sides (`side` to `remarks` below) and no longer tables."""

    keeps_units: ClassVar[bool] = False
    """Whether every unit is a cell of its own, which is then known by its id."""

    def side(self, run: Run, table: Table, options: Mapping[str, Any]) -> Side:
        """A table as a side of this context."""
        raise TypeError(f"context {self.name} has no sides")

    def prepare(self, side: Side, options: Mapping[str, Any]) -> Side:
        """A side as the context's entries are."""
        return side

    def check_side(self, side: Side, options: Mapping[str, Any]) -> list[Finding]:
        """What is wrong with one side by itself, for this context."""
        return []

    def coverage(self, gold: Side, pred: Side, both: Meeting, options: Mapping[str, Any]) -> list[Finding]:
        """What either side lacks."""
        return coverage_findings(gold, pred, both, options)

    def counts(self, gold: Side, pred: Side, both: Meeting) -> dict[str, int]:
        """Coverage in numbers."""
        return both.counts()

    def reduce(self, both: Aligned, options: Mapping[str, Any]) -> Aligned:
        """A batch of whole units as small as the scores allow."""
        return both.collapsed()

    def cells_of(self, both: Aligned, options: Mapping[str, Any]) -> Cells:
        """The cells of all batches, reduced and merged."""
        raise TypeError(f"context {self.name} does not count")

    def totals(self, both: Aligned) -> dict[str, int]:
        """What else is counted, in the merged batches."""
        return {}

    def remarks(self, gold: Side, pred: Side, cells: Cells, options: Mapping[str, Any]) -> list[Finding]:
        """What is worth saying of both sides together."""
        return []

    def details(self, cells: Cells) -> Sequence[Detail]:
        """Tables that belong to the result beside the scores."""
        return ()
