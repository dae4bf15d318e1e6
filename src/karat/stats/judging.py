# SPDX-License-Identifier: Apache-2.0
"""Scores from gold for a sample and a judge for all units, system by system and metric by metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from karat.cells import Cells
from karat.evaluation import Interval, JudgedScore, Score, SystemResult
from karat.findings import Finding, InputError, finding
from karat.metric import MetricError
from karat.plan import Plan
from karat.stats.clusters import ClusterKeys
from karat.stats.estimate import stratum_of
from karat.stats.judge import Powered, Reading, powered, stratified
from karat.stats.resampling import Units
from karat.stats.sample import Sample, Stratum
from karat.stats.statistic import Statistic
from karat.stats.units import over_test_cases, unit_keys
from karat.weights import Ints, Texts

FEW_LABELS = 30
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Source:
    """One system scored by gold or by the judge, unit by unit in the order of their ids."""

    cells: Cells
    keys: Texts
    cell: Ints

    @classmethod
    def of(cls, cells: Cells) -> Source:
        keys = unit_keys(cells)
        order = np.argsort(keys)
        return cls(cells, keys[order], order if cells.unit is None else cells.unit[order])

    def strata(self, keep: Mask, statistic: Statistic) -> list[tuple[Stratum, Ints]]:
        """The test cases of the units that are kept, and the cell of each of these units."""
        cell = self.cell[keep]
        if over_test_cases(self.cells):
            return [(stratum_of(self.cells, cell, "", statistic, Units(np.ones(len(cell)))), np.arange(len(cell)))]
        case, out = self.cells.test_case[cell], []
        for t in np.unique(case):
            index, local = np.unique(cell[case == t], return_inverse=True)
            design = Units(np.bincount(local).astype(float))
            out.append((stratum_of(self.cells, index, self.cells.test_cases[t], statistic, design), local))
        return out

    def cases(self, keep: Mask) -> Ints:
        cell = self.cell[keep]
        return np.zeros(len(cell), np.int64) if over_test_cases(self.cells) else self.cells.test_case[cell]


def reading(source: Source, keep: Mask, statistic: Statistic) -> list[Reading]:
    """Every metric's score of the units that are kept, with the influence of each unit."""
    parts = source.strata(keep, statistic)
    sample = Sample([s for s, _ in parts])
    case = np.unique(source.cases(keep), return_inverse=True)[1]
    moved = np.zeros((len(case), len(sample.point)))
    for t, ((_, local), influence) in enumerate(zip(parts, sample.influences(), strict=True)):
        moved[case == t] = influence[local]
    return [Reading(float(v), moved[:, k]) for k, v in enumerate(sample.point)]


def means(source: Source, keep: Mask, statistic: Statistic) -> NDArray[np.bool_]:
    """Metrics that are means of unit scores, and so can be estimated stratum by stratum."""
    parts = source.strata(keep, statistic)
    return np.asarray(np.all([s.unit_scores.is_mean for s, _ in parts], axis=0) & (len(parts) == 1))


def judged_scores(
    systems: Sequence[SystemResult], judged: Sequence[SystemResult], plan: Plan, level: float,
    strata: ClusterKeys | None = None,
) -> tuple[list[JudgedScore], list[Finding]]:  # fmt: skip
    """Every metric of every system, and of every difference of two, from gold and judge together."""
    statistic = Statistic(plan.catalogue, plan.metrics, plan.fill)
    findings, every = list[Finding](), list[_Readings]()
    for system, other in zip(systems, judged, strict=True):
        gold, judge = Source.of(system.cells), Source.of(other.cells)
        both, labelled = np.isin(gold.keys, judge.keys), np.isin(judge.keys, gold.keys)
        findings += _findings(int(both.sum()), len(gold.keys), len(judge.keys))
        every.append(_Field(gold, judge, both, labelled, statistic, _strata(judge, strata)).readings())
    scores = list(systems[0])
    out = [
        _score(name, s, p, level, _limits(statistic, s, of_one))
        for name, readings, of_one in [
            *((s.name, r, True) for s, r in zip(systems, every, strict=True)),
            *((name, r, False) for name, r in _differences(systems, every)),
        ]
        for s, p in zip(scores, readings.powered(), strict=True)
    ]
    return out, list(dict.fromkeys(findings))


def _limits(statistic: Statistic, score: Score, of_one: bool) -> tuple[float, float]:
    """Between what a score can lie, or a difference of two."""
    low, high = statistic.limits(score.metric)
    return (low, high) if of_one else (low - high, high - low)


def _differences(
    systems: Sequence[SystemResult], every: Sequence[_Readings]
) -> Iterator[tuple[str, _Readings]]:  # fmt: skip
    """Every pair of systems that have the same units, first minus second."""
    for (a, left), (b, right) in combinations(zip(systems, every, strict=True), 2):
        if np.array_equal(left.keys, right.keys):
            yield f"{a.name} − {b.name}", left.minus(right)


def _findings(both: int, gold: int, judge: int) -> list[Finding]:
    if both < 2 or both == judge:
        raise InputError([finding("judge-overlap", both=both, gold=gold, judge=judge)])
    out = [finding("judge-lacks-gold", count=gold - both)] if both < gold else []
    return out + ([finding("few-labels", count=both)] if both < FEW_LABELS else [])


def _strata(judge: Source, keys: ClusterKeys | None) -> Texts | None:
    if keys is None:
        return None
    at = np.minimum(np.searchsorted(keys.unit, judge.keys), len(keys.unit) - 1)
    return np.where(keys.unit[at] == judge.keys, keys.cluster[at], "")


Triple = tuple[Reading, Reading, Reading]
"""One metric by gold on the sample, by the judge on the sample, and by the judge on the rest."""


@dataclass(frozen=True)
class _Readings:
    """Every metric of one system, or the difference of two: on all units, and in each stratum."""

    keys: Texts
    whole: list[Triple]
    strata: list[list[Triple]]
    counts: list[int]
    mean: Mask
    """Metrics that can be estimated stratum by stratum."""

    def powered(self) -> list[Powered]:
        return [self._estimate(k) for k in range(len(self.whole))]

    def _estimate(self, k: int) -> Powered:
        if not self.strata or not self.mean[k]:
            return powered(*self.whole[k])
        return stratified([powered(*part[k]) for part in self.strata], self.counts)

    def minus(self, other: _Readings) -> _Readings:
        strata = [_minus(a, b) for a, b in zip(self.strata, other.strata, strict=True)]
        return _Readings(self.keys, _minus(self.whole, other.whole), strata, self.counts, self.mean & other.mean)


def _minus(a: list[Triple], b: list[Triple]) -> list[Triple]:
    return [(x[0] - y[0], x[1] - y[1], x[2] - y[2]) for x, y in zip(a, b, strict=True)]


@dataclass(frozen=True)
class _Field:
    gold: Source
    judge: Source
    both: Mask
    """Units of gold that the judge labels too."""
    labelled: Mask
    """Units of the judge that gold labels too."""
    statistic: Statistic
    strata: Texts | None

    def readings(self) -> _Readings:
        whole = self._of(np.ones(len(self.judge.keys), bool))
        keys = np.concatenate([self.gold.keys[self.both], self.judge.keys])
        if self.strata is None:
            return _Readings(keys, whole, [], [], np.zeros(len(whole), bool))
        names, count = np.unique(self.strata, return_counts=True)
        parts = [self._of(self.strata == name, name) for name in names]
        return _Readings(keys, whole, parts, count.tolist(), means(self.gold, self.both, self.statistic))

    def _of(self, inside: Mask, stratum: str = "") -> list[Triple]:
        """The units of the judge that are inside, which may be a stratum."""
        sample, rest = self.labelled & inside, ~self.labelled & inside
        kept = self.both & np.isin(self.gold.keys, self.judge.keys[sample])
        if kept.sum() < 2 or not rest.any():
            lacks = f"in stratum {str(stratum)!r} " if stratum else ""
            raise MetricError(
                f"{lacks}{int(kept.sum())} units have gold and {int(rest.sum())} have the judge alone: two and one at least are needed"
            )
        groups = [(self.gold, kept), (self.judge, sample), (self.judge, rest)]
        cases = [sorted({s.cells.test_cases[t] for t in np.unique(s.cases(k))}) for s, k in groups]
        if cases[0] != cases[1] or cases[1] != cases[2]:
            raise MetricError("every test case needs units with gold and units that only the judge labels")
        gold, judged, others = (reading(s, k, self.statistic) for s, k in groups)
        return list(zip(gold, judged, others, strict=True))


def _score(name: str, score: Score, mixed: Powered, level: float, limits: tuple[float, float]) -> JudgedScore:
    known = np.isfinite(mixed.estimate) and np.isfinite(mixed.se)
    reach = float(special.stdtrit(max(mixed.labelled - 1, 1), (1 + level) / 2)) * mixed.gold_se
    alone = Interval(
        level, *_inside((mixed.gold - reach, mixed.gold + reach), limits), "jackknife-t", None, mixed.gold_se
    )
    return JudgedScore(
        name, score.metric, score.label, score.better,
        mixed.estimate if known else None,
        Interval(level, *_inside(mixed.interval(level), limits), "prediction-powered", None, mixed.se) if known else None,
        mixed.gold if np.isfinite(mixed.gold) else None, alone if np.isfinite(mixed.gold_se) else None,
        mixed.judge if np.isfinite(mixed.judge) else None, mixed.weight, mixed.labelled, mixed.unlabelled,
        mixed.effective if known else None,
    )  # fmt: skip


def _inside(ends: tuple[float, float], limits: tuple[float, float]) -> tuple[float, float]:
    return max(ends[0], limits[0]), min(ends[1], limits[1])
