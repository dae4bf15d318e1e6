# SPDX-License-Identifier: Apache-2.0
"""The supervisor of the workers: starts them, keeps their leases, ends those that take too long, replaces the dead."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import select

from karat.store import Store, StoreError
from karat.web import jobs, tables, work
from karat.web.limits import Limits
from karat.web.worker import Start

ROUND = 0.5
"""Seconds between two looks at the workers."""


class Worker:
    """A process that does jobs."""

    def __init__(self, store: str, limits: Limits) -> None:
        self.id = secrets.token_hex(8)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "karat.web.worker"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"},
        )  # fmt: skip
        self.tell(msgspec.json.encode(Start(store, self.id, limits)))

    def tell(self, line: bytes = b"") -> None:
        """Wake the worker."""
        with suppress(OSError):
            assert self.process.stdin
            self.process.stdin.write(line + b"\n")
            self.process.stdin.flush()

    @property
    def dead(self) -> bool:
        return self.process.poll() is not None

    def end(self) -> None:
        with suppress(OSError):
            self.process.kill()
        self.process.wait()
        assert self.process.stdin
        with suppress(OSError):
            self.process.stdin.close()


class Workers:
    """All workers of a server, watched by a thread of it."""

    def __init__(self, store: Store, limits: Limits, count: int) -> None:
        self.store, self.limits = store, limits
        self._all = [self._new() for _ in range(count)]
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _new(self) -> Worker:
        return Worker(self.store.address, self.limits)

    @property
    def processes(self) -> list[int]:
        return [w.process.pid for w in self._all if not w.dead]

    def wake(self) -> None:
        """There is something in the queue."""
        for worker in self._all:
            worker.tell()

    def _watch(self) -> None:
        while not self._stop.wait(ROUND):
            with suppress(StoreError):  # a database that is away comes back
                self._round()

    def _round(self) -> None:
        known = {w.id: w for w in self._all}
        table = tables.jobs
        with self.store.transaction() as connection:
            rows = connection.execute(
                select(table.c.id, table.c.worker, table.c.state, table.c.started).where(table.c.worker.in_(known))
            ).all()
        for worker in self._overdue(known, rows):
            worker.end()
        for i, worker in enumerate(self._all):
            if worker.dead:
                self._bury(worker)
                self._all[i] = self._new()
        if rows:
            with self.store.transaction(write=True) as connection:
                jobs.beat(connection, list(known))

    def _overdue(self, known: dict[str, Worker], rows: Sequence[Any]) -> list[Worker]:
        """Workers whose job was cancelled, or takes too long; these jobs are given up."""
        table = tables.jobs
        first = datetime.now(UTC) - timedelta(seconds=self.limits.seconds)
        late = [r for r in rows if r.state == "running" and datetime.fromisoformat(r.started) < first]
        gone = [r for r in rows if r.state == "cancelled"]
        if late or gone:
            with self.store.transaction(write=True) as connection:
                for row in late:
                    if job := jobs.find(connection, row.id):
                        work.give_up(connection, job, row.worker, "time")
                ended = [r.id for r in gone]
                connection.execute(table.update().where(table.c.id.in_(ended)).values(worker=None, lease=None))
        return [known[r.worker] for r in (*late, *gone)]

    def _bury(self, worker: Worker) -> None:
        """Give back the jobs of a dead worker."""
        with self.store.transaction(write=True) as connection:
            for id in jobs.give_back(connection, worker.id, self.limits.attempts):
                if job := jobs.find(connection, id):
                    work.abandon(connection, job, worker.id)

    def end(self) -> None:
        """Stop all work; what was begun goes back into the queue."""
        self._stop.set()
        self._thread.join(5)
        for worker in self._all:
            worker.end()
        with suppress(StoreError):
            for worker in self._all:
                with self.store.transaction(write=True) as connection:
                    jobs.give_back(connection, worker.id)
