# SPDX-License-Identifier: Apache-2.0
"""How far long work is: whoever wants to know listens; nobody is told unasked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
Listener = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Tell ``listener`` of all work inside, of this thread alone."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def told(steps: Sequence[T], what: str, sizes: Sequence[int] | None = None) -> Iterator[T]:
    """The steps, each announced before it is taken; by how large they are, where ``sizes`` says it.

    >>> heard = []
    >>> with listening(lambda *said: heard.append(said)):
    ...     done = list(told("ab", "spelling"))
    ...     done = list(told("ab", "rows", [100, 50]))
    >>> heard
    [('spelling', 0, 2), ('spelling', 1, 2), ('spelling', 2, 2), ('rows', 0, 150), ('rows', 100, 150), ('rows', 150, 150)]
    """
    tell, done = _listener.get(), 0
    size = [1] * len(steps) if sizes is None else sizes
    total = sum(size)
    for step, amount in zip(steps, size, strict=True):
        if tell:
            tell(what, done, total)
        yield step
        done += amount
    if tell:
        tell(what, done, done)
