# SPDX-License-Identifier: Apache-2.0
"""Connections to SQLite and PostgreSQL, and what each needs to be safe with several writers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, exc, make_url
from sqlalchemy.pool import NullPool

from karat.store.errors import StoreError
from karat.store.migrations import FORM, form_of, migrate

WAIT = 60_000
"""Milliseconds that a writer waits for another one."""


class Database:
    """One database; every read and every write is a transaction of its own."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._engine = _engine(address)
        self._ready = False

    @contextmanager
    def read(self) -> Iterator[Connection]:
        with _said(self.address), self._prepared().connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """All of it or nothing; writers take turns."""
        engine = self._prepared().execution_options(karat_write=True)
        with _said(self.address), engine.connect() as connection, connection.begin():
            yield connection

    def _prepared(self) -> Engine:
        """The engine, once its store has the present form."""
        if not self._ready:
            with _said(self.address):
                with self._engine.connect() as connection:
                    found = form_of(connection)
                if found != FORM:
                    engine = self._engine.execution_options(karat_write=True)
                    with engine.connect() as connection, connection.begin():
                        migrate(connection)
            self._ready = True
        return self._engine

    def close(self) -> None:
        self._engine.dispose()


def _engine(address: str) -> Engine:
    if "://" not in address:
        return _sqlite(address)
    url = make_url(address)
    if url.get_backend_name() == "sqlite":
        return _sqlite(url.database or "")
    if url.get_backend_name() not in ("postgresql", "postgres"):
        raise StoreError(f"a store is a SQLite file or a postgresql:// URL, not {url.get_backend_name()}://")
    try:
        return create_engine(url.set(drivername="postgresql+psycopg"), pool_pre_ping=True)
    except ImportError:
        raise StoreError("a PostgreSQL store needs psycopg: pip install 'karat[postgres]'") from None


def _sqlite(path: str) -> Engine:
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the folder of the store {path}: {error.strerror}") from error
    engine = create_engine(f"sqlite:///{path}", poolclass=NullPool)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, record: Any) -> None:
    # SQLAlchemy begins transactions itself: the driver would begin them too late to be of use.
    connection.isolation_level = None
    for pragma in (f"busy_timeout={WAIT}", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    # A writer that starts as a reader cannot wait for its turn: it would fail with "database is locked".
    write = connection.get_execution_options().get("karat_write")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


@contextmanager
def _said(address: str) -> Iterator[None]:
    """The database's complaint in our words."""
    try:
        yield
    except exc.DBAPIError as error:
        said = f"the store {shown(address)} failed and nothing was changed: {str(error.orig).strip()}"
        raise StoreError(said + _way_out(str(error.orig))) from error


def _way_out(complaint: str) -> str:
    """What to do about it, where that is known."""
    hints = {
        "full": "free some space, or name a store on another disk with --store",
        "no space left": "free some space on the server's disk",
        "readonly": "make the file and its folder writable, or name another store with --store",
        "unable to open": "make the file and its folder readable and writable, or name another store with --store",
        "not a database": "name a store that karat made with --store, or move this file away",
        "is locked": "another process holds the store; try again when it is done",
        "connect": "see that the server runs and that the URL names its host, database and user",
    }
    found = next((hint for sign, hint in hints.items() if sign in complaint.lower()), "")
    return f" ({found})" if found else ""


def shown(address: str) -> str:
    """The address without its password."""
    return make_url(address).render_as_string(hide_password=True) if "://" in address else address
