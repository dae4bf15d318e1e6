# SPDX-License-Identifier: Apache-2.0
"""What a user may hand in: paths and data in memory, systems and their names, columns by side."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from karat.beside import by_id, has_index
from karat.columns import Ints
from karat.engines.duckdb import Engine
from karat.findings import Finding, finding
from karat.methods import Runs
from karat.metric import MetricError
from karat.read import Read, Unread, Waiting, read_input
from karat.read.names import NAMES, SIDES, TEXTS, columns_of, match_columns
from karat.read.pages import PAGE_NAMES
from karat.read.roles import LONG
from karat.read.source import file_name
from karat.side import Side
from karat.values import plain, text

Columns = Mapping[str, str | Sequence[str]]
"""The user's names of columns: ``value`` for both sides, ``gold_value`` and ``pred_value`` for one; several of the
predictions are several systems."""

ROLES = tuple(dict.fromkeys((*NAMES, *LONG, *PAGE_NAMES)))
"""What a column can be."""


@dataclass(frozen=True)
class Given:
    """What the user said about how to read the inputs."""

    format: str | None = None
    encoding: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    context: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    max_unpacked: int | None = None
    separator: str | None = None
    shared: bool = False
    """Whether gold and predictions are columns of one table."""


class Column(NamedTuple):
    """A system that is one column of a table."""

    table: Any
    name: str


class Systems(NamedTuple):
    """The systems by name, the columns that they share, and whether gold stands in their table too."""

    named: list[tuple[str, Any]]
    columns: dict[str, str]
    shared: bool


def systems_of(
    gold: Any, pred: Any, names: Sequence[str] | None, columns: Columns | None, by_name: bool = False
) -> Systems:
    """The systems that were handed in; without predictions, those that are columns of gold's own table."""
    checked = checked_columns(columns or {})
    values = checked.get("pred_value")
    several = [values] if isinstance(values, str) else list(values or ())
    common = {role: _single(role, name) for role, name in checked.items() if role != "pred_value"}
    if len(several) == 1:
        common["pred_value"] = several[0]
    if pred is None:
        pred = [Column(gold, name) for name in several] if several else Column(gold, "")
        listed = list(names or several or system_names([gold]))
        if len(listed) != max(len(several), 1):
            raise MetricError(f"{len(listed)} names for {max(len(several), 1)} systems")
        return Systems(list(zip(distinct(listed), pred if several else [pred], strict=True)), common, True)
    systems = list(pred.items()) if by_name and isinstance(pred, Mapping) else named(pred, gold, names)
    if len(several) > 1:
        systems = _by_column(systems, several)
    return Systems(systems, common, False)


def _single(role: str, name: Any) -> str:
    if not isinstance(name, str):
        raise MetricError(f"columns: {role!r} is one column; only 'pred_value' may be several")
    return name


def _by_column(systems: Sequence[tuple[str, Any]], columns: Sequence[str]) -> list[tuple[str, Any]]:
    """Each system once for each column; one file's systems are called as its columns are."""
    alone = len(systems) == 1
    return [
        (column if alone else f"{name} [{column}]", Column(given, column))
        for name, given in systems
        for column in columns
    ]


def checked_columns(columns: Columns) -> Columns:
    """The columns, if every role is one that there is."""
    roles = [*ROLES, *(f"{side}_{role}" for side in SIDES for role in ROLES)]
    for role in columns:
        if role not in roles:
            near = difflib.get_close_matches(str(role), roles, 1)
            more = f" (did you mean {near[0]!r}?)" if near else ""
            raise MetricError(
                f"columns: there is no role {role!r}{more}; there are id, value and test_case, each also with gold_ or pred_ before it"
            )
    return columns


def named(pred: Any, gold: Any, names: Sequence[str] | None) -> list[tuple[str, Any]]:
    """The systems with their names: file stems, or what the user calls them."""
    if _by_name(pred, gold) and not names:
        return list(pred.items())
    listed = isinstance(pred, (list, tuple)) and not isinstance(pred, (Runs, Column))
    several = listed and ((_all_paths(pred) and is_path(gold)) or len(names or ()) > 1)
    many = list(pred) if several else [pred]
    titles = list(names) if names else system_names(many)
    if len(titles) != len(many):
        raise MetricError(f"{len(titles)} names for {len(many)} systems")
    return list(zip(distinct(titles), many, strict=True))


def _by_name(pred: Any, gold: Any) -> bool:
    """Is this a dict of name → predictions? It is if each is as long as gold, and it is no table of ids and values."""
    if isinstance(pred, Mapping) and any(isinstance(p, Runs) or on_cluster(p) for p in pred.values()):
        return True
    if not isinstance(pred, Mapping) or isinstance(gold, Mapping) or is_path(gold) or not hasattr(gold, "__len__"):
        return False
    alike = all(hasattr(p, "__len__") and not isinstance(p, str) and len(p) == len(gold) for p in pred.values())
    return alike and len(pred) > 1 and not match_columns(list(map(str, pred)), {}, NAMES).keys() >= {"id", "value"}


def is_path(given: Any) -> bool:
    return isinstance(given, (str, os.PathLike))


def on_cluster(given: Any) -> bool:
    """Is it a DataFrame of Spark?"""
    return type(given).__module__.startswith("pyspark.sql")


def _all_paths(given: Sequence[Any]) -> bool:
    return bool(given) and all(is_path(p) or isinstance(p, (Runs, Column)) for p in given)


PACKED = (".gz", ".zst", ".bz2", ".xz")
DATA = (
    ".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".txt", ".parquet", ".arrow", ".feather", ".ipc", ".conll", ".iob",
    ".bio", ".spacy", ".ann", ".run", ".trec", ".qrels",
)  # fmt: skip
"""Ends of file names that say what is in a file, not what it is called."""


def system_names(systems: Sequence[Any]) -> list[str]:
    """What systems are called that nobody named: the file's name without its ending, with folders where names clash."""
    paths = [file_name(given) if is_path(given) else "system" for given in systems]
    stems = [_stem(path) for path in paths]
    if len({*stems}) == len(stems):
        return stems
    again = {stem for stem in stems if stems.count(stem) > 1}
    return [_longer(i, paths) if stem in again else stem for i, stem in enumerate(stems)]


def _stem(path: str) -> str:
    """A file's name without the endings that every file of its kind has.

    >>> [_stem(path) for path in ("subs/team1.tsv", "b.jsonl.gz", "gpt-4.5", ".csv")]
    ['team1', 'b', 'gpt-4.5', '.csv']
    """
    name = os.path.basename(path) or path
    for endings in (PACKED, DATA):
        stem, end = os.path.splitext(name)
        name = stem if stem and end.lower() in endings else name
    return name


def _longer(which: int, paths: Sequence[str]) -> str:
    """As much of a path as tells it from the others: its folders, or its ending where only that differs."""
    steps = os.path.normpath(paths[which]).split(os.sep)
    others = [os.path.normpath(path).split(os.sep) for i, path in enumerate(paths) if i != which]
    shorter = [[*parts[:-1], _stem(parts[-1])] for parts in (steps, *others)]
    for parts, rest in ((shorter[0], shorter[1:]), (steps, others)):
        for size in range(1, len(parts) + 1):
            if all(parts[-size:] != other[-size:] for other in rest):
                return "/".join(parts[-size:])
    return paths[which]


def distinct(names: Sequence[str]) -> list[str]:
    """The names with a number behind each repeat."""
    seen: dict[str, int] = {}
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return out


def read_side(
    engine: Engine, stack: ExitStack, given: Any, role: str, how: Given, name: str | None = None, either: bool = False
) -> Side | Waiting | Unread:
    """Gold or one system's predictions, read and free of file errors; ``either``: nobody said which of them it is."""
    given, selected, read = to_read(given, role, how, name, either)
    side = read_input(engine, stack, given, read, how.format, how.encoding, how.max_unpacked)
    side.origin.column = selected or None
    side.origin.system = name or ""
    return side


def to_read(given: Any, role: str, how: Given, name: str | None, either: bool = False) -> tuple[Any, str, Read]:
    """Where the data are, the column that was chosen in them, and what was said of them."""
    columns, selected = columns_of(how.columns, role) if how.columns else {}, ""
    if isinstance(given, Column):
        selected, given = given.name, given.table
        columns |= {"value": selected} if selected else {}
    title = name or ("gold" if not is_path(given) else file_name(given))
    return given, selected, Read(title, role, columns, how.context, how.options, how.shared, how.separator, either)


# ---- one table on both sides


def check_tables(gold: Any, systems: Iterable[Any], sides: Sequence[Side]) -> list[Finding]:
    """Where gold and predictions are one table, they must be two columns of it."""
    golds, *preds = sides
    return [
        _same_column(golds, side, is_path(gold), isinstance(given, Column))
        for given, side in zip(systems, preds, strict=True)
        if same_table(gold, given) and _same_values(golds, side, isinstance(given, Column))
    ]


def same_table(gold: Any, given: Any) -> bool:
    """Is this one file, or one object that has columns?"""
    table = given.table if isinstance(given, Column) else given
    if is_path(gold) and is_path(table):
        try:
            return os.path.samefile(gold, table)
        except OSError:
            return False
    return table is gold and not is_path(gold)


def are_two_files(gold: Any, given: Any) -> bool:
    return is_path(gold) and is_path(given) and not same_table(gold, given)


_WITHOUT_COLUMNS = ("list", "array", "dict", "tags", "records")
"""Data in memory that have but one column, or records of which one may be all that there is."""


def _same_values(gold: Side, pred: Side, shared: bool) -> bool:
    alone = gold.origin.format in _WITHOUT_COLUMNS and not pred.facts.get("unread")
    if (alone and not shared) or pred.facts.get("by_role"):
        return False
    return bool(gold.facts.get("value") == pred.facts.get("value"))


def _same_column(gold: Side, pred: Side, path: bool, shared: bool) -> Finding:
    """The error for one column on both sides: another one may be meant, or another file."""
    column = gold.facts.get("value")
    if path and not shared and column is None:
        return finding("same-file", gold.name)
    lost = [n for n in pred.facts.get("unread", ()) if n.lower() not in TEXTS]
    ways = [f"name the predictions' column: --pred-value COLUMN (there is {', '.join(lost[:10])})"] if lost else []
    ways += [] if lost and not shared else ["give the file of the predictions"]
    way_out = ", or ".join([*ways, "say that it is meant: --allow-same"])
    what = "file" if path else "table"
    return finding("same-column", gold.name, column=repr(column or "the values"), what=what, way_out=way_out)


# ---- the index of pandas


def with_ids(gold: Any, systems: Sequence[tuple[str, Any]]) -> tuple[Any, list[tuple[str, Any]]]:
    """Series of pandas as values by id, where the other side is that and their index names its ids."""
    if isinstance(gold, Mapping):
        return gold, [(name, _as_named(given, gold)) for name, given in systems]
    first = next((given for _, given in systems), None)
    return _as_named(gold, first) if isinstance(first, Mapping) else gold, [*systems]


def _as_named(given: Any, other: Mapping[Any, Any]) -> Any:
    if not has_index(given):
        return given
    try:
        named = by_id(given, {str(text(key)) for key in plain(list(other))})
    except ValueError:  # 10**5000 has too many digits for a text, which reading says
        return given
    return given if named is None else named


def by_index(gold: Any, systems: Sequence[tuple[str, Any]]) -> tuple[list[tuple[str, Any]], dict[str, Finding]]:
    """Systems in the order of gold's index where both have one and the same labels; and what is to be said about it."""
    return _in_order(gold, systems, _without_id, "the predictions")


def beside_by_index(gold: Any, columns: Mapping[str, Any]) -> tuple[dict[str, Any], list[Finding]]:
    """Weights and slices beside gold in the order of its index, as systems are; arrays where it names their rows."""
    by_rows = [(name, given) for name, given in columns.items() if has_index(gold) and not _names_a_column(gold, given)]
    ordered, pairings = _in_order(gold, by_rows, has_index, "these values")
    out = {name: given.to_numpy() if has_index(given) and _share(gold, given) else given for name, given in ordered}
    return {**columns, **out}, [*pairings.values()]


def _names_a_column(gold: Any, other: Any) -> bool:
    """Is the index a column of gold, such as its ids, and no index of its rows?"""
    return has_index(other) and other.index.name is not None and other.index.name in getattr(gold, "columns", ())


def _in_order(
    gold: Any, others: Iterable[tuple[str, Any]], only_index: Callable[[Any], bool], what: str
) -> tuple[list[tuple[str, Any]], dict[str, Finding]]:
    out, pairings = list[tuple[str, Any]](), dict[str, Finding]()
    for name, given in others:
        if only_index(gold) and only_index(given) and len(gold) == len(given):
            given, pairing = _paired(gold, given, name, what)
            pairings |= {name: pairing} if pairing else {}
        out.append((name, given))
    return out, pairings


def _share(gold: Any, other: Any) -> bool:
    """Do the two indexes name rows of each other, or nothing that could tell rows apart?"""
    if gold.index.equals(other.index) or not (gold.index.is_unique and other.index.is_unique):
        return True
    return bool((_places(gold.index, other.index) >= 0).any())


def _without_id(given: Any) -> bool:
    """Is this a series or frame of pandas whose rows only the index can tell apart?"""
    return has_index(given) and "id" not in match_columns(list(map(str, getattr(given, "columns", ()))), {})


def _paired(gold: Any, other: Any, name: str, what: str) -> tuple[Any, Finding | None]:
    mine, theirs = gold.index, other.index
    if mine.equals(theirs) or not (mine.is_unique and theirs.is_unique):
        return other, None
    place = _places(mine, theirs)
    common = int((place >= 0).sum())
    if not common or bool((place == np.arange(len(place))).all()):
        return other, None
    if common == len(place):
        return other.iloc[place], finding("paired-by-index", str(name), what=what)
    return other, finding("index-differs", str(name), common=common, total=len(mine), what=what)


def _places(mine: Any, theirs: Any) -> Ints:
    """Where the labels of gold's index stand in the other one, or −1; 1 and "1" are the same, as ids are."""
    place: Ints = theirs.get_indexer(mine)
    if (place >= 0).all() or mine.nlevels + theirs.nlevels > 2 or {mine.dtype.kind, theirs.dtype.kind} <= {*"iuf"}:
        return place
    here, there = ([text(label) for label in plain(index.tolist())] for index in (mine, theirs))
    at = {label: row for row, label in enumerate(there)}
    if len(at) < len(there) or len({*here}) < len(here):
        return place
    return np.array([at.get(label, -1) for label in here], np.int64)
