# SPDX-License-Identifier: Apache-2.0
"""One metric's part of the report: its results by test case, what was unmet, what was warned about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from karat.doors.pyevall import codes
from karat.doors.pyevall.names import METRICS


class Outcome(NamedTuple):
    """A test case's score, and its scores by class where the metric has them; None is undefined."""

    average: float | None
    classes: dict[str, float | None] | None = None


@dataclass
class MetricResult:
    """Filled while the test cases are gone through; ``entry`` is what the report shows."""

    key: str
    strict: bool
    warnings: list[str] = field(default_factory=list)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    unmet: dict[str, list[str]] = field(default_factory=dict)
    error: str | None = None
    sections: dict[str, None] = field(default_factory=dict)

    def note(self, code: str, test_case: str) -> None:
        """PyEvALL keeps only the last test case of each code."""
        cases = self.unmet.setdefault(code, [])
        cases[:] = [test_case] if self.strict else [*cases, test_case]
        self.sections.setdefault("preconditions")

    def warn(self, warnings: list[str]) -> None:
        """Each code once; the report lists warnings and preconditions in the order in which the first of each came."""
        self.warnings += [code for code in warnings if code not in self.warnings]
        if warnings:
            self.sections.setdefault("warnings")

    @property
    def failed(self) -> bool:
        return self.error is not None or any(code in codes.FAILING for code in self.unmet)

    @property
    def status(self) -> str:
        """PyEvALL lets the warning about a hierarchy hide a failure of Kappa."""
        hidden = self.strict and self.key == "Kappa" and codes.HIERARCHY_UNUSED in self.unmet
        if self.failed and not (hidden and codes.WRONG_CONTEXT not in self.unmet):
            return "FAIL"
        return "WARNING" if self.unmet or self.warnings else "OK"

    @property
    def average(self) -> float | None:
        """Mean over test cases; PyEvALL counts an undefined score as 0, the default leaves it out."""
        known = [outcome.average for outcome in self.outcomes.values() if outcome.average is not None]
        if self.failed or not known:
            return None
        return sum(known) / (len(self.outcomes) if self.strict else len(known))

    def entry(self) -> dict[str, Any]:
        head = {**title(self.key), "description": "", "status": self.status}
        result = {"errors": [{"name": self.error, "description": ""}]} if self.error else {"results": self.results()}
        parts = {"preconditions": self.preconditions, "warnings": self.warned}
        return {**head, **result, **{section: parts[section]() for section in self.sections}}

    def warned(self) -> list[dict[str, str]]:
        return [{"name": code, "description": ""} for code in self.warnings]

    def results(self) -> dict[str, Any]:
        cases = [
            {"name": name, **({} if case.classes is None else {"classes": case.classes}), "average": case.average}
            for name, case in self.outcomes.items()
        ]
        return {"test_cases": cases, "average_per_test_case": self.average}

    def preconditions(self) -> dict[str, Any]:
        return {
            code: {
                "name": code,
                "description": "",
                "status": "FAIL" if code in codes.FAILING else "WARNING",
                "test_cases": cases,
            }
            for code, cases in self.unmet.items()
        }


def title(key: str) -> dict[str, str]:
    facts = METRICS.get(key)
    return {"name": facts.title if facts else key, "acronym": facts.acronym if facts else "UNKNOWN"}
