# SPDX-License-Identifier: Apache-2.0
"""Where an input comes from: a plain UTF-8 file on disk, whatever it was packed in."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from karat.findings import Finding, InputError, finding

_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_BOMS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16", codecs.BOM_UTF8: "utf-8-sig"}


class Source:
    """A named file, unpacked and re-encoded to UTF-8 where it needs to be."""

    def __init__(self, given: str | os.PathLike[str], stack: ExitStack, encoding: str | None = None) -> None:
        self.name = os.fspath(given)
        self.findings: list[Finding] = []
        self._stack = stack
        self.path = self._stdin() if self.name == "-" else Path(self.name)
        self._must_exist()
        self.original = self.path
        self._unpack()
        self._recode(encoding)

    def _must_exist(self) -> None:
        if not self.path.exists():
            raise InputError([finding("file-missing", self.name, path=os.path.abspath(self.name))])
        if self.path.is_dir():
            raise InputError([finding("file-is-directory", self.name)])
        try:
            with self.path.open("rb") as file:
                empty = not file.read(1)
        except OSError as error:
            raise InputError([finding("file-unreadable", self.name, reason=error.strerror or error)]) from error
        if empty:
            raise InputError([finding("file-empty", self.name)])

    def _stdin(self) -> Path:
        with self._temporary() as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
            return Path(file.name)

    def _temporary(self) -> IO[bytes]:
        folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="karat-"))
        return (Path(folder) / "input").open("wb")

    def _unpack(self) -> None:
        packing = _PACKED.get(self.head[:2]) or _PACKED.get(self.head[:4])
        if packing is None:
            return
        try:
            with _opened(self.path, packing) as packed, self._temporary() as file:
                shutil.copyfileobj(packed, file)
                self.path = Path(file.name)
        except (OSError, EOFError, ValueError) as error:
            raise InputError(
                [finding("file-unreadable", self.name, reason=f"broken {packing} data: {error}")]
            ) from error
        self.__dict__.pop("head", None)
        if not self.head:
            raise InputError([finding("file-empty", self.name)])

    def _recode(self, encoding: str | None) -> None:
        marked = next((e for bom, e in _BOMS.items() if self.head.startswith(bom)), None)
        wanted = encoding or marked
        if wanted in (None, "utf-8"):
            return
        if wanted == "utf-16":
            self.findings.append(finding("encoding-utf16", self.name, encoding="UTF-16"))
        try:
            with self.path.open(encoding=wanted, newline="") as text, self._temporary() as file:
                for block in iter(lambda: text.read(1 << 20), ""):
                    file.write(block.removeprefix("\ufeff").encode())
                self.path = Path(file.name)
        except (UnicodeError, LookupError) as error:
            raise InputError([finding("file-unreadable", self.name, reason=error)]) from error
        self.__dict__.pop("head", None)

    @cached_property
    def head(self) -> bytes:
        """The first bytes, enough to tell the format."""
        with self.path.open("rb") as file:
            return file.read(1 << 16)

    def sniff(self) -> bytes:
        """The head without blank space in front."""
        return self.head.removeprefix(codecs.BOM_UTF8).lstrip()

    def lines(self) -> Iterator[bytes]:
        """Physical lines, from the first."""
        with self.path.open("rb") as file:
            yield from file

    def bytes(self) -> bytes:
        return self.path.read_bytes()

    @cached_property
    def sha256(self) -> str:
        """Hash of the file as it was given."""
        with self.original.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    @property
    def sql(self) -> str:
        """The path as an SQL text literal."""
        return "'" + str(self.path).replace("'", "''") + "'"

    def encoding_findings(self) -> list[Finding]:
        """Where the file is not UTF-8 text, if it is not."""
        for number, line in enumerate(self.lines(), 1):
            if b"\0" in line:
                return [finding("nul-byte", self.name, number)]
            try:
                line.decode()
            except UnicodeDecodeError as error:
                return [finding("not-utf8", self.name, number, byte=line[error.start])]
        return []


def _opened(path: Path, packing: str) -> Any:
    if packing == "gzip":
        return gzip.open(path, "rb")
    try:
        from compression import zstd  # type: ignore[import-not-found]  # Python 3.14

        return zstd.open(path, "rb")
    except ImportError:
        pass
    try:
        import zstandard
    except ImportError:
        raise ValueError(
            "reading .zst needs Python 3.14 or the package zstandard (pip install 'karat[zstd]')"
        ) from None
    return zstandard.open(path, "rb")
