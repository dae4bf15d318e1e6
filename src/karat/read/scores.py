# SPDX-License-Identifier: Apache-2.0
"""Scores of classes that stand side by side: a table with a column for each class, or a matrix without names."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from karat import values
from karat.columns import Codes, Floats
from karat.findings import InputError, finding, limited
from karat.read.names import NUMBERS
from karat.read.table import Read
from karat.side import Entries, Keys, Origin, Positions, Side
from karat.values import Column

PREFIXES = ("probability", "proba", "prob", "score", "p")
"""What may stand before the name of a class in the name of its column, with one of the marks between."""
MARKS = "_- "


def class_columns(columns: Mapping[str, Column], typed: bool, read: Read, roles: Mapping[str, str]) -> list[str]:
    """The columns that hold a class's scores: all that hold numbers, in a table of predictions that says no more.

    In gold they are the weights of labels, where those of every row add up to 1.
    """
    asked = read.context == "probabilities"
    if read.context not in (None, "probabilities", "soft") or "value" in read.columns:
        return []
    value = roles.get("value")
    if read.role != "pred":
        used = {roles.get("id"), roles.get("test_case")}
        free = [name for name in columns if name not in used]
        return free if value is None and not (asked or read.shared) and _are_shares(free, columns, typed) else []
    if value is not None and not (
        asked and value.strip().lower() not in NUMBERS and _numeric(columns[value], typed) < 1
    ):
        return []
    used = {roles.get("id"), roles.get("test_case")}
    rest = {name: _numeric(column, typed) for name, column in columns.items() if name not in used}
    names = [name for name, part in rest.items() if part == 1]
    nearly = [name for name, part in rest.items() if part > 0.5]
    if asked or len(nearly) == len(rest):
        # A word among the numbers of a column is a fault of the column, not another use of it.
        names = nearly
    names = _prefixed(names)
    return names if len(names) > 1 or (asked and names and value is None) else []


def _prefixed(names: list[str]) -> list[str]:
    """Of columns of numbers those that are called scores, where several are: `length` beside `prob_A` and `prob_B` is no class.

    A single p may begin the name of a class.
    """
    for prefix in PREFIXES[:-1]:
        for mark in MARKS:
            called = [name for name in names if _begins(name, prefix + mark)]
            if len(called) > 1:
                return called
    return names


def _begins(name: str, start: str) -> bool:
    return name.strip().lower().startswith(start) and len(name.strip()) > len(start)


def _numeric(column: Column, typed: bool) -> float:
    """The part of the values that are numbers, 1 for a column of nothing else; of texts and numbers alone."""
    column = values.plain(column)
    if not typed:
        texts = values.texts_of(column)
        given = int((texts.code >= 0).sum())
        return 1.0 if values.are_numbers(texts) else 1 - len(values.numbers(texts)[1]) / max(given, 1)
    used = values.kinds_used(column)
    if used.keys() <= {"number"}:
        return float(bool(len(column)))
    return used.get("number", 0) / sum(used.values()) if used.keys() <= {"number", "text"} else 0.0


ROUNDED = 0.02
"""How far from 1 weights may add up that were rounded: three of 0.33 are 0.99."""


def _are_shares(names: Sequence[str], columns: Mapping[str, Column], typed: bool) -> bool:
    """Do the columns hold nothing but shares that add up to 1 in every row? Zeros and ones may be annotators' labels."""
    if len(names) < 2 or any(_numeric(columns[name], typed) < 1 for name in names):
        return False
    table = np.stack([values.numbers(values.plain(columns[name]))[0] for name in names])
    if not table.size or np.isnan(table).any() or (table < 0).any() or (table == np.rint(table)).all():
        return False
    return bool((np.abs(table.sum(0) - 1) <= ROUNDED).all())


def read_wide(origin: Origin, columns: Mapping[str, Column], keys: Keys, wide: Sequence[str]) -> Side:
    """The columns of scores as weights by class."""
    parts = [values.numbers(values.plain(columns[name])) for name in wide]
    words = {
        (row, j): values.texts_of(values.plain(columns[wide[j]])).text(row)
        for j, (_, bad) in enumerate(parts)
        for row in bad.tolist()
    }
    table = np.stack([number for number, _ in parts], 1)
    if len(wide) == 1 and not words:
        return _single(origin, keys, table[:, 0])
    return weights(origin, keys, table, class_names(wide), words=words)


def _single(origin: Origin, keys: Keys, score: Floats) -> Side:
    entries = Entries(np.arange(len(score)), {"number": score}, single=True)
    return Side(origin, "number", keys, entries, {}, records=len(score))


def class_names(columns: Sequence[str]) -> list[str]:
    """Names of classes from those of their columns: `prob_A`, `prob_B` are A and B."""
    for prefix in PREFIXES:
        for mark in MARKS:
            if all(_begins(name, prefix + mark) for name in columns):
                return [name.strip()[len(prefix + mark) :] for name in columns]
    return [name.strip() for name in columns]


def weights(
    origin: Origin,
    keys: Keys,
    table: Floats,
    names: list[str],
    named: bool = True,
    words: Mapping[tuple[int, int], str] | None = None,
) -> Side:
    """A matrix of items × classes as a side; what is no number is said with its line."""
    faults = []
    for i, j in np.argwhere(np.isnan(table)).tolist():
        code, text = ("not-a-number", {"text": words[i, j]}) if words and (i, j) in words else ("missing-field", {})
        faults.append(finding(code, origin.name, origin.line_of(i), field=f"score of {names[j]}", **text))
    if faults:
        raise InputError(limited(faults))
    rows, classes = table.shape
    unit, label = np.repeat(np.arange(rows), classes), np.tile(np.arange(classes), rows)
    entries = Entries(unit, {"label": label, "number": table.reshape(-1)})
    return Side(origin, "weights", keys, entries, {"label": names}, facts={"unnamed": not named}, records=rows)


def matrix(given: Any, read: Read) -> Side | None:
    """What `predict_proba` gives, an array of items × classes (or lists of lists of numbers); None for anything else."""
    table = _table(given, read)
    if table is None:
        return None
    origin = Origin(read.name, read.role, "array", lambda row: row + 1)
    keys = Keys(Codes.constant("", len(table)), Positions(len(table)))
    if table.shape[1] == 1:
        return _single(origin, keys, table[:, 0])
    named = read.options.get("classes")
    names = [str(i) for i in range(table.shape[1])] if named is None else _listed(named)
    if len(names) != table.shape[1]:
        message = f"{len(names)} classes are named, and the scores have {table.shape[1]} columns"
        raise InputError([finding("bad-option", read.name, message=message, way_out="name a class for every column")])
    return weights(origin, keys, table, names, named is not None)


def _listed(named: Any) -> list[str]:
    if isinstance(named, str):
        return [name.strip() for name in named.split(",")]
    return [values.name_of(name) or "" for name in named]


def _table(given: Any, read: Read) -> Floats | None:
    asked = read.context == "probabilities" or read.options.get("classes") is not None
    if (
        read.role != "pred"
        or read.context not in (None, "probabilities")
        or isinstance(given, (str, os.PathLike, Mapping))
    ):
        return None
    if isinstance(given, (list, tuple)):
        first = given[0] if given else None
        if not isinstance(first, (list, tuple, np.ndarray)) or not len(first) or not _fraction(first, asked):
            return None
        if len({len(row) if hasattr(row, "__len__") else -1 for row in given}) > 1:
            return None
        given = np.array(given)
    if not isinstance(given, np.ndarray) or given.ndim != 2 or given.dtype.kind not in "fiub" or not given.size:
        return None
    inside = given.dtype.kind == "f" and not ((given == 0) | (given == 1)).all()
    return np.asarray(given, float) if inside or asked else None


def _fraction(row: Any, asked: bool) -> bool:
    kinds = {type(value) for value in row}
    numbers = all(issubclass(kind, (float, int, np.number)) for kind in kinds)
    return numbers and (asked or any(issubclass(kind, (float, np.floating)) for kind in kinds))
