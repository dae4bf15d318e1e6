# SPDX-License-Identifier: Apache-2.0
"""brat's standoff annotation: one .ann file, or a folder of them with their texts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from karat.findings import LIMIT, Finding, InputError, finding
from karat.read.relation import Engine
from karat.read.source import Source
from karat.read.spans import annotated_table
from karat.read.table import Read, Table

_ENTITY = re.compile(r"T\S*\t(\S+) (\d+ \d+(?:;\d+ \d+)*)(?:\t(.*))?")
_LINE = re.compile(r"[TRAEMN#*]\S*\t")


def is_brat(source: Source) -> bool:
    lines = [line for line in source.head.decode(errors="replace").split("\n")[:50] if line.strip()]
    return any(_ENTITY.fullmatch(line) for line in lines) and all(_LINE.match(line) for line in lines[:-1])


def read_brat(engine: Engine, source: Source, read: Read) -> Table:
    """One document, called `1`, so that gold and prediction need not have the same file name."""
    return _read([("1", source.path)], read, Path(source.name), source.findings)


def is_folder(given: object) -> bool:
    return isinstance(given, (str, Path)) and os.path.isdir(given) and any(Path(given).glob("*.ann"))


def read_folder(given: str | Path, read: Read) -> Table:
    """Every .ann file of a folder is a document, called by its name."""
    return _read([(path.stem, path) for path in sorted(Path(given).glob("*.ann"))], read, None, [])


def _read(files: Sequence[tuple[str, Path]], read: Read, original: Path | None, findings: list[Finding]) -> Table:
    rows: list[tuple[int, int, int, int, int]] = []
    labels: dict[str, int] = {}
    quotes: list[str | None] = []
    pieces: dict[int, list[int]] = {}
    for unit, (_, path) in enumerate(files):
        for number, line in enumerate(path.read_text(encoding="utf-8-sig").split("\n"), 1):
            found = _ENTITY.fullmatch(line.rstrip("\r"))
            if line.startswith("T") and not found:
                raise InputError(
                    [
                        finding(
                            "span-unreadable",
                            str(original or path),
                            number,
                            reason="expected T1<TAB>LABEL START END<TAB>TEXT",
                        )
                    ]
                )
            if found:
                ends = [int(n) for n in re.findall(r"\d+", found[2])]
                rows.append((unit, min(ends), max(ends), labels.setdefault(found[1], len(labels)), number))
                quotes.append(found[3] if len(ends) == 2 else None)
                if len(ends) > 2:
                    pieces.setdefault(unit, []).append(number)
    findings = [*findings, *_discontinuous(files, pieces, original)]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    texts = [_text(original if original else path) for _, path in files]
    from karat.contexts.spans import Annotated, Spans

    side = Annotated(
        [name for name, _ in files], Spans.of(*columns[:4]), list(labels), span_lines=columns[4], quotes=quotes,
        texts=texts if any(t is not None for t in texts) else None,
    )  # fmt: skip
    return annotated_table(side, read, "brat", lambda row: None, findings)


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
    return beside.read_text(encoding="utf-8-sig") if path.suffix == ".ann" and beside.is_file() else None
