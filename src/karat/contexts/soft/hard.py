# SPDX-License-Identifier: Apache-2.0
"""From weights to labels: majority and threshold, and how well confidence matches success."""

from __future__ import annotations

import numpy as np

from karat.columns import Floats, Ints, Mask, firsts
from karat.contexts.soft.aligned import Aligned


def majority(a: Aligned, weight: Floats) -> Mask:
    """Rows that hold their item's largest weight; of equal weights the first label wins."""
    order = np.lexsort((a.label, -weight, a.item))
    first = firsts(a.item[order])
    out = np.zeros(len(order), bool)
    out[order[first]] = True
    return out & (weight > 0)


def harden(a: Aligned, weight: Floats, how: str, at: float = 0.5) -> Mask:
    """Rows that become labels: by ``majority`` (one an item) or by ``threshold`` (any number, of weight ``at`` or more)."""
    if how == "majority":
        return majority(a, weight)
    if how == "threshold":
        return (weight >= at) & (weight > 0)
    raise ValueError(f"harden is majority or threshold, not {how!r}")


def tied(a: Aligned, weight: Floats) -> Mask:
    """Items in which several labels share the largest weight."""
    top = np.zeros(a.items)
    np.maximum.at(top, a.item, weight)
    at_top = np.bincount(a.item, (weight == top[a.item]) & (weight > 0), a.items)
    return np.asarray(at_top > 1)


def confidence(a: Aligned) -> tuple[Floats, Floats, Floats]:
    """Per item: the top predicted share, whether that label is gold's majority, and gold's share of it.

    A missing prediction is certain and wrong, so that silence is never calibrated.
    """
    gold, pred = a.shares
    chosen = majority(a, pred) & a.answered[a.item]
    sure = np.where(a.answered, a.sum(pred * chosen), 1.0)
    return sure, a.sum((chosen & majority(a, gold)).astype(float)), a.sum(gold * chosen)


def bin_of(sure: Floats, count: int) -> Ints:
    """Equal-width bin of each confidence; bin i holds (i/count, (i+1)/count], and 0 goes to the first.

    Shares are sums of floats, so that 0.4 may come as 0.4 + 1e-16: rounding keeps it on its side of the edge.
    """
    return np.clip(np.ceil(np.round(sure * count, 9)).astype(np.int64) - 1, 0, count - 1)
