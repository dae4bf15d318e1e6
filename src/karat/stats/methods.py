# SPDX-License-Identifier: Apache-2.0
"""Methods of several runs: their mean scores, and comparisons that hold for new runs as well as for new units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NoReturn

import numpy as np

from karat.comparison import Comparison, Pair, RunPlan, Test
from karat.evaluation import Evaluation, Interval, MethodScore, Score, SystemResult
from karat.findings import Finding, finding
from karat.metric import Metric, MetricError
from karat.plan import Plan
from karat.score import mean_defined
from karat.stats import tests
from karat.stats.bayes import correlated_t
from karat.stats.clusters import ClusterKeys
from karat.stats.comparing import constant_differences, directed
from karat.stats.doubts import FEW_UNITS
from karat.stats.estimate import add_intervals
from karat.stats.family import Member, agreed, corrected, verdict_of
from karat.stats.influence import influence
from karat.stats.leaderboard import leaderboard, ranks_over_cases
from karat.stats.losses import with_losses
from karat.stats.pair import Part, parts_of
from karat.stats.pair_tests import almost_stochastic_order
from karat.stats.power import POWER
from karat.stats.random import stream
from karat.stats.runs import Nested, mde_of, nested, nested_difference
from karat.stats.sample import Sample
from karat.stats.settings import JOINT, ComparisonSettings, IntervalSettings
from karat.stats.standing import best_probabilities, no_spread
from karat.stats.statistic import Statistic
from karat.stats.units import Joint, joined, on_common_units
from karat.stats.wording import sentence
from karat.weights import Floats

FEW_RUNS = 5
Groups = Mapping[str, Sequence[int]]


@dataclass(frozen=True)
class Field:
    """All runs of all methods over the same units."""

    joint: Joint
    parts: Sequence[Sequence[Part]]
    groups: Groups
    statistic: Statistic

    @classmethod
    def of(
        cls, systems: Sequence[SystemResult], statistic: Statistic, groups: Groups, keys: ClusterKeys | None
    ) -> Field:
        joint = joined(systems)
        parts = parts_of(joint, statistic, None if keys is None else keys.of(joint.keys)[0])
        return cls(joint, parts, groups, statistic)

    @property
    def units(self) -> int:
        return len(self.joint.keys)

    def limits(self, metric: Metric) -> tuple[float, float]:
        """Between what a difference of two scores can lie."""
        low, high = self.statistic.limits(metric)
        return low - high, high - low

    def reading(self, method: str, column: int) -> tuple[Floats, Floats]:
        """Scores of a method's runs, and the influence of each unit (or cluster) on each."""
        runs = [self.parts[i] for i in self.groups[method]]
        scores = np.array([Sample([p.stratum for p in r]).point[column] for r in runs])
        return scores, np.stack([influence(r, column) for r in runs])


def method_scores(
    systems: Sequence[SystemResult], groups: Groups, plan: Plan, level: float, keys: ClusterKeys | None = None
) -> tuple[list[MethodScore], list[Finding]]:
    """Every metric of every method: the mean over its runs, with an interval for new runs and new units."""
    statistic = Statistic(plan.catalogue, plan.metrics, plan.fill)
    systems, findings = on_common_units(systems, plan)
    field = Field.of(systems, statistic, groups, keys)
    scores = [
        _method_score(field, name, k, systems[groups[name][0]].scores[m], statistic, level)
        for name in groups
        for k, m in enumerate(statistic.metrics)
    ]
    return scores, [*findings, *_run_findings(groups)]


def _method_score(field: Field, name: str, k: int, score: Score, statistic: Statistic, level: float) -> MethodScore:
    values, moved = field.reading(name, k)
    known = bool(np.isfinite(values).all())
    spread = float(values.std(ddof=1)) if known and len(values) > 1 else None
    if not known:
        return MethodScore(name, score.metric, score.label, score.better, len(values), None, spread, None, None)
    mean = replace(nested(values, moved), limits=statistic.limits(score.metric))
    share = mean.runs_share if len(values) > 1 else None
    return MethodScore(
        name, score.metric, score.label, score.better, len(values), mean.estimate, spread, _interval(mean, level), share
    )


def _interval(mean: Nested, level: float) -> Interval | None:
    """None where nothing varies and the score has no limits: then nothing is known."""
    low, high = mean.interval(level)
    if not (np.isfinite(low) and np.isfinite(high)):
        return None
    return Interval(level, low, high, "nested-t" if mean.se > 0 else "rule-of-three", None, mean.se)


def _run_findings(groups: Groups) -> list[Finding]:
    single = [name for name, runs in groups.items() if len(runs) == 1]
    few = [name for name, runs in groups.items() if 1 < len(runs) < FEW_RUNS]
    out = [finding("single-run", names=", ".join(single), count=len(single))] if single else []
    return out + ([finding("few-runs", names=", ".join(few), count=min(len(groups[n]) for n in few))] if few else [])


def compare_methods(
    evaluation: Evaluation, groups: Groups, plan: Plan, settings: ComparisonSettings, intervals: IntervalSettings,
    keys: ClusterKeys | None = None,
) -> Comparison:  # fmt: skip
    """All pairs of methods, or each against the baseline, as if runs and units were drawn anew."""
    if settings.baseline is not None and settings.baseline not in groups:
        there = ", ".join(groups)
        raise MetricError(f"there is no method {settings.baseline!r} to be the baseline; there are: {there}")
    if settings.correction in JOINT:
        raise MetricError(
            f"{settings.correction} swaps outcomes of single runs; with several runs take holm or hochberg"
        )
    if settings.sequential:
        raise MetricError("methods of several runs have no e-values: compare single runs while the data grow")
    if settings.paired_runs and len({len(runs) for runs in groups.values()}) > 1:
        counts = ", ".join(f"{name} has {len(runs)}" for name, runs in groups.items())
        raise MetricError(f"runs cannot be paired: {counts}")
    systems, findings = on_common_units(evaluation.systems, plan)
    systems = [add_intervals(s, plan, intervals, keys) for s in systems]
    scores, more = method_scores(systems, groups, plan, intervals.level, keys)
    systems[0] = replace(systems[0], findings=[*systems[0].findings, *more])
    evaluation = replace(evaluation, systems=systems, methods=scores)
    metrics = directed(plan)
    field = Field.of(systems, Statistic(plan.catalogue, metrics, plan.fill), groups, keys)
    base = settings.baseline
    chosen = list(combinations(groups, 2)) if base is None else [(name, base) for name in groups if name != base]
    drafts = [
        _pair(field, a, b, k, systems[0].scores[m], settings) for a, b in chosen for k, m in enumerate(metrics)
    ]  # fmt: skip
    raw = np.array([[np.nan if d.p is None else d.p] for d in drafts])
    family = corrected(raw, np.zeros(raw.shape, bool), settings)
    pairs = [_advised(_decided(d, family.of(i, 0), settings), family.alpha, settings) for i, d in enumerate(drafts)]
    pairs = with_losses(pairs, settings)
    means = [averaged(name, [systems[i] for i in groups[name]]) for name in groups]
    means = [_with_intervals(mean, scores) for mean in means]
    boards = {
        m: leaderboard(m, means, pairs, settings.baseline, _best(field, k, means[0].scores[m], settings.seed))
        for k, m in enumerate(metrics)
    }
    ranked = [ranks_over_cases(m, means, settings.alpha) for m in metrics]
    record = dict(evaluation.plan) | {
        "comparison": settings.to_dict() | {"runs": {n: len(g) for n, g in groups.items()}}
    }
    return Comparison(
        evaluation, pairs, settings.correction, family.size, settings.alpha, settings.baseline, record, boards,
        [r for r in ranked if r is not None], [*findings, *constant_differences(pairs)], {"table": _no_units}, list(groups),
    )  # fmt: skip


def _no_units(*_: Any) -> NoReturn:
    raise MetricError("methods of several runs have no scores of single units; compare two runs by themselves")


def _pair(field: Field, a: str, b: str, k: int, score: Score, settings: ComparisonSettings) -> Pair:
    sides = [field.reading(name, k) for name in (a, b)]
    first, second = (float(values.mean()) if np.isfinite(values).all() else None for values, _ in sides)
    empty = Pair(
        a, b, score.metric, score.label, score.better, field.units, first, second, None, None, [], None, None,
        "undefined", None,
    )  # fmt: skip
    if first is None or second is None:
        return empty
    gap = replace(
        nested_difference(sides[0], sides[1], paired_runs=settings.paired_runs), limits=field.limits(score.metric)
    )
    turned = -1.0 if score.better == "lower" else 1.0
    deciding = Test("nested t", gap.p(), gap.estimate / gap.se if gap.se > 0 else np.nan)
    beside = [deciding, *_beside(sides, a, b, turned, settings)]
    if settings.one_sided:
        beside = [tests.one_sided(t, turned * gap.estimate) for t in beside]
    return replace(
        empty,
        difference=gap.estimate,
        interval=_interval(gap, 1 - settings.alone),
        tests=beside,
        p=beside[0].p,
        non_inferiority=tests.non_inferiority(turned * gap.estimate, gap.se, gap.df, settings.margin)
        if settings.margin and "non-inferiority" in settings.tests
        else None,
        equivalence=_equivalence(gap, settings.margin) if settings.margin else None,
        posterior=_posterior(gap, turned, settings),
        runs=RunPlan(len(sides[0][0]), len(sides[1][0]), gap.runs_share, gap=gap),
    )


def _equivalence(gap: Nested, margin: float) -> Test:
    if gap.se > 0:
        return tests.tost(gap.estimate, gap.se, gap.df, margin)
    return tests.tost_constant(gap.estimate, gap.units, margin, gap.limits)


def _posterior(gap: Nested, turned: float, settings: ComparisonSettings) -> Any:
    if settings.rope is None or not gap.se > 0:
        return None
    size = gap.df + 1  # so that the posterior has the degrees of freedom of the interval
    return correlated_t(turned * gap.estimate, gap.se * np.sqrt(size), size, settings.rope)


def _beside(
    sides: Sequence[tuple[Floats, Floats]], a: str, b: str, turned: float, settings: ComparisonSettings
) -> list[Test]:
    """What the runs alone would say, and almost stochastic order of their scores where it is asked for."""
    (x, _), (y, _) = sides
    out = [welch(x, y)] if min(len(x), len(y)) > 1 else []
    if "aso" in settings.tests and min(len(x), len(y)) > 1:
        out.append(almost_stochastic_order(turned * x, turned * y, (a, b), "runs", settings))
    return out


def welch(x: Floats, y: Floats) -> Test:
    """Welch's t of the runs' scores: whether the methods differ on these very units."""
    v, w = x.var(ddof=1) / len(x), y.var(ddof=1) / len(y)
    if tests.is_constant(x) and tests.is_constant(y):
        return Test("Welch t of runs", np.nan, note="the runs do not vary")
    t = float((x.mean() - y.mean()) / np.sqrt(v + w))
    df = float((v + w) ** 2 / (v**2 / (len(x) - 1) + w**2 / (len(y) - 1)))
    return Test("Welch t of runs", tests.tail_of(t, df, "two-sided"), t, note="new runs on these very units")


def _decided(pair: Pair, member: Member, settings: ComparisonSettings) -> Pair:
    """The pair with its verdict, the interval that goes with it, and what the corrected test would show."""
    gap = pair.runs.gap if pair.runs else None
    if gap is None:
        return replace(pair, sentence=sentence(pair, settings.correction))
    reject = member.p <= settings.alpha
    alone = _interval(gap, 1 - member.alpha)
    idle = settings.one_sided and not reject and (pair.gain or 0.0) < 0  # the test has nothing to say of a loss
    if alone is not None and not idle:
        low, high = agreed(alone.low, alone.high, gap.estimate, reject)
        alone = replace(alone, low=low, high=high)
    decided = replace(
        pair,
        p_corrected=member.p if np.isfinite(member.p) else None,
        verdict=verdict_of(pair.gain or 0.0, member.p, settings.alpha),
        simultaneous=alone,
        mde=mde_of((gap.se, gap.df), member.alpha, POWER) if gap.se > 0 else None,
    )
    return replace(decided, sentence=sentence(decided, settings.correction))


def _advised(pair: Pair, alpha: float, settings: ComparisonSettings) -> Pair:
    """A pair that is not decided, with what would decide it if its difference is the true one."""
    if pair.runs is None or pair.runs.gap is None:
        return pair
    gap = pair.runs.gap
    aim = settings.detect or abs(gap.estimate)
    wanted = aim > 0 < gap.se and (pair.verdict == "inconclusive" or settings.detect is not None)
    runs = gap.runs_needed(aim, alpha=alpha) if wanted else None
    units = gap.units_needed(aim, alpha=alpha) if wanted else None
    advised = replace(pair, needed=units, runs=replace(pair.runs, needed=runs))
    return replace(advised, sentence=_sentence(advised, aim) if wanted else pair.sentence)


def _sentence(pair: Pair, aim: float) -> str:
    assert pair.runs is not None
    ways = [
        f"{pair.runs.needed:,} runs of each" if pair.runs.needed else "",
        f"{pair.needed:,} units" if pair.needed else "",
    ]
    ways = [w for w in ways if w]
    need = f"a true difference of {aim:.3g} would need {' or '.join(ways)}" if ways else (
        f"neither more runs nor more units alone would show a difference of {aim:.3g}"
    )  # fmt: skip
    return f"{pair.sentence.removesuffix('.')}; runs make {pair.runs.share:.0%} of the variance; {need}."


def averaged(name: str, runs: Sequence[SystemResult]) -> SystemResult:
    """A method as a system whose scores are the means over its runs, overall and by test case."""
    scores = {m: _mean_score([r.scores[m] for r in runs]) for m in runs[0].scores}
    return SystemResult(name, scores, runs[0].counts, [], runs[0].cells)


def _mean_score(scores: Sequence[Score]) -> Score:
    values = [s.value for s in scores]
    known = [v for v in values if v is not None]
    alike = all(s.test_cases == scores[0].test_cases for s in scores)
    table = mean_defined(np.stack([s.result.value for s in scores], -1)) if alike else scores[0].result.value
    return replace(
        scores[0], value=float(np.mean(known)) if len(known) == len(values) else None,
        result=replace(scores[0].result, value=table), interval=None,
    )  # fmt: skip


def _with_intervals(mean: SystemResult, scores: Sequence[MethodScore]) -> SystemResult:
    intervals = {s.metric: s.interval for s in scores if s.method == mean.name}
    return replace(mean, scores={m: replace(s, interval=intervals.get(m)) for m, s in mean.scores.items()})


def _best(field: Field, k: int, score: Score, seed: int) -> list[float | None]:
    """Probability of each method that no other is better, for new runs and new units."""
    readings = {name: field.reading(name, k) for name in sorted(field.groups)}
    if not all(np.isfinite(values).all() for values, _ in readings.values()):
        return [None] * len(field.groups)
    moved = np.stack([m.mean(0) for _, m in readings.values()])
    alone = [nested(*reading) for reading in readings.values()]
    means = np.array([values.mean() for values, _ in readings.values()])
    covariance, lower = moved @ moved.T + np.diag([n.of_runs for n in alone]), score.better == "lower"
    df = min(n.df for n in alone)
    chance = best_probabilities(
        means, covariance, stream(seed, "best"), lower=lower, df=max(df, 1.0) if df <= FEW_UNITS else np.inf
    )
    flat = no_spread(means, covariance, int(np.argmin(means) if lower else np.argmax(means)))
    by_name = {name: None if unknown else p for name, p, unknown in zip(readings, chance.tolist(), flat, strict=True)}
    return [by_name[name] for name in field.groups]
