# SPDX-License-Identifier: Apache-2.0
"""Confidence sequences of scores and of differences: they hold however often one looks while the data grow."""

from __future__ import annotations

import numpy as np

from karat.comparison import Test
from karat.stats.intervals import Bounds
from karat.stats.pair import Paired
from karat.stats.power import POWER
from karat.stats.resampling import Units
from karat.stats.sample import Sample
from karat.stats.sequential import (
    anytime_p,
    asymptotic_log_e,
    asymptotic_reach,
    confidence_sequence,
    log_wealth,
)  # fmt: skip
from karat.weights import Floats

EXACT, NEARLY = "anytime", "anytime-asymptotic"
Limits = tuple[float, float]


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


def _differences(duel: Paired, column: int, limits: Limits) -> tuple[Floats, Floats] | None:
    """Differences of unit scores as numbers from 0 to 1, with their counts, where a bet on each is fair."""
    units = duel.unit_differences(column) if duel.is_mean(column) and np.isfinite(limits).all() else None
    if units is None:
        return None
    low, high = limits
    return np.clip((units[0] - low) / (high - low), 0.0, 1.0), units[1]


def anytime_test(duel: Paired, column: int, limits: Limits, alpha: float) -> Test:
    """The e-value of no difference, and its p: both hold at every look."""
    units = _differences(duel, column, limits)
    if units is not None:
        evidence = log_wealth(*units, -limits[0] / (limits[1] - limits[0]))
        return Test("e-value", anytime_p(evidence), float(np.exp(min(evidence, 700.0))), note="holds at every look")
    d, se = float(duel.difference[column]), float(duel.spread[0][column])
    if not se > 0:
        return Test("e-value, asymptotic", 1.0, 1.0, note="no spread")
    evidence = asymptotic_log_e(d / se, duel.clusters or duel.units, alpha)
    note = "holds at every look as the data grow"
    return Test("e-value, asymptotic", anytime_p(evidence), float(np.exp(min(evidence, 700.0))), note=note)


def anytime_difference(duel: Paired, column: int, limits: Limits, alpha: float) -> tuple[tuple[float, float], str]:
    """Ends of the confidence sequence of the difference, and how it was made."""
    units = _differences(duel, column, limits)
    if units is not None:
        return confidence_sequence(*units, 1 - alpha, scale=limits), EXACT
    d, se = float(duel.difference[column]), float(duel.spread[0][column])
    reach = asymptotic_reach(duel.clusters or duel.units, 1 - alpha) * se
    return (d - reach, d + reach), NEARLY


def anytime_mde(se: float, units: float, alpha: float) -> float:
    """Smallest true difference that a look at this data shows with 80 % power, roughly."""
    from scipy import special

    return float((asymptotic_reach(units, 1 - alpha) + special.ndtri(POWER)) * se)
