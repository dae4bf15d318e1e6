# SPDX-License-Identifier: Apache-2.0
"""Parquet, read in place, and Arrow files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache

from karat.columns import ROW
from karat.findings import InputError, finding
from karat.read import arrow
from karat.read.repeated import must_differ
from karat.read.roles import Records
from karat.read.source import Source
from karat.read.table import Engine, Read
from karat.side import Origin


class Unpacked:
    """What the columns of a file that are looked at come to without its packing, which is no more than a packed text may."""

    def __init__(self, source: Source, stored: Callable[[], Mapping[str, tuple[int, bool]]] = dict) -> None:
        self.source, self._stored = source, stored
        self._size: dict[str, int] = {}

    def must_hold(self, name: str, size: Callable[[], int], passing: bool = False) -> None:
        """Refuse the file if it is too large with this column: what it says itself is seen before the values are.

        ``passing``: nothing of it is kept, so that what the file says is enough where it says each value anew.
        """
        if name not in self._size:
            leaves = [said for leaf, said in self._stored().items() if leaf == name or leaf.startswith(f"{name}, ")]
            self.source.must_fit(sum(self._size.values()) + sum(stored for stored, _ in leaves))
            if passing and leaves and all(plain for _, plain in leaves):
                return
            self._size[name] = size()
        self.source.must_fit(sum(self._size.values()))


def read_parquet(engine: Engine, source: Source, read: Read) -> Records:
    """A Parquet file; only the columns that are needed leave the disk."""

    def broken(error: Exception) -> Exception:
        return InputError([finding("file-unreadable", source.name, reason="the Parquet data are broken or cut off")])

    limit = Unpacked(source, cache(lambda: engine.parquet_sizes(source.path)))
    numbered = f"(SELECT * EXCLUDE (file_row_number), file_row_number AS {ROW} FROM read_parquet({source.sql}, file_row_number=true))"
    columns = engine.lazily(f"read_parquet({source.sql})", broken, numbered, limit)
    source.must_fit(rows := columns.count())
    again = any(_AGAIN.search(name) for name in columns)
    must_differ(engine.parquet_names(source.path) if again else list(columns), read)
    origin = Origin(read.name, read.role, "parquet", lambda row: row + 1)
    return Records(origin, columns, rows, findings=list(source.findings))


_AGAIN = re.compile(r"_\d+$")
"""What the engine puts behind a name that is there already."""


def read_arrow(engine: Engine, source: Source, read: Read) -> Records:
    """An Arrow (Feather) file; needs pyarrow or Polars."""
    try:
        with source.mapped() as content:
            source.must_fit(arrow.size(content))
        table = _arrow(source)
        must_differ(list(getattr(table, "column_names", ())), read)
        name = engine.stream(f"raw {read.role} {read.name}", table, Unpacked(source))
    except (InputError, MemoryError):
        raise
    except Exception as error:
        unknown = "NotImplemented" in type(error).__name__
        reason = (
            f"it has a column of a type that is not read ({error})"
            if unknown
            else "the Arrow data are broken or cut off"
        )
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
