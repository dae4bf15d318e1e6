# SPDX-License-Identifier: Apache-2.0
"""Doctests say ``karat`` without importing it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, settings

collect_ignore = ["docs/generate.py", "tests/oracle/worker.py"]
collect_ignore_glob = ["docs/metrics/*", "docs/making/*", "docs/start/*"]
"""Made from docstrings, whose examples run where they stand; and what runs in an environment of its own."""


@pytest.fixture(autouse=True)
def _karat_in_doctests(doctest_namespace: dict[str, Any]) -> None:
    import karat

    doctest_namespace["karat"] = karat


# How long an example takes says something of the machine, not of karat.
settings.register_profile("karat", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("karat")
