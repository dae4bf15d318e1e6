# SPDX-License-Identifier: Apache-2.0
"""Transactions on SQLite and PostgreSQL, safe with several writers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, MetaData, Table, create_engine, event, exc
from sqlalchemy.pool import NullPool, QueuePool

from karat.store.listing import FORM
from karat.store.location import StoreError, failed, opened, parsed, shown
from karat.store.tables import form_of, migrate


@contextmanager
def store_errors(address: str) -> Iterator[None]:
    """The database's complaint as an error of the store."""
    try:
        yield
    except exc.DBAPIError as error:
        raise failed(address, error.orig) from error


POOL = 8
"""Connections that a server keeps open."""


def sqlite_engine(path: str, pooled: bool = False) -> Engine:
    """An engine that opens the file anew for every transaction, or keeps it open between them.

    Opening costs more than most questions do, and the last one to close the file has to fold the write-ahead log into
    it: a server keeps it open.
    """
    how: dict[str, Any] = {"pool_size": POOL, "max_overflow": -1} if pooled else {}
    engine = create_engine(
        "sqlite://", creator=partial(opened, Path(path)), poolclass=QueuePool if pooled else NullPool, **how
    )
    event.listen(engine, "begin", _begin)
    if pooled:
        event.listen(engine, "connect", lambda _, record: record.info.update(file=_file_at(path)))
        event.listen(engine, "checkout", partial(_still_there, path))
    return engine


def _file_at(path: str) -> tuple[int, int] | None:
    """Which file a path names at the moment."""
    try:
        stat = os.stat(path)
    except FileNotFoundError:
        return None
    return stat.st_dev, stat.st_ino


def _still_there(path: str, connection: Any, record: Any, proxy: Any) -> None:
    """Another file may have been put in the place of the one that is open: what is written there nobody would find."""
    if record.info["file"] != _file_at(path):
        raise exc.DisconnectionError


def make_folder(path: str) -> None:
    """The folder of a store that is to be made."""
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the folder of the store {path}: {error.strerror}") from error


def _begin(connection: Connection) -> None:
    # A writer that starts as a reader cannot wait for its turn: it would fail with "database is locked".
    write = connection.get_execution_options().get("karat_write")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


class Database:
    """One database; every read and every write is a transaction of its own.

    Without ``create`` a place that holds no store is left as it is; ``pooled`` keeps a file open between transactions.
    """

    def __init__(self, address: str, create: bool = True, pooled: bool = False) -> None:
        self.address, self._create = address, create
        url = parsed(address)
        self._file = url.database if url.get_backend_name() == "sqlite" else None
        self._engine = sqlite_engine(self._file, pooled) if self._file else _postgres(address)
        self._ready = False

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """The store as it is at one moment, whoever writes meanwhile."""
        engine = self._prepared()
        engine = engine if self._file else engine.execution_options(isolation_level="REPEATABLE READ")
        with store_errors(self.address), engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """All of it or nothing; writers take turns."""
        engine = self._prepared().execution_options(karat_write=True)
        with store_errors(self.address), engine.connect() as connection, connection.begin():
            yield connection

    def _prepared(self) -> Engine:
        """The engine, once its store has the present form."""
        if not self._ready:
            with store_errors(self.address):
                self._prepare()
            self._ready = True
        return self._engine

    def _prepare(self) -> None:
        form = self._form()
        if form == 0 and not self._create:
            raise StoreError(f"no runs are kept yet: there is no store at {shown(self.address)}; saving one makes it")
        if form == FORM:
            return
        if self._file:
            make_folder(self._file)
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


BATCH = 200
"""Rows that are copied at once."""


def copy(source: Connection, target: str) -> int:
    """All tables that the transaction sees, as a new SQLite file; it appears under its name once it is whole."""
    path, part = Path(target), Path(f"{target}.part")
    if path.exists():
        raise StoreError(f"{target} is there already; name another file")
    part.unlink(missing_ok=True)
    tables = MetaData()
    tables.reflect(source)
    engine = create_engine(f"sqlite:///{part}")
    event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA synchronous=FULL"))
    try:
        with engine.begin() as copied:
            tables.create_all(copied)
            rows = sum(_copied(source, copied, table) for table in tables.sorted_tables)
        engine.dispose()
        os.replace(part, path)
    except OSError as error:
        raise StoreError(f"cannot write {target}: {error.strerror}") from error
    finally:
        engine.dispose()
        part.unlink(missing_ok=True)
    return rows


def _copied(source: Connection, target: Connection, table: Table) -> int:
    count = 0
    result = source.execution_options(yield_per=BATCH).execute(table.select())
    for rows in result.mappings().partitions(BATCH):
        target.execute(table.insert(), [dict(row) for row in rows])
        count += len(rows)
    return count
