# SPDX-License-Identifier: Apache-2.0
"""How well a prediction meets each annotator, where gold is given as votes."""

from __future__ import annotations

from typing import Literal

import numpy as np

from karat.cells import Floats, Sparse, Weights
from karat.contexts.groups import sums
from karat.contexts.soft.cells import SoftCells
from karat.metric import MetricError, metric
from karat.score import Values, defined, mean_defined, ratio

_LEWIDI = "Leonardelli et al. 2025, LeWiDi-2025, NLPerspectives"
_NO_VOTES = "gold is not given as votes"

Average = Literal["item", "vote", "annotator"]


def _mean(W: Weights, cells: SoftCells, x: Floats, average: Average) -> Values:
    """Mean of what each gold vote gives: over the votes of each item and then the items, over votes, or annotators."""
    v = cells.votes
    if average == "annotator":
        by_annotator = Sparse.of(v.item, v.annotator, x, cells.voted.shape)
        return Values(mean_defined(ratio(W @ by_annotator, W @ cells.voted, "").value), _NO_VOTES)
    total = sums(v.item, x, len(cells))
    if average == "vote":
        return ratio(W @ total, W @ v.per_item, _NO_VOTES)
    return ratio(W @ (total / np.maximum(v.per_item, 1)), W @ (v.per_item > 0).astype(float), _NO_VOTES)


@metric(SoftCells, reference=_LEWIDI)
def perspectivist_accuracy(W: Weights, cells: SoftCells, *, average: Average = "item") -> Values:
    """Share of the annotators' votes that the prediction meets.

    A vote is met by the answer predicted for that annotator or, when predictions are not votes, by the top label.
    Averaged over items, votes or annotators. Undefined when gold is not votes.

    >>> # votes A A B, predicted A: 2 of 3
    >>> votes = [{"ann1": "A", "ann2": "A", "ann3": "B"}]
    >>> e = karat.evaluate(votes, [{"A": 1.0}], context="soft", metrics=["perspectivist_accuracy"])
    >>> round(e["perspectivist_accuracy"].value, 4)
    0.6667
    """
    return _mean(W, cells, cells.met, average)


@metric(SoftCells, better="lower", reference=_LEWIDI)
def perspectivist_error(W: Weights, cells: SoftCells, *, average: Average = "item") -> Values:
    """Share of the annotators' votes that the prediction misses: LeWiDi-2025's error rate.

    A vote is met by the answer predicted for that annotator or, when predictions are not votes, by the top label.
    Averaged over items, votes or annotators. Undefined when gold is not votes.

    >>> # votes 1 0 0, predicted 1 1 0: 1 of 3
    >>> gold, pred = [{"ann1": "1", "ann2": "0", "ann3": "0"}], [{"ann1": "1", "ann2": "1", "ann3": "0"}]
    >>> e = karat.evaluate(gold, pred, context="soft", metrics=["perspectivist_error"])
    >>> round(e["perspectivist_error"].value, 4)
    0.3333
    """
    return _mean(W, cells, 1 - cells.met, average)


@metric(SoftCells, better="lower", bounds=(0, float("inf")), reference=_LEWIDI)
def perspectivist_distance(
    W: Weights, cells: SoftCells, *, divisor: float | None = None, average: Average = "item"
) -> Values:
    """Mean of |gold − predicted| / divisor over the annotators' votes on labels with an order.

    Labels stand at their number, or as order= says; ``divisor`` is by default the distance between the outermost
    labels. Predicted is the answer for that annotator, else the top label; a missing one is as far off as can be.
    Undefined when gold is not votes, or the labels have no order.

    >>> # (|1 − 3| + |5 − 5|) / 2 votes / 4
    >>> gold, pred = [{"ann1": "1", "ann2": "5"}], [{"ann1": "3", "ann2": "5"}]
    >>> e = karat.evaluate(gold, pred, context="soft", metrics=["perspectivist_distance"])
    >>> e["perspectivist_distance"].value
    0.25
    """
    if divisor is not None and divisor <= 0:
        raise MetricError(f"divisor={divisor}: distances are divided by a number above 0")
    if cells.position is None:
        return defined(np.zeros(W.shape[0]), False, "the labels have no order: name it with order=")
    ends = cells.position.min(initial=np.inf), cells.position.max(initial=-np.inf)
    span = divisor or (ends[1] - ends[0] if ends[1] > ends[0] else 1.0)
    return _mean(W, cells, _apart(cells, cells.position, *ends) / span, average)


def _apart(cells: SoftCells, position: Floats, low: float, high: float) -> Floats:
    """Distance of each gold vote from the answer to it; without one, from the end that is farther away."""
    place, answer = position[cells.votes.label], cells.answer
    given = np.abs(place - np.append(position, 0.0)[answer])
    return np.where(answer < 0, np.maximum(place - low, high - place), given)
