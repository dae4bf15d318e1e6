# SPDX-License-Identifier: Apache-2.0
"""Confidence sequences and e-values of differences: they hold however often one looks while the data grow."""

from __future__ import annotations

import numpy as np

from karat.comparison import Test
from karat.stats.anytime import EXACT, NEARLY
from karat.stats.pair import Paired
from karat.stats.power import POWER
from karat.stats.sequential import anytime_p, asymptotic_log_e, asymptotic_reach, confidence_sequence, log_wealth
from karat.weights import Floats

Limits = tuple[float, float]


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
