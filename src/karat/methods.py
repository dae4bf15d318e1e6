# SPDX-License-Identifier: Apache-2.0
"""Methods as they are handed in: each with one run or with several, as files, frames or parts of one table."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from karat.metric import MetricError


class Runs(list[Any]):
    """Predictions of several runs of one method: training seeds, prompts, folds.

    >>> karat.compare("gold.json", {"new": karat.Runs(["n1.json", "n2.json"]), …})     # doctest: +SKIP
    """


class Methods(NamedTuple):
    """Systems as they are scored, one for each run, and which of them belong to which method."""

    systems: list[tuple[str, Any]]
    groups: dict[str, list[int]]
    repeated: bool
    """Whether some method has several runs."""


def methods_of(several: Iterable[tuple[str, Any]], run: str | None = None, encoding: str | None = None) -> Methods:
    """The runs of every method, by themselves; ``run`` names the column that tells the runs of a table apart."""
    systems: list[tuple[str, Any]] = []
    groups: dict[str, list[int]] = {}
    for name, given in several:
        parts = [(name, given)] if run is None else _parts(given, run, encoding)
        parts = _named(given) if isinstance(given, Runs) else parts
        groups[name] = list(range(len(systems), len(systems) + len(parts)))
        systems += [(f"{name} [{part}]" if len(parts) > 1 else name, data) for part, data in parts]
    return Methods(systems, groups, any(len(g) > 1 for g in groups.values()))


def _named(runs: Sequence[Any]) -> list[tuple[str, Any]]:
    if not runs:
        raise MetricError("a method without runs cannot be scored")
    names = [os.path.basename(os.fspath(r)) if isinstance(r, (str, os.PathLike)) else "" for r in runs]
    unique = all(names) and len(set(names)) == len(names)
    return [(name if unique else str(i), r) for i, (name, r) in enumerate(zip(names, runs, strict=True), 1)]


def _parts(given: Any, column: str, encoding: str | None) -> list[tuple[str, Any]]:
    """The records of each run, runs in the order of their first record."""
    rows = _records(given, encoding)
    without = [row for row in rows if row.get(column) is None]
    if not rows or without:
        has = ", ".join(map(str, rows[0])) if rows else "no records"
        raise MetricError(f"{len(without)} predictions have no column {column!r} to tell runs apart; there is: {has}")
    parts: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        parts.setdefault(str(row[column]), []).append({k: v for k, v in row.items() if k != column})
    return list(parts.items())


def _records(given: Any, encoding: str | None) -> list[dict[str, Any]]:
    for method in ("to_dicts", "to_pylist"):
        if hasattr(given, method):
            return list(getattr(given, method)())
    if hasattr(given, "to_dict"):
        return list(given.to_dict("records"))
    if isinstance(given, (str, os.PathLike)):
        return _file_records(os.fspath(given), encoding or "utf-8-sig")
    if isinstance(given, Sequence) and all(isinstance(row, dict) for row in given):
        return list(given)
    raise MetricError("runs are told apart by a column in records and tables; here, give each run by itself")


def _file_records(path: str, encoding: str) -> list[dict[str, Any]]:
    kind = path.rpartition(".")[2].lower()
    if kind not in ("json", "jsonl", "csv", "tsv"):
        raise MetricError(
            f"runs are told apart by a column in JSON, JSON Lines, CSV and TSV; give the runs of {path} as NAME=FILE,FILE"
        )
    try:
        with open(path, encoding=encoding, newline="") as file:
            if kind in ("csv", "tsv"):
                return list(csv.DictReader(file, delimiter="\t" if kind == "tsv" else ","))
            text = file.read()
        rows = (
            msgspec.json.decode(text)
            if kind == "json"
            else [msgspec.json.decode(line) for line in text.splitlines() if line.strip()]
        )
    except (OSError, UnicodeError, msgspec.DecodeError, LookupError) as error:
        raise MetricError(f"{path} cannot be read: {error}") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise MetricError(f"{path} is no list of records, so that no column tells runs apart")
    return rows
