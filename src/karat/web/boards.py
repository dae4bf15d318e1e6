# SPDX-License-Identifier: Apache-2.0
"""Leaderboards: one submission of each team, ordered by rounded scores, with ranks that the data leave open."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import msgspec
from sqlalchemy import Connection

from karat.contexts import catalogue
from karat.metric import MetricError, parse
from karat.report.rows import Grid, number
from karat.store import Run, Store, StoreError, compare_runs
from karat.web import jobs, tables
from karat.web.benchmarks import Benchmark, teams
from karat.web.people import Person
from karat.web.submissions import Submission, of_row


@dataclass(frozen=True)
class Row:
    """A line of a leaderboard, as far as anybody may see it."""

    rank: int
    team: str
    system: str
    scores: dict[str, float | None]
    """Rounded."""
    received: str
    low: int | None = None
    high: int | None = None
    group: str = ""


@dataclass(frozen=True)
class Board:
    """A leaderboard of one phase."""

    phase: str
    metrics: list[str]
    rows: list[Row]
    settled: bool
    """Whether ranges and groups are those of these submissions; else they are being computed."""

    def document(self) -> dict[str, Any]:
        return asdict(self)


def chosen(connection: Connection, benchmark: Benchmark, phase: str) -> list[Submission]:
    """The best or last scored submission of each team; rounded scores decide, so that nothing finer shows through."""
    table = tables.submissions
    rows = connection.execute(
        table.select()
        .where(table.c.benchmark == benchmark.id, table.c.phase == phase, table.c.state == "scored")
        .order_by(table.c.received, table.c.id)
    )
    of_team: dict[str, list[Submission]] = {}
    for row in rows:
        of_team.setdefault(row.team, []).append(of_row(row))
    if benchmark.settings.pick == "last":
        return [several[-1] for several in of_team.values()]
    order = best_first(benchmark)
    return [min(several, key=order) for several in of_team.values()]


def best_first(benchmark: Benchmark) -> Callable[[Submission], tuple[bool, float]]:
    """What sorts submissions from best to worst; the metric is looked up once, for a board has many rows."""
    leading = benchmark.settings.leading
    sign = 1 if catalogue(benchmark.settings.context)[parse(leading).name].better == "lower" else -1

    def order(submission: Submission) -> tuple[bool, float]:
        value = rounded(benchmark, submission)[leading]
        return (True, 0.0) if value is None else (False, sign * value)

    return order


def rounded(benchmark: Benchmark, submission: Submission) -> dict[str, float | None]:
    """The scores as participants may see them."""
    digits = benchmark.settings.digits
    values = {m: submission.scores.get(m) for m in benchmark.settings.metrics}
    return {m: None if v is None else round(v, digits) + 0.0 for m, v in values.items()}


def board(connection: Connection, benchmark: Benchmark, phase: str) -> Board:
    """The leaderboard of a phase."""
    order = best_first(benchmark)
    best = sorted(chosen(connection, benchmark, phase), key=lambda s: (order(s), s.received, s.id))
    names = teams(connection, benchmark)
    rows: list[Row] = []
    for at, sent in enumerate(best):
        tied = at > 0 and order(sent) == order(best[at - 1])
        rank = rows[-1].rank if tied else at + 1
        rows.append(Row(rank, names.get(sent.team, "?"), sent.system, rounded(benchmark, sent), sent.received))
    kept = connection.execute(
        tables.boards.select().where(tables.boards.c.benchmark == benchmark.id, tables.boards.c.phase == phase)
    ).first()
    settled = kept is not None and kept.basis == basis(best)
    places = {p["submission"]: p for p in msgspec.json.decode(kept.places)} if kept and settled else {}
    rows = [_placed(row, places.get(sent.id)) for row, sent in zip(rows, best, strict=True)]
    return Board(phase, list(benchmark.settings.metrics), rows, settled or len(rows) < 2)


def _placed(row: Row, place: dict[str, Any] | None) -> Row:
    return replace(row, low=place["low"], high=place["high"], group=place["group"]) if place else row


def basis(best: Sequence[Submission]) -> str:
    """What ranges and groups were computed from."""
    return hashlib.sha256(" ".join(sorted(s.id for s in best)).encode()).hexdigest()


def ask(connection: Connection, benchmark: Benchmark, phase: str, who: Person) -> None:
    """Have the ranges of a phase computed, unless that is in the queue already."""
    key = f"board {benchmark.id} {phase}"[:96]
    known = jobs.latest(connection, key)
    if known is None or known.state != "queued":
        jobs.add(connection, "board", who, {"benchmark": benchmark.id, "phase": phase}, key)


def compute(store: Store, benchmark: Benchmark, phase: str) -> tuple[str, list[dict[str, Any]]]:
    """Ranges of ranks and groups, from paired tests of every pair of teams, corrected over all of them."""
    with store.transaction() as connection:
        best = chosen(connection, benchmark, phase)
    if len(best) < 2:
        return basis(best), []
    runs = [store[s.run] for s in best if s.run]
    runs = [named(run, s.id) for run, s in zip(runs, best, strict=True)]
    try:
        compared = compare_runs(runs, [benchmark.settings.leading])
    except (MetricError, StoreError):  # the leaderboard stands without ranges
        return basis(best), []
    (places,) = compared.leaderboards.values()
    return basis(best), [{"submission": p.system, "low": p.low, "high": p.high, "group": p.groups} for p in places]


def keep(connection: Connection, benchmark: str, phase: str, basis: str, places: list[dict[str, Any]]) -> None:
    """Put ranges and groups beside the leaderboard."""
    table = tables.boards
    connection.execute(table.delete().where(table.c.benchmark == benchmark, table.c.phase == phase))
    row = {"benchmark": benchmark, "phase": phase, "basis": basis, "places": msgspec.json.encode(places).decode()}
    connection.execute(table.insert(), [row])


def named(run: Run, name: str) -> Run:
    """The run with its only system called otherwise."""
    system = replace(run.evaluation.only, name=name)
    return replace(run, evaluation=replace(run.evaluation, systems=[system]))


def grid(board_: Board, digits: int) -> Grid:
    """The leaderboard as a table of text."""
    head = ["team", "rank", "rank range", "group", *board_.metrics, "system", "received"]
    rows = [
        [
            r.team, str(r.rank), ranks(r), r.group or "–", *(number(r.scores[m], digits) for m in board_.metrics), r.system,
            r.received[:16].replace("T", " "),
        ]
        for r in board_.rows
    ]  # fmt: skip
    return Grid(f"Leaderboard: {board_.phase}", head, rows)


def ranks(row: Row) -> str:
    if row.low is None:
        return "–"
    return str(row.low) if row.low == row.high else f"{row.low}–{row.high}"
