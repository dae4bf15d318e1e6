# SPDX-License-Identifier: Apache-2.0
"""What many tools call the fields of documents and spans."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from karat.read.names import NAMES
from karat.read.table import Read

FIELDS: dict[str, tuple[str, ...]] = {
    "id": ("page_id", *NAMES["id"], "sent_id", "sentence_id"),
    "test_case": ("test_case", "testcase"),
    "text": ("text", "Text", "query", "sentence", "content", "utterance"),
    "spans": (
        "spans", "entities", "excerpts", "poem_spans", "Entities", "ents", "labels", "label", "value", "annotations",
        "tags", "ner_tags",
    ),
    "classes": ("intent", "intents", "Classification", "classes"),
    "count": ("n_excerpts", "n_spans"),
    "tokens": ("tokens", "words"),
}  # fmt: skip
"""Names of a document's fields, the first found being taken."""

PLACES: dict[str, tuple[str, ...]] = {
    "start": (
        "start", "page_start", "start_offset", "startPos", "StartPosition", "startCharIndex", "begin", "ppa_span_start",
    ),
    "end": ("end", "page_end", "end_offset", "endPos", "EndPosition", "endCharIndex", "ppa_span_end"),
    "label": (
        "label", "poem_id", "ref_id", "entity", "Name", "type", "tag", "entity_type", "entity_group", "name", "category",
    ),
    "children": ("children", "Children"),
    "text": ("text", "ppa_span_text"),
}  # fmt: skip
"""Names of a span's fields."""

CERTAIN = ("spans", "entities", "excerpts", "poem_spans")
"""Names of lists that can hold nothing but spans."""

EXCERPTS = {"excerpts", "poem_spans"}
"""Lists under these names are excerpts on pages."""

INCLUSIVE = {"endPos", "EndPosition", "endCharIndex"}
"""Ends under these names point at the last character of a span."""

Names = dict[str, Any]
"""The file's own name of each of our fields; None where it has none."""


def field_of(record: Iterable[str], names: Iterable[str]) -> str | None:
    return next((name for name in names if name in record), None)


def names_of_document(record: Iterable[str], read: Read) -> Names:
    """What a document with these fields calls its id, text, spans, …, as the user said or by the usual names."""
    fields: Names = {role: field_of(record, names) for role, names in FIELDS.items()}
    fields["id"] = read.columns.get("id") or fields["id"]
    fields["spans"] = read.columns.get("value") or fields["spans"]
    fields["cluster"] = read.columns.get("cluster") if read.role == "gold" else None
    return fields


def names_of_span(span: Iterable[str]) -> Names:
    return {role: field_of(span, names) for role, names in PLACES.items()}


UNFOLDS = {"labels", *PLACES["children"]}
"""Fields of a span that make several of it."""
