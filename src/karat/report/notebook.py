# SPDX-License-Identifier: Apache-2.0
"""The evaluation as a notebook shows it."""

from __future__ import annotations

from karat.evaluation import Evaluation
from karat.report.html import fragment


def render(evaluation: Evaluation) -> str:
    """Score cards or a table of systems, coverage and findings."""
    return fragment(evaluation)
