# SPDX-License-Identifier: Apache-2.0
"""A run as one file: a zip archive with a readable header first and the packed parts behind it."""

from __future__ import annotations

import io
import zipfile
import zlib
from dataclasses import dataclass
from typing import Any

import msgspec

from karat.store.errors import StoreError

FORMAT = 1
HEADER = "run.json"


@dataclass(frozen=True)
class Part:
    """One system, packed."""

    name: str
    result: bytes
    cells: bytes


@dataclass(frozen=True)
class Record:
    """A run as the store keeps it."""

    run: dict[str, Any]
    systems: list[Part]


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


def read(data: bytes) -> tuple[Record, list[str]]:
    """The run and its tags from an exported file."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            header = msgspec.json.decode(archive.read(HEADER))
            if header["karat_run"] > FORMAT:
                raise StoreError("the file was exported by a newer karat; upgrade karat to import it")
            run = header["run"]
            for key in ("plan", "provenance"):
                run[key] = msgspec.json.encode(run[key]).decode()
            run["texts"] = archive.read("texts") if "texts" in archive.namelist() else None
            parts = [Part(n, *(archive.read(f"systems/{i}/{p}") for p in ("result", "cells"))) for i, n in enumerate(header["systems"])]  # fmt: skip
    except StoreError:
        raise
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, ValueError, TypeError, NotImplementedError) as error:
        raise StoreError(f"this is not an exported run, or it is damaged: {error}") from error
    return Record(run, parts), [str(t) for t in header["tags"]]
