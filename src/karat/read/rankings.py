# SPDX-License-Identifier: Apache-2.0
"""Rankings that need no engine: dicts of dicts, in memory or as JSON, and frames with string columns."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, SupportsFloat

import msgspec
import numpy as np
from numpy.typing import NDArray

from karat.contexts.ranking.counting import Batch
from karat.contexts.ranking.judgements import Judgements
from karat.contexts.ranking.relations import rank_beside
from karat.contexts.ranking.strings import PADDING, Strings, Views
from karat.findings import LIMIT, InputError, finding
from karat.read.source import Source
from karat.read.table import NAMES, NUMBERS, Read, Table, match_columns
from karat.read.trec import table

_OBJECT = re.compile(
    rb'\{\s*"((?:[^"\\]|\\.)*)"\s*:\s*\{\s*(?:\}|"(?:[^"\\]|\\.)*"\s*:\s*(?:-?\d|-?Infinity|NaN|null))'
)
Bytes = NDArray[np.uint8]
BATCH = 45_000
"""Rows that are looked at together: few enough to stay in the processor's cache."""


def is_rankings(source: Source) -> bool:
    found = _OBJECT.match(source.sniff())
    usual = {name for names in NAMES.values() for name in names}
    return bool(found) and found[1].decode(errors="replace").lower() not in usual  # type: ignore[index]


def read_rankings(engine: Any, source: Source, read: Read) -> Table:
    """A JSON file of query → document → grade or score."""
    data = source.bytes()
    try:
        given = msgspec.json.decode(data, type=dict[str, dict[str, float]])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(source.encoding_findings() or [finding("bad-json", source.name, reason=error)]) from error
    if data.count(b":") > len(given) + sum(map(len, given.values())):  # a key is there twice, or holds a colon
        _check_keys(data, source.name)
    return read_dicts(given, read, "rankings")


def _check_keys(data: bytes, name: str) -> None:
    """Refuse an object with a key twice: readers of JSON keep the last of them and say nothing."""
    import json

    twice: list[str] = []

    def pairs(found: list[tuple[str, Any]]) -> None:
        times = Counter(key for key, _ in found)
        twice.extend(key for key in times if times[key] > 1)

    json.loads(data, object_pairs_hook=pairs)
    if twice:
        raise InputError([finding("repeated-key", name, key=key) for key in twice[:LIMIT]])


def is_dicts(given: Any) -> bool:
    """Is it a dict of dicts of numbers?"""
    inner = next(iter(given.values()), None) if isinstance(given, Mapping) else None
    return isinstance(inner, Mapping)


def read_dicts(given: Mapping[str, Mapping[str, float]], read: Read, format: str = "dict") -> Table:
    """A dict of query → document → grade or score, as pytrec_eval takes it."""
    size = sum(map(len, given.values()))
    if not size:
        raise InputError([finding("no-records", read.name)])
    if read.role == "gold":
        judged = next(DictRun(given, read.name).batches(whole=True))
        native: Any = Judgements(judged.names, judged.document, judged.score, judged.line)
    else:
        native = DictRun(given, read.name)
    return table(read, format, native, size, [])


class DictRun:
    """A run as a dict of dicts."""

    def __init__(self, given: Mapping[str, Mapping[str, float]], name: str) -> None:
        self.given, self.name = given, name

    def batches(self, whole: bool) -> Iterator[Batch]:
        done, held, size = 0, list[tuple[str, Mapping[str, float]]](), 0
        for item in self.given.items():
            held.append(item)
            size += len(item[1])
            if size >= BATCH and not whole:
                yield self._batch(held, size, done)
                done, held, size = done + size, [], 0
        if size:
            yield self._batch(held, size, done)

    def _batch(self, items: list[tuple[str, Mapping[str, float]]], size: int, done: int) -> Batch:
        length = np.fromiter((len(inner) for _, inner in items), np.int64, len(items))
        queries = Strings.of(str(query) for query, _ in items)
        documents = Strings.of([d if isinstance(d, str) else str(d) for _, inner in items for d in inner])
        names = queries[np.repeat(np.arange(len(items)), length)]
        return Batch(names, documents, self._numbers(items, size), np.arange(done + 1, done + size + 1))

    def _numbers(self, items: list[tuple[str, Mapping[str, float]]], size: int) -> NDArray[np.float64]:
        try:
            return np.fromiter((s for _, inner in items for s in inner.values()), float, size)
        except (TypeError, ValueError):
            bad = [(q, d, s) for q, inner in items for d, s in inner.items() if not isinstance(s, SupportsFloat)]
            field = "value of {!r} for {!r}".format
            found = [finding("not-a-number", self.name, field=field(d, q), text=s) for q, d, s in bad[:LIMIT]]
            raise InputError(found) from None


def read_frame(frame: Any, read: Read) -> Table | None:
    """A frame of rankings by its Arrow columns; None if it is something else, or pyarrow is not there."""
    names = list(map(str, getattr(frame, "column_names", None) or list(getattr(frame, "columns", ()))))
    roles = match_columns(names, read.columns)
    wanted = read.context == "ranking" or roles.get("value", "").lower() in NUMBERS
    if not wanted or roles.keys() < {"test_case", "id", "value"}:
        return None
    try:
        import pyarrow as arrow
    except ImportError:
        return None
    kind, rank = type(frame).__module__, rank_beside(names, roles["value"])
    used = [*roles.values(), *([rank] if rank and read.role == "pred" else [])]
    if kind.startswith("pandas"):
        columns = arrow.Table.from_pandas(frame[used], preserve_index=False)
    else:  # Polars plans a select, but not an index
        columns = arrow.table(frame[used] if kind.startswith("polars") else frame.select(used))
    return _of_arrow(arrow, columns, roles, read)


def _of_arrow(arrow: Any, columns: Any, roles: Mapping[str, str], read: Read) -> Table | None:
    value, types = columns[roles["value"]], arrow.types
    number = any(is_it(value.type) for is_it in (types.is_integer, types.is_floating, types.is_boolean))
    if not number or any(columns[c].null_count for c in roles.values()):
        return None
    names, documents = (_text(arrow, columns[roles[r]]) for r in ("test_case", "id"))
    numbers = value.cast(arrow.float64()).to_numpy()
    if not len(numbers):
        raise InputError([finding("no-records", read.name)])
    rank = rank_beside(columns.column_names, roles["value"])
    native: Any = FrameRun(names, documents, numbers, _ranks(arrow, columns[rank]) if rank else None)
    if read.role == "gold":
        native = Judgements(names.strings(), documents.strings(), numbers, np.arange(1, len(numbers) + 1))
    out = table(read, "frame", native, len(numbers), [])
    out.roles = roles
    return out


def _ranks(arrow: Any, column: Any) -> NDArray[np.float64]:
    """Ranks as numbers; one that is none, or missing, is NaN."""
    try:
        return column.cast(arrow.float64()).to_numpy()
    except arrow.ArrowInvalid:
        return np.full(len(column), np.nan)


class Text(NamedTuple):
    """A column of strings as Arrow keeps it: all bytes in a row, and where each string begins."""

    buffer: Bytes
    offset: NDArray[np.int64]

    def strings(self, begin: int = 0, end: int | None = None) -> Strings:
        at = self.offset[begin : len(self.offset) if end is None else end + 1]
        first = int(at[0])
        return Strings(_padded(self.buffer, first, int(at[-1])), at[:-1] - first, at[1:] - at[:-1])


class Short(NamedTuple):
    """A column of short strings as Polars keeps it, 16 bytes each."""

    buffer: Bytes

    def strings(self, begin: int = 0, end: int | None = None) -> Strings:
        return Views(self.buffer[16 * begin : None if end is None else 16 * end])


def _padded(buffer: Bytes, begin: int, end: int) -> Bytes:
    """A part of a buffer with readable bytes behind it; copied only where the buffer ends."""
    if end + PADDING <= len(buffer):
        return buffer[begin : end + PADDING]
    return np.concatenate([buffer[begin:end], np.zeros(PADDING, np.uint8)])


def _text(arrow: Any, column: Any) -> Text | Short:
    """A column's bytes where they are; only columns of other types, or in pieces, are copied."""
    if str(column.type) == "string_view" and (short := _views(column)) is not None:
        return short
    if arrow.types.is_dictionary(column.type):  # Arrow cannot cast the categories of Polars in one step
        column = arrow.chunked_array([_categories(arrow, chunk) for chunk in column.chunks])
    if column.type != arrow.large_string():
        column = column.cast(arrow.large_string())
    array = column.combine_chunks()
    array = array.chunk(0) if hasattr(array, "num_chunks") else array
    _, offsets, data = array.buffers()
    at: NDArray[np.int64] = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    held = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    return Text(held, at)


def _categories(arrow: Any, chunk: Any) -> Any:
    return chunk.dictionary.cast(arrow.large_string()).take(chunk.indices)


def _views(column: Any) -> Short | None:
    """The strings of a column of views, if each is short enough to stand in its view."""
    if column.num_chunks != 1 or sys.byteorder != "little":
        return None
    array = column.chunk(0)
    _, views, *others = array.buffers()
    buffer: Bytes = np.frombuffer(views, np.uint8)[16 * array.offset : 16 * (array.offset + len(array))]
    return Short(buffer) if not others or buffer.view(np.int32)[::4].max(initial=0) <= 12 else None


class FrameRun:
    """A run as columns."""

    def __init__(
        self,
        names: Text | Short,
        documents: Text | Short,
        number: NDArray[np.float64],
        rank: NDArray[np.float64] | None = None,
    ) -> None:
        self.names, self.documents, self.number, self.rank = names, documents, number, rank

    def batches(self, whole: bool) -> Iterator[Batch]:
        """Slices that end where the query changes."""
        begin, size, total = 0, BATCH, len(self.number)
        while begin < total:
            end = total if whole else min(begin + size, total)
            names = self.names.strings(begin, end)
            change = end - begin if end == total else int(names.heads[-1])
            size = BATCH if change else 2 * size
            if change:
                part = slice(begin, begin + change)
                line = np.arange(begin + 1, begin + change + 1)
                rank = None if self.rank is None else self.rank[part]
                documents = self.documents.strings(begin, begin + change)
                yield Batch(names[:change], documents, self.number[part], line, rank)
            begin += change
