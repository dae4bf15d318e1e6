# SPDX-License-Identifier: Apache-2.0
"""What part of the spans is covered, without aligning them: plagdet, granularity, characters or tokens by label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from karat.contexts.spans.matching import overlaps
from karat.contexts.spans.span import Ints, Spans, counts, merged, totals

Floats = NDArray[np.float64]


def covered(spans: Spans, others: Spans) -> Ints:
    """For each span, how many of its positions lie inside any of the others."""
    pairs = overlaps(spans, merged(others))
    return totals(pairs.gold, pairs.common, len(spans)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Coverage:
    """Sums for each unit that the plagiarism-detection scores divide."""

    gold_share: Floats
    pred_share: Floats
    gold: Ints
    pred: Ints
    detections: Ints
    detected: Ints


def coverage(gold: Spans, pred: Spans, units: int) -> Coverage:
    """Shares covered, and how many detections fall on each detected gold span."""
    touches = np.bincount(overlaps(gold, pred).gold, minlength=len(gold))
    return Coverage(
        gold_share=totals(gold.unit, covered(gold, pred) / gold.length, units),
        pred_share=totals(pred.unit, covered(pred, gold) / pred.length, units),
        gold=counts(gold.unit, units),
        pred=counts(pred.unit, units),
        detections=totals(gold.unit, touches, units).astype(np.int64),
        detected=counts(gold.unit[touches > 0], units),
    )


@dataclass(frozen=True, eq=False)
class Positions:
    """Positions (characters or tokens) by unit and label, each counted once however many spans cover it."""

    unit: Ints
    label: Ints
    common: Ints
    gold: Ints
    pred: Ints


def positions(gold: Spans, pred: Spans, labels: int) -> Positions:
    """Positions of gold, of the prediction and of both, for every (unit, label) in use."""
    g, p = merged(gold.within_label(labels)), merged(pred.within_label(labels))
    pairs = overlaps(g, p)
    key, at = np.unique(np.concatenate((g.unit, p.unit)), return_inverse=True)
    gold_at, pred_at = at[: len(g)], at[len(g) :]
    columns = ((gold_at[pairs.gold], pairs.common), (gold_at, g.length), (pred_at, p.length))
    sums = (totals(rows, size, len(key)).astype(np.int64) for rows, size in columns)
    return Positions(key // max(labels, 1), key % max(labels, 1), *sums)
