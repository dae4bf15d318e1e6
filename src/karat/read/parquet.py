# SPDX-License-Identifier: Apache-2.0
"""Parquet, read in place, and Arrow files."""

from __future__ import annotations

from karat.findings import InputError, finding
from karat.read.relation import Engine, normalise, quoted
from karat.read.source import Source
from karat.read.table import Read, Table


def is_parquet(source: Source) -> bool:
    return source.head.startswith(b"PAR1")


def is_arrow(source: Source) -> bool:
    return source.head.startswith(b"ARROW1")


def read_parquet(engine: Engine, source: Source, read: Read) -> Table:
    """A Parquet file; only the columns that are needed leave the disk."""
    scan = f"read_parquet({source.sql})"
    try:
        engine.types(scan)
        return normalise(engine, read, scan, "parquet", line_of=lambda row: row + 1, findings=source.findings)
    except InputError:
        raise
    except Exception as error:
        reason = "the Parquet data are broken or cut off"
        raise InputError([finding("file-unreadable", source.name, reason=reason)]) from error


def read_arrow(engine: Engine, source: Source, read: Read) -> Table:
    """An Arrow (Feather) file; needs pyarrow or Polars."""
    name = quoted(f"raw {read.role} {read.name}")
    try:
        engine.register(name.strip('"'), _arrow(source))
    except InputError:
        raise
    except Exception as error:
        reason = "the Arrow data are broken or cut off"
        raise InputError([finding("file-unreadable", source.name, reason=reason)]) from error
    return normalise(engine, read, name, "arrow", line_of=lambda row: row + 1, findings=source.findings)


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
