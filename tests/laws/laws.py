"""Laws that every metric of every context obeys, whatever it measures.

A law takes a metric and a `Case` and fails with an AssertionError; `LAWS` is the list of them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from fnmatch import fnmatch
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

import karat
from karat.cells import Cells, Dense
from karat.contexts import catalogue, context
from karat.metric import Definition, Metric, MetricError, Result, parse
from karat.stats.statistic import Statistic, unit_scores
from tests.laws import samples
from tests.laws.samples import Sample

SEEDS = range(4)
MORE_SEEDS = range(12)
TOLERANCE = 1e-9


class Subject(NamedTuple):
    """A metric of a context, with some of its parameters set."""

    context: str
    definition: Definition
    metric: Metric


def variants(name: str, definition: Definition) -> list[Subject]:
    """The metric at its defaults, and with every choice of every parameter that has choices or a cut."""
    cells = context(name).cells
    out = [Metric(definition.name)]
    for parameter in definition.parameters(cells).values():
        values = [
            *parameter.choices,
            *((True, False) if parameter.kind is bool else ()),
            *((1, 3) if parameter.name == "k" else ()),
        ]
        values += [2.0] if parameter.name == "beta" and definition.by_class else []
        out += [Metric(definition.name)(**{parameter.name: value}) for value in values]
    bound = dict.fromkeys(definition.bind(metric, cells) for metric in out)
    return [s for s in (Subject(name, definition, metric) for metric in bound) if not s.metric.params or accepted(s)]


def accepted(subject: Subject) -> bool:
    """Some choices exclude each other, and the metric says so."""
    try:
        value(subject, case(subject.context, 0).whole)
    except MetricError:
        return False
    return True


class Case:
    """One random input of a context and what becomes of it when it is changed; each counted once."""

    def __init__(self, name: str, seed: int, complete: bool) -> None:
        self.name, self.made, self.rng = name, samples.maker(name), random.Random(seed)
        self.sample = self.made.sample(seed, complete)

    def count(self, sample: Sample) -> Cells:
        found = karat.evaluate(sample.gold, sample.pred, context=self.name, metrics=[], **sample.options)
        return found.systems[0].cells

    @cached_property
    def whole(self) -> Cells:
        return self.count(self.sample)

    @cached_property
    def shuffled(self) -> Cells:
        return self.count(samples.shuffled(self.sample, self.rng))

    @cached_property
    def copied(self) -> Cells:
        return self.count(samples.copied(self.sample, self.made.unit, 3))

    @cached_property
    def permuted(self) -> Cells:
        """Labels renamed so that their order changes."""
        names = dict(zip(samples.LABELS, ("q", "p", "z", "a"), strict=True)) | {
            "new": "m",
            "X": "b",
            "Y": "zz",
            "Z": "aa",
        }
        return self.count(samples.relabelled(self.sample, self.made, names))

    @cached_property
    def prefixed(self) -> Cells:
        """Labels renamed so that their order stays."""
        names = {label: f"label {label}" for label in (*samples.LABELS, "new", "X", "Y", "Z")}
        return self.count(samples.relabelled(self.sample, self.made, names))

    @cached_property
    def perfect(self) -> Cells:
        gold = self.sample.gold
        pred = [p for p in map(self.made.perfect, gold) if p is not None]
        return self.count(Sample(gold, pred, self.sample.options))

    @cached_property
    def swapped(self) -> Cells:
        return self.count(Sample(self.sample.pred, self.sample.gold, self.sample.options))

    @cached_property
    def as_one(self) -> Cells:
        return self.count(samples.without_test_cases(self.sample))

    @cached_property
    def alone(self) -> list[Cells]:
        return [self.count(samples.only(self.sample, t)) for t in self.whole.test_cases]


@cache
def case(name: str, seed: int, complete: bool = False) -> Case:
    return Case(name, seed, complete)


def compute(subject: Subject, cells: Cells, weights: Any = None) -> Result:
    W = cells.by_test_case() if weights is None else weights
    return subject.definition.compute(W, cells, subject.metric)


def value(subject: Subject, cells: Cells, weights: Any = None) -> np.ndarray:
    return compute(subject, cells, weights).value


def same(a: Any, b: Any) -> None:
    np.testing.assert_allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)


def parse_print(subject: Subject, given: Case) -> None:
    """A metric's text is the metric."""
    again = parse(str(subject.metric))
    assert again == subject.metric
    assert subject.definition.bind(again, type(given.whole)) == subject.metric


def defined_or_why(subject: Subject, given: Case) -> None:
    """No infinity, and a reason wherever there is no number."""
    found = compute(subject, given.whole)
    assert not np.isinf(found.value).any()
    assert found.reason or not np.isnan(found.value).any()
    assert found.value.shape == (len(given.whole.test_cases),)


def bounds(subject: Subject, given: Case) -> None:
    low, high = subject.definition.bounds
    found = value(subject, given.whole)
    assert (np.isnan(found) | ((found >= low - TOLERANCE) & (found <= high + TOLERANCE))).all(), found


def order_of_rows(subject: Subject, given: Case) -> None:
    place = [given.shuffled.test_cases.index(t) for t in given.whole.test_cases]
    same(value(subject, given.whole), value(subject, given.shuffled)[place])


def parts_and_whole(subject: Subject, given: Case) -> None:
    """Counts that arrive in parts add up, in whatever order the cells come."""
    cells, rng = given.whole, np.random.default_rng(1)
    some = rng.binomial(cells.n, 0.5)
    index = np.tile(np.arange(len(cells)), 2)
    n = np.concatenate([some, cells.n - some])
    mix = rng.permutation(np.flatnonzero(n))
    same(value(subject, cells), value(subject, cells.take(index[mix], n[mix])))


def weights_are_copies(subject: Subject, given: Case) -> None:
    """A count of three is three units, whether the cells or the weights say so."""
    if given.made.unit == "test_case":
        return
    cells, copies = given.whole, value(subject, given.copied)
    same(value(subject, cells.take(np.arange(len(cells)), cells.n * 3)), copies)
    weights = cells.by_test_case()
    same(value(subject, cells, replace(weights, n=weights.n * 3)), copies)


def scale_of_weights(subject: Subject, given: Case) -> None:
    """What units weigh, they weigh against each other: to multiply all weights changes no score."""
    if given.made.unit == "test_case" or not given.whole.repeatable:
        return
    # A label that gold never has is as rare as the lightest unit, where that weighs less than 1.
    cells, each = given.whole, np.random.default_rng(2).uniform(0.1, 1, len(given.whole))
    values = []
    for scale in (1.0, 0.01, 0.3):
        weighed = cells.take(np.arange(len(cells))).as_whole()
        weighed.weight = each * scale
        values.append(value(subject, weighed))
    same(values[1], values[0])
    same(values[2], values[0])


def dense_is_grouped(subject: Subject, given: Case) -> None:
    """The form of the weight matrix changes nothing."""
    cells = given.whole
    dense = np.zeros((len(cells.test_cases), len(cells)))
    dense[cells.test_case, np.arange(len(cells))] = cells.n
    same(value(subject, cells), value(subject, cells, Dense(dense)))


def test_cases_apart(subject: Subject, given: Case) -> None:
    """A test case scores as it does alone."""
    alone = [value(subject, cells)[0] for cells in given.alone]
    same(value(subject, given.whole), alone)


def pooled_is_one(subject: Subject, given: Case) -> None:
    """The pooled score is the score without test cases."""
    if given.made.unit == "test_case":
        return
    same(value(subject, given.whole, given.whole.pooled()), value(subject, given.as_one))


def names_of_labels(subject: Subject, given: Case) -> None:
    """Labels are names: renaming them changes nothing (but for metrics of ordered labels, if the order changes)."""
    if given.made.relabel is None:
        return
    same(value(subject, given.whole), value(subject, given.prefixed))
    if "weights" not in dict(subject.metric.params):
        same(value(subject, given.whole), value(subject, given.permuted))


def perfect_is_best(subject: Subject, given: Case) -> None:
    """Gold itself has the best score, and no system has a better one."""
    definition = subject.definition
    if definition.better == "neither":
        return
    perfect, found = value(subject, given.perfect), value(subject, given.whole)
    if definition.best is not None and not given.made.limited:
        assert (np.isnan(perfect) | (abs(perfect - definition.best) <= TOLERANCE)).all(), perfect
    sign = 1 if definition.better == "higher" else -1
    assert not (sign * (found - perfect) > TOLERANCE).any(), (found, perfect)


LAWS: dict[str, Callable[[Subject, Case], None]] = {
    law.__name__: law
    for law in (
        parse_print, defined_or_why, bounds, order_of_rows, parts_and_whole, weights_are_copies, scale_of_weights,
        dense_is_grouped, test_cases_apart, pooled_is_one, names_of_labels, perfect_is_best,
    )
}  # fmt: skip


SUMS = dict.fromkeys(("support", "support(average=[mw]*)", "support(classes=gold)"), "a sum of weights")
EXEMPT: dict[tuple[str, str], dict[str, str]] = {
    **{(name, "scale_of_weights"): SUMS for name in ("monolabel", "multilabel", "soft", "spans", "probabilities")},
    ("splitting", "scale_of_weights"): SUMS
    | dict.fromkeys(("[tf][pn]*", "split_files", "merged_files"), "a sum of weights"),
    ("monolabel", "test_cases_apart"): {
        "kappa(weights=linear)": "the labels of the whole evaluation are the scale",
        "kappa(weights=quadratic)": "the labels of the whole evaluation are the scale",
    },
    ("ranking", "test_cases_apart"): {
        "err": "the largest grade of the whole evaluation is the scale",
        "err@*": "the largest grade of the whole evaluation is the scale",
        "nerr": "the largest grade of the whole evaluation is the scale",
        "nerr@3": "the largest grade of the whole evaluation is the scale (at 1 it is divided out)",
        "rbp(gain=scaled)": "the largest grade of the whole evaluation is the scale",
        **dict.fromkeys(
            ("bpm*", "sdcg*", "insq*", "inst*", "nerr8*", "nerr9*", "nerr1?*"),
            "the largest grade of the whole evaluation is the scale",
        ),
    },
    ("ranking", "bounds"): {"rbp(gain=raw)": "raw grades have no upper bound"},
    ("ranking", "perfect_is_best"): {
        "mean_rank": "one relevant document at the top has a better mean rank than all of them",
        "rbp_residual": "a short list leaves more unsaid",
    },
    ("multilabel", "perfect_is_best"): {
        "average_accuracy(denominator=k)": "an item with fewer than k gold labels cannot fill k places",
        "topk_precision": "an item with fewer than k gold labels cannot fill k places",
        "topk_precision@3": "an item with fewer than k gold labels cannot fill k places",
        "topk_recall@1": "an item with more than k gold labels cannot list them all",
        "topk_f1@1": "an item with more than k gold labels cannot list them all",
        "coverage_error": "gold's own number of labels is the least",
    },
    ("probabilities", "test_cases_apart"): {
        "*(strategy=quantile)": "bins with as many items each are those of the whole evaluation",
    },
    ("probabilities", "perfect_is_best"): {
        **dict.fromkeys(
            ("gain", "gain(average=m*)", "gain(average=weighted)", "gain(classes=gold)"),
            "a tenth of the items cannot hold more than a tenth of them",
        ),
        "lift(average=micro)": "the classes that only a system names are outcomes of their own",
    },
    ("soft", "pooled_is_one"): {"icm_soft*": "information is that of each test case's own gold"},
    ("soft", "perfect_is_best"): {
        "cross_entropy(variant=pyevall)": "PyEvALL leaves missing predictions out",
        "ece": "who predicts the shares of the annotators is not sure enough of the majority",
    },
}
"""Metrics (as patterns) that a law does not bind, by context and law, and why."""


def exempt(subject: Subject, law: str) -> bool:
    return any(matches(subject, pattern) for pattern in EXEMPT.get((subject.context, law), ()))


def matches(subject: Subject, pattern: str) -> bool:
    return fnmatch(str(subject.metric), pattern)


def needless(subjects: Iterable[Subject]) -> list[str]:
    """Exemptions of metrics that obey the law all the same, or of none."""
    by_context = {name: [s for s in subjects if s.context == name] for name, _ in EXEMPT}
    out = []
    for (name, law), patterns in EXEMPT.items():
        for pattern in patterns:
            found = [s for s in by_context[name] if matches(s, pattern)]
            obeys = [str(s.metric) for s in found if all(holds(LAWS[law], s, seed) for seed in MORE_SEEDS)]
            out += [f"{name}: {law}: {text}" for text in (obeys if found else [f"{pattern} is no metric"])]
    return out


UNDEFINED: dict[str, str] = {
    "spans:tag_accuracy": "spans without tokens have no tags",
    "soft:wasserstein": "labels without an order",
    "soft:percent_agreement": "weights without votes",
    "soft:fleiss_kappa": "weights without votes",
    "soft:krippendorff_alpha": "weights without votes",
    "soft:pairwise_kappa": "weights without votes",
    "soft:perspectivist_accuracy": "weights without votes",
    "soft:perspectivist_error": "weights without votes",
    "soft:perspectivist_distance": "weights without votes",
}
"""Metrics that have no value on any sample, so that the laws say nothing of them here.

The soft ones are held by tests/soft/test_votes_obey_laws.py and test_laws.py, tags by tests/spans/test_tag_accuracy.py."""


def has_value(subject: Subject) -> bool:
    return any(not np.isnan(value(subject, case(subject.context, seed).whole)).all() for seed in SEEDS)


def broken(subject: Subject) -> list[str]:
    """The names of the laws that bind the metric and that it breaks on some input."""
    bound = {name: law for name, law in LAWS.items() if not exempt(subject, name)}
    return [name for name, law in bound.items() if not all(holds(law, subject, seed) for seed in SEEDS)]


def holds(law: Callable[[Subject, Case], None], subject: Subject, seed: int) -> bool:
    try:
        law(subject, case(subject.context, seed))
    except (AssertionError, MetricError):
        return False
    return True


def symmetric_iff_declared(subject: Subject) -> None:
    """Swapping gold and predictions of the same units changes nothing if the metric says so, and something if not.

    That holds for every choice of a parameter but those that look at gold alone.
    """
    cases = [case(subject.context, seed, complete=True) for seed in MORE_SEEDS]
    if not cases[0].made.swappable:
        shared = subject.definition.owner is not context(subject.context).cells
        assert shared or not subject.definition.symmetric
        return
    some = variants(subject.context, subject.definition)
    if subject.definition.symmetric:
        even = [s for s in some if not GOLD_ALONE & set(s.metric.params)]
        assert [str(s.metric) for s in even if not all(alike(s, c) for c in cases)] == []
    elif not numeric(subject.definition) and not all(np.isnan(value(subject, c.whole)).all() for c in cases):
        assert not all(alike(s, c) for s in some for c in cases)


ALIKE = dict.fromkeys(("ranking:judged", "ranking:unjudged"), "every document of the samples is judged")
"""Metrics that are means of units by their word alone: the units of all samples score alike."""


def unit_mean_iff_declared(subject: Subject) -> None:
    """At its defaults the metric is the mean of its units' scores if it says so, and is not if it does not.

    Where the units of all samples score alike at the default cut, another cut tells.
    """
    at_cuts = [
        s for s in variants(subject.context, subject.definition) if {name for name, _ in s.metric.params} <= {"k"}
    ]
    found = next((means for means in map(_means, sorted(at_cuts, key=lambda s: s.metric.params)) if means), [])
    declared, name = subject.definition.unit_mean, f"{subject.context}:{subject.definition.name}"
    assert (declared and not found) == (name in ALIKE)
    assert declared == all(found) if found else True


def _means(subject: Subject) -> list[bool]:
    """Whether the metric is a mean, for every sample whose units differ in it."""
    found = []
    for given in (case(subject.context, seed) for seed in SEEDS):
        cells = given.whole if given.made.unit == "test_case" else given.as_one
        statistic = Statistic(catalogue(subject.context), [subject.metric]).of(cells)
        units = unit_scores(statistic, np.asarray(cells.n, float))
        if len(np.unique(units.value[~np.isnan(units.value)])) > 1:
            found.append(bool(units.is_mean[0]))
    return found


GOLD_ALONE = {("average", "weighted"), ("classes", "gold")}
"""Choices that weigh or take classes by gold, so that no metric is symmetric with them."""


def numeric(definition: Definition) -> bool:
    """Has it a weight that makes one side count more, as the beta of an F-measure?"""
    return any(p.kind is float for p in definition.own_parameters)


def alike(subject: Subject, given: Case) -> bool:
    """Is the score of the swapped input the same, overall and by class?"""
    a, b = compute(subject, given.whole), compute(subject, given.swapped)
    close = [np.allclose(a.value, b.value, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)]
    if a.by_class is not None and b.by_class is not None and a.by_class.shape == b.by_class.shape:
        close.append(np.allclose(a.by_class, b.by_class, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True))
    return all(close)


__all__ = ["LAWS", "Case", "Subject", "broken", "case", "symmetric_iff_declared", "unit_mean_iff_declared", "variants"]
