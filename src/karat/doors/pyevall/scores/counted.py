# SPDX-License-Identifier: Apache-2.0
"""Test cases of one kind, counted together by karat's engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from karat.api import evaluate
from karat.doors.pyevall.params import Params
from karat.doors.pyevall.result import Outcome
from karat.doors.pyevall.rows import TestCase
from karat.doors.pyevall.scores.setting import Setting
from karat.metric import Definition


def cells_of(setting: Setting, kind: str, context: str, options: Mapping[str, Any]) -> Any:
    """Cells of every test case of this kind; what karat finds wrong with the values is raised each time."""

    def count() -> Any:
        sides = {"gold": rows(setting, kind, "gold"), "pred": rows(setting, kind, "pred")}
        evaluation = evaluate(sides["gold"], sides["pred"], context=context, **options)
        setting.scores.add(evaluation.findings)
        return evaluation.systems[0].cells

    return setting.once(context, None, count)


def rows(setting: Setting, kind: str, side: str) -> list[dict[str, Any]]:
    return [
        {"test_case": case.name, "id": id, "value": value}
        for case in setting.scores.cases
        if case.kind == kind
        for id, value in getattr(case, side).items()
    ]


def scorer(
    kind: str, context: str, options: Callable[[Setting], Mapping[str, Any]], metric: Definition, **given: Any
) -> Callable[[Setting, TestCase, Params], Outcome]:
    """A karat metric; ``given`` names its parameters: a value, or the PyEvALL parameter that holds it."""

    def score(setting: Setting, case: TestCase, params: Params) -> Outcome:
        cells = cells_of(setting, kind, context, options(setting))
        if case.name not in cells.test_cases:
            return Outcome(None)
        chosen = {name: params.values.get(value, value) for name, value in given.items()}
        value = metric.function(cells.by_test_case(), cells, **chosen).value[cells.test_cases.index(case.name)]
        return Outcome(float(value) if np.isfinite(value) else None)

    return score
