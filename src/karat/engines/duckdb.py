# SPDX-License-Identifier: Apache-2.0
"""The embedded engine: one private in-memory DuckDB per evaluation, which scans files and hands out their columns."""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from karat.columns import ROW, Codes, Ints, Mask
from karat.findings import InputError, finding
from karat.values import MIDNIGHT, Column, Nested, plain, spelt, taken_apart

_OFFLINE = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
"""karat opens no socket: extensions are never fetched."""

_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_TEXTS = ("VARCHAR", "JSON", "UUID")
EXACT = 15
"""Digits that every float holds."""
KEYS = ("VARCHAR", *_WHOLE)
"""Types of ids and test cases that are compared inside the engine as they are."""
PLAIN = (*KEYS, "BOOLEAN", "DOUBLE", "FLOAT")
"""Types of labels that can be counted inside the engine."""


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


PER_THREAD = 128 << 20
"""Memory that a thread of the engine needs to work at ease."""
_SPILL = "karat-spill-"
"""What folders for data that do not fit into memory are called, with the number of the process behind it."""


def _remove_orphans(folder: Path) -> None:
    """Remove what processes left behind that were killed and could not clean up."""
    for path in folder.glob(f"{_SPILL}[0-9]*-*"):
        owner = path.name.removeprefix(_SPILL).partition("-")[0]
        if not Path(f"/proc/{owner}").exists() and Path("/proc/self").exists():
            shutil.rmtree(path, ignore_errors=True)


NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


def out_of_room(error: BaseException) -> InputError | None:
    """A finding where the engine had too little memory or disk; None for any other fault."""
    name, text = type(error).__name__, str(error).partition("\n")[0]
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return InputError([finding("out-of-memory", reason=text or "the system gives no more")])
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        return InputError([finding("disk-full", reason=error.strerror)])
    if "duckdb" not in type(error).__module__:
        return None
    if "No space left" in text or "max_temp_directory_size" in str(error):
        return InputError([finding("disk-full", reason=text)])
    return InputError([finding("out-of-memory", reason=text)]) if name == "OutOfMemoryException" else None


@dataclass(frozen=True, eq=False)
class Stretches:
    """The units of a relation: their keys, the first and last row of each, and how many rows it has."""

    key: list[str]
    first: Ints
    last: Ints
    rows: Ints


@dataclass(frozen=True)
class Batched:
    """A relation whose rows stand by batch: where each batch begins, and the last ends."""

    relation: str
    bounds: Sequence[int]
    sorted: bool = False
    """Whether it is a copy, in which the numbers of the rows are a column."""


class Limit(Protocol):
    """How large the columns of a relation may be."""

    def must_hold(self, name: str, size: Callable[[], int], passing: bool = False) -> None: ...


class Columns(Mapping[str, Column]):
    """The columns of a relation, each fetched when it is first looked at."""

    def __init__(
        self,
        engine: Engine,
        relation: str,
        broken: Callable[[Exception], Exception] | None = None,
        numbered: str | None = None,
        limit: Limit | None = None,
    ) -> None:
        self.relation, self.numbered = relation, numbered
        self._engine, self._broken, self._limit, self._known = engine, broken, limit, dict[str, Column]()
        self._types = self._asked(lambda: engine.types(relation))

    def _asked(self, question: Callable[[], Any]) -> Any:
        try:
            return question()
        except Exception as error:
            if self._broken is None or isinstance(error, InputError) or out_of_room(error):
                raise
            raise self._broken(error) from error

    def must_fit(self, names: Iterable[str]) -> None:
        """Refuse columns that are larger than their file may be, before any value of theirs is kept."""
        for name in names:
            self._must_hold(name, partial(self._engine.size, self.relation, quoted(name), self._types[name]))

    def must_fit_counted(self, id: str | None, counted: str, names: Mapping[str, str | None]) -> None:
        """The same of a table whose rows pass by, and of whose columns the distinct values were counted."""
        for field, name in names.items():
            if name:
                self._must_hold(name, partial(self._engine.size_of_counted, counted, field))
        if id:
            self._must_hold(id, partial(self._engine.size, self.relation, quoted(id), self._types[id]), passing=True)

    def _must_hold(self, name: str, size: Callable[[], int], passing: bool = False) -> None:
        if self._limit is not None:
            self._asked(partial(self._limit.must_hold, name, size, passing))

    def __getitem__(self, name: str) -> Column:
        if name not in self._known:
            column, type = quoted(name), self._types[name]
            self.must_fit([name])
            self._known[name] = self._asked(lambda: self._engine.column(self.relation, column, type))
        return self._known[name]

    def coded(self, name: str) -> Column:
        """The same; texts, which the caller expects to repeat, as codes."""
        if name not in self._known and self._types[name] == "VARCHAR":
            self.must_fit([name])
            self._known[name] = self._asked(lambda: self._engine.codes(self.relation, quoted(name)))
        return self[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._types)

    def __len__(self) -> int:
        return len(self._types)

    @property
    def types(self) -> Mapping[str, str]:
        return self._types

    def count(self) -> int:
        """How many rows there are."""
        return int(self._asked(lambda: self._engine.rows(self.relation)))


@dataclass(frozen=True)
class LabelTable:
    """A relation of one label to an item: which columns say what."""

    relation: str
    value: str
    id: str | None
    """None where items are paired by position."""
    case: str | None
    numbers_alike: bool
    """Whether ids such as 1.0 may have to be spelt as 1, because the file knows texts alone."""
    types: Mapping[str, str]

    def fields(self, other: LabelTable, of: str = "") -> tuple[str, str, str]:
        """Test case, id and value in SQL: whole numbers as such where both sides have them, else texts."""
        types = [table.types.get(table.id or "") for table in (self, other)]
        type = ("HUGEINT" if "UBIGINT" in types else "BIGINT") if all(kind in _WHOLE for kind in types) else "VARCHAR"
        case = f"CAST({of}{quoted(self.case)} AS VARCHAR)" if self.case else "''"
        id = f"CAST({of}{quoted(self.id)} AS {type})" if self.id else "NULL"
        return case, id, of + quoted(self.value)

    def scan(self, other: LabelTable) -> str:
        names = ", ".join(f"{field} AS {name}" for field, name in zip(self.fields(other), "civ", strict=True))
        return f"(SELECT {names} FROM {self.relation})"


@dataclass(frozen=True, eq=False)
class Pairs:
    """How often gold and prediction say what together; values and test cases as the engine has them."""

    gold_case: list[Any]
    gold_value: list[Any]
    pred_case: list[Any]
    pred_value: list[Any]
    in_gold: Mask
    in_pred: Mask
    n: Ints
    clean: bool = True
    """Whether every unit is there once, with an id that is no blank."""


class Engine:
    """A DuckDB connection that nobody else sees, closed with the evaluation."""

    def __init__(self, threads: int | None = None, memory: int | None = None, temp: str | None = None) -> None:
        self._config: dict[str, Any] = dict(_OFFLINE)
        self.memory = memory
        """The bytes that joins and sorts may take, where that was said."""
        if memory:
            threads = threads or max(1, min(memory // PER_THREAD, os.cpu_count() or 1))
            self._config["memory_limit"] = f"{memory}B"
        self._config |= {"threads": threads} if threads else {}
        self._folder = Path(temp or tempfile.gettempdir()) / f"{_SPILL}{os.getpid()}-{secrets.token_hex(4)}"
        """Where joins and sorts go that do not fit into memory; made by DuckDB when it is needed."""
        self._columns: dict[str, Columns] = {}
        """The columns of relations that have a limit."""

    @cached_property
    def connection(self) -> Any:
        """Opened when it is first needed: what is read into memory never waits for it."""
        import duckdb

        _remove_orphans(self._folder.parent)
        connection = duckdb.connect(config=self._config | {"temp_directory": str(self._folder)})
        connection.execute("SET enable_progress_bar = false")  # which long queries write to stdout, among the results
        return connection

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if "connection" in self.__dict__:
            self.connection.close()
            shutil.rmtree(self._folder, ignore_errors=True)
        if error is not None and (fault := out_of_room(error)):
            raise fault from error

    def types(self, relation: str) -> dict[str, str]:
        """Column names and types of what a query can select from."""
        rows = self.connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
        return {row[0]: row[1] for row in rows}

    def stream(self, name: str, frame: Any, limit: Limit | None = None) -> str:
        """Anything with the Arrow stream interface as a relation; a stream may be read once, so it is kept.

        What has a limit, which is seen before it is kept, can be read several times.
        """
        streamed = quoted(f"stream {name}")
        self.connection.register(f"stream {name}", _Stream(frame))
        if limit is not None:
            Columns(self, streamed, limit=limit).must_fit(self.types(streamed))
        self.execute(f"CREATE OR REPLACE TEMP TABLE {quoted(name)} AS SELECT * FROM {streamed}")
        return quoted(name)

    def _single(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """The one value of a query, which is fetched to its end: until then the engine takes no stream."""
        return self.connection.execute(sql, parameters).fetchall()[0][0]

    def execute(self, sql: str) -> None:
        """A statement without a result; too little room is said here, where readers could take it for a fault of the file."""
        try:
            self.connection.execute(sql)
        except Exception as error:
            if fault := out_of_room(error):
                raise fault from error
            raise

    def columns(self, relation: str, names: Iterable[str] | None = None) -> dict[str, Column]:
        """Columns of a relation, in its order, as values of Python and NumPy."""
        types = self.types(relation)
        return {name: self.column(relation, quoted(name), types[name]) for name in names or types}

    def lazily(
        self, relation: str, broken: Callable[[Exception], Exception] | None = None, numbered: str | None = None,
        limit: Limit | None = None,
    ) -> Columns:  # fmt: skip
        """Columns of a relation that are fetched when they are looked at.

        ``broken`` says what a fault of its means; ``numbered`` is the relation with `ROW` beside its columns.
        """
        columns = Columns(self, relation, broken, numbered, limit)
        self._columns |= {name: columns for name in (relation, numbered) if name and limit}
        return columns

    def _must_fit(self, relation: str) -> None:
        """Refuse a relation that is larger than its file may be."""
        if columns := self._columns.get(relation):
            columns.must_fit(columns)

    def rows(self, relation: str) -> int:
        return int(self._single(f"SELECT count(*) FROM {relation}"))

    def size(self, relation: str, column: str, type: str) -> int:
        """Bytes of a column with each value written out: in a file, a long one may be there once for all rows that have it."""
        if type.endswith("]"):
            parts = [f"(SELECT unnest({column}) FROM {relation})"]
        elif type.startswith("MAP"):
            parts = [f"(SELECT unnest({of}({column})) FROM {relation})" for of in ("map_keys", "map_values")]
        elif type.startswith("STRUCT"):
            parts = [f"(SELECT unnest({column}) FROM {relation})"]
        else:
            return int(self._single(f"SELECT coalesce(sum({_bytes(column, type)}), 0) FROM {relation}"))
        inner = [(part, quoted(name), of) for part in parts for name, of in self.types(part).items()]
        return self.rows(relation) + sum(self.size(*member) for member in inner)

    def size_of_counted(self, counted: str, field: str) -> int:
        """The same of a column whose distinct values stand in a table with how often each is there."""
        cells = _bytes(field, self.types(counted)[field])
        return int(self._single(f"SELECT coalesce(sum(n * ({cells})), 0) FROM {counted}"))

    def parquet_names(self, path: Path) -> list[str]:
        """The columns of a Parquet file as it calls them; in a relation a repeated name has a number behind it."""
        _, *nodes = self.connection.execute("SELECT name, num_children FROM parquet_schema(?)", [str(path)]).fetchall()
        names, inside = [], 0
        for name, children in nodes:
            names += [] if inside else [name]
            inside += (children or 0) - bool(inside)
        return names

    def parquet_sizes(self, path: Path) -> dict[str, tuple[int, bool]]:
        """For each leaf of the columns of a Parquet file, bytes or values, whichever are more, and whether each value is written out.

        Both by the file's own account.
        """
        sizes = "greatest(sum(num_values), sum(total_uncompressed_size))"
        plain = "bool_and(regexp_full_match(encodings, '(PLAIN|RLE|BIT_PACKED)(, (PLAIN|RLE|BIT_PACKED))*'))"
        sql = f"SELECT path_in_schema, {sizes}, {plain} FROM parquet_metadata(?) GROUP BY 1"
        return {
            name: (int(size), bool(out)) for name, size, out in self.connection.execute(sql, [str(path)]).fetchall()
        }

    def parquet_rows(self, path: Path) -> int:
        """Rows that the groups of a Parquet file hold by their own account; nothing else of it is read."""
        groups = "SELECT row_group_id, max(row_group_num_rows) AS n FROM parquet_metadata(?) GROUP BY row_group_id"
        return int(self._single(f"SELECT coalesce(sum(n), 0) FROM ({groups})", [str(path)]))

    def column(self, relation: str, column: str, type: str) -> Column:
        if fixed := re.fullmatch(r"(.*)\[\d+\]", type, re.DOTALL):
            column, type = f"CAST({column} AS {fixed[1]}[])", f"{fixed[1]}[]"
        if type.endswith("[]") or type.startswith("MAP"):
            return self._nested(relation, column, type)
        if found := re.fullmatch(r"DECIMAL\((\d+),\d+\)", type):
            if int(found[1]) > EXACT:
                texts = self._fetched(relation, f"CAST({column} AS VARCHAR)").tolist()
                return plain([None if text is None else Decimal(text) for text in texts])
            column, type = f"CAST({column} AS DOUBLE)", "DOUBLE"
        if type in _WHOLE or type in ("DOUBLE", "FLOAT", "BOOLEAN"):
            return _numbers(self._fetched(relation, column))
        if type == "FLOAT":
            column = f"CAST({column} AS DOUBLE)"
        if type.startswith("STRUCT"):
            rows = self._fetched(relation, f"CAST(to_json({column}) AS VARCHAR)").tolist()
            return taken_apart([_without_nulls(row) for row in rows], objects=True)
        if type.startswith(("TIMESTAMP", "DATE", "INTERVAL")):
            return _moments(self._fetched(relation, column), "ZONE" in type)
        texts = column if type in _TEXTS else f"CAST({column} AS VARCHAR)"
        values: list[Any] = self._fetched(relation, texts).tolist()
        return [int(value) if value is not None else None for value in values] if type.endswith("HUGEINT") else values

    def codes(self, relation: str, column: str) -> Codes:
        """A column of texts that repeat, their names in the order in which they first appear: no Python object for each row."""
        kind, given = quoted(f"texts {secrets.token_hex(4)}"), f"FROM {relation} WHERE {column} IS NOT NULL"
        if not self.connection.execute(f"SELECT 1 {given} LIMIT 1").fetchall():
            return Codes(np.full(self.rows(relation), -1), [])
        self.execute(f"CREATE TYPE {kind} AS ENUM (SELECT DISTINCT {column} {given})")
        try:
            code = self._fetched(relation, f"CAST(enum_code(CAST({column} AS {kind})) AS BIGINT)")
            names = self._fetched("(SELECT 1)", f"unnest(enum_range(NULL::{kind}))").tolist()
        finally:
            self.execute(f"DROP TYPE {kind}")
        return Codes(_filled(code, -1), names).by_appearance()

    def _nested(self, relation: str, column: str, type: str) -> Nested:
        """Lists and maps taken apart inside the engine."""
        lists = f"map_keys({column})" if type.startswith("MAP") else column
        size = _filled(self._fetched(relation, f"len({lists})"), -1).astype(np.int64)
        members = f"(SELECT unnest({lists}) AS m FROM {relation})"
        inner = self.types(members)["m"]
        flat = self.column(members, "m", inner)
        if not type.startswith("MAP"):
            return Nested(np.maximum(size, 0), None, flat, size >= 0)
        of_values = f"(SELECT unnest(map_values({column})) AS m FROM {relation})"
        weights = self.column(of_values, "m", self.types(of_values)["m"])
        return Nested(np.maximum(size, 0), spelt(plain(flat)), weights, size >= 0)

    # ---- batches of whole units

    @cached_property
    def folder(self) -> Path:
        """Where batches are put; it goes with the engine."""
        self.connection  # noqa: B018 – who closes it removes the folder
        self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder

    def stretches(self, numbered: str, key: str) -> Stretches:
        """Where the rows of each unit stand, in the order of their first rows."""
        self._must_fit(numbered)
        fields = f"coalesce(CAST({quoted(key)} AS VARCHAR), '') AS k"
        bounds = self._counted(
            f"SELECT {fields}, min({ROW}) AS lo, max({ROW}) AS hi, count(*) AS n FROM {numbered} GROUP BY 1 ORDER BY 2"
        )
        return Stretches(bounds["k"].tolist(), *(np.asarray(bounds[name], np.int64) for name in ("lo", "hi", "n")))

    def by_unit(self, name: str, numbered: str, key: str, batch_of: Mapping[str, int], batches: int) -> Batched:
        """A copy of the rows by the batch of their unit, in their order."""
        batch = quoted(f"batch of {name}")
        self.execute(f"CREATE OR REPLACE TEMP TABLE {batch} (k VARCHAR, b INTEGER)")
        keys, numbers = list(batch_of), list(batch_of.values())
        self.connection.execute(
            f"INSERT INTO {batch} SELECT unnest(?::VARCHAR[]), unnest(?::INTEGER[])", [keys, numbers]
        )
        on = f"coalesce(CAST(r.{quoted(key)} AS VARCHAR), '') = b.k"
        return self._sorted(f"SELECT r.*, b.b AS b FROM {numbered} r JOIN {batch} b ON {on}", batches)

    def by_hash(self, numbered: str, key: str, batches: int) -> Batched:
        """A copy of the rows by a hash of their ids as they are folded to look for other spellings, in their order."""
        self._must_fit(numbered)
        return self._sorted(f"SELECT *, hash({_folded(quoted(key))}) % {batches} AS b FROM {numbered}", batches)

    def hash_places(self, texts: Sequence[str], batches: int) -> Ints:
        """The batch of each id, as `by_hash` tells it."""
        sql = f"SELECT hash({_folded('t')}) % {batches} AS b FROM (SELECT unnest(?::VARCHAR[]) AS t)"
        return np.asarray(self.connection.execute(sql, [list(texts)]).fetchnumpy()["b"], np.int64)

    def _sorted(self, rows: str, batches: int) -> Batched:
        path = self.folder / f"{secrets.token_hex(4)}.parquet"
        literal = "'" + str(path).replace("'", "''") + "'"
        self.execute(f"COPY ({rows} ORDER BY b, {ROW}) TO {literal} (FORMAT parquet, ROW_GROUP_SIZE 50000)")
        sizes = self._counted(f"SELECT b, count(*) AS n FROM read_parquet({literal}) GROUP BY 1")
        size = np.zeros(batches, np.int64)
        size[np.asarray(sizes["b"], np.int64)] = sizes["n"]
        bounds = np.concatenate([[0], np.cumsum(size)]).tolist()
        return Batched(f"read_parquet({literal}, file_row_number=true)", bounds, sorted=True)

    def batch(self, of: Batched, nth: int) -> tuple[str, Ints]:
        """The rows of a batch as a relation, and their numbers."""
        low, high = of.bounds[nth], of.bounds[nth + 1]
        place = "file_row_number" if of.sorted else ROW
        kept = f"FROM {of.relation} WHERE {place} BETWEEN {low} AND {high - 1}"
        if not of.sorted:
            return f"(SELECT * EXCLUDE ({ROW}) {kept})", np.arange(low, high)
        rows = self.connection.execute(f"SELECT {ROW} AS r {kept} ORDER BY {place}").fetchnumpy()["r"]
        return f"(SELECT * EXCLUDE ({ROW}, b, file_row_number) {kept} ORDER BY {place})", np.asarray(rows, np.int64)

    def first_texts(self, relation: str, column: str, count: int) -> list[str]:
        """The first values of a column."""
        columns = self._counted(f"SELECT CAST({quoted(column)} AS VARCHAR) AS t FROM {relation} LIMIT {count}")
        return [text or "" for text in columns["t"].tolist()]

    def spells_fractions(self, relation: str, names: Iterable[str]) -> bool:
        """Are there texts that are spelt otherwise if all of their column are numbers or moments, as 1.0?"""
        odd = " OR ".join(_may_be_short(quoted(name)) for name in names) or "false"
        return bool(self._single(f"SELECT count(*) FROM {relation} WHERE {odd}"))

    # ---- labels that stay inside

    def distinct(self, name: str, table: LabelTable, most: int) -> tuple[dict[str, Column], Ints] | None:
        """Test cases and values of a table with how often each is there; None where there are more than ``most``."""
        kept = quoted(f"values {name}")
        case, _, value = table.fields(table)
        fields = f"{case} AS c, {value} AS v, count(*) AS n"
        self.execute(
            f"CREATE OR REPLACE TEMP TABLE {kept} AS SELECT {fields} FROM {table.relation} GROUP BY ALL LIMIT {most + 1}"
        )
        if self.rows(kept) > most:
            return None
        if limited := self._columns.get(table.relation):
            limited.must_fit_counted(table.id, kept, {"c": table.case, "v": table.value})
        columns = self.columns(kept)
        return columns, np.asarray(columns.pop("n"), np.int64)

    def pairs(self, gold: LabelTable, pred: LabelTable) -> Pairs:
        """Both sides brought together and counted: side by side where they have the same ids in the same order."""
        if gold.id is None:
            return _pairs(self._side_by_side(gold, pred), clean=True)
        if self._begin_alike(gold, pred):
            counts = self._side_by_side(gold, pred)
            if not counts["differ"].sum():
                once = not counts["falls"].sum() or self._distinct_ids(gold.scan(pred)) == self.rows(gold.relation)
                return _pairs(counts, clean=once and not counts["odd"].sum())
        return self._joined(gold, pred)

    def _begin_alike(self, gold: LabelTable, pred: LabelTable) -> bool:
        """Have both sides as many rows, and the first of them the same ids?"""
        if self.rows(gold.relation) != self.rows(pred.relation):
            return False
        g, p = (f"(SELECT c, i FROM {table.scan(other)} LIMIT 2000)" for table, other in ((gold, pred), (pred, gold)))
        differ = f"SELECT count(*) FROM {g} g POSITIONAL JOIN {p} p WHERE g.i IS DISTINCT FROM p.i OR g.c IS DISTINCT FROM p.c"
        return not self._single(differ)

    def _side_by_side(self, gold: LabelTable, pred: LabelTable) -> dict[str, Any]:
        """Rows by position; ids that rise cannot repeat, which is seen on the way."""
        (gc, gi, gv), (pc, pi, pv) = gold.fields(pred, "g."), pred.fields(gold, "p.")
        cased = bool(gold.case or pred.case)
        columns = [f"{gc} AS gc", f"{pc} AS pc", f"{gv} AS gv", f"{pv} AS pv", f"{gi} AS gi", f"{pi} AS pi"]
        checks = ""
        if gold.id is not None:
            columns += [f"lag({gi}) OVER () AS bi", *([f"lag({gc}) OVER () AS bc"] if cased else [])]
            # The first row has no other before it, and a comparison with null is neither true nor false.
            rises = "bi IS NULL OR gc > bc OR (gc = bc AND gi > bi)" if cased else "bi IS NULL OR gi > bi"
            differ = "gi IS DISTINCT FROM pi" + (" OR gc IS DISTINCT FROM pc" if cased else "")
            checks = (
                f", count(*) FILTER (WHERE {differ}) AS differ, count(*) FILTER (WHERE NOT ({rises})) AS falls,"
                f" {_odd_ids(gold, pred, ('gi',))} AS odd"
            )
        # Bare scans are read row by row side by side; of anything else DuckDB would keep all rows first.
        both = f"SELECT {', '.join(columns)} FROM {gold.relation} g POSITIONAL JOIN {pred.relation} p"
        sql = f"SELECT gc, gv, pc, pv, true AS ig, true AS ip, count(*) AS n{checks} FROM ({both}) GROUP BY ALL"
        return self._counted(sql)

    def _joined(self, gold: LabelTable, pred: LabelTable) -> Pairs:
        """Rows by id. As many pairs as either side has rows with a partner prove that no common id repeats."""
        cased = bool(gold.case or pred.case)
        on, cases = (
            ("g.i = p.i AND g.c = p.c", "g.c AS gc, p.c AS pc") if cased else ("g.i = p.i", "'' AS gc, '' AS pc")
        )
        counts = self._counted(
            f"SELECT {cases}, g.v AS gv, p.v AS pv, g.i IS NOT NULL AS ig, p.i IS NOT NULL AS ip, count(*) AS n,"
            f" {_odd_ids(gold, pred, ('g.i', 'p.i'))} AS odd"
            f" FROM {gold.scan(pred)} g FULL JOIN {pred.scan(gold)} p ON {on} GROUP BY ALL"
        )
        pairs = _pairs(counts, clean=not counts["odd"].sum())
        clean = pairs.clean
        for table, other, inside, beyond in (
            (gold, pred, pairs.in_gold, pairs.in_pred),
            (pred, gold, pairs.in_pred, pairs.in_gold),
        ):
            alone = int(pairs.n[inside & ~beyond].sum())
            clean = clean and self.rows(table.relation) - alone == int(pairs.n[inside & beyond].sum())
            clean = clean and (not alone or self._distinct_ids(self._alone(table, other)) == alone)
        return replace(pairs, clean=clean)

    def _alone(self, table: LabelTable, other: LabelTable) -> str:
        """The units of a table that another lacks."""
        on = "a.i = b.i" + (" AND a.c = b.c" if table.case or other.case else "")
        return f"(SELECT a.c, a.i FROM {table.scan(other)} a ANTI JOIN {other.scan(table)} b ON {on})"

    def lone(self, table: LabelTable, other: LabelTable, most: int) -> tuple[list[str], list[str]]:
        """Test cases and ids of the units that the other side lacks, in order of ids."""
        keys = self._counted(
            f"SELECT c, CAST(i AS VARCHAR) AS i FROM {self._alone(table, other)} ORDER BY i LIMIT {most}"
        )
        return keys["c"].tolist(), keys["i"].tolist()

    def first_ids(self, table: LabelTable, count: int) -> list[str]:
        """The first ids of a table."""
        return self._counted(f"SELECT CAST(i AS VARCHAR) AS i FROM {table.scan(table)} LIMIT {count}")["i"].tolist()

    def _distinct_ids(self, keys: str) -> int:
        """Distinct hashes of ids: as many as there are rows prove that none repeats."""
        return int(self._single(f"SELECT count(DISTINCT hash(c, i)) FROM {keys}"))

    def _counted(self, sql: str) -> dict[str, Any]:
        columns: dict[str, Any] = self.connection.execute(sql).fetchnumpy()
        return {name: _objects(column) for name, column in columns.items()}

    def _fetched(self, relation: str, expression: str) -> Any:
        column = self.connection.execute(f"SELECT {expression} AS c FROM {relation}").fetchnumpy()["c"]
        if _masked(column) and column.dtype == object:
            out = np.array(column.data, object)
            out[np.ma.getmaskarray(column)] = None
            return out
        return column


def _folded(text: str) -> str:
    """A text of SQL as `karat.align` folds ids: units that differ in spelling alone are in one batch."""
    plain = f"lower(trim(coalesce(CAST({text} AS VARCHAR), ''), ' \t\n\r'))"
    return f"ltrim(CASE WHEN {plain} LIKE '%.%0' THEN regexp_replace({plain}, '\\.0+$', '') ELSE {plain} END, '0')"


def _bytes(column: str, type: str) -> str:
    """What a single value takes, in SQL."""
    if type not in _TEXTS and not type.startswith(("BLOB", "ENUM")):
        return "8"
    length = f"octet_length({column})" if type == "BLOB" else f"strlen(CAST({column} AS VARCHAR))"
    return f"coalesce({length}, 0) + 1"


def _may_be_short(text: str) -> str:
    """Whether a text of SQL may end in an empty fraction, or at midnight."""
    return f"({text} LIKE '%.%0' OR {text} LIKE '%{MIDNIGHT}')"


def _odd_ids(gold: LabelTable, pred: LabelTable, columns: Sequence[str]) -> str:
    """How many ids are blank or missing, or may be numbers that their file spells otherwise."""
    whole = all(table.types[table.id or ""] in _WHOLE for table in (gold, pred))
    odd = [" AND ".join(f"{column} IS NULL" for column in columns)]  # a missing id meets no other
    odd += [] if whole else [f"{column} < '!'" for column in columns]
    if not whole and (gold.numbers_alike or pred.numbers_alike):
        odd += map(_may_be_short, columns)
    return f"count(*) FILTER (WHERE {' OR '.join(odd)})"


def _pairs(counts: Mapping[str, Any], clean: bool) -> Pairs:
    return Pairs(
        counts["gc"].tolist(), counts["gv"].tolist(), counts["pc"].tolist(), counts["pv"].tolist(),
        np.asarray(counts["ig"], bool), np.asarray(counts["ip"], bool), np.asarray(counts["n"], np.int64), clean,
    )  # fmt: skip


def _masked(column: Any) -> bool:
    """Has it a mask? Loading the module that knows is a tenth of the time that a small evaluation takes."""
    return type(column) is not np.ndarray and isinstance(column, np.ma.MaskedArray)


def _objects(column: Any) -> Any:
    """A column with None where the engine has null."""
    if not _masked(column):
        return column
    out = column.data.astype(object)
    out[np.ma.getmaskarray(column)] = None
    return out


def _filled(column: Any, value: Any) -> Any:
    return np.ma.filled(column, value) if _masked(column) else column


def _moments(column: Any, zoned: bool) -> Column:
    """Dates, moments and spans of time as they are spelt in memory; the engine tells moments in a time zone in UTC."""
    moments: list[Any] = plain(np.asarray(_filled(column, np.array("NaT", column.dtype))))
    if not zoned:
        return moments
    whole = [moment if moment is None or " " in moment else f"{moment} 00:00:00" for moment in moments]
    return [None if moment is None else f"{moment}+00:00" for moment in whole]


def _numbers(column: Any) -> Column:
    """Numbers as an array, or as a list where some are missing: null is not NaN."""
    if not _masked(column) or not np.ma.getmaskarray(column).any():
        return np.asarray(column)
    return column.tolist()


def _without_nulls(text: str | None) -> Any:
    """The object that a row of a struct is; every row has every field, and null is one that it does not name."""
    import msgspec

    if text is None:
        return None
    try:
        record = msgspec.json.decode(text.encode())
    except (
        msgspec.DecodeError
    ):  # the engine writes NaN and Infinity, which are no JSON; that they are no weights is said later
        record = json.loads(text)
    return {name: value for name, value in record.items() if value is not None}


class _Stream:
    """Only the Arrow stream of an object, so that the engine needs none of the object's own library."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._frame.__arrow_c_stream__(requested_schema)
