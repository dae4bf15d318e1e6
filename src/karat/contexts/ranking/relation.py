# SPDX-License-Identifier: Apache-2.0
"""Records of an engine's relation (query, document, number) as a side."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from karat.columns import Codes, Floats, Text
from karat.contexts.base import Run, Table
from karat.side import Origin, Side, by_query


def side_of(run: Run, table: Table) -> Side:
    """A table's records by query."""
    beside = "cluster" if table.role == "gold" else "rank"
    names = [
        "test_case",
        "id",
        "value",
        *(name for name in run(f"SELECT * FROM {table.sql} LIMIT 0") if name == beside),
    ]
    rows = run(f"SELECT {', '.join(names)} FROM {table.sql}")
    columns = {"document": Text.of(rows["id"].tolist()), "number": _numbers(rows["value"])}
    if "rank" in rows:
        columns["rank"] = _numbers(rows["rank"])
    query = Text.of(rows["test_case"].tolist())
    origin = Origin(table.name, table.role, table.format, table.line)
    side = by_query(origin, query, np.ones(len(query), np.int64), columns)
    side.facts["column"] = table.roles.get("value", "").lower()
    if "cluster" in rows:
        side.units["cluster"] = _clusters(side, rows["cluster"].tolist())
    return side


def _numbers(column: Any) -> Floats:
    return np.asarray(np.ma.filled(column.astype(float), np.nan), float)


def _clusters(side: Side, cluster: list[str | None]) -> Codes:
    """The cluster of each query: the least that its records name."""
    least: dict[int, str] = {}
    for unit, record in zip(side.entries.unit.tolist(), side.entries["record"].tolist(), strict=True):
        name = cluster[record]
        if name is not None:
            least[unit] = min(name, least.get(unit, name))
    return Codes.of([least.get(unit) for unit in range(len(side))])


def rank_beside(columns: Iterable[str], value: str) -> str | None:
    """The column of ranks that stands beside one of scores."""
    return next((c for c in columns if c.lower() == "rank" and value.lower() == "score"), None)
