"""Coverage of default intervals, error rates of tests and of corrections, by simulation: the tables of docs/statistics.md.

``python -m benchmarks.simulate [DATA SETS]`` writes them between the marks of that page. Every rate is given with the
half-width of its own 95 % interval (Monte Carlo error).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import karat
from karat.stats.comparing import all_tests, directed, family_of, paired_systems
from karat.stats.settings import ComparisonSettings
from karat.stats.statistic import Statistic
from karat.stats.units import joined

PAGE = Path(__file__).parent.parent / "docs" / "statistics.md"
START, END = "<!-- simulated: begin -->\n", "<!-- simulated: end -->\n"
SIZES = (30, 100, 1_000)
DOCUMENTS = {30: 10, 100: 20, 1_000: 50}
RESAMPLES, DRAWS = 999, 499
Rng = np.random.Generator
Rows = list[dict[str, Any]]

LAWS = {"even": (1 / 3, 1 / 3, 1 / 3), "skewed": (0.68, 0.24, 0.08)}
LABELS = ["accuracy", "f1", "kappa", "mcc", "icm", "balanced_accuracy"]
WEIGHTS = ["cross_entropy", "js_divergence", "icm_soft", "icm_soft_norm", "soft_f1", "ece"]


def shown(rate: float, runs: int) -> str:
    """A rate with its Monte Carlo error."""
    return f"{rate:.3f} ± {1.96 * np.sqrt(max(rate * (1 - rate), 1 / runs) / runs):.3f}"


def labels(rng: Rng, n: int, law: str, documents: int | None) -> tuple[Any, Callable[[], Any], Any]:
    """Gold labels, a maker of systems that are right four times in five (by document, if there are any), documents."""
    gold = rng.choice(3, n, p=LAWS[law])
    doc = np.arange(n) * (documents or n) // n
    easy = rng.beta(4, 1, documents or n)[doc] if documents else np.full(n, 0.8)
    system = lambda: np.where(rng.random(n) < easy, gold, rng.integers(0, 3, n))
    return gold, system, doc


def weights(rng: Rng, n: int) -> tuple[Any, Any]:
    """Weights of three labels, and those of a system that is near them."""
    gold = rng.dirichlet([1.0, 0.6, 0.3], n)
    return gold, 0.7 * gold + 0.3 * rng.dirichlet([1.0, 1.0, 1.0], n)


def queries(rng: Rng, n: int, kind: str) -> Any:
    """Reciprocal ranks: dense, or 0 in seven of ten queries."""
    rank = 1 / rng.integers(1, 11, n)
    return rank if kind == "even" else np.where(rng.random(n) < 0.7, 0.0, rank)


def records(values: Any, run: int, kind: Callable[[Any], Any], doc: Any = None) -> Rows:
    more = lambda i: {} if doc is None else {"doc": f"{run}.{doc[i]}"}
    return [{"test_case": f"t{run}", "id": str(i), "value": kind(v), **more(i)} for i, v in enumerate(values)]


def as_weights(row: Any) -> dict[str, float]:
    return {name: round(float(v), 6) for name, v in zip("ABC", row, strict=True)}


def covered(evaluation: Any, truth: dict[str, float | None]) -> dict[str, float]:
    """By metric, the share of test cases whose own interval holds the truth (None: their mean)."""
    out = {}
    for score in evaluation:
        name = str(score.metric)
        parts = [p for p in score.by_test_case.values() if p.interval is not None and p.value is not None]
        aim = truth[name] if truth[name] is not None else float(np.mean([p.value for p in parts]))
        out[name] = float(np.mean([p.interval.low - 1e-12 <= aim <= p.interval.high + 1e-12 for p in parts]))
    return out


def of_labels(runs: int, n: int, law: str, clustered: bool) -> dict[str, float]:
    rng = np.random.default_rng([n, len(law), clustered])
    gold, pred = Rows(), Rows()
    for run in range(runs):
        g, system, doc = labels(rng, n, law, DOCUMENTS[n] if clustered else None)
        gold += records(g, run, str, doc if clustered else None)
        pred += records(system(), run, str)
    g, system, _ = labels(rng, 200_000, law, 20_000 if clustered else None)
    truth = {str(s.metric): s.value for s in karat.evaluate(g, system(), metrics=LABELS)}
    options: dict[str, Any] = {"cluster_by": "doc"} if clustered else {}
    return covered(karat.evaluate(gold, pred, metrics=LABELS, intervals=True, resamples=RESAMPLES, **options), truth)


def of_weights(runs: int, n: int) -> dict[str, float]:
    rng = np.random.default_rng([n, 7])
    gold, pred = Rows(), Rows()
    for run in range(runs):
        g, p = weights(rng, n)
        gold, pred = gold + records(g, run, as_weights), pred + records(p, run, as_weights)
    g, p = weights(rng, 40_000)
    whole = karat.evaluate(records(g, 0, as_weights), records(p, 0, as_weights), context="soft", metrics=WEIGHTS)
    truth = {str(s.metric): s.value for s in whole}
    found = karat.evaluate(gold, pred, context="soft", metrics=WEIGHTS, intervals=True, resamples=RESAMPLES)
    return covered(found, truth)


def of_clusterings(runs: int, n: int) -> dict[str, float]:
    """Twenty clusters, a fifth of the items astray; the aim is the mean score of samples of this size."""
    rng, metrics = np.random.default_rng([n, 9]), ["bcubed_f1", "adjusted_rand", "purity", "nmi"]
    gold, pred = Rows(), Rows()
    for run in range(runs):
        g = rng.integers(0, 20, n)
        gold += records(g, run, str)
        pred += records(np.where(rng.random(n) < 0.8, g, rng.integers(0, 20, n)), run, str)
    found = karat.evaluate(gold, pred, context="clustering", metrics=metrics, intervals=True)
    return covered(found, {str(s.metric): None for s in found})


def of_queries(runs: int, n: int, kind: str) -> float:
    """The same intervals on simulated scores of queries."""
    from karat.stats.estimate import estimate, mean_of
    from karat.stats.resampling import Units
    from karat.stats.sample import Sample, Stratum
    from karat.stats.settings import IntervalSettings

    rng = np.random.default_rng([n, 11])
    truth, inside = float(queries(rng, 2_000_000, kind).mean()), 0
    for _ in range(runs):
        sample = Sample([Stratum("", mean_of(queries(rng, n, kind)[:, None]), Units(np.ones(n)))], over_cases=True)
        bounds = estimate(sample, IntervalSettings(resamples=RESAMPLES))[0].bounds
        inside += bool(bounds.low[0] <= truth <= bounds.high[0])
    return inside / runs


def null_systems(rng: Rng, n: int, law: str, systems: int, clustered: bool) -> tuple[Rows, dict[str, Rows]]:
    gold, system, doc = labels(rng, n, law, DOCUMENTS[n] if clustered else None)
    given = {f"s{i:02}": records(system(), 0, str) for i in range(systems)}
    return records(gold, 0, str, doc if clustered else None), given


def type_one(runs: int, n: int, law: str, clustered: bool) -> dict[str, float]:
    """False verdicts on two systems that are alike, metric by metric and uncorrected."""
    rng = np.random.default_rng([n, len(law), clustered, 3])
    options: dict[str, Any] = {"cluster_by": "doc"} if clustered else {}
    wrong = dict.fromkeys(LABELS, 0)
    for _ in range(runs):
        gold, given = null_systems(rng, n, law, 2, clustered)
        c = karat.compare(gold, given, metrics=LABELS, correction="none", resamples=100, draws=DRAWS, **options)
        for pair in c.pairs:
            wrong[str(pair.metric)] += pair.verdict in ("better", "worse")
    return {name: count / runs for name, count in wrong.items()}


CORRECTIONS = ("holm", "hochberg", "bonferroni", "bh", "by", "tukey", "maxt")


def family_errors(runs: int, systems: int, clustered: bool) -> tuple[dict[str, float], dict[str, float]]:
    """Any false verdict, and any simultaneous interval without 0, among systems that are alike (accuracy and F1)."""
    from karat.api import Asked, scored
    from karat.stats.comparing import _interval

    rng, n = np.random.default_rng([systems, clustered, 5]), 100
    wrong, missed = dict.fromkeys(CORRECTIONS, 0), dict.fromkeys(CORRECTIONS, 0)
    for _ in range(runs):
        gold, given = null_systems(rng, n, "even", systems, clustered)
        asked = Asked(None, ["accuracy", "f1"], None, None, {}, "report", 0, True, "doc" if clustered else None, {})
        found = scored(gold, list(given.items()), asked, None)
        joint = joined(found.evaluation.systems)
        statistic = Statistic(found.plan.catalogue, directed(found.plan), found.plan.fill)
        cluster = found.clusters.of(joint.keys)[0] if found.clusters else None
        for baseline in (None, "s00"):
            plain = ComparisonSettings(draws=DRAWS, baseline=baseline)
            duels = paired_systems(joint, statistic, plain, cluster)
            drawn = all_tests(duels, plain, True)
            for name in CORRECTIONS[:-1] if baseline is None else CORRECTIONS[-1:]:
                settings = replace(plain, correction=name)
                family = family_of(duels, drawn, joint, statistic, settings, cluster)
                wrong[name] += bool((family.p <= settings.alpha).any())
                ends = [
                    _interval(d, k, family.alpha, family.of(i, k).reach, False, statistic)
                    for i, d in enumerate(duels)
                    for k in range(2)
                ]
                se = np.array([[float(d.spread[0][k]) for k in range(2)] for d in duels]).ravel()
                gap = np.array([[float(d.difference[k]) for k in range(2)] for d in duels]).ravel()
                missed[name] += any(
                    s > 0 and abs(x) > max(e.high - x, x - e.low) for e, s, x in zip(ends, se, gap, strict=True) if e
                )
    return {k: v / runs for k, v in wrong.items()}, {k: v / runs for k, v in missed.items()}


def tables(runs: int) -> Iterator[str]:
    """The page's tables, one after the other."""
    few = max(runs // 4, 20)
    head = "| metric | data | n = 30 | n = 100 | n = 1,000 |\n|---|---|---|---|---|\n"
    rows = []
    for law in LAWS:
        for clustered in (False, True):
            found = [of_labels(runs, n, law, clustered) for n in SIZES]
            said = f"labels, {law} classes" + (", in 10/20/50 documents" if clustered else "")
            rows += [f"| `{m}` | {said} | " + " | ".join(shown(f[m], runs) for f in found) + " |" for m in LABELS]
    for kind in ("even", "skewed"):
        said = "queries, " + ("dense" if kind == "even" else "70 % zeros")
        rows.append(f"| `rr` | {said} | " + " | ".join(shown(of_queries(runs, n, kind), runs) for n in SIZES) + " |")
    found = [of_weights(few, n) for n in SIZES[:2]]
    rows += [f"| `{m}` | weights | " + " | ".join(shown(f[m], few) for f in found) + " | – |" for m in found[0]]
    found = [of_clusterings(few, n) for n in SIZES[:2]]
    rows += [f"| `{m}` | clusterings | " + " | ".join(shown(f[m], few) for f in found) + " | – |" for m in found[0]]
    yield (
        f"Coverage of the default 95 % interval ({runs} data sets each; weights and clusterings {few}; "
        f"{RESAMPLES} resamples):\n\n" + head + "\n".join(rows)
    )
    rows = []
    for law, clustered in (("even", False), ("skewed", False), ("even", True)):
        found = [type_one(few, n, law, clustered) for n in SIZES]
        said = f"{law} classes" + (", in documents" if clustered else "")
        rows += [f"| `{m}` | {said} | " + " | ".join(shown(f[m], few) for f in found) + " |" for m in LABELS]
    yield (
        f"False verdicts at 5 % on two systems that are alike ({few} data sets, {DRAWS} draws):\n\n{head}"
        + "\n".join(rows)
    )
    rows = []
    for clustered in (False, True):
        for systems in (2, 5, 10, 30):
            count = {2: few, 5: few, 10: max(few // 3, 10), 30: max(few // 10, 5)}[systems]
            wrong, missed = family_errors(count, systems, clustered)
            said = "100 items in 20 documents" if clustered else "100 items"
            each = " | ".join(shown(wrong[c], count) for c in CORRECTIONS)
            rows.append(f"| {systems} | {said} | {each} | {shown(missed['holm'], count)} | {count} |")
    yield (
        "Any false verdict among systems that are alike, accuracy and F1 as one family, and any simultaneous interval "
        "(Holm) without 0:\n\n| systems | data | "
        + " | ".join(CORRECTIONS) + " | intervals | data sets |\n|---|---|" + "---|" * (len(CORRECTIONS) + 2) + "\n" + "\n".join(rows)
    )  # fmt: skip


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    done = []
    for table in tables(runs):
        print(table, flush=True)
        done.append(table)
    before, _, rest = PAGE.read_text().partition(START)
    PAGE.write_text(before + START + "\n" + "\n\n".join(done) + "\n\n" + END + rest.partition(END)[2])


if __name__ == "__main__":
    main()
