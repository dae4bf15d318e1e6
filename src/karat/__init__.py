# SPDX-License-Identifier: Apache-2.0
"""karat scores a system's output against a gold standard."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from karat.rendered import Rendered

if TYPE_CHECKING:
    from karat.api import compare, evaluate, validate
    from karat.ci import assert_not_worse
    from karat.client import Client
    from karat.comparison import Comparison
    from karat.designing import design
    from karat.evaluation import Evaluation, Score
    from karat.findings import Finding, InputError
    from karat.hierarchy import Hierarchy
    from karat.methods import Runs
    from karat.metric import Metric, MetricError, parse

_WHERE = {
    "evaluate": "karat.api",
    "compare": "karat.api",
    "assert_not_worse": "karat.ci",
    "Client": "karat.client",
    "Comparison": "karat.comparison",
    "design": "karat.designing",
    "validate": "karat.api",
    "Evaluation": "karat.evaluation",
    "Score": "karat.evaluation",
    "Finding": "karat.findings",
    "InputError": "karat.findings",
    "Hierarchy": "karat.hierarchy",
    "Runs": "karat.methods",
    "Metric": "karat.metric",
    "MetricError": "karat.metric",
    "parse": "karat.metric",
}
"""Public names and their modules; loaded when they are first used, so that importing karat is cheap."""

__version__ = "0.1.0"

__all__ = [
    "Client", "Comparison", "Evaluation", "Finding", "Hierarchy", "InputError", "Metric", "MetricError", "Runs", "Score",
    "assert_not_worse", "compare", "design", "evaluate", "parse", "validate",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'karat' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__", "__doc__", "__all__"])


_REPORTS = {"evaluation": "karat.report", "comparison": "karat.report.comparison", "design": "karat.report.design"}
"""Where the reports of each kind of result are made."""


def _render(result: Rendered, report: str, **options: Any) -> Any:
    return import_module(_REPORTS[result.kind]).render(result, report, **options)


Rendered.renderer = staticmethod(_render)
