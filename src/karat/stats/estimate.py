# SPDX-License-Identifier: Apache-2.0
"""Intervals of every score of one system: the method that fits each, or the one that was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np

from karat.cells import Cells
from karat.evaluation import Interval, Score, SystemResult
from karat.findings import Finding, finding
from karat.metric import Metric, MetricError
from karat.plan import Plan
from karat.score import ratio
from karat.stats import intervals
from karat.stats.intervals import Bounds
from karat.stats.random import hash_group
from karat.stats.resampling import Clusters, Design, Units
from karat.stats.settings import IntervalSettings
from karat.stats.statistic import Blocked, Statistic
from karat.stats.system import Sample, Stratum
from karat.weights import Floats, Ints, Scores, Texts

AFFORDABLE = 5e8
"""Numbers that the resamples of one system may cost; beyond it the jackknife takes their place."""
CLASS_NUMBERS = 5e7
"""Largest table of resamples × class scores that is held."""
FEW_CLUSTERS = 50
GROUPS = 256
RESAMPLED = {"bca", "percentile", "basic", "poisson"}
NAMES = {m: f"bootstrap-{m}" for m in RESAMPLED} | {"groups": "random-groups"}


@dataclass(frozen=True)
class Table:
    """Bounds of every column, with the method of each."""

    bounds: Bounds
    method: list[str]

    def interval(self, column: int, level: float, limits: tuple[float, float]) -> Interval | None:
        """A column's interval, without what no score can be: `point ± t · se` knows no limits."""
        low, high = float(self.bounds.low[column]), float(self.bounds.high[column])
        if not (np.isfinite(low) and np.isfinite(high)):
            return None
        low, high = max(low, limits[0]), min(high, limits[1])
        drawn = self.bounds.resamples if self.method[column] in RESAMPLED else None
        name = NAMES.get(self.method[column], self.method[column])
        undefined = float(np.broadcast_to(self.bounds.undefined, self.bounds.low.shape)[column]) if drawn else 0.0
        return Interval(level, low, high, name, drawn, float(self.bounds.se[column]), undefined)


def add_intervals(
    result: SystemResult, plan: Plan, settings: IntervalSettings, keys: ClusterKeys | None = None
) -> SystemResult:
    """The system with intervals on its scores, and with what speaks against trusting them."""
    statistic = Statistic(plan.catalogue, plan.metrics, plan.fill)
    names = cluster_names(result.cells, keys) if keys or settings.method == "groups" else None
    clusters = None if names is None else clusters_of(result.cells, _grouped(names, settings))
    scores = with_intervals(result.scores, result.cells, statistic, settings, clusters)
    found = trust_findings(result.cells, scores, statistic, plan.context.unit)
    if keys and clusters and names is not None:
        found += cluster_findings(names, clusters)
    return replace(result, scores=scores, findings=[*result.findings, *(_of_file(f, result.name) for f in found)])


def _of_file(found: Finding, file: str) -> Finding:
    return msgspec.structs.replace(found, file=file)


@dataclass(frozen=True)
class ClusterKeys:
    """Units of gold (test case and id as one text, sorted) and the cluster of each."""

    unit: Texts
    cluster: Texts


ALONE = "\x00"


def cluster_names(cells: Cells, keys: ClusterKeys | None) -> Texts:
    """The cluster of each unit; one that gold puts in none stands alone under its own id."""
    unit = unit_keys(cells)
    alone = np.char.add(ALONE, unit)
    if keys is None or len(keys.unit) == 0:
        return alone
    at = np.minimum(np.searchsorted(keys.unit, unit), len(keys.unit) - 1)
    return np.where(keys.unit[at] == unit, keys.cluster[at], alone)


def unit_keys(cells: Cells) -> Texts:
    """Test case and id of each unit as one text."""
    if cells.unit is None or cells.unit_ids is None:
        raise MetricError("the units of this evaluation were not kept; evaluate with units=True")
    case = np.array(cells.test_cases, str)[cells.test_case[cells.unit]]
    return np.char.add(np.char.add(case, "\x1f"), np.asarray(cells.unit_ids).astype(str))


def _grouped(names: Texts, settings: IntervalSettings) -> Texts:
    return hash_group(names, GROUPS).astype(str) if settings.method == "groups" else names


def clusters_of(cells: Cells, names: Texts) -> dict[int, Clusters]:
    """The clusters of each test case."""
    assert cells.unit is not None
    case, code = cells.test_case[cells.unit], np.unique(names, return_inverse=True)[1]
    out = {}
    for t in range(len(cells.test_cases)):
        inside = cells.test_case == t
        place = np.cumsum(inside) - 1
        out[t] = Clusters.of(code[case == t], place[cells.unit[case == t]], int(inside.sum()))
    return out


def cluster_findings(names: Texts, clusters: Mapping[int, Clusters]) -> list[Finding]:
    alone, size = int(np.char.startswith(names, ALONE).sum()), sum(c.size for c in clusters.values())
    found = [finding("no-cluster", count=alone)] if alone else []
    return found + ([finding("few-clusters", count=size)] if size < FEW_CLUSTERS else [])


def over_test_cases(cells: Cells) -> bool:
    """Whether the units are the test cases themselves (queries): one unit in each of several."""
    return len(cells.test_cases) > 1 and len(cells.test_cases) == len(cells) and bool((cells.n == 1).all())


def sample_of(
    cells: Cells, statistic: Statistic, classes: bool, clusters: Mapping[int, Clusters] | None = None
) -> Sample:
    """The test cases of these cells, each with its statistic; or all of them as one sample of queries."""
    breadth = 4 * max(len(cells.classes), 16)
    if over_test_cases(cells):
        each = Units(np.ones(len(cells.test_cases)), breadth)
        return Sample(
            [stratum_of(cells, np.arange(len(cells.test_cases)), "", statistic, each, classes)], over_cases=True
        )
    strata = []
    for t, name in enumerate(cells.test_cases):
        index = np.flatnonzero(cells.test_case == t)
        design: Design = clusters[t] if clusters else Units(cells.n[index].astype(float), breadth)
        strata.append(stratum_of(cells, index, name, statistic, design, classes))
    return Sample(strata)


def stratum_of(
    cells: Cells, index: Ints, name: str, statistic: Statistic, design: Design, classes: bool = False
) -> Stratum:  # fmt: skip
    """Cells ``index`` as one test case; where queries are the units, ``index`` counts queries."""
    bounded = statistic.shares(len(cells.classes) if classes else 0)
    if over_test_cases(cells):
        values = (statistic.with_classes if classes else statistic.values)(cells.by_test_case(), cells)[index]
        return Stratum(name, _pooled(mean_of(values), cells, index, statistic, classes), design, bounded)
    return Stratum(name, Blocked(statistic.of(cells.take(index), classes), design.n), design, bounded)


def _pooled(mean: Scores, cells: Cells, index: Ints, statistic: Statistic, classes: bool) -> Scores:
    """The mean over units, but for metrics that are not means: theirs is the score of all units as one."""
    columns = [i for i, m in enumerate(statistic.metrics) if statistic.catalogue[m.name].pooled]
    whole = statistic.of(cells.take(index), classes) if columns else mean

    def scores(W: Any) -> Floats:
        out = mean(W)
        out[:, columns] = whole(W)[:, columns]
        return out

    return scores if columns else mean


def mean_of(values: Floats) -> Scores:
    """The mean over units of their defined values, column by column."""
    known = ~np.isnan(values)
    filled, there = np.where(known, values, 0.0), known.astype(float)

    def statistic(W: Any) -> Floats:
        return ratio(W @ filled, W @ there, "").value

    return statistic


def with_intervals(
    scores: Mapping[Metric, Score], cells: Cells, statistic: Statistic, settings: IntervalSettings,
    clusters: Mapping[int, Clusters] | None = None,
) -> dict[Metric, Score]:  # fmt: skip
    """The scores with intervals: overall, by test case and by class."""
    if len(cells) == 0:
        return dict(scores)
    width = len(cells.classes) * len(statistic.class_columns(1))
    classes = 0 < width * settings.resamples <= CLASS_NUMBERS and width * len(cells) <= CLASS_NUMBERS
    tables = estimate(sample_of(cells, statistic, classes, clusters), settings)
    columns = statistic.class_columns(len(cells.classes)) if classes else {}
    return {
        m: _attach(scores[m], i, tables, columns.get(m), (settings.level, statistic.limits(m)))
        for i, m in enumerate(statistic.metrics)
    }


def _attach(
    score: Score, column: int, tables: list[Table], classes: slice | None, how: tuple[float, tuple[float, float]]
) -> Score:
    """``tables``: the overall one, then one per test case; ``how``: the level and the limits of the score."""
    overall, *parts = tables
    cases = score.test_cases if len(parts) == len(score.test_cases) else []
    by_case = {name: t.interval(column, *how) for name, t in zip(cases, parts, strict=False)}
    first = classes.start if classes else 0
    by_class: dict[tuple[str, str], Interval | None] = {}
    for name, table in [("", overall), *zip(cases, parts, strict=False)] if classes else []:
        by_class |= {(name, label): table.interval(first + i, *how) for i, label in enumerate(score.classes)}
    return replace(
        score,
        interval=overall.interval(column, *how) if score.value is not None else None,
        test_case_intervals={k: v for k, v in by_case.items() if v},
        class_intervals={k: v for k, v in by_class.items() if v},
    )


def estimate(sample: Sample, settings: IntervalSettings) -> list[Table]:
    """Bounds of the overall score, then of each test case."""
    method = settings.method
    if method == "auto":
        return _automatic(sample, settings)
    if method in RESAMPLED:
        return _resampled(sample, settings, method)
    return [_closed(s, method, settings) for s in [sample, *sample.parts]]


def _resampled(sample: Sample, settings: IntervalSettings, method: str) -> list[Table]:
    draws = np.stack(
        [s.draws(settings.seed, "interval", settings.resamples, method == "poisson") for s in sample.strata]
    )
    whole = _from_draws(sample, sample.overall(draws), method, settings)
    if len(sample.strata) == 1:
        return [whole, whole][: 1 + len(sample.parts)]
    return [whole, *(_from_draws(Sample([s]), d, method, settings) for s, d in zip(sample.strata, draws, strict=True))]


def _from_draws(sample: Sample, draws: Floats, method: str, settings: IntervalSettings) -> Table:
    accel = sample.acceleration if method == "bca" else np.zeros_like(sample.point)
    low, high = intervals.from_draws(sample.point, draws, accel, method, settings.level)
    bounds = Bounds(low, high, intervals.spread(draws), settings.resamples, np.isnan(draws).mean(0))
    return Table(bounds, [method] * len(sample.point))


def _closed(sample: Sample, method: str, settings: IntervalSettings) -> Table:
    """Methods without random numbers."""
    chosen = {
        "jackknife-t": _jackknife, "student-t": _jackknife, "delta": _delta, "groups": _jackknife,
        "wilson": _proportion, "clopper-pearson": _proportion,
    }[method]  # fmt: skip
    bounds = chosen(sample, settings)
    applies = [
        method not in ("wilson", "clopper-pearson", "student-t") or _fits(sample, method, k)
        for k in range(len(sample.point))
    ]
    blank = np.where(applies, 0.0, np.nan)
    return Table(Bounds(bounds.low + blank, bounds.high + blank, bounds.se), [method] * len(sample.point))


def _fits(sample: Sample, method: str, column: int) -> bool:
    if method == "student-t":
        return all(bool(s.unit_scores.is_mean[column]) for s in sample.strata)
    return len(sample.strata) == 1 and sample.strata[0].is_share(column)


def _jackknife(sample: Sample, settings: IntervalSettings) -> Bounds:
    low, high = intervals.student(sample.point, sample.se, sample.df, settings.level)
    return Bounds(low, high, sample.se)


def _delta(sample: Sample, settings: IntervalSettings) -> Bounds:
    variance = [
        intervals.delta_se(s.statistic, s.design.n) ** 2 * w**2
        for s, w in zip(sample.strata, sample.share, strict=True)
    ]
    se = np.sqrt(np.nansum(variance, 0))
    low, high = intervals.student(sample.point, se, np.inf, settings.level)
    return Bounds(low, high, se)


def _proportion(sample: Sample, settings: IntervalSettings) -> Bounds:
    """Wilson's or Clopper and Pearson's interval of every column; only shares of units may use it."""
    stratum = sample.strata[0]
    known = ~np.isnan(stratum.unit_scores.value)
    n = stratum.seen @ known.astype(float)
    hits = np.round(stratum.seen @ np.where(known, stratum.unit_scores.value, 0.0))
    method = intervals.clopper_pearson if settings.method == "clopper-pearson" else intervals.wilson
    with np.errstate(invalid="ignore", divide="ignore"):
        low, high = method(np.clip(hits, 0, n), n, settings.level)
        return Bounds(low, high, np.sqrt(sample.point * (1 - sample.point) / n))


def _automatic(sample: Sample, settings: IntervalSettings) -> list[Table]:
    """Student for means, Wilson for shares, BCa for the rest; the jackknife where resampling would cost too much."""
    parts = [sample, *sample.parts]
    choices = [[_choice(part, k) for k in range(len(sample.point))] for part in parts]
    if not any("bca" in c for c in choices):
        return [_mixed(part, c, None, settings) for part, c in zip(parts, choices, strict=True)]
    if sum(s.cost(settings.resamples) for s in sample.strata) > AFFORDABLE:
        choices = [["jackknife-t" if m == "bca" else m for m in c] for c in choices]
        return [_mixed(part, c, None, settings) for part, c in zip(parts, choices, strict=True)]
    drawn = _resampled(sample, settings, "bca")
    return [_mixed(part, c, table, settings) for part, c, table in zip(parts, choices, drawn, strict=True)]


def _choice(sample: Sample, column: int) -> str:
    clustered = any(isinstance(s.design, Clusters) for s in sample.strata)
    if clustered and sum(s.design.size for s in sample.strata) < FEW_CLUSTERS:
        return "jackknife-t"
    if clustered or not all(bool(s.unit_scores.is_mean[column]) for s in sample.strata):
        return "bca"
    if len(sample.strata) == 1 and sample.strata[0].is_share(column):
        return "wilson"
    return "bca" if any(abs(_skewness(s, column)) > 1 for s in sample.strata) else "student-t"


def _skewness(stratum: Stratum, column: int) -> float:
    value, n = stratum.unit_scores.value[:, column], stratum.seen
    known = ~np.isnan(value)
    value, n = value[known], n[known]
    if n.sum() == 0:
        return 0.0
    apart = value - (n @ value) / n.sum()
    variance = float(n @ apart**2) / n.sum()
    return float(n @ apart**3) / n.sum() / variance**1.5 if variance > 1e-24 else 0.0


def _mixed(sample: Sample, choice: list[str], drawn: Table | None, settings: IntervalSettings) -> Table:
    """Each column by its own method."""
    tables = {"bca": drawn} if drawn else {}
    if "wilson" in choice:
        tables["wilson"] = Table(_proportion(sample, settings), choice)
    if {"student-t", "jackknife-t"} & set(choice):
        tables["student-t"] = tables["jackknife-t"] = Table(_jackknife(sample, settings), choice)
    picked = [tables[m] for m in choice]
    ends = {
        e: np.array([float(getattr(t.bounds, e)[k]) for k, t in enumerate(picked) if t]) for e in ("low", "high", "se")
    }
    undefined = np.zeros(len(choice)) if drawn is None else drawn.bounds.undefined
    return Table(Bounds(ends["low"], ends["high"], ends["se"], settings.resamples, undefined), choice)


FEW_UNITS, FEW_MEMBERS, OFTEN_UNDEFINED = 30, 10, 0.02


def trust_findings(cells: Cells, scores: Mapping[Metric, Score], statistic: Statistic, unit: str) -> list[Finding]:
    """Why an interval of this size should not be trusted."""
    found = []
    units = int(cells.n.sum())
    if units < FEW_UNITS:
        many = unit[:-1] + "ies" if unit[-1] == "y" else unit + "s"
        found.append(finding("few-units", count=units, counted=unit if units == 1 else many, units=many))
    rare = rare_classes(cells) if any(statistic.catalogue[m.name].by_class for m in statistic.metrics) else []
    if rare:
        shown = ", ".join(f"{label} ({count})" for label, count in rare[:5]) + (", …" if len(rare) > 5 else "")
        found.append(finding("rare-classes", count=len(rare), examples=shown))
    return found + [f for m, s in scores.items() if s.better != "neither" for f in _doubts(str(m), s)]


def _doubts(metric: str, score: Score) -> list[Finding]:
    """What speaks against the interval of one score."""
    found, interval = [], score.interval
    if interval is not None and interval.low == interval.high:
        found.append(finding("interval-degenerate", metric=metric))
    if interval is not None and interval.undefined > OFTEN_UNDEFINED:
        found.append(finding("interval-undefined", metric=metric, share=f"{interval.undefined:.0%}"))
    return found


def rare_classes(cells: Cells) -> list[tuple[str, int]]:
    """Classes with fewer than ten gold members, and how many they have."""
    if not hasattr(cells, "gold_of") or not cells.classes:
        return []
    gold = (cells.pooled() @ cells.gold_of)[0]
    return [(label, int(gold[i])) for i, label in enumerate(cells.classes) if 0 < gold[i] < FEW_MEMBERS]
