# SPDX-License-Identifier: Apache-2.0
"""Documents with spans, tags or pages on a cluster: read and checked where they are; what they hold comes here, their texts do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec

from karat.align import Aligned, meet
from karat.check import repeated_ids
from karat.contexts import context
from karat.contexts.base import Context, Counted
from karat.engines import spark
from karat.engines.memory import finished
from karat.engines.spark import Frame
from karat.findings import InputError, finding, stop_on_errors
from karat.notes import Note, noted, worded
from karat.read.documents import documents_side
from karat.read.names import match_columns
from karat.read.pages import PAGE_NAMES, read_pages, shape
from karat.read.roles import Records
from karat.read.span_names import FIELDS
from karat.read.table import Read
from karat.side import Origin, Side, joined


class Part(NamedTuple):
    """The documents of a partition without their texts, and what is wrong with them."""

    side: Side | None
    notes: list[Note]


@dataclass(eq=False)
class Documents:
    """Gold and predicted spans, or page streams, on the cluster."""

    gold: Frame
    pred: Frame

    def count(self, options: Mapping[str, Any]) -> tuple[Counted, tuple[Side, Side]]:
        """The cells of all documents, and both sides."""
        pages = shape(self.gold.data.columns, self.gold.read) is not None
        of = context("splitting" if pages else "spans")
        gold, pred = (_side(frame, of, options) for frame in (self.gold, self.pred))
        stop_on_errors([*gold.findings, *pred.findings])
        both = meet(gold.keys, pred.keys)
        findings = of.coverage(gold, pred, both, options)
        bare = [replace(side, units={k: v for k, v in side.units.items() if k != "text"}) for side in (gold, pred)]
        aligned = Aligned.of(bare[0], bare[1], of.kept(both, options), units=True)
        merged = of.reduce(aligned, options)
        return finished(of, bare[0], bare[1], both, merged, options, findings), (gold, pred)


def _side(frame: Frame, of: Context, options: Mapping[str, Any]) -> Side:
    """One side as a whole: read and checked in its partitions."""
    pages, names = of.name == "splitting", frame.data.columns
    fields = PAGE_NAMES if pages else FIELDS
    roles = match_columns(names, frame.read.columns, {"id": fields["id"]})
    if "id" not in roles:
        expected = "one of " + ", ".join(fields["id"][:5]) + ", …"
        raise InputError([finding("missing-column", frame.name, role="id", expected=expected, found=", ".join(names))])
    known = {*(name for usual in fields.values() for name in usual), *frame.read.columns.values()}
    used = [name for name in names if name in known or name.lower() in known]
    data = spark.selected(frame, used)
    if pages:  # a bundle may have a row for each page or file
        data = spark.together([data], roles["id"])
    work = partial(read_part, read=replace(frame.read, context=of.name), options=dict(options))
    with spark.guarded(frame.name):
        parts: list[Part] = spark.mapped(data, work)
    notes = worded([note for part in parts for note in part.notes])
    stop_on_errors(notes)
    sides = [part.side for part in parts if part.side is not None]
    if not sides:
        raise InputError([finding("no-records", frame.name)])
    side = joined(sides)
    if pages:  # a partition knows its own
        side.facts["categories"] = side.names["category"]
    if "tag" in side.entries:
        notes += of.check_side(side, options)
    side.findings = [*notes, *([] if pages or "tag" in side.entries else repeated_ids(side))]
    return side


def read_part(table: Any, read: Read, options: Mapping[str, Any]) -> Part:
    """The documents of one partition; runs where the partition is."""
    of = context(str(read.context))
    records = [_without_nulls(record) for record in table.to_pylist()]
    place = partial(_place, records, read)
    try:
        side = _read(table, records, read)
    except InputError as error:
        return Part(None, noted(error.findings, place))
    findings = list(side.findings)
    if "tag" not in side.entries:  # what tags mean is known when all of them are
        findings += [f for f in of.check_side(of.prepare(side, options), options) if f.code != "repeated-id"]
    units = dict(side.units)
    if "text" in units:
        units["text"] = [None if text is None else _digest(text) for text in units["text"]]
    bare = replace(
        of.prepare(side, options), units=units, findings=[], origin=Origin(read.name, read.role, "spark"), record=None
    )
    return Part(bare, noted(findings, place))


def _read(table: Any, records: Sequence[Any], read: Read) -> Side:
    line = lambda row: row + 1
    if read.context == "spans":
        return documents_side(records, read, "spark", line, ())
    columns = {name: [record.get(name) for record in records] for name in table.column_names}
    return read_pages(Records(Origin(read.name, read.role, "spark", line), columns, len(records)), read)


def _place(records: Sequence[Mapping[str, Any]], read: Read, line: int) -> str:
    fields = PAGE_NAMES if read.context == "splitting" else FIELDS
    record = records[line - 1]
    name = match_columns(list(record), read.columns, {"id": fields["id"]}).get("id", "")
    return f"id {record.get(name)!r}"


def _digest(text: Any) -> int:
    """Enough of a text to tell it from another."""
    return int.from_bytes(blake2b(repr(text).encode(errors="surrogatepass"), digest_size=8).digest(), "little")


def _without_nulls(value: Any) -> Any:
    """A record as JSON would have it: every row of a struct has every field, and null is one that it does not name."""
    if isinstance(value, dict):
        return {name: _without_nulls(inner) for name, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_without_nulls(inner) for inner in value]
    if isinstance(value, str) and value.lstrip()[:1] == "[":
        return _parsed(value)
    return value


def _parsed(text: str) -> Any:
    try:
        value = msgspec.json.decode(text.encode())
    except msgspec.DecodeError:
        return text
    return value if isinstance(value, list) else text
