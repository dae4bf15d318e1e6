# SPDX-License-Identifier: Apache-2.0
"""Several systems over several test cases: Friedman, Iman–Davenport, Nemenyi, critical differences."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np
from scipy import special

from karat.stats.random import stream
from karat.stats.tests import midranks, settled
from karat.weights import Floats, Ints


@dataclass(frozen=True)
class Friedman:
    """Mean ranks (1 = best) with the test that they are all equal."""

    mean_ranks: Floats
    blocks: int
    chi2: float
    chi2_p: float
    f: float
    p: float
    kendall_w: float


def rank_rows(scores: Floats, higher_is_better: bool = True) -> Floats:
    """Rank of each system within each row, 1 for the best, ties sharing their mean."""
    return np.array([midranks(settled(-row if higher_is_better else row)) for row in scores])


def friedman(scores: Floats, higher_is_better: bool = True) -> Friedman:
    """Friedman's test of rows (test cases) × columns (systems), with Iman and Davenport's F."""
    ranks = rank_rows(scores, higher_is_better)
    n, k = ranks.shape
    mean = ranks.mean(0)
    chi2 = _chi2(ranks, mean)
    f, p = _iman_davenport(chi2, n, k)
    return Friedman(mean, n, chi2, float(special.chdtrc(k - 1, chi2)), f, permutation_p(ranks, p), chi2 / (n * (k - 1)))


SMALL, SHUFFLES = 400, 99_999
"""Ranks up to which p comes from shuffling them; how often, where they are too many to visit all orders."""


def permutation_p(ranks: Floats, by_law: float) -> float:
    """p of the spread of rank sums when the ranks of each row are shuffled: exact if all orders can be visited.

    ``by_law`` is that of the F law, for large tables and for spreads beyond all shuffles.
    """
    n, k = ranks.shape
    if n * k > SMALL:
        return by_law
    observed = float(((ranks.sum(0) - ranks.sum() / k) ** 2).sum())
    exact = (n - 1) * float(special.gammaln(k + 1)) <= np.log(SHUFFLES)
    sums = _every_sum(ranks) if exact else _shuffled_sums(ranks)
    spread = ((sums - ranks.sum() / k) ** 2).sum(1)
    reached = int((spread >= observed - 1e-9).sum())
    if exact:
        return reached / len(spread)
    return by_law if reached == 0 < by_law else (reached + 1) / (len(spread) + 1)


def _every_sum(ranks: Floats) -> Floats:
    """Rank sums of all orders; the first row keeps its own, because only the others matter."""
    sums = ranks[:1]
    for row in ranks[1:]:
        sums = (sums[:, None, :] + np.array(list(permutations(row)))[None]).reshape(-1, len(row))
    return sums


def _shuffled_sums(ranks: Floats) -> Floats:
    rng, sums = stream(0, "friedman"), np.zeros((SHUFFLES, ranks.shape[1]))
    for row in ranks:
        sums += row[rng.random(sums.shape).argsort(1)]
    return sums


def _chi2(ranks: Floats, mean: Floats) -> float:
    n, k = ranks.shape
    ties = sum(float((np.unique(row, return_counts=True)[1] ** 3.0).sum()) - k for row in ranks)
    untied = 1 - ties / (n * (k**3 - k))
    spread = 12 * n / (k * (k + 1)) * float(((mean - (k + 1) / 2) ** 2).sum())
    return spread / untied if untied > 0 else 0.0


def _iman_davenport(chi2: float, n: int, k: int) -> tuple[float, float]:
    left = n * (k - 1) - chi2
    if left <= 0:
        return np.inf, 0.0
    f = (n - 1) * chi2 / left
    return f, float(special.fdtrc(k - 1, (k - 1) * (n - 1), f))


def critical_difference(k: int, n: int, alpha: float = 0.05) -> float:
    """Nemenyi: mean ranks of k systems over n test cases further apart than this differ."""
    from scipy.stats import studentized_range

    q = float(studentized_range.isf(alpha, k, np.inf))
    return float(q / np.sqrt(2) * np.sqrt(k * (k + 1) / (6 * n)))


def cd_groups(mean_ranks: Floats, difference: float) -> list[list[int]]:
    """Maximal runs of systems, in order of rank, whose ends lie within the critical difference.

    >>> cd_groups(np.array([1.0, 1.4, 3.0]), 0.5)
    [[0, 1]]
    """
    order = np.argsort(mean_ranks, kind="stable")
    ranks = mean_ranks[order]
    ends = np.searchsorted(ranks, ranks + difference + 1e-12, side="right") - 1
    return _maximal(order, np.asarray(ends, np.int64))


def _maximal(order: Ints, ends: Ints) -> list[list[int]]:
    groups, reached = [], -1
    for start, end in enumerate(ends):
        if end > start and end > reached:
            groups.append([int(i) for i in order[start : end + 1]])
        reached = max(reached, int(end))
    return groups
