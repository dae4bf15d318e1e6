# SPDX-License-Identifier: Apache-2.0
"""Rankings as dicts of dicts, in memory or as JSON: query → document → number."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from itertools import chain
from math import copysign, inf
from typing import Any, SupportsFloat

import msgspec
import numpy as np

from karat.columns import Floats, Text
from karat.findings import LIMIT, InputError, finding
from karat.read.names import NAMES
from karat.read.source import Source
from karat.read.table import Read, side_table
from karat.side import Origin, Side, by_query
from karat.values import name_of

_OBJECT = re.compile(
    rb'\{\s*"((?:[^"\\]|\\.)*)"\s*:\s*\{\s*(?:\}|"(?:[^"\\]|\\.)*"\s*:\s*(?:-?\d|-?Infinity|NaN|null))'
)


def is_rankings(source: Source) -> bool:
    match = _OBJECT.match(source.start)
    usual = {name for names in NAMES.values() for name in names}
    return bool(match) and match[1].decode(errors="replace").lower() not in usual  # type: ignore[index]


def read_rankings(engine: Any, source: Source, read: Read) -> Side:
    """A JSON file of query → document → grade or score."""
    data = source.bytes()
    given: dict[str, dict[str, float]] | None
    try:
        given = msgspec.json.decode(data, type=dict[str, dict[str, float]])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        given = _with_odd_numbers(data)
        if given is None:
            raise InputError(source.encoding_findings() or [finding("bad-json", source.name, reason=error)]) from error
    if data.count(b":") > len(given) + sum(map(len, given.values())):  # a key is there twice, or holds a colon
        _check_keys(data, source.name)
    return read_dicts(given, read, "rankings")


def _with_odd_numbers(data: bytes) -> dict[str, dict[str, float]] | None:
    """The same where NaN, Infinity or a number of 400 digits stands, as other programs write them; they are judged later."""
    try:
        given = json.loads(data)
        numbers = [value for inner in given.values() for value in inner.values()]
        "".join(chain(given, *given.values())).encode()  # half of a surrogate pair is no text
    except (ValueError, AttributeError):
        return None
    return given if all(type(value) in (int, float) for value in numbers) else None


def _check_keys(data: bytes, name: str) -> None:
    """Refuse an object with a key twice: readers of JSON keep the last of them and say nothing."""
    twice: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> None:
        times = Counter(key for key, _ in items)
        twice.extend(key for key in times if times[key] > 1)

    json.loads(data, object_pairs_hook=pairs)
    if twice:
        raise InputError([finding("repeated-key", name, key=key) for key in twice[:LIMIT]])


def is_dicts(given: Any) -> bool:
    """Is it a dict of dicts of numbers?"""
    inner = next(iter(given.values()), None) if isinstance(given, Mapping) else None
    return isinstance(inner, Mapping)


def read_dicts(given: Mapping[Any, Mapping[Any, Any]], read: Read, format: str = "dict") -> Side:
    """A dict of query → document → grade or score, as pytrec_eval takes it."""
    items = [(query, inner) for query, inner in given.items() if len(inner)]
    if not items:
        raise InputError([finding("no-records", read.name)])
    size = np.fromiter((len(inner) for _, inner in items), np.int64, len(items))
    document = Text.of([d if type(d) is str else _id(d, read) for _, inner in items for d in inner])
    query = Text.of([q if type(q) is str else _id(q, read) for q, _ in items])
    columns = {"document": document, "number": _numbers(items, int(size.sum()), read)}
    origin = Origin(read.name, read.role, format, lambda record: record + 1)
    return side_table(by_query(origin, query, size, columns), [])


def _id(key: Any, read: Read) -> str:
    """A key that is no text, spelt as in a file."""
    text = name_of(key)
    if text is None:
        raise InputError([finding("missing-field", read.name, field="id")])
    return text


def _numbers(items: list[tuple[Any, Mapping[Any, Any]]], size: int, read: Read) -> Floats:
    try:
        return np.fromiter((value for _, inner in items for value in inner.values()), float, size)
    except (TypeError, ValueError, OverflowError):
        every = [(q, d, value) for q, inner in items for d, value in inner.items()]
    field = "value of {!r} for {!r}".format
    bad = [(q, d, value) for q, d, value in every if not isinstance(value, SupportsFloat)]
    if bad:
        raise InputError([finding("not-a-number", read.name, field=field(d, q), text=v) for q, d, v in bad[:LIMIT]])
    return np.array([_float(value) for _, _, value in every])


def _float(value: SupportsFloat) -> float:
    """A number; one with too many digits is infinite, as it is in a text file."""
    try:
        return float(value)
    except OverflowError:
        return copysign(inf, 1 if value > 0 else -1)  # type: ignore[operator]
