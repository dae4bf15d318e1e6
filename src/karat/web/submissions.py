# SPDX-License-Identifier: Apache-2.0
"""Submissions to a benchmark: taken before they are answered, counted fairly, told only what their own file shows."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import IO, Any

import msgspec
from sqlalchemy import Connection, func, select

from karat.findings import Finding
from karat.web import benchmarks, files, jobs, tables
from karat.web.benchmarks import Benchmark
from karat.web.people import Person
from karat.web.problems import Problem, invalid, missing

COUNTED = ("queued", "scored", "unscored", "withdrawn")
"""States that cost a submission; a file with errors of its own and a failure of the server cost nothing."""
SAME = ("queued", "scored", "unscored")
"""States in which the same file is not taken again."""


@dataclass(frozen=True)
class Submission:
    """One file of one team."""

    id: str
    benchmark: str
    team: str
    system: str
    phase: str
    file: str
    sha256: str
    received: str
    state: str
    job: str
    run: str | None
    scores: dict[str, float | None]
    findings: list[Finding]


@dataclass(frozen=True)
class Quota:
    """What a team has left."""

    today: int
    in_all: int


def take(
    connection: Connection, benchmark: Benchmark, team: Person, source: IO[bytes], name: str, system: str = "",
    key: str | None = None, digest: files.Digest | None = None,
) -> tuple[Submission, bool]:  # fmt: skip
    """Take a file into the queue; gives the submission, and whether it is new.

    An idempotency key or the same file gives the submission that is there already, at no cost.
    """
    # Files of one team take turns, or two at once could both be the last one of the day.
    connection.execute(select(tables.tokens.c.id).where(tables.tokens.c.id == team.id).with_for_update())
    digest = digest or files.digest_of(source)
    known = _known(connection, benchmark, team, digest.sha256, key)
    if known:
        return known, False
    if not digest.bytes:
        raise invalid("The file is empty.")
    phase = benchmark.phase()
    if phase is None:
        raise Problem(409, "closed", "No phase is open", "See the dates of the phases on the benchmark's page.")
    if benchmarks.gold_is_bad(connection, benchmark):
        raise Problem(409, "not-ready", "The benchmark is not ready", "Its organisers have to mend it first; try again later.")  # fmt: skip
    left = quota(connection, benchmark, team)
    if min(left.today, left.in_all) <= 0:
        when = "for today; the day ends at midnight UTC" if left.in_all > 0 else "in all"
        raise Problem(429, "quota", "Your submissions are used up", f"You have none left {when}.")
    file = files.keep(connection, source, name, digest)
    id = secrets.token_hex(12)
    job = jobs.add(connection, "submission", team, {"submission": id})
    row = {
        "id": id, "benchmark": benchmark.id, "team": team.id, "system": files.shown_text(system) or name, "phase": phase.name,
        "file": file.id, "sha256": file.sha256, "key": key, "received": tables.now(), "state": "queued", "job": job,
    }  # fmt: skip
    connection.execute(tables.submissions.insert(), [row])
    return find(connection, id), True


def _known(
    connection: Connection, benchmark: Benchmark, team: Person, sha256: str, key: str | None
) -> Submission | None:
    table = tables.submissions
    mine = table.select().where(table.c.benchmark == benchmark.id, table.c.team == team.id)
    keyed = connection.execute(mine.where(table.c.key == key)).first() if key else None
    if keyed and keyed.sha256 != sha256:
        raise Problem(422, "key-reused", "This idempotency key belongs to another file", "Send a new key with a new file.")  # fmt: skip
    phase = benchmark.phase()
    same = mine.where(table.c.sha256 == sha256, table.c.state.in_(SAME), table.c.phase == (phase.name if phase else ""))
    row = keyed or connection.execute(same.order_by(table.c.received).limit(1)).first()
    return row and of_row(row)


def quota(connection: Connection, benchmark: Benchmark, team: Person) -> Quota:
    """How many submissions a team has left."""
    table = tables.submissions
    mine = select(func.count()).where(
        table.c.benchmark == benchmark.id, table.c.team == team.id, table.c.state.in_(COUNTED)
    )
    today = datetime.now(UTC).date().isoformat()
    used = connection.execute(mine).scalar_one()
    used_today = connection.execute(mine.where(table.c.received >= today)).scalar_one()
    return Quota(max(benchmark.settings.per_day - used_today, 0), max(benchmark.settings.in_all - used, 0))


def of_row(row: Any) -> Submission:
    """A row of the table as a submission."""
    return Submission(
        row.id, row.benchmark, row.team, row.system, row.phase, row.file, row.sha256, row.received, row.state, row.job,
        row.run, msgspec.json.decode(row.scores) if row.scores else {},
        msgspec.json.decode(row.findings, type=list[Finding]) if row.findings else [],
    )  # fmt: skip


def find(connection: Connection, id: str, team: str | None = None) -> Submission:
    """The submission of this id; with ``team``, if it is this team's."""
    table = tables.submissions
    wanted = table.select().where(table.c.id == id, *([table.c.team == team] if team is not None else []))
    row = connection.execute(wanted).first()
    if row is None:
        raise missing("submission")
    return of_row(row)


def of_run(connection: Connection, run: str) -> Submission | None:
    """The submission that a run scores."""
    row = connection.execute(tables.submissions.select().where(tables.submissions.c.run == run)).first()
    return row and of_row(row)


def benchmarks_of_run(connection: Connection, run: str) -> list[Benchmark]:
    """The benchmarks whose submissions a run scores."""
    table, known = tables.submissions, tables.benchmarks
    wanted = known.select().where(known.c.id.in_(select(table.c.benchmark).where(table.c.run == run)))
    return [benchmarks.of_row(row) for row in connection.execute(wanted)]


def listed(
    connection: Connection, benchmark: Benchmark, team: str | None = None, limit: int = 50, offset: int = 0
) -> tuple[Sequence[Submission], int]:
    """A page of submissions, newest first, and how many there are."""
    table = tables.submissions
    here = [table.c.benchmark == benchmark.id, *([table.c.team == team] if team else [])]
    rows = connection.execute(
        table.select().where(*here).order_by(table.c.received.desc(), table.c.id).limit(limit).offset(offset)
    )
    total = connection.execute(select(func.count()).select_from(table).where(*here)).scalar_one()
    return [of_row(row) for row in rows], total


def settle(connection: Connection, id: str, state: str, **outcome: Any) -> None:
    """What became of a submission."""
    encoded = {k: v if v is None or k == "run" else msgspec.json.encode(v).decode() for k, v in outcome.items()}
    connection.execute(tables.submissions.update().where(tables.submissions.c.id == id).values(state=state, **encoded))


def again(connection: Connection, submission: Submission, who: Person) -> None:
    """Score a submission that the server failed to score."""
    if submission.state != "failed":
        raise invalid("Only a submission that the server failed to score is scored again.")
    job = jobs.add(connection, "submission", who, {"submission": submission.id})
    where = tables.submissions.c.id == submission.id
    connection.execute(tables.submissions.update().where(where).values(state="queued", job=job))
