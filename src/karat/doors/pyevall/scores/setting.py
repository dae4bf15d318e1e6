# SPDX-License-Identifier: Apache-2.0
"""What the scores of one evaluation share."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

from karat.doors.pyevall.rows import TestCase
from karat.findings import Finding, finding


class Scores:
    """One evaluation: its test cases, what was counted and found; the caller's hierarchy is copied because PyEvALL adds gold's classes to it."""

    def __init__(self, hierarchy: Any, strict: bool) -> None:
        self.hierarchy, self.strict = copy.deepcopy(hierarchy), strict
        self.cases: list[TestCase] = []
        self.counted: dict[tuple[str, str | None], Any] = {}
        self._notes: dict[Finding, None] = {}

    @property
    def findings(self) -> list[Finding]:
        """What differs from PyEvALL and why, each once."""
        return list(self._notes)

    def note(self, what: str) -> None:
        self.add([finding("door-differs", what=what, tool="PyEvALL", switch="strict=True")])

    def add(self, findings: Iterable[Finding]) -> None:
        self._notes |= dict.fromkeys(findings)


class Setting:
    """What a metric sees beside the test case: the evaluation, and what PyEvALL's metric object remembers."""

    def __init__(self, scores: Scores) -> None:
        self.scores, self.hierarchy = scores, scores.hierarchy
        self.memory: dict[str, Any] = {}

    def once(self, kind: str, case: TestCase | None, make: Callable[[], Any]) -> Any:
        """What is counted once for all metrics, for a test case or for all of them."""
        key = (kind, case.name if case else None)
        if key not in self.scores.counted:
            self.scores.counted[key] = make()
        return self.scores.counted[key]
