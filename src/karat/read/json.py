# SPDX-License-Identifier: Apache-2.0
"""JSON arrays of records, and JSON Lines."""

from __future__ import annotations

import gc
import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from itertools import chain, islice
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
from msgspec.structs import astuple

from karat import values
from karat.columns import Codes
from karat.findings import Finding, InputError, finding, limited
from karat.read.names import NAMES, match_columns
from karat.read.roles import Records
from karat.read.source import Content, Source
from karat.read.table import Read
from karat.side import Origin
from karat.values import Column, Nested, Texts

T = TypeVar("T")

DEEPEST = 100
"""Levels of nesting that a record may have; the engine stops at 128."""

_BLANK = re.compile(r"[\s,]*")
# Possessive: a text that never ends would be tried again from each of its characters.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[{]|[\]}]', re.S)


def read_json(source: Source, read: Read) -> Records:
    """An array of records: ``[{"id": …, "value": …}, …]``."""
    return _read(source, read, "json")


def read_jsonl(source: Source, read: Read) -> Records:
    """One record a line."""
    return _read(source, read, "jsonl")


def _read(source: Source, read: Read, format: str) -> Records:
    try:
        with source.mapped() as content:
            columns, rows = _columns(content, format)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise InputError(diagnose(source, format) or [_no_fields(source)]) from error
    if not columns:
        raise InputError([_no_fields(source) if rows else finding("no-records", source.name)])
    folded = {name.lower() for name in columns}
    if len(folded) < len(columns):
        raise InputError([_alike(source, columns, match_columns(list(columns), read.columns))])
    origin = Origin(read.name, read.role, format, lambda row: line_of(source, format, row))
    return Records(origin, columns, rows, findings=list(source.findings))


def _alike(source: Source, columns: Mapping[str, Any], roles: Mapping[str, str]) -> Finding:
    """Two fields that differ by case alone: which of them is meant cannot be known."""
    names = [name.lower() for name in columns]
    twice = next(name for name in names if names.count(name) > 1)
    return finding("repeated-column", source.name, None, name=twice)


FIRST = 1 << 16
"""Bytes in which the first record is looked for."""
BLOCK = 1 << 20
"""Bytes that are decoded at once: the objects in them, thrice as large, stay near the processor, and never all are there."""


def _columns(content: Content | bytes, format: str) -> tuple[dict[str, Column], int]:
    """The fields of all records as columns, None where a record lacks one; each field of a record must be there once."""
    columns: dict[str, list[Column]] = {}
    rows = 0
    for part, size in _decoded_lines(content) if format == "jsonl" else _decoded_array(content):
        for name in (*part, *(name for name in columns if name not in part)):
            if name not in columns:
                columns[name] = [[None] * rows] if rows else []
            columns[name].append(part[name] if name in part else [None] * size)
        rows += size
    return {name: parts[0] if len(parts) == 1 else values.joined(parts) for name, parts in columns.items()}, rows


Decoded = tuple[dict[str, Column], int]
"""The columns of some records, and how many they are."""


def _decoded_lines(content: Content | bytes) -> Iterator[Decoded]:
    """Whole lines, a megabyte of them at a time."""
    start = 0
    while start < len(content):
        end = content.find(b"\n", start + BLOCK) + 1 or len(content)
        yield _decoded(content[start:end], "jsonl")
        start = _past(content, end)


def _past(content: Content | bytes, end: int) -> int:
    """The end of what was decoded, which need not stay in memory."""
    if isinstance(content, Content):
        content.done(end)
    return end


def _decoded_array(content: Content | bytes) -> Iterator[Decoded]:
    """Whole records, a megabyte of them at a time."""
    return _parted(content, BLOCK, lambda array, _: _decoded(array, "json"))


def _parted(content: Content | bytes, size: int, decode: Callable[[bytes, int], T]) -> Iterator[T]:
    """What whole records are, so many bytes of them at a time: parted where it looks as between the first two.

    What is an array between its brackets ends where a record does; where a text or a list only looks like it, it is
    none, and the rest is decoded at once. ``decode`` gets an array and the place of its first byte.
    """
    mark, start = _mark(content), 0
    while mark and (at := content.find(mark, start + size)) >= 0:
        try:
            yield decode(b"".join((b"[" if start else b"", content[start : at + 1], b"]")), start - bool(start))
        except msgspec.DecodeError:
            break
        start = _past(content, content.find(b",", at) + 1)
    yield decode(b"[" + content[start:] if start else content[:], start - bool(start))


def array_lines(source: Source) -> Iterator[tuple[list[bytes], list[int]]]:
    """The records of an array, some megabytes at a time, each on one line, and the line on which each begins."""
    line, counted = 1, 0
    raw = msgspec.json.Decoder(list[msgspec.Raw])
    with source.mapped() as content:
        decode = lambda array, begin: (raw.decode(array), array, begin)
        for records, array, begin in _parted(content, 4 * BLOCK, decode):
            texts, numbers, at = list(map(bytes, records)), list[int](), 0
            for record in texts:
                at = array.index(record, at)
                line += content[counted : begin + at].count(b"\n")
                counted, at = begin + at, at + len(record)
                numbers.append(line)
            yield [b" ".join(record.split(b"\n")) + b"\n" for record in texts], numbers


_NEXT = re.compile(r'\}\s*,\s*\{\s*"[^"\\]*"')


def _mark(content: Content | bytes) -> bytes:
    """What stands from the end of the first record to the first name of the second; nothing where there is none."""
    head = content[:FIRST].decode(errors="replace")
    try:
        end = json.JSONDecoder().raw_decode(head, head.index("{"))[1]
    except (ValueError, RecursionError):
        return b""
    match = _NEXT.match(head, end - 1)
    return match[0].encode() if match else b""


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the garbage collector: what is decoded has no rings, and looking for them took as long as decoding."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@_uncollected()
def _decoded(block: bytes, format: str) -> Decoded:
    """The columns of the fields of the records, and how many records there are."""
    first = _first(block)
    for kinds in _shapes(first):
        try:
            records = _records(block, format, _like(first, kinds))
        except (msgspec.ValidationError, ValueError):
            continue
        listed = [list(map(attrgetter(f"_{i}"), records)) for i in range(len(first))]
        columns = {name: _apart(*column) for name, *column in zip(first, listed, kinds, strict=True)}
        counted = len(first) * len(records) + sum(
            _names_in(columns[name]) for name, kind in zip(first, kinds, strict=True) if kind is not str
        )
        break
    else:
        records = _records(block, format, dict[str, Any])
        names = dict.fromkeys(chain.from_iterable(records))
        columns = {name: _apart([record.get(name) for record in records]) for name in names}
        counted = sum(map(len, records)) + sum(map(_names_in, columns.values()))
    if not _each_once(block, counted):
        raise ValueError("a field is there twice")
    return columns, len(records)


def _shapes(first: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Types of the fields of records that have those of the first: with its texts, with its numbers by name, and with anything."""
    weights = [_like(value, [float] * len(value)) if _is_weights(value) else Any for value in first.values()]
    texts = [str if isinstance(value, str) else kind for value, kind in zip(first.values(), weights, strict=True)]
    anything: list[Any] = [Any] * len(first)
    return (kinds for kinds, wider in ((texts, weights), (weights, anything), (anything, [])) if kinds != wider)


def _is_weights(value: Any) -> bool:
    return isinstance(value, dict) and _are_fields(value) and {*map(type, value.values())} <= {int, float}


_UNFIT = re.compile(r'["\\\x00-\x1f]')


def _are_fields(names: Collection[str]) -> bool:
    """Can a type have fields with these names? It is not to have many, nor such as JSON writes with a backslash."""
    return 0 < len(names) <= MOST and not any(map(_UNFIT.search, names))


def _apart(column: list[Any], kind: Any = Any) -> Column:
    """Numbers by name and lists of texts as arrays, which take a tenth of the memory of objects; anything else as it is.

    Where all values are of one ``kind``, nobody need look at them.
    """
    kinds = {*map(type, column)} if kind is Any else {kind}
    if len(kinds) == 1 and issubclass(kind := next(iter(kinds)), msgspec.Struct):
        names = list(kind.__struct_encode_fields__)
        number = np.fromiter(chain.from_iterable(map(astuple, column)), float, len(names) * len(column))
        key = Codes(np.tile(np.arange(len(names), dtype=np.int16), len(column)), names)
        return Nested(np.full(len(column), len(names)), key, number, np.ones(len(column), bool))
    if dict in kinds and kinds <= {dict, type(None)}:
        nested = values.taken_apart(column, True)
        if {*map(type, nested.members)} <= {int, float}:
            return replace(nested, members=values.numbers(nested.members)[0])
    if list in kinds and kinds <= {list, type(None)}:
        nested = values.taken_apart(column, False)
        return nested if isinstance(nested.members, Codes) else column
    if kinds != {str}:
        return column
    few = {*column[:HEAD]}
    if len(column) < HEAD or 4 * len(few) > HEAD:
        return Texts(column)
    if len(few) == 1 and column.count(column[0]) == len(column):  # as test cases most often are
        return Codes.constant(column[0], len(column))
    return Codes.of(column)  # test cases or labels, which are few


HEAD = 100
"""Texts at the beginning of a column that show whether they repeat, and so are held as codes."""


def _names_in(column: Column) -> int:
    """How many names there are in the objects among the values, and in what they and the lists hold."""
    if isinstance(column, Nested):
        return 0 if column.keys is None else len(column.members)
    if (inside := _inside(column)) is None:
        return 0
    return sum(len(value) for value in column if type(value) is dict) + _names_in(inside)


def _inside(column: Column) -> list[Any] | None:
    """What the lists and objects of a column hold; None where there are none."""
    if isinstance(column, Codes):
        return None
    kinds = {*map(type, column)}
    if not kinds & {dict, list}:
        return None
    objects = column if kinds == {dict} else [value for value in column if type(value) is dict]
    lists = column if kinds == {list} else [value for value in column if type(value) is list]
    return list(chain(chain.from_iterable(map(dict.values, objects)), chain.from_iterable(lists)))


def _first(block: bytes) -> dict[str, Any]:
    head = block[:FIRST].decode(errors="replace")
    try:
        record = json.JSONDecoder().raw_decode(head, head.index("{"))[0]
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) and _are_fields(record) else {}


MOST = 100
"""Fields up to which records are compared with the first."""


def _like(fields: Iterable[str], kinds: Iterable[Any]) -> Any:
    """A type for objects with exactly these fields, of which the garbage collector need not know."""
    rename = {f"_{i}": field for i, field in enumerate(fields)}
    members = list(zip(rename, kinds, strict=True))
    return msgspec.defstruct("Record", members, rename=rename, forbid_unknown_fields=True, gc=False)


def _records(block: bytes, format: str, record: Any) -> Sequence[Any]:
    if format == "json":
        records: Sequence[Any] = msgspec.json.Decoder(list[record]).decode(block)
        return records
    decoder, body = msgspec.json.Decoder(record), block.strip()
    breaks = body.count(b"\n")
    if breaks in (body.count(b"}\n{"), body.count(b"}\r\n{")):
        # No record goes over a line's end, since no name or comma stands there: as many as lines are one on each.
        together: Sequence[Any] = decoder.decode_lines(body)
        if len(together) == breaks + 1:
            return together
    return [decoder.decode(line) for line in block.split(b"\n") if line and not line.isspace()]


_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"(\s*:)?', re.S)


def _each_once(content: bytes, names: int) -> bool:
    """Is the number of names in the text the one of those decoded? Of a name that is there twice only one is."""
    colons = np.count_nonzero(np.frombuffer(content, np.uint8) == ord(":"))
    return colons == names or sum(map(bool, _STRING.findall(content))) == names


def _no_fields(source: Source) -> Finding:
    expected = "one of " + ", ".join(NAMES["value"][:5]) + ", …"
    return finding(
        "missing-column",
        source.name,
        role="value",
        expected=expected,
        found="no fields that can be read",
        way_out='write records such as {"id": "1", "value": "A"}',
    )


def diagnose(source: Source, format: str) -> list[Finding]:
    """Why a file is not the JSON that it should be."""
    if bad := source.encoding_findings():
        return bad
    text = source.bytes().decode("utf-8-sig")
    return _diagnose_lines(source, text) if format == "jsonl" else _diagnose_array(source, text)


def _diagnose_lines(source: Source, text: str) -> list[Finding]:
    if _is_one_object(text):
        return [finding("not-records", source.name, 1, found="one object over several lines")]
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    return limited(bad for number, line in _doubtful(lines) for bad in _diagnose_record(source, line, number))


AT_ONCE = 500
"""Records that are read together to see whether one of them is wrong: what is read in a moment need not be looked at."""


def _doubtful(records: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The records among which some cannot be read, with their lines."""
    left = iter(records)
    while some := list(islice(left, AT_ONCE)):
        block = "\n".join(" ".join(text.split("\n")) for _, text in some)
        yield from () if _can_be_read(block.encode(), "jsonl") else some


def _can_be_read(block: bytes, format: str) -> bool:
    try:
        return max(map(_depth, _decoded(block, format)[0].values()), default=0) < DEEPEST
    except (msgspec.DecodeError, ValueError, RecursionError):
        return False


def _depth(column: Column) -> int:
    """How many lists and objects are in each other at most."""
    return 1 if isinstance(column, Nested) else 1 + _depth(inside) if (inside := _inside(column)) is not None else 0


def _is_one_object(text: str) -> bool:
    """Is the whole text one object, written over several lines?"""
    try:
        return isinstance(json.loads(text), dict) and "\n" in text.strip()
    except (ValueError, RecursionError):
        return False


def _diagnose_array(source: Source, text: str) -> list[Finding]:
    begin = _sound(text)
    if bad := _not_an_array(source, text, begin):
        return bad
    suspects = _doubtful(_doubtful_parts(text, begin))
    return limited(bad for line, record in suspects for bad in _diagnose_record(source, record, line))


def _not_an_array(source: Source, text: str, begin: int) -> list[Finding]:
    """What is wrong with the whole, of which everything before ``begin`` is sound."""
    line, column = text.count("\n", 0, begin), begin - text.rfind("\n", 0, begin) - 1
    rest = "[\n" + " " * column + text[begin:] if begin else text
    try:
        records = json.loads(rest, parse_int=str)
    except json.JSONDecodeError as error:
        line += error.lineno - bool(begin)
        near = rest.rfind("\n", 0, max(error.pos - NEAR, 0)) + 1
        if deep := _too_deep(rest[near : error.pos], line - rest.count("\n", near, error.pos)):
            return [finding("bad-json", source.name, deep, reason="nested too deeply")]
        return [finding("bad-json", source.name, line, reason=f"{error.msg} (column {error.colno})")]
    except RecursionError:
        deep = _too_deep(text[begin:], line + 1)
        return [finding("bad-json", source.name, deep, reason="nested too deeply")]
    if not isinstance(records, list):
        return [finding("not-records", source.name, 1, found=_instead(records))]
    return [] if records or begin else [finding("no-records", source.name)]


PART = 1 << 18
"""Characters of an array that are read together to see whether something in them is wrong."""


def _parts(text: str, begin: int) -> Iterator[tuple[int, int]]:
    """Where parts of an array begin and end; parted where it looks as between its first two records."""
    mark = _mark(text[:FIRST].encode()).decode()
    while mark and (at := text.find(mark, begin + PART)) >= 0:
        yield begin, at + 1
        begin = text.index(",", at) + 1
    yield begin, len(text)


def _reads(text: str, begin: int, end: int) -> bool:
    block = ("[" if begin else "") + text[begin:end] + ("]" if end < len(text) else "")
    return _can_be_read(block.encode(), "json")


def _sound(text: str) -> int:
    """Where the first part begins that cannot be read."""
    return next((begin for begin, end in _parts(text, 0) if not _reads(text, begin, end)), 0)


def _doubtful_parts(text: str, begin: int) -> Iterator[tuple[int, str]]:
    """The records of the parts that cannot be read, with their lines; what a part looks to end in may go on."""
    line, seen, until = 1, 0, 0
    for start, end in _parts(text, begin):
        if start >= until and _reads(text, start, end):
            continue
        for at, record in _array_records(text, max(start, until) or text.index("[") + 1, end):
            line, seen, until = line + text.count("\n", seen, at), at, at + len(record)
            yield line, record


MOST_DIGITS = 4300
"""Digits of a whole number that Python reads."""
NEAR = 1 << 16
"""Characters before a fault in which brackets are counted: where so many are open, the nesting is the fault."""


def _diagnose_record(source: Source, text: str, line: int) -> list[Finding]:
    objects: list[list[str]] = []
    try:
        value = json.loads(
            text,
            parse_constant=_no_constant,
            parse_int=_whole,
            parse_float=_fraction,
            object_pairs_hook=lambda pairs: _object(pairs, objects),
        )
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        reason = f"{error.msg} (column {error.colno})"
        return [finding("bad-json", source.name, line + error.lineno - 1, reason=reason)]
    except UnicodeEncodeError:
        return [finding("bad-json", source.name, line, reason="half of a surrogate pair (\\ud800 to \\udfff)")]
    except RecursionError:
        return [finding("bad-json", source.name, line, reason="nested too deeply")]
    except ValueError as error:
        return [finding("bad-json", source.name, line, reason=error)]
    if not isinstance(value, dict):
        return [finding("not-records", source.name, line, found=_instead(value))]
    if text.count("[") + text.count("{") > DEEPEST and _too_deep(text, line):
        return [finding("bad-json", source.name, line, reason="nested too deeply")]
    return [f for names in objects for f in _twice(source, names, line, names is objects[-1])]


def _object(pairs: list[tuple[str, Any]], objects: list[list[str]]) -> dict[str, Any]:
    """An object, its names noted: the last that ends is the record itself."""
    objects.append([name for name, _ in pairs])
    return dict(pairs)


def _twice(source: Source, names: list[str], line: int, record: bool) -> list[Finding]:
    twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
    if twice is None:
        return []
    if record:
        return [finding("bad-json", source.name, line, reason=f"the field {twice!r} is there twice")]
    return [finding("repeated-key", source.name, line, key=twice)]


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a number of {len(digits):,} digits")
    return int(digits)


def _fraction(digits: str) -> float:
    if math.isinf(number := float(digits)):
        raise ValueError(f"the number {digits} is out of range")
    return number


def _too_deep(text: str, line: int) -> int | None:
    """The line on which the nesting gets too deep, if it does."""
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if depth > DEEPEST:
            return line + text.count("\n", 0, token.start())
    return None


def _instead(value: Any) -> str:
    names = {str: "a text", dict: "one object", list: "a list", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number") + " in place of a record"


@lru_cache(maxsize=4)
def _lines_of(path: Path, format: str, stamp: float) -> list[int]:
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    if format == "jsonl":
        return [number for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    begins = [at for at, _ in _array_records(text, text.index("[") + 1, len(text))]
    breaks = np.flatnonzero(np.frombuffer(text.encode("utf-32-le"), np.uint32) == ord("\n"))
    return (np.searchsorted(breaks, begins) + 1).tolist()


def line_of(source: Source, format: str, row: int) -> int | None:
    """The physical line on which a record begins."""
    lines = _lines_of(source.path, format, source.path.stat().st_mtime)
    return lines[row] if row < len(lines) else None


def _array_records(text: str, at: int, end: int) -> Iterator[tuple[int, str]]:
    """The records of an array that begin before ``end``, and where each begins."""
    decode = json.JSONDecoder(parse_int=str).raw_decode
    while True:
        at = _BLANK.match(text, at).end()  # type: ignore[union-attr]
        if at >= end or text[at] == "]":
            return
        after = decode(text, at)[1]
        yield at, text[at:after]
        at = after
