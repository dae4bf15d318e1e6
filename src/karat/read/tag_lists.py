# SPDX-License-Identifier: Apache-2.0
"""Lists of tag lists and of span lists in memory, as seqeval and nervaluate are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from karat.read.conll import TAG
from karat.read.spans import CERTAIN, FIELDS, annotated_table, as_span, documents_table
from karat.read.table import NAMES, Read, Table


def is_tag_lists(values: Sequence[Any], read: Read) -> bool:
    """Do sentences hold tags? Told by the first hundred that are not empty, or said by the context."""
    if not all(isinstance(v, (list, tuple)) for v in islice(values, 100)):
        return False
    tags = [tag for sentence in islice(values, 100) for tag in sentence]
    if not all(isinstance(tag, str) for tag in tags):
        return False
    return read.context == "spans" or (
        bool(tags) and all(TAG.fullmatch(t) for t in tags) and any("-" in t or t == "O" for t in tags)
    )


def read_tag_lists(values: Sequence[Sequence[str]], read: Read) -> Table:
    """Sentences are numbered from 1."""
    from karat.contexts.spans.annotated import Annotated, Numbered
    from karat.contexts.spans.tag_codes import encode

    (tagged,) = encode([values])
    side = Annotated(Numbered(len(values)), tagged=tagged)
    return annotated_table(side, read, "tags", lambda row: row + 1)


def is_span_records(values: Sequence[Any], read: Read) -> bool:
    """Records with a list of spans, which may be empty where its name leaves no doubt, or lists of spans, one a document."""
    first = next((v for v in values if isinstance(v, (Mapping, list, tuple)) and v), None)
    if isinstance(first, Mapping):
        lists = [first[name] for name in FIELDS["spans"] if isinstance(first.get(name), list)]
        certain = "LabeledData" in first or read.context == "spans" or _without(first)
        return certain or any(_spans(found) for found in lists)
    return (
        isinstance(first, (list, tuple))
        and _spans(first)
        and (read.context == "spans" or isinstance(first[0], Mapping))
    )


def _without(record: Mapping[str, Any]) -> bool:
    """No span under a name that leaves no doubt: an empty list, or null where nothing else can be the value."""
    null = not any(name in record for name in NAMES["value"])
    return any(record[name] == [] or (null and record[name] is None) for name in CERTAIN if name in record)


def _spans(found: Sequence[Any]) -> bool:
    return bool(found) and not isinstance(as_span(found[0]), str)


def read_span_records(values: Sequence[Any], read: Read) -> Table:
    records = [v if isinstance(v, Mapping) else {"spans": list(v)} for v in values]
    return documents_table(records, read, "records", lambda row: row + 1)
