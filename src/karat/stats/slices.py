# SPDX-License-Identifier: Apache-2.0
"""Scores by slice of the data: every slice with its interval, how far it is from the rest, and the widest gap."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from karat.cells import Cells
from karat.columns import ordered
from karat.evaluation import Gap, Interval, Score, Slice, SlicedUnits, Slicing, SystemResult
from karat.findings import Finding, InputError, finding
from karat.metric import Metric
from karat.plan import Plan
from karat.stats.clusters import ClusterKeys, designs
from karat.stats.estimate import sample_of, with_intervals, without_draws
from karat.stats.resampling import Design
from karat.stats.sample import Sample
from karat.stats.settings import IntervalSettings
from karat.stats.statistic import Statistic
from karat.stats.units import only, unit_keys
from karat.weights import Ints, Texts

MOST = 100
"""Most slices of a column: more are names of units, not groups of them."""
BINS = 4
"""Bins of a column of numbers, if none are named."""
FEW_NUMBERS = 10
"""Distinct numbers up to which each is a slice of its own."""
SMALL = 30
"""Units below which the score of a slice says little."""
NONE = "(no value)"


@dataclass(frozen=True)
class SliceKeys:
    """A column of gold: its name, and the slice of each of its units (sorted, as `ClusterKeys` has them)."""

    column: str
    unit: Texts
    name: Texts
    order: list[str]
    """The slices as a reader expects them: numbers by size, words by their letters."""

    def of(self, units: Texts) -> Ints:
        """The place in ``order`` of each unit's slice; after the last one for units without."""
        if not len(self.unit):
            return np.full(len(units), len(self.order))
        at = np.minimum(np.searchsorted(self.unit, units), len(self.unit) - 1)
        place = {name: i for i, name in enumerate(self.order)}
        known = np.array([place[name] for name in self.name.tolist()], np.int64)
        return np.where(self.unit[at] == units, known[at], len(self.order))


def spec(text: str, columns: Sequence[str] = ()) -> tuple[str, str]:
    """A column and how its numbers are binned: a number of bins, or the edges between them.

    >>> spec("length"), spec("length:5"), spec("length:0,50,100"), spec("a:b")
    (('length', ''), ('length', '5'), ('length', '0,50,100'), ('a:b', ''))
    """
    match = re.fullmatch(r"(.+):(\d+|-?[\d.]+(?:,-?[\d.]+)+)", text)
    return (text, "") if match is None or text in columns else (match[1], match[2])


def slice_keys(keys: ClusterKeys, bins: str = "") -> SliceKeys:
    """The slices of a column: its values, or bins of them where they are many numbers."""
    numbers = _numbers(keys.cluster)
    few = len(np.unique(keys.cluster)) <= FEW_NUMBERS
    if numbers is not None and (bins or not few):
        name, order = _binned(numbers, bins)
    elif bins:
        example = next((t for t in keys.cluster.tolist() if _numbers(np.array([t])) is None), "")
        raise InputError([finding("slices-not-numbers", column=keys.column, found=example)])
    else:
        name, order = keys.cluster, ordered({*keys.cluster.tolist()})
    if len(order) > MOST:
        raise InputError([finding("too-many-slices", column=keys.column, count=len(order), most=MOST)])
    return SliceKeys(keys.column, keys.unit, name, order)


def _numbers(texts: Texts) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
    try:
        numbers = np.array(texts.tolist(), float)
    except ValueError:
        return None
    return numbers if len(numbers) and np.isfinite(numbers).all() else None


def _binned(values: np.ndarray[tuple[int], np.dtype[np.float64]], bins: str) -> tuple[Texts, list[str]]:
    """The bin of each number: as many of one size as were asked for, or between edges."""
    if "," in bins:
        edges = np.unique(np.array(bins.split(","), float))
        code = np.searchsorted(edges, values, side="right")
        ends = [f"{e:g}" for e in edges]
        names = [
            f"below {ends[0]}",
            *(f"[{a}, {b})" for a, b in pairwise(ends)),
            f"{ends[-1]} or more",
        ]
    else:
        cuts = np.unique(np.quantile(values, np.linspace(0, 1, int(bins or BINS) + 1)[1:-1]))
        code = np.searchsorted(cuts, values, side="left")
        names = [_range(values[code == i]) for i in range(len(cuts) + 1)]
    used = np.unique(code)
    return np.array(names, str)[code], [names[i] for i in used.tolist()]


def _range(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
    """The numbers of a bin by the least and the largest of them."""
    if not len(values):
        return ""
    low, high = f"{values.min():g}", f"{values.max():g}"
    return low if low == high else f"{low} to {high}"


def add_slices(
    result: SystemResult, plan: Plan, columns: Sequence[SliceKeys], settings: IntervalSettings,
    clusters: ClusterKeys | None = None,
) -> SystemResult:  # fmt: skip
    """The system with the slices of every column on its scores."""
    scores, findings, sliced = dict(result.scores), list[Finding](), dict[str, SlicedUnits]()
    for keys in columns:
        cut = Cut(result, plan, keys, settings, clusters)
        scores = {m: replace(s, slices=s.slices | {keys.column: cut.slicing(m)}) for m, s in scores.items()}
        small = [len(p) for p in cut.parts if p.units < SMALL]
        if small:
            findings.append(finding("small-slices", result.name, column=keys.column, count=len(small), least=SMALL))
        sliced[keys.column] = SlicedUnits([*keys.order, NONE], cut.code)
    return replace(result, scores=scores, findings=[*result.findings, *findings], sliced=sliced)


@dataclass(frozen=True)
class Share:
    """Some units of a system: their scores with intervals, and what intervals at other levels need."""

    name: str
    units: int
    scores: Mapping[Metric, Score]
    sample: Sample

    def __len__(self) -> int:
        return self.units


class Cut:
    """One column of one system."""

    def __init__(
        self, result: SystemResult, plan: Plan, keys: SliceKeys, settings: IntervalSettings,
        clusters: ClusterKeys | None,
    ) -> None:  # fmt: skip
        self.cells, self.plan, self.settings, self.clusters = result.cells, plan, settings, clusters
        self.column = keys.column
        self.statistic = Statistic(plan.catalogue, plan.metrics, plan.fill)
        self.code = code = keys.of(unit_keys(result.cells))
        names = [*keys.order, NONE]
        used = np.unique(code).tolist()
        self.parts = [self._share(names[i], code == i) for i in used]
        self.rests = [self._rest(code != i) for i in used] if len(used) > 1 else []
        many = len(self.parts)
        alpha = 1 - settings.level
        self.apart = replace(settings, level=1 - alpha / max(many * (many - 1) // 2, 1), stratify_by=None)
        self.alone = replace(settings, level=1 - alpha / max(many, 1), stratify_by=None)
        self.tables = [(without_draws(p.sample, self.apart), without_draws(p.sample, self.alone)) for p in self.parts]
        self.rest_tables = [without_draws(rest, self.alone) for rest in self.rests]

    def _share(self, name: str, inside: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Share:
        cells = only(self.cells, inside, named=self.clusters is not None)
        scores = self.plan.score(cells)
        design = self._design(cells)
        scored = with_intervals(scores, cells, self.statistic, self.settings, design)
        return Share(name, int(inside.sum()), scored, sample_of(cells, self.statistic, False, design))

    def _rest(self, inside: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Sample:
        cells = only(self.cells, inside, named=self.clusters is not None)
        return sample_of(cells, self.statistic, False, self._design(cells))

    def _design(self, cells: Cells) -> Mapping[int, Design] | None:
        return None if self.clusters is None else designs(cells, self.clusters.of(unit_keys(cells))[0])

    def slicing(self, metric: Metric) -> Slicing:
        """The slices of one metric, worst first, and the gap between the first and the last."""
        column = list(self.statistic.metrics).index(metric)
        scores = [p.scores[metric] for p in self.parts]
        slices = [self._slice(i, column, score) for i, score in enumerate(scores)]
        turned = -1.0 if scores[0].better == "lower" else 1.0
        order = sorted(
            range(len(slices)), key=lambda i: np.inf if slices[i].value is None else turned * (slices[i].value or 0.0)
        )
        known = [i for i in order if slices[i].value is not None]
        directed = scores[0].better != "neither" and len(known) > 1
        gap = self._gap(known[-1], known[0], column, slices) if directed else None
        return Slicing(self.column, scores[0].better, [slices[i] for i in order], gap)

    def _slice(self, i: int, column: int, score: Score) -> Slice:
        part = self.parts[i]
        rest = float(self.rests[i].point[column]) if self.rests else np.nan
        if score.value is None or np.isnan(rest):
            return Slice(part.name, part.units, score.value, score.undefined, score.interval, None, None)
        limits = self.statistic.limits(score.metric)
        ends = (self.tables[i][1].interval(column, self.alone.level, limits),
                self.rest_tables[i].interval(column, self.alone.level, limits))  # fmt: skip
        apart = difference(score.value, rest, *ends, self.settings.level)
        return Slice(part.name, part.units, score.value, None, score.interval, score.value - rest, apart)

    def _gap(self, best: int, worst: int, column: int, slices: Sequence[Slice]) -> Gap:
        a, b = slices[best], slices[worst]
        assert a.value is not None
        assert b.value is not None
        limits = self.statistic.limits(self.statistic.metrics[column])
        of_best, of_worst = (self.tables[i][0].interval(column, self.apart.level, limits) for i in (best, worst))
        interval = difference(a.value, b.value, of_best, of_worst, self.settings.level)
        many = len(slices)
        return Gap(a.name, b.name, a.value - b.value, interval, many * (many - 1) // 2)


def difference(
    a: float, b: float, of_a: Interval | None, of_b: Interval | None, level: float
) -> Interval | None:  # fmt: skip
    """Interval of a − b from those of two scores of different units (Newcombe; Zou and Donner's MOVER).

    It keeps what each interval knows of its score: that a share cannot leave [0, 1], that a score is skewed,
    that all units were right.
    """
    if of_a is None or of_b is None:
        return None
    d = a - b
    low = d - float(np.hypot(a - of_a.low, of_b.high - b))
    high = d + float(np.hypot(of_a.high - a, b - of_b.low))
    return Interval(level, low, high, "mover")
