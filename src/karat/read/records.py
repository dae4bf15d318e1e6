# SPDX-License-Identifier: Apache-2.0
"""One look at every record of a small JSON file: its fields, and the weights where all records are like the first."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np

from karat.contexts.entries import Entries, Floats
from karat.read.source import Source
from karat.read.table import match_columns

SMALL = 1 << 24
"""Bytes up to which every record is asked for its fields; of larger files the engine takes a sample."""
MOST = 100
"""Fields and labels up to which records are compared with the first."""


@dataclass(frozen=True, eq=False)
class Look:
    """What the records of a file have; none where the file is large, or the engine had better look (and complain)."""

    fields: dict[str, str]
    weights: Entries | None = None


def look(source: Source, format: str, columns: Mapping[str, str]) -> Look:
    """The fields of any record, in order of appearance, and the weights of files that can be read in one sweep."""
    if source.path.stat().st_size > SMALL:
        return Look({})
    content, first = source.bytes(), _first(source)
    value = first.get(match_columns(list(first), columns).get("value", ""), {})
    if _is_plain(first) and _are_weights(value) and (weights := _weights(content, format, first, value)):
        return Look(dict.fromkeys(first, ""), weights)
    try:
        return Look(dict.fromkeys(chain.from_iterable(_decoded(content, format, dict[str, msgspec.Raw])), ""))
    except (msgspec.DecodeError, UnicodeError):
        return Look({})


def _first(source: Source) -> dict[str, Any]:
    head = source.sniff().decode(errors="replace")
    try:
        found = json.JSONDecoder().raw_decode(head, head.index("{"))[0]
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_plain(record: Mapping[str, Any]) -> bool:
    """Texts, and one object?"""
    return len(record) <= MOST and sorted(type(v).__name__ for v in record.values())[:2] in (["dict"], ["dict", "str"])


def _are_weights(value: Any) -> bool:
    return isinstance(value, dict) and 0 < len(value) <= MOST and {type(v) for v in value.values()} <= {int, float}


def _weights(content: bytes, format: str, first: Mapping[str, Any], value: Mapping[str, float]) -> Entries | None:
    """The weights, if every record has the first one's fields and labels, each once."""
    labels = sorted(value)
    inner = _like("Value", dict.fromkeys(labels, float))
    record = _like("Record", {name: inner if isinstance(v, dict) else str for name, v in first.items()})
    place = next(i for i, v in enumerate(first.values()) if isinstance(v, dict))
    try:
        records = _decoded(content, format, record)
    except (msgspec.DecodeError, UnicodeError):
        return None
    # Of a name that is there twice only one is decoded, but every name has its colon.
    if content.count(b":") != len(records) * (len(first) + len(labels)) or b"\\" in content:
        return None
    values = map(msgspec.structs.astuple, map(attrgetter(f"_{place}"), records))
    weight: Floats = np.fromiter(chain.from_iterable(values), np.float64, len(records) * len(labels))
    rows = np.arange(len(records))
    return Entries(np.repeat(rows, len(labels)), np.tile(np.arange(len(labels)), len(rows)), weight, labels)


def _like(name: str, fields: Mapping[str, Any]) -> Any:
    """A type for objects with exactly these fields, of which the garbage collector need not know."""
    rename = {f"_{i}": field for i, field in enumerate(fields)}
    members = [(f"_{i}", kind) for i, kind in enumerate(fields.values())]
    return msgspec.defstruct(name, members, rename=rename, forbid_unknown_fields=True, gc=False)


def _decoded(content: bytes, format: str, record: Any) -> Sequence[Any]:
    if format != "json":
        return msgspec.json.Decoder(record).decode_lines(content)
    found: Sequence[Any] = msgspec.json.Decoder(list[record]).decode(content)
    return found
