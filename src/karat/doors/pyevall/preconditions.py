# SPDX-License-Identifier: Apache-2.0
"""What must hold in a test case before a metric is computed on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from karat.doors.pyevall import codes
from karat.doors.pyevall.names import METRICS
from karat.doors.pyevall.rows import TestCase

NO_HIERARCHY = ("Accuracy", "SystemPrecision", "Kappa", "Precision", "Recall", "FMeasure", "CrossEntropy", "MAE")
NEED_HIERARCHY = ("ICM", "ICMNorm")
ALL_ITEMS = ("RandStatistics", "Jaccard", "FolkesAndMallows", "Entropy", "ClassEntropy")
PARTITION = (*ALL_ITEMS, "NMI-SG")


def unmet(metric: str, case: TestCase, hierarchy: Any, strict: bool) -> Iterator[str]:
    """The codes that apply, in the order in which PyEvALL looks; it ends at the first that fails the metric."""
    if case.kind not in METRICS[metric].kinds:
        yield codes.WRONG_CONTEXT
        return
    if metric == "Kappa":
        yield from chance(case)
    if hierarchy is not None and metric in NO_HIERARCHY:
        yield codes.HIERARCHY_UNUSED
    if metric in NEED_HIERARCHY and case.kind == "multi" and hierarchy is None:
        yield codes.NEEDS_HIERARCHY
    if case.kind == "ranking" and tied(case.gold if strict else case.pred):
        yield codes.TIED_RELEVANCE
    if metric in ALL_ITEMS and set(case.gold) - set(case.pred):
        yield codes.GOLD_ITEMS_MISSING
    elif metric in PARTITION and any(len(labels) > 1 for side in (case.gold, case.pred) for labels in side.values()):
        yield codes.OVERLAP


def chance(case: TestCase) -> Iterator[str]:
    """Kappa has nothing to correct for without predictions, or where both sides use one class only."""
    if not case.pred:
        yield codes.NO_PREDICTIONS
    elif len({*case.gold.values(), *case.pred.values()}) == 1 and set(case.gold) == set(case.pred):
        yield codes.ONE_CLASS


def tied(values: Mapping[str, Any]) -> bool:
    return len(set(values.values())) < len(values)
