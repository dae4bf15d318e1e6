# SPDX-License-Identifier: Apache-2.0
"""How surely a place on a leaderboard is held: probability of being best, and letters that agree with the tests."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from karat.stats.multiplying import multiplied
from karat.stats.pair import apart
from karat.weights import Floats

DRAWS = 20_000


def best_probabilities(
    scores: Floats,
    covariance: Floats,
    rng: np.random.Generator,
    *,
    lower: bool = False,
    df: float = np.inf,
    draws: int = DRAWS,
) -> Floats:
    """Probability that each system has the best true score, if the errors of the scores are normal.

    With a flat prior this is the posterior; systems that are alike on every unit share their probability.
    A covariance that is known with few degrees of freedom makes the errors Student's.
    """
    error = multiplied(rng.standard_normal((draws, len(scores))), root(covariance).T)
    error = error if np.isinf(df) else error * np.sqrt(df / rng.chisquare(df, (draws, 1)))
    x = scores + error
    x = -x if lower else x
    top = x.max(1, keepdims=True)
    first = x >= top - 1e-9 * np.maximum(np.abs(top), 1e-12)
    return np.asarray((first / first.sum(1, keepdims=True)).mean(0), float)


def no_spread(scores: Floats, covariance: Floats, leader: int) -> list[bool]:
    """Systems that the leader is ahead of by as much on every unit, and the leader if there is one."""
    variance = np.diag(covariance)
    spread = variance + variance[leader] - 2 * covariance[leader]
    ahead = apart(scores, scores[leader]) != 0
    flat = ahead & (spread <= 1e-12 * np.maximum(variance + variance[leader], 1e-12))
    flat[leader] = flat.any()
    return [bool(x) for x in flat]


def root(covariance: Floats) -> Floats:
    """The symmetric matrix whose square is the covariance; directions without variance, but for rounding, stay without.

    No other root is the same on every processor: where variances are alike, eigenvectors turn with the last bit.
    """
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    rounding = 1e-13 * np.abs(values).max(initial=0.0)
    return np.asarray((vectors * np.sqrt(np.where(values > rounding, values, 0.0))) @ vectors.T, float)


def letters(differ: NDArray[np.bool_]) -> list[list[int]]:
    """Groups such that two systems share one exactly if they do not differ (Piepho's insert and absorb).

    >>> differ = np.zeros((3, 3), bool)
    >>> differ[0, 2] = differ[2, 0] = True
    >>> letters(differ)
    [[0, 1], [1, 2]]
    """
    groups = [frozenset(range(len(differ)))]
    for i, j in combinations(range(len(differ)), 2):
        if differ[i, j]:
            split = [part for g in groups for part in ((g - {i}, g - {j}) if i in g and j in g else (g,))]
            groups = _absorbed(split)
    return sorted(sorted(g) for g in _swept(groups, differ))


def _absorbed(groups: list[frozenset[int]]) -> list[frozenset[int]]:
    distinct = list(dict.fromkeys(groups))
    return [g for g in distinct if not any(g < other for other in distinct)]


def _swept(groups: list[frozenset[int]], differ: NDArray[np.bool_]) -> list[frozenset[int]]:
    """Without the groups whose pairs all share another one too."""
    kept = list(groups)
    for group in sorted(groups, key=len):
        others = [g for g in kept if g != group]
        pairs = list(combinations(sorted(group), 2)) or [(i, i) for i in group]
        if others and all(any(i in g and j in g for g in others) for i, j in pairs):
            kept = others
    return kept
