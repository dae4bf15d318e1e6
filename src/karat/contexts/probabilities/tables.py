# SPDX-License-Identifier: Apache-2.0
"""Tables beside the scores: calibration by bins, and the best threshold by each metric."""

from __future__ import annotations

from typing import Any

import numpy as np

from karat.contexts.curve import first_best, steps
from karat.contexts.lazy_table import LaterDetail
from karat.contexts.probabilities.calibration import bin_of, confidence, edges
from karat.contexts.probabilities.cells import ProbabilityCells
from karat.contexts.probabilities.thresholds import AT
from karat.evaluation import Detail

BINS = 10


def tables(cells: ProbabilityCells) -> list[Detail]:
    """What is worth a table: calibration of probabilities, thresholds of two classes."""
    out: list[Detail] = []
    if not (cells.trusted or cells.several) and cells.answered.any():
        columns = ["bin", "items", "mean probability", "share true"]
        out.append(LaterDetail("calibration", f"Calibration ({judged(cells)})", columns, lambda: reliability(cells)))
    if cells.binary and cells.positive is not None:
        title = "Best thresholds, tuned on these data: expect less on others"
        out.append(LaterDetail("thresholds", title, ["metric", "threshold", "value"], lambda: best(cells)))
    return out


def judged(cells: ProbabilityCells) -> str:
    """What the calibration is of."""
    positive = cells.positive if cells.binary else None
    return "top probability" if positive is None else f"probability of {cells.classes[positive]!r}"


def reliability(cells: ProbabilityCells, bins: int = BINS) -> list[list[Any]]:
    """Bin of equal width, items, mean probability and share that came true, of the bins that hold any."""
    sure, right = confidence(cells, "auto")
    weight = cells.n if cells.weight is None else cells.n * cells.weight
    sure, right, n = sure[cells.answered], right[cells.answered], weight[cells.answered]
    at = bin_of(sure, edges(sure, cells.n, bins, "uniform"))
    size, stated, true = (np.bincount(at, n * x, bins) for x in (np.ones(len(n)), sure, right))
    return [
        [f"{i / bins:g}–{(i + 1) / bins:g}", int(size[i]), float(stated[i] / size[i]), float(true[i] / size[i])]
        for i in range(bins)
        if size[i]
    ]


def best(cells: ProbabilityCells) -> list[list[Any]]:
    """By each metric, the threshold of the positive class at which it is best on these very data, and its value."""
    assert cells.positive is not None
    curve = cells.curves[cells.positive]
    thresholds = steps(cells.all_items(), curve)
    if not (thresholds.positives[0, 0] and thresholds.negatives[0, 0]):
        return []
    rows: list[list[Any]] = []
    for name in ("f1", "accuracy", "balanced_accuracy", "mcc"):
        value = AT[name](thresholds)[0]
        k = int(first_best(value))
        rows.append([name, float(curve.value[k]), float(value[k])])
    return rows
