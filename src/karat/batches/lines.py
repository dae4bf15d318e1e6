# SPDX-License-Identifier: Apache-2.0
"""JSON Lines and JSON arrays in batches: lines copied to a file of their own, which is read as any file is, with the lines that they have."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from msgspec import DecodeError

from karat.align import EXAMPLES
from karat.batches.files import SHARE, NotInBatches
from karat.columns import Ints
from karat.engines.duckdb import Engine
from karat.findings import Finding
from karat.progress import told
from karat.read import BY_LINES, Read, Unread, allowed
from karat.read.json import array_lines
from karat.side import Origin, Side

LEAST_BYTES = 1 << 20
"""Bytes of the smallest batch."""


class Stretch(NamedTuple):
    """Lines that follow each other, with their numbers, without blank ones."""

    lines: list[bytes]
    number: Ints


def batch_bytes(engine: Engine, unread: Unread) -> int:
    return max(allowed(engine) // SHARE // BY_LINES[unread.format], LEAST_BYTES)


def stretches(engine: Engine, unread: Unread) -> Iterator[Stretch]:
    """The lines of a file, as many at a time as may be in memory; the records of an array as lines."""
    if unread.format == "json":
        yield from _records(unread)
        return
    path, number = unread.source.path, 1
    size = batch_bytes(engine, unread)
    bounds = [*range(0, path.stat().st_size, size), path.stat().st_size]
    with path.open("rb") as file:
        for _, end in told(list(pairwise(bounds)), "bytes", np.diff(bounds).tolist()):
            lines = file.readlines(end - file.tell()) if end > file.tell() else []
            kept = [nth for nth, line in enumerate(lines) if not line.isspace()]
            if kept:
                yield Stretch([lines[nth] for nth in kept], np.array(kept, np.int64) + number)
            number += len(lines)


def _records(unread: Unread) -> Iterator[Stretch]:
    try:
        for records, number in array_lines(unread.source):
            if records:
                yield Stretch(records, np.array(number, np.int64))
    except (DecodeError, ValueError, RecursionError) as error:
        raise NotInBatches from error  # what is wrong is found where all of it is


def read_lines(engine: Engine, unread: Unread, lines: list[bytes], number: Ints) -> Side:
    """Some lines as a side of their own."""
    path = engine.folder / secrets.token_hex(4)
    try:
        path.write_bytes(b"".join(lines))
        side = unread.part(path, number)
        side.origin.line_of = lambda record: int(number[record])  # the file is gone when somebody asks
        return side
    finally:
        path.unlink(missing_ok=True)


@dataclass(eq=False)
class JsonLines:
    """A large file of a record a line, its lines by a hash of their ids: those of one id, however it is spelt, are in one batch."""

    engine: Engine
    unread: Unread
    context: str | None = None
    """What the records must mean; None: units."""
    records: int = 0
    first: list[str] = field(default_factory=list)
    place: list[list[Ints]] = field(default_factory=list)
    """Records of each batch, from 0."""
    line: list[Ints] = field(default_factory=list)

    @property
    def read(self) -> Read:
        return self.unread.read

    @property
    def origin(self) -> Origin:
        return self.unread.origin

    @property
    def findings(self) -> list[Finding]:
        return self.unread.source.findings

    @property
    def batches(self) -> int:
        """How many batches its lines make."""
        return 1 + self.unread.source.path.stat().st_size // batch_bytes(self.engine, self.unread)

    @cached_property
    def _paths(self) -> list[Path]:
        begin = secrets.token_hex(4)
        return [self.engine.folder / f"{begin}-{nth}" for nth in range(len(self.place))]

    def by_hash(self, batches: int) -> list[int]:
        """Copy every line to the file of its batch; gives how many records each has."""
        self.place = [[] for _ in range(batches)]
        for lines, number in stretches(self.engine, self.unread):
            self._copy(lines, number, batches)
            self.line.append(number)
        return [sum(map(len, part)) for part in self.place]

    @cached_property
    def lines(self) -> Ints:
        """The line of each record."""
        return np.concatenate(self.line)

    def _copy(self, lines: list[bytes], number: Ints, batches: int) -> None:
        side = read_lines(self.engine, self.unread, lines, number)
        if side.context != self.context or side.keys.by_position or len(side) > len(lines):
            raise NotInBatches
        begin = self.records
        self.records += len(lines)
        self.first += islice(side.keys.id, EXAMPLES - len(self.first))
        lines[-1] = lines[-1].rstrip(b"\n") + b"\n"
        batch = self.engine.hash_places(side.keys.id, batches)[_units(side, len(lines))]
        for nth in np.unique(batch).tolist():
            at = np.flatnonzero(batch == nth)
            self.place[nth].append(at + begin)
            with self._paths[nth].open("ab") as file:
                file.writelines(itemgetter(*at.tolist())(lines) if len(at) > 1 else [lines[at[0]]])

    def side(self, nth: int) -> Any:
        """The records of a batch with the lines of the file."""
        if not self.place[nth]:
            return None
        return self.unread.part(self._paths[nth], self.lines[np.concatenate(self.place[nth])])


def _units(side: Side, records: int) -> Ints:
    """The unit of each record, which has an id by it."""
    unit = np.full(records, -1)
    unit[np.arange(len(side)) if side.record is None else side.record] = np.arange(len(side))
    if "record" in side.entries:
        unit[side.entries["record"]] = side.entries.unit
    if (unit < 0).any():
        raise NotInBatches
    return unit
