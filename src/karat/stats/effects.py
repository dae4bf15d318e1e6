# SPDX-License-Identifier: Apache-2.0
"""How large a difference is, whatever its p-value: effect sizes of paired scores."""

from __future__ import annotations

import numpy as np

from karat.comparison import Effect
from karat.stats.multiplying import dotted
from karat.stats.tests import is_constant, midranks, moments, settled
from karat.weights import Floats


def effect(d: Floats, n: Floats | None = None) -> Effect:
    """Effect sizes of differences A − B, ``d[u]`` occurring ``n[u]`` times (positive: A is better)."""
    n, d = np.ones(len(d)) if n is None else n, settled(d)
    win, tie, loss = (int(n[mask].sum()) for mask in (d > 0, d == 0, d < 0))
    size, d_z = win + tie + loss, standardised(d, n)
    superiority = (win + tie / 2) / size if size else None
    return Effect(size, win, tie, loss, d_z, hedges(d_z, size), rank_biserial(d, n), superiority)


def standardised(d: Floats, n: Floats | None = None) -> float | None:
    """Cohen's d_z: mean difference over the standard deviation of the differences."""
    size, mean, sd = moments(d, n)
    return None if size < 2 or is_constant(d, n) else mean / sd


def hedges(d_z: float | None, size: int) -> float | None:
    """d_z shrunk by 1 − 3/(4·df − 1): without the small sample's optimism."""
    return None if d_z is None or size < 3 else d_z * (1 - 3 / (4 * (size - 1) - 1))


def rank_biserial(d: Floats, n: Floats | None = None) -> float | None:
    """Matched rank-biserial correlation: share of favourable minus share of unfavourable rank sum."""
    n = np.ones(len(d)) if n is None else n
    seen = (d != 0) & (n > 0)
    if not seen.any():
        return None
    rank = weighted_midranks(np.abs(d[seen]), n[seen])
    total = dotted(n[seen], rank)
    return dotted(n[seen] * rank, np.sign(d[seen])) / total


def weighted_midranks(x: Floats, n: Floats) -> Floats:
    """Mid-ranks of values of which ``n[u]`` exist."""
    if (n == 1).all():
        return midranks(x)
    _, inverse = np.unique(x, return_inverse=True)
    count = np.bincount(inverse, n)
    return np.asarray((np.cumsum(count) - (count - 1) / 2)[inverse], float)
