# SPDX-License-Identifier: Apache-2.0
"""Progress of long work as one line on stderr, which only a terminal gets and which is gone at the end."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from karat.progress import listening

AFTER, BETWEEN = 0.7, 0.1
"""Seconds before the first word, and between two."""
CLEAR = "\r\x1b[2K"


@contextmanager
def shown(quiet: bool = False) -> Iterator[None]:
    """Say how far the work inside is, where somebody is watching."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    line = Line()
    try:
        with listening(line):
            yield
    finally:
        line.clear()


class Line:
    """One line that is written over."""

    def __init__(self) -> None:
        self.next, self.written = time.monotonic() + AFTER, False
        self.what, self.since = "", 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if what != self.what:
            self.what, self.since = what, now
        if now < self.next:
            return
        sys.stderr.write(f"{CLEAR}{what}: {done:,} of {total:,}{pace(done, total, now - self.since)}")
        sys.stderr.flush()
        self.next, self.written = now + BETWEEN, True

    def clear(self) -> None:
        if self.written:
            sys.stderr.write(CLEAR)
            sys.stderr.flush()


def pace(done: int, total: int, seconds: float) -> str:
    """How much is done in a second and how long the rest will take, once that can be told.

    >>> pace(250_000, 1_000_000, 10.0)
    ', 25,000/s, 30 s left'
    >>> pace(0, 10, 10.0), pace(2, 1_000, 10.0)
    ('', ', 83 min left')
    """
    if not done or seconds < 1:
        return ""
    rate = done / seconds
    left = (total - done) / rate
    fast = f", {rate:,.0f}/s" if rate >= 10 else ""
    return f"{fast}, {left:.0f} s left" if left < 120 else f"{fast}, {left / 60:.0f} min left"
