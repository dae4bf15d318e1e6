# SPDX-License-Identifier: Apache-2.0
"""Which function scores which metric: PyEvALL's own where strict asks for its oddities, else karat's."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

from karat.doors.pyevall.params import Params
from karat.doors.pyevall.result import Outcome
from karat.doors.pyevall.rows import TestCase
from karat.doors.pyevall.scores import (
    clusters,
    labels,
    odd_clusters,
    odd_labels,
    odd_ranks,
    odd_weights,
    ranks,
    weights,
)
from karat.doors.pyevall.scores.remarks import remarks
from karat.findings import Finding, InputError, finding
from karat.metric import MetricError

Score = Callable[["Setting", TestCase, Params], Outcome | str]
KARAT: dict[str, Score] = {**labels.SCORES, **weights.SCORES, **ranks.SCORES, **clusters.SCORES}
ODD: dict[str, Score] = {**odd_labels.SCORES, **odd_weights.SCORES, **odd_ranks.SCORES, **odd_clusters.SCORES}


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


class Scores:
    """Scores of one evaluation; the caller's hierarchy is copied because PyEvALL adds gold's classes to it."""

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
        self.found([finding("door-differs", what=what, tool="PyEvALL", switch="strict=True")])

    def found(self, findings: Iterable[Finding]) -> None:
        self._notes |= dict.fromkeys(findings)

    def of(self, metric: str, case: TestCase, params: Params, setting: Setting) -> Outcome | str:
        """The score, or the code of what forbids it; by default nothing raises and no test case knows of another."""
        if self.strict:
            return {**KARAT, **ODD}[metric](setting, case, params)
        for what in remarks(metric, case, self.cases):
            self.note(what)
        try:
            return KARAT[metric](Setting(self), case, params)
        except (InputError, MetricError) as error:
            self.found(error.findings if isinstance(error, InputError) else [])
            return Outcome(None)
