# SPDX-License-Identifier: Apache-2.0
"""Records of sentences with a list of tags, and with their tokens beside it or without."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from karat.findings import Finding, stop_on_errors
from karat.read.annotators import unwrapped
from karat.read.spans import FIELDS, Documents, annotated_table, field_of
from karat.read.table import Read, Table

TOKENS = ("tokens", "words")


def holds_tags(records: Iterable[Any], read: Read) -> bool:
    """Is the first list that is not empty one of texts? Spans are objects or lists."""
    return _is_texts(next((found for record in records if (found := _under(record, read)[1])), None))


def _under(record: Any, read: Read) -> tuple[str, Any]:
    """Where a record has its tags, and what is there; nothing in what an annotation tool has wrapped up."""
    if not isinstance(record, Mapping) or unwrapped(record, read.role, "") is not record:
        return "", None
    name = read.columns.get("value") or field_of(record, FIELDS["spans"]) or ""
    return name, record.get(name)


def _is_texts(found: Any) -> bool:
    return isinstance(found, list) and all(isinstance(one, str) for one in found)


def read_tag_records(
    records: Sequence[Any], read: Read, format: str, line: Any, findings: Iterable[Finding] = ()
) -> Table:
    """Sentences with ids and test cases, which are read as those of documents without spans are."""
    from karat.contexts.spans.tag_codes import encode

    found = Documents(read, line, list(findings), "")
    sentences = [_sentence(found, row, record) for row, record in enumerate(records)]
    stop_on_errors(found.findings)
    tokens = [words for _, words in sentences if words is not None]
    (tagged,) = encode([[tags for tags, _ in sentences]])
    texts = tokens if len(tokens) == len(sentences) else None
    side = replace(found.annotated(), spans=None, labels=(), tagged=tagged, texts=texts)
    return annotated_table(side, read, format, line, found.findings)


def _sentence(found: Documents, row: int, record: Any) -> tuple[list[str], list[str] | None]:
    """A record's tags and tokens; its other fields join the documents."""
    name, tags = _under(record, found.read)
    if not _is_texts(tags):
        found.note("tags-unreadable", row, reason=f"{name or 'the record'} is no list of tags")
        return [], None
    found.add(row, {**record, name: []})
    words = record.get(field_of(record, TOKENS) or "")
    if _is_texts(words) and len(words) != len(tags):
        found.note("tags-unreadable", row, reason=f"tokens: {len(words)}, tags: {len(tags)}")
    return tags, words if _is_texts(words) else None
