# SPDX-License-Identifier: Apache-2.0
"""Comparison of systems: every pair (or each against a baseline), on every metric, with a corrected verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from karat.comparison import Comparison, Pair, Place, Test
from karat.evaluation import Evaluation, Interval, SystemResult
from karat.findings import Finding, finding
from karat.metric import Metric, MetricError
from karat.plan import Plan
from karat.progress import told
from karat.stats import tests
from karat.stats.anytime_pairs import anytime_difference, anytime_mde, anytime_test
from karat.stats.bayes import correlated_t, signed_rank
from karat.stats.clusters import ClusterKeys
from karat.stats.common import Common, by_case, narrowed, on_units
from karat.stats.corrections import correct, family_size
from karat.stats.disagreements import disagreements
from karat.stats.doubts import FEW_UNITS
from karat.stats.effects import effect
from karat.stats.estimate import add_intervals
from karat.stats.family import Family, Member, agreed, corrected, verdict_of
from karat.stats.influence import influence
from karat.stats.intervals import constant, student
from karat.stats.leaderboard import leaderboard, ranks_over_cases
from karat.stats.losses import with_losses
from karat.stats.maxt import joint_family
from karat.stats.pair import Paired, Part, blanks, parts_of
from karat.stats.pair_tests import FEWER_DRAWS, almost_ordered, pair_tests
from karat.stats.power import units_needed
from karat.stats.random import stream
from karat.stats.randomisation import Coins
from karat.stats.sample import Sample
from karat.stats.settings import JOINT, ComparisonSettings, IntervalSettings
from karat.stats.standing import best_probabilities, no_spread
from karat.stats.statistic import Statistic
from karat.stats.units import Joint, joined, on_common_units
from karat.stats.wording import sentence
from karat.weights import Floats, Ints


def compare_systems(
    evaluation: Evaluation, plan: Plan, settings: ComparisonSettings, intervals: IntervalSettings,
    keys: ClusterKeys | None = None,
) -> Comparison:  # fmt: skip
    """All pairs of the evaluation's systems, or each against the baseline, on the units that all of them have."""
    systems, findings = on_common_units(evaluation.systems, plan)
    if settings.sequential and intervals.method == "auto":
        intervals = replace(intervals, method="anytime")
    systems = [add_intervals(s, plan, intervals, keys) for s in told(systems, "systems with intervals")]
    statistic = Statistic(plan.catalogue, directed(plan), plan.fill)
    joint = joined(systems)
    cluster = None if keys is None else keys.of(joint.keys)[0]
    duels = paired_systems(joint, statistic, settings, cluster)
    drawn = (
        _looked(duels, statistic, settings)
        if settings.sequential
        else all_tests(duels, settings, all(c.repeatable for c in joint.cells))
    )
    drawn = _one_sided(duels, drawn, statistic) if settings.one_sided else drawn
    if "aso" in settings.tests:
        drawn = [
            [[*t, *almost_ordered(duel, k, _turned(statistic, k), settings)] for k, t in enumerate(of_duel)]
            for duel, of_duel in zip(duels, drawn, strict=True)
        ]
    family = family_of(duels, drawn, joint, statistic, settings, cluster)
    pairs = [
        _pair(duel, k, systems, statistic, drawn[i][k], family.of(i, k), settings)
        for i, duel in enumerate(duels)
        for k in range(len(statistic.metrics))
    ]
    pairs = with_losses(pairs, settings)
    boards = _boards(systems, duels, pairs, joint, statistic, settings, intervals, cluster)
    ranked = [ranks_over_cases(m, systems, settings.alpha) for m in statistic.metrics]
    record = dict(evaluation.plan) | {"comparison": settings.to_dict()}
    units = {"table": lambda a, b, metric: disagreements(duels, statistic, joint, a, b, metric)}
    return Comparison(
        replace(evaluation, systems=systems), pairs, settings.correction, family.size, settings.alpha,
        settings.baseline, record, boards, [r for r in ranked if r is not None],
        findings + _findings(pairs, duels, settings), units,
    )  # fmt: skip


def directed(plan: Plan) -> list[Metric]:
    """The metrics that can say which of two systems is better."""
    directed = [m for m in plan.metrics if plan.catalogue[m.name].better != "neither"]
    if not directed:
        names = ", ".join(map(str, plan.metrics))
        raise MetricError(f"{names} cannot say which system is better: give a metric of which more, or less, is better")
    return directed


def paired_systems(
    joint: Joint, statistic: Statistic, settings: ComparisonSettings, cluster: Ints | None
) -> list[Paired]:
    """The pairs of systems that are to be compared."""
    names = joint.names
    if settings.baseline is not None and settings.baseline not in names:
        raise MetricError(f"there is no system {settings.baseline!r} to be the baseline; there are: {', '.join(names)}")
    base = None if settings.baseline is None else names.index(settings.baseline)
    chosen = combinations(range(len(names)), 2) if base is None else ((i, base) for i in range(len(names)) if i != base)
    parts = parts_of(joint, statistic, cluster)
    out = []
    for a, b in chosen:
        hidden = blanks(joint, statistic, (a, b))
        kept = narrowed(joint, hidden, a)
        here, inside = on_units(joint, cluster, kept)
        own_parts = parts_of(here, statistic, inside, hidden) if hidden else parts
        out.append(Paired.of((a, b), (names[a], names[b]), (own_parts[a], own_parts[b]), by_case(here, inside), kept))
    return out


def all_tests(duels: Sequence[Paired], settings: ComparisonSettings, repeatable: bool) -> list[list[list[Test]]]:
    """Tests of every pair on every metric; more draws where so many tests leave p at its floor undecided."""
    coins = Coins(settings.seed, "swap")
    first = replace(settings, draws=FEWER_DRAWS) if settings.draws is None and len(duels) > MANY_PAIRS else settings
    drawn = [pair_tests(d, first, coins, repeatable) for d in told(duels, "pairs tested")]
    again = _decidable(drawn, settings) if settings.draws is None else []
    for i in told(again, "pairs looked at again"):
        drawn[i] = pair_tests(duels[i], replace(settings, draws=GROWN), coins, repeatable)
    return drawn


def _decidable(drawn: Sequence[Sequence[Sequence[Test]]], settings: ComparisonSettings) -> list[int]:
    """Pairs with a test that more draws could decide: its corrected p would show it, were all at their best.

    That is p of no draw as extreme, or that of tilted draws below it, which are few at a first look and may say too much.
    """
    alone = settings.correction in ("none", *JOINT)
    alpha = settings.alpha / (1 if alone else sum(len(tests) for tests in drawn))
    first = [(i, t[0]) for i, of_pair in enumerate(drawn) for t in of_pair if t]
    near = np.array([_is_open(t, alpha) for _, t in first], bool)
    short = np.array([1 / (t.draws + 1) > alpha for _, t in first], bool)
    p = np.array([t.p for _, t in first])
    best = np.where(near, np.minimum(p / TILTED_DIFFER, 1 / (GROWN + 1)), p)
    shown = correct(best, "none" if alone else settings.correction) <= settings.alpha
    return sorted({first[k][0] for k in np.flatnonzero(near & short & shown)})


def _is_open(test: Test, alpha: float) -> bool:
    """Whether more draws could tell on which side of the level p lies: not where its bound is below it already."""
    return bool(test.draws) and not test.exact and alpha < test.p < 5 / test.draws


def _looked(duels: Sequence[Paired], statistic: Statistic, settings: ComparisonSettings) -> list[list[list[Test]]]:
    """Tests that hold at every look."""
    return [
        [
            [anytime_test(duel, k, _limits(statistic, k), settings.alpha)] if np.isfinite(duel.difference[k]) else []
            for k in range(len(statistic.metrics))
        ]
        for duel in duels
    ]


def _one_sided(
    duels: Sequence[Paired], drawn: list[list[list[Test]]], statistic: Statistic
) -> list[list[list[Test]]]:  # fmt: skip
    """The same tests of "the first is better"."""
    return [
        [
            [tests.one_sided(t, _turned(statistic, k) * duel.difference[k]) for t in of_metric]
            for k, of_metric in enumerate(of_duel)
        ]
        for duel, of_duel in zip(duels, drawn, strict=True)
    ]


def _turned(statistic: Statistic, k: int) -> float:
    return -1.0 if statistic.catalogue[statistic.metrics[k].name].better == "lower" else 1.0


GROWN = 99_999
"""Draws where the usual number cannot decide."""
TILTED_DIFFER = 3.0
"""How many times larger p of few tilted draws may be than that of many."""
MANY_PAIRS = 300
"""Pairs beyond which fewer draws are a first look at each."""


def family_of(
    duels: Sequence[Paired], drawn: list[list[list[Test]]], joint: Joint, statistic: Statistic,
    settings: ComparisonSettings, cluster: Ints | None,
) -> Family:  # fmt: skip
    """All p-values corrected together, with the intervals that go with them."""
    raw = np.array([[t[0].p if t else np.nan for t in tests] for tests in drawn])
    raw = np.where(np.isnan([d.difference for d in duels]), np.nan, raw)
    if settings.correction in JOINT:
        fixed = ~np.all([d.swappable for d in duels], axis=0)
        if fixed.any():
            names = ", ".join(str(m) for m, no in zip(statistic.metrics, fixed, strict=True) if no)
            raise MetricError(
                f"{settings.correction} mixes the outcomes of the systems, and those of {names} have no common labels or levels: "
                "correct with holm, or leave these metrics out"
            )
        common = Common.of(joint, statistic, cluster)
        return joint_family(duels, common.parts, common.clusters, settings, family_size(raw))
    floor = np.array([[bool(t) and t[0].at_floor for t in tests] for tests in drawn])
    return corrected(raw, floor, settings)


def _pair(
    duel: Paired, k: int, systems: Sequence[SystemResult], statistic: Statistic, drawn: list[Test], family: Member,
    settings: ComparisonSettings,
) -> Pair:  # fmt: skip
    metric = statistic.metrics[k]
    score = systems[duel.a].scores[metric]
    turned = -1.0 if score.better == "lower" else 1.0
    difference, se, df = duel.difference[k], float(duel.spread[0][k]), float(duel.spread[1][k])
    known = bool(np.isfinite(difference))
    units = duel.unit_differences(k)
    reject = known and bool(drawn) and family.p <= settings.alpha
    verdict = verdict_of(turned * difference, family.p, settings.alpha)
    pair = Pair(
        duel.names[0], duel.names[1], score.metric, score.label, score.better, duel.units_of(k),
        _number(duel.samples[0].point[k]), _number(duel.samples[1].point[k]), _number(difference),
        _interval(duel, k, settings.alone, None, drawn[0].p <= settings.alpha, statistic, settings) if known and drawn else None,
        drawn, _number(drawn[0].p) if drawn else None,
        _number(family.p) if known else None, verdict,
        mde=family.detectable(se, df) if known and se > 0 else None,
        needed=_needed(se, duel.units_of(k), family.alpha, settings) if known else None,
        effect=None if units is None or _is_silent(units[0], difference) else effect(turned * units[0], units[1]),
        test_cases=_case_wins(duel, k, turned),
        equivalence=_equivalence(duel, k, settings, statistic) if known and settings.margin else None,
        posterior=_posterior(duel, k, turned, settings) if known and settings.rope is not None else None,
        simultaneous=_interval(duel, k, family.alpha, family.reach, reject, statistic, settings) if known and drawn else None,
        p_is_bound=family.bound, clusters=duel.clusters,
        non_inferiority=tests.non_inferiority(turned * difference, se, df, settings.margin)
        if known and settings.margin and "non-inferiority" in settings.tests else None,
    )  # fmt: skip
    if settings.sequential and pair.mde is not None:
        pair = replace(pair, mde=anytime_mde(se, duel.clusters or duel.units_of(k), family.alpha))
    low, high = statistic.catalogue[metric.name].bounds
    return replace(pair, sentence=sentence(pair, settings.correction, high - low))


def _interval(
    duel: Paired, k: int, alpha: float, reach: float | None, reject: bool, statistic: Statistic,
    settings: ComparisonSettings,
) -> Interval | None:  # fmt: skip
    """Around the difference, with 0 inside exactly if the test does not rule it out."""
    d, se = float(duel.difference[k]), float(duel.spread[0][k])
    ends, method = _ends(duel, k, alpha, reach, statistic, settings)
    if ends is None:
        return None
    low, high = ends
    if not settings.one_sided or reject or _turned(statistic, k) * d > 0:  # else the test has nothing to say
        low, high = agreed(low, high, d, reject)
    return Interval(1 - alpha, low, high, method, None, se)


def _ends(
    duel: Paired, k: int, alpha: float, reach: float | None, statistic: Statistic, settings: ComparisonSettings
) -> tuple[tuple[float, float] | None, str]:
    """Of the interval by itself, and how it was made; none where there is no spread and the metric has no limits."""
    d, se, df = float(duel.difference[k]), float(duel.spread[0][k]), duel.spread[1][k]
    limits = _limits(statistic, k)
    if settings.sequential and se > 0:
        return anytime_difference(duel, k, limits, alpha)
    if se > 0:
        low, high = (d - reach, d + reach) if reach is not None else student(np.array(d), np.array(se), df, 1 - alpha)
        return (max(float(low), limits[0]), min(float(high), limits[1])), "paired jackknife-t"
    if not np.isfinite(limits).all():
        return None, ""
    return constant(d, duel.clusters or duel.units_of(k), limits, 1 - alpha), "rule-of-three"


def _limits(statistic: Statistic, k: int) -> tuple[float, float]:
    """Between what a difference of two scores can lie."""
    low, high = statistic.limits(statistic.metrics[k])
    return low - high, high - low


def _is_silent(units: Floats, difference: float) -> bool:
    """Does the metric say nothing of single units? One alone carries no information (ICM), yet the systems differ."""
    return bool(difference) and not units.any()


def _needed(se: float, units: int, alpha: float, settings: ComparisonSettings) -> int | None:
    """Units of the same kind that show a difference of ``settings.detect``: the spread of one unit is se·√n."""
    if settings.detect is None or not se > 0:
        return None
    return int(np.ceil(units_needed(settings.detect / (se * np.sqrt(units)), alpha=alpha)))


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _case_wins(duel: Paired, k: int, turned: float) -> tuple[int, int, int] | None:
    d = turned * duel.differences[:, k]
    d = tests.settled(d[~np.isnan(d)])
    return None if len(d) < 2 else (int((d > 0).sum()), int((d == 0).sum()), int((d < 0).sum()))


def _equivalence(duel: Paired, k: int, settings: ComparisonSettings, statistic: Statistic) -> Test:
    assert settings.margin is not None
    se, df = (float(x[k]) for x in duel.spread)
    if se > 0:
        return tests.tost(float(duel.difference[k]), se, df, settings.margin)
    return tests.tost_constant(
        float(duel.difference[k]), duel.clusters or duel.units_of(k), settings.margin, _limits(statistic, k)
    )


FEW_CASES = 5


def _posterior(duel: Paired, k: int, turned: float, settings: ComparisonSettings) -> Any:
    """Over test cases if there are enough, else over units; nothing where these show no spread."""
    assert settings.rope is not None
    d = turned * duel.differences[:, k]
    d = d[~np.isnan(d)]
    if len(d) >= FEW_CASES:
        return signed_rank(d, settings.rope, stream(settings.seed, "rope"))
    size, se = max(duel.units_of(k), 2), float(duel.spread[0][k])
    return correlated_t(turned * duel.difference[k], se * np.sqrt(size), size, settings.rope) if se > 0 else None


def _boards(
    systems: Sequence[SystemResult], duels: Sequence[Paired], pairs: Sequence[Pair], joint: Joint,
    statistic: Statistic, settings: ComparisonSettings, intervals: IntervalSettings, cluster: Ints | None,
) -> dict[Metric, list[Place]]:  # fmt: skip
    """By metric, the systems from best to worst, over the queries and test cases that all have a score for."""
    lacking = [any(d.lacks(k) for d in duels) for k in range(len(statistic.metrics))]
    common = Common.of(joint, statistic, cluster) if any(lacking) else None
    paired = {i: p for d in duels for i, p in zip((d.a, d.b), d.parts, strict=True)}
    parts, out = [paired.get(i, []) for i in range(len(systems))], {}
    for k, m in enumerate(statistic.metrics):
        scored = list(systems) if common is None or not lacking[k] else common.systems(systems, k, intervals)
        best = _best(parts if common is None else common.scored_for(k), k, m, systems, settings.seed)
        out[m] = leaderboard(m, scored, pairs, settings.baseline, best)
    return out


def _best(
    parts: Sequence[list[Part]], column: int, metric: Metric, systems: Sequence[SystemResult], seed: int
) -> list[float | None]:
    """Probability of each system that no other is better on the metric of this column.

    None without a score, and where the leader is ahead of it by as much on every unit: no spread is no certainty.
    """
    points = [Sample([p.stratum for p in of_system]).point[column] if of_system else np.nan for of_system in parts]
    known = [i for i in range(len(parts)) if np.isfinite(points[i])]
    known.sort(key=lambda i: systems[i].name)  # so that the order of files changes no digit
    if not known:
        return [None] * len(systems)
    moved = np.stack([influence(parts[i], column) for i in known])
    lower = systems[0].scores[metric].better == "lower"
    score = np.array([points[i] for i in known])
    covariance, units = moved @ moved.T, moved.shape[1]
    df = max(units - 1, 1) if units <= FEW_UNITS else np.inf
    chances = best_probabilities(score, covariance, stream(seed, "best"), lower=lower, df=df)
    flat = no_spread(score, covariance, int(np.argmin(score) if lower else np.argmax(score)))
    chance = {i: None if unknown else p for i, p, unknown in zip(known, chances.tolist(), flat, strict=True)}
    return [chance.get(i) for i in range(len(systems))]


NEED_UNITS = {"wilcoxon": "Wilcoxon", "sign": "sign", "aso": "almost stochastic order"}
"""Tests that are asked for by name and read scores of single units, with what results call them."""


def constant_differences(pairs: Sequence[Pair]) -> list[Finding]:
    """Pairs whose difference is the same on every unit."""
    flat = [p for p in pairs if p.interval is not None and p.interval.method == "rule-of-three"]
    return [finding("difference-constant", count=len(flat), units=flat[0].units)] if flat else []


def _findings(pairs: Sequence[Pair], duels: Sequence[Paired], settings: ComparisonSettings) -> list[Finding]:
    """What a reader of the verdicts must know."""
    out = []
    undecided = [p for p in pairs if p.undecided]
    if undecided:
        draws = min(p.tests[0].draws for p in undecided)
        out.append(finding("too-few-draws", count=len(undecided), draws=draws, family=len(pairs)))
    out += constant_differences(pairs)
    asked = [t for t in settings.tests if t in NEED_UNITS]
    known = {NEED_UNITS[t] for t in asked}
    silent = sorted({str(p.metric) for p in pairs if p.tests and not known & {t.name for t in p.tests}})
    if asked and silent:
        out.append(finding("test-needs-units", tests=" and ".join(asked), metrics=", ".join(silent)))
    lacking = (d.lacks(k) for d in duels for k in range(len(d.difference)))
    short = sorted({str(p.metric) for p, lacks in zip(pairs, lacking, strict=True) if lacks})
    if short:
        out.append(finding("common-cases", metrics=", ".join(short)))
    return out
