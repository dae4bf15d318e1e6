# SPDX-License-Identifier: Apache-2.0
"""Random inputs through PyEvALL itself and through the strict door: the same report."""

import pytest

from tests.doors.cases import case
from tests.doors.pyevall_case import answer, differences
from tests.oracle import Unavailable, ask, python


@pytest.fixture(scope="session")
def pyevall():
    try:
        python()
    except Unavailable as reason:
        pytest.skip(str(reason))
    return ask


@pytest.mark.parametrize("start", [0, pytest.param(1000, marks=pytest.mark.slow)])
def test_random_reports_are_pyevalls(pyevall, start):
    cases = [case(seed) for seed in range(start, start + (1000 if start else 60))]
    for theirs, one in zip(pyevall(cases), cases, strict=True):
        assert list(differences(theirs, answer(one))) == [], one
