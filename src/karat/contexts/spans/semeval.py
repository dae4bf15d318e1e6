# SPDX-License-Identifier: Apache-2.0
"""The MUC / SemEval-2013 table: correct, incorrect, partial, missed and spurious, in four readings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from karat.contexts.spans.matching import Pairs, best, first_come, overlaps, same_label, same_place, share
from karat.contexts.spans.span import Bools, Ints, Spans

READINGS = ("strict", "exact", "partial", "type")
COR, INC, PAR, MIS, SPU = range(5)
OUTCOMES = ("correct", "incorrect", "partial", "missed", "spurious")


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What became of every span: `gold` and `pred` hold an outcome code for each row, `partner` the gold's prediction."""

    gold: NDArray[np.int8]
    pred: NDArray[np.int8]
    partner: Ints


def alignment(gold: Spans, pred: Spans, *, threshold: float = 0.0, of: str = "gold") -> Pairs:
    """The one order-free alignment from which all four readings are scored."""
    return best(gold, pred, _enough(gold, pred, threshold, of))


def _enough(gold: Spans, pred: Spans, threshold: float, of: str) -> Pairs:
    pairs = overlaps(gold, pred)
    return pairs.take(share(gold, pred, pairs, of) >= threshold) if threshold > 0 else pairs


def outcomes(gold: Spans, pred: Spans, aligned: Pairs, reading: str) -> Outcomes:
    """Read an alignment: what does not fit the reading is incorrect (partial in the partial reading)."""
    fits = fitting(gold, pred, aligned, reading)
    code = np.where(fits, COR, PAR if reading == "partial" else INC)
    out = Outcomes(np.full(len(gold), MIS, np.int8), np.full(len(pred), SPU, np.int8), np.full(len(gold), -1))
    out.gold[aligned.gold] = out.pred[aligned.pred] = code
    out.partner[aligned.gold] = aligned.pred
    return out


def fitting(gold: Spans, pred: Spans, aligned: Pairs, reading: str) -> Bools:
    place, label = same_place(gold, pred, aligned), same_label(gold, pred, aligned)
    return {"strict": place & label, "exact": place, "partial": place, "type": label}[reading]


def greedy_outcomes(
    gold: Spans, pred: Spans, reading: str, *, threshold: float = 0.01, pairs: Pairs | None = None
) -> Outcomes:
    """nervaluate 1.2.1's reading: an alignment of its own for each, predictions in row order, first come first served.

    Ends must be given half open; nervaluate reads ends as inclusive, so add 1 to its ends.
    """
    pairs = _enough_as_nervaluate(gold, pred, threshold) if pairs is None else pairs
    aligned = first_come(gold, pred, pairs, _greedy_cost(gold, pred, pairs, reading))
    return outcomes(gold, pred, aligned, reading)


def _enough_as_nervaluate(gold: Spans, pred: Spans, threshold: float) -> Pairs:
    """Percentages, rounded as nervaluate rounds them: the last bit decides ties at the threshold."""
    pairs = overlaps(gold, pred)
    return pairs.take(share(gold, pred, pairs) * 100.0 >= threshold * 100.0)


def _greedy_cost(gold: Spans, pred: Spans, pairs: Pairs, reading: str) -> Ints:
    """A fitting gold span before any other; in the type reading the nearest boundaries first."""
    misfit = ~fitting(gold, pred, pairs, reading)
    if reading != "type":
        return misfit.astype(np.int64)
    g, p = pairs.gold, pairs.pred
    distance = np.abs(pred.start[p] - gold.start[g]) + np.abs(pred.end[p] - gold.end[g])
    return np.where(misfit, np.iinfo(np.int64).max, distance)


def greedy_table(gold: Spans, pred: Spans, labels: int, *, threshold: float = 0.01) -> tuple[Ints, Ints]:
    """nervaluate's whole table: counts by (reading, outcome), and by (reading, label, outcome) matched inside a label."""
    pairs = _enough_as_nervaluate(gold, pred, threshold)
    inside = pairs.take(same_label(gold, pred, pairs))
    each = [
        [tally(greedy_outcomes(gold, pred, reading, pairs=some), gold, pred, labels) for reading in READINGS]
        for some in (pairs, inside)
    ]
    return np.array(each[0]).sum(1), np.array(each[1])


def table(gold: Spans, pred: Spans, aligned: Pairs, labels: int) -> Ints:
    """Counts by (reading, label, outcome) of one alignment."""
    return np.array([tally(outcomes(gold, pred, aligned, reading), gold, pred, labels) for reading in READINGS])


def tally(found: Outcomes, gold: Spans, pred: Spans, labels: int) -> Ints:
    """Counts by label and outcome; matched spans count under their gold label, spurious ones under their own."""
    counts = np.bincount(gold.label * 5 + found.gold, minlength=labels * 5)
    spurious = found.pred == SPU
    counts += np.bincount(pred.label[spurious] * 5 + SPU, minlength=labels * 5)
    return counts.reshape(labels, 5)


def precision_recall_f1(counts: Ints, *, half: bool) -> tuple[NDArray[np.float64], ...]:
    """Precision, recall and F1 of rows of outcome counts, 0 where nothing was counted (the peers' convention)."""
    right = counts[..., COR] + 0.5 * counts[..., PAR] * half
    precision = _divided(right, counts[..., [COR, INC, PAR, SPU]].sum(-1))
    recall = _divided(right, counts[..., [COR, INC, PAR, MIS]].sum(-1))
    return precision, recall, _divided(2 * (precision * recall), precision + recall)


def _divided(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(above, below, out=np.zeros_like(below, dtype=np.float64), where=below > 0)
