"""Every metric of every context obeys every law: the list is computed, so that none is forgotten."""

from __future__ import annotations

import pytest

from karat.contexts import MODULES, catalogue
from karat.metric import Metric
from tests.laws.laws import (
    SEEDS,
    UNDEFINED,
    Subject,
    broken,
    case,
    has_value,
    needless,
    same,
    symmetric_iff_declared,
    unit_mean_iff_declared,
    variants,
)

SUBJECTS = [s for name in MODULES for definition in catalogue(name) for s in variants(name, definition)]


def named(subject: Subject) -> str:
    return f"{subject.context}:{subject.metric}"


@pytest.mark.parametrize("subject", SUBJECTS, ids=named)
def test_laws(subject: Subject) -> None:
    assert broken(subject) == []


@pytest.mark.parametrize("subject", [s for s in SUBJECTS if not s.metric.params], ids=named)
def test_symmetric_iff_declared(subject: Subject) -> None:
    symmetric_iff_declared(subject)


DEFINED = [s for s in SUBJECTS if not s.metric.params and named(s) not in UNDEFINED]


@pytest.mark.parametrize("subject", DEFINED, ids=named)
def test_the_mean_of_units_iff_declared(subject: Subject) -> None:
    unit_mean_iff_declared(subject)


SHARES_OF_GOLD = {
    "monolabel": ["recall"],
    "multilabel": ["recall"],
    "soft": ["recall"],
    "spans": ["recall", "token_recall"],
    "splitting": ["recall", "accuracy", "specificity", "file_recall"],
}
"""Metrics that divide by what `average=weighted` weighs by, so that it pools the counts, as `micro` does."""


@pytest.mark.parametrize(("name", "metric"), [(name, m) for name, metrics in SHARES_OF_GOLD.items() for m in metrics])
def test_classes_are_weighed_by_what_the_metric_counts(name: str, metric: str) -> None:
    definition = catalogue(name)[metric]
    for seed in SEEDS:
        cells = case(name, seed).whole
        pooled, weighted = (
            definition.compute(cells.pooled(), cells, Metric(metric)(average=how)).value
            for how in ("micro", "weighted")
        )
        same(weighted, pooled)


def test_every_exemption_is_needed() -> None:
    assert needless(SUBJECTS) == []


def test_the_laws_say_something_of_every_metric() -> None:
    plain = [s for s in SUBJECTS if not s.metric.params]
    assert {named(s) for s in plain if not has_value(s)} == UNDEFINED.keys()


def test_no_metric_is_left_out() -> None:
    held = {(s.context, s.definition.name) for s in SUBJECTS}
    assert held == {(name, definition.name) for name in MODULES for definition in catalogue(name)}
