# SPDX-License-Identifier: Apache-2.0
"""Small CSV and TSV without quotes: fields are what stands between the marks, for which no engine need be started.

Can be deleted: two tiny files then cost half as much CPU again, nearly all of it the start of DuckDB.
"""

from __future__ import annotations

from collections.abc import Sequence

from karat.read import fast
from karat.read.source import Source


def bare_rows(
    source: Source, mark: str, header: bool, names: Sequence[str], most: int
) -> dict[str, list[str | None]] | None:
    """The columns of a file of fewer than ``most`` rows, all as wide as its first; an empty field is null."""
    if not fast.ON or source.path.stat().st_size > len(source.head) or any(odd in source.head for odd in (b'"', b"\r")):
        return None
    try:
        lines = source.head.decode().removesuffix("\n").split("\n")
    except UnicodeDecodeError:
        return None
    if len({name.lower() for name in names}) < len(names) or not all(map(str.strip, lines)):
        return None
    rows = [line.split(mark) for line in lines[header:]]
    if len(rows) >= most or set(map(len, rows)) - {len(names)}:
        return None
    return {name: [row[i] or None for row in rows] for i, name in enumerate(names)}
