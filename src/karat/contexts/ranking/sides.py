# SPDX-License-Identifier: Apache-2.0
"""Records of a query, a document and a number as a side whose units are queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from karat.columns import Codes, Text
from karat.side import Entries, Side, by_query


def by_documents(side: Side) -> Side:
    """A side whose units are single documents (test case: the query, id: the document) by query."""
    if "document" in side.entries:
        return side
    keys, number = side.keys, np.full(len(side), np.nan)
    number[side.entries.unit] = side.entries["number"]
    columns = {"number": number, "document": Text.of(keys.id)}
    columns |= {"rank": np.asarray(side.units["rank"], float)} if "rank" in side.units else {}
    query = Text.of(keys.case.names)[keys.case.code]
    out = by_query(side.origin, query, np.ones(len(query), np.int64), columns)
    out.facts["column"] = side.facts.get("column", "")
    out.findings, out.records = side.findings, side.records
    if "cluster" in side.units:
        out.units["cluster"] = _clusters(out, side.units["cluster"].texts())
    if side.record is None or out.record is None:
        return out
    entries = Entries(out.entries.unit, out.entries.columns | {"record": side.record[out.entries["record"]]})
    return replace(out, entries=entries, record=side.record[out.record])


def _clusters(side: Side, cluster: Sequence[str | None]) -> Codes:
    """The cluster of each query: the least that its records name."""
    least: dict[int, str] = {}
    for unit, record in zip(side.entries.unit.tolist(), side.entries["record"].tolist(), strict=True):
        name = cluster[record]
        if name is not None:
            least[unit] = min(name, least.get(unit, name))
    return Codes.of([least.get(unit) for unit in range(len(side))])
