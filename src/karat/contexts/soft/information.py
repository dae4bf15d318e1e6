# SPDX-License-Identifier: Apache-2.0
"""Information of weighted label sets over a label tree: what icm_soft is made of.

The recursive definition over deepest common ancestors equals a sum over nodes. With ``v_c``
the largest weight at or below node ``c``, ``IC(S) = Σ_c I(c, v_c) − I(parent(c), v_c)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from karat.columns import DENSE, Floats, Ints, Mask, distinct
from karat.contexts.groups import less, sums
from karat.contexts.soft.aligned import Aligned


class Nodes(NamedTuple):
    """What is known of the nodes of some weights: a number for each weight."""

    mean: Floats
    deviation: Floats
    rarest: Floats
    """Bits of what is 1 in all items of the test case."""
    named: Mask
    silent: Mask


@dataclass(frozen=True, eq=False)
class Spread:
    """How gold's weights are spread, by test case (rows) and node (columns)."""

    n: Floats
    one: Floats
    """What one item counts, of all that they count together, `n`."""
    mean: Floats
    deviation: Floats
    absolute: Floats
    """Mean absolute deviation, which PyEvALL uses in place of the standard deviation."""
    named: Mask
    """Whether gold (or its tree) knows the node at all."""
    silent: Mask
    """Nodes without a name, which PyEvALL gives no information."""

    def at(self, case: Ints, node: Ints, variant: str) -> Nodes:
        """What is known of nodes of test cases."""
        cell = case * self.mean.shape[1] + node
        deviation = self.deviation if variant == "paper" else self.absolute
        mean, off, named = (x.ravel()[cell] for x in (self.mean, deviation, self.named))
        return Nodes(mean, off, self.rarest[case], named, self.silent[node])

    @cached_property
    def rarest(self) -> Floats:
        """Bits of what is 1 in all items of a test case."""
        return np.log2(np.maximum(self.n[:, 0] / self.one, 1))


def climb(label: Ints, parent: Ints) -> tuple[Ints, Ints]:
    """Every (row, node) such that node is the row's label or one of its ancestors."""
    rows, nodes = [np.arange(len(label))], [label]
    while len(rows[-1]):
        up = parent[nodes[-1]]
        rows.append(rows[-1][up >= 0])
        nodes.append(up[up >= 0])
    return np.concatenate(rows), np.concatenate(nodes)


@dataclass(frozen=True, eq=False)
class Raised:
    """Weights of labels and their ancestors, each node with the largest weight at or below it.

    They stand by item within each node: items with equal gold stand together, and so do their weights of a node.
    """

    of: Aligned
    node: Ints
    item: Ints
    top: Callable[[Any], Any]
    """What each node has of a column of the labels."""

    @cached_property
    def gold(self) -> Floats:
        return self.top(self.of.gold)  # type: ignore[no-any-return]

    @cached_property
    def pred(self) -> Floats:
        return self.top(self.of.pred)  # type: ignore[no-any-return]

    @cached_property
    def in_gold(self) -> Mask:
        return self._named(self.of.in_gold)

    @cached_property
    def in_pred(self) -> Mask:
        return self._named(self.of.in_pred)

    def _named(self, known: Mask) -> Mask:
        return np.ones(len(self.item), bool) if known.all() else self.top(known)

    def sum(self, x: Floats) -> Floats:
        """Sum of ``x`` over the nodes of each item, one after the other."""
        return sums(self.item, x, self.of.items)


def raised(a: Aligned, parent: Ints) -> Raised:
    """The weights of labels and their ancestors."""
    if (parent < 0).all():
        return Raised(a, a.label, a.item, lambda x: x)
    if a.items * a.labels <= DENSE * len(a.item):
        return _raised_table(a, parent)
    row, node = climb(a.label, parent)
    key, place = distinct(node * a.items + a.item[row])

    def top(x: Any) -> Any:
        out = np.zeros(len(key), x.dtype)
        np.maximum.at(out, place, x[row])
        return out

    return Raised(a, *np.divmod(key, a.items), top)


def _raised_table(a: Aligned, parent: Ints) -> Raised:
    """The same where most labels have weights in most items: a row for each node, the deepest handed up first."""
    depth = np.bincount(climb(np.arange(len(parent)), parent)[0], minlength=len(parent))
    nodes = [node for node in np.argsort(-depth, kind="stable").tolist() if parent[node] >= 0]
    at = a.label * np.int64(a.items) + a.item

    def table(x: Any) -> Any:
        out = np.zeros((a.labels, a.items), x.dtype)
        out.ravel()[at] = np.maximum(x, 0)
        for node in nodes:
            np.maximum(out[parent[node]], out[node], out=out[parent[node]])
        return out.ravel()

    there = table(np.ones(len(a.item), bool))
    if there.all():
        node, item = np.repeat(np.arange(a.labels), a.items), np.tile(np.arange(a.items), a.labels)
        return Raised(a, node, item, table)
    used = np.flatnonzero(there)
    return Raised(a, *np.divmod(used, a.items), lambda x: table(x)[used])


def spread(
    a: Aligned,
    test_case: Ints,
    count: Floats,
    test_cases: int,
    parent: Ints,
    tree: Mask,
    silent: Mask,
    one: Floats,
) -> Spread:
    """Mean and deviations of gold's raised weights; a node that an item lacks has weight 0 there."""
    shape = (test_cases, a.labels)
    many, sum_of, known = (np.zeros(test_cases * a.labels) for _ in range(3))
    low, high = np.full(len(many), np.inf), np.full(len(many), -np.inf)
    for items, part in a.blocks():
        up, cell, weight = _of_nodes(part, items, test_case, count, parent)
        for out, x in ((many, weight), (sum_of, up.gold * weight), (known, up.in_gold * weight)):
            np.add.at(out, cell, x)  # one after the other, as if all were summed at once
        np.minimum.at(low, cell, up.gold)
        np.maximum.at(high, cell, up.gold)
    n = sums(test_case, count, test_cases)[:, None]
    absent, size = less(n, many.reshape(shape)), np.maximum(n, one[:, None])
    mean = sum_of.reshape(shape) / size
    squares, apart = np.zeros_like(many), np.zeros_like(many)
    for items, part in a.blocks():
        up, cell, weight = _of_nodes(part, items, test_case, count, parent)
        off = up.gold - mean.ravel()[cell]
        np.add.at(squares, cell, off**2 * weight)
        np.add.at(apart, cell, np.abs(off) * weight)
    varies = _varies(low, high, absent)
    deviation = np.sqrt((squares.reshape(shape) + absent * mean**2) / size)
    absolute = (apart.reshape(shape) + absent * mean) / size
    named = (known.reshape(shape) > 0) | tree[None, :]
    return Spread(n, one, mean, deviation * varies, absolute * varies, named, silent)


def _of_nodes(part: Aligned, items: slice, test_case: Ints, count: Floats, parent: Ints) -> tuple[Raised, Ints, Floats]:
    """Some items with the weights of all nodes, the test case and node of each as one number, and what each item counts."""
    up = raised(part, parent)
    return up, test_case[items][up.item] * part.labels + up.node, count[items][up.item]


def _varies(low: Floats, high: Floats, absent: Floats) -> Mask:
    """Whether a node's weight differs between items: on the weights, not on a rounded deviation."""
    lacks = absent.ravel() > 0
    low, high = np.where(lacks, np.minimum(low, 0), low), np.where(lacks, np.maximum(high, 0), high)
    return (high > low).reshape(absent.shape)


def paper_information(s: Nodes, weight: Floats) -> Floats:
    """−log2 P(agreement ≥ weight) under a normal with gold's mean and standard deviation.

    The logarithm of the survival function is taken directly, so it grows with the weight without
    end. Where gold never varies, no weight up to gold's is news and a larger one is 1 in n.
    """
    z = np.divide(weight - s.mean, s.deviation, out=np.zeros(len(weight)), where=s.deviation > 0)
    constant = np.where(weight > s.mean + 1e-12, s.rarest, 0.0)
    from scipy.special import log_ndtr  # importing scipy takes longer than most evaluations

    bits = np.where(s.deviation > 0, -log_ndtr(-z) / np.log(2), constant)
    return np.where(weight > 0, bits, 0.0)


def pyevall_information(s: Nodes, weight: Floats) -> Floats:
    """PyEvALL's estimate: mean absolute deviation, and log2 n where 1 − Φ underflows to 0.

    Where gold never varies PyEvALL stops; here a weight up to gold's is no news, and a larger one has 1 − Φ = 0.
    """
    from scipy.special import erf

    z = weight - s.mean
    if (constant := ~(s.deviation > 0)).any():
        beyond = np.where(weight > s.mean + 1e-12, np.inf, -np.inf)
        z = np.where(constant, beyond, z / np.where(constant, 1.0, s.deviation))
    else:
        z /= s.deviation
    z /= np.sqrt(2.0)
    tail = 1.0 - 0.5 * (1.0 + erf(z))
    if (beneath := ~(tail > 0)).any():
        bits = np.where(beneath, s.rarest, -np.log2(np.where(beneath, 1.0, tail)))
    else:
        bits = -np.log2(tail)
    bits[weight == 0] = 0.0
    bits = bits if s.named.all() else np.where(s.named, bits, s.rarest)
    return np.where(s.silent, 0.0, bits) if s.silent.any() else bits


Measure = Callable[[Nodes, Floats], Floats]
INFORMATION: dict[str, Measure] = {"paper": paper_information, "pyevall": pyevall_information}


def information(
    a: Aligned, s: Spread, test_case: Ints, parent: Ints, variant: str = "paper"
) -> tuple[Floats, Floats, Floats]:
    """IC of gold, of the prediction and of their union, per item."""
    measure = INFORMATION[variant]
    out = np.zeros((3, a.items))
    for items, part in a.blocks():
        up = raised(part, parent)
        case, above = test_case[items][up.item], parent[up.node]
        inner = np.flatnonzero(above >= 0)
        bits = []
        for weight in (up.gold, up.pred):
            bits.append(_once(measure, s, case, up.node, weight, variant))
            bits[-1][inner] -= _once(measure, s, case[inner], above[inner], weight[inner], variant)
        union = np.where(up.gold >= up.pred, bits[0], bits[1])
        out[:, items] = up.sum(bits[0] * up.in_gold), up.sum(bits[1] * up.in_pred), up.sum(union)
    return out[0], out[1], out[2]


RUN = 2
"""Weights to a run from which it is quicker to look for runs than to measure all."""


def _once(measure: Measure, s: Spread, case: Ints, node: Ints, weight: Floats, variant: str) -> Floats:
    """The information of weights of nodes; along a run of equal ones it is measured once."""
    new = np.append(True, (weight[1:] != weight[:-1]) | (node[1:] != node[:-1]) | (case[1:] != case[:-1]))
    first = np.flatnonzero(new[: len(weight)])
    if RUN * len(first) > len(weight):
        return measure(s.at(case, node, variant), weight)
    bits = measure(s.at(case[first], node[first], variant), weight[first])
    return np.repeat(bits, np.diff(np.append(first, len(weight))))
