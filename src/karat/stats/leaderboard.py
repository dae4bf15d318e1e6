# SPDX-License-Identifier: Apache-2.0
"""Leaderboards: ranks with the range that the data leave open, groups, and ranks over test cases."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

from karat.comparison import Pair, Place, Ranks
from karat.evaluation import Score, SystemResult
from karat.metric import Metric
from karat.stats.ranks import cd_groups, critical_difference, friedman
from karat.stats.standing import letters

FEW_CASES = 5
"""Test cases below which ranks over test cases say nothing."""


def leaderboard(
    metric: Metric,
    systems: Sequence[SystemResult],
    pairs: Sequence[Pair],
    baseline: str | None,
    best: Sequence[float | None] | None = None,
) -> list[Place]:
    """Systems from best to worst; ``best`` is the probability of each that no other is better.

    The range of ranks counts the systems that are significantly better (above) and worse (below),
    so it holds for all systems at once at the level of the corrected tests.
    """
    names, scores = [s.name for s in systems], [s.scores[metric] for s in systems]
    order = sorted(range(len(names)), key=lambda i: _sort_key(scores[i]))
    beats = _beats(metric, names, pairs)
    shown = _letters(order, beats | beats.T, baseline)
    places: list[Place] = []
    for at, i in enumerate(order):
        tied = at > 0 and _sort_key(scores[i]) == _sort_key(scores[order[at - 1]])
        rank = places[-1].rank if tied else at + 1
        low, high = 1 + int(beats[:, i].sum()), len(names) - int(beats[i].sum())
        value, chance = scores[i].value, best[i] if best else None
        places.append(Place(rank, names[i], value, scores[i].interval, low, high, shown.get(i, ""), chance))
    return places


def _sort_key(score: Score) -> tuple[bool, float]:
    """By value to 12 digits: sums in another order end in other digits."""
    value = float(f"{score.value or 0.0:.12g}")
    return score.value is None, value if score.better == "lower" else -value


def _beats(metric: Metric, names: Sequence[str], pairs: Sequence[Pair]) -> NDArray[np.bool_]:
    """``beats[i, j]``: system i is significantly better than j."""
    beats = np.zeros((len(names), len(names)), bool)
    for pair in (p for p in pairs if p.metric == metric):
        a, b = names.index(pair.a), names.index(pair.b)
        beats[a, b] |= pair.verdict == "better"
        beats[b, a] |= pair.verdict == "worse"
    return beats


def _letters(order: Sequence[int], differ: NDArray[np.bool_], baseline: str | None) -> dict[int, str]:
    """Letters of the groups of each system; none against a baseline, where most pairs were not tested."""
    if baseline is not None:
        return {}
    groups = [[order[at] for at in group] for group in letters(differ[np.ix_(order, order)])]
    out: dict[int, str] = {}
    for k, group in enumerate(groups):
        for i in group:
            out[i] = out.get(i, "") + (ascii_lowercase[k] if k < 26 else f"({k + 1})")
    return out


def ranks_over_cases(metric: Metric, systems: Sequence[SystemResult], alpha: float) -> Ranks | None:
    """Friedman, Iman–Davenport and Nemenyi over the test cases that all systems have a score for."""
    scores = [s.scores[metric] for s in systems]
    table = _table(scores)
    if len(systems) < 3 or len(table) < FEW_CASES:
        return None
    test = friedman(table, scores[0].better != "lower")
    cd = critical_difference(len(systems), len(table), alpha)
    return Ranks(
        metric, scores[0].label, [s.name for s in systems], test.mean_ranks.tolist(), len(table), test.p, test.chi2,
        test.f, test.kendall_w, cd, alpha, cd_groups(test.mean_ranks, cd),
    )  # fmt: skip


def _table(scores: Sequence[Score]) -> NDArray[np.float64]:
    """Test cases × systems, without the test cases that one of them lacks."""
    cases = [c for c in scores[0].test_cases if all(c in s.test_cases for s in scores)]
    if len(cases) < 2:
        return np.zeros((0, len(scores)))
    columns = [s.result.value[[s.test_cases.index(c) for c in cases]] for s in scores]
    table = np.stack(columns, -1)
    return table[~np.isnan(table).any(1)]
