# SPDX-License-Identifier: Apache-2.0
"""Array idioms for rows that belong to groups: sums, distinct keys, and every match between two columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def sums(group: Ints, x: Any, size: int) -> Floats:
    """Sum of ``x`` in each group."""
    return np.asarray(np.bincount(group, x, size), float)


def firsts(ordered: Ints) -> Mask:
    """Where a new value begins in a sorted column."""
    return np.append(True, np.diff(ordered) != 0)[: len(ordered)]


DENSE = 8
"""Possible keys for each key there is up to which a table of all of them is cheaper than sorting."""


def distinct(key: Ints) -> tuple[Ints, Ints]:
    """Sorted distinct keys (none below 0), and the place of each key among them; in linear time where they are dense."""
    if (key[1:] > key[:-1]).all():
        return key, np.arange(len(key))
    size = int(key.max(initial=-1)) + 1
    if size > DENSE * len(key):
        return _sorted(key)
    used = np.zeros(size, bool)
    used[key] = True
    return np.flatnonzero(used), (np.cumsum(used) - 1)[key]


def _sorted(key: Ints) -> tuple[Ints, Ints]:
    order = np.argsort(key, kind="stable")
    new = firsts(key[order])
    place = np.empty(len(key), np.int64)
    place[order] = np.cumsum(new) - 1
    return key[order][new], place


def matches(left: Ints, right: Ints) -> tuple[Ints, Ints]:
    """Positions (i, j) with ``left[i] == right[j]``, every combination."""
    keys, place = distinct(np.concatenate([left, right]))
    left, right = place[: len(left)], place[len(left) :]
    order = np.argsort(right, kind="stable")
    size = np.bincount(right, minlength=len(keys))
    start = (np.cumsum(size) - size)[left]
    size = size[left]
    first = np.repeat(np.arange(len(left)), size)
    within = np.arange(len(first)) - np.repeat(np.cumsum(size) - size, size)
    return first, order[np.repeat(start, size) + within]
