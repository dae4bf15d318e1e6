# SPDX-License-Identifier: Apache-2.0
"""The embedded engine: one private in-memory DuckDB per evaluation."""

from __future__ import annotations

from typing import Any

import numpy as np

from karat.contexts.base import Columns
from karat.engines.duckdb import Engine


class Embedded(Engine):
    """The engine as readers of relations use it."""

    def __init__(self, threads: int | None = None) -> None:
        super().__init__(threads)
        self._waiting: dict[str, tuple[str, ...]] = {}

    def __enter__(self) -> Embedded:
        return self

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
