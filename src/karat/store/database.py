# SPDX-License-Identifier: Apache-2.0
"""Transactions on SQLite and PostgreSQL, safe with several writers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine

from karat.store import sqlite
from karat.store.address import parsed, shown
from karat.store.complaints import said
from karat.store.errors import StoreError
from karat.store.migrations import FORM, form_of, migrate


class Database:
    """One database; every read and every write is a transaction of its own.

    Without ``create`` a place that holds no store is left as it is.
    """

    def __init__(self, address: str, create: bool = True) -> None:
        self.address, self._create = address, create
        url = parsed(address)
        self._file = url.database if url.get_backend_name() == "sqlite" else None
        self._engine = sqlite.engine(self._file) if self._file else _postgres(address)
        self._ready = False

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """The store as it is at one moment, whoever writes meanwhile."""
        engine = self._prepared()
        engine = engine if self._file else engine.execution_options(isolation_level="REPEATABLE READ")
        with said(self.address), engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """All of it or nothing; writers take turns."""
        engine = self._prepared().execution_options(karat_write=True)
        with said(self.address), engine.connect() as connection, connection.begin():
            yield connection

    def _prepared(self) -> Engine:
        """The engine, once its store has the present form."""
        if not self._ready:
            with said(self.address):
                self._prepare()
            self._ready = True
        return self._engine

    def _prepare(self) -> None:
        found = self._form()
        if found == 0 and not self._create:
            raise StoreError(f"no runs are kept yet: there is no store at {shown(self.address)}; saving one makes it")
        if found == FORM:
            return
        if self._file:
            sqlite.make_folder(self._file)
        with self._engine.execution_options(karat_write=True).connect() as connection, connection.begin():
            migrate(connection)

    def _form(self) -> int:
        """The form of the store; a file is not made by looking for it."""
        if self._file and not Path(self._file).exists():
            return 0
        with self._engine.connect() as connection:
            return form_of(connection)

    def close(self) -> None:
        self._engine.dispose()


def _postgres(address: str) -> Engine:
    try:
        return create_engine(parsed(address).set(drivername="postgresql+psycopg"), pool_pre_ping=True)
    except ImportError:
        raise StoreError("a PostgreSQL store needs psycopg: pip install 'karat[postgres]'") from None
