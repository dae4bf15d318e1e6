# SPDX-License-Identifier: Apache-2.0
"""Where an input comes from: a plain UTF-8 file on disk, whatever it was packed in."""

from __future__ import annotations

import bz2
import codecs
import gzip
import hashlib
import io
import lzma
import mmap
import os
import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from karat.findings import Finding, InputError, finding

_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bzip2", b"\xfd7zXZ\0": "xz"}
_OPENERS: dict[str, Callable[..., Any]] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
_BINARY = (b"PAR1", b"ARROW1")
_FOREIGN = {
    b"PK": "a zip archive (or a spreadsheet)", b"7z\xbc\xaf": "a 7z archive", b"%PDF": "a PDF file", b"\x89PNG": "a picture", b"SQLite": "a database",
}  # fmt: skip
"""What files begin with that are often given by mistake."""
_BOMS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16", codecs.BOM_UTF8: "utf-8-sig"}


class Source:
    """A named file, unpacked and re-encoded to UTF-8 where it needs to be."""

    def __init__(self, given: str | os.PathLike[str], stack: ExitStack, encoding: str | None = None) -> None:
        self.name = os.fspath(given)
        self.findings: list[Finding] = []
        self._stack = stack
        self.path = Path(self.name)
        if self.name == "-":
            self.path = self._kept(sys.stdin.buffer)
        elif os.path.exists(self.path) and self.path.is_fifo():  # what a pipe gives can be read once only
            self.path = self._kept(self.path.open("rb"))
        self._must_exist()
        self.original = self.path
        self._unpack()
        self._recode(encoding)

    def _must_exist(self) -> None:
        if not os.path.exists(self.path):
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

    def _kept(self, stream: IO[bytes]) -> Path:
        with self._temporary() as file:
            shutil.copyfileobj(stream, file)
            return Path(file.name)

    def _temporary(self) -> IO[bytes]:
        folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="karat-"))
        return (Path(folder) / "input").open("wb")

    def _unpack(self) -> None:
        foreign = next((what for mark, what in _FOREIGN.items() if self.head.startswith(mark)), None)
        if foreign and (b"\0" in self.head or not self.head.isascii()):
            raise InputError([finding("file-foreign", self.name, found=foreign)])
        packing = next((name for mark, name in _PACKED.items() if self.head.startswith(mark)), None)
        if packing is None:
            return
        try:
            with _opened(self.path, packing) as packed, self._temporary() as file:
                shutil.copyfileobj(packed, file)
                self.path = Path(file.name)
        except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
            raise InputError([finding("file-unreadable", self.name, reason=f"{packing}: {error}")]) from error
        self.__dict__.pop("head", None)
        if not self.head:
            raise InputError([finding("file-empty", self.name)])

    def _recode(self, encoding: str | None) -> None:
        if self.head.startswith(_BINARY):
            return
        marked = next((e for bom, e in _BOMS.items() if self.head.startswith(bom)), None)
        wanted = marked if encoding is None or self._is_utf8(encoding) else encoding
        if encoding is None and marked is None and (guess := _looks_wide(self.head)):
            raise InputError([finding("looks-utf16", self.name, 1, encoding=guess)])
        if wanted is None:
            return
        if wanted == "utf-16":
            self.findings.append(finding("encoding-utf16", self.name, encoding="UTF-16"))
        try:
            with self.path.open(encoding=wanted, newline="") as text, self._temporary() as file:
                for block in iter(lambda: text.read(1 << 20), ""):
                    file.write(block.removeprefix("\ufeff").encode())
                self.path = Path(file.name)
        except UnicodeError as error:
            raise InputError([finding("file-unreadable", self.name, reason=f"it is not {wanted}: {error}")]) from error
        self.__dict__.pop("head", None)

    def _is_utf8(self, encoding: str) -> bool:
        try:
            return codecs.lookup(encoding).name == "utf-8"
        except LookupError as error:
            way_out = "name one that Python knows, such as latin-1, cp1252 or utf-16"
            raise InputError([finding("bad-option", self.name, message=str(error), way_out=way_out)]) from error

    @cached_property
    def head(self) -> bytes:
        """The first bytes, enough to tell the format."""
        with self.path.open("rb") as file:
            return file.read(1 << 16)

    def sniff(self) -> bytes:
        """The head without blank space in front."""
        return self.head.removeprefix(codecs.BOM_UTF8).lstrip()

    def is_blank(self) -> bool:
        """Is there nothing but blank space?"""
        return not self.sniff() and self.path.stat().st_size <= len(self.head)

    def has_nul(self) -> bool:
        """Is there a NUL byte anywhere? (The engine reads over it.)"""
        with self.path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(b"\0") >= 0

    def with_plain_line_ends(self) -> Path | None:
        """A copy in which every line ends alike; none where no line ends in CR LF."""
        content = self.bytes()
        if b"\r\n" not in content:
            return None
        with self._temporary() as file:
            file.write(content.replace(b"\r\n", b"\n"))
            return Path(file.name)

    def lines(self) -> Iterator[bytes]:
        """Physical lines, from the first."""
        with self.path.open("rb") as file:
            yield from file

    def ends_an_array(self) -> bool:
        """Does the text end as a JSON array does? (The engine forgives a missing bracket after a comma.)"""
        with self.path.open("rb") as file:
            file.seek(max(0, self.path.stat().st_size - (1 << 16)))
            body = file.read().rstrip()
        return body.endswith(b"]") and not body[:-1].rstrip().endswith(b",")

    def bytes(self) -> bytes:
        return self.path.read_bytes()

    @cached_property
    def sha256(self) -> str:
        """Hash of the file as it was given."""
        with self.original.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def hashed(self, found: str) -> None:
        """Take the hash from a reader that has seen the whole file, which need not be read again then."""
        if self.path == self.original:
            self.__dict__["sha256"] = found

    @property
    def sql(self) -> str:
        """The path as an SQL text literal."""
        return path_literal(self.path)

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


def path_literal(path: Path) -> str:
    """A path for the engine, in which it sees no pattern of several files."""
    text = re.sub(r"([*?\[])", r"[\1]", str(path))
    return "'" + text.replace("'", "''") + "'"


def _looks_wide(head: bytes) -> str | None:
    """UTF-16 of western text has a zero in every second byte."""
    odd, even = head[1:2000:2], head[0:2000:2]
    if len(odd) < 4 or b"\0" not in head[:2000]:
        return None
    if odd.count(0) > 0.7 * len(odd):
        return "utf-16-le"
    return "utf-16-be" if even.count(0) > 0.7 * len(even) else None


def _opened(path: Path, packing: str) -> Any:
    if packing in _OPENERS:
        return _OPENERS[packing](path, "rb")
    try:
        from compression import zstd  # type: ignore[import-not-found]  # Python 3.14

        return zstd.open(path, "rb")
    except ImportError:
        import zstandard
    return io.BufferedReader(_Frames(zstandard.ZstdDecompressor(), path.open("rb")))


class _Frames(io.RawIOBase):
    """The content of zstd frames, one after the other; a frame that is cut off is an error."""

    def __init__(self, maker: Any, file: IO[bytes]) -> None:
        self._maker, self._file = maker, file
        self._frame: Any = None
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready and self._step():
            pass
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size

    def _step(self) -> bool:
        """Unpack some more; False at the end."""
        left = self._frame.unused_data if self._frame and self._frame.eof else b""
        packed = left or self._file.read(1 << 20)
        if not packed:
            if self._frame and not self._frame.eof:
                raise EOFError("the data are cut off")
            return False
        if self._frame is None or self._frame.eof:
            self._frame = self._maker.decompressobj()
        try:
            self._ready = self._frame.decompress(packed)
        except Exception as error:
            raise ValueError(error) from error
        return True

    def close(self) -> None:
        self._file.close()
        super().close()
