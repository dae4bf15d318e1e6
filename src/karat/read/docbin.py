# SPDX-License-Identifier: Apache-2.0
"""spaCy's DocBin files, where spaCy is installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from karat.findings import InputError, finding
from karat.read.relation import Engine
from karat.read.source import Source
from karat.read.spans import documents_table
from karat.read.table import Read, Table


def is_docbin(source: Source) -> bool:
    return source.name.endswith(".spacy")


def read_docbin(engine: Engine, source: Source, read: Read) -> Table:
    """Entities of each document by character offsets; `--value KEY` takes a span group instead."""
    if find_spec("spacy") is None:
        raise InputError(
            [finding("file-unreadable", read.name, reason="reading .spacy files needs spaCy (pip install spacy)")]
        )
    import spacy
    from spacy.tokens import DocBin

    documents = DocBin().from_bytes(source.bytes()).get_docs(spacy.blank("xx").vocab)
    records = [_record(document, read.columns.get("value")) for document in documents]
    plain = Read(read.name, read.role, {}, read.context)
    return documents_table(records, plain, "docbin", lambda row: None, source.findings)


def _record(document: Any, group: str | None) -> dict[str, Any]:
    found = document.spans[group] if group else document.ents
    spans = [{"start": s.start_char, "end": s.end_char, "label": s.label_} for s in found]
    return {"text": document.text, "spans": spans}
