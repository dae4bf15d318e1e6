# SPDX-License-Identifier: Apache-2.0
"""Small JSON files in one sweep: where every record is like the first, keys and values are columns without the engine."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np

from karat.contexts.base import Keys
from karat.contexts.entries import Entries
from karat.read.source import Source
from karat.read.table import match_columns

SMALL = 1 << 24
"""Bytes up to which every record is decoded; of larger files the engine takes a sample to learn their fields."""
MOST = 100
"""Fields up to which records are compared with the first."""

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"(\s*:)?', re.S)


@dataclass(frozen=True, eq=False)
class Swept:
    """What a file says: the fields of its records with their types, the kind of its values, and its columns."""

    types: dict[str, str]
    kind: str
    keys: Keys
    values: Entries


def fields(source: Source, format: str) -> dict[str, str] | None:
    """The fields of any record of a small file, in order of appearance; None where it cannot be decoded."""
    if source.path.stat().st_size > SMALL:
        return {}
    try:
        return dict.fromkeys(chain.from_iterable(_decoded(source.bytes(), format, dict[str, msgspec.Raw])), "")
    except (msgspec.DecodeError, UnicodeError):
        return None


def sweep(source: Source, format: str, columns: Mapping[str, str]) -> Swept | None:
    """A small file in which every record has the first one's fields, each once, and its kind of value; else None."""
    first = _first(source) if source.path.stat().st_size <= SMALL else {}
    roles = match_columns(list(first), columns)
    kind = _kind(first[roles["value"]]) if "value" in roles else None
    if kind is None or not _is_plain(first, roles):
        return None
    kinds = {name: _KINDS[kind] if name == roles["value"] else type(v) for name, v in first.items()}
    column = _columns(source.bytes(), format, kinds, roles["value"])
    if column is None:
        return None
    types = {name: "JSON" if name == roles["value"] else "VARCHAR" for name in first}
    swept = Swept(types, kind, _keys(column, roles), _ENTRIES[kind](column[roles["value"]]))
    return None if _may_be_blank(swept) else swept


def _columns(content: bytes, format: str, kinds: Mapping[str, Any], value: str) -> dict[str, list[Any]] | None:
    """The columns of records that have exactly these fields; None where a record has others, or one of them twice."""
    try:
        records = _decoded(content, format, _like(kinds))
    except (msgspec.DecodeError, ValueError):
        return None
    column = {name: list(map(attrgetter(f"_{i}"), records)) for i, name in enumerate(kinds)}
    names = len(kinds) * len(records) + sum(map(len, column[value] if isinstance(column[value][0], dict) else ()))
    # As a number, −0 would lose its sign, and as an id it is a text.
    unsigned = int in kinds.values() and b"-0" in content
    return None if unsigned or not _each_once(content, names) else column


def _first(source: Source) -> dict[str, Any]:
    head = source.sniff().decode(errors="replace")
    try:
        found = json.JSONDecoder().raw_decode(head, head.index("{"))[0]
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


_KINDS: dict[str, Any] = {"label": str, "labels": list[str], "weights": dict[str, float], "votes": dict[str, str]}


def _kind(value: Any) -> str | None:
    """What the first value is; None where one value cannot tell, or where it takes the context to tell."""
    if isinstance(value, str):
        return "label"
    types = set(map(type, value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()))
    if isinstance(value, list):
        return "labels" if types <= {str} else None
    if not isinstance(value, dict) or not types:
        return None
    return "votes" if types == {str} else "weights" if types <= {int, float} else None


def _is_plain(record: Mapping[str, Any], roles: Mapping[str, str]) -> bool:
    """Are all fields but the value texts (ids may be whole numbers), and are there not two that differ by case alone?"""
    keys = [roles[role] for role in ("test_case", "id") if role in roles]
    rest = [name for name in record if name != roles["value"] and name not in keys]
    plain = {type(record[k]) for k in keys} <= {int, str} and {type(record[name]) for name in rest} <= {str}
    return plain and len(record) == len({name.lower() for name in record}) <= MOST


def _keys(column: Mapping[str, list[Any]], roles: Mapping[str, str]) -> Keys:
    """Test cases and ids as text; records without ids are paired by position."""
    rows = len(column[roles["value"]])
    cases = column[roles["test_case"]] if "test_case" in roles else list(repeat("", rows))
    ids = column[roles["id"]] if "id" in roles else list(range(1, rows + 1))
    return Keys(_texts(cases), _texts(ids))


def _texts(column: list[Any]) -> list[str]:
    return column if isinstance(column[0], str) else list(map(str, column))


def _each_once(content: bytes, names: int) -> bool:
    """Is the number of names in the text the one of those decoded? Of a name that is there twice only one is."""
    return content.count(b":") == names or sum(map(bool, _STRING.findall(content))) == names


def _may_be_blank(swept: Swept) -> bool:
    """Is there an id or a label that sorts before the first letter or sign? Then the engine looks closely.

    Test cases may all be blank, but not some of them.
    """
    labels, cases = swept.values.labels, swept.keys.test_case
    return min(swept.keys.id) < "!" or (swept.kind == "label" and labels[0] < "!") or min(cases) < "!" <= max(cases)


def _of_label(values: list[str]) -> Entries:
    labels, code = coded(values)
    return Entries(np.arange(len(values)), code, np.ones(len(values)), labels)


def _of_labels(values: list[list[str]]) -> Entries:
    size = np.fromiter(map(len, values), np.int64, len(values))
    labels, code = coded(list(chain.from_iterable(values)))
    place = np.arange(len(code)) - np.repeat(np.cumsum(size) - size, size)
    return Entries(np.repeat(np.arange(len(values)), size), code, place.astype(float), labels)


def _of_weights(values: list[dict[str, float]]) -> Entries:
    size = np.fromiter(map(len, values), np.int64, len(values))
    labels, code = coded(list(chain.from_iterable(values)), [*values[0]])
    weight = np.fromiter(chain.from_iterable(map(dict.values, values)), np.float64, len(code))
    return Entries(np.repeat(np.arange(len(values)), size), code, weight, labels)


def _of_votes(values: list[dict[str, str]]) -> Entries:
    size = np.fromiter(map(len, values), np.int64, len(values))
    annotators, who = coded(list(chain.from_iterable(values)), [*values[0]])
    labels, code = coded(list(chain.from_iterable(map(dict.values, values))))
    return Entries(np.repeat(np.arange(len(values)), size), code, np.ones(len(code)), labels, who, tuple(annotators))


_ENTRIES: dict[str, Callable[[Any], Entries]] = {
    "label": _of_label,
    "labels": _of_labels,
    "weights": _of_weights,
    "votes": _of_votes,
}


def coded(texts: list[str], like: Sequence[str] = ()) -> tuple[list[str], Any]:
    """The distinct texts in order, and the place of each among them; most often they repeat those of the first record."""
    times = len(texts) // max(len(like), 1)
    if like and texts == [*like] * times:
        names, code = coded([*like])
        return names, np.tile(code, times)
    names = sorted(set(texts))
    at = {name: i for i, name in enumerate(names)}
    return names, np.fromiter(map(at.__getitem__, texts), np.int64, len(texts))


def _like(fields: Mapping[str, Any]) -> Any:
    """A type for objects with exactly these fields, of which the garbage collector need not know."""
    rename = {f"_{i}": field for i, field in enumerate(fields)}
    members = [(f"_{i}", kind) for i, kind in enumerate(fields.values())]
    return msgspec.defstruct("Record", members, rename=rename, forbid_unknown_fields=True, gc=False)


def _decoded(content: bytes, format: str, record: Any) -> Sequence[Any]:
    if format != "json":
        # Line by line: all at once, two records on a line would pass.
        lines = (line for line in content.split(b"\n") if line.strip(b" \t\r"))
        return list(map(msgspec.json.Decoder(record).decode, lines))
    found: Sequence[Any] = msgspec.json.Decoder(list[record]).decode(content)
    return found
