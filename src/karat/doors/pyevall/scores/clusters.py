# SPDX-License-Identifier: Apache-2.0
"""Clustering scores from karat's clustering context."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from karat.contexts.clustering import metrics as m
from karat.doors.pyevall import codes
from karat.doors.pyevall.params import Params
from karat.doors.pyevall.result import Outcome
from karat.doors.pyevall.rows import TestCase
from karat.doors.pyevall.scores.counted import scorer
from karat.doors.pyevall.scores.setting import Setting
from karat.metric import Definition


def options(setting: Setting) -> dict[str, Any]:
    return {}


clustering = partial(scorer, "multi", "clustering", options)


def needing_pairs(metric: Definition) -> Callable[[Setting, TestCase, Params], Outcome | str]:
    """Undefined only where no two items are together, which has a code of its own."""

    def score(setting: Setting, case: TestCase, params: Params) -> Outcome | str:
        outcome = clustering(metric)(setting, case, params)
        return codes.NO_PAIRS if outcome.average is None else outcome

    return score


SCORES = {
    "Purity": clustering(m.purity),
    "InversePurity": clustering(m.inverse_purity),
    "FMeasurePurityInversePurity": clustering(m.purity_f, alpha="alfa_param"),
    "FMeasureClustering": clustering(m.larsen_f),
    "RandStatistics": clustering(m.rand),
    "Jaccard": needing_pairs(m.jaccard),
    "FolkesAndMallows": needing_pairs(m.fowlkes_mallows),
    "NMI-SG": clustering(m.nmi, mean="geometric"),
    "ReliabilityBCubed": clustering(m.bcubed_precision, variant="pyevall"),
    "SensitivityBCubed": clustering(m.bcubed_recall, variant="pyevall"),
    "Entropy": clustering(m.entropy),
    "ClassEntropy": clustering(m.class_entropy),
    "VariationOfInformation": clustering(m.variation_of_information),
}
