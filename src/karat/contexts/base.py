# SPDX-License-Identifier: Apache-2.0
"""What a context is: how its data look, what a cell of it is, which metrics and options it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from karat.align import Aligned, Meeting, coverage_findings
from karat.cells import Cells
from karat.contexts.options import MISSING, Option
from karat.evaluation import Detail
from karat.findings import Finding, InputError, any_error
from karat.metric import Metric
from karat.side import Side


@dataclass
class Counted:
    """What counting gives: cells, coverage and what was found on the way."""

    cells: Cells
    counts: dict[str, int]
    findings: list[Finding] = field(default_factory=list)


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
    numbers: ClassVar[tuple[str, ...]] = ()
    """Sides whose numbers are numbers, where the context has labels too: gold, pred."""
    options: ClassVar[tuple[Option, ...]] = (MISSING,)
    unit: ClassVar[str] = "item"
    example: ClassVar[str] = ""

    keeps_units: ClassVar[bool] = False
    """Whether every unit is a cell of its own, which is then known by its id."""

    def defaults(self, gold: Side) -> tuple[str, ...]:
        """What is computed for these data when no metric is named."""
        return self.metrics

    def prepare(self, side: Side, options: Mapping[str, Any]) -> Side:
        """A side as the context's entries are."""
        return side

    def check_side(self, side: Side, options: Mapping[str, Any]) -> list[Finding]:
        """What is wrong with one side by itself, for this context."""
        return []

    def faults(self, side: Side, options: Mapping[str, Any]) -> list[Finding]:
        """What `check_side` finds; it may stumble over records that are already reported."""
        try:
            return self.check_side(side, options)
        except InputError:
            raise
        except Exception:
            if any_error(side.findings):
                return []
            raise

    def coverage(self, gold: Side, pred: Side, both: Meeting, options: Mapping[str, Any]) -> list[Finding]:
        """What either side lacks."""
        return coverage_findings(gold, pred, both, options)

    def kept(self, both: Meeting, options: Mapping[str, Any]) -> Meeting:
        """The units that are scored."""
        return both.kept(options.get("missing", "wrong"), options.get("extra", "ignore"))

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

    def doubts(self, metrics: Sequence[Metric], pred: Side, cells: Cells) -> list[Finding]:
        """What is worth saying of the metrics that were asked for."""
        return []

    def details(self, cells: Cells) -> Sequence[Detail]:
        """Tables that belong to the result beside the scores."""
        return ()
