# SPDX-License-Identifier: Apache-2.0
"""Lists of tag lists and of span lists in memory, as seqeval and nervaluate are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from karat.columns import Codes
from karat.findings import InputError, finding, limited
from karat.read.conll import TAG
from karat.read.documents import documents_side, looks_like_span, tag_entries
from karat.read.names import NAMES
from karat.read.span_names import CERTAIN, FIELDS
from karat.read.table import Read
from karat.side import Keys, Origin, Positions, Side


def is_tag_lists(values: Sequence[Any], read: Read) -> bool:
    """Do sentences hold tags? Told by the first hundred that are not empty, or said by the context."""
    if read.context not in (None, "spans") or not all(isinstance(v, (list, tuple)) for v in islice(values, 100)):
        return False
    tags = [tag for sentence in islice(values, 100) for tag in sentence]
    if not all(issubclass(kind, str) for kind in {*map(type, tags)}):
        return False
    names = {*tags}
    return read.context == "spans" or (
        bool(names) and all(map(TAG.fullmatch, names)) and any("-" in name or name == "O" for name in names)
    )


def read_tag_lists(values: Sequence[Sequence[str]], read: Read) -> Side:
    """Sentences are numbered from 1."""
    try:
        entries, tags, length = tag_entries(values)
        whole = all(isinstance(tag, str) for tag in tags)
    except TypeError:
        whole = False
    if not whole:
        wrong = (
            row
            for row, sentence in enumerate(values, 1)
            if not isinstance(sentence, (list, tuple)) or not all(isinstance(tag, str) for tag in sentence)
        )
        reason = "the sentence is no list of tags"
        raise InputError(limited(finding("tags-unreadable", read.name, row, reason=reason) for row in wrong))
    rows = len(values)
    origin = Origin(read.name, read.role, "tags", lambda row: row + 1)
    keys, units = Keys(Codes.constant("", rows), Positions(rows)), {"length": length}
    return Side(origin, "spans", keys, entries, {"tag": tags}, units, {}, None, rows, "spans")


def is_span_records(values: Sequence[Any], read: Read) -> bool:
    """Records with a list of spans, which may be empty where its name leaves no doubt, or lists of spans, one a document."""
    first = next((v for v in values if isinstance(v, (Mapping, list, tuple)) and v), None)
    if read.context not in (None, "spans"):
        return False
    if isinstance(first, Mapping):
        lists = [first[name] for name in FIELDS["spans"] if isinstance(first.get(name), list)]
        certain = "LabeledData" in first or read.context == "spans" or _without(first)
        return certain or any(bool(spans) and looks_like_span(spans[0]) for spans in lists)
    return (
        isinstance(first, (list, tuple))
        and looks_like_span(first[0])
        and (read.context == "spans" or isinstance(first[0], Mapping))
    )


def _without(record: Mapping[str, Any]) -> bool:
    """No span under a name that leaves no doubt: an empty list, or null where nothing else can be the value."""
    null = not any(name in record for name in NAMES["value"])
    return any(record[name] == [] or (null and record[name] is None) for name in CERTAIN if name in record)


def read_span_records(values: Sequence[Any], read: Read) -> Side:
    records = [{"spans": list(v)} if isinstance(v, (list, tuple)) else v for v in values]
    return documents_side(records, read, "records", lambda row: row + 1, ())
