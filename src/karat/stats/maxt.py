# SPDX-License-Identifier: Apache-2.0
"""Corrections from the joint law of a whole family: randomised Tukey over all pairs, MaxT against a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from karat.score import mean_defined
from karat.stats.family import Family
from karat.stats.pair import Paired, Part, apart
from karat.stats.random import stream
from karat.stats.randomisation import root_mean_square
from karat.stats.settings import ComparisonSettings
from karat.stats.statistic import Shared, marks
from karat.stats.tests import monte_carlo
from karat.weights import Floats, Ints, block_sizes

DRAWS = 1_999


def joint_family(
    pairs: Sequence[Paired], parts: list[list[Part]], clusters: Sequence[Ints | None], settings: ComparisonSettings,
    size: int,
) -> Family:  # fmt: skip
    """All pairs and metrics corrected together by the largest difference of each draw, in units of its spread."""
    order = _by_outcome(parts)
    shuffler = Shuffler([parts[i] for i in order], clusters)
    place = {system: slot for slot, system in enumerate(order)}
    couples = [(place[p.a], place[p.b]) for p in pairs]
    draws, rng = settings.draws or DRAWS, stream(settings.seed, settings.correction)
    sizes = block_sizes(draws, 4 * shuffler.units * len(parts))
    # Coins that swap all systems with the baseline at once keep no level: differences to one baseline are not symmetric.
    drawn = np.concatenate([shuffler.shuffled(rng, rows, couples) for rows in sizes])
    spread = np.broadcast_to(root_mean_square(drawn, (0, 1)), drawn.shape[1:])
    scale = np.where(spread > 0, spread, np.inf)
    widest = np.max(np.nan_to_num(np.abs(drawn) / scale), axis=(1, 2), initial=0.0)
    observed = np.abs(np.stack([p.difference for p in pairs]))
    p = np.array([1.0 if not d > 0 else float(monte_carlo(widest, np.array(d))) for d in (observed / scale).ravel()])
    critical = np.quantile(widest, 1 - settings.alpha, method="higher")
    p = np.where(np.isnan(observed), np.nan, p.reshape(observed.shape))
    return Family(p, p * (draws + 1) < 1.5, settings.alpha / max(size, 1), size, critical * spread)


def _by_outcome(parts: list[list[Part]]) -> list[int]:
    """Systems in an order that their scores decide, so that names and places change no p-value."""
    scores = [tuple(np.nan_to_num(np.concatenate([p.stratum.point for p in cases])).tolist()) for cases in parts]
    return sorted(range(len(parts)), key=lambda i: scores[i])


@dataclass(frozen=True)
class Outcomes:
    """One test case: the distinct outcomes of units (or clusters), and which one each system has for each."""

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


def outcomes_of(systems: Sequence[Part], shared: Shared, cluster: Ints | None) -> Outcomes:
    """Outcomes of all systems in one table, alike ones once; those of a cluster are summed."""
    matrices = [m.toarray() for m in shared.matrices]
    rows = [p.cell for p in systems]
    if cluster is not None:
        _, group = np.unique(cluster, return_inverse=True)
        matrices = [_summed(m[p.cell], group) for m, p in zip(matrices, systems, strict=True)]
        rows = [np.arange(len(matrices[0]))] * len(systems)
    whole = np.concatenate(matrices)
    _, first, inverse = np.unique(marks(whole), return_index=True, return_inverse=True)
    starts = np.cumsum([0, *map(len, matrices)])
    code = np.stack([inverse[starts[i] + row] for i, row in enumerate(rows)], -1)
    differ = (code != code[:, :1]).any(1)
    return Outcomes(whole[first], code[differ], whole[first][code[~differ, 0]].sum(0))


def _summed(rows: Floats, group: Ints) -> Floats:
    out = np.zeros((group.max(initial=-1) + 1, rows.shape[1]))
    np.add.at(out, group, rows)
    return out


class Shuffler:
    """Scores of all systems when their outcomes are shuffled inside each unit (or cluster)."""

    def __init__(self, systems: list[list[Part]], clusters: Sequence[Ints | None]) -> None:
        self.systems = systems
        cases = list(zip(*systems, strict=True))
        self.shared = [Shared([p.tape for p in column]) for column in cases]
        self.cases = [outcomes_of(c, s, group) for c, s, group in zip(cases, self.shared, clusters, strict=True)]

    @cached_property
    def units(self) -> int:
        """Units (or clusters) on which systems differ; the others change nothing."""
        return sum(len(c.code) for c in self.cases)

    def scores(self, order: Ints, slots: Sequence[int]) -> list[Floats]:
        """By test case, rows × slots × metrics for permutations (rows × units × systems)."""
        ends = np.cumsum([0, *(len(c.code) for c in self.cases)])
        return [
            np.stack([self._score(s, t, case.totals(order[:, ends[t] : ends[t + 1]], s)) for s in slots], 1)
            for t, case in enumerate(self.cases)
        ]

    def _score(self, system: int, case: int, totals: Floats) -> Floats:
        return self.systems[system][case].stratum.statistic(self.shared[case].replay(system, totals))

    def shuffled(self, rng: np.random.Generator, rows: int, couples: Sequence[tuple[int, int]]) -> Floats:
        """Rows × pairs × metrics: differences when all systems are shuffled."""
        scores = self.scores(shuffles(rng, self.units, len(self.systems), rows), range(len(self.systems)))
        a, b = (list(side) for side in zip(*couples, strict=True))
        return mean_defined(np.stack([apart(s[:, a], s[:, b]) for s in scores], -1))


def shuffles(rng: np.random.Generator, units: int, systems: int, rows: int) -> Ints:
    """A permutation of the systems for each unit, ``rows`` times."""
    return rng.random((rows, units, systems), dtype=np.float32).argsort(-1)
