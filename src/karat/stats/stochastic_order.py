# SPDX-License-Identifier: Apache-2.0
"""Almost stochastic order: by how much do the scores of A fail to lie above those of B, quantile by quantile?"""

from __future__ import annotations

import numpy as np
from scipy import special

from karat.weights import Floats

RESAMPLES = 1_000


def violation(a: Floats, b: Floats) -> float:
    """Share of the squared distance of the quantile functions where A lies below B: 0, A is always above; 1, never.

    >>> violation(np.array([2.0, 3.0]), np.array([1.0, 4.0]))     # above by 1, then below by 1
    0.5
    """
    return float(_violations(np.sort(a)[None], np.sort(b)[None])[0])


def _violations(a: Floats, b: Floats) -> Floats:
    """Violation of each row; rows are sorted."""
    n, m = a.shape[1], b.shape[1]
    cuts = np.unique(np.concatenate([np.arange(n + 1) * m, np.arange(m + 1) * n]))
    width = np.diff(cuts)
    gap = a[:, cuts[:-1] // m] - b[:, cuts[:-1] // n]
    squares = gap**2 @ width
    below = np.where(gap < 0, gap, 0.0) ** 2 @ width
    return np.divide(below, squares, out=np.full(len(a), 0.5), where=squares > 0)


def least_violation(
    a: Floats, b: Floats, rng: np.random.Generator, *, confidence: float = 0.95, resamples: int = RESAMPLES
) -> float:
    """Upper bound of the violation at this confidence (ε_min): below 0.5, A almost dominates B."""
    spread = float(_violations(*(_resampled(x, rng, resamples) for x in (a, b))).std(ddof=1))
    return float(min(violation(a, b) + special.ndtri(confidence) * spread, 1.0))


def _resampled(x: Floats, rng: np.random.Generator, rows: int) -> Floats:
    return np.sort(x[rng.integers(0, len(x), (rows, len(x)))], axis=1)
