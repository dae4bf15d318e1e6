# SPDX-License-Identifier: Apache-2.0
"""JSON arrays and JSON Lines of documents with spans, decoded in blocks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import Any

import msgspec

from karat.findings import InputError, finding
from karat.read.annotators import is_wrapped
from karat.read.documents import Documents
from karat.read.fast import span_lines
from karat.read.json import diagnose, line_of
from karat.read.names import NAMES
from karat.read.source import Source
from karat.read.span_names import CERTAIN, INCLUSIVE, UNFOLDS, Names, names_of_span
from karat.read.table import Engine, Read
from karat.side import Side

BLOCK = 1 << 23
"""Bytes of JSON Lines that are decoded together."""

HEAD = 1 << 16
"""Bytes in which the first document with spans is looked for, to expect others like it."""

_MARK = re.compile(
    rb'"(spans|entities|excerpts|poem_spans|Entities|ents|LabeledData)"\s*:\s*[\[{]|"labels?"\s*:\s*\[\s*[\[{]'
    rb'|"annotations"\s*:\s*\[\s*[\[{\]]'  # an object, or a list of texts, is the votes of annotators
)
_TAGS = re.compile(rb'"((ner_)?tags|annotations)"\s*:\s*\[\s*"(O|[BIESLU]-[^"]*)"|"ner_tags"\s*:\s*\[\s*\d')
_TOKENS = re.compile(rb'"(tokens|words)"\s*:\s*\[')
_NULL = re.compile(rf'"({"|".join(CERTAIN)})"\s*:\s*null'.encode())
_VALUE = re.compile(rf'"({"|".join(NAMES["value"])})"\s*:'.encode())


def is_spans(source: Source) -> bool:
    """A list of spans, or null in its place where nothing else can be the value; or tags beside their tokens."""
    if source.start[:1] not in (b"[", b"{"):
        return False
    head = source.beginning()
    mark = _MARK.search(head) or (_NULL.search(head) and not _VALUE.search(head))
    return bool(mark or (_TAGS.search(head) and _TOKENS.search(head)))


def read_spans(engine: Engine, source: Source, read: Read) -> Side:
    """A JSON array or JSON Lines of documents with spans."""
    layout = "json" if source.start[:1] == b"[" else "jsonl"
    line = lambda row: line_of(source, layout, row)
    if layout == "jsonl" and (side := span_lines.read_side(source, read, line)):
        return side
    every = lambda: chain.from_iterable(_decoded(block, layout) for block in _blocks(source, layout))
    documents = Documents(read, line, list(source.findings), every)
    try:
        for block in _blocks(source, layout):
            alike = _alike(block, documents)
            if alike is None or not alike.add(block, layout, documents):
                records = _decoded(block, layout)
                _check_names(block, _names_in(records))
                documents.add(records)
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(diagnose(source, layout) or [finding("bad-json", source.name, reason=str(error))]) from error
    return documents.side(f"spans ({layout})")


def _blocks(source: Source, layout: str) -> Iterator[bytes]:
    """An array as a whole, lines some megabytes at a time."""
    if layout == "json":
        yield source.bytes()
        return
    lines: list[bytes] = []
    with source.path.open("rb") as file:
        while lines := file.readlines(BLOCK):
            yield b"".join(lines)


def _decoded(block: bytes, layout: str, kind: Any = Any) -> list[Any]:
    """The records of a block; of lines each must be one."""
    if layout == "json":
        records: list[Any] = msgspec.json.Decoder(list[kind]).decode(block)
        return records
    decoder = msgspec.json.Decoder(kind)
    records = decoder.decode_lines(block)
    # Nothing but two records has a brace, a line break and a brace between them.
    if len(records) == block.count(b"}\n{") + 1 == block.count(b"\n") + (not block.endswith(b"\n")):
        return records
    return [decoder.decode(line) for line in block.split(b"\n") if line.strip()]


_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"(\s*:)?', re.S)
_SPACED = (b" :", b"\n:", b"\r:", b"\t:")


def _check_names(block: bytes, names: int) -> None:
    """Stop where the text has more names of fields than were decoded: of a name that is there twice only one is."""
    if block.count(b":") == names or (block.count(b'":') == names and not any(map(block.__contains__, _SPACED))):
        return
    if sum(map(bool, _STRING.findall(block))) != names:
        raise ValueError("a field is there twice")


def _names_in(value: Any) -> int:
    """How many names of fields there are in an object or list and in what it holds."""
    inner = value.values() if type(value) is dict else value
    names = len(value) if type(value) is dict else 0
    return names + sum([_names_in(part) for part in inner if type(part) in (dict, list)])


def _alike(block: bytes, documents: Documents) -> Alike | None:
    """What the first document with spans shows, if it is one that another program than an annotation tool wrote."""
    text, at = block[:HEAD].decode(errors="replace"), 0
    while (at := text.find("{", at)) >= 0:
        try:
            record, at = json.JSONDecoder().raw_decode(text, at)
        except (ValueError, RecursionError):
            return None
        names = documents.names(tuple(record))
        spans = record.get(names["spans"])
        if is_wrapped(record) or not isinstance(spans, list) or (spans and type(spans[0]) is not dict):
            return None
        if spans:
            return Alike.of(list(record), names, list(spans[0]))
    return None


@dataclass(frozen=True)
class Alike:
    """Documents with the same fields whose spans have the same fields: their values come as columns."""

    fields: dict[str, str]
    """By the names of fields, those of attributes."""
    inner: dict[str, str]
    names: Names
    places: Names
    document: Any

    @classmethod
    def of(cls, fields: list[str], names: Names, inner: list[str]) -> Alike | None:
        places = names_of_span(inner)
        if None in (places["start"], places["end"], places["label"]) or UNFOLDS.intersection(inner):
            return None
        whole = (places["start"], places["end"])
        span = _struct(inner, {name: int for name in inner if name in whole})
        document = _struct(fields, {names["spans"]: list.__class_getitem__(span)})
        outer, within = ({name: f"_{i}" for i, name in enumerate(known)} for known in (fields, inner))
        return cls(outer, within, names, places, document)

    def add(self, block: bytes, layout: str, documents: Documents) -> bool:
        """Add a block of such documents; False if it holds others."""
        try:
            records = _decoded(block, layout, self.document)
        except msgspec.ValidationError:
            return False
        lists = _column(records, self.fields[self.names["spans"]])
        spans, number = list(chain.from_iterable(lists)), list(map(len, lists))
        places = [_column(spans, self.inner.get(self.places[role])) for role in ("start", "end", "label", "text")]
        self._check_names(block, records, spans)
        if not documents.add_spans(number, places):
            return False
        documents.tags = False
        roles = ("id", "test_case", "text", "classes", "cluster", "count")
        columns = {r: _column(records, self.fields[name]) for r in roles if (name := self.names[r]) in self.fields}
        first = documents.records
        documents.records += len(records)
        documents.add_fields(range(first, documents.records), columns, number)
        if self.places["end"] in INCLUSIVE:
            documents.facts["inclusive"] = True
        return True

    def _check_names(self, block: bytes, records: list[Any], spans: list[Any]) -> None:
        names = len(records) * len(self.fields) + len(spans) * len(self.inner)
        if block.count(b":") != names:
            known = (self.places["start"], self.places["end"], self.names["spans"])
            columns = [_column(records, a) for name, a in self.fields.items() if name not in known]
            columns += [_column(spans, a) for name, a in self.inner.items() if name not in known]
            nested = (column for column in columns if {list, dict} & set(map(type, column)))
            _check_names(block, names + sum(map(_names_in, nested)))


def _struct(names: Sequence[str], kinds: dict[str, Any]) -> Any:
    """A type of objects that have exactly these fields; what is not typed may be anything."""
    attributes = {f"_{i}": name for i, name in enumerate(names)}
    fields = [(attribute, kinds.get(name, Any)) for attribute, name in attributes.items()]
    return msgspec.defstruct("Fields", fields, rename=attributes, forbid_unknown_fields=True, gc=False)


def _column(records: list[Any], attribute: str | None) -> list[Any]:
    return [None] * len(records) if attribute is None else list(map(attrgetter(attribute), records))
