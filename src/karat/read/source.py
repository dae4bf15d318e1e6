# SPDX-License-Identifier: Apache-2.0
"""Where an input comes from: a plain UTF-8 file on disk, whatever it was packed in."""

from __future__ import annotations

import bz2
import codecs
import copy
import gzip
import hashlib
import json
import lzma
import mmap
import os
import re
import shutil
import sys
import tempfile
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from karat.findings import Finding, InputError, finding

_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bzip2", b"\xfd7zXZ\0": "xz"}
_PACKED |= {bytes([first]) + b"*M\x18": "zstd" for first in range(0x50, 0x60)}  # a frame to be skipped, as pzstd writes
_BINARY = (b"PAR1", b"ARROW1")
_FOREIGN = {
    b"PK": "a zip archive (or a spreadsheet)", b"7z\xbc\xaf": "a 7z archive", b"%PDF": "a PDF file", b"\x89PNG": "a picture", b"SQLite": "a database",
}  # fmt: skip
"""What files begin with that are often given by mistake."""
HEAD, LONGEST_RECORD = 1 << 16, 1 << 22
"""Bytes that tell the format, and how many more are looked at for the end of the first record."""
BLOCK = 1 << 20
_BOMS = {
    codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32", codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16", codecs.BOM_UTF8: "utf-8-sig",
}  # fmt: skip
"""Marks at the beginning of a text, those before their own beginnings."""


LEAST, RATIO, MOST = 256 << 20, 200, 64 << 30
"""A packed file, or one of columns, may unpack to LEAST bytes, or to RATIO times its own size but no more than MOST."""


def file_name(path: str | os.PathLike[str]) -> str:
    """A path as it can be printed and kept: what is no UTF-8 is spelt out."""
    try:
        return os.fsencode(path).decode(errors="backslashreplace")
    except UnicodeEncodeError:  # half of a surrogate pair, which no file has in its name
        return os.fspath(path).encode(errors="backslashreplace").decode()


class Source:
    """A named file, unpacked and re-encoded to UTF-8 where it needs to be."""

    def __init__(
        self,
        given: str | os.PathLike[str],
        stack: ExitStack,
        encoding: str | None = None,
        max_unpacked: int | None = None,
    ) -> None:
        self.name = file_name(given)
        self.findings: list[Finding] = []
        self._stack = stack
        self.path = Path(given)
        if self.name == "-":
            self.path = self._kept(self._stdin())
        self._must_exist()
        try:
            if not self.path.is_file():  # a pipe can be read but once
                self.path = self._kept(self.path.open("rb"))
            self.packed = self.path.stat().st_size
            self.most = max(LEAST, min(MOST, RATIO * self.packed)) if max_unpacked is None else max_unpacked
            if not self.packed:  # nor can /proc be read in place, where some files have no end
                with self.path.open("rb") as endless:
                    self.path = self.written(self._limited(_blocks(endless)))
            self._must_hold_something()
        except OSError as error:
            raise self._unreadable(error.strerror or error) from error
        self.original = self.path
        if file_name(self.path) != os.fspath(self.path):
            self.path = self._linked()
        self._unpack()
        self._recode(encoding)

    def _stdin(self) -> IO[bytes]:
        if sys.stdin is None:
            raise self._unreadable("the standard input is closed")
        return sys.stdin.buffer

    def _must_exist(self) -> None:
        if not self.name or not os.path.exists(
            self.path
        ):  # an empty name is not this folder, but a variable without a value
            raise InputError([finding("file-missing", self.name, path=os.path.abspath(self.name))])
        if self.path.is_dir():
            raise InputError([finding("file-is-directory", self.name)])
        if self.path.is_char_device() and os.path.realpath(self.path) != os.devnull and not self._is_terminal():
            raise self._unreadable("it is a device")

    def _is_terminal(self) -> bool:
        try:
            with self.path.open("rb", buffering=0) as device:
                return device.isatty()
        except OSError:  # no terminal is there, or another's
            return False

    def _must_hold_something(self) -> None:
        with self.path.open("rb") as file:
            if not file.read(1):
                raise InputError([finding("file-empty", self.name)])

    def _unreadable(self, reason: object) -> InputError:
        return InputError([finding("file-unreadable", self.name, reason=reason)])

    def _kept(self, stream: IO[bytes]) -> Path:
        with stream:
            return self.written(_blocks(stream))

    def _temporary(self) -> Path:
        folder = Path(tempfile.gettempdir()) / f"karat-{uuid.uuid4().hex}"
        self._stack.callback(shutil.rmtree, folder, ignore_errors=True)  # first: Ctrl-C may come before the next line
        folder.mkdir(0o700)
        return folder / "input"

    def written(self, blocks: Iterable[bytes]) -> Path:
        """These bytes as a file that is there as long as the source."""
        path = self._temporary()
        with path.open("wb") as file:
            file.writelines(blocks)
        return path

    def _linked(self) -> Path:
        """The file under a name that is UTF-8, which is all that the engine can open."""
        path = self._temporary()
        try:
            path.symlink_to(self.path.absolute())
        except OSError:
            shutil.copyfile(self.path, path)
        return path

    def _unpack(self) -> None:
        foreign = next((what for mark, what in _FOREIGN.items() if self.head.startswith(mark)), None)
        if foreign and (b"\0" in self.head or not self.head.isascii()):
            raise InputError([finding("file-foreign", self.name, found=foreign)])
        packing = self._packing()
        if packing is None:
            return
        try:
            self.path = self.written(self._limited(unpacked(self.path, packing)))
        except InputError:
            raise
        except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
            raise self._unreadable(f"{packing}: {error}") from error
        self.__dict__.pop("head", None)
        if not self.head:
            raise InputError([finding("file-empty", self.name)])
        if (inner := self._packing()) and not self.head.isascii():
            raise self._unreadable(f"it is packed twice, {inner} inside {packing}: unpack it once")

    def _packing(self) -> str | None:
        return next((name for mark, name in _PACKED.items() if self.head.startswith(mark)), None)

    def _limited(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        size = 0
        for block in blocks:
            size += len(block)
            self.must_fit(size)
            yield block

    def must_fit(self, size: int) -> None:
        """Refuse a file that is larger without its packing than it may be."""
        if size > self.most:
            raise InputError([finding("unpacked-too-large", self.name, most=self.most, packed=self.packed)])

    def _recode(self, encoding: str | None) -> None:
        if self.head.startswith(_BINARY):
            return
        marked = next((e for bom, e in _BOMS.items() if self.head.startswith(bom)), None)
        wanted = marked if encoding is None or self._is_utf8(encoding) else encoding
        if encoding is None and marked is None and (guess := _looks_wide(self.head)):
            kind = guess[:6].upper()
            raise InputError([finding("looks-utf16", self.name, 1, encoding=guess, kind=kind)])
        if wanted is None:
            return
        if wanted in ("utf-16", "utf-32"):
            self.findings.append(finding("encoding-utf16", self.name, encoding=wanted.upper()))
        try:
            with self.path.open(encoding=wanted, newline="") as text:
                self.path = self.written(block.encode() for block in _without_mark(text))
        except UnicodeError as error:
            raise self._unreadable(f"it is not {wanted}: {error}") from error
        except OSError as error:
            raise self._unreadable(error.strerror or error) from error
        self.__dict__.pop("head", None)

    def _is_utf8(self, encoding: str) -> bool:
        try:
            "".encode(encoding)  # rot13 and the like are codecs, but not of text
            return codecs.lookup(encoding).name == "utf-8"
        except (LookupError, ValueError) as error:
            way_out = "name one that Python knows, such as latin-1, cp1252 or utf-16"
            raise InputError([finding("bad-option", self.name, message=str(error), way_out=way_out)]) from error

    def at(self, path: Path) -> Source:
        """The same input, of which some was written to another file."""
        other = copy.copy(self)
        other.path, other.findings = path, []
        for seen in ("head", "start"):
            other.__dict__.pop(seen, None)
        return other

    @cached_property
    def head(self) -> bytes:
        """The first bytes, enough to tell the format: a whole line, if it is no longer than a record may be."""
        return self._begun(lambda content: b"\n" in content or b"\r" in content)

    def beginning(self) -> bytes:
        """The head, or more of the file where the first JSON record does not end in it: its text may be a book."""
        return self._begun(_holds_a_record)

    def _begun(self, enough: Callable[[bytes], bool]) -> bytes:
        content, size = b"", HEAD
        with self.path.open("rb") as file:
            while size <= LONGEST_RECORD:
                content += file.read(size - len(content))
                if len(content) < size or enough(content):
                    break
                size *= 4
        return content

    @cached_property
    def start(self) -> bytes:
        """The head without blank space in front."""
        return self.head.lstrip()

    def is_blank(self) -> bool:
        """Is there nothing but blank space?"""
        return not self.start and self.is_all_head()

    def is_all_head(self) -> bool:
        return self.path.stat().st_size <= len(self.head)

    def has_nul(self) -> bool:
        """Is there a NUL byte anywhere? (The engine reads over it.)"""
        with self.path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(b"\0") >= 0

    def with_plain_line_ends(self) -> Path | None:
        """A copy in which every line ends alike; none where no line ends in CR LF."""
        content = self.bytes()
        if b"\r\n" not in content:
            return None
        return self.written([content.replace(b"\r\n", b"\n")])

    def lines(self) -> Iterator[bytes]:
        """Physical lines, from the first."""
        with self.path.open("rb") as file:
            yield from file

    def bytes(self) -> bytes:
        return self.path.read_bytes()

    @contextmanager
    def mapped(self) -> Iterator[Content]:
        """The bytes of the file without a copy of all of them."""
        with self.path.open("rb") as file, Content(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            yield content

    @cached_property
    def sha256(self) -> str:
        """Hash of the file as it was given."""
        with self.original.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def hashed(self, sha256: str) -> None:
        """Take the hash from a reader that has seen the whole file, which need not be read again then."""
        if self.path == self.original:
            self.__dict__["sha256"] = sha256

    @property
    def sql(self) -> str:
        """The path as an SQL text literal."""
        return path_literal(self.path)

    def encoding_findings(self) -> list[Finding]:
        """Where the file is not UTF-8 text, if it is not."""
        if self._is_text():
            return []
        for number, line in enumerate(self.lines(), 1):
            if b"\0" in line:
                return [finding("nul-byte", self.name, number)]
            try:
                line.decode()
            except UnicodeDecodeError as error:
                return [finding("not-utf8", self.name, number, byte=line[error.start])]
        return []

    def _is_text(self) -> bool:
        decoder = codecs.getincrementaldecoder("utf-8")()
        with self.path.open("rb") as file:
            try:
                plain = all(
                    b"\0" not in block and decoder.decode(block) for block in iter(lambda: file.read(BLOCK), b"")
                )
                return plain and not decoder.decode(b"", final=True)
            except UnicodeDecodeError:
                return False


class Content(mmap.mmap):
    """The bytes of a file, of which those that were read need not stay in memory."""

    def done(self, end: int) -> int:
        """Say that nothing before a place is needed any more."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self.madvise(mmap.MADV_DONTNEED, 0, end - end % mmap.PAGESIZE)
        return end


def _blocks(stream: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
    return iter(lambda: stream.read(BLOCK), b"")


def quoted(name: str) -> str:
    """A name as SQL wants it."""
    return '"' + name.replace('"', '""') + '"'


def path_literal(path: Path) -> str:
    """A path for the engine, in which it sees no pattern of several files."""
    text = re.sub(r"([*?\[])", r"[\1]", str(path))
    return "'" + text.replace("'", "''") + "'"


def _holds_a_record(head: bytes) -> bool:
    text = head.decode(errors="replace")
    try:
        json.JSONDecoder().raw_decode(text, text.find("{"))
    except (ValueError, RecursionError):
        return False
    return True


def _looks_wide(head: bytes) -> str | None:
    """In which of four bytes UTF-32, and UTF-16 of western text, have zeros."""
    head = head[:2000]
    if len(head) < 8:
        return None
    zeros = {at for at in range(4) if head[at::4].count(0) > 0.7 * len(head[at::4])}
    places = {"utf-32-le": {2, 3}, "utf-32-be": {0, 1}, "utf-16-le": {1, 3}, "utf-16-be": {0, 2}}
    return next((name for name, where in places.items() if where <= zeros), None)


def _without_mark(text: IO[str]) -> Iterator[str]:
    """The text in blocks, without a byte-order mark in front; anywhere else U+FEFF is a character."""
    yield text.read(BLOCK).removeprefix("\ufeff")
    yield from iter(lambda: text.read(BLOCK), "")


def unpacked(path: Path, packing: str) -> Iterator[bytes]:
    """The content of a packed file in blocks; whatever stands behind the first stream must be a whole stream too."""
    with path.open("rb") as file:
        if packing == "gzip":
            with gzip.open(file) as content:
                yield from _blocks(content)
        else:
            yield from _streams(file, _STREAMS[packing])


def _streams(file: IO[bytes], maker: Callable[[], Any]) -> Iterator[bytes]:
    stream = maker()
    for piece in iter(lambda: file.read(BLOCK), b""):
        while piece:
            if stream.eof:
                piece = piece.lstrip(b"\0")  # zeros may stand between streams, and behind the last
                if not piece:
                    break
                stream = maker()
            yield stream.decompress(piece, BLOCK)
            while not stream.eof and not stream.needs_input:
                yield stream.decompress(b"", BLOCK)
            piece = stream.unused_data if stream.eof else b""
    if not stream.eof:
        raise EOFError("the data are cut off")


def zstd() -> Any:
    """The module of the standard library, or what it was before Python 3.14."""
    if sys.version_info >= (3, 14):
        return import_module("compression.zstd")
    return import_module("backports.zstd")


class _Zstd:
    """A zstd frame whose faults are ValueErrors, as those of other packings."""

    def __init__(self) -> None:
        self._frame = zstd().ZstdDecompressor()

    def decompress(self, data: bytes, most: int) -> bytes:
        try:
            return bytes(self._frame.decompress(data, most))
        except zstd().ZstdError as error:
            raise ValueError(error) from error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._frame, name)


_STREAMS: dict[str, Callable[[], Any]] = {"bzip2": bz2.BZ2Decompressor, "xz": lzma.LZMADecompressor, "zstd": _Zstd}
