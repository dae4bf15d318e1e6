# SPDX-License-Identifier: Apache-2.0
"""A pilot evaluation read for the next one: what one unit, cluster, run and annotator contributes to the error."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from karat.evaluation import SystemResult
from karat.metric import MetricError
from karat.needs import FacetNeed, Need
from karat.plan import Plan
from karat.stats.clusters import ClusterKeys
from karat.stats.comparing import directed
from karat.stats.design import Aim, Clustered, half_width, power_of, units_for
from karat.stats.judging import Source, reading
from karat.stats.runs import Nested, nested, nested_difference
from karat.stats.statistic import Statistic
from karat.weights import Floats, Texts

SIZES = (0.5, 1, 2, 5, 10)
"""Multiples of the pilot at which power is shown."""
REPEATS = (2, 3, 5, 10, 20)


@dataclass(frozen=True)
class Pilot:
    """One method: the scores of its runs (or annotators), and the influence of every unit on each."""

    name: str
    keys: Texts
    scores: Floats
    """Runs × metrics."""
    moved: Floats
    """Runs × units × metrics."""

    def of(self, column: int) -> tuple[Floats, Floats]:
        return self.scores[:, column], self.moved[:, :, column]


def pilot(name: str, runs: Sequence[SystemResult], plan: Plan) -> Pilot:
    """The runs of a method (or the views of it by several annotators) on the units that all of them have."""
    statistic = Statistic(plan.catalogue, plan.metrics, plan.fill)
    sources = [Source.of(r.cells) for r in runs]
    common = sources[0].keys
    for source in sources[1:]:
        common = np.intersect1d(common, source.keys)
    if len(common) < 2:
        raise MetricError(f"{name}: {len(common)} units in common are too few for a pilot")
    readings = [reading(s, np.isin(s.keys, common), statistic) for s in sources]
    scores = np.array([[r.score for r in of_run] for of_run in readings])
    return Pilot(name, common, scores, np.stack([np.stack([r.influence for r in of_run], -1) for of_run in readings]))


@dataclass(frozen=True)
class Contrast:
    """A score, or a difference of two, of the pilot."""

    name: str
    keys: Texts
    gap: Nested
    moved: Floats
    """Influence of each unit, averaged over runs."""
    facet: str
    """What is repeated: runs, annotators, or nothing."""

    def law(self, repeats: int | None) -> Callable[[int], tuple[float, float]]:
        return lambda n: self.gap.at(runs=repeats, units=n)

    def clustered(self, keys: ClusterKeys | None) -> tuple[Clustered, int] | None:
        """The design effect and the number of clusters of the pilot."""
        if keys is None:
            return None
        code, _ = keys.of(self.keys)
        totals, count = np.bincount(code, self.moved), int(code.max()) + 1
        alone = float((self.moved**2).sum())
        if count < 2 or alone <= 0:
            return None
        effect = count / (count - 1) * float((totals**2).sum()) / alone
        return Clustered(effect, len(self.moved) / count), count


def contrast(a: Pilot, b: Pilot | None, column: int, facet: str) -> Contrast:
    """A score by itself, or the difference of two."""
    if b is None:
        scores, moved = a.of(column)
        return Contrast(a.name, a.keys, nested(scores, moved), moved.mean(0), facet)
    if not np.array_equal(a.keys, b.keys):
        raise MetricError(f"{a.name} and {b.name} do not have the same units; predict all of them, or leave none out")
    (x, left), (y, right) = a.of(column), b.of(column)
    gap = nested_difference((x, left), (y, right), paired_runs=facet == "annotators")
    return Contrast(f"{a.name} − {b.name}", a.keys, gap, left.mean(0) - right.mean(0), facet)


def need(contrast: Contrast, label: str, metric: str, aim: Aim, keys: ClusterKeys | None) -> Need:
    """How large the next evaluation must be for this contrast."""
    se = contrast.gap.se
    size = len(contrast.keys)
    if not np.isfinite(contrast.gap.estimate):
        unknown: list[tuple[int, int | None]] = [] if contrast.facet == "" else [(r, None) for r in REPEATS]
        return Need(contrast.name, metric, label, None, size, None, None, None, [], None, unknown, contrast.facet, None)
    clusters = contrast.clustered(keys)
    effect = clusters[0].effect if clusters else 1.0
    law = _by_cluster(contrast.gap, clusters[0]) if clusters else contrast.law(None)
    units = units_for(law, aim) if se > 0 else None
    return Need(
        contrast.name, metric, label, contrast.gap.estimate, size, se * float(np.sqrt(effect)),
        se * float(np.sqrt(effect * size)), units, _curve(law, size, aim),
        None if not clusters else FacetNeed("clusters", clusters[1], effect, clusters[0].size, _ceil(units, clusters[0].size)),
        [] if contrast.facet == "" else [(r, units_for(contrast.law(r), aim) if se > 0 else None) for r in REPEATS],
        contrast.facet, contrast.gap.runs_share if contrast.facet else None,
    )  # fmt: skip


def _by_cluster(gap: Nested, clusters: Clustered) -> Callable[[int], tuple[float, float]]:
    """Errors of whole clusters of the pilot's size: their number gives the degrees of freedom."""
    return lambda n: (gap.at(units=n)[0] * float(np.sqrt(clusters.effect)), n / clusters.size - 1)


def _ceil(units: int | None, size: float) -> int | None:
    return None if units is None else int(np.ceil(units / size))


def _curve(law: Callable[[int], tuple[float, float]], size: int, aim: Aim) -> list[tuple[int, float]]:
    """Power (or half of the interval's width) at multiples of the pilot."""
    sizes = [max(round(size * k), 2) for k in SIZES]
    value = half_width if aim.width is not None else power_of
    errors = [(n, *law(n)) for n in sizes]
    return [(n, value(se, df, aim)) for n, se, df in errors if df > 0 and se > 0]


def needs(
    methods: Mapping[str, Sequence[SystemResult]], plan: Plan, aim: Aim, facet: str, keys: ClusterKeys | None
) -> list[Need]:  # fmt: skip
    """Every metric of every pair of methods, or of the only one; a difference is one whichever system is better, a margin is not."""
    pilots = [pilot(name, runs, plan) for name, runs in methods.items()]
    pairs: list[tuple[Pilot, Pilot | None]] = [(a, b) for i, a in enumerate(pilots) for b in pilots[i + 1 :]]
    pairs = pairs or [(pilots[0], None)]
    first = next(iter(methods.values()))[0]
    wanted = directed(plan) if len(pilots) > 1 and aim.margin is not None else plan.metrics
    return [
        need(contrast(a, b, k, facet), first.scores[m].label, str(m), aim, keys)
        for a, b in pairs
        for k, m in enumerate(plan.metrics)
        if m in wanted
    ]
