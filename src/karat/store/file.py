# SPDX-License-Identifier: Apache-2.0
"""A SQLite file, opened so that several may read and write it; what a database complains of, in our words."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from karat.store.errors import StoreError
from karat.store.location import shown

_HINTS = {
    "full": "free some space, or name a store on another disk",
    "no space left": "free some space on the server's disk",
    "readonly": "make the file and its folder writable, or name another store",
    "unable to open": "make the file and its folder readable and writable, or name another store",
    "not a database": "name a store that karat made, or move this file away",
    "malformed": "the file is damaged: put back a copy of it, or import the runs that were exported",
    "is locked": "another process holds the store; try again when it is done",
    "no such column": "another program has made tables here: give karat a database of its own",
    "does not exist": "see that the URL names a database, a user and tables that are there",
    "password": "see that the URL has the user's password, or set PGPASSWORD",
    "resolve host": "see that the URL names the server",
    "connect": "see that the server runs and that the URL names its host, database and user",
}
"""By a sign in the complaint; the first that fits."""


def failed(address: str, error: object) -> StoreError:
    """A complaint of the database as an error of the store."""
    text = " ".join(str(error).split())
    hint = next((hint for sign, hint in _HINTS.items() if sign in text.lower()), "")
    return StoreError(
        f"the store {shown(address)} failed and nothing was changed: {text}" + (f" ({hint})" if hint else "")
    )


@contextmanager
def complaint(address: str) -> Iterator[None]:
    """What SQLite complains of as an error of the store."""
    try:
        yield
    except sqlite3.Error as error:
        raise failed(address, error) from error


WAIT = 60_000
"""Milliseconds that a writer waits for another one."""


def opened(path: Path) -> sqlite3.Connection:
    frozen = path.exists() and not os.access(path.parent, os.W_OK)
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{_frozen(path) if frozen else 'mode=rwc'}", uri=True, check_same_thread=False
    )
    # Who asks begins transactions: the driver would begin them too late to be of use.
    connection.isolation_level = None
    pragmas = [f"busy_timeout={WAIT}", "foreign_keys=ON"]
    for pragma in pragmas if frozen else [*pragmas, "journal_mode=WAL", "synchronous=FULL"]:
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _frozen(path: Path) -> str:
    """Write-ahead mode needs a file beside the store: where none can be made, nothing can change either."""
    return "mode=ro" if path.with_name(path.name + "-wal").exists() else "immutable=1"


@contextmanager
def transaction(path: Path) -> Iterator[sqlite3.Connection]:
    """The file as it is at one moment, to be read."""
    with closing(opened(path)) as connection:
        connection.execute("BEGIN")
        yield connection
