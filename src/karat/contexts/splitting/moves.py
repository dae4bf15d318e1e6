# SPDX-License-Identifier: Apache-2.0
"""Minimum number of page moves (drags and drops) that turn the predicted files into the gold files.

A user keeps, for each gold file, the pages of at most one predicted file in place and drags the rest, so the least
effort is the number of pages minus the best one-to-one assignment of gold to predicted files by common pages.
Files are intervals, so in page order two overlaps conflict exactly if they share a file. With `kept` the best total
so far, and the best totals before the current gold and before the current predicted file began, each overlap is one
step of a max-plus recurrence:

    gold file begins:       before_gold <- kept;  kept <- max(kept, size + before_pred)
    predicted file begins:  before_pred <- kept;  kept <- max(kept, size + before_gold)

Steps are 3x3 max-plus matrices, multiplied pairwise in log2(longest chain) rounds for all bundles at once.
"""

from __future__ import annotations

import numpy as np

from karat.contexts.splitting.overlaps import Overlaps
from karat.contexts.splitting.pages import Bools, Floats, Ints

NEVER = -np.inf
KEPT, BEFORE_GOLD, BEFORE_PRED = range(3)


def moves(overlaps: Overlaps) -> Ints:
    """Least number of moved pages of each bundle."""
    return overlaps.pages.size - overlaps.total(_kept(overlaps)).astype(np.int64)


def _kept(overlaps: Overlaps) -> Floats:
    """Pages kept in place, on the first overlap of each chain (a chain ends where both sides begin a file)."""
    cut_gold, cut_pred = (overlaps.pages.gold_cut[overlaps.first], overlaps.pages.pred_cut[overlaps.first])
    heads = np.flatnonzero(cut_gold & cut_pred)
    chain = np.cumsum(cut_gold & cut_pred) - 1
    length = np.diff(heads, append=len(chain))
    kept = np.zeros(len(chain))
    kept[heads] = overlaps.size[heads]
    linked = length[chain] > 1
    kept[heads[length > 1]] = _reduced(_steps(overlaps.size[linked], cut_gold[linked], cut_pred[linked]), chain[linked])
    return kept


def _steps(size: Ints, cut_gold: Bools, cut_pred: Bools) -> Floats:
    """Matrix M[new, old] of each overlap."""
    steps = np.full((len(size), 3, 3), NEVER)
    rows = np.arange(len(size))
    steps[:, KEPT, KEPT] = np.where(cut_gold & cut_pred, size, 0)
    steps[rows, BEFORE_GOLD, np.where(cut_gold, KEPT, BEFORE_GOLD)] = 0
    steps[rows, BEFORE_PRED, np.where(cut_pred, KEPT, BEFORE_PRED)] = 0
    only_gold, only_pred = cut_gold & ~cut_pred, cut_pred & ~cut_gold
    steps[only_gold, KEPT, BEFORE_PRED] = size[only_gold]
    steps[only_pred, KEPT, BEFORE_GOLD] = size[only_pred]
    return steps


def _reduced(steps: Floats, chain: Ints) -> Floats:
    """Best total of each chain: the product of its matrices, last to first, applied to the zero state."""
    while len(chain) and (chain[1:] == chain[:-1]).any():
        steps, chain = _halved(steps, chain)
    return steps[:, KEPT, :].max(axis=-1)


def _halved(steps: Floats, chain: Ints) -> tuple[Floats, Ints]:
    """Multiply neighbours of the same chain pairwise."""
    rank = np.arange(len(chain)) - np.searchsorted(chain, chain)
    left = np.flatnonzero(rank % 2 == 0)
    right = np.minimum(left + 1, len(chain) - 1)
    both = (chain[right] == chain[left]) & (right > left)
    product = steps[left]
    later, earlier = steps[right[both]], steps[left[both]]
    product[both] = (later[:, :, :, None] + earlier[:, None, :, :]).max(axis=2)
    return product, chain[left]
