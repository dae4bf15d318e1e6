# SPDX-License-Identifier: Apache-2.0
"""A file's records as PyEvALL finds them: JSON, else tab-separated, else comma-separated; told by content.

Strict reading has PyEvALL's oddities (pandas' missing-value words, ten decimals, numbers that turn labels into
ranks); the default reads a table as it would read the same records in JSON, and notes what differs.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from karat.doors.pyevall import codes

FIELDS = ["test_case", "id", "value"]
SEPARATORS = {codes.TSV: "\t", codes.CSV: ","}
PANDAS_MISSING = frozenset(
    [
        "",
        "#N/A",
        "#N/A N/A",
        "#NA",
        "-1.#IND",
        "-1.#QNAN",
        "-NaN",
        "-nan",
        "1.#IND",
        "1.#QNAN",
        "<NA>",
        "N/A",
        "NA",
        "NULL",
        "NaN",
        "None",
        "n/a",
        "nan",
        "null",
    ]
)
END = "\x00end of file\x00"


@dataclass
class Source:
    """What a file holds: records, or why not; ``format`` is the code of a table's format; ``notes`` are findings."""

    records: Any = None
    failure: str | None = None
    format: str | None = None
    notes: list[str] = field(default_factory=list)


def read(path: Path, strict: bool, ranking: bool = True, wanted: str | None = None) -> Source:
    """The file's content; ``ranking`` says that whole numbers in a table may be ranks."""
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        return Source(failure=str(error))
    return read_as_pyevall(text) if strict else read_with_care(text, ranking, wanted)


def read_as_pyevall(text: str) -> Source:
    try:
        return Source(json.loads(text))
    except (ValueError, RecursionError) as error:
        failure = str(error)
    for code, separator in SEPARATORS.items():
        records = pandas_table(text, separator)
        if records is not None:
            return Source(records, format=code)
    return Source(failure=failure)


def first_line(text: str) -> str:
    """Up to any line end that Python's text files know."""
    return re.split(r"\r\n|\r|\n", text, maxsplit=1)[0]


def pandas_table(text: str, separator: str) -> list[dict[str, Any]] | None:
    """The records that pandas would read, or nothing where it would refuse the text."""
    parts = [part.strip() for part in first_line(text).split(separator)]
    header = parts == FIELDS
    rows = tokens(text, separator)
    if len(parts) < 3 or rows is None:
        return None
    # Blanks in a header stay in the names: pandas refuses when it then finds no value, else the schema does.
    names = rows[0] if header else FIELDS + parts[3:]
    if len(set(names)) < len(names) or "value" not in names:
        return None
    body = rows[1:] if header else rows
    # pandas lets the first row be longer than the names, and then as long a row anywhere; the surplus is dropped.
    width = max(len(names), len(body[0])) if body else len(names)
    if any(len(row) > width for row in body):
        return None
    return [record(names, row) for row in body]


def tokens(text: str, separator: str) -> list[list[str]] | None:
    """Rows of fields; nothing when the text ends inside quotes."""
    lines = [*io.StringIO(text.removeprefix("\ufeff"), newline=""), END]
    if len(lines) > 1 and not lines[-2].endswith(("\n", "\r")):
        lines[-2] += "\n"
    try:
        rows = list(csv.reader(lines, delimiter=separator))
    except csv.Error:
        return None
    return rows[:-1] if rows[-1] == [END] else None


def record(names: list[str], row: list[str]) -> dict[str, Any]:
    """A row as it looks after pandas has written it as JSON and PyEvALL has read that."""
    cells: list[Any] = [None if cell in PANDAS_MISSING else cell for cell in row[: len(names)]]
    out = dict(zip(names, cells + [None] * (len(names) - len(cells)), strict=True))
    out["value"] = pandas_value(out["value"])
    return out


def pandas_value(text: str | None) -> Any:
    """A cell's value: nothing, a list or an object in JSON, a whole number, else the text."""
    if text is None or text.lower() in ("nan", "none", "null", ""):
        return ""
    if bracketed(text):
        try:
            return ten_decimals(json.loads(text))
        except (ValueError, RecursionError):
            return text
    return whole(text)


def bracketed(text: str) -> bool:
    return (text[0], text[-1]) in (("[", "]"), ("{", "}"))


def whole(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text


def ten_decimals(value: Any) -> Any:
    """pandas writes numbers with ten decimals, and NaN as null."""
    if isinstance(value, list):
        return [ten_decimals(inner) for inner in value]
    if isinstance(value, dict):
        return {key: ten_decimals(inner) for key, inner in value.items()}
    if isinstance(value, float):
        return round(value, 10) if math.isfinite(value) else None
    return value


def read_with_care(text: str, ranking: bool, wanted: str | None) -> Source:
    """The same formats and JSON Lines, without the oddities; what PyEvALL would read otherwise is noted."""
    notes = ["bom"] if text.startswith("\ufeff") else []
    text = text.removeprefix("\ufeff")
    attempts: dict[str, Callable[[], Source]] = {
        "json": lambda: Source(json.loads(text)),
        "jsonl": lambda: Source(json_lines(text), notes=["json-lines"]),
        "tsv": lambda: table(text, codes.TSV, ranking),
        "csv": lambda: table(text, codes.CSV, ranking),
    }
    failures: dict[str, str] = {}
    for name, attempt in attempts.items():
        if wanted in (None, name) or (wanted == "json" and name == "jsonl"):
            try:
                source = attempt()
            except (ValueError, RecursionError) as error:
                failures[name] = str(error)
                continue
            source.notes[:0] = notes
            if source.format and not source.notes and read_as_pyevall(text).records != source.records:
                source.notes.append("table")
            return source
    return Source(failure=next(iter(failures.values()), "no such format"))


def json_lines(text: str) -> list[Any]:
    records = [json.loads(line) for line in text.splitlines() if line.strip()]
    if not records or not all(isinstance(r, dict) for r in records):
        raise ValueError("not every line is a record")
    return records


def table(text: str, code: str, ranking: bool) -> Source:
    """A table read line by line: a quote that does not close stays in its line."""
    rows = [(fields(line, SEPARATORS[code])) for line in re.split(r"\r\n|\r|\n", text) if line.strip()]
    if not rows or len(rows[0]) < 3:
        raise ValueError("the first line has fewer than three fields")
    header = [cell.strip().lower() for cell in rows[0]] == FIELDS
    body = rows[1:] if header else rows
    cells = [row[2] if len(row) > 2 else "" for row in body]
    values = list(column(cells, ranking))
    records = [
        dict(zip([*FIELDS, *map(str, range(3, len(row)))], [*row[:2], value, *row[3:]], strict=False))
        for row, value in zip(body, values, strict=True)
    ]
    return Source(records, format=code, notes=[*oddities(text, header, cells, values)])


def fields(line: str, separator: str) -> list[str]:
    row = next(csv.reader([line + "\n"], delimiter=separator))
    return [cell.removesuffix("\n") for cell in row] if any("\n" in cell for cell in row) else row


def column(cells: list[str], ranking: bool) -> Iterator[Any]:
    """Lists and objects where they can be read; whole numbers only where every value is one and may be a rank."""
    ranks = ranking and all(isinstance(whole(cell), int) for cell in cells if cell != "")
    for cell in cells:
        if cell and bracketed(cell):
            try:
                yield json.loads(cell)
                continue
            except (ValueError, RecursionError):
                pass
        yield whole(cell) if ranks and cell != "" else cell


def oddities(text: str, header: bool, cells: list[str], values: list[Any]) -> Iterator[str]:
    """Where PyEvALL reads this table otherwise."""
    lines = [line.strip() for line in re.split(r"\r\n|\r|\n", text.removesuffix("\n").removesuffix("\r"))]
    if not all(lines):
        yield "blank-lines"
    if header and re.split("[\t,]", first_line(text)) != FIELDS:
        yield "header-case"
    if any(cell in PANDAS_MISSING or cell.lower() in ("nan", "none", "null") for cell in cells if cell):
        yield "missing-words"
    if any(isinstance(value, str) and isinstance(whole(value), int) for value in values):
        yield "number-labels"
