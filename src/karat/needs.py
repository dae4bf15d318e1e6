# SPDX-License-Identifier: Apache-2.0
"""How large the next evaluation must be: what a design is once it is computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from karat.rendered import Rendered


@dataclass(frozen=True)
class FacetNeed:
    """Clusters of the pilot, and how many the next evaluation needs."""

    name: str
    pilot: int
    effect: float
    """Design effect: by how much clusters make the variance larger."""
    size: float
    """Units per cluster."""
    needed: int | None


@dataclass(frozen=True)
class Need:
    """Units that one score, or the difference of two systems, needs on one metric."""

    what: str
    metric: str
    label: str
    value: float | None
    """Score or difference in the pilot; None, as all that follows from it, where a system has no score."""
    units: int
    """Units of the pilot."""
    se: float | None
    spread: float | None
    """What one unit contributes to the error: se · √units."""
    needed: int | None
    """Units that reach the aim with the runs or annotators of the pilot; None where no number does."""
    curve: list[tuple[int, float]]
    """Units, and the power that they have (or half of the interval's width)."""
    clusters: FacetNeed | None
    by_repeats: list[tuple[int, int | None]]
    """Numbers of runs (or annotators), and the units that are needed with each."""
    repeated: str
    """What is repeated: runs, annotators or nothing."""
    repeats_share: float | None
    """Share of the pilot's variance that is due to runs or annotators."""


@dataclass
class Design(Rendered):
    """Sample sizes for the next evaluation, from a pilot.

    Reports: ``print`` and ``to_dicts``, ``to_json``, ``to_markdown``, ``to_latex``, ``to_tsv``, ``to_csv``.
    """

    kind = "design"

    needs: list[Need]
    """One for each system or pair and metric."""
    aim: dict[str, Any]
    """What was asked for."""
    seed: int

    def of(self, metric: str) -> list[Need]:
        """The needs of one metric."""
        return [n for n in self.needs if n.metric == metric or n.metric.split("(")[0] == metric]
