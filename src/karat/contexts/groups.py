# SPDX-License-Identifier: Apache-2.0
"""Array idioms for rows that belong to groups: sums, and every match between two columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from karat.columns import Floats, Ints, distinct


def sums(group: Ints, x: Any, size: int) -> Floats:
    """Sum of ``x`` in each group."""
    return np.asarray(np.bincount(group, x, size), float)


DUST = 1e-12
"""Share of a sum that is rounding and no weight; scores that differ by less are equal."""


def less(whole: Any, part: Any) -> Any:
    """What a part leaves of a whole, and nothing where that is rounding: weights that are fractions leave 1e-17."""
    rest = whole - part
    return np.where(rest > DUST * whole, rest, 0.0)


def middle(x: Floats, n: Any) -> float:
    """The median of numbers that stand for ``n`` units each (the lower of two): to the last bit whatever the order of the rows.

    >>> middle(np.array([7.0, 1.0, 2.0]), np.array([1, 1, 3]))
    2.0
    """
    order = np.argsort(x, kind="stable")
    reached = np.cumsum(n[order])
    return float(x[order[np.searchsorted(reached, reached[-1] / 2)]]) if len(x) else 0.0


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
