# SPDX-License-Identifier: Apache-2.0
"""Data already in memory: arrays, lists, dicts, records and frames."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from karat import values
from karat.columns import Codes
from karat.findings import InputError, finding
from karat.read import fast, rankings, scores
from karat.read.names import match_columns
from karat.read.pages import shape
from karat.read.repeated import must_differ
from karat.read.roles import Records
from karat.read.table import Engine, Read
from karat.read.tag_lists import is_span_records, is_tag_lists, read_span_records, read_tag_lists
from karat.side import Origin, Side
from karat.values import Column, Nested


def is_memory(given: Any) -> bool:
    return not isinstance(given, (str, os.PathLike))


def read_memory(engine: Engine, given: Any, read: Read) -> Records | Side:
    """Whatever Python object holds the data, as columns."""
    given = _plainer(given)
    if isinstance(given, np.ndarray) and given.ndim == 2 and given.shape[1] == 1 and read.context != "multilabel":
        given = given[:, 0]  # a column, as networks give scores of one class
    if isinstance(given, Side):
        return given
    if _is_frame(given):
        return _frame(engine, given, read)
    if read.context == "ranking" and rankings.is_dicts(given):
        return rankings.read_dicts(given, read)
    if isinstance(given, (set, frozenset)):
        raise InputError([_cannot(given, "a set has no order to pair items by: give a list, or a dict of id → value")])
    if isinstance(given, Mapping):
        return _mapping(given, read)
    if (scored := scores.matrix(given, read)) is not None:
        return scored
    if (matrix := _indicators(given)) is not None:
        return _records({"value": matrix}, read, "array")
    if hasattr(given, "__array__") and getattr(given, "ndim", 1) == 1 and not _is_nested(given):
        return _records({"value": _column(given)}, read, "array")
    rows = _listed(given)
    kinds = values.types_in(rows)
    rows = rows if kinds & {set, frozenset} else values.plain(rows, kinds)  # what has no order is no sentence
    if is_tag_lists(rows, read):
        return read_tag_lists(rows, read)
    if is_span_records(rows, read):
        return read_span_records(rows, read)
    if rows and isinstance(rows[0], Mapping) and _are_records(rows[0], read):
        names = dict.fromkeys(str(name) for record in rows for name in record)
        return _records({name: [record.get(name) for record in rows] for name in names}, read, "records")
    return _records({"value": rows}, read, "list")


def _records(columns: dict[str, Column], read: Read, format: str) -> Records:
    rows = len(next(iter(columns.values()), ()))
    if not rows:
        raise InputError([finding("no-records", read.name)])
    if len(lengths := {name: len(column) for name, column in columns.items()}) > 1 and len({*lengths.values()}) > 1:
        raise InputError(
            [finding("columns-uneven", read.name, lengths=", ".join(f"{name} {n}" for name, n in lengths.items()))]
        )
    must_differ(list(columns), read, classes=False)
    apart = {name: values.lists_of_texts(column) for name, column in columns.items()}
    return Records(Origin(read.name, read.role, format, lambda row: row + 1), apart, rows)


def _plainer(given: Any) -> Any:
    """A lazy frame collected, an array of records as columns; anything else as it is."""
    if hasattr(given, "collect_schema") and not hasattr(given, "__arrow_c_stream__"):
        return given.collect()
    if isinstance(given, np.ndarray) and given.dtype.names:
        return {name: given[name] for name in given.dtype.names}
    if isinstance(given, np.ma.MaskedArray) and given.ndim == 1:
        return _column(given)
    if isinstance(given, np.ma.MaskedArray) and given.ndim == 2 and np.ma.is_masked(given):
        return np.ma.filled(given.astype(float), np.nan) if given.dtype.kind in "biuf" else given.tolist()
    if hasattr(given, "tocsr"):
        return given.tocsr()
    if isinstance(given, np.ndarray) and given.ndim not in (1, 2):
        message = f"an array of {given.ndim} dimensions holds neither labels nor label sets"
        way_out = "give one dimension (a label per item) or two (a row per item)"
        raise InputError([finding("bad-option", None, message=message, way_out=way_out)])
    return given


def _is_frame(given: Any) -> bool:
    if isinstance(given, np.ndarray):
        return False
    stream = hasattr(given, "__arrow_c_stream__") and not hasattr(given, "__array__")
    return stream or (hasattr(given, "columns") and hasattr(given, "__getitem__"))


def _is_nested(given: Any) -> bool:
    """Does a one-dimensional array or series hold lists or objects?"""
    if getattr(getattr(given, "dtype", None), "kind", "") in tuple("iufbUSMm") or _is_map(given):
        return False
    first = next((value for value in given[:100] if value is not None), None)
    first = getattr(first, "as_py", lambda: first)()
    return isinstance(first, (list, tuple, set, frozenset, Mapping, np.ndarray))


def _listed(given: Any) -> list[Any]:
    if type(given) is list:
        return given
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(given, name):
            return list(getattr(given, name)())
    if isinstance(given, Iterable):
        return list(given)
    raise InputError([_cannot(given, "give a path, a list, an array, a dict or a frame")])


def _cannot(given: Any, way_out: str, more: str = "") -> Any:
    return finding("bad-option", None, message=f"cannot read a {type(given).__name__}{more}", way_out=way_out)


def _are_records(record: Mapping[str, Any], read: Read) -> bool:
    roles = match_columns(list(map(str, record)), read.columns)
    if "value" in roles or shape(record, read) is not None:
        return True
    wide = {name: [value] for name, value in record.items() if isinstance(name, str)}
    return "id" in roles and bool(scores.class_columns(wide, True, read, roles))


def _mapping(given: Mapping[Any, Any], read: Read) -> Records:
    """A dict of id → value, or of column name → column."""
    columns = all(isinstance(column, (list, np.ndarray)) for column in given.values())
    roles = match_columns(list(map(str, given)), read.columns)
    wide = columns and "id" in roles and scores.class_columns({str(k): v for k, v in given.items()}, True, read, roles)
    if given and columns and ("value" in roles or wide or shape(list(map(str, given)), read)):
        return _records({str(name): _column(column) for name, column in given.items()}, read, "columns")
    return _records({"id": list(given), "value": list(given.values())}, read, "dict")


def _column(column: Any) -> Column:
    """A column of any library."""
    known = values.coded(column)
    if known is not None:
        return known
    if isinstance(column, list):
        return column
    if isinstance(column, np.ndarray) and column.dtype.kind in "Mm":
        return list(np.ma.filled(column, column.dtype.type("NaT")))
    if isinstance(column, np.ma.MaskedArray):
        return column.tolist()  # None where the mask is
    dtype = getattr(column, "dtype", None)
    if hasattr(column, "__array__") and isinstance(dtype, np.dtype) and dtype.kind in "iufbU":
        return np.asarray(column)
    listed = _listed(column)
    if _is_map(column):
        return _objects(listed)
    return [_named_fields(value) for value in listed] if _type(column).startswith("struct") else listed


def _type(column: Any) -> str:
    """How Arrow or Polars call what a column holds."""
    return str(getattr(column, "type", getattr(column, "dtype", ""))).lower()


def _is_map(column: Any) -> bool:
    return _type(column).startswith("map")


def _named_fields(value: Any) -> Any:
    """A struct without its empty fields: every row has every field, and null is one that it does not name."""
    return None if value is None else {key: member for key, member in value.items() if member is not None}


def _objects(maps: Sequence[Any]) -> Nested:
    """Maps with every key and value that they have: one that stands twice, or has no value, is a fault to be found."""
    maps = [list(m.items()) if isinstance(m, Mapping) else m for m in maps]
    pairs = [pair for m in maps for pair in m or ()]
    size = np.array([len(m or ()) for m in maps], np.int64)
    keys, members = (values.plain([pair[at] for pair in pairs]) for at in (0, 1))
    return Nested(size, values.spelt(keys), members, np.array([m is not None for m in maps], bool))


def _indicators(given: Any) -> Nested | None:
    """A matrix of zeros and ones, dense or of scipy.sparse, as label sets: a column's number is its label."""
    if getattr(given, "format", "") == "csr":
        if not given.has_canonical_format:  # several entries of a place are one, their sum
            given = given.copy()
            given.sum_duplicates()
        keep, size = given.data != 0, np.diff(given.indptr)
        if (given.data[keep] != 1).any():
            way_out = "give a matrix of zeros and ones, or scores as a dense array with -c probabilities"
            raise InputError([_cannot(given, way_out, " of other numbers than 0 and 1")])
        if keep.all():
            return _sets(size, given.indices)
        rows = len(size)
        row, column = np.repeat(np.arange(rows), size)[keep], given.indices[keep]
    elif isinstance(given, np.ndarray) and given.ndim == 2 and given.dtype.kind in "biuf":
        if given.dtype.kind != "b" and not ((given == 0) | (given == 1)).all():
            return None
        (row, column), rows = np.nonzero(given), len(given)
    else:
        return None
    return _sets(np.bincount(row, minlength=rows), column)


def _sets(size: Any, column: Any) -> Nested:
    names = [str(i) for i in range(int(column.max(initial=-1)) + 1)]
    return Nested(
        size.astype(np.int64), None, Codes(column.astype(np.int32, copy=False), names), np.ones(len(size), bool)
    )


def _frame(engine: Engine, frame: Any, read: Read) -> Records | Side:
    """A frame of pandas, Polars or PyArrow by its columns, anything else by its Arrow stream."""
    library = type(frame).__module__.split(".")[0]
    names = list(map(str, _own_names(frame)))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError([finding("repeated-column", read.name, None, name=twice)])
    must_differ(names, read, classes=False)
    if fast.ON:
        from karat.read.fast import frames

        ranking = frames.rankings(frame, read)
        if ranking is not None:
            return ranking
    if library not in ("pandas", "polars", "pyarrow") or not names:
        return _records(engine.columns(engine.stream(f"frame {read.role} {read.name}", frame)), read, library)
    return _records({str(name): _column(frame[name]) for name in _own_names(frame)}, read, library)


def _own_names(frame: Any) -> list[Any]:
    """Column names as the frame has them; a bare stream shows none."""
    names = getattr(frame, "column_names", None)
    return list(getattr(frame, "columns", ()) if names is None else names)
