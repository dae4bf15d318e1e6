# SPDX-License-Identifier: Apache-2.0
"""The embedded engine: one private in-memory DuckDB per evaluation, which scans files and hands out their columns."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np

from karat.values import Column, Nested, plain, spelt, taken_apart

_OFFLINE = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
"""karat opens no socket: extensions are never fetched."""

_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_TEXTS = ("VARCHAR", "JSON", "UUID")


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class Engine:
    """A DuckDB connection that nobody else sees, closed with the evaluation."""

    def __init__(self, threads: int | None = None) -> None:
        self._config: dict[str, Any] = dict(_OFFLINE) | ({"threads": threads} if threads else {})

    @cached_property
    def connection(self) -> Any:
        """Opened when it is first needed: what is read into memory never waits for it."""
        import duckdb

        return duckdb.connect(config=self._config)

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *exc: object) -> None:
        if "connection" in self.__dict__:
            self.connection.close()

    def types(self, relation: str) -> dict[str, str]:
        """Column names and types of what a query can select from."""
        rows = self.connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
        return {row[0]: row[1] for row in rows}

    def stream(self, name: str, frame: Any) -> str:
        """Anything with the Arrow stream interface as a relation; a stream may be read once, so it is kept."""
        self.connection.register(f"stream {name}", _Stream(frame))
        self.execute(f"CREATE OR REPLACE TEMP TABLE {quoted(name)} AS SELECT * FROM {quoted('stream ' + name)}")
        return quoted(name)

    def execute(self, sql: str) -> None:
        """A statement without a result."""
        self.connection.execute(sql)

    def columns(self, relation: str, names: Iterable[str] | None = None) -> dict[str, Column]:
        """Columns of a relation, in its order, as values of Python and NumPy."""
        types = self.types(relation)
        return {name: self._column(relation, quoted(name), types[name]) for name in names or types}

    def _column(self, relation: str, column: str, type: str) -> Column:
        if type.endswith("[]") or type.startswith("MAP"):
            return self._nested(relation, column, type)
        if type.startswith("DECIMAL"):
            column, type = f"CAST({column} AS DOUBLE)", "DOUBLE"
        if type in _WHOLE or type in ("DOUBLE", "FLOAT", "BOOLEAN"):
            return _numbers(self._fetched(relation, column), type)
        if type == "FLOAT":
            column = f"CAST({column} AS DOUBLE)"
        if type.startswith("STRUCT"):
            rows = self._fetched(relation, f"CAST(to_json({column}) AS VARCHAR)").tolist()
            return taken_apart([_without_nulls(row) for row in rows], objects=True)
        texts = column if type in _TEXTS else f"CAST({column} AS VARCHAR)"
        values: list[Any] = self._fetched(relation, texts).tolist()
        return [int(value) if value is not None else None for value in values] if type.endswith("HUGEINT") else values

    def _nested(self, relation: str, column: str, type: str) -> Nested:
        """Lists and maps taken apart inside the engine."""
        lists = f"map_keys({column})" if type.startswith("MAP") else column
        size = _filled(self._fetched(relation, f"len({lists})"), -1).astype(np.int64)
        members = f"(SELECT unnest({lists}) AS m FROM {relation})"
        inner = self.types(members)["m"]
        flat = self._column(members, "m", inner)
        if not type.startswith("MAP"):
            return Nested(np.maximum(size, 0), None, flat, size >= 0)
        of_values = f"(SELECT unnest(map_values({column})) AS m FROM {relation})"
        held = self._column(of_values, "m", self.types(of_values)["m"])
        return Nested(np.maximum(size, 0), spelt(plain(flat)), held, size >= 0)

    def _fetched(self, relation: str, expression: str) -> Any:
        found = self.connection.execute(f"SELECT {expression} AS c FROM {relation}").fetchnumpy()["c"]
        if isinstance(found, np.ma.MaskedArray) and found.dtype == object:
            out = np.array(found.data, object)
            out[np.ma.getmaskarray(found)] = None
            return out
        return found


def _filled(column: Any, value: Any) -> Any:
    return np.ma.filled(column, value) if isinstance(column, np.ma.MaskedArray) else column


def _numbers(column: Any, type: str) -> Column:
    """Numbers as an array, or as a list where some are missing: a missing float is no number already."""
    if not isinstance(column, np.ma.MaskedArray) or not np.ma.getmaskarray(column).any():
        return np.asarray(column)
    if type in ("DOUBLE", "FLOAT"):
        return np.ma.filled(column.astype(float), np.nan)
    return column.tolist()


def _without_nulls(text: str | None) -> Any:
    """The object that a row of a struct is; every row has every field, and null is one that it does not name."""
    import msgspec

    if text is None:
        return None
    return {name: value for name, value in msgspec.json.decode(text.encode()).items() if value is not None}


class _Stream:
    """Only the Arrow stream of an object, so that the engine needs none of the object's own library."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._frame.__arrow_c_stream__(requested_schema)
