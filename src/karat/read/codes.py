# SPDX-License-Identifier: Apache-2.0
"""Columns of labels in memory as integer codes: taken where they exist, made by exact hashing where they do not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.contexts.base import Coded

Array = NDArray[Any]


def code_column(column: Any) -> Coded:
    """The codes of a list, array or series; −1 is missing."""
    made = _LIBRARIES.get(type(column).__module__.split(".")[0])
    found = made(column) if made else None
    if found is not None:
        return found
    return factorise(np.asarray(column) if hasattr(column, "__array__") else object_array(column))


def object_array(values: Iterable[Any]) -> Array:
    """A one-dimensional array of objects, whatever they are."""
    values = list(values)
    out = np.empty(len(values), object)
    out[:] = values
    return out


def _of_pandas(column: Any) -> Coded | None:
    """A categorical's own codes; the texts of a string column without Python objects for the repeats."""
    held = getattr(column, "cat", column)
    if hasattr(held, "codes") and hasattr(held, "categories"):
        return named_codes(np.asarray(held.codes), held.categories.tolist())
    return None


def _of_polars(column: Any) -> Coded | None:
    import polars

    if column.dtype == polars.Enum:
        values = column.dtype.categories.to_list()
        return named_codes(column.to_physical().cast(polars.Int64).fill_null(-1).to_numpy(), values)
    if column.dtype not in (polars.Categorical, polars.String):
        return None
    values = column.unique(maintain_order=True).drop_nulls().cast(polars.String)
    codes = column.cast(polars.Enum(values)).to_physical().cast(polars.Int64).fill_null(-1)
    return named_codes(codes.to_numpy(), values.to_list())


def _of_arrow(column: Any) -> Coded | None:
    from pyarrow import types

    whole = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    if types.is_string(whole.type) or types.is_large_string(whole.type):
        whole = whole.dictionary_encode()
    if not types.is_dictionary(whole.type):
        return None
    return named_codes(whole.indices.fill_null(-1).to_numpy(zero_copy_only=False), whole.dictionary.to_pylist())


_LIBRARIES: dict[str, Callable[[Any], Coded | None]] = {
    "pandas": _of_pandas,
    "polars": _of_polars,
    "pyarrow": _of_arrow,
}


def named_codes(codes: Array, values: Sequence[Any]) -> Coded:
    """Codes as they are, their values as labels; values that read alike are one label."""
    names = [label_of(v) for v in values]
    if len(set(names)) == len(names) and None not in names:
        return Coded(codes, [str(n) for n in names])
    at: dict[str, int] = {}
    lookup = [-1 if n is None else at.setdefault(n, len(at)) for n in names]
    return Coded(np.array([*lookup, -1], np.int64)[codes], list(at))


def label_of(value: Any) -> str | None:
    """The label that a value is, spelt as in a JSON file (1.0 as 1, which it equals); None where it is missing."""
    if isinstance(value, str):
        return value
    if value is None or _is_missing(value):
        return None
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)):
        return str(value).removesuffix(".0")
    return value.decode() if isinstance(value, bytes) else str(value)


def _is_missing(value: Any) -> bool:
    """NaN differs from itself; pandas.NA will not say."""
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return True


def factorise(values: Array) -> Coded:
    """Integer codes of an array's values and their texts, in linear time."""
    kind = values.dtype.kind
    if kind == "O":
        return _factorise_objects(values)
    if kind in "iu" and len(values):
        low, high = int(values.min()), int(values.max())
        if high - low <= 4 * len(values) + 1000:
            return _shifted(values, low, high)
    holders, codes = distinct(_words(values))
    found = values[holders]
    return named_codes(codes, list(found) if kind == "f" else found.tolist())


def _shifted(values: Array, low: int, high: int) -> Coded:
    """Integers of a narrow range are codes already."""
    codes = values if low == 0 and values.dtype.kind == "i" else values.astype(np.int64) - low
    return Coded(codes, [str(v) for v in range(low, high + 1)])


def _factorise_objects(values: Array) -> Coded:
    table: defaultdict[Any, int] = defaultdict(count().__next__)
    given = values.tolist()
    codes = np.fromiter(map(table.__getitem__, given), np.int64, len(values))
    if any(isinstance(v, (int, float)) for v in table) and bool in map(type, given):  # 1 == True, yet spelt otherwise
        return _factorise_objects(object_array(map(label_of, given)))
    return named_codes(codes, list(table))


def _words(values: Array) -> NDArray[np.uint64]:
    """Each value as one or more 64-bit words, equal where and only where the values are."""
    kind = values.dtype.kind
    if kind == "f":
        values = values.astype(np.float64) + 0.0  # −0.0 is 0.0
        values[np.isnan(values)] = np.nan
    if kind == "U":
        values = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
        letters = values.view(np.uint32).reshape(len(values), -1)
        narrow = letters.size and letters.max() < 256
        return _packed(letters.astype(np.uint8) if narrow else letters)
    flat = np.ascontiguousarray(values)
    return _packed(flat.view(np.uint8).reshape(len(flat), -1))


def _packed(parts: Array) -> NDArray[np.uint64]:
    """Rows of bytes or letters, filled up with zeros to whole words."""
    rows, width = parts.shape
    each = 8 // parts.itemsize
    if width % each or not width:
        padded = np.zeros((rows, max(1, -(-width // each)) * each), parts.dtype)
        padded[:, :width] = parts
        parts = padded
    return np.ascontiguousarray(parts).view(np.uint64).reshape(rows, -1)


_MULTIPLIERS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93], np.uint64)


def distinct(words: NDArray[np.uint64]) -> tuple[Array, Array]:
    """A row that holds each distinct value, and the code of every row.

    Every row is compared with the row that holds its slot, so that the result is exact. Values that lost
    their slot to another go through the next round, with another hash and more slots.
    """
    codes = np.full(len(words), -1, np.int32)
    holders: list[Array] = []
    rows, bits, known = np.arange(len(words), dtype=np.int32), 16, 0
    while len(rows):
        part = words if len(rows) == len(words) else words[rows]
        slot = _slots(part, bits, len(holders))
        holder = np.full(1 << bits, -1, np.int32)
        holder[slot] = np.arange(len(rows), dtype=np.int32)
        same = _equal(part, holder[slot])
        used = np.flatnonzero(holder >= 0)
        number = np.empty(1 << bits, np.int32)
        number[used] = np.arange(known, known + len(used), dtype=np.int32)
        codes[rows if len(rows) < len(words) else slice(None)] = number[slot]
        holders.append(rows[holder[used]])
        known += len(used)
        rows = rows[~same] if not same.all() else rows[:0]
        bits = max(16, min(24, int(4 * len(rows)).bit_length()))
    return np.concatenate(holders) if holders else rows, codes


def _slots(words: NDArray[np.uint64], bits: int, turn: int) -> Array:
    """The top bits of a multiplicative hash; every round mixes differently."""
    multiplier = _MULTIPLIERS[turn % 4] + np.uint64(2 * (turn // 4))
    mixed = words[:, 0] * multiplier
    for column in range(1, words.shape[1]):
        mixed ^= mixed >> np.uint64(29)
        mixed += words[:, column]
        mixed *= multiplier
    mixed ^= mixed >> np.uint64(32)
    mixed *= multiplier
    return (mixed >> np.uint64(64 - bits)).astype(np.int32)


def _equal(words: NDArray[np.uint64], others: Array) -> NDArray[np.bool_]:
    same = words[:, 0] == words[others, 0]
    for column in range(1, words.shape[1]):
        same &= words[:, column] == words[others, column]
    return same
