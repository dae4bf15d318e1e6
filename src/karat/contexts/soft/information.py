# SPDX-License-Identifier: Apache-2.0
"""Information of weighted label sets over a label tree: what icm_soft is made of.

The recursive definition over deepest common ancestors equals a sum over nodes. With ``v_c``
the largest weight at or below node ``c``, ``IC(S) = Σ_c I(c, v_c) − I(parent(c), v_c)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.contexts.groups import DENSE, Floats, Ints, Mask, distinct, sums
from karat.contexts.soft.aligned import Aligned


@dataclass(frozen=True, eq=False)
class Spread:
    """How gold's weights are spread, by test case (rows) and node (columns)."""

    n: Floats
    mean: Floats
    deviation: Floats
    absolute: Floats
    """Mean absolute deviation, which PyEvALL uses in place of the standard deviation."""
    named: Mask
    """Whether gold (or its tree) knows the node at all."""
    silent: Mask
    """Nodes without a name, which PyEvALL gives no information."""


def climb(label: Ints, parent: Ints) -> tuple[Ints, Ints]:
    """Every (row, node) such that node is the row's label or one of its ancestors."""
    rows, nodes = [np.arange(len(label))], [label]
    while len(rows[-1]):
        up = parent[nodes[-1]]
        rows.append(rows[-1][up >= 0])
        nodes.append(up[up >= 0])
    return np.concatenate(rows), np.concatenate(nodes)


def raised(a: Aligned, parent: Ints) -> Aligned:
    """The same weights on labels and their ancestors, each node with the largest weight at or below it."""
    if (parent < 0).all():
        return a
    if a.items * a.labels <= DENSE * len(a.item):
        return _raised_table(a, parent)
    row, node = climb(a.label, parent)
    key, place = distinct(a.item[row] * a.labels + node)

    def top(x: Floats) -> Floats:
        out = np.zeros(len(key))
        np.maximum.at(out, place, x[row])
        return out

    in_gold, in_pred = (top(x.astype(float)) > 0 for x in (a.in_gold, a.in_pred))
    return Aligned(key // a.labels, key % a.labels, top(a.gold), top(a.pred), in_gold, in_pred, a.items, a.labels)


def _raised_table(a: Aligned, parent: Ints) -> Aligned:
    """The same where most labels have weights in most items: a row for each node, the deepest handed up first."""
    depth = np.bincount(climb(np.arange(len(parent)), parent)[0], minlength=len(parent))
    nodes = [node for node in np.argsort(-depth, kind="stable").tolist() if parent[node] >= 0]

    def top(x: Any) -> Any:
        table = np.zeros((a.labels, a.items), x.dtype)
        table[a.label, a.item] = np.maximum(x, 0)
        for node in nodes:
            np.maximum(table[parent[node]], table[node], out=table[parent[node]])
        return table.T

    in_gold, in_pred = top(a.in_gold), top(a.in_pred)
    item, label = np.nonzero(top(np.ones(len(a.item), bool)))
    at = (item, label)
    return Aligned(item, label, top(a.gold)[at], top(a.pred)[at], in_gold[at], in_pred[at], a.items, a.labels)


def spread(a: Aligned, test_case: Ints, count: Floats, test_cases: int, tree: Mask, silent: Mask) -> Spread:
    """Mean and deviations of gold's (raised) weights; a node that an item lacks has weight 0 there."""
    shape = (test_cases, a.labels)
    cell = test_case[a.item] * a.labels + a.label
    many = count[a.item]

    def total(x: Floats) -> Floats:
        return sums(cell, x, test_cases * a.labels).reshape(shape)

    n = sums(test_case, count, test_cases)[:, None]
    absent = n - total(many)
    size = np.maximum(n, 1)
    mean = total(a.gold * many) / size
    off = a.gold - mean.ravel()[cell]
    varies = _varies(a.gold, cell, absent)
    deviation = np.sqrt((total(off**2 * many) + absent * mean**2) / size)
    absolute = (total(np.abs(off) * many) + absent * mean) / size
    named = (total(a.in_gold * many) > 0) | tree[None, :]
    return Spread(n, mean, deviation * varies, absolute * varies, named, silent)


def _varies(gold: Floats, cell: Ints, absent: Floats) -> Mask:
    """Whether a node's weight differs between items: on the weights, not on a rounded deviation."""
    low, high = np.full(absent.size, np.inf), np.full(absent.size, -np.inf)
    np.minimum.at(low, cell, gold)
    np.maximum.at(high, cell, gold)
    lacks = absent.ravel() > 0
    low, high = np.where(lacks, np.minimum(low, 0), low), np.where(lacks, np.maximum(high, 0), high)
    return (high > low).reshape(absent.shape)


def paper_information(s: Spread, test_case: Ints, node: Ints, weight: Floats) -> Floats:
    """−log2 P(agreement ≥ weight) under a normal with gold's mean and standard deviation.

    The logarithm of the survival function is taken directly, so it grows with the weight without
    end. Where gold never varies, no weight up to gold's is news and a larger one is 1 in n.
    """
    mean, deviation, n = s.mean[test_case, node], s.deviation[test_case, node], s.n[test_case, 0]
    z = np.divide(weight - mean, deviation, out=np.zeros(len(mean)), where=deviation > 0)
    constant = np.where(weight > mean + 1e-12, np.log2(np.maximum(n, 1)), 0.0)
    from scipy.special import log_ndtr  # importing scipy takes longer than most evaluations

    bits = np.where(deviation > 0, -log_ndtr(-z) / np.log(2), constant)
    return np.where(weight > 0, bits, 0.0)


def pyevall_information(s: Spread, test_case: Ints, node: Ints, weight: Floats) -> Floats:
    """PyEvALL's estimate: mean absolute deviation, and log2 n where 1 − Φ underflows to 0.

    Where gold never varies PyEvALL stops; here a weight up to gold's is no news, and a larger one has 1 − Φ = 0.
    """
    cell = test_case * s.mean.shape[1] + node
    mean, deviation, named = (x.ravel()[cell] for x in (s.mean, s.absolute, s.named))
    rarest = np.log2(np.maximum(s.n[:, 0], 1))[test_case]
    beyond = np.where(weight > mean + 1e-12, np.inf, -np.inf)
    z = np.divide(weight - mean, deviation, out=beyond, where=deviation > 0)
    from scipy.special import erf

    tail = 1.0 - 0.5 * (1.0 + erf(z / np.sqrt(2.0)))
    bits = np.where(tail > 0, -np.log2(np.where(tail > 0, tail, 1.0)), rarest)
    bits = np.where(named, np.where(weight != 0, bits, 0.0), rarest)
    return np.where(s.silent[node], 0.0, bits)


BLOCK = 1 << 15
"""Rows measured at once: a dozen columns of this length stay in the processor's cache."""

INFORMATION = {"paper": paper_information, "pyevall": pyevall_information}


def information(
    a: Aligned, s: Spread, test_case: Ints, parent: Ints, variant: str = "paper"
) -> tuple[Floats, Floats, Floats]:
    """IC of gold, of the prediction and of their union, per item; ``a`` must be raised."""
    measure = INFORMATION[variant]
    case, up = test_case[a.item], parent[a.label]

    def bits(case: Ints, node: Ints, up: Ints, weight: Floats) -> Floats:
        out, inner = measure(s, case, node, weight), np.flatnonzero(up >= 0)
        out[inner] -= measure(s, case[inner], up[inner], weight[inner])
        return out

    def of(weight: Floats) -> Floats:
        parts = [slice(start, start + BLOCK) for start in range(0, len(weight), BLOCK)]
        return np.concatenate([np.zeros(0), *(bits(case[p], a.label[p], up[p], weight[p]) for p in parts)])

    gold, pred = of(a.gold), of(a.pred)
    union = np.where(a.gold >= a.pred, gold, pred)
    return a.sum(gold * a.in_gold), a.sum(pred * a.in_pred), a.sum(union)
