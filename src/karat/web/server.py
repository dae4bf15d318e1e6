# SPDX-License-Identifier: Apache-2.0
"""What all requests share: the store, the workers, who is let in, and what was asked for a moment ago."""

from __future__ import annotations

import asyncio
import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from karat.store import Run, Store
from karat.web.limits import Limits
from karat.web.problems import Problem
from karat.web.workers import Workers

T = TypeVar("T")

READERS = 16
"""Requests that are read for at the same time."""
WRITERS = 4
"""Requests that change something at the same time."""


class Recent:
    """A few things that were costly to find; runs never change, so that nothing of it grows old."""

    def __init__(self, most: int) -> None:
        self._known: OrderedDict[Any, Any] = OrderedDict()
        self._most, self._lock = most, threading.Lock()

    def get(self, key: Any, find: Callable[[], Any]) -> Any:
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        value = find()
        with self._lock:
            self._known[key] = value
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        return value

    def forget(self) -> None:
        with self._lock:
            self._known.clear()


class Rates:
    """How often somebody may ask, a minute: a bucket that fills steadily."""

    MOST = 20_000
    """Buckets that are remembered."""

    def __init__(self) -> None:
        self._left: OrderedDict[tuple[str, str], tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def spend(self, kind: str, whose: str, a_minute: int) -> None:
        """Take one from the bucket, or say when there will be one."""
        now = time.monotonic()
        with self._lock:
            left, then = self._left.pop((kind, whose), (float(a_minute), now))
            left = min(left + (now - then) * a_minute / 60, a_minute)
            self._left[kind, whose] = (left - 1 if left >= 1 else left), now
            while len(self._left) > self.MOST:
                self._left.popitem(last=False)
        if left < 1:
            wait = int((1 - left) * 60 / a_minute) + 1
            raise Problem(429, "too-many", "Too many requests", f"Try again in {wait} s.", Retry_After=str(wait))


@dataclass
class Server:
    """One server."""

    store: Store
    limits: Limits = field(default_factory=Limits)
    workers: Workers | None = None
    accounts: bool = False
    """Whether visitors must show a token; without, everybody who gets here is the owner of the machine."""
    hosts: frozenset[str] = frozenset({"localhost", "127.0.0.1", "[::1]"})
    """Names under which an open server answers: a page elsewhere cannot make a browser ask it under another."""
    root: str = ""
    """Path under which a proxy shows the server."""
    log: Callable[[dict[str, Any]], None] | None = None
    rates: Rates = field(default_factory=Rates)
    runs: Recent = field(default_factory=lambda: Recent(12))
    lists: Recent = field(default_factory=lambda: Recent(48))
    _readers: Executor = field(default_factory=lambda: ThreadPoolExecutor(READERS, "karat-read"))
    _writers: Executor = field(default_factory=lambda: ThreadPoolExecutor(WRITERS, "karat-write"))

    async def reading(self, work: Callable[..., T], *given: Any) -> T:
        """Have something read by a thread of those who only read."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, work, *given)

    async def writing(self, work: Callable[..., T], *given: Any) -> T:
        """Have something changed by one of a few threads: a database takes one writer at a time, and fifty that wait for
        it must not keep a thread from whoever wants to read a page."""
        return await asyncio.get_running_loop().run_in_executor(self._writers, work, *given)

    def run(self, id: str) -> Run:
        """The run of this id."""
        run: Run = self.runs.get(id, lambda: self.store[id])
        return run

    def wake(self) -> None:
        if self.workers:
            self.workers.wake()

    def at(self, path: str) -> str:
        """A path as the visitor sees it."""
        return self.root + path


def csrf(cookie: str) -> str:
    """What a form of this browser must carry."""
    return hashlib.sha256(f"form {cookie}".encode()).hexdigest()
