# SPDX-License-Identifier: Apache-2.0
"""Uploaded files, kept in pieces inside the store: one transaction takes a file and what belongs to it, or neither."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple

from sqlalchemy import Connection, select

from karat.web import tables

PIECE = 1 << 20
"""Bytes of a row."""
LONGEST = 100
"""Characters of a name that are kept."""


@dataclass(frozen=True)
class File:
    """A kept file."""

    id: str
    name: str
    bytes: int
    sha256: str


def shown_name(given: str | None, otherwise: str = "file") -> str:
    """What a client calls its file, as a name that can be printed and says nothing of folders.

    >>> shown_name("C:\\\\data\\\\my run.tsv"), shown_name("../../etc/passwd"), shown_name("")
    ('my run.tsv', 'passwd', 'file')
    """
    last = re.split(r"[/\\]", given or "")[-1]
    plain = "".join(c for c in last if c.isprintable()).strip(" .")
    return plain[:LONGEST] or otherwise


def shown_text(given: str) -> str:
    """A name that somebody gives, without what cannot be printed."""
    return " ".join("".join(c if c.isprintable() else " " for c in given).split())[:128]


class Digest(NamedTuple):
    """What tells one file from another."""

    sha256: str
    bytes: int


def digest_of(source: IO[bytes]) -> Digest:
    """SHA-256 and size of an open file."""
    source.seek(0)
    sha256, size = hashlib.sha256(), 0
    while piece := source.read(PIECE):
        sha256.update(piece)
        size += len(piece)
    return Digest(sha256.hexdigest(), size)


def keep(connection: Connection, source: IO[bytes], name: str, digest: Digest | None = None) -> File:
    """Put an open file into the store; whoever knows its digest already saves the others who wait to write the time."""
    digest = digest or digest_of(source)
    file = File(secrets.token_hex(16), name, digest.bytes, digest.sha256)
    connection.execute(tables.files.insert(), [vars(file) | {"created": tables.now()}])
    source.seek(0)
    for position, piece in enumerate(iter(lambda: source.read(PIECE), b"")):
        connection.execute(tables.chunks.insert(), [{"file": file.id, "position": position, "data": piece}])
    return file


def find(connection: Connection, file: str) -> File:
    row = connection.execute(tables.files.select().where(tables.files.c.id == file)).one()
    return File(row.id, row.name, row.bytes, row.sha256)


def pieces(connection: Connection, file: str) -> Iterator[bytes]:
    """A kept file, piece by piece."""
    chunks = tables.chunks
    count = connection.execute(select(chunks.c.position).where(chunks.c.file == file).order_by(chunks.c.position))
    for position in count.scalars().all():
        query = select(chunks.c.data).where(chunks.c.file == file, chunks.c.position == position)
        yield bytes(connection.execute(query).scalar_one())


def write(connection: Connection, file: str, target: Path) -> Path:
    """A kept file as a file on disk."""
    with target.open("wb") as out:
        for piece in pieces(connection, file):
            out.write(piece)
    return target


def forget(connection: Connection, file: str) -> None:
    connection.execute(tables.chunks.delete().where(tables.chunks.c.file == file))
    connection.execute(tables.files.delete().where(tables.files.c.id == file))
