# SPDX-License-Identifier: Apache-2.0
"""One side in batches: where the rows of its units are, and the side that the rows of a batch are."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from karat.align import EXAMPLES
from karat.columns import Codes, Ints
from karat.engines.duckdb import KEYS, Batched, Engine, Stretches
from karat.findings import Finding
from karat.read import Read, Unread, Waiting, allowed
from karat.read.roles import Records, roles_of
from karat.read.trec import Lines, query_lines
from karat.side import Entries, Origin, Side

ON = not os.environ.get("KARAT_PLAIN")
"""Whether files are read in batches at all."""
ROW_BYTES = 400
"""What a row takes while it is read, checked and aligned."""
SHARE = 4
"""A batch takes this part of the memory that was granted: the engine has the rest."""
LEAST_ROWS = 20_000
"""Rows of the smallest batch."""


class NotInBatches(Exception):
    """The file has to be looked at as a whole."""


def is_large(engine: Engine, side: Any) -> bool:
    """Would the rows of a side, read as a whole, take more memory than there may be?"""
    return isinstance(side, Unread) or (isinstance(side, Waiting) and side.records.rows * ROW_BYTES > allowed(engine))


def batch_rows(engine: Engine) -> int:
    return max(allowed(engine) // SHARE // ROW_BYTES, LEAST_ROWS)


class Parted(Protocol):
    """One side that gives its units in batches."""

    @property
    def findings(self) -> list[Finding]:
        """What is said of the file as a whole."""
        ...

    @property
    def records(self) -> int: ...
    @property
    def origin(self) -> Origin: ...
    def stretches(self) -> Stretches: ...
    def arrange(self, batch_of: Mapping[str, int], cuts: Ints | None, batches: int) -> None: ...
    def side(self, nth: int) -> Side | None: ...


@dataclass(eq=False)
class Table:
    """A large table in the engine; a unit is all rows that have the same ``key``."""

    engine: Engine
    waiting: Waiting
    key: str
    arranged: Batched | None = None

    @property
    def read(self) -> Read:
        return self.waiting.read

    @property
    def origin(self) -> Origin:
        return self.waiting.origin

    @property
    def findings(self) -> list[Finding]:
        return self.waiting.records.findings

    @property
    def records(self) -> int:
        return self.waiting.records.rows

    @cached_property
    def numbered(self) -> str:
        numbered: str | None = self.waiting.records.columns.numbered  # type: ignore[attr-defined]
        if numbered is None:
            raise NotInBatches
        return numbered

    @property
    def batches(self) -> int:
        """How many batches its rows make."""
        return 1 + self.records // batch_rows(self.engine)

    @property
    def first(self) -> list[str]:
        """The first ids."""
        return self.engine.first_texts(self.waiting.records.columns.relation, self.key, EXAMPLES)  # type: ignore[attr-defined]

    def by_hash(self, batches: int) -> list[int]:
        """Rows by a hash of their key; gives how many each batch has."""
        self.arranged = self.engine.by_hash(self.numbered, self.key, batches)
        return np.diff(self.arranged.bounds).tolist()  # type: ignore[no-any-return]

    def stretches(self) -> Stretches:
        return self.engine.stretches(self.numbered, self.key)

    def arrange(self, batch_of: Mapping[str, int], cuts: Ints | None, batches: int) -> None:
        """Rows by batch: those between two cuts, or a copy in which they stand together."""
        if cuts is not None:
            self.arranged = Batched(self.numbered, cuts.tolist())
        else:
            name = f"{self.origin.role} {self.origin.name}"
            self.arranged = self.engine.by_unit(name, self.numbered, self.key, batch_of, batches)

    def side(self, nth: int) -> Side | None:
        """The rows of a batch as a side of its own, with the lines of the file."""
        assert self.arranged is not None
        relation, rows = self.engine.batch(self.arranged, nth)
        if not len(rows):
            return None
        of = self.waiting.records
        line_of = of.origin.line_of
        origin = replace(of.origin, line_of=lambda row: line_of(int(rows[row])))
        side = self.waiting.of(Records(origin, self.engine.lazily(relation), len(rows), of.typed))
        return replace(renumbered(side, rows), origin=of.origin)


def renumbered(side: Side, number: Ints) -> Side:
    """A side whose records have the numbers of a larger one's."""
    entries = side.entries
    if "record" in entries:
        entries = Entries(entries.unit, {**entries.columns, "record": number[entries["record"]]})
    return replace(side, entries=entries, record=number if side.record is None else number[side.record])


def by_batch(batch: Sequence[int], batches: int) -> list[Ints]:
    """What stands in each batch, in its order."""
    of = np.array(batch, np.int64)
    order = np.argsort(of, kind="stable")
    return np.split(order, np.searchsorted(of[order], np.arange(1, batches)))


MOST_STRETCHES = 5_000_000
"""Stretches of lines that are kept in mind: a file that is not sorted has one for each line."""


@dataclass(eq=False)
class Lined:
    """A large file of a record a line, such as a TREC run, in stretches of lines of the same unit."""

    engine: Engine
    unread: Unread
    order: list[Ints] = field(default_factory=list)

    @property
    def origin(self) -> Origin:
        return self.unread.origin

    @property
    def findings(self) -> list[Finding]:
        return self.unread.source.findings

    @cached_property
    def records(self) -> int:
        return int(self.lines.rows.sum())

    @cached_property
    def lines(self) -> Lines:
        lines = query_lines(self.unread.source, MOST_STRETCHES)
        if lines is None or not len(lines.line):
            raise NotInBatches
        return lines

    def stretches(self) -> Stretches:
        lines = self.lines
        query = Codes.of(lines.query)
        first, last = np.full(len(query.names), 1 << 62), np.zeros(len(query.names), np.int64)
        np.minimum.at(first, query.code, lines.line)
        np.maximum.at(last, query.code, np.append(lines.line[1:] - 1, lines.line[-1] + lines.rows[-1]))
        rows = np.bincount(query.code, lines.rows).astype(np.int64)
        return Stretches(query.names, first, last, rows)

    def arrange(self, batch_of: Mapping[str, int], cuts: Ints | None, batches: int) -> None:
        self.order = by_batch([batch_of[query] for query in self.lines.query], batches)

    def side(self, nth: int) -> Side | None:
        """The lines of a batch, copied to a file of their own and read as any file is."""
        stretch, lines, path = self.order[nth], self.lines, self.engine.folder / "lines"
        if not len(stretch):
            return None
        source = self.unread.source.path
        stop, until = np.append(lines.start[1:], source.stat().st_size), np.append(lines.line[1:], 1 << 62)
        with source.open("rb") as file, path.open("wb") as out:
            line = []
            for begin, end, number, after in zip(*(c[stretch].tolist() for c in (lines.start, stop, lines.line, until)), strict=True):  # fmt: skip
                file.seek(begin)
                content = file.read(end - begin)
                out.write(content)
                line.append(np.arange(number, min(after, number + content.count(b"\n") + 1)))
        return self.unread.part(path, np.concatenate(line))


@dataclass(eq=False)
class Small:
    """A side that is in memory, its units by batch."""

    whole: Side
    units: list[Ints] | None = None

    @property
    def origin(self) -> Origin:
        return self.whole.origin

    @property
    def findings(self) -> list[Finding]:
        return self.whole.findings

    @property
    def records(self) -> int:
        return self.whole.records

    def stretches(self) -> Stretches:
        size = self.whole.entries.sizes(len(self.whole))
        place = np.arange(len(self.whole))
        return Stretches([case for case, _ in self.whole.keys.pairs()], place, place, size)

    def arrange(self, batch_of: Mapping[str, int], cuts: Ints | None, batches: int) -> None:
        self.units = by_batch([batch_of[case] for case, _ in self.whole.keys.pairs()], batches)

    def side(self, nth: int) -> Side | None:
        assert self.units is not None
        return replace(self.whole.take(self.units[nth]), findings=[]) if len(self.units[nth]) else None


def checked_table(engine: Engine, waiting: Waiting, key: str) -> Table:
    """A table that can be read in batches, whose units are told by the column of a role."""
    records, read = waiting.records, waiting.read
    columns: Any = records.columns
    roles = roles_of(records, read)
    if waiting.pages or not {"value", "id", key} <= roles.keys():
        raise NotInBatches
    keys = [roles[role] for role in ("id", "test_case") if role in roles]
    if not all(columns.types[name] in KEYS for name in keys):
        raise NotInBatches
    if not records.typed and engine.spells_fractions(columns.relation, keys):
        raise NotInBatches  # whether 1.0 is 1 depends on all ids
    return Table(engine, waiting, roles[key])
