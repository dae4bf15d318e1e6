# SPDX-License-Identifier: Apache-2.0
"""A run as one file: a zip archive with a readable header first and the packed parts behind it."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any

import msgspec

from karat.store.listing import moment
from karat.store.location import StoreError
from karat.store.record import Part, Record, is_whole

FORMAT = 1
HEADER = "run.json"
LEAST, RATIO = 64 << 20, 100
"""An exported run may unpack to this many bytes, or to this many times its own size."""


class Row(msgspec.Struct):
    """A run as the header has it; an id of another make could not be told from a tag, or name a file elsewhere."""

    id: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{12}$")]
    created: Annotated[datetime, msgspec.Meta(tz=True)]
    context: str
    gold: str
    karat: str
    question: str
    digest: str
    plan: dict[str, Any]
    provenance: dict[str, Any]


class Version(msgspec.Struct):
    """What tells a header of any form."""

    karat_run: int


class Header(Version):
    """The first file of the archive."""

    run: Row
    tags: list[str]
    systems: list[str]


def write(record: Record, tags: list[str]) -> bytes:
    """The run as a file; the same run gives the same bytes."""
    run = {k: v for k, v in record.run.items() if k != "texts"}
    for key in ("plan", "provenance"):
        run[key] = msgspec.json.decode(run[key])
    header = {"karat_run": FORMAT, "run": run, "tags": tags, "systems": [p.name for p in record.systems]}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        _add(archive, HEADER, msgspec.json.format(msgspec.json.encode(header), indent=2))
        for i, part in enumerate(record.systems):
            _add(archive, f"systems/{i}/result", part.result)
            _add(archive, f"systems/{i}/cells", part.cells)
        if record.run.get("texts"):
            _add(archive, "texts", record.run["texts"])
    return out.getvalue()


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED if name == HEADER else zipfile.ZIP_STORED
    archive.writestr(info, data)


_DAMAGE = (zipfile.BadZipFile, zlib.error, KeyError, EOFError, ValueError, NotImplementedError, RuntimeError)
"""All that reading an archive and its JSON may raise."""


def most_unpacked(data: bytes) -> int:
    """Bytes to which a part of an exported file may unpack; what karat writes stays far below."""
    return max(LEAST, RATIO * len(data))


def read(data: bytes) -> tuple[Record, list[str]]:
    """The run and its tags from an exported file, if it is as it was exported."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(part.file_size for part in archive.infolist()) > most_unpacked(data):
                raise StoreError("the file unpacks to far more than an exported run does")
            header = _header(archive.read(HEADER))
            record = Record(_row(header.run, archive), [*_parts(header.systems, archive)])
    except StoreError:
        raise
    except _DAMAGE as error:
        raise StoreError(f"this is not an exported run, or it is damaged: {error}") from error
    if not is_whole(record):
        raise StoreError("the exported run was changed after it was written: its contents do not match their hash")
    return record, header.tags


def _header(data: bytes) -> Header:
    if msgspec.json.decode(data, type=Version).karat_run > FORMAT:
        raise StoreError("the file was exported by a newer karat; upgrade karat to import it")
    return msgspec.json.decode(data, type=Header)


def _row(run: Row, archive: zipfile.ZipFile) -> dict[str, Any]:
    row = msgspec.structs.asdict(run) | {"created": moment(run.created)}
    for key in ("plan", "provenance"):
        row[key] = msgspec.json.encode(row[key]).decode()
    return row | {"texts": archive.read("texts") if "texts" in archive.namelist() else None}


def _parts(names: list[str], archive: zipfile.ZipFile) -> Iterator[Part]:
    for i, name in enumerate(names):
        yield Part(name, *(archive.read(f"systems/{i}/{part}") for part in ("result", "cells")))
