# SPDX-License-Identifier: Apache-2.0
"""Tukey's test on scores of units, written plainly: what the test on cells must equal."""

from __future__ import annotations

import numpy as np
from scipy.stats import studentized_range

from karat.stats.maxt import shuffles
from karat.stats.tests import monte_carlo


def randomised_tukey(x, rng, draws):
    """p of every pair of means against the widest gap when scores (units × systems) are shuffled in each unit."""
    mean = x.mean(0)
    orders = (shuffles(rng, *x.shape, 1)[0] for _ in range(draws))
    widest = np.array([np.ptp(np.take_along_axis(x, order, 1).mean(0)) for order in orders])
    gaps = np.abs(mean[:, None] - mean[None, :])
    return np.array([[float(monte_carlo(widest, gap)) if gap > 0 else 1.0 for gap in row] for row in gaps])


def block_tukey(x):
    """Tukey's HSD of paired scores: the error is what units and systems leave unexplained."""
    n, k = x.shape
    mean = x.mean(0)
    left = x - x.mean(1, keepdims=True) - mean + x.mean()
    df = (n - 1) * (k - 1)
    mse = float((left**2).sum()) / df
    return studentized_range.sf(np.abs(mean[:, None] - mean[None, :]) / np.sqrt(mse / n), k, df)
