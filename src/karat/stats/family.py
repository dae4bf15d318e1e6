# SPDX-License-Identifier: Apache-2.0
"""All tests of a comparison as one family: corrected p-values, and intervals that hold for all at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import special

from karat.comparison import Verdict
from karat.stats.corrections import correct, family_size
from karat.stats.power import POWER, mde
from karat.stats.settings import ComparisonSettings
from karat.stats.statistic import Mask
from karat.weights import Floats


class Member(NamedTuple):
    """One test of a family."""

    p: float
    """Corrected."""
    bound: bool
    """Whether p is to be read as "at most", because no draw was as extreme."""
    alpha: float
    """Level at which the test alone would decide alike."""
    reach: float | None
    """Half of the simultaneous interval, where it comes from the joint law."""

    def detectable(self, se: float, df: float) -> float:
        """Smallest true difference that the corrected test shows with 80 % power."""
        if self.reach is None:
            return mde(se, alpha=self.alpha, df=df)
        return float(self.reach + special.ndtri(POWER) * se)


@dataclass(frozen=True)
class Family:
    """Pairs × metrics."""

    p: Floats
    bound: Mask
    alpha: float
    size: int
    reach: Floats | None = None

    def of(self, pair: int, metric: int) -> Member:
        reach = None if self.reach is None else float(self.reach[pair, metric])
        return Member(float(self.p[pair, metric]), bool(self.bound[pair, metric]), self.alpha, reach)


def verdict_of(gain: float, p: float, alpha: float) -> Verdict:
    """What a corrected p says of a gain."""
    if not (np.isfinite(gain) and np.isfinite(p)):
        return "undefined"
    return "inconclusive" if p > alpha or gain == 0 else "better" if gain > 0 else "worse"


def agreed(low: float, high: float, difference: float, reject: bool) -> tuple[float, float]:
    """An interval with 0 inside exactly if the test does not rule it out."""
    if not reject:
        return min(low, 0.0), max(high, 0.0)
    return (max(low, 0.0), high) if difference > 0 else (low, min(high, 0.0))


def corrected(raw: Floats, floor: Mask, settings: ComparisonSettings) -> Family:
    """The p-values corrected by the rule that was asked for.

    Intervals have the level of Bonferroni's test, which holds for all at once. Of false discoveries
    R among m tests only a share is controlled, and so is the share of intervals that miss: R · α/m.
    """
    p = correct(raw.ravel(), settings.correction).reshape(raw.shape)
    size = max(family_size(raw), 1)
    alpha = settings.alone
    if settings.correction in ("bh", "by"):
        harmonic = 1.0 if settings.correction == "bh" else float((1 / np.arange(1, size + 1)).sum())
        alpha *= max(int((p <= settings.alpha).sum()), 1) / size / harmonic
    elif settings.correction != "none":
        alpha /= size
    return Family(p, floor, alpha, family_size(raw))
