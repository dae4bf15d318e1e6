# SPDX-License-Identifier: Apache-2.0
"""A copy of a store that is in use: every table, whoever keeps it, at one moment."""

from __future__ import annotations

import os
from pathlib import Path

from sqlalchemy import Connection, MetaData, Table, create_engine, event

from karat.store.errors import StoreError

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
