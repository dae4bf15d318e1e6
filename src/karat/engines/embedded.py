# SPDX-License-Identifier: Apache-2.0
"""The embedded engine: one private in-memory DuckDB per evaluation."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from karat.contexts.base import Columns

_OFFLINE = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
"""karat opens no socket: extensions are never fetched."""


class Embedded:
    """A DuckDB connection that nobody else sees, closed with the evaluation."""

    def __init__(self, threads: int | None = None) -> None:
        self._config: dict[str, Any] = dict(_OFFLINE) | ({"threads": threads} if threads else {})
        self._waiting: dict[str, tuple[str, ...]] = {}

    @cached_property
    def connection(self) -> Any:
        """Opened when it is first needed: readers that bring arrays never wait for it."""
        import duckdb

        return duckdb.connect(config=self._config)

    def __enter__(self) -> Embedded:
        return self

    def __exit__(self, *exc: object) -> None:
        if "connection" in self.__dict__:
            self.connection.close()

    def run(self, sql: str) -> Columns:
        """The columns of a query; null is None in object columns and NaN in numbers."""
        return {name: _plain(column) for name, column in self._ready(sql).execute(sql).fetchnumpy().items()}

    def execute(self, sql: str) -> None:
        """A statement without a result."""
        self._ready(sql).execute(sql)

    def later(self, name: str, *statements: str) -> None:
        """What makes the relation of this (quoted) name, for when a statement first speaks of it."""
        self._waiting[name] = statements

    def _ready(self, sql: str) -> Any:
        """The connection, with every relation made that the statement speaks of."""
        for name in [name for name in self._waiting if name in sql]:
            for statement in self._waiting.pop(name):
                self.connection.execute(statement)
        return self.connection

    def register(self, name: str, columns: Any) -> None:
        """Make arrays, or anything with the Arrow stream interface, a relation."""
        self.connection.register(name, columns)

    def types(self, source: str) -> dict[str, str]:
        """Column names and types of a relation."""
        found = self._ready(source).execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
        return {row[0]: row[1] for row in found}


def _plain(column: Any) -> Any:
    if not isinstance(column, np.ma.MaskedArray):
        return column
    if column.dtype == object:
        out = np.array(column.data, object)
        out[np.ma.getmaskarray(column)] = None
        return out
    return np.ma.filled(column.astype(float), np.nan)
