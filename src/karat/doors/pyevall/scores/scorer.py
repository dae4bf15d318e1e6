# SPDX-License-Identifier: Apache-2.0
"""Which function scores which metric: PyEvALL's own where strict asks for its oddities, else karat's."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
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
from karat.findings import Finding

Score = Callable[["Setting", TestCase, Params], Outcome | str]
KARAT: dict[str, Score] = {**labels.SCORES, **weights.SCORES, **ranks.SCORES, **clusters.SCORES}
ODD: dict[str, Score] = {**odd_labels.SCORES, **odd_weights.SCORES, **odd_ranks.SCORES, **odd_clusters.SCORES}


class Setting:
    """What a metric sees beside the test case: the hierarchy, and what PyEvALL's metric object remembers."""

    def __init__(self, hierarchy: Any, strict: bool, cells: dict[str, Any]) -> None:
        self.hierarchy, self.strict = hierarchy, strict
        self.memory: dict[str, Any] = {}
        self.cells = cells

    def once(self, kind: str, case: TestCase, make: Callable[[], Any]) -> Any:
        """Cells of a test case, counted once for all metrics."""
        key = f"{kind} {case.name}"
        if key not in self.cells:
            self.cells[key] = make()
        return self.cells[key]


class Scores:
    """Scores of one evaluation; the caller's hierarchy is copied because PyEvALL adds gold's classes to it."""

    def __init__(self, hierarchy: Any, strict: bool) -> None:
        self.hierarchy, self.strict = copy.deepcopy(hierarchy), strict
        self.findings: list[Finding] = []
        self._cells: dict[str, Any] = {}

    def setting(self) -> Setting:
        """A fresh one for each metric: PyEvALL makes a metric object and uses it for all test cases."""
        return Setting(self.hierarchy, self.strict, self._cells)

    def of(self, metric: str, case: TestCase, params: Params, setting: Setting) -> Outcome | str:
        """The score, or the code of what forbids it."""
        table: Mapping[str, Score] = {**KARAT, **ODD} if self.strict else {**ODD, **KARAT}
        return table[metric](setting, case, params)
