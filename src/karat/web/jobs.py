# SPDX-License-Identifier: Apache-2.0
"""The queue: jobs are rows of the store, taken by one worker at a time and given back when it dies."""

from __future__ import annotations

import secrets
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import Connection, func, or_, select, update

from karat.store.listing import moment
from karat.web import tables
from karat.web.people import Person
from karat.web.problems import Problem

LEASE = timedelta(seconds=10)
"""How long a job stays with a worker of which nothing is heard."""
OPEN = ("queued", "running")


@dataclass(frozen=True)
class Job:
    """One piece of work."""

    id: str
    kind: str
    key: str
    state: str
    owner: str
    created: str
    payload: dict[str, Any]
    attempts: int
    step: str | None = None
    started: str | None = None
    result: Any = None
    problem: dict[str, Any] | None = None


def add(connection: Connection, kind: str, owner: Person, payload: dict[str, Any], key: str = "") -> str:
    """Put a job at the end of the queue."""
    row = {
        "id": secrets.token_hex(12), "kind": kind, "key": key, "state": "queued", "owner": owner.id,
        "created": tables.now(), "payload": msgspec.json.encode(payload).decode(), "attempts": 0,
    }  # fmt: skip
    connection.execute(tables.jobs.insert(), [row])
    return str(row["id"])


def waiting(connection: Connection, owner: Person) -> int:
    """Jobs of one person that are not done."""
    wanted = select(func.count()).where(tables.jobs.c.owner == owner.id, tables.jobs.c.state.in_(OPEN))
    return connection.execute(wanted).scalar_one()


def not_too_many(connection: Connection, owner: Person, most: int) -> None:
    if waiting(connection, owner) >= most:
        raise Problem(429, "queue-full", "You have too many jobs in the queue", "Wait until some of them are done.", Retry_After="30")  # fmt: skip


def find(connection: Connection, job: str) -> Job | None:
    row = connection.execute(tables.jobs.select().where(tables.jobs.c.id == job)).first()
    return row and _job(row)


def latest(connection: Connection, key: str) -> Job | None:
    """The newest job that answers a question."""
    wanted = tables.jobs.select().where(tables.jobs.c.key == key).order_by(tables.jobs.c.created.desc()).limit(1)
    row = connection.execute(wanted).first()
    return row and _job(row)


def _job(row: Any) -> Job:
    return Job(
        row.id, row.kind, row.key, row.state, row.owner, row.created, msgspec.json.decode(row.payload), row.attempts,
        row.step, row.started, msgspec.json.decode(zlib.decompress(row.result)) if row.result else None,
        msgspec.json.decode(row.problem) if row.problem else None,
    )  # fmt: skip


def place(connection: Connection, job: Job) -> int:
    """How many jobs stand before this one."""
    before = select(func.count()).where(tables.jobs.c.state == "queued", tables.jobs.c.created < job.created)
    return connection.execute(before).scalar_one() if job.state == "queued" else 0


def claim(connection: Connection, worker: str) -> Job | None:
    """The next job for a worker: the oldest that waits, or one whose worker has not been heard of."""
    jobs = tables.jobs
    free = or_(jobs.c.state == "queued", (jobs.c.state == "running") & (jobs.c.lease < tables.now()))
    wanted = (
        select(jobs.c.id).where(free).order_by(jobs.c.created, jobs.c.id).limit(1).with_for_update(skip_locked=True)
    )
    id = connection.execute(wanted).scalar()
    if id is None:
        return None
    values = {"state": "running", "worker": worker, "lease": _lease(), "started": tables.now(), "step": "starting"}
    connection.execute(update(jobs).where(jobs.c.id == id).values(**values))
    return find(connection, id)


def _lease() -> str:
    return moment(datetime.now(UTC) + LEASE)


def beat(connection: Connection, workers: list[str]) -> None:
    """The workers are alive: their jobs stay with them."""
    jobs = tables.jobs
    mine = update(jobs).where(jobs.c.worker.in_(workers), jobs.c.state == "running")
    connection.execute(mine.values(lease=_lease()))


def at_step(connection: Connection, job: str, step: str) -> None:
    connection.execute(update(tables.jobs).where(tables.jobs.c.id == job).values(step=step))


class NotMine(Exception):
    """The job was cancelled or given to another worker: what was found of it must not be kept."""


def finish(connection: Connection, job: str, worker: str, state: str = "done", result: Any = None, problem: Any = None) -> None:  # fmt: skip
    """The end of a job, if it still is this worker's."""
    values = {
        "state": state, "finished": tables.now(), "lease": None, "worker": None, "step": None,
        "result": None if result is None else zlib.compress(msgspec.json.encode(result), 3),
        "problem": None if problem is None else msgspec.json.encode(problem).decode(),
    }  # fmt: skip
    jobs = tables.jobs
    mine = update(jobs).where(jobs.c.id == job, jobs.c.worker == worker, jobs.c.state == "running")
    if not connection.execute(mine.values(**values)).rowcount:
        raise NotMine


def give_back(connection: Connection, worker: str, attempts: int | None = None) -> list[str]:
    """Put the jobs of a dead worker back into the queue; gives those that have killed too many workers.

    Without ``attempts`` the worker was ended with its server, which is no fault of the job.
    """
    jobs = tables.jobs
    mine = (jobs.c.worker == worker) & (jobs.c.state == "running")
    if attempts is None:
        connection.execute(update(jobs).where(mine).values(state="queued", worker=None, lease=None, step=None))
        return []
    connection.execute(update(jobs).where(mine).values(attempts=jobs.c.attempts + 1))
    hopeless = connection.execute(select(jobs.c.id).where(mine, jobs.c.attempts >= attempts)).scalars().all()
    again = update(jobs).where(mine, jobs.c.attempts < attempts)
    connection.execute(again.values(state="queued", worker=None, lease=None, step=None))
    return list(hopeless)


def cancel(connection: Connection, job: str) -> None:
    """Stop a job; a worker that is at it is ended by its supervisor."""
    mine = update(tables.jobs).where(tables.jobs.c.id == job, tables.jobs.c.state.in_(OPEN))
    connection.execute(mine.values(state="cancelled", finished=tables.now()))
