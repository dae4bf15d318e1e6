# SPDX-License-Identifier: Apache-2.0
"""One comparison that many tests look at."""

from __future__ import annotations

import pytest
from tests.stats.systems import GOLD, METRICS, SYSTEMS

import karat


@pytest.fixture(scope="session")
def comparison():
    return karat.compare(GOLD, SYSTEMS, metrics=METRICS, resamples=499)
