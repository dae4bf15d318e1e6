# SPDX-License-Identifier: Apache-2.0
"""A comparison as its page shows it: an overview, then metric by metric; small enough to be kept and sent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from karat.comparison import Comparison
from karat.metric import Metric
from karat.report.charts.svg import label_of
from karat.report.comparison import grids, header
from karat.report.comparison_page import charts
from karat.report.rows import number

LARGEST = 90_000
"""Characters of a chart that a page can bear; the table says the same."""
PAIRS = 60
"""Rows of a table of pairs on one page."""


def shown(comparison: Comparison) -> dict[str, Any]:
    """All that the page needs, as plain data."""
    names = list(comparison.systems)
    place = {name: i for i, name in enumerate(names)}
    drawn = [c for c in charts(comparison, lambda a, b: f"#pair-{place[a]}-{place[b]}") if len(c) <= LARGEST]
    tables = [g._asdict() for g in grids(comparison)]
    labels = {str(m): comparison.of(m)[0].label if comparison.of(m) else str(m) for m in comparison.metrics}
    sections = [_section(comparison, m, labels, tables, drawn) for m in comparison.metrics]
    return {
        "header": header(comparison),
        "systems": names,
        "overview": [_line(comparison, name) for name in names],
        "sections": sections,
        "others": [t for t in tables if _about(t["title"], labels) is None],
        "grids": tables,
        "metrics": [str(m) for m in comparison.metrics],
        "findings": [msgspec.structs.asdict(f) for f in comparison.own_findings],
        "downloads": {form: comparison.render(form) for form in ("json", "tsv", "markdown", "latex")},
    }


def _section(
    comparison: Comparison, metric: Metric, labels: dict[str, str], tables: list[dict[str, Any]], drawn: Sequence[str]
) -> dict[str, Any]:
    titles = [t["title"] for t in tables if _about(t["title"], labels) == str(metric)]
    place = {name: i for i, name in enumerate(comparison.systems)}
    images = [(label_of(c), c) for c in drawn]
    return {
        "metric": str(metric),
        "label": labels[str(metric)],
        "tables": titles,
        "charts": [(title, c) for title, c in images if _about(title, labels) == str(metric)],
        "sentences": [p.sentence for p in comparison.of(metric)],
        "pairs": [(place[p.a], place[p.b]) for p in comparison.of(metric)],
    }


def _about(title: str, labels: dict[str, str]) -> str | None:
    """The metric of which a title speaks: the longest label that is in it."""
    named = [m for m, label in labels.items() if re.search(rf"(?<!\w){re.escape(label)}(?![\w-])", title)]
    return max(named, key=lambda m: len(labels[m]), default=None)


def _line(comparison: Comparison, system: str) -> dict[str, Any]:
    """A system with its score and rank by every metric."""
    cells = []
    for metric in comparison.metrics:
        at = next((p for p in comparison.leaderboards[metric] if p.system == system), None)
        range_ = "" if at is None else str(at.low) if at.low == at.high else f"{at.low}–{at.high}"
        cells.append({"value": number(at.value, 4) if at else "–", "rank": at.rank if at else None, "range": range_})
    return {"system": system, "cells": cells}
