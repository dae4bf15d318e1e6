# SPDX-License-Identifier: Apache-2.0
"""Uploaded files as plain files, never larger than the server allows."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from karat.engines.duckdb import Engine
from karat.findings import InputError, finding
from karat.read.source import zstd
from karat.web.limits import Limits

BLOCK = 1 << 20


def _zstd(path: Path) -> Any:
    return zstd().open(path)


OPENERS: dict[bytes, Callable[[Path], Any]] = {
    b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open, b"\x28\xb5\x2f\xfd": _zstd,
}  # fmt: skip
"""Packings by the first bytes of a file."""


def _opener(path: Path) -> Callable[[Path], Any] | None:
    with path.open("rb") as file:
        head = file.read(6)
    return next((opener for mark, opener in OPENERS.items() if head.startswith(mark)), None)


def unpack(path: Path, name: str, limits: Limits) -> Path:
    """The file unpacked, if it keeps to the limits; else what is wrong with it."""
    opener, target = _opener(path), path.with_name(path.name + "-plain")
    try:
        with opener(path) if opener else path.open("rb") as source:
            _copied(source, target, name, limits)
    except InputError:
        raise
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
        if isinstance(error, OSError) and error.errno:
            raise
        raise InputError([finding("file-unreadable", name, reason="its packing is broken or cut off")]) from error
    except Exception as error:
        if type(error).__name__ != "ZstdError":
            raise
        raise InputError([finding("file-unreadable", name, reason="its packing is broken or cut off")]) from error
    if opener and _opener(target):
        raise InputError([finding("packed-twice", name)])
    if _parquet_rows(target) > limits.rows:
        raise InputError([finding("too-many-rows", name, most=f"{limits.rows:,}")])
    return target


def _parquet_rows(path: Path) -> int:
    """Rows of a Parquet file, of which four kilobytes may hold a hundred million; 0 for any other file."""
    with path.open("rb") as file:
        if file.read(4) != b"PAR1":
            return 0
    try:
        with Engine(threads=1) as engine:
            return engine.parquet_rows(path)
    except Exception:  # whoever reads it says what is broken
        return 0


def _copied(source: IO[bytes], target: Path, name: str, limits: Limits) -> None:
    size = rows = 0
    with target.open("wb") as out:
        while block := source.read(BLOCK):
            size, rows = size + len(block), rows + block.count(b"\n")
            if size > limits.unpacked:
                raise InputError([finding("file-too-large", name, most=f"{limits.unpacked:,}")])
            if rows > limits.rows:
                raise InputError([finding("too-many-rows", name, most=f"{limits.rows:,}")])
            out.write(block)
