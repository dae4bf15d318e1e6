# SPDX-License-Identifier: Apache-2.0
"""Label sets that are already in memory and paired by position: kept as codes, no list of texts is built."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from karat.contexts.base import CodedSets
from karat.read.codes import code_column
from karat.read.relation import Engine, quoted
from karat.read.table import Read, Table


def coded_lists(values: Sequence[Any]) -> CodedSets | None:
    """Lists of texts or whole numbers as codes; None if they hold anything else."""
    if isinstance(values[0], np.ndarray):
        values = [v.tolist() if isinstance(v, np.ndarray) else v for v in values]
    if not all(map((list, tuple).__contains__, map(type, values))):
        return None
    flat = list(chain.from_iterable(values))
    if not flat or not set(map(type, flat)) <= {str, int}:
        return None
    coded = code_column(flat)
    if "" in coded.values:
        return None
    row = np.repeat(np.arange(len(values)), np.fromiter(map(len, values), np.int64, len(values)))
    return CodedSets(row, coded.codes, list(coded.values), len(values))


def sets_table(engine: Engine, read: Read, sets: CodedSets, format: str) -> Table:
    """The sets as a table; its lists of texts are made only if somebody selects them."""
    view, ones, names = (quoted(f"{what} {read.role} {read.name}") for what in ("karat", "labels of", "names of"))
    engine.register(ones.strip('"'), {"nth": sets.row, "code": sets.code, "place": np.arange(len(sets.row))})
    engine.register(names.strip('"'), {"code": np.arange(len(sets.values)), "label": np.array(sets.values, object)})
    held = f"SELECT o.nth, list(n.label ORDER BY o.place) AS labels FROM {ones} o JOIN {names} n ON o.code = n.code GROUP BY o.nth"
    engine.execute(
        f"CREATE OR REPLACE TEMP VIEW {view} AS SELECT '' AS test_case, CAST(i + 1 AS VARCHAR) AS id,"
        f" coalesce(labels, CAST([] AS VARCHAR[])) AS value FROM range({sets.rows}) t(i) LEFT JOIN ({held}) ON nth = i ORDER BY i"
    )
    columns = {"test_case": "VARCHAR", "id": "VARCHAR", "value": "VARCHAR[]"}
    table = Table(read.name, read.role, format, view, columns, "labels", sets.rows, line_of=lambda row: row + 1)
    table.memo["sets"] = sets
    return table
