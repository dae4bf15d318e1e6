# SPDX-License-Identifier: Apache-2.0
"""Objects of karat as plain data and back: the form in which cells are kept, without pickle."""

from __future__ import annotations

import dataclasses
import zlib
from functools import cached_property
from importlib import import_module
from typing import Any

import msgspec
import numpy as np

FORMAT = b"K1"
"""First bytes of a packed state; a later form will have others."""


class StateError(ValueError):
    """A state that this version of karat cannot read."""


def to_state(value: Any) -> Any:
    """``value`` as plain data: arrays, texts, numbers, lists and tagged dicts.

    Objects of karat's classes are their fields, so a context's cells need no code of their own.
    What a cached property holds is left out, unless the class names it in ``per_cell``.
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, list):
        return [to_state(v) for v in value] if not _all_plain(value) else value
    if isinstance(value, (tuple, range)):
        return {
            "$": type(value).__name__,
            "items": _range(value) if isinstance(value, range) else [*map(to_state, value)],
        }
    if isinstance(value, dict):
        return {"$": "dict", "items": [[to_state(k), to_state(v)] for k, v in value.items()]}
    return _object(value)


def _all_plain(values: list[Any]) -> bool:
    return all(type(v) is str for v in values)


def _range(value: range) -> list[int]:
    return [value.start, value.stop, value.step]


def _array(value: np.ndarray[Any, Any]) -> dict[str, Any]:
    shape = list(value.shape)
    if value.dtype.kind in "OU":
        return {
            "$": "texts",
            "dtype": value.dtype.kind,
            "shape": shape,
            "data": [*map(to_state, value.ravel().tolist())],
        }
    small = _narrow(value)
    data = np.ascontiguousarray(small).astype(small.dtype.newbyteorder("<")).tobytes()
    return {
        "$": "array",
        "dtype": value.dtype.str.lstrip("<>=|"),
        "as": small.dtype.str.lstrip("<>=|"),
        "shape": shape,
        "data": data,
    }


def _narrow(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Whole numbers in the fewest bytes that hold them all; anything else as it is."""
    if value.dtype.kind not in "iuf" or not value.size:
        return value
    low, high = value.min(), value.max()
    if not (np.isfinite(low) and np.isfinite(high)) or abs(low) > 2**53 or abs(high) > 2**53:
        return value
    for kind in (np.int8, np.int16, np.int32):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            small = value.astype(kind)
            return small if value.dtype.kind != "f" or _same(small, value) else value
    return value


def _same(small: np.ndarray[Any, Any], value: np.ndarray[Any, Any]) -> bool:
    return bool(np.array_equal(small, value) and not np.signbit(value[value == 0]).any())


def _object(value: Any) -> dict[str, Any]:
    cls = type(value)
    if not _ours(cls.__module__):
        raise StateError(
            f"{cls.__module__}.{cls.__qualname__} cannot be kept; keep arrays, texts, numbers or karat's objects"
        )
    fields = {name: to_state(v) for name, v in _fields(value).items()}
    return {"$": f"{cls.__module__}:{cls.__qualname__}", "version": getattr(cls, "state_version", 1), "fields": fields}


def _ours(module: str) -> bool:
    return module == "karat" or module.startswith("karat.")


def _fields(value: Any) -> dict[str, Any]:
    if dataclasses.is_dataclass(value):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    cls, kept = type(value), getattr(type(value), "per_cell", ())
    return {
        name: v
        for name, v in vars(value).items()
        if name in kept or not isinstance(getattr(cls, name, None), cached_property)
    }


def from_state(state: Any) -> Any:
    """What `to_state` was given. Only classes of karat are made, and none of their code but ``upgrade_state`` runs."""
    if isinstance(state, list):
        return [from_state(v) for v in state] if not _all_plain(state) else state
    if not isinstance(state, dict):
        return state
    tag = state["$"]
    if tag in _MAKERS:
        return _MAKERS[tag](state)
    return _made(state)


def _texts(state: dict[str, Any]) -> Any:
    kind = object if state["dtype"] == "O" else str
    out = np.empty(len(state["data"]), object)
    out[:] = state["data"]
    return out.astype(kind).reshape(state["shape"])


def _numbers(state: dict[str, Any]) -> Any:
    small = np.frombuffer(state["data"], np.dtype(state["as"]).newbyteorder("<"))
    return small.astype(np.dtype(state["dtype"])).reshape(state["shape"])


_MAKERS: dict[str, Any] = {
    "texts": _texts,
    "array": _numbers,
    "range": lambda s: range(*s["items"]),
    "tuple": lambda s: tuple(from_state(v) for v in s["items"]),
    "dict": lambda s: {from_state(k): from_state(v) for k, v in s["items"]},
}


def _made(state: dict[str, Any]) -> Any:
    cls = _class(state["$"])
    fields, version = state["fields"], state["version"]
    current = getattr(cls, "state_version", 1)
    if version > current:
        raise StateError(f"{state['$']} was kept by a newer karat (form {version}, this one knows {current})")
    fields = {name: from_state(v) for name, v in fields.items()}
    if version < current:
        fields = cls.upgrade_state(fields, version)
    out = object.__new__(cls)
    for name, value in fields.items():
        object.__setattr__(out, name, value)
    return out


def _class(tag: str) -> Any:
    module, _, name = tag.partition(":")
    if not _ours(module) or not name.isidentifier():
        raise StateError(f"{tag!r} is not a class of karat")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError):
        raise StateError(f"this version of karat has no {tag}") from None
    if not isinstance(found, type):
        raise StateError(f"{tag!r} is not a class of karat")
    return found


def pack(value: Any) -> bytes:
    """``value`` as compressed bytes."""
    return FORMAT + zlib.compress(msgspec.msgpack.encode(to_state(value)), 6)


def unpack(data: bytes) -> Any:
    """What `pack` was given."""
    data = bytes(data)
    if data[:2] != FORMAT:
        raise StateError(f"not a packed state of a form that this version knows ({data[:2]!r})")
    try:
        return from_state(msgspec.msgpack.decode(zlib.decompress(data[2:])))
    except (zlib.error, msgspec.DecodeError) as error:
        raise StateError(f"a packed state is damaged: {error}") from error
