# SPDX-License-Identifier: Apache-2.0
"""Rankings in frames by the bytes of their Arrow columns, without the engine.

A Polars frame of a million rows is read in 0.04 s of processor time, by the engine in 1.1 s.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from karat.columns import PADDING, Bytes, Floats, Ints, Text
from karat.findings import InputError, finding
from karat.read.names import NUMBERS, match_columns, rank_beside
from karat.read.table import Read, side_table
from karat.side import Origin, Side, by_query

_TEXTS = ("string", "large_string", "string_view")


def rankings(frame: Any, read: Read) -> Side | None:
    """A frame of rankings by its Arrow columns; None if it is something else, or pyarrow is not there."""
    if read.context not in (None, "ranking"):
        return None
    if "cluster" in read.columns:  # a column that only the engine carries along
        return None
    names = list(map(str, getattr(frame, "column_names", None) or list(getattr(frame, "columns", ()))))
    roles = match_columns(names, read.columns, side=read.side)
    wanted = read.context == "ranking" or roles.get("value", "").lower() in NUMBERS
    if not wanted or roles.keys() < {"test_case", "id", "value"}:
        return None
    try:
        import pyarrow as arrow
    except ImportError:
        return None
    kind, rank = type(frame).__module__, rank_beside(names, roles["value"])
    used = [*roles.values(), *([rank] if rank and read.role == "pred" else [])]
    if kind.startswith("pandas"):
        columns = arrow.Table.from_pandas(frame[used], preserve_index=False)
    else:  # Polars plans a select, but not an index
        columns = arrow.table(frame[used] if kind.startswith("polars") else frame.select(used))
    return _of_arrow(arrow, columns, roles, read)


def _of_arrow(arrow: Any, columns: Any, roles: Mapping[str, str], read: Read) -> Side | None:
    value, types = columns[roles["value"]], arrow.types
    number = any(is_it(value.type) for is_it in (types.is_integer, types.is_floating, types.is_boolean))
    keys = [columns[roles[role]] for role in ("test_case", "id")]
    spelt = all(_is_spelt(arrow, key) for key in keys)
    if not (number and spelt) or any(columns[c].null_count for c in roles.values()):
        return None
    if not len(value):
        raise InputError([finding("no-records", read.name)])
    query, document = (_text(arrow, key) for key in keys)
    entries = {"document": document, "number": value.cast(arrow.float64()).to_numpy()}
    if rank := rank_beside(columns.column_names, roles["value"]):
        entries["rank"] = _ranks(arrow, columns[rank])
    size = np.diff(query.heads, append=len(query))
    origin = Origin(read.name, read.role, "frame", lambda record: record + 1)
    side = by_query(origin, query[query.heads], size, entries)
    side.facts["column"] = roles["value"].lower()
    side.facts["value"] = roles["value"]
    return side_table(side, [])


def _ranks(arrow: Any, column: Any) -> Floats:
    """Ranks as numbers; one that is none, or missing, is NaN."""
    try:
        ranks: Floats = column.cast(arrow.float64()).to_numpy()
    except arrow.ArrowInvalid:
        return np.full(len(column), np.nan)
    return ranks


def _is_spelt(arrow: Any, column: Any) -> bool:
    """Does Arrow spell such keys as all containers do: texts, whole numbers and truth, but not 1.0 or midnight?"""
    types = arrow.types
    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    return str(kind) in _TEXTS or types.is_integer(kind) or types.is_boolean(kind)


def _text(arrow: Any, column: Any) -> Text:
    """A column's bytes where they are; only columns of other types, or in pieces, are copied."""
    if str(column.type) == "string_view" and (short := _views(column)) is not None:
        return short
    if arrow.types.is_dictionary(column.type):  # Arrow cannot cast the categories of Polars in one step
        column = arrow.chunked_array([_categories(arrow, chunk) for chunk in column.chunks])
    if column.type != arrow.large_string():
        column = column.cast(arrow.large_string())
    array = column.combine_chunks()
    array = array.chunk(0) if hasattr(array, "num_chunks") else array
    _, offsets, data = array.buffers()
    at: Ints = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    return Text(_padded(np.frombuffer(data or b"", np.uint8)), at[:-1], at[1:] - at[:-1])


def _categories(arrow: Any, chunk: Any) -> Any:
    return chunk.dictionary.cast(arrow.large_string()).take(chunk.indices)


def _views(column: Any) -> Text | None:
    """The texts of a column of views (16 bytes: length, then text) if each is short enough to stand in its view."""
    if column.num_chunks != 1 or sys.byteorder != "little":
        return None
    array = column.chunk(0)
    _, views, *others = array.buffers()
    buffer: Bytes = np.frombuffer(views, np.uint8)[16 * array.offset : 16 * (array.offset + len(array))]
    length: Any = buffer.view(np.int32)[::4].copy()
    short = not others or length.max(initial=0) <= 12
    place: Any = np.int32 if len(buffer) < 2**31 else np.int64
    start: Any = np.arange(4, len(buffer), 16, dtype=place)
    return Text(_padded(buffer), start, length) if short else None


def _padded(buffer: Bytes) -> Bytes:
    """A copy with readable bytes behind it: who reads the last text by words looks beyond it."""
    return np.concatenate([buffer, np.zeros(PADDING, np.uint8)])
