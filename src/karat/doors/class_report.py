# SPDX-License-Identifier: Apache-2.0
"""The table of classes that scikit-learn made usual: precision, recall, F1 and support, then averages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from karat.evaluation import SystemResult

COLUMNS = {"precision": "precision", "recall": "recall", "f1-score": "f1"}
Row = dict[str, float]
Report = dict[str, Any]


def metrics(averages: Sequence[str]) -> list[str]:
    """What must be computed for a report with these averages."""
    return [*(f"{name}(average={average})" for average in averages for name in COLUMNS.values()), "support"]


def undefined(zero_division: Any) -> str:
    """karat's word for what a class without predictions or members scores."""
    if zero_division == "warn" or zero_division == 0:
        return "zero"
    return "one" if zero_division == 1 else "report"


def report(found: SystemResult, averages: Sequence[str], names: Mapping[str, str] | None = None) -> Report:
    """A row for each class in karat's order, then one for each average; whole numbers stay whole."""
    support = {label: int(part.value or 0) for label, part in found["support"].by_class.items()}
    total, first = sum(support.values()), averages[0]
    parts = {column: found[f"{name}(average={first})"].by_class for column, name in COLUMNS.items()}
    out: Report = {}
    for label, count in support.items():
        row: Row = {column: known(by_class[label].value) for column, by_class in parts.items()}
        out[(names or {}).get(label, label)] = {**row, "support": count}
    for average in averages:
        row = {column: averaged(found, name, average) for column, name in COLUMNS.items()}
        out[f"{average} avg"] = {**row, "support": total}
    return out


def known(value: float | None) -> float:
    return float("nan") if value is None else value


def averaged(found: SystemResult, name: str, average: str) -> float:
    """An average of one metric; without anything in gold the weighted one is the micro one, as there."""
    value = found[f"{name}(average={average})"].value
    if value is None and average == "weighted":
        value = found[f"{name}(average=micro)"].value
    return known(value)


def text(rows: Report, averages: Sequence[str], digits: int) -> str:
    """The table as the peers print it."""
    width = max([len("weighted avg"), digits, *(len(name) for name in rows)])
    lines = [f"{'':>{width}s} " + "".join(f" {column:>9}" for column in (*COLUMNS, "support")), ""]
    summary = {"accuracy", *(f"{average} avg" for average in averages)}
    lines += [line(name, row, width, digits) for name, row in rows.items() if name not in summary]
    last = [line(name, row, width, digits, total(rows)) for name, row in rows.items() if name in summary]
    return "\n".join([*lines, "", *last, ""])


def total(rows: Report) -> float:
    return next(
        float(row["support"]) if isinstance(row["support"], float) else int(row["support"])
        for name, row in reversed(rows.items())
        if isinstance(row, dict)
    )


def line(name: str, row: Row | float, width: int, digits: int, support: float = 0) -> str:
    if not isinstance(row, dict):
        return f"{name:>{width}s}  {'':>9} {'':>9} {row:>9.{digits}f} {support:>9}"
    numbers = "".join(f" {row[column]:>9.{digits}f}" for column in COLUMNS)
    return f"{name:>{width}s} {numbers} {row['support']:>9}"
