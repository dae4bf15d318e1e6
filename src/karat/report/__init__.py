# SPDX-License-Identifier: Apache-2.0
"""Exits: an evaluation as text, data or a page. Each report is one module with a ``render`` function."""

from __future__ import annotations

import difflib
from importlib import import_module
from typing import Any

from karat.metric import MetricError
from karat.report.published import published

REPORTS = {
    "table": ("karat.report.terminal", "render"),
    "json": ("karat.report.json", "render"),
    "markdown": ("karat.report.markdown", "render"),
    "latex": ("karat.report.latex", "render"),
    "tsv": ("karat.report.delimited", "render_tsv"),
    "csv": ("karat.report.delimited", "render_csv"),
    "trec": ("karat.report.trec", "render"),
    "pyevall": ("karat.report.pyevall", "render"),
    "junit": ("karat.report.junit", "render"),
    "dicts": ("karat.report.tables", "dicts"),
    "pandas": ("karat.report.frame", "pandas"),
    "polars": ("karat.report.frame", "polars"),
    "html": ("karat.report.html", "render"),
    "notebook": ("karat.report.notebook", "render"),
    "picture": ("karat.report.pictures", "picture"),
}
"""Reports by name, and the function that makes each; imported when it is asked for."""

TEXT = ("table", "json", "markdown", "latex", "tsv", "csv", "html", "trec", "pyevall", "junit")
"""Reports that are text, which the command line offers."""


def render(evaluation: Any, report: str, **options: Any) -> Any:
    """The evaluation as the report called ``report``."""
    if report not in REPORTS:
        near = difflib.get_close_matches(report, REPORTS, 1)
        raise MetricError(
            f"unknown report {report!r}; there are {', '.join(REPORTS)}"
            + (f" (did you mean {near[0]}?)" if near else "")
        )
    module, function = REPORTS[report]
    return getattr(import_module(module), function)(published(evaluation), **options)
