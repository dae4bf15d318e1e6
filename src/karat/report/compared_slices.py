# SPDX-License-Identifier: Apache-2.0
"""Comparisons slice by slice, as tables and as records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from karat.comparison import ComparedSlice, Comparison, Pair, Place
from karat.metric import Metric
from karat.report.rows import Grid, number

SYSTEMS = 5
"""Systems up to which a table of slices has a column for each; of more, who leads and who is last."""
SHOWN = 3
"""Pairs that are named for a slice; the others are counted."""


def grids(comparison: Comparison, digits: int) -> Iterator[Grid]:
    """A table for each column and metric: slices down, the leader's worst first."""
    for column, slices in comparison.slices.items():
        for metric, board in comparison.leaderboards.items():
            yield _grid(comparison, column, slices, metric, [place.system for place in board], digits)


def _grid(
    comparison: Comparison, column: str, slices: list[ComparedSlice], metric: Metric, systems: list[str], digits: int
) -> Grid:  # fmt: skip
    few = len(systems) <= SYSTEMS
    head = [column, "units", *(systems if few else ["leads", "last"]), "told apart"]
    rows = [
        [
            part.name, f"{part.units:,}",
            *(_scores(part.boards[metric], systems, digits) if few else _ends(part.boards[metric], digits)),
            _told([p for p in part.pairs if p.metric == metric]),
        ]
        for part in slices
    ]  # fmt: skip
    many = sum(map(len, comparison.slices.values()))
    label = comparison.of(metric)[0].label
    return Grid(f"By {column}: {label}", head, rows, [f"Corrected for looking at {many} slices."])


def _scores(board: list[Place], systems: list[str], digits: int) -> list[str]:
    value = {place.system: place.value for place in board}
    return [_shown(value.get(name), digits) for name in systems]


def _ends(board: list[Place], digits: int) -> list[str]:
    known = [place for place in board if place.value is not None]
    return [f"{p.system} {_shown(p.value, digits)}" for p in (known[0], known[-1])] if known else ["–", "–"]


def _shown(value: float | None, digits: int) -> str:
    return "undefined" if value is None else number(value, digits)


def _told(pairs: list[Pair]) -> str:
    """The pairs that the tests tell apart, the better one first."""
    won = [(p.a, p.b) if p.verdict == "better" else (p.b, p.a) for p in pairs if p.verdict in ("better", "worse")]
    verdicts = [f"{better} > {worse}" for better, worse in won[:SHOWN]]
    return ", ".join([*verdicts, *([f"{len(won) - SHOWN} more"] if len(won) > SHOWN else [])]) or "–"


def document(comparison: Comparison, record: Callable[[Pair], dict[str, Any]]) -> dict[str, Any]:
    """The slices of a comparison's JSON; nothing where there are none."""
    columns = {
        column: [
            {
                "slice": part.name, "units": part.units, "pairs": [record(p) for p in part.pairs],
                "leaderboards": {str(m): [asdict(p) for p in places] for m, places in part.boards.items()},
            }
            for part in slices
        ]
        for column, slices in comparison.slices.items()
    }  # fmt: skip
    return {"slices": columns} if columns else {}
