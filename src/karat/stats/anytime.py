# SPDX-License-Identifier: Apache-2.0
"""Confidence sequences of scores: they hold however often one looks while the data grow."""

from __future__ import annotations

import numpy as np

from karat.stats.intervals import Bounds
from karat.stats.resampling import Units
from karat.stats.sample import Sample
from karat.stats.sequential import asymptotic_reach, confidence_sequence
from karat.weights import Floats

EXACT, NEARLY = "anytime", "anytime-asymptotic"


def anytime(sample: Sample, level: float) -> tuple[Bounds, list[str]]:
    """Bounds of every column: exact for means of scores between 0 and 1, for the rest as the data grow."""
    se = sample.spread[0]
    reach = asymptotic_reach(sum(s.jackknife.size for s in sample.strata), level) * se
    low, high = sample.point - reach, sample.point + reach
    method = [NEARLY] * len(low)
    for k in np.flatnonzero(bounded_means(sample)):
        low[k], high[k] = confidence_sequence(*_unit_scores(sample, int(k)), level)
        method[k] = EXACT
    return Bounds(low, high, se), method


def bounded_means(sample: Sample) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Columns that are means of scores of independent units, each between 0 and 1."""
    stratum = sample.strata[0]
    inside = stratum.bounded
    if len(sample.strata) > 1 or inside is None or not isinstance(stratum.design, Units):
        return np.zeros(len(sample.point), bool)
    value = np.nan_to_num(stratum.unit_scores.value)
    return np.asarray(stratum.unit_scores.is_mean & inside & ((value >= 0) & (value <= 1)).all(0))


def _unit_scores(sample: Sample, column: int) -> tuple[Floats, Floats]:
    value, n = sample.strata[0].unit_scores.value[:, column], sample.strata[0].seen
    known = ~np.isnan(value)
    return value[known], n[known]
