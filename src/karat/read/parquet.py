# SPDX-License-Identifier: Apache-2.0
"""Parquet, read in place, and Arrow files."""

from __future__ import annotations

from karat.columns import ROW
from karat.findings import InputError, finding
from karat.read.roles import Records
from karat.read.source import Source
from karat.read.table import Engine, Read
from karat.side import Origin


def read_parquet(engine: Engine, source: Source, read: Read) -> Records:
    """A Parquet file; only the columns that are needed leave the disk."""

    def broken(error: Exception) -> Exception:
        return InputError([finding("file-unreadable", source.name, reason="the Parquet data are broken or cut off")])

    numbered = f"(SELECT * EXCLUDE (file_row_number), file_row_number AS {ROW} FROM read_parquet({source.sql}, file_row_number=true))"
    columns = engine.lazily(f"read_parquet({source.sql})", broken, numbered)
    origin = Origin(read.name, read.role, "parquet", lambda row: row + 1)
    return Records(origin, columns, columns.count(), findings=list(source.findings))


def read_arrow(engine: Engine, source: Source, read: Read) -> Records:
    """An Arrow (Feather) file; needs pyarrow or Polars."""
    try:
        name = engine.stream(f"raw {read.role} {read.name}", _arrow(source))
    except InputError:
        raise
    except Exception as error:
        reason = "the Arrow data are broken or cut off"
        raise InputError([finding("file-unreadable", source.name, reason=reason)]) from error
    return _records(engine, name, source, read, "arrow")


def _records(engine: Engine, relation: str, source: Source, read: Read, format: str) -> Records:
    columns = engine.columns(relation)
    rows = len(next(iter(columns.values()), ()))
    origin = Origin(read.name, read.role, format, lambda row: row + 1)
    return Records(origin, columns, rows, findings=list(source.findings))


def _arrow(source: Source) -> object:
    try:
        import pyarrow.ipc

        table = pyarrow.ipc.open_file(source.path).read_all()
    except ImportError:
        pass
    else:
        table.validate(full=True)  # an offset outside of its buffer would be read as far as memory goes
        return table
    try:
        import polars
    except ImportError:
        reason = "Arrow files need pyarrow or polars"
        raise InputError([finding("file-unreadable", source.name, reason=reason)]) from None
    return polars.read_ipc(source.path)
