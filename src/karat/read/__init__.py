# SPDX-License-Identifier: Apache-2.0
"""Inputs of every kind as sides: files by format, and data in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from karat.columns import Codes, Ints
from karat.findings import Finding, InputError, finding
from karat.read import brat, conll, delimited, docbin, json, pages, parquet, rankings, spans, table, trec
from karat.read.memory import is_memory, read_memory
from karat.read.roles import Records, read_side
from karat.read.source import Source, file_name
from karat.read.table import Engine, Read
from karat.side import Origin, Side

__all__ = ["BY_LINES", "FORMATS", "Format", "Read", "Unread", "Waiting", "allowed", "read_input", "whole"]


class Format(NamedTuple):
    """A file format: how it is told from its content, and how it is read."""

    title: str
    is_it: Callable[[Source], bool]
    read: Callable[[Engine, Source, Read], Records | Side]
    example: str


FORMATS: dict[str, Format] = {
    "parquet": Format(
        "Parquet",
        lambda source: source.head.startswith(b"PAR1"),
        parquet.read_parquet,
        "columns id, value[, test_case]",
    ),
    "arrow": Format(
        "Arrow IPC (Feather)",
        lambda source: source.head.startswith(b"ARROW1"),
        parquet.read_arrow,
        "columns id, value[, test_case]",
    ),
    "docbin": Format("spaCy DocBin", lambda source: source.name.endswith(".spacy"), docbin.read_docbin, "corpus.spacy"),
    "spans": Format(
        "JSON or JSON Lines with spans (also LUIS, Prodigy, doccano, Label Studio)",
        spans.is_spans,
        spans.read_spans,
        '{"id": "1", "spans": [{"start": 0, "end": 4, "label": "PER"}]}',
    ),
    "rankings": Format(
        "JSON object of objects: query → document → number",
        rankings.is_rankings,
        rankings.read_rankings,
        '{"q1": {"doc7": 2, "doc9": 0}, "q2": {…}}',
    ),
    "json": Format(
        "JSON array of records",
        lambda source: source.start.startswith(b"["),
        lambda _, source, read: json.read_json(source, read),
        '[{"test_case": "T1", "id": "1", "value": "A"}, …]',
    ),
    "jsonl": Format(
        "JSON Lines",
        lambda source: source.start.startswith(b"{"),
        lambda _, source, read: json.read_jsonl(source, read),
        '{"id": "1", "value": ["A", "B"]}',
    ),
    "brat": Format("brat standoff", brat.is_brat, brat.read_brat, "T1<TAB>PER 0 4<TAB>Anna"),
    "trec-run": Format("TREC run", trec.is_run, trec.read_run, "q1 Q0 doc7 1 14.2 tag"),
    "conll": Format("CoNLL columns with tags", conll.is_conll, conll.read_conll, "Anna B-PER"),
    "trec-qrels": Format("TREC judgements", trec.is_qrels, trec.read_qrels, "q1 0 doc7 2"),
    "tsv": Format("Tab-separated values", delimited.is_tsv, delimited.read_tsv, "test_case<TAB>id<TAB>value"),
    "csv": Format("Comma-separated values", delimited.is_csv, delimited.read_csv, "id,value"),
}
"""In the order in which they are tried."""


def read_input(
    engine: Engine, stack: ExitStack, given: Any, read: Read, format: str | None = None, encoding: str | None = None,
    max_unpacked: int | None = None,
) -> Side | Waiting | Unread:  # fmt: skip
    """A path, ``-``, or data in memory as one side of an evaluation."""
    if is_memory(given):
        return _in_memory(engine, given, read)
    if brat.is_folder(given):
        read.name = file_name(given)
        return brat.read_folder(given, read)
    source = Source(given, stack, encoding, max_unpacked)
    read.name = source.name
    format = format or in_context(detect(source), read.context)
    in_lines = format in BY_LINES and (format == "json" or source.start[:1] != b"[")
    if in_lines and source.path.stat().st_size * BY_LINES[format] > allowed(engine):
        return Unread(engine, source, read, format)
    side = _side(FORMATS[format].read(engine, source, read), read)
    side.origin.sha256, side.origin.bytes = source.sha256, source.original.stat().st_size
    return side


BY_LINES = {"trec-run": 4, "trec-qrels": 4, "json": 6, "jsonl": 6, "spans": 4}
"""Formats whose lines, or records, can be read in batches, and the bytes of memory that each byte of a file takes as a whole."""


def allowed(engine: Engine) -> int:
    """The bytes that one evaluation may take: what the user said, or half of the machine's memory."""
    return engine.memory or os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


@dataclass(eq=False)
class Unread:
    """A file that is larger than memory, until it is known what is asked of it."""

    engine: Engine
    source: Source
    read: Read
    format: str

    @cached_property
    def origin(self) -> Origin:
        size, name = self.source.original.stat().st_size, self.read.name
        return Origin(name, self.read.role, self.format, sha256=self.source.sha256, bytes=size)

    def side(self) -> Side:
        """The file read into memory."""
        side = self._read(self.source, self.format)
        side.origin.sha256, side.origin.bytes = self.origin.sha256, self.origin.bytes
        side.origin.system, side.origin.column = self.origin.system, self.origin.column
        return side

    def part(self, path: Path, line: Ints) -> Side:
        """Some of the lines, which were copied to a file of their own, as a side with the lines that they have here."""
        source = self.source.at(path)
        try:
            side = self._read(source, "jsonl" if self.format == "json" else self.format)
        except InputError as error:
            raise InputError([_moved(f, line) for f in error.findings]) from error
        line_of = side.origin.line_of
        side.origin = replace(self.origin, line_of=lambda row: int(line[(line_of(row) or 1) - 1]))
        side.findings = [_moved(f, line) for f in side.findings]
        return side

    def _read(self, source: Source, format: str) -> Side:
        side = _side(FORMATS[format].read(self.engine, source, self.read), self.read)
        assert isinstance(side, Side)  # lines never wait in the engine
        return side


def _moved(old: Finding, line: Ints) -> Finding:
    return finding(old.code, old.file, None if old.line is None else int(line[old.line - 1]), **old.facts)


@dataclass(eq=False)
class Waiting:
    """Records of a large table, which stay in the engine until it is known what is asked of them."""

    records: Records
    read: Read
    pages: bool = False
    """Whether they are page streams."""

    @property
    def origin(self) -> Origin:
        return self.records.origin

    def side(self) -> Side:
        """The rows read into memory."""
        return self.of(self.records)

    def of(self, records: Records) -> Side:
        """Some of the rows as a side."""
        return (pages.read_pages if self.pages else read_side)(records, self.read)


def whole(side: Side | Waiting | Unread) -> Side:
    """The side with all its rows in memory."""
    return side if isinstance(side, Side) else side.side()


def _side(records: Records | Side, read: Read) -> Side | Waiting:
    if isinstance(records, Side):
        if records.context == "ranking" and read.context in (
            "numbers",
            "probabilities",
        ):  # numbers of documents, not of units
            message = f"this is a ranking, which has no place in the context {read.context}"
            way_out = "leave the context out, or say -c ranking; else give a table with an id and a value in each row"
            raise InputError([finding("bad-option", read.name, message=message, way_out=way_out)])
        return records
    waiting = Waiting(records, read, pages.are_pages(records, read))
    waits = records.rows >= table.WAITING and hasattr(records.columns, "relation")
    return waiting if waits else waiting.side()


def _in_memory(engine: Engine, given: Any, read: Read) -> Side:
    """Data in memory; what is no text, or holds itself, is a finding as it is in a file."""
    try:
        side = _side(read_memory(engine, given, read), read)
        assert isinstance(side, Side)  # what is in memory never waits
        wide = _columns(given, read) if side.kind == "labels" and side.origin.format == "array" else 0
        side.facts |= {"columns": wide} if wide else {}
        for texts in _texts(side):
            "".join(texts).encode()  # what is no text can be scored, but not written
        return side
    except InputError:
        raise
    except (ValueError, RecursionError, TypeError, OverflowError) as error:  # 10**5000 has too many digits for a text
        raise InputError([finding("data-unreadable", read.name, reason=error)]) from error
    except Exception as error:
        if "duckdb" not in type(error).__module__:
            raise
        reason = str(error).partition("\n")[0]
        raise InputError([finding("data-unreadable", read.name, reason=reason)]) from error


def _columns(given: Any, read: Read) -> int:
    """How many columns an array of label sets has, those without a one too; a single one is a label for each item."""
    columns = getattr(given, "shape", ())[1:]
    return int(columns[0]) if columns and (columns[0] > 1 or read.context == "multilabel") else 0


def _texts(side: Side) -> Iterator[Iterable[str]]:
    """All texts of a side that a report or a store may have to write."""
    yield from side.names.values()
    yield side.keys.case.names
    yield side.keys.id if isinstance(side.keys.id, list) else ()
    for column in side.units.values():
        if isinstance(column, Codes):
            yield column.names
        elif isinstance(column, list):
            yield (text for text in column if isinstance(text, str))


def detect(source: Source) -> str:
    """The format that the content of a file shows."""
    if source.is_blank():
        raise InputError([finding("no-records", source.name)])
    chosen = next((name for name, format in FORMATS.items() if format.is_it(source)), None)
    if chosen is None:
        bad = source.encoding_findings() or [finding("unknown-format", source.name)]
        raise InputError(bad)
    return chosen


def in_context(format: str, context: str | None) -> str:
    """The format that a detected one is in a context: JSON without any span yet is JSON with spans."""
    formats = {"spans": {"json": "spans", "jsonl": "spans", "tsv": "conll", "csv": "conll"}}
    return formats.get(context or "", {}).get(format, format)
