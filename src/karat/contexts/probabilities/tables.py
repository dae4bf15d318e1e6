# SPDX-License-Identifier: Apache-2.0
"""Tables beside the scores: calibration by bins, and the best threshold by each metric; both weigh items as scores do."""

from __future__ import annotations

from typing import Any

import numpy as np

from karat.contexts.curve import first_best, steps
from karat.contexts.groups import DUST
from karat.contexts.lazy_table import LaterDetail
from karat.contexts.probabilities.calibration import bin_of, confidence, edges
from karat.contexts.probabilities.cells import ProbabilityCells
from karat.contexts.probabilities.thresholds import AT, never
from karat.evaluation import Detail

BINS = 10


def tables(cells: ProbabilityCells) -> list[Detail]:
    """What is worth a table: calibration of probabilities, thresholds of two classes."""
    out: list[Detail] = []
    size, by = ("items", "") if cells.weight is None else ("weight", ", by weight")
    if not (cells.trusted or cells.several) and cells.answered.any():
        columns, title = ["bin", size, "mean probability", "share true"], f"Calibration ({judged(cells)}){by}"
        out.append(LaterDetail("calibration", title, columns, lambda: reliability(cells)))
    if cells.binary and cells.positive is not None:
        title = f"Best thresholds{by}, tuned on these data: expect less on others"
        out.append(LaterDetail("thresholds", title, ["metric", "threshold", "value"], lambda: best(cells)))
    return out


def judged(cells: ProbabilityCells) -> str:
    """What the calibration is of."""
    positive = cells.positive if cells.binary else None
    return "top probability" if positive is None else f"probability of {cells.classes[positive]!r}"


def reliability(cells: ProbabilityCells, bins: int = BINS) -> list[list[Any]]:
    """Bin of equal width, items (or what they weigh), mean probability and share that came true, of the bins that hold any."""
    sure, right = confidence(cells, "auto")
    sure, right, n = sure[cells.answered], right[cells.answered], cells.mass[cells.answered]
    at = bin_of(sure, edges(sure, cells.n, bins, "uniform"))
    size, stated, true = (np.bincount(at, n * x, bins) for x in (np.ones(len(n)), sure, right))
    number = int if cells.weight is None else float
    return [
        [f"{i / bins:g}–{(i + 1) / bins:g}", number(size[i]), float(stated[i] / size[i]), float(true[i] / size[i])]
        for i in range(bins)
        if size[i]
    ]


def best(cells: ProbabilityCells) -> list[list[Any]]:
    """By each metric, the threshold of the positive class at which it is best on these very data, and its value.

    Items without a score lie beyond all thresholds: where one of them is in the best list, or no item is, words say so.
    """
    assert cells.positive is not None
    curve = cells.curves[cells.positive]
    thresholds = steps(cells.all_items(), curve)
    if not (thresholds.positives[0, 0] and thresholds.negatives[0, 0]):
        return []
    rows: list[list[Any]] = []
    for name in ("f1", "accuracy", "balanced_accuracy", "mcc"):
        value, none = AT[name](thresholds)[0], float(AT[name](never(thresholds))[0, 0])
        k = int(first_best(value))
        at = float(curve.value[k])
        if none > value[k] + DUST:
            rows.append([name, "none predicted", none])
        else:
            rows.append([name, at if np.isfinite(at) else "all predicted", float(value[k])])
    return rows
