# SPDX-License-Identifier: Apache-2.0
"""The report objects: the same dictionary with short or full descriptions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from karat.doors.pyevall import codes
from karat.doors.pyevall.codes import PyEvALLReport
from karat.doors.pyevall.frames import FrameReport
from karat.doors.pyevall.journal import Journal
from karat.doors.pyevall.result import MetricResult
from karat.findings import Finding
from karat.report.pyevall import pretty

SHORT = "Ask for the embedded report to read more."


@dataclass
class Report(PyEvALLReport):
    """PyEvALL's report: ``report`` is the dictionary, ``findings`` what karat computed otherwise and why."""

    report: dict[str, Any]
    findings: list[Finding] = field(default_factory=list)

    def print_report(self) -> None:
        """The dictionary as indented JSON on stdout: printing is what this method is for."""
        print(pretty(self.report))

    def print_report_to_markdown(self) -> None:
        """The scores as Markdown tables on stdout, without asking for the dataframe report first."""
        self._frames().print_report_to_markdown()

    def print_report_tsv(self) -> None:
        """The scores as tables with tabs on stdout."""
        self._frames().print_report_tsv()

    def _frames(self) -> FrameReport:
        return FrameReport([self], strict=False)


@dataclass
class MetaReport(Report):
    """Several evaluations in one dictionary: EVALUATION_1, EVALUATION_2, …"""

    @classmethod
    def of(cls, reports: Sequence[Report]) -> MetaReport:
        merged = {f"EVALUATION_{number}": part.report for number, part in enumerate(reports, 1)}
        return cls(merged, [finding for part in reports for finding in part.findings])

    def _frames(self) -> FrameReport:
        return FrameReport([Report(part) for part in self.report.values()], strict=False)


def build(journal: Journal, results: Sequence[MetricResult], full: bool) -> dict[str, Any]:
    """The dictionary; full descriptions say what, where and whether the evaluation went on."""
    return {
        "metrics": {result.key: described(result, full) for result in results},
        "files": {key: file(journal, key, full) for key in journal.entries},
    }


def described(result: MetricResult, full: bool) -> dict[str, Any]:
    entry = result.entry()
    entry["description"] = metric_text(result) if full else SHORT
    for part in (*entry.get("errors", []), *entry.get("warnings", []), *entry.get("preconditions", {}).values()):
        part["description"] = code_text(part["name"], f"Metric: {entry['name']}", part) if full else SHORT
    return entry


def metric_text(result: MetricResult) -> str:
    ends = {
        "OK": "It was computed.",
        "WARNING": "It was computed; read the warnings.",
        "FAIL": "It could not be computed.",
    }
    return f"{ends[result.status]} `karat metrics` has its definition."


def code_text(code: str, subject: str, facts: dict[str, Any]) -> str:
    """One code in words: what it means, then where."""
    places = [
        f"{label}: {', '.join(map(str, facts[key]))}"
        for key, label in (("lines", "Records"), ("test_cases", "Test cases"))
        if facts.get(key)
    ]
    ends = {"STOP": ["Nothing was evaluated because of it."], "CONTINUE": ["The evaluation went on."]}
    return " ".join(
        [codes.TEXTS[code], *(f"{place}." for place in [subject, *places]), *ends.get(facts.get("status", ""), [])]
    )


def file(journal: Journal, key: str, full: bool) -> dict[str, Any]:
    entry = journal.entries[key]
    good = f"{entry.name} was read without a finding." if not entry.errors else f"Findings in {entry.name}: see errors."
    errors = {
        code: ordered(facts, code_text(code, f"File: {entry.name}", facts) if full else SHORT)
        for code, facts in entry.errors.items()
    }
    return {
        "name": entry.name,
        "status": entry.status,
        "gold": entry.gold,
        "description": good if full else SHORT,
        "errors": errors,
    }


def ordered(facts: dict[str, Any], description: str) -> dict[str, Any]:
    """PyEvALL's order of keys: lines, description, the rest."""
    lines = {"lines": facts["lines"]} if "lines" in facts else {}
    return {**lines, "description": description, **{key: value for key, value in facts.items() if key != "lines"}}
