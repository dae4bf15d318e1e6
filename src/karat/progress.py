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


def told(steps: Sequence[T], what: str) -> Iterator[T]:
    """The steps, each announced before it is taken.

    >>> heard = []
    >>> with listening(lambda *said: heard.append(said)):
    ...     done = list(told("ab", "spelling"))
    >>> heard
    [('spelling', 0, 2), ('spelling', 1, 2), ('spelling', 2, 2)]
    """
    tell = _listener.get()
    for i, step in enumerate(steps):
        if tell:
            tell(what, i, len(steps))
        yield step
    if tell:
        tell(what, len(steps), len(steps))
