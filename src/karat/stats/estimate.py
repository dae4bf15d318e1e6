# SPDX-License-Identifier: Apache-2.0
"""Intervals of every score of one system: the method that fits each, or the one that was asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from karat.cells import Cells, ClassCells
from karat.evaluation import Interval, Score, SystemResult
from karat.findings import Finding
from karat.metric import Metric, MetricError
from karat.plan import Plan
from karat.score import ratio
from karat.stats import intervals
from karat.stats.anytime import anytime
from karat.stats.cases import strata_of
from karat.stats.clusters import ClusterKeys, UnitGroups, cluster_findings, designs, hashed, stratified
from karat.stats.doubts import doubts
from karat.stats.intervals import Bounds
from karat.stats.resampling import Clusters, Design, Strata, Units
from karat.stats.sample import Sample, Stratum
from karat.stats.settings import IntervalSettings
from karat.stats.statistic import Blocked, Mask, Statistic
from karat.stats.units import over_test_cases, unit_keys
from karat.weights import Floats, Ints, Places, Scores

AFFORDABLE = 5e7
"""Numbers that the resamples of one system may cost; beyond it Hall's transformation takes their place."""
SKEWED_UNITS, SKEWED_SCORE = 1.0, 0.3
"""Skewness of unit scores, and of the score itself, beyond which Hall's transformation covers better."""
HEAVY, HEAVY_SHARE = 100, 0.5
"""Degrees of freedom, and their share of single units, below which the tails of a spread of squares are heavy."""
BENT_CLUSTERS = 200
"""Clusters below which BCa covers too little and Hall's transformation of the jackknife does not."""
CLASS_NUMBERS, CLASS_DRAWS = 5e7, 1e7
"""Largest table of cells × class scores that is written out; and of resamples, where nobody asked for them."""
RESAMPLED = {"bca", "percentile", "basic", "poisson"}
NAMES = {m: f"bootstrap-{m}" for m in RESAMPLED} | {"groups": "random-groups"}


@dataclass(frozen=True)
class Table:
    """Bounds of every column, with the method of each."""

    bounds: Bounds
    method: list[str]
    size: Floats
    """Units behind each column."""

    def interval(self, column: int, level: float, limits: tuple[float, float]) -> Interval | None:
        """A column's interval, without what no score can be: `point ± t · se` knows no limits."""
        low, high, se, undefined, bias = self._columns[column]
        if not (math.isfinite(low) and math.isfinite(high)):
            return None
        if low == high and all(map(math.isfinite, limits)):
            low, high = intervals.constant(low, self.size[column], limits, level)
            return Interval(level, float(low), float(high), "rule-of-three", None, 0.0)
        # A greedy ideal may be surpassed, by rankings that are no better than it.
        if low <= limits[1] and high >= limits[0]:
            low, high = max(low, limits[0]), min(high, limits[1])
        drawn = self.bounds.resamples if self.method[column] in RESAMPLED else None
        name = NAMES.get(self.method[column], self.method[column])
        return Interval(level, low, high, name, drawn, se, undefined if drawn else 0.0, bias)

    @cached_property
    def _columns(self) -> list[tuple[float, ...]]:
        """Both ends of each column, its standard error, its undefined share and its bias."""
        ends = self.bounds.low, self.bounds.high, self.bounds.se, self.bounds.undefined, self.bounds.bias
        columns = (np.broadcast_to(end, self.bounds.low.shape).tolist() for end in ends)
        return list(zip(*columns, strict=True))


def add_intervals(
    result: SystemResult, plan: Plan, settings: IntervalSettings, keys: ClusterKeys | UnitGroups | None = None
) -> SystemResult:
    """The system with intervals on its scores, and with what speaks against trusting them."""
    cells, statistic = result.cells, Statistic(plan.catalogue, plan.metrics, plan.fill)
    clusters: Mapping[int, Design] | None = None
    notes = list[Finding]()
    if isinstance(keys, UnitGroups):
        clusters = keys.design(cells)
    elif settings.stratify_by and keys:
        clusters, notes = stratified(cells, keys)
    elif settings.method == "groups":
        clusters = designs(cells, hashed(cells))
    elif keys:
        cluster, alone = keys.of(unit_keys(cells))
        clustered = designs(cells, cluster)
        clusters, notes = clustered, cluster_findings(clustered, alone, len(cluster), keys.column)
    scores = with_intervals(result.scores, cells, statistic, settings, clusters)
    notes = [*doubts(cells, scores, statistic, plan.context.unit), *notes]
    findings = [*result.findings, *(msgspec.structs.replace(f, file=result.name) for f in notes)]
    return replace(result, scores=scores, findings=findings)


def sample_of(
    cells: Cells, statistic: Statistic, classes: bool, clusters: Mapping[int, Design] | None = None
) -> Sample:
    """The test cases of these cells, each with its statistic; or all of them as one sample of queries."""
    if over_test_cases(cells):
        index, breadth = np.arange(len(cells.test_cases)), 4 * max(len(cells.classes), 16)
        whole_design: Design = clusters[0] if clusters else Units(np.ones(len(index)), breadth)
        whole = stratum_of(cells, index, "", statistic, whole_design, classes)
        return Sample([whole], over_cases=True, metrics=len(statistic.metrics))
    shared = None if clusters else strata_of(cells, statistic, classes)
    if shared is not None:
        return Sample(shared, metrics=len(statistic.metrics))
    strata, places = [], Places.of(cells.test_case, len(cells.test_cases))
    for t, name in enumerate(cells.test_cases):
        index = places.cells(t)
        design: Design = clusters[t] if clusters else Units(cells.n[index].astype(float))
        strata.append(stratum_of(cells, index, name, statistic, design, classes))
    return Sample(strata, metrics=len(statistic.metrics))


def stratum_of(
    cells: Cells, index: Ints, name: str, statistic: Statistic, design: Design, classes: bool = False,
    hidden: Mask | None = None,
) -> Stratum:  # fmt: skip
    """Cells ``index`` as one test case; where queries are the units, ``index`` counts queries.

    ``hidden`` marks scores of queries that are not to be read.
    """
    if over_test_cases(cells):
        values = query_scores(cells, statistic, classes)[index]
        values = values if hidden is None else np.where(hidden, np.nan, values)
        scores = _pooled(mean_of(values), cells, index, statistic, classes)
    else:
        scores = Blocked(statistic.of(cells.take(index), classes), design.n)
    return Stratum(name, scores, design, *statistic.facts(len(cells.classes) if classes else 0), cells.repeatable)


def query_scores(cells: Cells, statistic: Statistic, classes: bool = False) -> Floats:
    """Queries × columns."""
    return (statistic.with_classes if classes else statistic.values)(cells.by_test_case(), cells)


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
    clusters: Mapping[int, Design] | None = None,
) -> dict[Metric, Score]:  # fmt: skip
    """The scores with intervals: overall, by test case and by class."""
    if len(cells) == 0:
        return dict(scores)
    sample = sample_of(cells, statistic, True, clusters)
    width = len(cells.classes) * len(statistic.class_columns(1))
    drawn = width * settings.resamples if settings.method in RESAMPLED else 0
    classes = width > 0 and drawn <= CLASS_NUMBERS and (width * len(cells) <= CLASS_NUMBERS or sample.slim)
    tables = estimate(sample if classes else sample_of(cells, statistic, False, clusters), settings)
    if classes:
        support = (cells.pooled() @ cells.gold_of)[0] if isinstance(cells, ClassCells) else np.zeros(0)
        tables = [_by_support(table, support, len(statistic.metrics)) for table in tables]
    columns = statistic.class_columns(len(cells.classes)) if classes else {}
    return {
        m: _attach(scores[m], i, tables, columns.get(m, 0), (settings.level, statistic.limits(m)))
        for i, m in enumerate(statistic.metrics)
    }


def _by_support(table: Table, support: Floats, metrics: int) -> Table:
    """Behind the score of a class stand its gold members, not all units."""
    size = table.size.copy()
    size[metrics:] = np.tile(np.maximum(support, 1), (len(size) - metrics) // max(len(support), 1))
    return replace(table, size=size)


def _attach(
    score: Score, column: int, tables: list[Table], first: int, how: tuple[float, tuple[float, float]]
) -> Score:
    """``tables``: the overall one, then one per test case; ``first``: the column of the first class, or 0;
    ``how``: the level and the limits of the score."""
    overall, *parts = tables
    cases = score.test_cases if len(parts) == len(score.test_cases) else []
    by_case = {name: t.interval(column, *how) for name, t in zip(cases, parts, strict=False)}
    by_class: dict[tuple[str, str], Interval | None] = {}
    for name, table in [("", overall), *zip(cases, parts, strict=False)] if first else []:
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
        if not all(s.repeatable for s in sample.strata):
            raise MetricError(
                f"{method} draws items more than once, and a clustering takes the copies for mates of each other: "
                "ask for jackknife-t"
            )
        return _resampled(sample, settings, method)
    if method == "anytime":
        return [Table(*anytime(s, settings.level), s.sizes) for s in [sample, *sample.parts]]
    return [_closed(s, method, settings) for s in [sample, *sample.parts]]


def _resampled(sample: Sample, settings: IntervalSettings, method: str, columns: int | None = None) -> list[Table]:
    """``columns``: only the first so many."""
    how = settings.resamples, method == "poisson", columns
    draws = np.stack([s.draws(settings.seed, "interval", *how) for s in sample.strata])
    whole = _from_draws(sample, sample.overall(draws), method, settings)
    if len(sample.strata) == 1:
        return [whole, whole][: 1 + len(sample.parts)]
    return [whole, *(_from_draws(Sample([s]), d, method, settings) for s, d in zip(sample.strata, draws, strict=True))]


def _from_draws(sample: Sample, draws: Floats, method: str, settings: IntervalSettings) -> Table:
    point = sample.point[: draws.shape[-1]]
    accel = sample.acceleration[: len(point)] if method == "bca" else np.zeros_like(point)
    low, high = intervals.from_draws(point, draws, accel, method, settings.level)
    undefined = np.isnan(draws).mean(0)
    with np.errstate(invalid="ignore"):
        bias = np.nanmean(np.where(undefined == 1, 0.0, draws), 0) - point
    se = intervals.spread(draws)
    stuck = (low == high) & (se > 0)
    if method == "bca" and stuck.any():  # no resample lies beyond the point: quantiles, where leaving out shows nothing
        flat = stuck & (sample.spread[0][: len(point)] < 1e-9 * se)
        ends = intervals.percentile(draws, settings.level)
        low, high = (np.where(flat, end, bound) for end, bound in zip(ends, (low, high), strict=True))
        methods = np.where(flat, "percentile", method).tolist()
        return Table(Bounds(low, high, se, settings.resamples, undefined, bias), methods, sample.sizes)
    return Table(Bounds(low, high, se, settings.resamples, undefined, bias), [method] * len(low), sample.sizes)


def _closed(sample: Sample, method: str, settings: IntervalSettings) -> Table:
    """Methods without random numbers."""
    chosen = {
        "jackknife-t": _jackknife, "student-t": _jackknife, "groups": _jackknife, "hall-t": _hall, "delta": _delta,
        "wilson": _proportion, "clopper-pearson": _proportion,
    }[method]  # fmt: skip
    bounds = chosen(sample, settings)
    blank = np.where(_fits(sample, method), 0.0, np.nan) + np.zeros(len(sample.point))
    return Table(replace(bounds, low=bounds.low + blank, high=bounds.high + blank), [method] * len(blank), sample.sizes)


def _fits(sample: Sample, method: str) -> Mask | bool:
    """Columns that the method is right for."""
    if method == "student-t":
        return sample.is_mean
    if method in ("wilson", "clopper-pearson"):
        return len(sample.strata) == 1 and sample.strata[0].is_share
    return True


def _jackknife(sample: Sample, settings: IntervalSettings) -> Bounds:
    se, df = sample.spread
    low, high = intervals.student(sample.point, se, df, settings.level)
    return Bounds(low, high, se, bias=sample.bias)


def _hall(sample: Sample, settings: IntervalSettings) -> Bounds:
    se, df = sample.spread
    low, high = intervals.hall(sample.point, se, 6 * sample.acceleration, df, settings.level)
    return Bounds(low, high, se, bias=sample.bias)


def _tailed(sample: Sample, settings: IntervalSettings) -> Bounds:
    se = sample.spread[0]
    low, high = intervals.hall(sample.point, se, 6 * sample.acceleration, sample.spread_df, settings.level)
    return Bounds(low, high, se, bias=sample.bias)


def _odds(sample: Sample, settings: IntervalSettings) -> Bounds:
    se = sample.spread[0]
    low, high = intervals.odds(sample.point, se, sample.spread_df, settings.level)
    return Bounds(low, high, se, bias=sample.bias)


def _folded(sample: Sample, settings: IntervalSettings) -> Bounds:
    """Only of the columns that are sums of distances; the others are left blank."""
    se, df = sample.spread
    low, high, bias = (np.full(len(se), np.nan) for _ in range(3))
    for k in {k for s in sample.strata for k in s.folds}:
        gaps = sample.gaps(k)
        if gaps is not None:
            low[k], high[k], middle = intervals.folded(
                gaps.gap, gaps.se, float(se[k]), float(df[k]), settings.level, gaps.together
            )
            bias[k] = sample.point[k] - middle
    return Bounds(low, high, se, bias=bias)


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
    """The method that fits each column; no resamples where they would cost too much."""
    whole = len(sample.strata) == 1  # then it is its only test case
    parts = [sample] if whole else [sample, *sample.parts]
    choices = [_choice(part) for part in parts]
    drawn: list[Table | None] = [None] * len(parts)
    if any("bca" in c for c in choices):
        few = _drawn_columns(sample, settings)
        choices = [[*c[:few], *_without_bca(c[few:])] for c in choices]
        if few:
            drawn = [_padded(t, len(sample.point)) for t in _resampled(sample, settings, "bca", few)[: len(parts)]]
    tables = [_mixed(part, c, table, settings) for part, c, table in zip(parts, choices, drawn, strict=True)]
    return tables * (1 + len(sample.parts)) if whole else tables


def without_draws(sample: Sample, settings: IntervalSettings) -> Table:
    """Bounds of the overall score by the method that fits each column, none of them by resampling.

    Levels that are corrected for many looks lie far out in the tails, where no resample is.
    """
    return _mixed(sample, _without_bca(_choice(sample)), None, settings)


def _without_bca(choice: Sequence[str]) -> list[str]:
    return ["hall-t" if m == "bca" else m for m in choice]


def _drawn_columns(sample: Sample, settings: IntervalSettings) -> int:
    """How many columns resamples are drawn for: all, the metrics without their classes, or none."""
    draws, metrics = settings.resamples * len(sample.strata), sample.metrics or len(sample.point)
    if draws * metrics > CLASS_NUMBERS or sum(s.cost(settings.resamples) for s in sample.strata) > AFFORDABLE:
        return 0
    return len(sample.point) if draws * len(sample.point) <= CLASS_DRAWS else metrics


def _padded(table: Table, width: int) -> Table:
    """The table with columns that were not drawn."""
    bounds, blank = table.bounds, np.full(width - len(table.method), np.nan)
    ends = bounds.low, bounds.high, bounds.se, bounds.undefined, bounds.bias
    low, high, se, undefined, bias = (np.append(end, blank) for end in ends)
    return replace(table, bounds=Bounds(low, high, se, bounds.resamples, undefined, bias))


def _choice(sample: Sample) -> list[str]:
    """The method that fits each column."""
    clustered = any(isinstance(s.design, Clusters) for s in sample.strata)
    if any(isinstance(s.design, Strata) for s in sample.strata):
        return np.where(sample.is_mean, "jackknife-t", "bca").tolist()
    if not all(s.repeatable for s in sample.strata):
        return ["jackknife-t"] * len(sample.point)
    fits = np.where(6 * np.abs(sample.acceleration) > SKEWED_SCORE, "hall-t", "bca")
    if clustered and sum(s.design.size for s in sample.strata) < BENT_CLUSTERS:
        fits[:] = "hall-t"
    elif not clustered:
        skewed = np.any([np.abs(s.skewness) > SKEWED_UNITS for s in sample.strata], axis=0)
        fits = np.where(sample.is_mean, np.where(skewed, "hall-t", "student-t"), fits)
        whole = sample.is_mean & (sample.strata[0].is_share if len(sample.strata) == 1 else False)
        fits = np.where(whole, "wilson", fits)
    squares = np.all([np.asarray(s.squares) for s in sample.strata], axis=0)
    if squares.any():
        fits = np.where(
            squares & (sample.spread_df < np.minimum(HEAVY, (1 if clustered else HEAVY_SHARE) * sample.sizes)),
            "tailed-t",
            fits,
        )
    out = np.where(np.all([np.asarray(s.odds) for s in sample.strata], axis=0), "logit-t", fits).tolist()
    for column in {k for s in sample.strata for k in s.folds}:
        out[column] = out[column] if sample.gaps(column) is None else "folded-t"
    return out


def _mixed(sample: Sample, choice: list[str], drawn: Table | None, settings: IntervalSettings) -> Table:
    """Each column by its own method; where no resample lies on one side of the point, the jackknife."""
    by_method = {"bca": drawn.bounds, "percentile": drawn.bounds} if drawn else {}
    if drawn:
        stuck = (drawn.bounds.low == drawn.bounds.high) & (sample.spread[0] > 0)
        drawn_by = [*drawn.method, *["bca"] * (len(choice) - len(drawn.method))]
        choice = [m if m != "bca" else "jackknife-t" if stuck[k] else drawn_by[k] for k, m in enumerate(choice)]
    closed = {
        "wilson": _proportion, "student-t": _jackknife, "jackknife-t": _jackknife, "hall-t": _hall, "logit-t": _odds, "folded-t": _folded,
        "tailed-t": _tailed,
    }  # fmt: skip
    by_method |= {m: closed[m](sample, settings) for m in set(choice) - {"bca", "percentile"}}
    ends = {
        end: _chosen({m: getattr(by_method[m], end) for m in set(choice)}, choice)
        for end in ("low", "high", "se", "undefined", "bias")
    }
    return Table(Bounds(**ends, resamples=settings.resamples), choice, sample.sizes)


def _chosen(by_method: dict[str, Any], choice: list[str]) -> Floats:
    """Each column by its own method."""
    whole = {m: values.tolist() if np.ndim(values) else [values] * len(choice) for m, values in by_method.items()}
    return np.array([whole[m][k] for k, m in enumerate(choice)], float)
