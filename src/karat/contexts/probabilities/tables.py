# SPDX-License-Identifier: Apache-2.0
"""Tables beside the scores: calibration by bins, and the best threshold by each metric."""

from __future__ import annotations

import numpy as np

from karat.contexts.curve import steps
from karat.contexts.probabilities.calibration import bin_of, confidence, edges
from karat.contexts.probabilities.cells import ProbabilityCells
from karat.contexts.probabilities.thresholds import AT
from karat.evaluation import Detail

BINS = 10


def tables(cells: ProbabilityCells) -> list[Detail]:
    """What is worth a table: calibration of probabilities, thresholds of two classes."""
    out = [] if cells.trusted or cells.several or not cells.answered.any() else [calibration(cells)]
    return out + ([thresholds(cells)] if cells.binary and cells.positive is not None else [])


def calibration(cells: ProbabilityCells, bins: int = BINS) -> Detail:
    """Ten bins of equal width: how sure the system was, and how often it was right."""
    sure, right = confidence(cells, "auto")
    sure, right = sure[cells.answered], right[cells.answered]
    n, ends = cells.n[cells.answered], edges(sure, cells.n[cells.answered], bins, "uniform")
    at = bin_of(sure, ends)
    size, said, true = (np.bincount(at, n * x, bins) for x in (np.ones(len(n)), sure, right))
    rows = [
        [f"{i / bins:g} to {(i + 1) / bins:g}", int(size[i]), said[i] / size[i], true[i] / size[i]]
        for i in range(bins)
        if size[i]
    ]
    what = f"probability of {cells.classes[cells.positive]!r}" if cells.binary and cells.positive is not None else "top probability"  # fmt: skip
    return Detail("calibration", f"Calibration ({what})", ["bin", "items", "mean probability", "share true"], rows)


def thresholds(cells: ProbabilityCells) -> Detail:
    """By each metric, the threshold of the positive class at which it is best on these very data."""
    assert cells.positive is not None
    curve = cells.curves[cells.positive]
    found, rows = steps(cells.pooled(), curve), []
    if found.positives[0, 0] and found.negatives[0, 0]:
        for name in ("f1", "accuracy", "balanced_accuracy", "mcc"):
            value = AT[name](found)[0]
            k = int(value.argmax())
            rows.append([name, float(curve.value[k]), float(value[k])])
    title = "Best thresholds, tuned on these data: expect less on others"
    return Detail("thresholds", title, ["metric", "threshold", "value"], rows)
