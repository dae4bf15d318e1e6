# SPDX-License-Identifier: Apache-2.0
"""What intervals and tests are made of, context by context: samples, their designs, and what systems share."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from itertools import product
from random import Random
from typing import Any

import numpy as np

import karat
from karat.contexts import catalogue
from karat.stats import randomisation
from karat.stats.clusters import designs, hashed
from karat.stats.common import by_case
from karat.stats.estimate import sample_of
from karat.stats.intervals import delta_se
from karat.stats.pair import Paired, parts_of
from karat.stats.resampling import Clusters, Design, Strata, Units, bootstrap, jackknife, multinomial
from karat.stats.sample import Sample, Stratum, pooled_spread
from karat.stats.settings import ComparisonSettings
from karat.stats.statistic import Shared, Statistic, merged, recorded
from karat.stats.units import joined
from karat.weights import Floats
from tests.kept.evaluations import CONTEXTS, Cases, _comparing, _data, _three, labels, noisy, records


def _evaluated(context: str, n: int, metrics: list[str] | None = None, cases: int = 1) -> tuple[Any, Statistic]:
    """Three systems, and their metrics as a statistic."""
    gold, systems, how = _data(context, n)
    if cases > 1:
        turned = lambda given: [record | {"test_case": f"t{i % cases}"} for i, record in enumerate(given)]
        gold, systems = turned(gold), {name: turned(pred) for name, pred in systems.items()}
    how = {key: value for key, value in how.items() if key != "metrics"}
    found = karat.evaluate(gold, list(systems.values()), names=list(systems), metrics=metrics or ["all"], units=True, **how)  # fmt: skip
    return found, Statistic(catalogue(found.context), found.metrics)


def strata() -> Cases:
    """Every property of a test case, by what is drawn."""
    for context, n, classes in product(CONTEXTS, (3, 9), (False, True)):
        for name in ("units", "clusters", "strata"):
            yield f"{context} {n} {classes} {name}", _of_sample(context, n, classes, name)


def _of_sample(context: str, n: int, classes: bool, name: str) -> Callable[[], Any]:
    def made() -> Any:
        found, statistic = _evaluated(context, n)
        sample = sample_of(found.systems[0].cells, statistic, classes)
        sample = Sample([Stratum(s.name, s.statistic, _design(s.design.n, name), s.bounded, s.odds, s.squares, s.repeatable) for s in sample.strata], sample.over_cases, sample.metrics)  # fmt: skip
        return [[_stratum(s) for s in sample.strata], _whole(sample), [statistic.limits(m) for m in statistic.metrics]]

    return made


def _design(n: Floats, name: str) -> Design:
    cell = np.repeat(np.arange(len(n)), n.astype(int))
    group = np.arange(len(cell)) % 3
    if name == "clusters":
        return Clusters.of(group, cell, len(n))
    return Strata.of(group, cell, len(n)) if name == "strata" else Units(n)


def _stratum(stratum: Stratum) -> list[Any]:
    jack = stratum.jackknife
    folds = {column: fold.gaps(stratum.design) for column, fold in stratum.folds.items()}
    facts = [stratum.point, jack.size, _rounded(jack.mean), jack.se, jack.acceleration, stratum.unit_scores.is_mean, stratum.is_share, stratum.skewness, stratum.seen, stratum.cost(100), stratum.design.size]  # fmt: skip
    return [*facts, {column: [gaps.gap, gaps.se, gaps.together] for column, gaps in folds.items()}]


def _rounded(value: Any) -> Any:
    return np.asarray(value, float)


def _whole(sample: Sample) -> list[Any]:
    return [sample.point, sample.is_mean, sample.slim, len(sample.parts), sample.share, *sample.spread, sample.bias, sample.sizes, sample.acceleration, sample.spread_df]  # fmt: skip


def shared() -> Cases:
    """What metrics multiply, and which of it systems have in common."""
    for context, n in product(CONTEXTS, (3, 9)):
        yield f"{context} {n}", _of_tapes(context, n)
    for context, n, few in product(CONTEXTS, (9, 40), (0, 10_000)):
        yield f"merged {context} {n} {few}", _of_merged(context, n, few)


def _of_tapes(context: str, n: int) -> Callable[[], Any]:
    def made() -> Any:
        found, statistic = _evaluated(context, n)
        with contextlib.suppress(ValueError):
            joint = joined(found.systems)
            parts = parts_of(joint, statistic, None)
            out = []
            for column in zip(*parts, strict=True):
                tapes = [part.tape for part in column]
                both = Shared(tapes[:2])
                totals = [np.asarray(part.stratum.design.n[None, :] @ matrix) for part, matrix in zip(column, both.matrices, strict=False)]  # fmt: skip
                scores = [part.stratum.statistic(both.replay(i, totals[i])) for i, part in enumerate(column[:2])]
                out.append([[[t.metric, t.vector, [t.kind(v) for v in range(len(t.vectors))], t.labels] for t in tapes], both.eligible, [[*key, place.start, place.stop] for key, place in both.columns.items()], totals, scores, Shared(tapes).eligible])  # fmt: skip
            return out
        return None

    return made


def _of_merged(context: str, n: int, few: int) -> Callable[[], Any]:
    def made() -> Any:
        found, statistic = _evaluated(context, n)
        out = []
        for stratum in sample_of(found.systems[1].cells, statistic, False).strata:
            count = stratum.design.n
            fewer = merged(stratum.statistic, count, few)
            blocked = getattr(stratum.statistic, "breadth", None), getattr(stratum.statistic, "tilted", None)
            tape = recorded(stratum.statistic, count, (), ())
            if fewer is None:
                out.append([blocked, len(tape.vectors), None])
                continue
            W = multinomial(np.random.default_rng(3), fewer[1], 3)
            out.append([blocked, len(tape.vectors), fewer[1].sum(), len(fewer[1]), fewer[0](fewer[1][None]), fewer[0](W).shape])  # fmt: skip
        return out

    return made


def drawn() -> Cases:
    """Designs by themselves, on a statistic that anybody can compute: a mean and a ratio."""
    counts = {"ones": [1.0] * 6, "counted": [3.0, 1.0, 2.0], "zeros": [2.0, 0.0, 3.0], "one": [1.0], "dense": [20.0, 30.0]}  # fmt: skip
    for (name, given), kind in product(counts.items(), ("units", "clusters", "strata")):
        n = np.array(given)
        x = np.arange(1.0, len(n) + 1) ** 2
        statistic = lambda W, x=x: np.stack([(W @ x[:, None])[:, 0] / np.maximum((W @ np.ones((len(x), 1)))[:, 0], 1), (W @ (x[:, None] ** 2))[:, 0]], -1)  # fmt: skip
        design = _design(n, kind)
        yield f"{name} {kind} jackknife", lambda s=statistic, d=design: _jack(jackknife(s, d))
        yield f"{name} {kind} facts", lambda d=design: [d.n, d.size, d.width]
        for poisson in (False, True):
            yield f"{name} {kind} {poisson}", lambda s=statistic, d=design, p=poisson: bootstrap(s, d, np.random.default_rng(5), 7, p)  # fmt: skip
        if kind == "units":
            yield f"{name} delta", lambda s=statistic, n=n: delta_se(s, n)
    tables = {"two": ([[0.5, np.nan], [0.7, 0.2]], [[0.01, np.nan], [0.02, 0.01]]), "one": ([[0.5, 0.1]], [[0.01, 0.0]]), "three": ([[0.5], [0.1], [0.9]], [[0.01], [0.02], [0.0]]), "none": ([[np.nan], [np.nan]], [[np.nan], [np.nan]])}  # fmt: skip
    for (name, (points, variance)), sizes in product(tables.items(), ([5.0, 9.0, 2.0], [1.0, 9.0, 1.0], [1.0, 1.0, 1.0])):  # fmt: skip
        yield f"pooled {name} {sizes}", lambda p=points, v=variance, s=sizes: pooled_spread(np.array(p), np.array(v), np.array(s[: len(p)]))  # fmt: skip


def _jack(jack: Any) -> list[Any]:
    return [jack.n, jack.value, jack.size, jack.mean, jack.centred, jack.se, jack.acceleration]


def duels() -> Cases:
    """Two systems side by side: what is swapped, drawn and compared."""
    for context, n, clustered in product(CONTEXTS, (4, 10), (False, True)):
        yield f"{context} {n} {clustered}", _of_duel(context, n, clustered)
    for cases in (2, 3):
        yield f"cases {cases}", _of_duel("monolabel", 10, False, cases)


def _of_duel(context: str, n: int, clustered: bool, cases: int = 1) -> Callable[[], Any]:
    def made() -> Any:
        found, statistic = _evaluated(context, n, cases=cases)
        joint = joined(found.systems)
        cluster = np.arange(len(joint.keys)) % 3 if clustered else None
        parts, out = parts_of(joint, statistic, cluster), []
        for a, b in ((0, 1), (2, 1)):
            duel = Paired.of((a, b), ("abc"[a], "abc"[b]), (parts[a], parts[b]), by_case(joint, cluster))
            columns = range(len(statistic.metrics))
            swapped = duel.swap_test(randomisation.Coins(0, "x"), 50)
            out.append([duel.names, duel.differences, duel.difference, *duel.spread, duel.units, duel.clusters, duel.swappable, duel.in_order, [duel.is_mean(k) for k in columns], [duel.units_of(k) for k in columns], [duel.lacks(k) for k in columns], swapped, duel.resampled(0, 20).mean(0) if found.systems[0].cells.repeatable else None])  # fmt: skip
        return out

    return made


def joint_corrections() -> Cases:
    """Corrections by the joint law, where metrics share what they multiply and where they do not."""
    for context, correction, baseline in product(CONTEXTS, ("tukey", "maxt"), (None, "b")):
        gold, systems, how = _data(context, 7)
        for metrics in ({}, {"metrics": ["all"]}):
            if correction == "tukey" or baseline:
                yield f"{context} {correction} {baseline} {metrics}", _comparing(gold, systems, correction=correction, baseline=baseline, draws=60, **{**how, **metrics})  # fmt: skip
    gold = labels(12)
    others = {"a": records(noisy(gold, 0.8, 3)), "b": records(noisy(gold, 0.5, 4, "ABZ")), "c": records(noisy(gold, 0.5, 5))}  # fmt: skip
    for correction, metrics in product(("tukey", "maxt", "holm"), (["accuracy"], ["accuracy", "kappa"], ["f1", "mcc"])):
        yield f"other labels {correction} {metrics}", _comparing(records(gold), others, correction=correction, baseline="a", metrics=metrics)  # fmt: skip
    for settings in ({"alpha": 0.0}, {"alpha": 1.0}, {"correction": "x"}, {"tests": ("x",)}, {"draws": 1_000_001}, {"draws": 1_000_000}, {"detect": 0.0}, {"detect": -1.0}, {"tests": ("non-inferiority",)}, {"tests": ("non-inferiority",), "margin": 0.1}, {"tests": ("non-inferiority",), "margin": -0.1}, {"one_sided": True, "correction": "tukey"}, {"sequential": True, "correction": "maxt"}, {"one_sided": True, "sequential": True}, {"correction": "maxt"}, {"one_sided": True}):  # fmt: skip
        yield f"settings {settings}", lambda s=settings: ComparisonSettings(**s).to_dict() | {"alone": ComparisonSettings(**s).alone}  # fmt: skip


def disagreeing() -> Cases:
    """Units that two systems score differently."""
    for n, cases, metric in product((6, 15), (1, 2), (None, "accuracy", "hamming_loss", "f1", "kappa")):
        gold, systems = _three(n, cases)
        yield f"{n} {cases} {metric}", lambda g=gold, s=systems, m=metric: _disagreements(g, s, m)
    for context in CONTEXTS[1:]:
        gold, systems, how = _data(context, 5)
        yield context, lambda g=gold, s=systems, h=how: karat.compare(g, s, resamples=100, draws=99, **h).disagreements("b", "a")  # fmt: skip


def _disagreements(gold: Any, systems: Any, metric: str | None) -> list[Any]:
    found = karat.compare(gold, systems, metrics=["kappa", "accuracy", "hamming_loss", "f1"], resamples=100, draws=99)
    return [found.disagreements("a", "b", metric), found.disagreements("b", "a", metric)]


def directions() -> Cases:
    """Metrics that cannot say which system is better, alone and beside others."""
    for context, metrics in (("monolabel", ["support"]), ("monolabel", ["support", "accuracy"]), ("numbers", ["mean_error"]), ("numbers", ["mean_error", "mae"]), ("soft", ["support", "cross_entropy"]), ("ranking", ["num_ret", "ndcg"])):  # fmt: skip
        gold, systems, how = _data(context, 8)
        yield f"{context} {metrics}", _comparing(gold, systems, **{**how, "metrics": metrics})
        yield f"{context} {metrics} with a baseline", _comparing(gold, systems, baseline="a", **{**how, "metrics": metrics})  # fmt: skip
        yield f"{context} {metrics} with a strange baseline", _comparing(gold, systems, baseline="z", **{**how, "metrics": metrics})  # fmt: skip
        yield f"{context} {metrics} designed", lambda g=gold, s=systems, h={**how, "metrics": metrics}: karat.design(g, s, difference=0.1, **h).needs  # fmt: skip


def runs_over_cases() -> Cases:
    """Methods of several runs ranked over test cases."""
    gold = labels(36)
    for cases, many in product((2, 6), (2, 3)):
        methods = {name: karat.Runs([records(noisy(gold, 0.9 - 0.2 * k, 10 * k + r), cases) for r in range(many)]) for k, name in enumerate("xyz")}  # fmt: skip
        for metrics in (["accuracy"], ["hamming_loss"]):
            yield f"{cases} {many} {metrics}", _comparing(records(gold, cases), methods, metrics=metrics)


def grouped() -> Cases:
    """Groups of units by the hash of their ids."""
    for context, n in product(("monolabel", "soft", "spans"), (5, 60)):
        yield f"{context} {n}", lambda c=context, n=n: _grouped(c, n)


def _grouped(context: str, n: int) -> Any:
    found, _ = _evaluated(context, n)
    cells = found.systems[0].cells
    group = hashed(cells)
    rng = Random(3)
    made = designs(cells, np.array([rng.randrange(4) for _ in group]))
    return [group, {case: [design.n, design.size] for case, design in made.items()}]


ALL = {
    "strata": strata, "shared vectors": shared, "designs of draws": drawn, "duels": duels, "joint corrections": joint_corrections, "disagreements": disagreeing, "directions": directions, "runs over cases": runs_over_cases, "groups": grouped,
}  # fmt: skip
