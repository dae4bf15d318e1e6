# SPDX-License-Identifier: Apache-2.0
"""Metrics that are named long before they are computed."""

from __future__ import annotations

from karat.contexts import MODULES, catalogue, homes
from karat.metric import MetricError, parse, unknown_metric


def checked(metric: str) -> str:
    """The name itself, if any context knows it: a search would give NaN for every fold, hours later."""
    if not isinstance(metric, str):
        raise MetricError(f"{metric!r} is not a metric; write its name")
    if not homes(metric):
        raise MetricError(unknown_metric(parse(metric).name, {d.name for name in MODULES for d in catalogue(name)}))
    return metric
