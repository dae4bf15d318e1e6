# SPDX-License-Identifier: Apache-2.0
"""Tests that correct a whole family at once: randomised Tukey, Tukey for means, MaxT."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from karat.stats.ranks import studentised_range_p
from karat.stats.tests import monte_carlo
from karat.stats.weights import Floats, Ints, block_sizes


def shuffles(rng: np.random.Generator, units: int, systems: int, rows: int) -> Ints:
    """A permutation of the systems for each unit, ``rows`` times."""
    return rng.random((rows, units, systems), dtype=np.float32).argsort(-1)


def randomised_tukey(
    scores: Callable[[Ints], Floats], observed: Floats, units: int, rng: np.random.Generator, draws: int
) -> Floats:
    """p of every pair against the largest gap among all systems when labels are shuffled inside each unit.

    ``scores(permutation)`` gives the systems' scores for permutations (rows × units × systems).
    """
    systems = len(observed)
    parts = [np.ptp(scores(p), axis=-1) for p in _permuted(rng, units, systems, draws)]
    gaps = np.abs(observed[:, None] - observed[None, :])
    widest = np.concatenate(parts)
    return np.array([[float(monte_carlo(widest, gap)) if gap > 0 else 1.0 for gap in row] for row in gaps])


def _permuted(rng: np.random.Generator, units: int, systems: int, draws: int) -> Iterator[Ints]:
    for rows in block_sizes(draws, 2 * units * systems):
        yield shuffles(rng, units, systems, rows)


def mean_scores(x: Floats) -> Callable[[Ints], Floats]:
    """Scores of shuffled systems where the metric is the mean of unit scores ``x`` (units × systems)."""

    def scores(permutation: Ints) -> Floats:
        return np.asarray(np.take_along_axis(x[None], permutation, 2).mean(1), float)

    return scores


def block_tukey(x: Floats) -> Floats:
    """Tukey's HSD of paired scores (units × systems): the error is what units and systems leave unexplained."""
    n, k = x.shape
    mean = x.mean(0)
    left = x - x.mean(1, keepdims=True) - mean + x.mean()
    df = (n - 1) * (k - 1)
    mse = float((left**2).sum()) / df
    gap = np.abs(mean[:, None] - mean[None, :])
    return studentised_range_p(gap / np.sqrt(mse / n), k, df) if mse > 0 else np.where(gap > 0, 0.0, 1.0)


def max_t(observed: Floats, draws: Floats, se: Floats) -> Floats:
    """p of each system against a baseline, corrected by the largest studentised difference of each draw.

    ``draws`` (rows × systems) come from swaps that all systems share, so their dependence is kept.
    """
    scale = np.where(se > 0, se, 1.0)
    largest = np.nanmax(np.abs(draws / scale), axis=1)
    return np.array([float(monte_carlo(largest, abs(d))) for d in observed / scale])
