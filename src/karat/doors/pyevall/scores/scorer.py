# SPDX-License-Identifier: Apache-2.0
"""Which function scores which metric: PyEvALL's own where strict asks for its oddities, else karat's."""

from __future__ import annotations

from collections.abc import Callable

from karat.doors.pyevall.differences import remarks
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
from karat.doors.pyevall.scores.setting import Scores, Setting
from karat.findings import InputError
from karat.metric import MetricError

Score = Callable[[Setting, TestCase, Params], Outcome | str]
KARAT: dict[str, Score] = {**labels.SCORES, **weights.SCORES, **ranks.SCORES, **clusters.SCORES}
ODD: dict[str, Score] = {**odd_labels.SCORES, **odd_weights.SCORES, **odd_ranks.SCORES, **odd_clusters.SCORES}


def score(scores: Scores, metric: str, case: TestCase, params: Params, setting: Setting) -> Outcome | str:
    """The score, or the code of what forbids it; by default nothing raises and no test case knows of another."""
    if scores.strict:
        return {**KARAT, **ODD}[metric](setting, case, params)
    for what in remarks(metric, case, scores.cases):
        scores.note(what)
    try:
        return KARAT[metric](Setting(scores), case, params)
    except (InputError, MetricError) as error:
        scores.add(error.findings if isinstance(error, InputError) else [])
        return Outcome(None)
