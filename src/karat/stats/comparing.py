# SPDX-License-Identifier: Apache-2.0
"""Comparison of systems: every pair (or each against a baseline), on every metric, with a corrected verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.cells import Cells
from karat.comparison import Comparison, Pair, Test, Verdict
from karat.contexts.labels import ordered
from karat.evaluation import Evaluation, Interval, Score, SystemResult
from karat.findings import Finding, finding
from karat.metric import Metric, MetricError
from karat.plan import Plan
from karat.score import mean_defined
from karat.stats import tests
from karat.stats.bayes import correlated_t, signed_rank
from karat.stats.corrections import correct, family_size
from karat.stats.effects import effect
from karat.stats.estimate import ClusterKeys
from karat.stats.influence import influence
from karat.stats.intervals import student
from karat.stats.leaderboard import leaderboard, ranks_over_cases
from karat.stats.pair import Duel, swap_test
from karat.stats.power import mde, units_needed
from karat.stats.random import stream
from karat.stats.randomisation import sign_flip
from karat.stats.resampling import Units, bootstrap
from karat.stats.settings import DRAWS, JOINT, ComparisonSettings
from karat.stats.standing import best_probabilities
from karat.stats.statistic import Statistic
from karat.stats.system import Sample
from karat.stats.units import Entrant, Joint, Panel, align, panels, sample
from karat.stats.wording import sentence
from karat.weights import Floats, Ints

MANY_MOVES, FEWER_DRAWS = 20_000, 1_999
"""Beyond this many distinct swaps the default number of draws is cut, and the result says so."""


@dataclass(frozen=True)
class Contest:
    """Two systems side by side on all test cases."""

    a: int
    b: int
    names: tuple[str, str]
    panels: tuple[Sequence[Panel], Sequence[Panel]]
    clusters: Sequence[Ints | None]

    @cached_property
    def samples(self) -> tuple[Sample, Sample]:
        return sample(self.panels[0]), sample(self.panels[1])

    @cached_property
    def duels(self) -> list[Duel]:
        return [Duel(a, b, c) for a, b, c in zip(*self.panels, self.clusters, strict=True)]

    @cached_property
    def swappable(self) -> NDArray[np.bool_]:
        """Metrics whose outcomes can be swapped in every test case."""
        columns = len(self.difference)
        flags = [
            d.shared.eligible if len(d.shared.eligible) == columns else d.shared.eligible * columns for d in self.duels
        ]
        return np.asarray(np.array(flags, bool).all(0))

    @property
    def key(self) -> str:
        return "\x1f".join(self.names)

    @cached_property
    def difference(self) -> Floats:
        return self.samples[0].point - self.samples[1].point

    @cached_property
    def both(self) -> Floats:
        """Weight of each test case in the difference: those that have a score for both."""
        known = ~np.isnan(self.samples[0].points) & ~np.isnan(self.samples[1].points)
        return known / np.maximum(known.sum(0), 1)

    @cached_property
    def spread(self) -> tuple[Floats, Floats]:
        """Standard error of the difference and its degrees of freedom, by the paired jackknife."""
        variance, size = zip(*(_paired_variance(d) for d in self.duels), strict=True)
        v, df = np.stack(variance) * self.both**2, np.maximum(np.array(size) - 1, 1)[:, None]
        den = (v**2 / df).sum(0)
        whole = np.divide(v.sum(0) ** 2, den, out=np.full(den.shape, float(df.sum())), where=den > 0)
        return np.sqrt(v.sum(0)), whole

    @property
    def units(self) -> int:
        return int(sum(len(p.cell) for p in self.panels[0]))

    def unit_differences(self, column: int) -> tuple[Floats, Floats] | None:
        """Differences of unit scores with their counts, where every unit has both scores."""
        parts = [_unit_pairs(d, column) for d in self.duels]
        d, n = (np.concatenate(x) for x in zip(*parts, strict=True))
        return None if np.isnan(d).any() or not len(d) else (d, n)

    def is_mean(self, column: int) -> bool:
        """Whether the score is the mean of unit scores for both systems, with one test case."""
        mean = all(bool(s.unit_scores.is_mean[column]) for x in self.samples for s in x.strata)
        return mean and len(self.duels) == 1 and self.clusters[0] is None


def _paired_variance(duel: Duel) -> tuple[Floats, float]:
    a, b = duel.a.stratum.jackknife, duel.b.stratum.jackknife
    if duel.cluster is not None:
        if len(a.value) != len(b.value):
            raise MetricError("the systems do not share their clusters, so that they cannot be compared by cluster")
        both = a.minus(b, np.arange(len(a.n)), np.arange(len(b.n)), a.n)
        return both.se**2, both.size
    left, right, n = duel.joint
    values = [
        np.concatenate([j.value, p.stratum.point[None, :]])[p.seen[c]]
        for j, p, c in ((a, duel.a, left), (b, duel.b, right))
    ]
    both = replace(a, n=n, value=values[0] - values[1])
    return both.se**2, both.size


def _unit_pairs(duel: Duel, column: int) -> tuple[Floats, Floats]:
    left, right, n = duel.joint
    values = [
        np.append(p.stratum.unit_scores.value[:, column], np.nan)[p.seen[c]]
        for p, c in ((duel.a, left), (duel.b, right))
    ]
    return values[0] - values[1], n


def compare_systems(
    evaluation: Evaluation,
    systems: Sequence[SystemResult],
    plan: Plan,
    settings: ComparisonSettings,
    keys: ClusterKeys | None = None,
) -> Comparison:
    """All pairs of systems, or each against the baseline."""
    metrics = directed(plan)
    statistic = Statistic(plan.catalogue, metrics, plan.fill)
    joint, found = aligned(systems, plan)
    contests = _contests(joint, statistic, settings, keys)
    drafts = [pair for contest in contests for pair in _pairs(contest, systems, statistic, settings)]
    pairs, family = _corrected(drafts, contests, joint, statistic, settings)
    found += _floor_findings(pairs, family, settings)
    boards = {
        m: leaderboard(m, systems, pairs, settings.baseline, _best(contests, k, m, systems, settings.seed))
        for k, m in enumerate(metrics)
    }
    ranked = [ranks_over_cases(m, systems, settings.alpha) for m in metrics]
    said = dict(evaluation.plan) | {"comparison": settings.to_dict()}
    units = {"table": lambda a, b, metric: disagreements(contests, statistic, joint, a, b, metric)}
    return Comparison(
        evaluation, pairs, settings.correction, family, settings.alpha, settings.baseline, said, boards,
        [r for r in ranked if r is not None], found, units,
    )  # fmt: skip


def _best(
    contests: Sequence[Contest], column: int, metric: Metric, systems: Sequence[SystemResult], seed: int
) -> list[float | None]:
    """Probability of each system that no other is better on the metric of this column; None without a score."""
    parts = {i: p for c in contests for i, p in zip((c.a, c.b), c.panels, strict=True)}
    known = [i for i in parts if np.isfinite(sample(parts[i]).point[column])]
    known.sort(key=lambda i: systems[i].name)  # so that the order of files changes no digit
    if not known:
        return [None] * len(systems)
    score = np.array([sample(parts[i]).point[column] for i in known])
    moved = np.stack([influence(parts[i], column, contests[0].clusters) for i in known])
    lower = systems[0].scores[metric].better == "lower"
    found = best_probabilities(score, moved @ moved.T, stream(seed, "best"), lower=lower)
    chance = dict(zip(known, found.tolist(), strict=True))
    return [chance.get(i) for i in range(len(systems))]


def directed(plan: Plan) -> list[Metric]:
    """The metrics that can say which of two systems is better."""
    found = [m for m in plan.metrics if plan.catalogue[m.name].better != "neither"]
    if not found:
        names = ", ".join(map(str, plan.metrics))
        raise MetricError(f"{names} cannot say which system is better: give a metric of which more, or less, is better")
    return found


def aligned(systems: Sequence[SystemResult], plan: Plan) -> tuple[Joint, list[Finding]]:
    joint = align([Entrant(s.name, cells) for s, cells in zip(systems, same_classes(systems), strict=True)])
    if not joint.absent.any():
        return joint, []
    lack = {s.name: int(k) for s, k in zip(systems, joint.absent, strict=True) if k}
    shown = ", ".join(f"{name} lacks {count}" for name, count in lack.items())
    if plan.options.get("missing") != "skip":
        return joint, [finding("units-differ", shown=shown)]
    common = joint.common()
    return common, [finding("common-units", count=len(common.keys), total=len(joint.keys), shown=shown)]


def same_classes(systems: Sequence[SystemResult]) -> list[Cells]:
    """The systems' cells over the labels of all of them, where their kind of cells allows it."""
    cells = [s.cells for s in systems]
    if all(c.classes == cells[0].classes for c in cells) or any(c.class_codes is None for c in cells):
        return cells
    classes = ordered({label for c in cells for label in c.classes})
    return [c.with_classes(classes) for c in cells]


def _contests(
    joint: Joint, statistic: Statistic, settings: ComparisonSettings, keys: ClusterKeys | None
) -> list[Contest]:
    names = [e.name for e in joint.entrants]
    if settings.baseline is not None and settings.baseline not in names:
        raise MetricError(f"there is no system {settings.baseline!r} to be the baseline; there are: {', '.join(names)}")
    cluster = None if keys is None else cluster_codes(joint, keys)
    parts = panels(joint, statistic, cluster)
    inside = [None if cluster is None else cluster[joint.case == t] for t in range(len(joint.cases))]
    base = None if settings.baseline is None else names.index(settings.baseline)
    chosen = combinations(range(len(names)), 2) if base is None else ((i, base) for i in range(len(names)) if i != base)
    return [Contest(a, b, (names[a], names[b]), (parts[a], parts[b]), inside) for a, b in chosen]


def cluster_codes(joint: Joint, keys: ClusterKeys) -> Ints:
    """Cluster of each joint unit."""
    at = np.minimum(np.searchsorted(keys.unit, joint.keys), max(len(keys.unit) - 1, 0))
    found = keys.unit[at] == joint.keys
    names = np.where(found, keys.cluster[at], np.char.add("\x00", joint.keys))
    return np.unique(names, return_inverse=True)[1]


def _pairs(
    contest: Contest, systems: Sequence[SystemResult], statistic: Statistic, settings: ComparisonSettings
) -> list[Pair]:
    drawn = [
        _swapped(contest, settings),
        *([_bootstrapped(contest, settings)] if "bootstrap" in settings.tests else []),
    ]
    return [
        _pair(contest, k, systems[contest.a].scores[m], [d[k] for d in drawn], settings)
        for k, m in enumerate(statistic.metrics)
    ]


def _swapped(contest: Contest, settings: ComparisonSettings) -> list[Test]:
    """The randomisation test of each metric, or the paired bootstrap where outcomes cannot be swapped."""
    if not all(d.shared.small for d in contest.duels):
        return _bootstrapped(contest, settings, "too many classes to swap outcomes")
    moves = sum(len(d.moves[1]) for d in contest.duels)
    draws = settings.draws or (DRAWS if moves <= MANY_MOVES else FEWER_DRAWS)
    found = swap_test(contest.duels, settings.seed, contest.key, draws)
    swapped = [Test("randomisation", float(p), draws=found.draws, exact=found.exact) for p in found.p]
    if contest.swappable.all():
        return swapped
    other = _bootstrapped(contest, settings, "outcomes cannot be swapped: labels or levels differ between the systems")
    return [s if ok else o for s, o, ok in zip(swapped, other, contest.swappable, strict=True)]


def _bootstrapped(contest: Contest, settings: ComparisonSettings, note: str = "") -> list[Test]:
    draws = settings.draws or FEWER_DRAWS
    samples = np.stack([_joint_draws(d, settings.seed, contest.key, draws) for d in contest.duels])
    differences = samples[0] if len(samples) == 1 else mean_defined(np.moveaxis(samples, 0, -1))
    p = tests.bootstrap_shift(contest.difference, differences)
    return [Test("paired bootstrap", float(p[k]), draws=draws, note=note) for k in range(len(p))]


def _joint_draws(duel: Duel, seed: int, key: str, draws: int) -> Floats:
    """Resamples of the difference: both systems see the same units."""
    left, right, n = duel.joint
    sides = [(p.stratum, c) for p, c in ((duel.a, left), (duel.b, right))]

    def difference(W: Any) -> Floats:
        a, b = (s.statistic(gathered(W, c, s.design.width)) for s, c in sides)
        return a - b

    return bootstrap(difference, Units(n), stream(seed, "paired", key, duel.a.stratum.name), draws)


def gathered(W: Floats, cell: Ints, width: int) -> Floats:
    """Weights of joint cells as weights of one system's cells; −1 is no cell."""
    order = np.argsort(cell, kind="stable")
    order = order[cell[order] >= 0]
    found, start = np.unique(cell[order], return_index=True)
    out = np.zeros((len(W), width))
    if len(found):
        out[:, found] = np.add.reduceat(W[:, order], start, axis=1)
    return out


def _pair(contest: Contest, k: int, score: Score, drawn: list[Test], settings: ComparisonSettings) -> Pair:
    """Column ``k`` of a contest; ``score`` says which metric it is."""
    difference, se, df = contest.difference[k], contest.spread[0][k], contest.spread[1][k]
    known = bool(np.isfinite(difference))
    low, high = student(difference, se, df, 1 - settings.alpha)
    interval = (
        Interval(1 - settings.alpha, float(low), float(high), "paired jackknife-t", None, float(se)) if known else None
    )
    found = _tests(contest, k, drawn, settings) if known else []
    units = contest.unit_differences(k)
    turned = -1.0 if score.better == "lower" else 1.0
    return Pair(
        *contest.names, score.metric, score.label, score.better, contest.units, _number(contest.samples[0].point[k]),
        _number(contest.samples[1].point[k]), _number(difference), interval, found, found[0].p if found else None, None,
        "undefined", mde(float(se), alpha=settings.alpha, df=float(df)) if known else None,
        needed=_needed(float(se), contest.units, settings) if known else None,
        effect=None if units is None or _is_silent(units[0], difference) else effect(turned * units[0], units[1]),
        test_cases=_case_wins(contest, k, turned),
        equivalence=tests.tost(float(difference), float(se), float(df), settings.margin) if known and settings.margin else None,
        posterior=_posterior(contest, k, turned, settings) if known and settings.rope is not None else None,
    )  # fmt: skip


def _is_silent(units: Floats, difference: float) -> bool:
    """Does the metric say nothing of single units? One alone carries no information (ICM), yet the systems differ."""
    return bool(difference) and not units.any()


def _needed(se: float, units: int, settings: ComparisonSettings) -> int | None:
    """Units of the same kind that show a difference of ``settings.detect``: the spread of one unit is se·√n."""
    if settings.detect is None or not se > 0:
        return None
    return int(np.ceil(units_needed(settings.detect / (se * np.sqrt(units)), alpha=settings.alpha)))


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _tests(contest: Contest, k: int, drawn: list[Test], settings: ComparisonSettings) -> list[Test]:
    """The deciding test first, then those beside it."""
    units = contest.unit_differences(k) if contest.is_mean(k) else None
    if units is None:
        return drawn
    return [*_mean_tests(*units, drawn[0]), *_asked(*units, settings), *drawn[1:]]


def _mean_tests(d: Floats, n: Floats, swapped: Test) -> list[Test]:
    exact = sign_flip(tests.settled(d), n)
    best = swapped if exact is None else Test("randomisation", exact, exact=True)
    if np.isin(d, (-1.0, 0.0, 1.0)).all():
        wins, losses = int(n[d > 0].sum()), int(n[d < 0].sum())
        return [tests.mcnemar(wins, losses), best, tests.paired_t(d, n)]
    return [best, tests.paired_t(d, n)]


def _asked(d: Floats, n: Floats, settings: ComparisonSettings) -> list[Test]:
    """Tests of other hypotheses, which have to be asked for by name."""
    each = np.repeat(d, n.astype(np.int64))
    known = {"wilcoxon": lambda: tests.wilcoxon(each), "sign": lambda: tests.sign_test(d, n)}
    return [known[name]() for name in settings.tests if name in known]


def _case_wins(contest: Contest, k: int, turned: float) -> tuple[int, int, int] | None:
    d = turned * (contest.samples[0].points[:, k] - contest.samples[1].points[:, k])
    d = tests.settled(d[~np.isnan(d)])
    return None if len(d) < 2 else (int((d > 0).sum()), int((d == 0).sum()), int((d < 0).sum()))


FEW_CASES = 5


def _posterior(contest: Contest, k: int, turned: float, settings: ComparisonSettings) -> Any:
    """Over test cases if there are enough, else over units."""
    assert settings.rope is not None
    d = turned * (contest.samples[0].points[:, k] - contest.samples[1].points[:, k])
    d = d[~np.isnan(d)]
    if len(d) >= FEW_CASES:
        return signed_rank(d, settings.rope, stream(settings.seed, "rope", contest.key))
    size = max(contest.units, 2)
    return correlated_t(turned * contest.difference[k], contest.spread[0][k] * np.sqrt(size), size, settings.rope)


def _corrected(
    drafts: list[Pair], contests: list[Contest], joint: Joint, statistic: Statistic, settings: ComparisonSettings
) -> tuple[list[Pair], int]:
    p = np.array([np.nan if pair.p is None else pair.p for pair in drafts])
    family = family_size(p)
    if settings.correction in JOINT:
        from karat.stats.maxt import joint_p

        adjusted = joint_p(drafts, contests, joint, statistic, settings)
    else:
        adjusted = correct(p, settings.correction)
    return [decided(pair, float(q), settings) for pair, q in zip(drafts, adjusted, strict=True)], family


def decided(pair: Pair, p: float, settings: ComparisonSettings) -> Pair:
    known = pair.difference is not None and np.isfinite(p)
    verdict: Verdict = "undefined"
    if known:
        gain = pair.gain or 0.0
        verdict = "inconclusive" if p > settings.alpha or gain == 0 else "better" if gain > 0 else "worse"
    judged = replace(pair, p_corrected=p if known else None, verdict=verdict)
    return replace(judged, sentence=sentence(judged, settings.correction))


def _floor_findings(pairs: Sequence[Pair], family: int, settings: ComparisonSettings) -> list[Finding]:
    """Said when more draws are needed before any corrected p can be small."""
    lowest = [1 / (p.tests[0].draws + 1) for p in pairs if p.tests and p.tests[0].draws and not p.tests[0].exact]
    factor = 1 if settings.correction in ("none", *JOINT, "bh") else family
    if not lowest or max(lowest) * factor <= settings.alpha:
        return []
    return [
        finding("too-few-draws", least=f"{max(lowest) * factor:.3g}", family=family, draws=round(1 / max(lowest)) - 1)
    ]


def disagreements(
    contests: Sequence[Contest], statistic: Statistic, joint: Joint, a: str, b: str, metric: str | Metric | None
) -> list[dict[str, Any]]:
    """Units that the two systems score differently: those that A wins by most come first."""
    contest = next((c for c in contests if set(c.names) == {a, b}), None)
    if contest is None:
        raise MetricError(f"{a!r} and {b!r} were not compared")
    column = _unit_column(contest, statistic, metric)
    turned = -1.0 if statistic.catalogue[statistic.metrics[column].name].better == "lower" else 1.0
    order = 1.0 if contest.names == (a, b) else -1.0
    rows = []
    for t, duel in enumerate(contest.duels):
        keys = joint.keys[joint.case == t]
        score = [_scores_of_units(p, column) for p in (duel.a, duel.b)][:: int(order)]
        gain = turned * (score[0] - score[1])
        differs = np.flatnonzero(np.abs(np.nan_to_num(gain)) > 1e-12)
        rows += [_row(str(keys[i]), joint.cases[t], a, b, score, i, gain[i]) for i in differs.tolist()]
    return sorted(rows, key=lambda r: (-r["gain"], r["test_case"], r["id"]))


def _scores_of_units(panel: Panel, column: int) -> Floats:
    return np.append(panel.stratum.unit_scores.value[:, column], np.nan)[panel.seen[panel.cell]]


def _row(key: str, case: str, a: str, b: str, score: Sequence[Floats], i: int, gain: float) -> dict[str, Any]:
    test_case, _, unit = key.rpartition("\x1f")
    return {
        "test_case": test_case or case,
        "id": unit,
        "wins": a if gain > 0 else b,
        a: float(score[0][i]),
        b: float(score[1][i]),
        "gain": float(gain),
    }


def _unit_column(contest: Contest, statistic: Statistic, metric: str | Metric | None) -> int:
    """The metric's column, or the first whose score a single unit has."""
    if metric is not None:
        return list(statistic.metrics).index(statistic.catalogue.resolve(metric))
    for k in range(len(statistic.metrics)):
        if contest.unit_differences(k) is not None:
            return k
    raise MetricError("no metric of this comparison has a score for a single unit; name one that has")
