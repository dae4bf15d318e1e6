# SPDX-License-Identifier: Apache-2.0
"""The MUC / SemEval-2013 table: correct, incorrect, partial, missed and spurious, in four readings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from karat.contexts.spans.matching import (
    Pairs,
    best,
    in_turn,
    joined,
    overlaps,
    rivals,
    same_label,
    same_place,
    share,
    turns,
)
from karat.contexts.spans.span import Bools, Ints, Spans

READINGS = ("strict", "exact", "partial", "type")
COR, INC, PAR, MIS, SPU = range(5)
OUTCOMES = ("correct", "incorrect", "partial", "missed", "spurious")


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What became of every span: an outcome code for each row."""

    gold: NDArray[np.int8]
    pred: NDArray[np.int8]


def alignment(gold: Spans, pred: Spans, *, threshold: float = 0.0, of: str = "gold") -> Pairs:
    """The one order-free alignment from which all four readings are scored."""
    return best(gold, pred, _enough(gold, pred, threshold, of))


def _enough(gold: Spans, pred: Spans, threshold: float, of: str) -> Pairs:
    pairs = overlaps(gold, pred)
    return pairs.take(share(gold, pred, pairs, of) >= threshold) if threshold > 0 else pairs


Fits = Mapping[str, Bools]


def all_fits(gold: Spans, pred: Spans, pairs: Pairs) -> Fits:
    """For each reading, which pairs are right."""
    place, label = same_place(gold, pred, pairs), same_label(gold, pred, pairs)
    return {"strict": place & label, "exact": place, "partial": place, "type": label}


def outcomes(gold: Spans, pred: Spans, aligned: Pairs, reading: str, fits: Bools | None = None) -> Outcomes:
    """Read an alignment: what does not fit the reading is incorrect (partial in the partial reading)."""
    fits = all_fits(gold, pred, aligned)[reading] if fits is None else fits
    code = np.where(fits, np.int8(COR), np.int8(PAR if reading == "partial" else INC))
    out = Outcomes(np.full(len(gold), MIS, np.int8), np.full(len(pred), SPU, np.int8))
    out.gold[aligned.gold] = out.pred[aligned.pred] = code
    return out


class Greedy:
    """nervaluate 1.2.1's alignments, one for each reading: predictions in row order, first come first served.

    Ends must be given half open; nervaluate reads ends as inclusive, so add 1 to its ends.
    """

    def __init__(self, gold: Spans, pred: Spans, pairs: Pairs) -> None:
        self.gold, self.pred = gold, pred
        hard = rivals(pairs)
        self.lone, self.hard = pairs.take(~hard), pairs.take(hard)
        self.turn = turns(self.hard)
        self.lone_fits, self.hard_fits = (all_fits(gold, pred, part) for part in (self.lone, self.hard))

    @classmethod
    def of(cls, gold: Spans, pred: Spans, threshold: float = 0.01) -> Greedy:
        """Percentages are rounded as nervaluate rounds them: the last bit decides ties at the threshold."""
        pairs = overlaps(gold, pred)
        return cls(gold, pred, pairs.take(share(gold, pred, pairs) * 100.0 >= threshold * 100.0))

    def inside_labels(self) -> Greedy:
        """The same with every label alone, as nervaluate scores its labels."""
        pairs = joined([self.lone, self.hard])
        return Greedy(self.gold, self.pred, pairs.take(same_label(self.gold, self.pred, pairs)))

    def outcomes(self, reading: str) -> Outcomes:
        chosen = in_turn(self.hard, self.turn, self._cost(reading))
        aligned = joined([self.lone, self.hard.take(chosen)])
        fits = np.concatenate((self.lone_fits[reading], self.hard_fits[reading][chosen]))
        return outcomes(self.gold, self.pred, aligned, reading, fits)

    def _cost(self, reading: str) -> Ints:
        """A fitting gold span before any other; in the type reading the nearest boundaries first."""
        misfit = ~self.hard_fits[reading]
        if reading != "type":
            return misfit.astype(np.int64)
        gold, pred, g, p = self.gold, self.pred, self.hard.gold, self.hard.pred
        distance = np.abs(pred.start[p] - gold.start[g]) + np.abs(pred.end[p] - gold.end[g])
        return np.where(misfit, np.iinfo(np.int64).max, distance)


def tally(outcomes: Outcomes, gold: Spans, pred: Spans, labels: int) -> Ints:
    """Counts by label and outcome; matched spans count under their gold label, spurious ones under their own."""
    counts = np.bincount(gold.label * 5 + outcomes.gold, minlength=labels * 5).reshape(labels, 5)
    spurious = np.bincount(pred.label * 2 + (outcomes.pred == SPU), minlength=labels * 2).reshape(labels, 2)
    counts[:, SPU] += spurious[:, 1]
    return counts


def precision_recall_f1(counts: Ints, *, half: bool) -> tuple[NDArray[np.float64], ...]:
    """Precision, recall and F1 of rows of outcome counts, 0 where nothing was counted (the peers' convention)."""
    right = counts[..., COR] + 0.5 * counts[..., PAR] * half
    precision = _divided(right, counts[..., [COR, INC, PAR, SPU]].sum(-1))
    recall = _divided(right, counts[..., [COR, INC, PAR, MIS]].sum(-1))
    return precision, recall, _divided(2 * (precision * recall), precision + recall)


def _divided(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(above, below, out=np.zeros_like(below, dtype=np.float64), where=below > 0)
