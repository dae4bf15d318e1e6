# SPDX-License-Identifier: Apache-2.0
"""Connections to a SQLite file: many readers, writers in turn; a file that cannot be written can be read."""

from __future__ import annotations

import os
import sqlite3
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import NullPool

from karat.store.errors import StoreError

WAIT = 60_000
"""Milliseconds that a writer waits for another one."""


def engine(path: str) -> Engine:
    """An engine that opens the file anew for every transaction."""
    found = create_engine("sqlite://", creator=partial(_opened, Path(path)), poolclass=NullPool)
    event.listen(found, "begin", _begin)
    return found


def make_folder(path: str) -> None:
    """The folder of a store that is to be made."""
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the folder of the store {path}: {error.strerror}") from error


def _opened(path: Path) -> Any:
    frozen = path.exists() and not os.access(path.parent, os.W_OK)
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?{_frozen(path) if frozen else 'mode=rwc'}", uri=True)
    # SQLAlchemy begins transactions itself: the driver would begin them too late to be of use.
    connection.isolation_level = None
    pragmas = [f"busy_timeout={WAIT}", "foreign_keys=ON"]
    for pragma in pragmas if frozen else [*pragmas, "journal_mode=WAL", "synchronous=FULL"]:
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _frozen(path: Path) -> str:
    """Write-ahead mode needs a file beside the store: where none can be made, nothing can change either."""
    return "mode=ro" if path.with_name(path.name + "-wal").exists() else "immutable=1"


def _begin(connection: Connection) -> None:
    # A writer that starts as a reader cannot wait for its turn: it would fail with "database is locked".
    write = connection.get_execution_options().get("karat_write")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
