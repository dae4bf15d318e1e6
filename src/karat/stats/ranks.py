# SPDX-License-Identifier: Apache-2.0
"""Several systems over several test cases: Friedman, Iman–Davenport, Nemenyi, critical differences."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from math import factorial

import numpy as np
from scipy import special

from karat.stats.random import stream
from karat.stats.statistic import Mask
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
LAW = 23 * 10**7
"""Most steps by which the law of the rank sums is computed: three systems up to `SMALL`, four in 24 test cases, in 14 with ties."""


def permutation_p(ranks: Floats, by_law: float) -> float:
    """p of the spread of rank sums when the ranks of each row are shuffled: exact if all orders can be visited or summed up.

    ``by_law`` is that of the F law, for large tables. Of spreads beyond all shuffles no less than 1/100,000 is known.
    """
    n, k = ranks.shape
    if n * k > SMALL:
        return by_law
    middle = float(ranks.sum() / k)
    observed = float(((ranks.sum(0) - middle) ** 2).sum())
    if (n - 1) * float(special.gammaln(k + 1)) <= np.log(SHUFFLES):
        return float(_reached(_every_sum(ranks), middle, observed).mean())
    grid = _Grid.of(ranks)
    if grid.steps <= LAW:
        return grid.beyond(observed)
    return (int(_reached(_shuffled_sums(ranks), middle, observed).sum()) + 1) / (SHUFFLES + 1)


def _reached(sums: Floats, middle: float, observed: float) -> Mask:
    """Which sums lie as far apart."""
    spread = ((sums - middle) ** 2).sum(1)
    return np.asarray(spread >= observed - 1e-9)


@dataclass(frozen=True)
class _Grid:
    """Ranks as whole numbers from 0 on in each row, so that the sums of all systems but the last are places in a cube."""

    rows: Ints
    scale: int

    @staticmethod
    def of(ranks: Floats) -> _Grid:
        """Ties share halves of ranks: then all are counted twice."""
        scale = 1 if (ranks % 1 == 0).all() else 2
        return _Grid(np.rint(scale * (ranks - ranks.min(1, keepdims=True))).astype(np.int64), scale)

    @property
    def width(self) -> int:
        return int(self.rows.max(1).sum()) + 1

    @property
    def steps(self) -> int:
        n, k = self.rows.shape
        return self.width ** (k - 1) * n * factorial(k)

    def beyond(self, spread: float) -> float:
        """Chance of rank sums that lie as far apart, every order of each row being as likely."""
        k, total = self.rows.shape[1], int(self.rows.sum())
        others = np.indices((self.width,) * (k - 1)).reshape(k - 1, -1)
        sums = np.column_stack([*others, total - others.sum(0)]) / self.scale
        law = self._law().ravel()
        return float(law[_reached(sums, total / self.scale / k, spread)].sum() / law.sum())

    def _law(self) -> Floats:
        """Chances of the sums, row by row."""
        k, reach = self.rows.shape[1], 0
        law = np.zeros((self.width,) * (k - 1))
        law.flat[0] = 1.0
        for row in self.rows:
            orders, counts = np.unique(list(permutations(row.tolist())), axis=0, return_counts=True)
            before, reach = law[(slice(0, reach + 1),) * (k - 1)].copy(), reach + int(row.max())
            law[(slice(0, reach + 1),) * (k - 1)] = 0.0
            for order, count in zip(orders[:, :-1].tolist(), counts / counts.sum(), strict=True):
                law[tuple(slice(x, x + size) for x, size in zip(order, before.shape, strict=True))] += count * before
        return law


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
