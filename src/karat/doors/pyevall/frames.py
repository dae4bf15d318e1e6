# SPDX-License-Identifier: Apache-2.0
"""The dataframe report: averages, test cases and classes as three tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Protocol

from karat.doors.kit.table import grid, pipes, tabs
from karat.doors.pyevall.codes import PyEvALLReport
from karat.findings import Finding

NOTICE = "Scores only: ask for the embedded report to read what stands behind a '-' or an empty table."
AMBIGUOUS = "The truth value of a DataFrame is ambiguous. Use a.empty, a.bool(), a.item(), a.any() or a.all()."

Row = dict[str, Any]
Rows = list[Row]


class Reported(Protocol):
    """A report of one prediction file."""

    report: dict[str, Any]
    findings: list[Finding]


class FrameReport(PyEvALLReport):
    """Three tables: ``df_average``, ``df_test_case`` and ``df_test_case_classes`` (pandas frames), also printed."""

    def __init__(self, reports: Sequence[Reported], strict: bool) -> None:
        self.reports, self.strict = list(reports), strict
        tables = [tables_of(part.report, strict) for part in reports]
        self._average, self._test_case, self._classes = (
            [row for table in tables for row in table[nth]] for nth in range(3)
        )

    @property
    def report(self) -> dict[str, Any]:
        """The embedded report of the (first) prediction file."""
        return self.reports[0].report

    @property
    def findings(self) -> list[Finding]:
        """What karat computed otherwise than PyEvALL, and why."""
        return [finding for part in self.reports for finding in part.findings]

    @cached_property
    def df_average(self) -> Any:
        return self._frame(self._average)

    @cached_property
    def df_test_case(self) -> Any:
        return self._frame(self._test_case)

    @cached_property
    def df_test_case_classes(self) -> Any:
        return self._frame(self._classes)

    def _frame(self, rows: Rows) -> Any:
        """A pandas frame; in strict mode, none at all where nothing stands in it, and NaN or None where PyEvALL has them."""
        import pandas as pd

        columns, cells = squared(rows, self._gap)
        if self.strict:
            return pd.DataFrame(cells, columns=columns) if rows else None
        return pd.DataFrame([[shown(cell) for cell in row] for row in cells], columns=columns)

    @property
    def _gap(self) -> Any:
        """What stands where a file has no such column: pandas joins PyEvALL's tables, and leaves NaN."""
        return float("nan") if self.strict else "-"

    def print_report(self) -> None:
        """The tables with rules, on stdout."""
        self._print(grid)

    def print_report_to_markdown(self) -> None:
        """The tables as Markdown, on stdout."""
        self._print(pipes)

    def print_report_tsv(self) -> None:
        """The tables with tabs and full precision, each followed by an empty line, on stdout."""
        self._print(tabs)

    def _print(self, style: Any) -> None:
        print(NOTICE)
        for rows in (self._average, self._test_case):
            if rows:
                print(style(*squared(rows, self._gap)))
        if self._classes:
            columns, cells = squared(self._classes, self._gap)
            print(style(columns, [["-" if cell != cell else shown(cell) for cell in row] for row in cells]))


def tables_of(report: dict[str, Any], strict: bool) -> tuple[Rows, Rows, Rows]:
    """Rows of the three tables; PyEvALL has no table of two test cases, it fails."""
    name = next(iter(report["files"]))
    columns = dict(zip(report["metrics"], headings(report["metrics"], strict), strict=True))
    if strict and any(len(cases(entry)) > 1 for entry in report["metrics"].values()):
        raise ValueError(AMBIGUOUS)
    average: Row = {"files": name}
    by_case: dict[str, Row] = {}
    by_class: dict[str, Row] = {}
    for key, entry in report["metrics"].items():
        average[columns[key]] = shown(entry.get("results", {}).get("average_per_test_case"), strict)
        for case in cases(entry):
            row = {"files": f"{name}_{case['name']}"}
            by_case.setdefault(case["name"], dict(row))[columns[key]] = shown(case["average"])
            for label, value in case.get("classes", {}).items():
                by_class.setdefault(case["name"], dict(row))[f"{columns[key]}_{label}"] = value
    return [average], list(by_case.values()), list(by_class.values())


def cases(entry: dict[str, Any]) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = entry.get("results", {}).get("test_cases", [])
    return cases


def headings(metrics: dict[str, Any], strict: bool) -> Iterator[str]:
    """Acronyms; two metrics with the same one get their names added, which PyEvALL lets overwrite each other."""
    used: set[str] = set()
    for key, entry in metrics.items():
        acronym = entry["acronym"]
        yield acronym if strict or acronym not in used else f"{acronym} ({key})"
        used.add(acronym)


def shown(value: float | None, as_text: bool = False) -> Any:
    if value is None:
        return "-"
    return str(value) if as_text else value


def squared(rows: Rows, gap: Any) -> tuple[list[str], list[list[Any]]]:
    """Columns in order of first appearance, and the rows with a gap where one has nothing."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    by_column = [like_numbers([row.get(column, gap) for row in rows]) for column in columns]
    return columns, [list(row) for row in zip(*by_column, strict=True)]


def like_numbers(cells: list[Any]) -> list[Any]:
    """Whole numbers become floats beside floats, as in a column of a frame."""
    return list(map(float, cells)) if {type(cell) for cell in cells} == {int, float} else cells
