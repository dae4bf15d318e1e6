# SPDX-License-Identifier: Apache-2.0
"""A gate for continuous integration: is the candidate worse than the baseline, not worse, or can the data not tell?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from karat.api import compare
from karat.comparison import Comparison, Pair

Outcome = Literal["worse", "not worse", "inconclusive"]


@dataclass(frozen=True)
class Gate:
    """The gate's answer for one system on one metric."""

    system: str
    baseline: str
    pair: Pair
    outcome: Outcome
    margin: float

    def __str__(self) -> str:
        low, high = self.pair.gain_bounds or (float("nan"), float("nan"))
        return (
            f"{self.system} is {_WORDS[self.outcome]} {self.baseline} on {self.pair.label} (margin {self.margin:g}): "
            f"gain {self.pair.gain or 0.0:.4f} [{low:.4f}, {high:.4f}]"
        )


_WORDS = {"worse": "worse than", "not worse": "not worse than", "inconclusive": "not shown to be no worse than"}


def outcome(pair: Pair, margin: float, alpha: float) -> Outcome:
    """``worse``: the whole interval of the gain lies below −margin and the corrected test agrees;
    ``not worse``: the whole interval lies at or above −margin; else the data cannot tell."""
    if pair.gain_bounds is None or pair.p_corrected is None:
        return "inconclusive"
    low, high = pair.gain_bounds
    if low >= -margin:
        return "not worse"
    return "worse" if high < -margin and pair.p_corrected <= alpha else "inconclusive"


def gates(comparison: Comparison, margin: float = 0.0) -> list[Gate]:
    """Every system of a comparison against its baseline."""
    base = comparison.baseline or comparison.systems[-1]
    return [Gate(p.a, base, p, outcome(p, margin, comparison.alpha), margin) for p in comparison.pairs if p.b == base]


def assert_not_worse(
    gold: Any, candidate: Any, baseline: Any, *, margin: float = 0.0, inconclusive: str = "pass", **options: Any
) -> Comparison:
    """Raise AssertionError if the candidate is worse than the baseline by more than ``margin``.

    ``inconclusive="fail"`` also raises where the data cannot tell; other options are those of `compare`.

    >>> gold = ["A", "B"] * 50
    >>> c = karat.assert_not_worse(gold, gold, ["A"] * 100, metrics=["accuracy"])
    """
    comparison = compare(gold, {"candidate": candidate, "baseline": baseline}, baseline="baseline", **options)
    bad = {"worse"} | ({"inconclusive"} if inconclusive == "fail" else set())
    failed = [str(g) for g in gates(comparison, margin) if g.outcome in bad]
    if failed:
        raise AssertionError("\n".join(failed))
    return comparison
