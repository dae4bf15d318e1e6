# SPDX-License-Identifier: Apache-2.0
"""Scores of systems side by side, over the queries and test cases that all of them have a score for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from karat.evaluation import SystemResult
from karat.stats.estimate import estimate
from karat.stats.pair import Part, blanks, parts_of
from karat.stats.sample import Sample
from karat.stats.settings import IntervalSettings
from karat.stats.statistic import Mask, Statistic
from karat.stats.units import Joint
from karat.weights import Ints


def narrowed(joint: Joint, hidden: Sequence[Mask], system: int) -> Mask | None:
    """Units of which not every score is left out, where there are others; they alone are the sample."""
    if not len(hidden):
        return None
    kept = ~hidden[system][joint.cell[system]].all(1)
    return None if kept.all() or not kept.any() else kept


def on_units(joint: Joint, cluster: Ints | None, kept: Mask | None) -> tuple[Joint, Ints | None]:
    """The systems on these units, and the clusters of these."""
    if kept is None:
        return joint, cluster
    here = replace(joint, keys=joint.keys[kept], cell=joint.cell[:, kept], case=joint.case[kept])
    return here, None if cluster is None else cluster[kept]


def by_case(joint: Joint, cluster: Ints | None) -> list[Ints | None]:
    """The cluster of each unit, test case by test case."""
    return [None if cluster is None else cluster[joint.case == t] for t in range(len(joint.cases))]


@dataclass(frozen=True)
class Common:
    """All systems over what all of them have a score for, metric by metric."""

    parts: list[list[Part]]
    clusters: list[Ints | None]
    """By test case, the cluster of each unit."""
    statistic: Statistic
    over_cases: bool

    @staticmethod
    def of(joint: Joint, statistic: Statistic, cluster: Ints | None) -> Common:
        hidden = blanks(joint, statistic, range(len(joint.names)))
        here, inside = on_units(joint, cluster, narrowed(joint, hidden, 0))
        return Common(parts_of(here, statistic, inside, hidden), by_case(here, inside), statistic, joint.over_cases)

    def scored_for(self, column: int) -> list[list[Part]]:
        """The test cases of each system that all have a score for; all, where there is none."""
        points = np.array([[p.stratum.point[column] for p in cases] for cases in self.parts], float)
        shared = np.flatnonzero(~np.isnan(points).any(0))
        return [[cases[t] for t in shared] for cases in self.parts] if len(shared) else self.parts

    def systems(
        self, systems: Sequence[SystemResult], column: int, intervals: IntervalSettings
    ) -> list[SystemResult]:  # fmt: skip
        """The systems with the score and the interval of the metric over these."""
        metric, out = self.statistic.metrics[column], []
        for system, parts in zip(systems, self.scored_for(column), strict=True):
            sample = Sample([p.stratum for p in parts], self.over_cases)
            if np.isnan(sample.point[column]):
                return list(systems)
            table = estimate(sample, intervals)[0]
            interval = table.interval(column, intervals.level, self.statistic.limits(metric))
            score = replace(system.scores[metric], value=float(sample.point[column]), interval=interval)
            out.append(replace(system, scores={**system.scores, metric: score}))
        return out
