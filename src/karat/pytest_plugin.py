# SPDX-License-Identifier: Apache-2.0
"""A fixture for users' own test suites."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def assert_not_worse() -> Callable[..., Any]:
    """`karat.assert_not_worse`: fails the test if a candidate is worse than a baseline.

    def test_model(assert_not_worse):
        assert_not_worse("gold.json", "new.json", "released.json", metrics=["f1"], margin=0.01)
    """
    from karat.ci import assert_not_worse as check

    return check
