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


Seen = dict[int, tuple[int, Any]]
"""Objects that were met, by their identity: their number, and the object so that it lives on."""


def to_state(value: Any, seen: Seen | None = None) -> Any:
    """``value`` as plain data: arrays, texts, numbers, lists and tagged dicts.

    Objects of karat's classes are their fields, so a context's cells need no code of their own.
    What a cached property holds is left out, unless the class names it in ``per_cell``. An object
    that is met twice is kept once.
    """
    seen = {} if seen is None else seen
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, list):
        return [to_state(v, seen) for v in value] if not _all_plain(value) else value
    if isinstance(value, (tuple, range)):
        return {
            "$": type(value).__name__,
            "items": _range(value) if isinstance(value, range) else [to_state(v, seen) for v in value],
        }
    if isinstance(value, dict):
        return {"$": "dict", "items": [[to_state(k, seen), to_state(v, seen)] for k, v in value.items()]}
    return _object(value, seen)


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


def _object(value: Any, seen: Seen) -> dict[str, Any]:
    if id(value) in seen:
        return {"$": "again", "number": seen[id(value)][0]}
    number, cls = len(seen), type(value)
    seen[id(value)] = number, value
    if not _ours(cls.__module__):
        raise StateError(
            f"{cls.__module__}.{cls.__qualname__} cannot be kept; keep arrays, texts, numbers or karat's objects"
        )
    fields = {name: to_state(v, seen) for name, v in _fields(value).items()}
    return {
        "$": f"{cls.__module__}:{cls.__qualname__}",
        "number": number,
        "version": getattr(cls, "state_version", 1),
        "fields": fields,
    }


def _ours(module: str) -> bool:
    return module == "karat" or module.startswith("karat.")


def _fields(value: Any) -> dict[str, Any]:
    if dataclasses.is_dataclass(value):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if isinstance(value, msgspec.Struct):
        return {name: getattr(value, name) for name in value.__struct_fields__}
    cls, kept = type(value), getattr(type(value), "per_cell", ())
    return {
        name: v
        for name, v in vars(value).items()
        if name in kept or not isinstance(getattr(cls, name, None), cached_property)
    }


Made = dict[int, Any]


def from_state(state: Any, made: Made | None = None) -> Any:
    """What `to_state` was given. Only classes of karat are made, and none of their code but ``upgrade_state`` runs."""
    made = {} if made is None else made
    if isinstance(state, list):
        return [from_state(v, made) for v in state] if not _all_plain(state) else state
    if not isinstance(state, dict):
        return state
    tag = state["$"]
    if tag in _MAKERS:
        return _MAKERS[tag](state, made)
    return _made(state, made)


def _texts(state: dict[str, Any], made: Made) -> Any:
    kind = object if state["dtype"] == "O" else str
    out = np.empty(len(state["data"]), object)
    out[:] = state["data"]
    return out.astype(kind).reshape(state["shape"])


def _numbers(state: dict[str, Any], made: Made) -> Any:
    small = np.frombuffer(state["data"], np.dtype(state["as"]).newbyteorder("<"))
    return small.astype(np.dtype(state["dtype"])).reshape(state["shape"])


_MAKERS: dict[str, Any] = {
    "texts": _texts,
    "array": _numbers,
    "range": lambda s, made: range(*s["items"]),
    "tuple": lambda s, made: tuple(from_state(v, made) for v in s["items"]),
    "dict": lambda s, made: {from_state(k, made): from_state(v, made) for k, v in s["items"]},
    "again": lambda s, made: made[s["number"]],
}


def _made(state: dict[str, Any], made: Made) -> Any:
    cls = _class(state["$"])
    fields, version = state["fields"], state["version"]
    current = getattr(cls, "state_version", 1)
    if version > current:
        raise StateError(f"{state['$']} was kept by a newer karat (form {version}, this one knows {current})")
    if issubclass(cls, msgspec.Struct):
        made[state["number"]] = cls(**{name: from_state(v, made) for name, v in fields.items()})
        return made[state["number"]]
    out = made[state["number"]] = object.__new__(cls)
    fields = {name: from_state(v, made) for name, v in fields.items()}
    if version < current:
        fields = cls.upgrade_state(fields, version)
    for name, value in (_defaults(cls) | fields).items():
        object.__setattr__(out, name, value)
    return out


def _defaults(cls: type) -> dict[str, Any]:
    """Values of fields that a class gained since its objects were kept."""
    out = {}
    for f in dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ():
        if f.default is not dataclasses.MISSING:
            out[f.name] = f.default
        elif f.default_factory is not dataclasses.MISSING:
            out[f.name] = f.default_factory()
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
    except StateError:
        raise
    except (zlib.error, ValueError, LookupError, TypeError, AttributeError) as error:
        raise StateError(f"a packed state is damaged: {error}") from error
