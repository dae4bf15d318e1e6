# SPDX-License-Identifier: Apache-2.0
"""The mutual information that chance alone gives: what AMI takes away.

With the cluster sizes fixed, a gold cluster of ``a`` items and a predicted one of ``b`` share a hypergeometric number
of the ``n`` items. Many tables are worked out at once: what two sizes give is computed once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np

from karat.columns import Floats, Ints, distinct
from karat.contexts.groups import matches, sums

PAIRS = 1 << 20
"""Pairs of sizes held at once."""
BLOCK = 1 << 13
"""Pairs of sizes worked out at once: the columns stay in the processor's cache."""
NOTHING = 1e-25
"""Chances this much smaller than the largest one add nothing to a double."""


def expected_information(gold: Floats, pred: Floats) -> Floats:
    """Expected mutual information in bits of random tables with the cluster sizes of each row."""
    sides = _sizes(gold), _sizes(pred)
    n, total = gold.sum(1), np.zeros(len(gold))
    for first, last in _blocks(*(np.bincount(row, minlength=len(gold)) for row, *_ in sides)):
        total[first:last] = _of_rows(n, *sides, first, last)
    return total


Sizes = tuple[Ints, Floats, Ints, Floats]


def _sizes(x: Floats) -> Sizes:
    """Row of each distinct cluster size, the sizes there are, which of them it is, and how many clusters have it."""
    row, column = np.nonzero(x)
    size, code = np.unique(x[row, column], return_inverse=True)
    key, place = distinct(row * len(size) + code)
    width = max(len(size), 1)
    return key // width, size, key % width, sums(place, None, len(key))


def _blocks(left: Ints, right: Ints) -> Iterator[tuple[int, int]]:
    """Ranges of rows with few enough pairs of sizes; at least one row each."""
    ends, first = np.cumsum(left * right), 0
    while first < len(ends):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + PAIRS, "right")))
        yield first, last
        first = last


def _of_rows(n: Floats, gold: Sizes, pred: Sizes, first: int, last: int) -> Floats:
    parts = [slice(*np.searchsorted(side[0], (first, last))) for side in (gold, pred)]
    (row, sizes_a, a, many_a), (other, sizes_b, b, many_b) = (
        (side[0][part], side[1], side[2][part], side[3][part]) for side, part in zip((gold, pred), parts, strict=True)
    )
    left, right = matches(row, other)
    totals, total = np.unique(n, return_inverse=True)
    key, place = distinct((total[row[left]] * len(sizes_a) + a[left]) * len(sizes_b) + b[right])
    rest, width = key // max(len(sizes_b), 1), max(len(sizes_a), 1)
    bits = _bits(sizes_a[rest % width], sizes_b[key % max(len(sizes_b), 1)], totals[rest // width])
    return sums(row[left] - first, bits[place] * many_a[left] * many_b[right], last - first)


def _bits(a: Floats, b: Floats, n: Floats) -> Floats:
    """E[k/n · log2(n·k / (a·b))] for k of a hypergeometric law; similar pairs go together, as they need as many steps."""
    out = np.zeros(len(a))
    order = np.argsort(a * b / n)
    for at in (order[start : start + BLOCK] for start in range(0, len(order), BLOCK)):
        mean = a[at] * b[at] / n[at]
        out[at] = (_k_log_k(a[at], b[at], n[at]) - mean * np.log2(mean)) / n[at]
    return out


def _k_log_k(a: Floats, b: Floats, n: Floats) -> Floats:
    """E[k·log2 k], summed from the likeliest k upwards and downwards; chances are relative to that of the likeliest."""
    a, b = np.minimum(a, b), np.maximum(a, b)
    mode = np.floor((a + 1) * (b + 1) / (n + 2))
    mass, total = np.ones(len(a)), _times_log(mode)
    for k, chance in chain(_above(mode, a, b, n - a - b), _below(mode, a, b, n - a - b)):
        mass += chance
        total += chance * _times_log(k)
    return total / mass


def _above(k: Floats, a: Floats, b: Floats, spare: Floats) -> Iterator[tuple[Floats, Floats]]:
    """The numbers above ``k`` with their chances, as long as one of them counts."""
    chance = np.ones(len(k))
    while True:
        chance = chance * np.maximum(a - k, 0) * (b - k) / ((k + 1) * (spare + k + 1))
        k = k + 1
        if not (chance > NOTHING).any():
            return
        yield k, chance


def _below(k: Floats, a: Floats, b: Floats, spare: Floats) -> Iterator[tuple[Floats, Floats]]:
    chance = np.ones(len(k))
    while True:
        chance = chance * k * np.maximum(spare + k, 0) / ((a - k + 1) * (b - k + 1))
        k = k - 1
        if not (chance > NOTHING).any():
            return
        yield k, chance


def _times_log(k: Floats) -> Floats:
    return k * np.log2(np.maximum(k, 1.0))
