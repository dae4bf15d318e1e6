# SPDX-License-Identifier: Apache-2.0
"""Estimates put together from karat's parts in the plain way, for tests that hold them against other tools."""

from __future__ import annotations

import numpy as np

from karat.stats.intervals import Bounds, from_draws, spread, student
from karat.stats.judge import Reading
from karat.stats.resampling import bootstrap, jackknife
from karat.stats.settings import RESAMPLES


def jackknife_t(point, jack, level):
    return Bounds(*student(point, jack.se, max(jack.size - 1, 1), level), jack.se)


def resampled(statistic, point, design, rng, *, method="bca", level=0.95, resamples=RESAMPLES):
    draws = bootstrap(statistic, design, rng, resamples, poisson=method == "poisson")
    accel = jackknife(statistic, design).acceleration if method == "bca" else np.zeros_like(point)
    return Bounds(*from_draws(point, draws, accel, method, level), spread(draws), resamples, np.isnan(draws).mean(0))


def influence_of_means(x):
    """Influence of each unit on each run's mean of unit scores (runs × units)."""
    n = x.shape[-1]
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(n * max(n - 1, 1))


def reading_of_mean(x):
    return Reading(float(x.mean()), influence_of_means(np.asarray(x, float)))
