# SPDX-License-Identifier: Apache-2.0
"""Limits of metrics' parameters and of options."""

from __future__ import annotations

from math import inf

from karat.metric import MetricError


def within(low: float, high: float, **given: float | None) -> None:
    """Refuse a number outside of its range; None is no number, and fine.

    >>> within(0, 1, p=1.5)
    Traceback (most recent call last):
    karat.metric.MetricError: p=1.5: p is a number from 0 to 1
    """
    for name, value in given.items():
        if value is not None and not low <= value <= high:
            asked = f"from {low:g} to {high:g}" if high < inf else f"of at least {low:g}"
            raise MetricError(f"{name}={value:g}: {name} is a number {asked}")
