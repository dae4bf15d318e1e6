# SPDX-License-Identifier: Apache-2.0
"""What stands behind GOLD on the command line: files, folders, patterns and named runs as systems."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from karat.inputs import distinct, is_path, system_names
from karat.methods import Runs
from karat.metric import MetricError
from karat.read.brat import is_folder


class Handed(NamedTuple):
    """Systems as the API takes them; None where gold's own table holds the predictions."""

    files: list[Any] | None
    names: list[str] | None


def handed(gold: str, preds: Sequence[str], names: Sequence[str] = (), whole: bool = False) -> Handed:
    """The systems of a command, each under its name: NAME=FILE, what --name says, or the file's own name.

    ``whole``: a folder or pattern is one table, as it is for a cluster.
    """
    if not preds:
        if gold == "-":
            raise MetricError("a table from stdin (-) is read once: name the file to score columns of one table")
        return Handed(None, list(names) or None)
    pairs = [pair for pred in preds for pair in expanded(pred, whole)]
    files = [file for _, file in pairs]
    _read_once(gold, files)
    if names and len(names) != len(files):
        raise MetricError(f"--name is given {len(names)} times for {len(files)} systems")
    if names:
        return Handed(files, distinct(names))
    stems = iter(system_names([file for name, file in pairs if name is None]))
    return Handed(files, distinct([next(stems) if name is None else name for name, _ in pairs]))


def read_by(gold: str, systems: Handed, given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every file that a command reads, and what it is."""
    yield "gold", gold
    for number, system in enumerate(systems.files or ()):
        name = systems.names[number] if systems.names else system
        yield from (
            (f"the predictions of {name!r}", file) for file in (system if isinstance(system, Runs) else [system])
        )
    yield from ((f"the {what}", given[what]) for what in ("hierarchy", "judge") if given.get(what))
    yield from (("gold of another annotator", file) for file in given.get("annotators") or ())


def called(name: str | None, systems: Handed) -> str | None:
    """The name of the system that was named by its file."""
    if name is None or systems.files is None or systems.names is None or name in systems.names:
        return name
    files = dict(zip(systems.files, systems.names, strict=True)) if all(map(is_path, systems.files)) else {}
    by_name = {os.path.basename(file): system for file, system in files.items()}
    return files.get(name) or by_name.get(name, name)


def expanded(pred: str, whole: bool = False) -> list[tuple[str | None, Any]]:
    """One argument as systems; the name is None where the file's own is meant."""
    name, mark, file = pred.partition("=")
    if mark and name and not os.path.exists(pred):
        return [(name, Runs(file.split(",")) if "," in file and not os.path.exists(file) else file)]
    if whole:
        return [(None, pred)]
    if os.path.isdir(pred) and not is_folder(pred):
        return [(None, path) for path in _inside(pred)]
    if glob.has_magic(pred) and not os.path.exists(pred):
        return [(None, path) for path in _matching(pred)]
    return [(None, pred)]


def _inside(folder: str) -> list[str]:
    """The files of a folder, without hidden ones."""
    paths = sorted(os.path.join(folder, name) for name in os.listdir(folder) if not name.startswith("."))
    files = [path for path in paths if os.path.isfile(path) or is_folder(path)]
    if not files:
        raise MetricError(f"the folder {folder} holds no file")
    return files


def _matching(pattern: str) -> list[str]:
    paths = sorted(glob.glob(pattern, recursive=True))
    if not paths:
        raise MetricError(f"no file matches {pattern}")
    return [path for path in paths if os.path.isfile(path) or is_folder(path)]


def _read_once(gold: str, files: Iterable[Any]) -> None:
    """Refuse two inputs from stdin."""
    every = [gold, *(path for file in files for path in (file if isinstance(file, Runs) else [file]))]
    if sum(is_path(path) and path == "-" for path in every) > 1:
        raise MetricError("only one input can be read from stdin (-)")
