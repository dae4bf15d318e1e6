# SPDX-License-Identifier: Apache-2.0
"""brat's standoff annotation: one .ann file, or a folder of them with their texts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from karat.columns import Codes
from karat.findings import LIMIT, Finding, InputError, finding, limited
from karat.read.source import Source
from karat.read.table import Engine, Read
from karat.side import Entries, Keys, Origin, Side

_ENTITY = re.compile(r"T\S*\t(\S+) (\d{1,18} \d{1,18}(?:;\d{1,18} \d{1,18})*)(?:\t(.*))?")
_LINE = re.compile(r"[TRAEMN#*]\S*\t")


def is_brat(source: Source) -> bool:
    lines = [line for line in source.head.decode(errors="replace").split("\n")[:50] if line.strip()]
    return any(_ENTITY.fullmatch(line) for line in lines) and all(_LINE.match(line) for line in lines[:-1])


def read_brat(engine: Engine, source: Source, read: Read) -> Side:
    """One document, called `1`, so that gold and prediction need not have the same file name."""
    return _read([("1", source.path)], read, Path(source.name), source.findings)


def is_folder(given: object) -> bool:
    return isinstance(given, (str, Path)) and os.path.isdir(given) and any(Path(given).glob("*.ann"))


def read_folder(given: str | Path, read: Read) -> Side:
    """Every .ann file of a folder is a document, called by its name."""
    return _read([(path.stem, path) for path in sorted(Path(given).glob("*.ann"))], read, None, [])


@dataclass
class Entities:
    """The spans of .ann files as they are read, and what is wrong with them."""

    rows: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    quotes: list[str | None] = field(default_factory=list)
    pieces: dict[int, list[int]] = field(default_factory=dict)
    wrong: list[Finding] = field(default_factory=list)

    def add(self, unit: int, path: Path, name: str) -> None:
        """One document."""
        try:
            lines = path.read_text(encoding="utf-8-sig").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            self.wrong.append(finding("file-unreadable", name, reason=str(error)))
            return
        for number, line in enumerate(lines, 1):
            match = _ENTITY.fullmatch(line.rstrip("\r"))
            if match:
                self._entity(unit, number, *match.groups())
            elif line.startswith("T") or (line.strip() and not _LINE.match(line)):
                reason = "expected T1<TAB>LABEL START END<TAB>TEXT, or another annotation of brat"
                self.wrong.append(finding("span-unreadable", name, number, reason=reason))

    def _entity(self, unit: int, number: int, label: str, places: str, quote: str | None) -> None:
        """From the first to the last character; a span in one piece stays as it is, so that a reversed one is found."""
        ends = [int(n) for n in re.findall(r"\d+", places)]
        start, end = ends if len(ends) == 2 else (min(ends), max(ends))
        self.rows.append((unit, start, end, self.labels.setdefault(label, len(self.labels)), number))
        self.quotes.append(quote if len(ends) == 2 else None)
        if len(ends) > 2:
            self.pieces.setdefault(unit, []).append(number)


def _read(files: Sequence[tuple[str, Path]], read: Read, original: Path | None, findings: list[Finding]) -> Side:
    entities = Entities()
    for unit, (_, path) in enumerate(files):
        entities.add(unit, path, str(original or path))
    if entities.wrong:
        raise InputError(limited(entities.wrong))
    findings = [*findings, *_discontinuous(files, entities.pieces, original)]
    rows = np.array(entities.rows, np.int64).reshape(-1, 5)
    columns: dict[str, Any] = dict(zip(("start", "end", "label", "line"), rows.T[1:], strict=True))
    columns["quote"] = np.fromiter(entities.quotes, object, len(entities.quotes))
    texts = [_text(original if original else path) for _, path in files]
    units = {"text": texts} if any(text is not None for text in texts) else {}
    origin = Origin(read.name, read.role, "brat")
    keys = Keys(Codes.constant("", len(files)), [name for name, _ in files])
    names = {"label": list(entities.labels)}
    return Side(
        origin, "spans", keys, Entries(rows.T[0], columns), names, units, {}, None, len(files), "spans", findings
    )


def _discontinuous(
    files: Sequence[tuple[str, Path]], pieces: dict[int, list[int]], original: Path | None
) -> Iterator[Finding]:
    """Which documents have spans in pieces, and the line of the first."""
    for unit, lines in islice(pieces.items(), LIMIT):
        name, path = files[unit]
        yield finding("span-discontinuous", str(original or path), lines[0], id=name, count=len(lines))


def _text(path: Path) -> str | None:
    """The document's text, which brat keeps in a .txt file beside the annotation."""
    beside = path.with_suffix(".txt")
    if path.suffix != ".ann" or not beside.is_file():
        return None
    try:
        return beside.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError([finding("file-unreadable", str(beside), reason=str(error))]) from error
