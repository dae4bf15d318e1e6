"""Experiments of `benchmarks.simulate`: data sets drawn from a known law, and what karat's defaults say of them.

Every data set is a sample of units from a population that karat has counted once, so that the truth is the
population's own score and a data set costs its statistics alone, without reading. A tally is a count by name; tallies
of blocks of data sets add up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from scipy import special

from karat.api import Asked, scored
from karat.cells import Cells
from karat.comparison import Test
from karat.findings import Finding
from karat.plan import Plan
from karat.stats.clusters import cluster_findings
from karat.stats.comparing import all_tests, family_of, paired_systems
from karat.stats.corrections import correct
from karat.stats.doubts import few_units, of_score, rare_classes, reads_classes
from karat.stats.estimate import estimate, sample_of
from karat.stats.family import verdict_of
from karat.stats.maxt import joint_family
from karat.stats.pair import Paired, parts_of
from karat.stats.resampling import Clusters
from karat.stats.settings import JOINT, ComparisonSettings, IntervalSettings
from karat.stats.statistic import Statistic
from karat.stats.units import Joint

RESAMPLES, DRAWS = 999, 499
DOCUMENTS = {30: 10, 100: 20, 1_000: 50}
LAWS = {"even": (1 / 3, 1 / 3, 1 / 3), "skewed": (0.68, 0.24, 0.08)}
LABELS = ("accuracy", "f1", "kappa", "mcc", "icm", "balanced_accuracy")
CORRECTIONS = ("holm", "hochberg", "bonferroni", "bh", "by", "tukey", "maxt")
ALPHA, RIGHT, POOL = 0.05, 0.8, 1_500
Rng = np.random.Generator
Tally = Counter[str]
Records = list[dict[str, Any]]


@dataclass(frozen=True)
class Population:
    """Units that were counted once; data sets are drawn from them."""

    plan: Plan
    cells: Cells

    @property
    def statistic(self) -> Statistic:
        return Statistic(self.plan.catalogue, self.plan.metrics, self.plan.fill)

    @cached_property
    def reads_classes(self) -> list[bool]:
        """By metric: whether a rare class weighs much in it."""
        every = self.statistic
        return [
            bool(self.cells.classes) and reads_classes(self.cells, replace(every, metrics=[m])) for m in every.metrics
        ]

    def drawn(self, index: Any, n: Any = None) -> Cells:
        """These cells as a data set of their own."""
        out = self.cells.take(index, n)
        if self.cells.are_test_cases:
            out.test_case, out.test_cases = np.arange(len(index)), [str(i) for i in range(len(index))]
        if hasattr(out, "whole"):
            out.whole = out
        return out


def population(context: str, metrics: Sequence[str], gold: Any, pred: Any, **options: Any) -> Population:
    asked = Asked(context, list(metrics), None, None, {}, "report", 0, True, None, options)
    found = scored(gold, [("system", pred)], asked, None)
    return Population(found.plan, found.evaluation.systems[0].cells)


# What data sets look like


@cache
def labels() -> Population:
    """The nine outcomes of three labels."""
    return population("monolabel", LABELS, list("AAABBBCCC"), list("ABCABCABC"))


def outcomes(law: str) -> Any:
    """Chance of each: a system that is right four times in five, and else guesses."""
    return (np.array(LAWS[law])[:, None] * (RIGHT * np.eye(3) + (1 - RIGHT) / 3)).ravel()


def label_codes(rng: Rng, n: int, law: str, documents: int | None, systems: int = 1) -> tuple[Any, Any]:
    """Systems × items: the outcome of each; and the document of each item, where some are easier than others."""
    gold = rng.choice(3, n, p=LAWS[law])
    doc = np.arange(n) * (documents or n) // n
    easy = rng.beta(4, 1, documents)[doc] if documents else np.full(n, RIGHT)
    pred = np.where(rng.random((systems, n)) < easy, gold, rng.integers(0, 3, (systems, n)))
    return gold * 3 + pred, doc if documents else None


@cache
def weights() -> Population:
    rng = np.random.default_rng(7)
    gold = rng.dirichlet([1.0, 0.6, 0.3], POOL).round(4)
    pred = (0.7 * gold + 0.3 * rng.dirichlet([1.0, 1.0, 1.0], POOL)).round(4)
    rows = lambda values: [
        {"id": str(i), "value": dict(zip("ABC", v, strict=True))} for i, v in enumerate(values.tolist())
    ]
    metrics = ("cross_entropy", "js_divergence", "icm_soft", "icm_soft_norm", "soft_f1", "ece")
    return population("soft", metrics, rows(gold), rows(pred))


@cache
def label_sets() -> Population:
    """Sets of six labels, the rarest in one of fifteen items."""
    rng, share = np.random.default_rng(8), np.array([0.5, 0.35, 0.25, 0.15, 0.1, 0.07])
    gold = rng.random((POOL, 6)) < share
    gold[np.arange(POOL), rng.integers(0, 2, POOL)] = True
    pred = gold ^ (rng.random((POOL, 6)) < 0.1)
    rows = lambda sets: [
        {"id": str(i), "value": [x for x, on in zip("ABCDEF", s, strict=True) if on]} for i, s in enumerate(sets)
    ]
    return population("multilabel", ("f1", "f1(average=micro)", "jaccard", "subset_accuracy"), rows(gold), rows(pred))


@cache
def queries(found_in: float) -> Population:
    """Queries of ten documents; a share of them finds what is relevant, the others nothing of it."""
    rng, gold, pred = np.random.default_rng(9), Records(), Records()
    for q in range(POOL):
        grade = rng.integers(0, 3, 10) * (rng.random(10) < 0.3)
        grade[rng.integers(10)] = 2
        score = rng.beta(1, 2) * grade + rng.random(10)
        found = rng.random() < found_in
        for d in range(10):
            gold.append({"test_case": f"q{q}", "id": f"d{d}", "value": int(grade[d])})
            if found or not grade[d]:
                pred.append({"test_case": f"q{q}", "id": f"d{d}", "value": float(score[d])})
    return population(
        "ranking", ("ndcg", "average_precision", "reciprocal_rank", "precision@5"), gold, pred, order="score"
    )


@cache
def spans() -> Population:
    """Documents of twelve tokens with one to six names of three kinds, some documents harder than others."""
    rng, gold, pred = np.random.default_rng(10), Records(), Records()
    for i in range(POOL):
        easy, one, other = rng.beta(4, 1), [], []
        for start in range(0, 12, 2):
            if rng.random() < 0.4:
                label = str(rng.choice(["PER", "LOC", "ORG"], p=[0.6, 0.3, 0.1]))
                one.append({"start": 10 * start, "end": 10 * start + 9, "label": label})
                if rng.random() < easy:
                    other.append(one[-1])
                elif rng.random() < 0.5:
                    other.append(one[-1] | {"end": 10 * start + 5})
        gold.append({"id": str(i), "spans": one})
        pred.append({"id": str(i), "spans": other})
    return population("spans", ("f1", "f1(average=macro)", "precision", "token_f1"), gold, pred)


@cache
def bundles() -> Population:
    rng, gold, pred = np.random.default_rng(11), Records(), Records()
    for i in range(POOL):
        pages, easy = int(rng.integers(3, 12)), rng.beta(9, 1)
        first = [j == 0 or rng.random() < 0.3 for j in range(pages)]
        said = [f if rng.random() < easy else not f for f in first]
        for side, flags in ((gold, first), (pred, said)):
            side.append(
                {
                    "document_id": str(i),
                    "pages": [{"number": j + 1, "is_first_page": bool(f)} for j, f in enumerate(flags)],
                }
            )
    return population("splitting", ("f1", "pk", "windowdiff", "file_f1", "straight_through"), gold, pred)


POOLS: dict[str, Callable[[], Population]] = {
    "label sets, six labels": label_sets, "queries": lambda: queries(1.0),
    "queries, 70 % without a hit": lambda: queries(0.3), "weights": weights,
    "spans in documents of their own difficulty": spans, "bundles of their own difficulty": bundles,
}  # fmt: skip


@cache
def clusterings() -> Population:
    """The outcomes of twenty clusters: a fifth of the items is astray."""
    gold, pred = (axis.ravel() for axis in np.indices((20, 20)))
    metrics = ("bcubed_f1", "adjusted_rand", "purity", "nmi")
    return population("clustering", metrics, [str(g) for g in gold], [str(p) for p in pred])


# Coverage


def covered(population: Population, cells: Cells, truth: Any, documents: Clusters | None = None) -> Tally:
    """By metric: data sets with an interval, whose interval holds the truth, with a warning, and both of these."""
    statistic, settings = population.statistic, IntervalSettings(resamples=RESAMPLES)
    design = None if documents is None else {0: documents}
    table = estimate(sample_of(cells, statistic, False, design), settings)[0]
    said = [] if documents is None else cluster_findings({0: documents}, 0, int(cells.n.sum()), "document")
    warned_of_all = _warns([*said, *few_units(cells, population.plan.context.unit)])
    rare, out = bool(rare_classes(cells)), Tally()
    for i, (metric, score) in enumerate(population.plan.score(cells).items()):
        interval = table.interval(i, settings.level, statistic.limits(metric))
        if interval is None or score.value is None:
            continue
        inside = interval.low - 1e-12 <= truth[i] <= interval.high + 1e-12
        own = of_score(str(metric), replace(score, interval=interval))
        warned = warned_of_all or (rare and population.reads_classes[i]) or _warns(own)
        out += Tally({f"{metric} sets": 1, f"{metric} covered": int(inside)})
        out += Tally({f"{metric} warned": int(warned), f"{metric} covered, warned": int(warned and inside)})
    return out


def _warns(findings: Sequence[Finding]) -> bool:
    return any(f.severity == "warning" for f in findings)


def of_labels(rng: Rng, sets: int, n: int, law: str, clustered: bool) -> Tally:
    source, out = labels(), Tally()
    truth = source.statistic.values(1e9 * outcomes(law)[None], source.cells)[0]
    for _ in range(sets):
        (code,), doc = label_codes(rng, n, law, DOCUMENTS[n] if clustered else None)
        at, cell, count = np.unique(code, return_inverse=True, return_counts=True)
        documents = None if doc is None else Clusters.of(doc, cell, len(at))
        out += covered(source, source.drawn(at, count), truth, documents)
    return out


def of_pool(rng: Rng, sets: int, n: int, name: str) -> Tally:
    source, out = POOLS[name](), Tally()
    whole = source.drawn(np.arange(len(source.cells)), source.cells.n)
    truth = [score.value for score in source.plan.score(whole).values()]
    assert source.cells.unit is not None or source.cells.are_test_cases
    unit = np.arange(len(source.cells)) if source.cells.unit is None else source.cells.unit
    for _ in range(sets):
        cells = source.drawn(unit[rng.integers(0, len(unit), n)], np.ones(n))
        out += covered(source, cells, truth)
    return out


def of_clusterings(rng: Rng, sets: int, n: int) -> Tally:
    """The aim is the mean score of samples of this size, because the score itself grows with the sample."""
    source, out = clusterings(), Tally()
    law = (RIGHT * np.eye(20) + (1 - RIGHT) / 20).ravel() / 20
    truth = _mean_score(n)
    for _ in range(sets):
        count = rng.multinomial(n, law)
        at = np.flatnonzero(count)
        out += covered(source, source.drawn(at, count[at]), truth)
    return out


@cache
def _mean_score(n: int) -> Any:
    rng, source = np.random.default_rng([n, 1]), clusterings()
    law = (RIGHT * np.eye(20) + (1 - RIGHT) / 20).ravel() / 20
    return source.statistic.values(rng.multinomial(n, law, 2_000).astype(float), source.cells).mean(0)


# False verdicts


def joint_of(code: Any) -> Joint:
    """Systems × items as karat's systems side by side."""
    source, n = labels(), code.shape[1]
    cells = [source.cells.take(np.arange(9), np.bincount(c, minlength=9)) for c in code]
    keys = np.array([f"{i:05}" for i in range(n)])
    return Joint([f"s{i:02}" for i in range(len(code))], cells, keys, code, [""], np.zeros(n, np.int64))


def only(metrics: Sequence[str]) -> Statistic:
    source = labels()
    return replace(source.statistic, metrics=[m for m in source.plan.metrics if str(m) in metrics])


def verdicts(rng: Rng, sets: int, n: int, law: str, clustered: bool) -> Tally:
    """False verdicts on two systems that are alike, metric by metric and uncorrected."""
    out, statistic, settings = Tally(), only(LABELS), ComparisonSettings(draws=DRAWS, correction="none")
    for _ in range(sets):
        code, doc = label_codes(rng, n, law, DOCUMENTS[n] if clustered else None, 2)
        joint = joint_of(code)
        duels = paired_systems(joint, statistic, settings, doc)
        family = family_of(duels, all_tests(duels, settings, True), joint, statistic, settings, doc)
        for k, metric in enumerate(statistic.metrics):
            p, gain = float(family.p[0, k]), float(duels[0].difference[k])
            out += Tally({f"{metric} sets": 1, f"{metric} wrong": verdict_of(gain, p, ALPHA) in ("better", "worse")})
    return out


FAR = 0.02
"""p of Student's t above which a pair in a large family is not drawn: it cannot decide anything there."""


def families(rng: Rng, sets: int, systems: int, clustered: bool) -> Tally:
    """By correction: data sets with any false verdict among systems that are alike (accuracy and F1, 100 items)."""
    out, statistic = Tally(), only(("accuracy", "f1"))
    for _ in range(sets):
        code, doc = label_codes(rng, 100, "even", 20 if clustered else None, systems)
        joint = joint_of(code)
        for baseline in (None, "s00"):
            settings = ComparisonSettings(draws=DRAWS if systems < 10 else 199, baseline=baseline)
            duels = paired_systems(joint, statistic, settings, doc)
            gain = np.stack([d.difference for d in duels])
            drawn = [] if baseline else _tests(duels, replace(settings, draws=None), all_of=systems == 2)
            for name in CORRECTIONS[:-1] if baseline is None else CORRECTIONS[-1:]:
                chosen = replace(settings, correction=name)
                if name in JOINT:
                    parts = parts_of(joint, statistic, doc)
                    p = joint_family(duels, parts, chosen, gain.size).p
                else:
                    p = correct(np.array([[t[0].p for t in tests] for tests in drawn]).ravel(), name)
                wrong = bool(((p.reshape(gain.shape) <= ALPHA) & (gain != 0)).any())
                out += Tally({f"{name} sets": 1, f"{name} wrong": int(wrong)})
    return out


def _tests(duels: Sequence[Paired], settings: ComparisonSettings, all_of: bool) -> list[list[list[Test]]]:
    """The tests of every pair; of pairs that are far from deciding, Student's alone."""
    p = _student(duels)
    quick = [[[Test("paired jackknife-t", float(x))] for x in row] for row in p]
    near = np.flatnonzero(all_of | (p < FAR).any(1)).tolist()
    for i, tests in zip(near, all_tests([duels[i] for i in near], settings, True), strict=True):
        quick[i] = tests
    return quick


def _student(duels: Sequence[Paired]) -> Any:
    """Pairs × metrics: p of the paired jackknife-t, from the products of what leaving each unit out does."""
    parts = {i: part[0] for d in duels for i, part in zip((d.a, d.b), d.parts, strict=True)}
    moved = {i: p.left_out[p.cell] if duels[0].clusters is None else p.left_out for i, p in parts.items()}
    value = np.stack([moved[i] - moved[i].mean(0) for i in sorted(moved)])
    n, product = value.shape[1], np.einsum("auk,buk->abk", value, value)
    a, b = np.array([(d.a, d.b) for d in duels]).T
    se = np.sqrt((n - 1) / n * np.maximum(product[a, a] + product[b, b] - 2 * product[a, b], 0.0))
    gap = np.stack([parts[d.a].stratum.point - parts[d.b].stratum.point for d in duels])
    return 2 * special.stdtr(n - 1, -np.abs(np.divide(gap, se, out=np.zeros_like(gap), where=se > 0)))


def metrics_of(tally: Tally) -> list[str]:
    """What was counted, in order."""
    return [name.removesuffix(" sets") for name in tally if name.endswith(" sets")]
