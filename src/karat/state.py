# SPDX-License-Identifier: Apache-2.0
"""Objects of karat as plain data and back: the form in which results and cells are kept, without pickle.

What is written are names of karat's own (``@stored("metric")``), never modules: a class can move and be renamed, and
what was kept still opens. Only classes that have such a name are kept, and only they are made when a state is read.
"""

from __future__ import annotations

import dataclasses
import types
import typing
import zlib
from collections.abc import Callable, Iterable
from functools import cache, cached_property
from typing import Any, Literal, TypeVar, Union

import msgspec
import numpy as np

FORMAT = b"K1"
"""First bytes of a packed state; a later form will have others."""

T = TypeVar("T")


class StateError(ValueError):
    """A state that this version of karat cannot read."""


_CLASSES: dict[str, type] = {}
_NAMES: dict[type, str] = {}
_RESTORERS: dict[str, Callable[[dict[str, Any]], Any]] = {}


def stored(name: str) -> Callable[[type[T]], type[T]]:
    """Let objects of a class be kept, under a name that stays whatever becomes of the class.

    A dataclass's field with the metadata `UNSTORED` is left out. A class may have ``stored_as`` (what is kept in an
    object's place), ``state_version`` with ``upgrade_state`` (fields of an older form as its own), ``former_fields``
    (those that are not read any more) and ``check_state`` (raises ValueError where what was read does not hold together).
    """

    def named(cls: type[T]) -> type[T]:
        _claim(name)
        _CLASSES[name], _NAMES[cls] = cls, name
        return cls

    return named


def restored(name: str) -> Callable[[Callable[[dict[str, Any]], T]], Callable[[dict[str, Any]], T]]:
    """What objects of a class that is kept no more become: the function is given their fields."""

    def named(function: Callable[[dict[str, Any]], T]) -> Callable[[dict[str, Any]], T]:
        _claim(name)
        _RESTORERS[name] = function
        return function

    return named


def _claim(name: str) -> None:
    if name in _CLASSES or name in _RESTORERS:
        raise ValueError(f"the stored name {name!r} is taken")


UNSTORED = {"stored": False}
"""Metadata of a dataclass's field that is kept elsewhere, or made anew when it is needed."""

FORMER = {
    "karat.cells:Cells": "cells",
    "karat.cells:Sparse": "sparse",
    "karat.evaluation:Detail": "detail",
    "karat.evaluation:Interval": "interval",
    "karat.evaluation:Score": "score",
    "karat.evaluation:SystemResult": "system",
    "karat.findings:Finding": "finding",
    "karat.hierarchy:Hierarchy": "hierarchy",
    "karat.metric:Metric": "metric",
    "karat.metric:Result": "result",
    "karat.contexts.clustering.cells:Clusters": "clustering-cells",
    "karat.contexts.monolabel:MonoLabelCells": "monolabel-cells",
    "karat.contexts.multilabel:MultiLabelCells": "multilabel-cells",
    "karat.contexts.ranking.cells:RankingCells": "ranking-cells",
    "karat.contexts.ranking.rows:Rows": "ranking-rows",
    "karat.contexts.soft.cells:SoftCells": "soft-cells",
    "karat.contexts.spans.annotated:Encoded": "spans-encoded-ids",
    "karat.contexts.spans.annotated:Numbered": "spans-numbered-ids",
    "karat.contexts.spans.cells:SpansCells": "spans-cells",
    "karat.contexts.spans.data:Matching": "spans-matching",
    "karat.contexts.spans.data:SpanData": "spans-data",
    "karat.contexts.spans.later:LaterDetail": "detail",
    "karat.contexts.spans.span:Spans": "spans",
    "karat.contexts.spans.tags:Tagged": "spans-tags",
    "karat.contexts.splitting.bundles:Bundles": "splitting-cells",
    "karat.contexts.splitting.bundles:Stream": "splitting-stream",
    "karat.contexts.splitting.pages:Pages": "splitting-pages",
}
"""Stored names of classes by what stood in their place when modules were written; it never grows."""

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


def _object(value: Any, seen: Seen) -> Any:
    if id(value) in seen:
        return {"$": "again", "number": seen[id(value)][0]}
    if hasattr(value, "stored_as"):
        return to_state(value.stored_as(), seen)
    number, cls = len(seen), type(value)
    seen[id(value)] = number, value
    if cls not in _NAMES:
        raise StateError(
            f"{cls.__module__}.{cls.__qualname__} cannot be kept; keep arrays, texts, numbers or karat's objects"
        )
    fields = {name: to_state(v, seen) for name, v in _fields(value).items()}
    return {"$": _NAMES[cls], "number": number, "version": getattr(cls, "state_version", 1), "fields": fields}


def _fields(value: Any) -> dict[str, Any]:
    cls: type = type(value)
    if dataclasses.is_dataclass(value) or isinstance(value, msgspec.Struct):
        return {name: getattr(value, name) for name in _field_names(cls)}
    kept = getattr(cls, "per_cell", ())
    return {
        name: v
        for name, v in vars(value).items()
        if name in kept or not isinstance(getattr(cls, name, None), cached_property)
    }


@cache
def _field_names(cls: type) -> tuple[str, ...]:
    """Fields that are kept, of a class that declares its fields."""
    if issubclass(cls, msgspec.Struct):
        return cls.__struct_fields__
    return tuple(f.name for f in dataclasses.fields(cls) if f.metadata.get("stored", True))  # type: ignore[arg-type]


Made = dict[int, Any]


def from_state(state: Any, known: Made | None = None) -> Any:
    """What `to_state` was given. Only classes with a stored name are made, and no code of theirs runs but
    ``upgrade_state`` and ``check_state``.
    """
    known = {} if known is None else known
    if isinstance(state, list):
        return [from_state(v, known) for v in state] if not _all_plain(state) else state
    if not isinstance(state, dict):
        return state
    tag = state["$"]
    if tag in _MAKERS:
        return _MAKERS[tag](state, known)
    return _restored(state, known)


def _texts(state: dict[str, Any], known: Made) -> Any:
    kind = object if state["dtype"] == "O" else str
    out = np.empty(len(state["data"]), object)
    out[:] = state["data"]
    return out.astype(kind).reshape(state["shape"])


def _numbers(state: dict[str, Any], known: Made) -> Any:
    small = np.frombuffer(state["data"], np.dtype(state["as"]).newbyteorder("<"))
    return small.astype(np.dtype(state["dtype"])).reshape(state["shape"])


_MAKERS: dict[str, Any] = {
    "texts": _texts,
    "array": _numbers,
    "range": lambda s, known: range(*s["items"]),
    "tuple": lambda s, known: tuple(from_state(v, known) for v in s["items"]),
    "dict": lambda s, known: {from_state(k, known): from_state(v, known) for k, v in s["items"]},
    "again": lambda s, known: known[s["number"]],
}


def _restored(state: dict[str, Any], known: Made) -> Any:
    name, number = FORMER.get(state["$"], state["$"]), state["number"]
    if name in _RESTORERS:
        known[number] = _RESTORERS[name]({k: from_state(v, known) for k, v in state["fields"].items()})
        return known[number]
    if name not in _CLASSES:
        raise StateError(f"this version of karat keeps no {name!r}")
    cls = _CLASSES[name]
    if issubclass(cls, msgspec.Struct):
        known[number] = cls(**_read(cls, state, known))
        return known[number]
    out: Any = object.__new__(cls)
    known[number] = out  # before its fields, which may refer to it
    for key, value in _read(cls, state, known).items():
        object.__setattr__(out, key, value)
    if hasattr(out, "check_state"):
        out.check_state()
    return out


def _read(cls: Any, state: dict[str, Any], known: Made) -> dict[str, Any]:
    """The fields of an object as its class has them now."""
    version, current = state["version"], getattr(cls, "state_version", 1)
    if version > current:
        raise StateError(f"{_NAMES[cls]!r} was kept by a newer karat (form {version}, this one knows {current})")
    left_out = {f.name for f in _dataclass_fields(cls) if not f.metadata.get("stored", True)}
    left_out |= set(getattr(cls, "former_fields", ()))
    fields = {k: from_state(v, known) for k, v in state["fields"].items() if k not in left_out}
    if version < current:
        fields = cls.upgrade_state(fields, version)
    return _whole(cls, fields) if dataclasses.is_dataclass(cls) or issubclass(cls, msgspec.Struct) else fields


def _dataclass_fields(cls: type) -> Iterable[dataclasses.Field[Any]]:
    return dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()


def _whole(cls: type, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields with defaults for those that the class gained since, if all are there and of their kinds."""
    strange = fields.keys() - set(_field_names(cls))
    if strange:
        raise StateError(f"{_NAMES[cls]!r} has no field {min(strange)!r}")
    wrong = [name for name, value in fields.items() if not _fits(value, _hints(cls).get(name, Any))]
    if wrong:
        raise StateError(f"the field {wrong[0]!r} of {_NAMES[cls]!r} is of another kind than it must be")
    fields = _defaults(cls) | fields
    missing = [name for name in _field_names(cls) if name not in fields and dataclasses.is_dataclass(cls)]
    if missing:
        raise StateError(f"{_NAMES[cls]!r} lacks its field {missing[0]!r}")
    return fields


def _defaults(cls: type) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for f in _dataclass_fields(cls):
        if f.default is not dataclasses.MISSING:
            out[f.name] = f.default
        elif f.default_factory is not dataclasses.MISSING:
            out[f.name] = f.default_factory()
    return out


@cache
def _hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def _fits(value: Any, hint: Any) -> bool:
    """Is the value of the kind that an annotation says? What an annotation leaves open, any value fits."""
    kind, inner = typing.get_origin(hint), typing.get_args(hint)
    if kind in (Union, types.UnionType):
        return any(_fits(value, member) for member in inner)
    if kind is Literal:
        return value in inner
    if kind is tuple and inner and Ellipsis not in inner:
        return isinstance(value, tuple) and len(value) == len(inner) and all(map(_fits, value, inner))
    if hint is Any or not isinstance(kind or hint, type):
        return True
    if not isinstance(value, kind or hint):
        return hint is float and type(value) is int
    if isinstance(value, dict):
        return all(_fits(k, inner[0]) and _fits(v, inner[1]) for k, v in value.items()) if inner else True
    return all(_fits(v, inner[0]) for v in value) if inner and isinstance(value, (list, tuple)) else True


def pack(value: Any) -> bytes:
    """``value`` as compressed bytes."""
    return FORMAT + zlib.compress(msgspec.msgpack.encode(to_state(value)), 6)


def unpack(data: bytes, most: int | None = None) -> Any:
    """What `pack` was given; ``most`` is how many bytes it may take unpacked."""
    data = bytes(data)
    if data[:2] != FORMAT:
        raise StateError(f"not a packed state of a form that this version knows ({data[:2]!r})")
    try:
        return from_state(msgspec.msgpack.decode(_inflated(data[2:], most)))
    except StateError:
        raise
    except (zlib.error, ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise StateError(f"a packed state is damaged: {error}") from error


def _inflated(data: bytes, most: int | None) -> bytes:
    if most is None:
        return zlib.decompress(data)
    stream = zlib.decompressobj()
    out = stream.decompress(data, most)
    if stream.unconsumed_tail or not stream.eof:
        raise StateError(f"a packed state is cut off, or unpacks to more than {most:,} bytes")
    return out
