# SPDX-License-Identifier: Apache-2.0
"""One side of an evaluation, gold or a system's output: units, and the entries of each unit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from karat.columns import BLOCK, Codes, Floats, Index, Ints, Text, Words, odd, recode, repeats, starts, vocabulary
from karat.findings import Finding


def no_line(record: int) -> int | None:
    """Where nothing is known of lines."""
    return None


@dataclass(eq=False)
class Origin:
    """What a side was read from."""

    name: str
    role: str
    """gold or pred."""
    format: str = ""
    line_of: Callable[[int], int | None] = no_line
    """The physical line of a record; records count from 0."""
    system: str = ""
    """What the system is called."""
    column: str | None = None
    """The column of a table that the system is, where it is one of several."""
    sha256: str | None = None
    bytes: int | None = None


class Positions(Sequence[str]):
    """The ids of data without ids, which are paired by position: "1", "2", …, of which rows left out have left theirs."""

    def __init__(self, rows: int, kept: Sequence[int] | None = None) -> None:
        self.rows = rows
        self.number: Sequence[int] = range(1, rows + 1) if kept is None else [row + 1 for row in kept]

    def __len__(self) -> int:
        return len(self.number)

    def __getitem__(self, index: Any) -> Any:
        numbers = self.number[index]
        return str(numbers) if isinstance(numbers, int) else list(map(str, numbers))

    def __iter__(self) -> Iterator[str]:
        return map(str, self.number)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Positions) and type(self.number) is type(other.number):
            return self.number == other.number
        return list(self) == (list(other) if isinstance(other, Positions) else other)

    __hash__ = None  # type: ignore[assignment]

    def take(self, index: Ints) -> Positions:
        return Positions(self.rows, [self.number[i] - 1 for i in index.tolist()])

    def stored_as(self) -> list[str]:
        return list(self)


@dataclass(frozen=True, eq=False)
class Keys:
    """What identifies the units: test case and id."""

    case: Codes
    id: Sequence[str]
    shown: Mapping[str, str] | None = None
    """Of merged units, the id that one of them has, where it is known: ids are then numbers that mean nothing."""
    by_position: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_position", isinstance(self.id, Positions))

    def __len__(self) -> int:
        return len(self.case.code)

    def take(self, index: Ints) -> Keys:
        ids = self.id
        taken = ids.take(index) if isinstance(ids, Positions) else [ids[i] for i in index.tolist()]
        return Keys(self.case.take(index), taken, self.shown)

    def known(self, index: Ints) -> Keys:
        """Some of the units, by the ids to show: of merged ones, those that were looked up."""
        if self.shown is None:
            return self.take(index)
        at = [i for i in index.tolist() if self.id[i] in self.shown]
        return Keys(self.case.take(at), [self.shown[self.id[i]] for i in at])

    def pairs(self) -> Iterable[tuple[str, str]]:
        """Test case and id of every unit."""
        names = self.case.names
        return zip(map(names.__getitem__, self.case.code.tolist()), self.id, strict=True)

    def same(self, other: Keys) -> bool:
        """Have both sides the same units in the same order?"""
        if len(self) != len(other) or not (self.id is other.id or self.id == other.id):
            return False
        ours, theirs = self.case, other.case
        if ours.names == theirs.names and len(ours.names) == 1:
            return True
        return bool((ours.code == theirs.inside(ours.names)).all())

    def comparable(self, alone: bool) -> Iterable[Any]:
        """What a unit is found by: its id, where there is but one test case, else both."""
        return self.id if alone else self.pairs()


@dataclass(frozen=True, eq=False)
class Entries:
    """Ragged columns: the unit of each entry, and what the entry says. Entries of a unit stand together, in their order."""

    unit: Ints
    columns: dict[str, Any]
    single: bool = False
    """Whether the first units have one entry each, in order, and the others none, as labels have."""

    def __len__(self) -> int:
        return len(self.unit)

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def of(self, columns: dict[str, Any]) -> Entries:
        """The same entries, of which other columns tell."""
        return Entries(self.unit, columns, self.single)

    def at(self, index: Any) -> Entries:
        """Some of the entries."""
        return Entries(self.unit[index], {name: column[index] for name, column in self.columns.items()})

    def one_each(self, units: int) -> bool:
        """Whether each of so many units has one entry, in their order."""
        return self.single and len(self) == units

    def wide(self, units: int) -> int:
        """How many entries each unit has where all have as many, as weights of all labels are; else 0."""
        if self.one_each(units):
            return 1
        known: dict[int, int] = self.__dict__.setdefault("_wide", {})
        if units not in known:
            wide = len(self) // max(units, 1)
            even = wide > 0 and wide * units == len(self) and self._begins_and_ends(wide)
            known[units] = wide if even and (wide < 3 or self.in_order) else 0
        return known[units]

    def _begins_and_ends(self, wide: int) -> bool:
        """Do the first and the last of every ``wide`` entries belong to the unit whose turn it is?"""
        unit = np.arange(len(self) // wide)
        ends = (0, wide - 1)[: min(wide, 2)]
        return all(bool((self.unit[end::wide] == unit).all()) for end in ends)

    def sizes(self, units: int) -> Ints:
        """How many entries each unit has."""
        wide = self.wide(units)
        return np.full(units, wide) if wide else np.bincount(self.unit, minlength=units)

    def taken(self, index: Ints, units: int) -> Entries:
        """The entries of some of all units, in another order."""
        if self.one_each(units):
            columns = {name: column[index] for name, column in self.columns.items()}
            return Entries(np.arange(len(index)), columns, single=True)
        wide = self.wide(units)
        if wide and all(isinstance(c, np.ndarray) and c.ndim == 1 for c in self.columns.values()):
            # As many to each: whole rows of a table are copied together.
            return Even(len(index), wide, {name: self._rows(name, index, units) for name in self.columns})
        every = self.sizes(units)
        size = every[index]
        at = np.repeat(starts(every)[index] - starts(size), size) + np.arange(int(size.sum()))
        return Entries(
            np.repeat(np.arange(len(index)), size), {name: column[at] for name, column in self.columns.items()}
        )

    def _rows(self, name: str, index: Ints, units: int) -> Any:
        """A column for some of all units, which have as many entries each; where all say the same, the first will do."""
        column, wide = self[name], self.wide(units)
        if len(index) <= units and self.pattern(name, units) is not None:
            return column[: len(index) * wide]
        return column.reshape(-1, wide).take(index, 0).ravel()

    def moved(self, to: Ints) -> Entries:
        """Under other unit numbers (−1: left out), a unit's entries together."""
        out = self if bool((to == np.arange(len(to))).all()) else Entries(to[self.unit], self.columns)
        if len(out) and out.unit.min() < 0:
            out = out.at(np.flatnonzero(out.unit >= 0))
        rising = bool((out.unit[1:] >= out.unit[:-1]).all())
        return out if rising else out.at(np.argsort(out.unit, kind="stable"))

    def by(self, column: str, units: int) -> Entries:
        """The entries of each unit in the order of a column of codes."""
        if self.rises(column, units, again=True):
            return self
        pattern = self.pattern(column, units)
        if pattern is None:
            code = self[column]
            key = self.unit * (int(code.max(initial=0)) + 1) + code
            return self.at(np.argsort(key, kind="stable"))
        order = np.argsort(pattern, kind="stable").tolist()
        return self.of({name: _columns(values.reshape(-1, len(order)), order) for name, values in self.columns.items()})

    def pattern(self, column: str, units: int) -> Ints | None:
        """The codes that every unit has in the same order, as weights of all labels most often are; else None."""
        code, wide = self[column], self.wide(units)
        if not wide or (code[-wide:] != code[:wide]).any() or (code[wide:] != code[:-wide]).any():
            return None
        return code[:wide]  # type: ignore[no-any-return]

    def sums(self, column: str, units: int) -> Floats:
        """The sum of a column in each unit."""
        if wide := self.wide(units):  # one after the other, as the other way
            return sum((self[column][at::wide] for at in range(wide)), np.zeros(units))
        return np.bincount(self.unit, self[column], units).astype(float, copy=False)

    def rises(self, column: str, units: int, again: bool = False) -> bool:
        """Do the codes of a column rise within each unit (or, ``again``, repeat)?"""
        code, wide = self[column], self.wide(units)
        later = np.greater_equal if again else np.greater
        if wide:
            return all(later(code[at::wide], code[at - 1 :: wide][:units]).all() for at in range(1, wide))
        same = self.unit[1:] == self.unit[:-1]
        return bool((later(code[1:], code[:-1]) | ~same).all() and (self.unit[1:] >= self.unit[:-1]).all())

    def recoded(self, old: Mapping[str, Sequence[str]], new: Mapping[str, Sequence[str]]) -> Entries:
        """With the codes of other lists of names."""
        if not any(name in new and name in old for name in self.columns):
            return self
        columns = {
            name: recode(column, old[name], new[name]) if name in new and name in old else column
            for name, column in self.columns.items()
        }
        return self.of(columns)

    @property
    def in_order(self) -> bool:
        """Do the entries stand in the order of their units' numbers?"""
        return bool((self.unit[1:] >= self.unit[:-1]).all())

    def blocks(self) -> Iterator[tuple[int, Entries]]:
        """Entries of whole units, few enough at a time to stay in the processor's cache, and where they begin."""
        begin = 0
        while begin < len(self):
            last = self.unit[min(begin + BLOCK, len(self)) - 1]
            end = int(np.searchsorted(self.unit, last, "right"))
            yield begin, self.at(slice(begin, end))
            begin = end

    def hashes(self, key: str, salt: int = 0) -> Words:
        """A number for each entry's unit and text: equal for equal ones."""
        hashed: Words = (np.asarray(self.unit, np.int64).view(np.uint64) + np.uint64(1)) * odd(97, salt)
        hashed += self[key].hash(salt)
        return hashed

    def index(self, key: str) -> tuple[Index, int]:
        """An index by unit and text, and the salt of its hashes: tried until no two different entries share one."""
        salt = 0
        while True:
            index = Index(self.hashes(key, salt))
            holder = index.row[index.code]
            other = np.flatnonzero(holder != np.arange(len(self)))
            if self.alike(key, other, self, holder[other]).all():
                return index, salt
            salt += 1

    def alike(self, key: str, at: Ints, other: Entries, there: Ints) -> Any:
        """Whether the entries ``at`` have the units and texts of the other side's entries ``there``."""
        return (self.unit[at] == other.unit[there]) & self[key][at].equals(other[key][there])

    def repeated(self, key: str) -> tuple[Ints, Ints]:
        """Entries whose unit and text an earlier entry has, in order, and the first that has them."""
        self[key].hash()  # once, for all blocks and for who looks for the texts later
        pairs = [np.stack(repeats(part.hashes(key))) + begin for begin, part in self.blocks()]
        later, first = np.concatenate([np.zeros((2, 0), np.int64), *pairs], 1)
        same = np.flatnonzero(self.alike(key, later, self, first))
        order = same[np.argsort(later[same])]
        return later[order], first[order]

    @staticmethod
    def joined(parts: Sequence[Entries]) -> Entries:
        """The entries of several batches, their units numbered already."""
        if len(parts) == 1:
            return parts[0]
        columns = {name: _concatenated([part[name] for part in parts]) for name in parts[0].columns}
        return Entries(np.concatenate([part.unit for part in parts]), columns)

    @staticmethod
    def none(*columns: str) -> Entries:
        return Entries(np.zeros(0, np.int64), {name: np.zeros(0, np.int64) for name in columns})


def _columns(table: Any, order: Sequence[int]) -> Any:
    """The columns of a table in another order, all rows after each other; some rows at a time, which stay in the cache."""
    out = np.empty_like(table)
    for at in range(0, len(table), BLOCK):
        here = slice(at, at + BLOCK)
        for to, column in enumerate(order):
            out[here, to] = table[here, column]
    return out.ravel()


_UNITS: WeakValueDictionary[tuple[int, int], Any] = WeakValueDictionary()


class Even(Entries):
    """As many entries for each unit, as weights of all labels are: where an entry stands tells of which unit it is."""

    units: int
    per_unit: int

    def __init__(self, units: int, wide: int, columns: dict[str, Any]) -> None:
        self.__dict__.update(units=units, per_unit=wide, columns=columns, single=wide == 1)

    @cached_property
    def unit(self) -> Ints:  # type: ignore[override]
        """The same for gold and prediction while one of them needs it."""
        shape = self.units, self.per_unit
        if (known := _UNITS.get(shape)) is None:
            known = _UNITS[shape] = np.repeat(np.arange(self.units), self.per_unit)
            known.flags.writeable = False
        return known

    def __len__(self) -> int:
        return int(self.units * self.per_unit)

    def of(self, columns: dict[str, Any]) -> Entries:
        return Even(self.units, self.per_unit, columns)

    def wide(self, units: int) -> int:
        return int(self.per_unit) if units == self.units else super().wide(units)

    in_order = True  # type: ignore[assignment]

    def blocks(self) -> Iterator[tuple[int, Entries]]:
        step = max(BLOCK // self.per_unit, 1)
        block = np.repeat(np.arange(min(step, self.units)), self.per_unit)
        for first in range(0, self.units, step):
            unit = block[: (self.units - first) * self.per_unit] + first
            here = slice(first * self.per_unit, first * self.per_unit + len(unit))
            yield here.start, Entries(unit, {name: column[here] for name, column in self.columns.items()})


@dataclass(frozen=True, eq=False)
class Apart:
    """What is known of the ids of a side whose units stand for many: those that the other side lacks, and the first."""

    lone: Keys
    first: Sequence[str]


@dataclass(eq=False)
class Side:
    """Gold or predictions as every context, check and engine sees them."""

    origin: Origin
    kind: str
    """What the values are: label, labels, weights, votes, number, spans, pages, …"""
    keys: Keys
    entries: Entries
    names: dict[str, list[str]] = field(default_factory=dict)
    """Texts of the coded columns of the entries."""
    units: dict[str, Any] = field(default_factory=dict)
    """Columns of the units that ride along: text, cluster, slices."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What holds for the whole side: ranks or scores, inclusive ends, …"""
    record: Ints | None = None
    """The record that each unit begins with; None where records are units."""
    records: int = 0
    """How many records the input has."""
    context: str | None = None
    """The only context that the format can mean, if there is one."""
    findings: list[Finding] = field(default_factory=list)
    n: Ints | None = None
    """How many units each of them stands for; None where it is itself alone."""
    apart: Apart | None = None
    """What is known of ids where units are called by numbers."""

    def __len__(self) -> int:
        return len(self.keys)

    def uses(self, column: str = "label") -> Ints:
        """How many entries have each code of a column."""
        n = None if self.n is None else self.n[self.entries.unit]
        return np.bincount(self.entries[column], n, len(self.names[column])).astype(np.int64)

    def units_in(self, units: Any) -> int:
        """How many units some of them stand for."""
        rows = np.asarray(units)
        if self.n is None:
            return int(rows.sum()) if rows.dtype == bool else len(rows)
        return int(self.n[rows].sum())

    @property
    def name(self) -> str:
        return self.origin.name

    @property
    def role(self) -> str:
        return self.origin.role

    def line(self, unit: int) -> int | None:
        """The physical line on which a unit begins."""
        return self.origin.line_of(unit if self.record is None else int(self.record[unit]))

    def entry_line(self, entry: int) -> int | None:
        """The physical line of an entry whose column ``record`` says which record it is."""
        return self.origin.line_of(int(self.entries["record"][entry]))

    def take(self, index: Ints) -> Side:
        """Some of the units, with their lines."""
        to = np.full(len(self), -1)
        to[index] = np.arange(len(index))
        units = {name: _taken(column, index) for name, column in self.units.items()}
        record = index if self.record is None else self.record[index]
        n = None if self.n is None else self.n[index]
        return replace(
            self, keys=self.keys.take(index), entries=self.entries.moved(to), units=units, record=record, n=n
        )


def joined(parts: Sequence[Side]) -> Side:
    """Batches of whole units as one side; facts that one batch shows hold for all."""
    first = parts[0]
    case = Codes.joined([part.keys.case for part in parts])
    names = {
        name: vocabulary(name, [part.names.get(name, ()) for part in parts]) for part in parts for name in part.names
    }
    start = starts(np.array([len(part) for part in parts])).tolist()
    entries = [
        Entries(part.entries.unit + at, part.entries.columns).recoded(part.names, names)
        for part, at in zip(parts, start, strict=True)
    ]
    columns = {name for part in parts for name in part.units}
    listed = {name: [v for part in parts for v in _column(part, name)] for name in sorted(columns)}
    arrays = {name for part in parts for name, column in part.units.items() if isinstance(column, np.ndarray)}
    units: dict[str, Any] = {name: np.array(c) if name in arrays else c for name, c in listed.items()}
    keys = Keys(case, [id for part in parts for id in part.keys.id])
    facts = {name: value for part in parts for name, value in part.facts.items()}
    return replace(
        first, keys=keys, entries=Entries.joined(entries), names=names, units=units, facts=facts,
        records=sum(part.records for part in parts), findings=[f for part in parts for f in part.findings],
    )  # fmt: skip


def _column(side: Side, name: str) -> Sequence[Any]:
    """A column of the units; nothing where the side has none of that name."""
    column = side.units.get(name)
    if isinstance(column, Codes):
        return column.texts()
    return [None] * len(side) if column is None else list(column)


def by_query(
    origin: Origin, query: Text, size: Ints, columns: Mapping[str, Any], names: Mapping[str, list[str]] | None = None
) -> Side:
    """A side whose units are the queries of records: ``query`` is that of the next ``size`` records, for each of its rows."""
    code, first = query.codes()
    unit = np.repeat(code, size)
    record = np.arange(len(unit), dtype=np.int32 if len(unit) < 2**31 else np.int64)
    entries = Entries(unit, {**columns, "record": record}).moved(np.arange(len(first)))
    keys = Keys(Codes(np.arange(len(first)), query[first].texts()), [""] * len(first))
    sizes = np.bincount(code, size, len(first)).astype(np.int64)
    begin = np.asarray(entries["record"][starts(sizes)], np.int64)
    return Side(origin, "number", keys, entries, dict(names or {}), record=begin, records=len(unit), context="ranking")


def _concatenated(columns: Sequence[Any]) -> Any:
    return Text.joined(columns) if isinstance(columns[0], Text) else np.concatenate(columns)


def _taken(column: Any, index: Ints) -> Any:
    if isinstance(column, list):
        return [column[i] for i in index.tolist()]
    return column.take(index) if isinstance(column, Codes) else column[index]


def units_of(keys: Keys) -> tuple[Ints, Ints]:
    """The unit of each record, records of the same test case and id being one, and the first record of each unit."""
    at: dict[tuple[str, str], int] = {}
    unit = np.fromiter((at.setdefault(key, len(at)) for key in keys.pairs()), np.int64, len(keys))
    first = np.zeros(len(at), np.int64)
    first[unit[::-1]] = np.arange(len(unit))[::-1]
    return unit, first


def gathered(side: Side) -> Side:
    """One unit for each test case and id: rows of an id and a label together make its set of labels."""
    if side.keys.by_position or len(set(side.keys.id)) == len(side.keys.id):
        return side
    unit, first = units_of(side.keys)
    n = None if side.n is None else side.n[first]
    units = {name: _taken(column, first) for name, column in side.units.items()}
    return replace(side, keys=side.keys.take(first), entries=side.entries.moved(unit), units=units, record=first, n=n)
