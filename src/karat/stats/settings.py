# SPDX-License-Identifier: Apache-2.0
"""What can be asked of intervals and comparisons; light, because every command line asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from karat.metric import MetricError

METHODS = (
    "auto", "bca", "percentile", "basic", "poisson", "jackknife-t", "hall-t", "delta", "groups", "student-t", "wilson", "clopper-pearson",
    "anytime",
)  # fmt: skip
RESAMPLES = 9_999
DRAWS = 9_999
CORRECTIONS = ("holm", "hochberg", "bonferroni", "bh", "by", "none")
JOINT = ("tukey", "maxt")
"""Corrections that come from the joint law of all tests instead of from their p-values."""
ON_REQUEST = ("wilcoxon", "sign", "bootstrap", "aso", "non-inferiority")
"""Tests that are shown only to those who ask."""


MOST = 1_000_000
"""Most resamples or draws: the chance error of a bound or p-value is a thousandth of its spread then."""


def _affordable(number: int, what: str) -> None:
    if number > MOST:
        raise MetricError(f"{number:,} {what} would take for ever and tell no more than {MOST:,} do; take fewer")


@dataclass(frozen=True)
class IntervalSettings:
    """What the user asked of intervals."""

    level: float = 0.95
    method: str = "auto"
    resamples: int = RESAMPLES
    seed: int = 0
    stratify_by: str | None = None
    """Gold column whose values keep their numbers of units in every resample."""

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise MetricError(f"interval method {self.method!r} is not one of {', '.join(METHODS)}")
        if not 0 < self.level < 1:
            raise MetricError(f"an interval level of {self.level} is not between 0 and 1")
        if self.resamples < 100:
            raise MetricError(f"{self.resamples} resamples are too few for an interval; take 100 or more")
        _affordable(self.resamples, "resamples")
        if self.stratify_by and self.method in ("wilson", "clopper-pearson", "poisson", "groups", "anytime"):
            raise MetricError(f"{self.method} knows no strata: take auto, bca, percentile or jackknife-t")

    def to_dict(self) -> dict[str, Any]:
        strata = {"stratify_by": self.stratify_by} if self.stratify_by else {}
        return {"level": self.level, "method": self.method, "resamples": self.resamples} | strata


@dataclass(frozen=True)
class ComparisonSettings:
    """What the user asked of a comparison."""

    alpha: float = 0.05
    correction: str = "holm"
    baseline: str | None = None
    tests: tuple[str, ...] = ()
    draws: int | None = None
    margin: float | None = None
    rope: float | None = None
    seed: int = 0
    detect: float | None = None
    """Difference for which the number of units that it needs is worked out."""
    paired_runs: bool = False
    """Whether run r of one method belongs with run r of another (the same fold, seed or prompt)."""
    one_sided: bool = False
    """Whether only "the first of the pair is better" is tested."""
    sequential: bool = False
    """Whether tests and intervals must hold at every look while the data grow."""

    def __post_init__(self) -> None:
        known = (*CORRECTIONS, *JOINT)
        if self.correction not in known:
            raise MetricError(f"correction {self.correction!r} is not one of {', '.join(known)}")
        for name in self.tests:
            if name not in ON_REQUEST:
                raise MetricError(f"test {name!r} is not one of {', '.join(ON_REQUEST)}")
        _affordable(self.draws or 0, "draws")
        if not 0 < self.alpha < 1:
            raise MetricError(f"alpha={self.alpha} is not between 0 and 1")
        if self.detect is not None and not self.detect > 0:
            raise MetricError(f"detect={self.detect} is not a positive difference")
        if "non-inferiority" in self.tests and not (self.margin and self.margin > 0):
            raise MetricError("non-inferiority is tested against a margin: give the largest loss that does not matter")
        if (self.one_sided or self.sequential) and self.correction in JOINT:
            raise MetricError(f"{self.correction} is two-sided and for one look; take holm or hochberg")
        if self.one_sided and self.sequential:
            raise MetricError("e-values are two-sided: ask for one_sided or for sequential")
        if self.correction == "maxt" and self.baseline is None:
            raise MetricError("MaxT compares systems with a baseline: name one")

    @property
    def alone(self) -> float:
        """α of a two-sided interval that agrees with a test by itself."""
        return 2 * self.alpha if self.one_sided else self.alpha

    def to_dict(self) -> dict[str, Any]:
        return {
            "alpha": self.alpha, "correction": self.correction, "baseline": self.baseline, "tests": list(self.tests),
            "draws": self.draws or DRAWS, "margin": self.margin, "rope": self.rope,
            "detect": self.detect, "paired_runs": self.paired_runs, "one_sided": self.one_sided,
            "sequential": self.sequential,
        }  # fmt: skip
