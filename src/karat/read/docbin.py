# SPDX-License-Identifier: Apache-2.0
"""spaCy's DocBin files, where spaCy is installed."""

from __future__ import annotations

import zlib
from importlib.util import find_spec
from typing import Any

from karat.findings import InputError, finding
from karat.read.documents import documents_side
from karat.read.source import BLOCK, Source
from karat.read.table import Engine, Read
from karat.side import Side


def read_docbin(engine: Engine, source: Source, read: Read) -> Side:
    """Entities of each document by character offsets; `--value KEY` takes a span group instead."""
    if find_spec("spacy") is None:
        raise InputError(
            [finding("file-unreadable", read.name, reason="reading .spacy files needs spaCy (pip install spacy)")]
        )
    documents = _documents(source, read)
    group = read.columns.get("value")
    known = sorted({key for document in documents for key in document.spans})
    if group and group not in known:
        reason = f"no document has a span group {group!r}; there are: {', '.join(known) or 'none'}"
        raise InputError([finding("span-unreadable", read.name, reason=reason)])
    plain = Read(read.name, read.role, {}, read.context)
    records = [_record(document, group) for document in documents]
    return documents_side(records, plain, "docbin", lambda row: None, source.findings)


def _documents(source: Source, read: Read) -> list[Any]:
    import spacy
    from spacy.tokens import DocBin

    try:
        _must_fit(source)
        return list(DocBin().from_bytes(source.bytes()).get_docs(spacy.blank("xx").vocab))
    except InputError:
        raise
    except Exception as error:  # whatever msgpack, zlib or spaCy think of the bytes
        raise InputError([finding("file-unreadable", read.name, reason=f"it is no DocBin: {error}")]) from error


def _must_fit(source: Source) -> None:
    """What spaCy unpacks as a whole is unpacked before in blocks, of which none is kept."""
    stream, size, packed = zlib.decompressobj(), 0, source.bytes()
    while packed and not stream.eof:
        size += len(stream.decompress(packed, BLOCK))
        packed = stream.unconsumed_tail
        source.must_fit(size)


def _record(document: Any, group: str | None) -> dict[str, Any]:
    """A document may lack a group that others have."""
    entities = document.ents if not group else document.spans.get(group, ())
    spans = [{"start": s.start_char, "end": s.end_char, "label": s.label_} for s in entities]
    return {"text": document.text, "spans": spans}
