"""The tests of the tests: every planted bug is caught by the law that was made for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from karat.contexts import catalogue
from karat.metric import Metric
from tests.laws.laws import LAWS, Subject, broken, symmetric_iff_declared
from tests.planted.bugs import PLANTED, Bug


@pytest.mark.parametrize("bug", PLANTED, ids=lambda bug: bug.definition.name)
def test_law_catches(bug: Bug) -> None:
    params = {"k": 2.5} if bug.law == "parse_print" else {}
    assert bug.law in broken(Subject("monolabel", bug.definition, Metric(bug.definition.name)(**params)))


def test_every_law_has_caught_a_bug() -> None:
    assert {bug.law for bug in PLANTED} == set(LAWS)


@pytest.mark.parametrize(("name", "declared"), [("precision", True), ("mcc", False)])
def test_wrongly_declared_symmetry_is_caught(name: str, declared: bool) -> None:
    definition = replace(catalogue("monolabel")[name], symmetric=declared)
    with pytest.raises(AssertionError):
        symmetric_iff_declared(Subject("monolabel", definition, Metric(name)))
