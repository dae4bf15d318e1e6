"""Experiments of `benchmarks.simulate`: data sets drawn from a known law, and what karat's defaults say of them.

Every data set is a sample of units from a population that karat has counted once, so that the truth is the
population's own score and a data set costs its statistics alone, without reading. A tally is a count by name; tallies
of blocks of data sets add up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from scipy import special

from benchmarks.populations import NEAR, POOLS, Population, population
from karat.cells import Cells
from karat.findings import Finding
from karat.stats import intervals
from karat.stats.beyond import Swaps, beyond
from karat.stats.clusters import FEW_CLUSTERS, cluster_findings
from karat.stats.comparing import all_tests, paired_systems
from karat.stats.corrections import correct
from karat.stats.doubts import FEW_MEMBERS, FEW_UNITS, MUCH_BIAS, few_units, of_score, rare_classes
from karat.stats.estimate import SKEWED_SCORE, estimate, sample_of
from karat.stats.maxt import shuffles
from karat.stats.randomisation import Coins, Randomised, randomisation
from karat.stats.resampling import Clusters, Jackknife
from karat.stats.settings import JOINT, ComparisonSettings, IntervalSettings
from karat.stats.statistic import Statistic
from karat.stats.tests import mcnemar, monte_carlo
from karat.stats.units import Joint

RESAMPLES, DRAWS, FEWER_DRAWS = 999, 499, 99
"""Of an interval; of a test of labels, and of one that costs more: p is valid whatever their number."""
DOCUMENTS = {30: 10, 100: 20, 1_000: 50}
LAWS = {"even": (1 / 3, 1 / 3, 1 / 3), "skewed": (0.68, 0.24, 0.08)}
LABELS = ("accuracy", "f1", "kappa", "mcc", "icm", "balanced_accuracy")
FAMILY = ("accuracy", "f1")
CORRECTIONS = ("holm", "hochberg", "bonferroni", "bh", "by", "tukey", "maxt")
ALPHA, RIGHT = 0.05, 0.8
Rng = np.random.Generator
Tally = Counter[str]


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
    """All data sets of a block at once: the same metrics, formulas and rules as `estimate`, which a test compares."""
    source, out = labels(), Tally()
    truth = source.statistic.values(1e9 * outcomes(law)[None], source.cells)[0]
    drawn = [label_codes(rng, n, law, DOCUMENTS[n] if clustered else None) for _ in range(sets)]
    count = np.stack([tabulated(code[0], doc) for code, doc in drawn])
    low, high, method, bias = label_bounds(count, rng)
    total = count.sum(1)
    rare = ((total.reshape(sets, 3, 3).sum(-1) < FEW_MEMBERS) & (total.reshape(sets, 3, 3).sum(-1) > 0)).any(1)
    few = is_few(n, clustered)
    inside = (low - 1e-12 <= truth) & (truth <= high + 1e-12)
    warned = few | (rare[:, None] & np.array(source.reads_classes)) | (method == "rule-of-three") | (bias > MUCH_BIAS)
    for i, metric in enumerate(source.plan.metrics):
        known = ~np.isnan(low[:, i])
        out[f"{metric} sets"] += int(known.sum())
        out[f"{metric} covered"] += int((inside[:, i] & known).sum())
        out[f"{metric} warned"] += int((warned[:, i] & known).sum())
        out[f"{metric} covered, warned"] += int((inside[:, i] & warned[:, i] & known).sum())
    return out


def is_few(n: int, clustered: bool) -> bool:
    """Whether every data set of this size is said to be too small."""
    return n <= FEW_UNITS or (clustered and DOCUMENTS[n] < FEW_CLUSTERS)


def tabulated(code: Any, doc: Any) -> Any:
    """Documents × outcomes; without documents, one row."""
    if doc is None:
        return np.bincount(code, minlength=9)[None].astype(float)
    return np.bincount(doc * 9 + code, minlength=9 * (doc.max() + 1)).reshape(-1, 9).astype(float)


def label_bounds(count: Any, rng: Rng) -> tuple[Any, Any, Any, Any]:
    """Sets × metrics: ends and method of the default interval, and the bias in standard errors.

    ``count`` is sets × documents × outcomes, with one document where items are drawn by themselves.
    """
    source = labels()
    score = lambda W: source.statistic.values(W.reshape(-1, 9), source.cells).reshape(*W.shape[:-1], -1)
    sets, documents, total = len(count), count.shape[1], count.sum(1)
    point = score(total)
    clustered = documents > 1
    n = np.ones((sets, documents)) if clustered else total
    without = total[:, None] - count if clustered else np.maximum(total[:, None] - np.eye(9), 0)
    jacks = [Jackknife(k[k > 0], v[k > 0]) for k, v in zip(n, score(without), strict=True)]
    se, skewness = (np.stack([getattr(j, name) for j in jacks]) for name in ("se", "acceleration"))
    bias = np.stack([(j.size - 1) * (j.mean - p) for j, p in zip(jacks, point, strict=True)])
    df = np.array([[max(j.size - 1, 1)] for j in jacks])
    low, high = intervals.hall(point, se, 6 * skewness, df, 0.95)
    method = np.full(low.shape, "hall-t", object)
    if not clustered:
        law = total / total.sum(1, keepdims=True)
        drawn = rng.multinomial(int(total[0].sum()), law[:, None], (sets, RESAMPLES)).astype(float)
        flat = score(drawn).transpose(1, 0, 2).reshape(RESAMPLES, -1)
        ends = intervals.bca(point.ravel(), flat, skewness.ravel(), 0.95)
        even = (6 * np.abs(skewness) <= SKEWED_SCORE) & (ends[0] != ends[1]).reshape(low.shape)
        low, high = (np.where(even, e.reshape(low.shape), old) for e, old in zip(ends, (low, high), strict=True))
        mean = np.nanmean(flat, 0).reshape(low.shape) - point
        bias, se = np.where(even, mean, bias), np.where(even, np.nanstd(flat, 0, ddof=1).reshape(low.shape), se)
        method[even] = "bca"
        low[:, 0], high[:, 0] = intervals.wilson(total @ np.eye(3).ravel(), total.sum(1), 0.95)
        method[:, 0], bias[:, 0] = "wilson", 0.0
    return (*_within_limits(low, high, method, df), np.abs(bias) / np.where(se > 0, se, np.inf))


def _within_limits(low: Any, high: Any, method: Any, df: Any) -> tuple[Any, Any, Any]:
    """Without what no score can be; the rule of three where there is no spread."""
    source = labels()
    for i, metric in enumerate(source.plan.metrics):
        limits = source.statistic.limits(metric)
        for at in np.flatnonzero(low[:, i] == high[:, i]) if np.isfinite(limits).all() else ():
            low[at, i], high[at, i] = intervals.constant(low[at, i], df[at, 0] + 1, limits, 0.95)
            method[at, i] = "rule-of-three"
        low[:, i], high[:, i] = np.maximum(low[:, i], limits[0]), np.minimum(high[:, i], limits[1])
    return low, high, method


def of_pool(rng: Rng, sets: int, n: int, name: str, clustered: bool = False) -> Tally:
    pool, out = POOLS[name], Tally()
    source = pool.one
    whole = source.drawn(source.unit, np.ones(len(source.unit)))
    truth = [score.value for score in source.plan.score(whole).values()]
    for _ in range(sets):
        index, doc = units_of(rng, n, pool.ease, DOCUMENTS[n] if clustered else None)
        cells = source.drawn(source.unit[index], np.ones(n))
        out += covered(source, cells, truth, None if doc is None else Clusters.of(doc, np.arange(n), n))
    return out


def units_of(rng: Rng, n: int, ease: Any, documents: int | None) -> tuple[Any, Any]:
    """Units by number, and the document of each: units of one document are about as easy as each other."""
    if documents is None:
        return rng.integers(0, len(ease), n), None
    doc, order = np.arange(n) * documents // n, np.argsort(ease, kind="stable")
    near = rng.integers(0, len(ease), documents)[doc] + rng.integers(-NEAR, NEAR + 1, n)
    return order[near % len(ease)], doc


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


def only(metrics: Sequence[str]) -> Statistic:
    source = labels()
    return replace(source.statistic, metrics=[m for m in source.plan.metrics if str(m) in metrics])


def verdicts(rng: Rng, sets: int, n: int, law: str, clustered: bool) -> Tally:
    """False verdicts on two systems that are alike, metric by metric and uncorrected."""
    drawn = [label_codes(rng, n, law, DOCUMENTS[n] if clustered else None, 2) for _ in range(sets)]
    p, gap = swap_tests([(a, b, doc) for (a, b), doc in drawn], LABELS, DRAWS, rng)
    out, wrong = Tally(), (p <= ALPHA) & (gap != 0)
    for k, metric in enumerate(LABELS):
        out[f"{metric} sets"], out[f"{metric} wrong"] = sets, int(wrong[:, k].sum())
    return out


def verdicts_of_pool(rng: Rng, sets: int, n: int, name: str, clustered: bool) -> Tally:
    """The same on units of a population: a coin says which of the rivals is the first, for a unit or a document."""
    pool, tally = POOLS[name], Tally()
    source, (here, there) = pool.both, pool.rivals
    for _ in range(sets):
        index, doc = units_of(rng, n, pool.gain, DOCUMENTS[n] if clustered else None)
        coin = rng.random(n) < 0.5 if doc is None else (rng.random(DOCUMENTS[n]) < 0.5)[doc]
        sides = [source.unit[np.where(c, here[index], there[index])] for c in (coin, ~coin)]
        cells = [source.drawn(side, np.ones(n)) for side in sides]
        tally += judged(cells, np.stack([np.arange(n)] * 2), source.statistic, doc, int(rng.integers(2**31)))
    return tally


def verdicts_of_clusterings(rng: Rng, sets: int, n: int) -> Tally:
    source, tally = clusterings(), Tally()
    for _ in range(sets):
        gold = rng.integers(0, 20, n)
        code = gold * 20 + np.where(rng.random((2, n)) < RIGHT, gold, rng.integers(0, 20, (2, n)))
        cells = [source.drawn(np.arange(400), np.bincount(c, minlength=400)) for c in code]
        tally += judged(cells, code, source.statistic, None)
    return tally


def judged(cells: list[Cells], cell: Any, statistic: Statistic, doc: Any, seed: int = 0) -> Tally:
    """What karat's default tests say of two systems, metric by metric.

    ``seed``: every data set needs coins of its own, or the same few would make one error of all.
    """
    n, settings = cell.shape[1], ComparisonSettings(draws=FEWER_DRAWS, seed=seed)
    keys = np.array([f"{i:05}" for i in range(n)])
    joint = Joint(["a", "b"], cells, keys, cell, [""], np.zeros(n, np.int64))
    duels, out = paired_systems(joint, statistic, settings, doc), Tally()
    for metric, tests in zip(statistic.metrics, all_tests(duels, settings, cells[0].repeatable)[0], strict=True):
        if tests:
            out += Tally({f"{metric} sets": 1, f"{metric} wrong": int(tests[0].p <= ALPHA)})
    return out


def swap_tests(pairs: Sequence[tuple[Any, Any, Any]], metrics: Sequence[str], draws: int, rng: Rng) -> tuple[Any, Any]:
    """Pairs × metrics: p of karat's default test, and the difference, for pairs of systems (outcomes, outcomes, documents).

    All pairs are one call of `randomisation`, each a few of its columns, drawn where karat would enumerate; pairs that no
    draw reaches are looked at one by one. A test compares it with `all_tests`.
    """
    score = _scores(metrics)
    here, there, size = (np.stack(x) for x in zip(*(moves(*pair) for pair in pairs), strict=True))
    base = [np.stack([np.bincount(pair[side], minlength=9) for pair in pairs]) for side in (0, 1)]

    def difference(swapped: Any) -> Any:
        shift = np.einsum("rpm,pmo->rpo", swapped.reshape(len(swapped), *size.shape), there - here)
        return (score(base[0] + shift) - score(base[1] - shift)).reshape(len(swapped), -1)

    gap = score(base[0]) - score(base[1])
    coins = Coins(int(rng.integers(2**60)))
    found = randomisation(difference, size.ravel(), gap.ravel(), coins, draws)
    p = found.p.reshape(gap.shape).copy()
    for i in np.flatnonzero(found.unreached.reshape(gap.shape).any(1)):
        swaps = _swaps(score, base[0][i], base[1][i], (there - here)[i], size[i])
        p[i] = beyond(Randomised(p[i], draws, False), swaps, gap[i], np.array(metrics) == "accuracy", coins).p
    if pairs[0][2] is None and metrics[0] == "accuracy":
        hit = np.eye(3).ravel()
        for i, (a, b, _) in enumerate(pairs):
            won = hit[a] - hit[b]
            p[i, 0] = mcnemar(int((won > 0).sum()), int((won < 0).sum())).p
    return p, gap


def _swaps(score: Any, here: Any, there: Any, move: Any, size: Any) -> Swaps:
    """What swaps of one pair do, of which none are made in what was observed."""

    def difference(swapped: Any) -> Any:
        shift = swapped @ move
        return score(here + shift) - score(there - shift)

    step = np.eye(len(size)) / 64
    return Swaps(difference, size, 0.0 * size, (difference(size / 2 - step) - difference(size / 2 + step)) * 16)


def moves(a: Any, b: Any, doc: Any) -> tuple[Any, Any, Any]:
    """What is swapped whole, as outcomes of either system, and how many there are of it: joint outcomes, or documents."""
    if doc is not None:
        return tabulated(a, doc), tabulated(b, doc), np.ones(doc.max() + 1)
    gold, first, second = (axis.ravel() for axis in np.indices((3, 3, 3)))
    size = np.bincount(a * 3 + b % 3, minlength=27).astype(float)
    return np.eye(9)[gold * 3 + first], np.eye(9)[gold * 3 + second], np.where(first == second, 0.0, size)


FAR = 0.02
"""p of Student's t above which a pair in a large family is not drawn: it cannot decide anything there."""
BATCH = 100
"""Pairs that are drawn at once."""


def families(rng: Rng, sets: int, systems: int, clustered: bool) -> Tally:
    """By correction: data sets with any false verdict among systems that are alike (accuracy and F1, 100 items)."""
    drawn = [label_codes(rng, 100, "even", 20 if clustered else None, systems) for _ in range(sets)]
    out = Tally({f"{name} sets": sets for name in CORRECTIONS})
    for (code, doc), p in zip(drawn, _family_tests(drawn, rng), strict=True):
        joint = joint_p(code, doc, rng)
        for name in CORRECTIONS:
            given = joint[name] if name in JOINT else correct(p.ravel(), name)
            out[f"{name} wrong"] += int((given <= ALPHA).any())
    return out


def _family_tests(drawn: Sequence[tuple[Any, Any]], rng: Rng) -> list[Any]:
    """By data set, p of pairs × metrics; that of pairs which are far from deciding is Student's."""
    pairs = list(combinations(range(len(drawn[0][0])), 2))
    p = [_student(code, doc, pairs) for code, doc in drawn]
    near = [(i, j) for i, one in enumerate(p) for j in np.flatnonzero((one < FAR).any(1) | (len(pairs) == 1))]
    for start in range(0, len(near), BATCH):
        at = near[start : start + BATCH]
        both = [(drawn[i][0][list(pairs[j])], drawn[i][1]) for i, j in at]
        found, gap = swap_tests([(a, b, doc) for (a, b), doc in both], FAMILY, 1_999, rng)
        for (i, j), given, d in zip(at, found, gap, strict=True):
            p[i][j] = np.where(d == 0, 1.0, given)
    return p


def joint_p(code: Any, doc: Any, rng: Rng, draws: int = 99) -> dict[str, Any]:
    """By correction, for each metric the smallest p: of randomised Tukey over all pairs, of MaxT against the first system.

    The law of `joint_family` without a table of pairs: all differ less than the largest and the smallest do. Both read
    the same shuffles. A test compares the two.
    """
    score = _scores(FAMILY)
    table = None if doc is None else np.stack([tabulated(c, doc) for c in code])
    point = score(np.stack([np.bincount(c, minlength=9) for c in code]).astype(float))
    drawn = score(_shuffled(code, table, rng, draws))
    scale = np.sqrt(2 * len(code) / (len(code) - 1) * drawn.var(1).mean(0))
    to_first, seen = drawn[:, 1:] - drawn[:, :1], np.abs(point[1:] - point[0])
    own = np.sqrt((to_first**2).mean((0, 1)))
    return {
        "tukey": _beyond(np.ptp(drawn, axis=1) / scale, np.ptp(point, axis=0) / scale),
        "maxt": _beyond((np.abs(to_first) / own).max(1), (seen / own).max(0)),
    }


def _beyond(widest: Any, seen: Any) -> Any:
    """By metric, how rarely the widest gap of any metric is as wide as what was seen."""
    return np.array([float(monte_carlo(widest.max(1), np.array(x))) for x in seen])


def _shuffled(code: Any, table: Any, rng: Rng, draws: int) -> Any:
    """Draws × systems × outcomes: how often, when systems are shuffled inside each item (or document of ``table``)."""
    systems, items = code.shape
    if table is not None:
        order = shuffles(rng, table.shape[1], systems, draws)
        return np.take_along_axis(table.transpose(1, 0, 2)[None], order[..., None], 2).sum(1)
    drawn = np.take_along_axis(code.T[None], shuffles(rng, items, systems, draws), 2)
    place = np.arange(draws)[:, None, None] * systems + np.arange(systems)
    count = np.bincount((place * 9 + drawn).ravel(), minlength=draws * systems * 9)
    return count.reshape(draws, systems, 9).astype(float)


def _scores(metrics: Sequence[str]) -> Callable[[Any], Any]:
    statistic = only(metrics)
    return lambda W: statistic.values(W.reshape(-1, 9), labels().cells).reshape(*W.shape[:-1], -1)


def _student(code: Any, doc: Any, pairs: Sequence[tuple[int, int]]) -> Any:
    """p of the paired jackknife-t, from the products of what leaving each unit out does."""
    values = _scores(FAMILY)
    count = np.stack([tabulated(c, doc) for c in code])
    total = count.sum(1)
    left = values(total[:, None] - (np.eye(9) if doc is None else count).clip(max=total[:, None]))
    moved = np.stack([v[c] for v, c in zip(left, code, strict=True)]) if doc is None else left
    moved = moved - moved.mean(1, keepdims=True)
    n, product = moved.shape[1], np.einsum("auk,buk->abk", moved, moved)
    a, b = np.array(pairs).T
    se = np.sqrt((n - 1) / n * np.maximum(product[a, a] + product[b, b] - 2 * product[a, b], 0.0))
    point = values(total)
    gap = point[a] - point[b]
    return 2 * special.stdtr(n - 1, -np.abs(np.divide(gap, se, out=np.zeros_like(gap), where=se > 0)))


def metrics_of(tally: Tally) -> list[str]:
    """What was counted, in order."""
    return [name.removesuffix(" sets") for name in tally if name.endswith(" sets")]
