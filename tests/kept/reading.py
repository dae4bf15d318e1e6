# SPDX-License-Identifier: Apache-2.0
"""Inputs of every reader, and all that is known of one when it was read: units, entries, facts and findings."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from karat.columns import Codes, Text
from karat.engines.duckdb import Engine
from karat.findings import Finding, InputError
from karat.read import Read, delimited, json, read_input, whole
from karat.side import Side

FOLDER = object()
"""Given is the folder of that name, with the files beside."""


@dataclass
class Input:
    """What is read, under which file name if it is the content of one, and what is said of it."""

    given: Any
    name: str = "input"
    role: str = "gold"
    columns: Mapping[str, str] = field(default_factory=dict)
    context: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    shared: bool = False
    separator: str | None = None
    either: bool = False
    format: str | None = None
    encoding: str | None = None
    most: int | None = None
    beside: Mapping[str, Any] = field(default_factory=dict)
    """Other files of the folder."""


def results(inputs: Iterable[tuple[str, Input]], folder: Path) -> dict[str, Any]:
    """The results of inputs by their names, each read in a folder of its own."""
    out = {}
    with Engine() as engine:
        for nth, (name, input) in enumerate(inputs):
            (folder / str(nth)).mkdir()
            with contextlib.chdir(folder / str(nth)):
                assert name not in out, name
                out[name] = _result(input, engine)
    return out


def _result(input: Input, engine: Engine) -> Any:
    """The side that an input is, or the findings that say why it is none."""
    for cached in (json._lines_of, delimited._lines_of):
        cached.cache_clear()  # by name and time, and all files here are called alike
    for name, content in input.beside.items():
        _write(Path(name), content)
    given = input.given
    if isinstance(given, (str, bytes)):
        _write(Path(input.name), given)
        given = input.name
    elif given is FOLDER:
        given = input.name
    read = Read(input.name, input.role, input.columns, input.context, input.options, input.shared, input.separator, input.either)  # fmt: skip
    try:
        with ExitStack() as stack:
            return _side(whole(read_input(engine, stack, given, read, input.format, input.encoding, input.most)))
    except InputError as error:
        return _findings(error.findings)


def _write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content.encode(errors="surrogateescape") if isinstance(content, str) else content)


def _findings(findings: list[Finding]) -> list[list[Any]]:
    return [[f.code, f.severity, f.file, f.line, steady(f.message), steady(f.hint)] for f in findings]


def steady(text: str) -> str:
    """Without what other versions of Python and its libraries say in other words."""
    text = text.replace(str(Path.cwd()), "…")
    for said in STEADY:
        text = said.sub(r"\1…\2", text)
    return text


STEADY = [
    re.compile(r"(not valid JSON: )(?!nested|half|the field).*?( \(column|$).*", re.S),
    re.compile(r"(cannot be read: (?:Invalid|object of|gzip:|bzip2:|xz:|zstd:|Exceeds)).*?($)", re.S),
    re.compile(r"()\d+( bytes that unpack to)"),
]
"""What is said before and behind it."""


def _side(side: Side) -> dict[str, Any]:
    """Everything of a side that anybody may read; of line numbers all that can be asked for."""
    rows, entries = range(len(side)), side.entries
    records = range(side.records)
    out = {
        "format": side.origin.format, "kind": side.kind, "context": side.context, "case": side.keys.case.texts(), "id": len(rows) if side.keys.by_position else list(side.keys.id),
        "unit": entries.unit, "single": entries.single, "entries": {name: _coded(side, name, column) for name, column in sorted(entries.columns.items())},
        "names": side.names, "units": side.units, "facts": dict(sorted(side.facts.items())), "record": side.record, "records": side.records,
        "lines": [_line(side, unit) for unit in rows], "ends": [_line_of(side, row) for row in (*records[-2:], side.records)],
        "findings": _findings(side.findings),
    }  # fmt: skip
    return _plain(out)


def _line(side: Side, unit: int) -> Any:
    with contextlib.suppress(IndexError):
        return side.line(unit)


def _line_of(side: Side, row: int) -> Any:
    with contextlib.suppress(IndexError):
        return side.origin.line_of(row)


def _coded(side: Side, name: str, column: Any) -> Any:
    """Codes as the texts that they stand for."""
    texts = side.names.get(name)
    if texts is None:
        return column
    return [None if code < 0 else texts[code] for code in column.tolist()]


def _plain(value: Any) -> Any:
    """As JSON holds it: numbers that are none by their names."""
    if isinstance(value, Codes):
        return value.texts()
    if isinstance(value, Text):
        return value.texts()
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return repr(float(value)) if not math.isfinite(value) or not value else float(f"{value:.12g}")
    if isinstance(value, str):
        text = value.encode(errors="backslashreplace").decode()
        return text if len(text) < 200 else f"{text[:30]}…{len(text)}"
    return None if value is None else repr(value)
