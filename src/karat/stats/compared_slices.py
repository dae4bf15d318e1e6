# SPDX-License-Identifier: Apache-2.0
"""Systems compared slice by slice: the same tests on the units of each slice, corrected for all slices together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from karat.comparison import ComparedSlice, Comparison, Pair
from karat.evaluation import Evaluation, SystemResult
from karat.findings import Finding, finding
from karat.metric import Metric
from karat.plan import Plan
from karat.progress import told
from karat.stats.clusters import ClusterKeys
from karat.stats.comparing import compare_systems
from karat.stats.settings import ComparisonSettings, IntervalSettings
from karat.stats.slices import NONE, SMALL, SliceKeys
from karat.stats.units import on_common_units, only, unit_keys
from karat.stats.wording import loss_words, sentence
from karat.weights import Ints


def add_slices(
    comparison: Comparison, evaluation: Evaluation, plan: Plan, columns: Sequence[SliceKeys],
    settings: ComparisonSettings, intervals: IntervalSettings, clusters: ClusterKeys | None,
) -> Comparison:  # fmt: skip
    """The comparison with every slice of every column, on the units that all systems have."""
    systems, _ = on_common_units(evaluation.systems, plan)
    codes = {keys.column: [keys.of(unit_keys(s.cells)) for s in systems] for keys in columns}
    places = [(keys, i) for keys in columns for i in np.unique(codes[keys.column][0]).tolist()]
    strict = replace(settings, alpha=settings.alpha / len(places))
    by_column: dict[str, list[ComparedSlice]] = {keys.column: [] for keys in columns}
    findings = list[Finding]()
    for keys, i in told(places, "slices compared"):
        inside = [_inside(s, code == i, plan) for s, code in zip(systems, codes[keys.column], strict=True)]
        part = compare_systems(replace(evaluation, systems=inside), plan, strict, intervals, clusters)
        pairs = [_for_all(pair, len(places), plan, settings) for pair in part.pairs]
        units = int((codes[keys.column][0] == i).sum())
        by_column[keys.column].append(ComparedSlice([*keys.order, NONE][i], units, pairs, part.leaderboards))
    for column, slices in by_column.items():
        small = sum(compared.units < SMALL for compared in slices)
        findings += [finding("small-slices", column=column, count=small, least=SMALL)] if small else []
    ordered = {column: _worst_first(slices, comparison) for column, slices in by_column.items()}
    return replace(comparison, slices=ordered, own_findings=[*comparison.own_findings, *findings])


def _inside(system: SystemResult, inside: Ints, plan: Plan) -> SystemResult:
    """The system on some of its units."""
    cells = only(system.cells, np.asarray(inside, bool))
    return replace(system, cells=cells, scores=plan.score(cells), findings=[])


def _for_all(pair: Pair, slices: int, plan: Plan, settings: ComparisonSettings) -> Pair:
    """The pair with its p for all slices (Bonferroni, over the correction inside each), in words too; the verdict was made so."""
    if pair.p_corrected is None:
        return pair
    loss = pair.non_inferiority and replace(pair.non_inferiority, p=_times(pair.non_inferiority.p, slices))
    out = replace(pair, p_corrected=_times(pair.p_corrected, slices), non_inferiority=loss)
    correction = "bonferroni" if settings.correction == "none" else settings.correction
    low, high = plan.catalogue[pair.metric.name].bounds
    words = sentence(out, correction, high - low) + loss_words(out, settings.margin or 0.0, settings.alpha)
    return replace(out, sentence=words)


def _times(p: float, slices: int) -> float:
    return float(np.minimum(p * slices, 1.0))  # NaN where the test does not apply


def _worst_first(slices: Sequence[ComparedSlice], comparison: Comparison) -> list[ComparedSlice]:
    """By the score of the system that leads on the first metric."""
    metric = next(iter(comparison.leaderboards), None)
    if metric is None:
        return list(slices)
    leader = comparison.leaderboards[metric][0].system
    turned = -1.0 if comparison.of(metric)[0].better == "lower" else 1.0
    return sorted(slices, key=lambda part: _rank(part, metric, leader, turned))


def _rank(part: ComparedSlice, metric: Metric, leader: str, turned: float) -> float:
    value = next((place.value for place in part.boards[metric] if place.system == leader), None)
    return np.inf if value is None else turned * value
