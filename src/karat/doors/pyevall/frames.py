# SPDX-License-Identifier: Apache-2.0
"""The dataframe report: averages, test cases and classes as three tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from karat.doors.pyevall.report import Report
from karat.doors.pyevall.table import grid, pipes, tabs
from karat.findings import Finding

NOTICE = "Scores only: ask for the embedded report to read what stands behind a '-' or an empty table."
AMBIGUOUS = "The truth value of a DataFrame is ambiguous. Use a.empty, a.bool(), a.item(), a.any() or a.all()."

Row = dict[str, Any]
Rows = list[Row]


class FrameReport:
    """Three tables: ``df_average``, ``df_test_case`` and ``df_test_case_classes`` (pandas frames), also printed."""

    def __init__(self, reports: Sequence[Report], strict: bool) -> None:
        self.reports = list(reports)
        tables = [tables_of(one.report, strict) for one in reports]
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
        return [finding for one in self.reports for finding in one.findings]

    @cached_property
    def df_average(self) -> Any:
        return frame(self._average)

    @cached_property
    def df_test_case(self) -> Any:
        return frame(self._test_case)

    @cached_property
    def df_test_case_classes(self) -> Any:
        return frame(self._classes)

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
        for rows in (self._average, self._test_case, self._classes):
            if rows:
                print(style(*squared(rows)))


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
        for one in cases(entry):
            row = {"files": f"{name}_{one['name']}"}
            by_case.setdefault(one["name"], dict(row))[columns[key]] = shown(one["average"])
            for label, value in one.get("classes", {}).items():
                by_class.setdefault(one["name"], dict(row))[f"{columns[key]}_{label}"] = shown(value)
    return [average], list(by_case.values()), list(by_class.values())


def cases(entry: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = entry.get("results", {}).get("test_cases", [])
    return found


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


def squared(rows: Rows) -> tuple[list[str], list[list[Any]]]:
    """Columns in order of first appearance, and the rows with a dash where one has nothing."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    return columns, [[row.get(column, "-") for column in columns] for row in rows]


def frame(rows: Rows) -> Any:
    import pandas as pd

    columns, cells = squared(rows)
    return pd.DataFrame(cells, columns=columns)
