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

from karat.store import StoreError, open_store
from karat.web import jobs
from karat.web.limits import Limits
from karat.web.work import Work

IDLE = 1.0
"""Seconds between two looks at an empty queue."""


class Start(msgspec.Struct):
    """What a worker is told."""

    store: str
    worker: str
    limits: Limits


def main() -> None:
    start = msgspec.json.decode(sys.stdin.buffer.readline(), type=Start)
    _bounded(start.limits)
    woken = threading.Event()
    threading.Thread(target=_listen, args=(woken,), daemon=True).start()
    store = open_store(start.store, create=False)
    while True:
        woken.clear()
        try:
            with store.transaction(write=True) as connection:
                job = jobs.claim(connection, start.worker)
            if job:
                Work(store, start.limits, start.worker, job).do()
        except StoreError as error:  # a database that is away comes back; the job is still in it
            print(msgspec.json.encode({"worker": start.worker, "store": str(error)}).decode(), file=sys.stderr)
            job = None
        if not job:
            woken.wait(IDLE)


def _bounded(limits: Limits) -> None:
    """Keep to the server's limits, and give way to its pages."""
    os.nice(5)
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory, limits.memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (8 * limits.unpacked, 8 * limits.unpacked))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _listen(woken: threading.Event) -> None:
    for _ in sys.stdin.buffer:
        woken.set()
    os._exit(0)


if __name__ == "__main__":
    main()
