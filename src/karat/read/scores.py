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
"""What may stand before the name of a class in the name of its column, with _, - or a blank between."""


def class_columns(columns: Mapping[str, Column], typed: bool, read: Read, roles: Mapping[str, str]) -> list[str]:
    """The columns that hold a class's scores: all that hold numbers, in a table of predictions that says no more."""
    asked = read.context == "probabilities"
    if read.role != "pred" or read.context not in (None, "probabilities") or "value" in read.columns:
        return []
    value = roles.get("value")
    if value is not None and not (
        asked and value.strip().lower() not in NUMBERS and not _are_scores(columns[value], typed)
    ):
        return []
    used = {roles.get("id"), roles.get("test_case")}
    found = [name for name, column in columns.items() if name not in used and _are_scores(column, typed)]
    return found if len(found) > 1 or (asked and found and value is None) else []


def _are_scores(column: Column, typed: bool) -> bool:
    """Are all values numbers?"""
    column = values.plain(column)
    if not typed:
        return values.are_numbers(values.texts_of(column)) or not len(values.numbers(column)[1])
    return values.kinds_used(column).keys() <= {"number"} and bool(len(column))


def read_wide(origin: Origin, columns: Mapping[str, Column], keys: Keys, wide: Sequence[str]) -> Side:
    """The columns of scores as weights by class."""
    parts = [values.numbers(values.plain(columns[name]))[0] for name in wide]
    table = np.stack(parts, 1)
    if len(wide) == 1:
        return _single(origin, keys, table[:, 0])
    return weights(origin, keys, table, class_names(wide))


def _single(origin: Origin, keys: Keys, score: Floats) -> Side:
    entries = Entries(np.arange(len(score)), {"number": score}, single=True)
    return Side(origin, "number", keys, entries, {}, records=len(score))


def class_names(columns: Sequence[str]) -> list[str]:
    """Names of classes from those of their columns: `prob_A`, `prob_B` are A and B."""
    for prefix in PREFIXES:
        for mark in "_- ":
            start = prefix + mark
            if all(name.strip().lower().startswith(start) and len(name.strip()) > len(start) for name in columns):
                return [name.strip()[len(start) :] for name in columns]
    return [name.strip() for name in columns]


def weights(origin: Origin, keys: Keys, table: Floats, names: list[str], named: bool = True) -> Side:
    """A matrix of items × classes as a side; what is no number is said with its line."""
    bad = np.argwhere(np.isnan(table)).tolist()
    if bad:
        raise InputError(
            limited(
                finding("missing-field", origin.name, origin.line_of(i), field=f"score of {names[j]}") for i, j in bad
            )
        )
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
    keys = Keys(Codes.one("", len(table)), Positions(len(table)))
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
    return [values.text(name) or "" for name in (named.tolist() if hasattr(named, "tolist") else named)]


def _table(given: Any, read: Read) -> Floats | None:
    asked = read.context == "probabilities"
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
