# SPDX-License-Identifier: Apache-2.0
"""Fewer labels: gold for a sample, a judge's labels for all (prediction-powered inference).

θ = gold − λ·(judge on the sample − judge on the rest). The judge's errors cancel in the bracket, so that the estimate
is right whatever the judge is worth; λ (power tuning) is as large as the judge deserves, and 0 gives gold alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from karat.weights import Floats


@dataclass(frozen=True)
class Reading:
    """A score with the influence of each unit on it; squares of influences add up to its variance."""

    score: float
    influence: Floats

    @property
    def variance(self) -> float:
        return float((self.influence**2).sum())

    def __sub__(self, other: Reading) -> Reading:
        """The difference of two scores of the same units."""
        return Reading(self.score - other.score, self.influence - other.influence)


@dataclass(frozen=True)
class Powered:
    """An estimate from gold and judge together, beside those of either alone."""

    estimate: float
    se: float
    gold: float
    gold_se: float
    judge: float
    """Score by the judge on all units: without gold nobody knows how far it is off."""
    weight: float
    """How much of the judge is used: λ, 0 to 1."""
    labelled: int
    unlabelled: int

    @property
    def gain(self) -> float:
        """How many times as many gold labels would have been needed without the judge."""
        return (self.gold_se / self.se) ** 2 if self.se > 0 else 1.0

    @property
    def effective(self) -> float:
        """Number of gold labels that the estimate is worth."""
        return self.labelled * self.gain

    def interval(self, level: float) -> tuple[float, float]:
        reach = float(special.stdtrit(max(self.labelled - 1, 1), (1 + level) / 2)) * self.se
        return self.estimate - reach, self.estimate + reach


def powered(gold: Reading, judged: Reading, rest: Reading, weight: float | None = None) -> Powered:
    """Gold on a sample, the judge on the same units and on the rest; ``weight`` fixes λ."""
    cross = float((gold.influence * judged.influence).sum())
    spread = judged.variance + rest.variance
    best = min(max(cross / spread, 0.0), 1.0) if spread > 0 else 0.0
    used = best if weight is None else weight
    variance = gold.variance - 2 * used * cross + used**2 * spread
    n, more = len(gold.influence), len(rest.influence)
    everywhere = (n * judged.score + more * rest.score) / (n + more)
    return Powered(
        gold.score - used * (judged.score - rest.score), float(np.sqrt(max(variance, 0.0))), gold.score,
        float(np.sqrt(gold.variance)), everywhere, used, n, more,
    )  # fmt: skip


def stratified(parts: Sequence[Powered], shares: Sequence[float]) -> Powered:
    """Strata estimated each by itself, weighted by their shares of all units."""
    w = np.asarray(shares, float) / float(np.sum(shares))

    def total(name: str) -> float:
        return float(w @ np.array([getattr(p, name) for p in parts]))

    def error(name: str) -> float:
        return float(np.sqrt(w**2 @ np.array([getattr(p, name) ** 2 for p in parts])))

    return Powered(
        total("estimate"), error("se"), total("gold"), error("gold_se"), total("judge"), total("weight"),
        sum(p.labelled for p in parts), sum(p.unlabelled for p in parts),
    )  # fmt: skip
