# SPDX-License-Identifier: Apache-2.0
"""A worker process: takes jobs from the store until the server that started it ends.

Its first line of input says what it is to do; every further line wakes it, and the end of its input ends it, whatever
it is doing: a server that was killed leaves nobody behind.
"""

from __future__ import annotations

import os
import resource
import sys
import threading

import msgspec

from karat.store import Store, StoreError, open_store
from karat.web import jobs
from karat.web.limits import Limits
from karat.web.work import Work

IDLE = 1.0
"""Seconds between two looks at an empty queue."""
NICENESS = 10
"""By how much a worker gives way: beside it the server gets nine tenths of a core."""


class Start(msgspec.Struct):
    """What a worker is told."""

    store: str
    worker: str
    limits: Limits


class Turns:
    """A worker at its queue, a job at a time."""

    def __init__(self, store: Store, start: Start) -> None:
        self.store, self.start = store, start
        self.unsure = False
        """Whether a job may stand in this worker's name that it has given up."""

    def take(self) -> bool:
        """Do the next job; whether there was one."""
        try:
            job = self._next()
            self.unsure = True
            if job:
                Work(self.store, self.start.limits, self.start.worker, job).do()
            self.unsure = False
        except (StoreError, OSError) as error:  # a database that is away comes back, a full disk is cleared
            line = {"event": "worker", "worker": self.start.worker, "error": f"{type(error).__name__}: {error}"}
            print(msgspec.json.encode(line).decode(), file=sys.stderr, flush=True)
            return False
        return job is not None

    def _next(self) -> jobs.Job | None:
        with self.store.transaction(write=True) as connection:
            if self.unsure:  # its supervisor keeps what a living worker has begun: nobody else would take it
                jobs.give_back(connection, self.start.worker)
            return jobs.claim(connection, self.start.worker)


def main() -> None:
    start = msgspec.json.decode(sys.stdin.buffer.readline(), type=Start)
    _bounded(start.limits)
    woken = threading.Event()
    threading.Thread(target=_listen, args=(woken,), daemon=True).start()
    turns = Turns(open_store(start.store, create=False, pooled=True), start)
    while True:
        woken.clear()
        if not turns.take():
            woken.wait(IDLE)


def _bounded(limits: Limits) -> None:
    """Keep to the server's limits, and give way to its pages."""
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory, limits.memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (8 * limits.unpacked, 8 * limits.unpacked))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _listen(woken: threading.Event) -> None:
    for _ in sys.stdin.buffer:
        woken.set()
    os._exit(0)


if __name__ == "__main__":
    main()
