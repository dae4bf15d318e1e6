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

    def __call__(self, what: str, done: int, total: int) -> None:
        if time.monotonic() < self.next:
            return
        sys.stderr.write(f"{CLEAR}{what}: {done:,} of {total:,}")
        sys.stderr.flush()
        self.next, self.written = time.monotonic() + BETWEEN, True

    def clear(self) -> None:
        if self.written:
            sys.stderr.write(CLEAR)
            sys.stderr.flush()
