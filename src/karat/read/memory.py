# SPDX-License-Identifier: Apache-2.0
"""Data already in memory: arrays, lists, dicts, records and frames."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from karat.contexts.base import Coded
from karat.findings import InputError, finding, limited
from karat.read import fast, rankings
from karat.read.codes import code_column
from karat.read.indicators import as_indicators, read_indicators
from karat.read.pages import shape
from karat.read.relation import Engine, normalise, quoted
from karat.read.sets import coded_lists, sets_table
from karat.read.table import Read, Table, match_columns, side_table
from karat.read.tag_lists import is_span_records, is_tag_lists, read_span_records, read_tag_lists
from karat.side import Side


def is_memory(given: Any) -> bool:
    return not isinstance(given, (str, os.PathLike))


def read_memory(engine: Engine, given: Any, read: Read) -> Table:
    """Whatever Python object holds the data, as a table."""
    given = _plainer(given)
    if (hasattr(given, "__arrow_c_stream__") and not hasattr(given, "__array__")) or _is_frame(given):
        return _read_frame(engine, given, read)
    if isinstance(given, Side):
        return side_table(given, list(given.findings))
    if read.context == "ranking" and rankings.is_dicts(given):
        return rankings.read_dicts(given, read)
    if isinstance(given, Mapping):
        return _read_pairs(engine, given, read)
    if (marks := as_indicators(given)) is not None:
        return read_indicators(engine, marks, read)
    if is_column(given) and len(given):
        return coded_table(code_column(given), read, "array")
    values = given.tolist() if hasattr(given, "tolist") else list(_series(given))
    if not values:
        raise InputError([finding("no-records", read.name)])
    if isinstance(values, list) and is_tag_lists(values, read):
        return read_tag_lists(values, read)
    if isinstance(values, list) and is_span_records(values, read):
        return read_span_records(values, read)
    if isinstance(values, list) and isinstance(values[0], Mapping) and _is_records(values, read):
        return _read_records(engine, values, read)
    return _read_column(engine, values, read)


def _plainer(given: Any) -> Any:
    """A lazy frame collected, an array of records as columns; anything else as it is."""
    if hasattr(given, "collect_schema") and not hasattr(given, "__arrow_c_stream__"):
        return given.collect()
    if isinstance(given, np.ndarray) and given.dtype.names:
        return {name: given[name] for name in given.dtype.names}
    if isinstance(given, np.ndarray) and given.ndim > 2:
        message = f"an array of {given.ndim} dimensions holds neither labels nor label sets"
        way_out = "give one dimension (a label per item) or two (a row per item)"
        raise InputError([finding("bad-option", None, message=message, way_out=way_out)])
    return given


def is_column(given: Any) -> bool:
    """Is it a one-dimensional array or series of plain values? (Nested values are read as records are.)"""
    if not hasattr(given, "__array__") or getattr(given, "ndim", 1) != 1:
        return False
    kind = getattr(getattr(given, "dtype", None), "kind", "")
    first = next(iter(given[:1]), None)
    return kind in "iufbUSMm" or not isinstance(first, (list, tuple, set, frozenset, Mapping, np.ndarray))


def _is_frame(given: Any) -> bool:
    return hasattr(given, "columns") and hasattr(given, "__getitem__") and not isinstance(given, np.ndarray)


def _series(values: Any) -> Iterable[Any]:
    if isinstance(values, Iterable):
        return values
    raise InputError(
        [
            finding(
                "bad-option",
                None,
                message=f"cannot read a {type(values).__name__}",
                way_out="give a path, a list, an array, a dict or a frame",
            )
        ]
    )


def _is_records(values: Sequence[Mapping[str, Any]], read: Read) -> bool:
    return "value" in match_columns(list(values[0]), read.columns) or shape(values[0], read) is not None


def _read_records(engine: Engine, records: Sequence[Mapping[str, Any]], read: Read) -> Table:
    """A list of dicts with the fields of a file's records."""
    names = list(dict.fromkeys(name for record in records for name in record))
    value = match_columns(names, read.columns).get("value")
    columns = {name: [record.get(name) for record in records] for name in names}
    return _read_columns(engine, columns, read, value, "records")


def _read_pairs(engine: Engine, given: Mapping[Any, Any], read: Read) -> Table:
    """A dict of id → value, or of column name → column."""
    if (
        given
        and all(isinstance(v, (list, np.ndarray)) for v in given.values())
        and "value" in match_columns(list(map(str, given)), read.columns)
    ):
        columns = {str(k): list(v) for k, v in given.items()}
        return _read_columns(engine, columns, read, match_columns(list(columns), read.columns)["value"], "columns")
    columns = {"id": [str(k) for k in given], "value": list(given.values())}
    return _read_columns(engine, columns, read, "value", "dict")


def _read_columns(engine: Engine, columns: dict[str, list[Any]], read: Read, value: str | None, format: str) -> Table:
    """Python lists as a relation; the value column as JSON, as if it came from a file."""
    raw = f"raw {read.role} {read.name}"
    arrays = {name: _json(column) if name == value else _texts(column) for name, column in columns.items()}
    if not columns or not len(next(iter(arrays.values()))):
        raise InputError([finding("no-records", read.name)])
    engine.register(raw, arrays)
    return normalise(engine, read, quoted(raw), format, json_text=True, line_of=lambda row: row + 1)


def _json(column: Iterable[Any]) -> NDArray[np.object_]:
    encode = msgspec.json.Encoder(enc_hook=_plain).encode
    return np.array([None if v is None else encode(v).decode() for v in column], object)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    return str(value)


def _texts(column: Iterable[Any]) -> NDArray[np.object_]:
    """Plain values as text; what is nested as JSON."""
    encode = msgspec.json.Encoder(enc_hook=_plain).encode
    nested = (Mapping, list, tuple, set, np.ndarray)
    return np.array(
        [None if v is None else encode(v).decode() if isinstance(v, nested) else str(v) for v in column], object
    )


def _read_column(engine: Engine, values: Any, read: Read) -> Table:
    """One value per item, paired by position: how scikit-learn is called."""
    if isinstance(values[0], (list, tuple, set, frozenset, Mapping, np.ndarray)):
        if (sets := coded_lists(values)) is not None:
            return sets_table(engine, read, sets, "list")
        ids = [str(i) for i in range(1, len(values) + 1)]
        return _read_columns(engine, {"id": ids, "value": list(values)}, read, "value", "list")
    return coded_table(code_column(values), read, "array")


def coded_table(coded: Coded, read: Read, format: str) -> Table:
    """A table of codes that never goes through the engine."""
    if (coded.codes < 0).any() and not read.drops:
        rows = np.flatnonzero(coded.codes < 0).tolist()
        raise InputError(limited(finding("missing-field", read.name, row + 1, field="value") for row in rows))
    return Table(
        read.name,
        read.role,
        format,
        "",
        {"value": "VARCHAR"},
        "label",
        len(coded.codes),
        {"value": coded},
        line_of=lambda row: row + 1,
    )


def _read_frame(engine: Engine, frame: Any, read: Read) -> Table:
    """A Polars, pandas or PyArrow frame, or anything with the Arrow stream interface."""
    if fast.ON:
        from karat.read.fast import frames

        if (ranked := frames.rankings(frame, read)) is not None:
            return ranked
    if (column := _only_labels(frame, read)) is not None:
        return coded_table(code_column(column), read, type(frame).__module__.split(".")[0])
    raw = f"raw {read.role} {read.name}"
    if _is_pandas(frame) or not hasattr(frame, "columns"):
        # The engine converts Python objects anew in every scan, and a bare stream may be read once: do it once.
        engine.register(f"frame {raw}", frame if _is_pandas(frame) else _Stream(frame))
        engine.execute(f"CREATE OR REPLACE TEMP TABLE {quoted(raw)} AS SELECT * FROM {quoted('frame ' + raw)}")
    else:
        engine.register(raw, _Stream(frame))
    return normalise(engine, read, quoted(raw), type(frame).__module__.split(".")[0], line_of=lambda row: row + 1)


def _only_labels(frame: Any, read: Read) -> Any | None:
    """The label column of a frame without ids: it is paired by position, and needs no engine."""
    names = [str(c) for c in getattr(frame, "columns", ())]
    found = match_columns(names, read.columns)
    if set(found) != {"value"} or len(set(names)) < len(names) or not _is_pandas(frame):
        return None
    column = frame[found["value"]]
    return column if str(column.dtype) == "category" else None


def _is_pandas(frame: Any) -> bool:
    return type(frame).__module__.startswith("pandas")


class _Stream:
    """Only the Arrow stream of an object, so that the engine needs none of the object's own library."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._frame.__arrow_c_stream__(requested_schema)
