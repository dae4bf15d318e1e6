# SPDX-License-Identifier: Apache-2.0
"""The table of classes that scikit-learn made usual: precision, recall, F1 and support, then averages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from karat.evaluation import SystemResult

COLUMNS = {"precision": "precision", "recall": "recall", "f1-score": "f1"}
Row = dict[str, float]
Report = dict[str, Any]


class Table(NamedTuple):
    """Rows of classes and rows below them: apart, because a class may be called ``accuracy`` or as another class is."""

    classes: list[tuple[str, Row]]
    summary: list[tuple[str, Row | float]]

    def rows(self) -> Report:
        """One dictionary; of two rows of one name it keeps the lower, as the peers' do."""
        return dict([*self.classes, *self.summary])

    def text(self, digits: int) -> str:
        """The table as the peers print it."""
        names = [name for name, _ in (*self.classes, *self.summary)]
        width = max([len("weighted avg"), digits, *map(len, names)])
        total = next(row["support"] for _, row in reversed(self.summary) if isinstance(row, dict))
        lines = [f"{'':>{width}s} " + "".join(f" {column:>9}" for column in (*COLUMNS, "support")), ""]
        lines += [line(name, row, width, digits) for name, row in self.classes]
        lines += ["", *(line(name, row, width, digits, total) for name, row in self.summary), ""]
        return "\n".join(lines)


def metrics(averages: Sequence[str]) -> list[str]:
    """What must be computed for a report with these averages."""
    return [*(f"{name}(average={average})" for average in averages for name in COLUMNS.values()), "support"]


def undefined(zero_division: Any) -> str:
    """karat's word for what a class without predictions or members scores."""
    if zero_division == "warn" or zero_division == 0:
        return "zero"
    return "one" if zero_division == 1 else "report"


def report(result: SystemResult, averages: Sequence[str]) -> Table:
    """A row for each class in karat's order, then one for each average; whole numbers stay whole."""
    support = {label: int(part.value or 0) for label, part in result["support"].by_class.items()}
    parts = {column: result[f"{name}(average={averages[0]})"].by_class for column, name in COLUMNS.items()}
    classes: list[tuple[str, Row]] = [
        (label, {**{column: known(by_class[label].value) for column, by_class in parts.items()}, "support": count})
        for label, count in support.items()
    ]
    total = sum(support.values())
    means: list[tuple[str, Row | float]] = [
        (f"{how} avg", {**{column: averaged(result, name, how) for column, name in COLUMNS.items()}, "support": total})
        for how in averages
    ]
    return Table(classes, means)


def known(value: float | None) -> float:
    return float("nan") if value is None else value


def averaged(result: SystemResult, name: str, average: str) -> float:
    """An average of one metric; without anything in gold the weighted one is the micro one, as there."""
    value = result[f"{name}(average={average})"].value
    if value is None and average == "weighted":
        value = result[f"{name}(average=micro)"].value
    return known(value)


def line(name: str, row: Row | float, width: int, digits: int, support: float = 0) -> str:
    if not isinstance(row, dict):
        return f"{name:>{width}s}  {'':>9} {'':>9} {row:>9.{digits}f} {support:>9}"
    numbers = "".join(f" {row[column]:>9.{digits}f}" for column in COLUMNS)
    return f"{name:>{width}s} {numbers} {row['support']:>9}"
