# SPDX-License-Identifier: Apache-2.0
"""How far a predicted distribution is from gold's, per item.

Where both sides become distributions, an item without a prediction is as far away as one can
be; the plain distances leave that to `SoftCells.lost`.
"""

from __future__ import annotations

import numpy as np

from karat.columns import Floats
from karat.contexts.groups import sums
from karat.contexts.soft.aligned import Aligned, share


def log(x: Floats, base: float) -> Floats:
    """Logarithm of ``x``, 0 where ``x`` is 0 (as in ``x log x``)."""
    return np.log(x, out=np.zeros(len(x)), where=x > 0) / np.log(base)


def cross_entropy(a: Aligned, base: float = 2.0, smoothing: float = 1e-12) -> Floats:
    return -a.sum(a.gold * log(np.maximum(a.pred, smoothing), base))


def cross_entropy_lewidi2023(a: Aligned, base: float = np.e) -> Floats:
    return -a.sum(a.gold * log(np.clip(a.pred, 1e-12, 1 - 1e-12) + 1e-9, base))


def cross_entropy_pyevall(a: Aligned, base: float = 2.0, smoothing: float = 1e-3) -> Floats:
    """As PyEvALL: labels and items that the prediction leaves out cost nothing."""
    gold = _smoothed(a, np.where(a.in_gold, a.gold, np.nan), smoothing)
    pred = _smoothed(a, np.where(a.in_pred, a.pred, np.nan), smoothing)
    both = a.in_gold & a.in_pred
    return -a.sum(np.where(both, gold * log(np.where(both, pred, 1.0), base), 0.0))


def _smoothed(a: Aligned, weight: Floats, smoothing: float) -> Floats:
    weight = np.where(weight <= 0, smoothing, weight)
    return weight / a.sum(np.nan_to_num(weight))[a.item]


def kl(a: Aligned, base: float = 2.0, smoothing: float = 1e-12) -> Floats:
    gold, pred = a.shares
    return a.sum(gold * (log(gold, base) - log(np.maximum(pred, smoothing), base)))


def js(a: Aligned, base: float = 2.0) -> Floats:
    gold, pred = a.shares
    middle = log((gold + pred) / 2, base)
    both = a.sum(gold * (log(gold, base) - middle) + pred * (log(pred, base) - middle)) / 2
    # Rounding can leave -1e-17 for equal distributions, and a square root follows.
    return np.where(a.answered, np.maximum(both, 0.0), np.log(2) / np.log(base))


def manhattan(a: Aligned) -> Floats:
    return a.sum(np.abs(a.gold - a.pred))


def binary(a: Aligned, labels: Floats) -> Floats:
    """Manhattan distance of every label's own yes and no, of ``labels`` per item; no answer is the opposite of gold.

    Weights of 0 are an answer here: independent labels may all be left unchosen.
    """
    apart = np.where(a.sum(a.in_pred.astype(float)) > 0, a.sum(np.abs(a.gold - a.pred)), _opposite(a, labels))
    return 2 * share(apart, labels)


def _opposite(a: Aligned, labels: Floats) -> Floats:
    """Labels that an item does not name have weight 0, and 1 is the opposite."""
    named = a.in_gold.astype(float)
    return a.sum(named * np.maximum(a.gold, 1 - a.gold)) + labels - a.sum(named)


def squares(a: Aligned) -> Floats:
    """Sum over labels of the squared difference."""
    return a.sum((a.gold - a.pred) ** 2)


def cosine(a: Aligned) -> Floats:
    norms = np.sqrt(a.sum(a.gold**2) * a.sum(a.pred**2))
    return share(a.sum(a.gold * a.pred), norms)


def overlap(a: Aligned) -> Floats:
    """Sum over labels of the smaller weight."""
    return a.sum(np.minimum(a.gold, a.pred))


def wasserstein(a: Aligned, positions: tuple[float, ...]) -> Floats:
    """Work to move one distribution onto the other along the axis where label k stands at ``positions[k]``."""
    position = np.array(positions)
    gold, pred = a.shares
    place = position[a.label]
    order = np.lexsort((place, a.item))
    item, place = a.item[order], place[order]
    surplus = np.cumsum((gold - pred)[order])
    start = np.searchsorted(item, np.arange(a.items))
    before = np.concatenate([[0.0], surplus])[start]
    gap = np.append(np.diff(place), 0.0)
    gap[np.append(np.diff(item) > 0, True)] = 0.0
    moved = sums(item, np.abs(surplus - before[item]) * gap, a.items)
    return np.where(a.answered, moved, _farthest(a, gold, position))


def _farthest(a: Aligned, gold: Floats, position: Floats) -> Floats:
    """The work if all predicted weight stood at the worse end."""
    place = position[a.label]
    low, high = (position.min(), position.max()) if len(position) else (0.0, 0.0)
    return np.maximum(a.sum(gold * (place - low)), a.sum(gold * (high - place)))


def largest_entropy(a: Aligned) -> float:
    """Bits of weight that is spread evenly over all labels."""
    return float(np.log2(max(a.labels, 2)))


def entropies(a: Aligned) -> tuple[Floats, Floats]:
    """Entropy in bits of gold and prediction; a missing prediction takes the value farthest from gold's."""
    gold, pred = a.shares
    of_gold, of_pred = -a.sum(gold * log(gold, 2)), -a.sum(pred * log(pred, 2))
    top = largest_entropy(a)
    return of_gold, np.where(a.answered, of_pred, np.where(of_gold < top / 2, top, 0.0))
