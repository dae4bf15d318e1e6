# SPDX-License-Identifier: Apache-2.0
"""Corrections from the joint law of all differences: randomised Tukey over all pairs, MaxT against a baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from karat.comparison import Pair
from karat.metric import MetricError
from karat.score import mean_defined
from karat.stats.random import stream
from karat.stats.ranks import studentised_range_p
from karat.stats.settings import ComparisonSettings
from karat.stats.statistic import Shared, Statistic, marks
from karat.stats.tests import monte_carlo
from karat.stats.units import Joint, Panel, panels
from karat.weights import Floats, Ints, block_sizes

if TYPE_CHECKING:
    from karat.stats.comparing import Contest

DRAWS = 1_999


def joint_p(
    drafts: Sequence[Pair],
    contests: Sequence[Contest],
    joint: Joint,
    statistic: Statistic,
    settings: ComparisonSettings,
) -> Floats:
    """Corrected p of each draft, metric by metric."""
    shuffler = Shuffler(panels(joint, statistic))
    rng = stream(settings.seed, settings.correction, *(e.name for e in joint.entrants))
    compute = _tukey if settings.correction == "tukey" else _max_t
    table = compute(shuffler, contests, statistic, rng, settings.draws or DRAWS)
    return np.array([table[i // len(statistic.metrics)][i % len(statistic.metrics)] for i in range(len(drafts))])


@dataclass(frozen=True)
class Outcomes:
    """One test case: the distinct outcomes of units, and which one each system has for each unit."""

    table: Floats
    """Outcomes × vectors."""
    code: Ints
    """Units × systems; only the units on which systems differ."""
    base: Floats
    """Totals of the units on which all agree."""

    def totals(self, order: Ints, slot: int) -> Floats:
        """Totals of the system in a slot, for permutations (rows × units × systems)."""
        drawn = np.take_along_axis(self.code[None], order[..., slot : slot + 1], 2)[..., 0]
        width = len(self.table)
        drawn = drawn + (np.arange(len(order)) * width)[:, None]
        count = np.bincount(drawn.ravel(), minlength=len(order) * width).reshape(len(order), width)
        return self.base + count @ self.table


def outcomes_of(systems: Sequence[Panel], shared: Shared) -> Outcomes:
    """Outcomes of all systems in one table, alike ones once."""
    matrices = [shared.matrix(i) for i in range(len(systems))]
    whole = np.concatenate(matrices)
    _, first, inverse = np.unique(marks(whole), return_index=True, return_inverse=True)
    starts = np.cumsum([0, *map(len, matrices)])
    # A unit that a system lacks (−1) is the last, empty row of its table.
    code = np.stack([inverse[starts[i] + p.cell % len(matrices[i])] for i, p in enumerate(systems)], -1)
    differ = (code != code[:, :1]).any(1)
    return Outcomes(whole[first], code[differ], whole[first][code[~differ, 0]].sum(0))


class Shuffler:
    """Scores of all systems when their outcomes are shuffled inside each unit."""

    def __init__(self, systems: list[list[Panel]]) -> None:
        self.systems = systems
        self.shared = [Shared([p.tape for p in column]) for column in zip(*systems, strict=True)]
        if not all(s.small and all(s.eligible) for s in self.shared):
            raise MetricError(
                "labels or levels differ between the systems, so outcomes cannot be mixed: correct with holm"
            )
        self.cases = [outcomes_of(column, s) for column, s in zip(zip(*systems, strict=True), self.shared, strict=True)]

    @property
    def units(self) -> int:
        """Units on which systems differ; the others change nothing."""
        return sum(len(c.code) for c in self.cases)

    def scores(self, order: Ints, slots: Sequence[int]) -> Floats:
        """Rows × slots × metrics for permutations (rows × units × systems)."""
        ends = np.cumsum([0, *(len(c.code) for c in self.cases)])
        cases = []
        for t, case in enumerate(self.cases):
            mine = order[:, ends[t] : ends[t + 1]]
            cases.append(np.stack([self._score(s, t, case.totals(mine, s)) for s in slots], 1))
        return cases[0] if len(cases) == 1 else mean_defined(np.stack(cases, -1))

    def _score(self, system: int, case: int, totals: Floats) -> Floats:
        return self.systems[system][case].stratum.statistic(self.shared[case].replay(system, totals))


def _tukey(
    shuffler: Shuffler, contests: Sequence[Contest], statistic: Statistic, rng: np.random.Generator, draws: int
) -> Floats:
    """p of each pair against the widest gap among all systems."""
    systems = list(range(len(shuffler.systems)))
    same = np.broadcast_to(np.array(systems), (1, shuffler.units, len(systems)))
    observed = shuffler.scores(same, systems)[0]
    widest = np.concatenate([
        np.ptp(shuffler.scores(shuffles(rng, shuffler.units, len(systems), rows), systems), axis=1)
        for rows in block_sizes(draws, 4 * shuffler.units * len(systems))
    ])  # fmt: skip
    gaps = np.array([np.abs(observed[c.a] - observed[c.b]) for c in contests])
    return np.array(
        [[float(monte_carlo(widest[:, k], gap[k])) if gap[k] > 0 else 1.0 for k in range(len(gap))] for gap in gaps]
    )


def _max_t(
    shuffler: Shuffler, contests: Sequence[Contest], statistic: Statistic, rng: np.random.Generator, draws: int
) -> Floats:
    """Swaps of each system with the baseline, on the same units for all systems."""
    base, drawn = contests[0].b, []
    for rows in block_sizes(draws, 4 * shuffler.units * len(shuffler.systems)):
        coin = rng.integers(0, 2, (rows, shuffler.units), dtype=np.int8)
        drawn.append(np.stack([_swap_difference(shuffler, coin, c.a, base) for c in contests], 1))
    differences, observed = np.concatenate(drawn), np.stack([c.difference for c in contests])
    se = np.stack([c.spread[0] for c in contests])
    return np.stack([max_t(observed[:, k], differences[..., k], se[:, k]) for k in range(len(statistic.metrics))], -1)


def _swap_difference(shuffler: Shuffler, coin: NDArray[np.int8], system: int, base: int) -> Floats:
    order = np.empty((*coin.shape, len(shuffler.systems)), np.int64)
    order[...] = np.arange(len(shuffler.systems))
    order[..., system] = np.where(coin == 1, base, system)
    order[..., base] = np.where(coin == 1, system, base)
    scores = shuffler.scores(order, [system, base])
    return scores[:, 0] - scores[:, 1]


def shuffles(rng: np.random.Generator, units: int, systems: int, rows: int) -> Ints:
    """A permutation of the systems for each unit, ``rows`` times."""
    return rng.random((rows, units, systems), dtype=np.float32).argsort(-1)


def randomised_tukey(
    scores: Callable[[Ints], Floats], observed: Floats, units: int, rng: np.random.Generator, draws: int
) -> Floats:
    """p of every pair against the largest gap among all systems when labels are shuffled inside each unit.

    ``scores(permutation)`` gives the systems' scores for permutations (rows × units × systems).
    """
    systems = len(observed)
    parts = [np.ptp(scores(p), axis=-1) for p in _permuted(rng, units, systems, draws)]
    gaps = np.abs(observed[:, None] - observed[None, :])
    widest = np.concatenate(parts)
    return np.array([[float(monte_carlo(widest, gap)) if gap > 0 else 1.0 for gap in row] for row in gaps])


def _permuted(rng: np.random.Generator, units: int, systems: int, draws: int) -> Iterator[Ints]:
    for rows in block_sizes(draws, 2 * units * systems):
        yield shuffles(rng, units, systems, rows)


def mean_scores(x: Floats) -> Callable[[Ints], Floats]:
    """Scores of shuffled systems where the metric is the mean of unit scores ``x`` (units × systems)."""

    def scores(permutation: Ints) -> Floats:
        return np.asarray(np.take_along_axis(x[None], permutation, 2).mean(1), float)

    return scores


def block_tukey(x: Floats) -> Floats:
    """Tukey's HSD of paired scores (units × systems): the error is what units and systems leave unexplained."""
    n, k = x.shape
    mean = x.mean(0)
    left = x - x.mean(1, keepdims=True) - mean + x.mean()
    df = (n - 1) * (k - 1)
    mse = float((left**2).sum()) / df
    gap = np.abs(mean[:, None] - mean[None, :])
    return studentised_range_p(gap / np.sqrt(mse / n), k, df) if mse > 0 else np.where(gap > 0, 0.0, 1.0)


def max_t(observed: Floats, draws: Floats, se: Floats) -> Floats:
    """p of each system against a baseline, corrected by the largest studentised difference of each draw.

    ``draws`` (rows × systems) come from swaps that all systems share, so their dependence is kept.
    """
    scale = np.where(se > 0, se, 1.0)
    largest = np.nanmax(np.abs(draws / scale), axis=1)
    return np.array([float(monte_carlo(largest, abs(d))) for d in observed / scale])
