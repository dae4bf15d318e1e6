# SPDX-License-Identifier: Apache-2.0
"""How large an Arrow file is once it is unpacked, by its own account: no data are read.

Its tables are FlatBuffers (https://flatbuffers.dev/internals): where a table begins, a number leads back to the places
of its fields. Their layout is in Arrow's `File.fbs` and `Message.fbs`.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import unpack_from

from karat.read.source import Content

_END = 10
"""Bytes behind the footer: its length, and the mark of the format."""
_BATCH = 2
"""The kind of `MessageHeader` that holds no record batch itself, but a dictionary that does."""


def size(content: Content) -> int:
    """Bytes that the batches of a file unpack to, and their cells, of which some take no byte."""
    (length,) = unpack_from("<i", content, len(content) - _END)
    footer = _table(content, len(content) - _END - length)
    return sum(
        _batch(content, *unpack_from("<qi", content, block))
        for field in (2, 3)  # dictionaries, recordBatches: Block(offset, metaDataLength, bodyLength)
        for block in _vector(content, footer, field, 24)
    )


def _batch(content: Content, start: int, metadata: int) -> int:
    """A RecordBatch: its length, nodes, buffers and compression."""
    marked = unpack_from("<I", content, start) == (0xFFFFFFFF,)
    message = _table(content, start + (8 if marked else 4))
    (kind,) = unpack_from("<B", content, _field(content, message, 1) or 0)
    batch = _at(content, message, 2)
    if kind == _BATCH:
        batch = _at(content, batch, 1)
    nodes = (unpack_from("<q", content, node)[0] for node in _vector(content, batch, 1, 16))
    buffers = (unpack_from("<qq", content, buffer) for buffer in _vector(content, batch, 2, 16))
    packed = _field(content, batch, 3) is not None
    return sum(max(n, 0) for n in nodes) + sum(_buffer(content, start + metadata + at, n, packed) for at, n in buffers)


def _buffer(content: Content, start: int, length: int, packed: bool) -> int:
    """In front of a packed buffer stands what it unpacks to, or -1 where it is as it was."""
    unpacked = unpack_from("<q", content, start)[0] if packed and length else -1
    return max(int(length if unpacked < 0 else unpacked), 0)


def _table(content: Content, start: int) -> int:
    return start + int(unpack_from("<I", content, start)[0])


def _field(content: Content, table: int, number: int) -> int | None:
    """Where a field of a table stands; None where it has its default."""
    places = table - unpack_from("<i", content, table)[0]
    at = 4 + 2 * number
    if at >= unpack_from("<H", content, places)[0]:
        return None
    (place,) = unpack_from("<H", content, places + at)
    return table + place if place else None


def _at(content: Content, table: int, number: int) -> int:
    """Where the table or vector begins that a field names."""
    field = _field(content, table, number)
    if field is None:
        raise ValueError("a batch without its content")
    return _table(content, field)


def _vector(content: Content, table: int, number: int, width: int) -> Iterator[int]:
    """Where the members of a vector begin."""
    if _field(content, table, number) is None:
        return
    start = _at(content, table, number)
    (length,) = unpack_from("<I", content, start)
    yield from range(start + 4, start + 4 + length * width, width)
