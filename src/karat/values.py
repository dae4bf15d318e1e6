# SPDX-License-Identifier: Apache-2.0
"""What a value means: the one room where labels, ids, numbers, lists and objects are told apart and spelt.

Files, frames, lists and dicts all come through here, so that the container never changes a score or a message:
a column is a list of Python values, an array, or codes; a number is spelt without an empty fraction (1.0 is 1, and −0.0
is 0), true and false as in JSON, and true is 1 where it stands among numbers. A moment without a time of day is its date
(2024-01-01, never 2024-01-01 00:00:00), and one in a time zone is told in UTC. Texts stay as they are, but for those of
files that have nothing else: where all of a column are numbers (or moments) they are spelt as numbers (or moments) are.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from karat.columns import Codes, Floats, Ints, Mask, Numbering, hashed


@dataclass(frozen=True, eq=False)
class Nested:
    """Lists or objects taken apart: how many members each row has, the keys of objects, and the members."""

    size: Ints
    keys: Codes | None
    members: Column
    given: Mask
    """Rows that hold a list or object at all."""

    def __len__(self) -> int:
        return len(self.size)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows())

    @property
    def row(self) -> Ints:
        """The row of each member."""
        return np.repeat(np.arange(len(self.size)), self.size)

    def rows(self) -> list[Any]:
        """The lists or objects put together again; None where there is none."""
        inner = self.members
        members: list[Any] = inner.rows() if isinstance(inner, Nested) else _listed(inner)
        ends = np.cumsum(self.size).tolist()
        parts = [members[end - size : end] for end, size in zip(ends, self.size.tolist(), strict=True)]
        if self.keys is not None:
            keys = self.keys.texts()
            named = [keys[end - size : end] for end, size in zip(ends, self.size.tolist(), strict=True)]
            parts = [dict(zip(names, part, strict=True)) for names, part in zip(named, parts, strict=True)]  # type: ignore[misc]
        return [part if given else None for part, given in zip(parts, self.given.tolist(), strict=True)]


Column = Any
"""Values as a reader has them: a list of Python values, an array, `Codes`, or `Nested`."""


class Texts(list[str]):
    """A column of nothing but texts, as its reader knows: nobody need look at them one by one."""


def types_in(column: Iterable[Any]) -> set[type]:
    """The types of a column's values."""
    return {str} if isinstance(column, Texts) else set(map(type, column))


class Exact(float):
    """A number that no float is: it counts as the nearest one, and as a label or id it is itself."""

    def __new__(cls, number: Decimal | Fraction) -> Exact:
        try:
            self = super().__new__(cls, number)
        except OverflowError:
            self = super().__new__(cls, float("inf") if number > 0 else float("-inf"))
        self.number = number
        return self

    number: Decimal | Fraction

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Exact) and self.number == other.number

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.number)

    def __repr__(self) -> str:
        return str(self.number)


Flags = NDArray[np.int8]
"""True (1), false (0), or neither (−1)."""
NO_NUMBER = int(np.iinfo(np.int64).min)
"""What stands for no number in a column of whole numbers."""

LARGEST = 1e22
"""Whole numbers from here on are not told apart as floats, and are spelt with their power of ten."""

_NUMBER = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)", re.I)
_PLAIN_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")
_EMPTY_FRACTION = re.compile(r"\.0+$")
MIDNIGHT = "00:00:00"
_PLAIN_MOMENT = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d:\d\d(\.\d+)?)?")
_EMPTY_TIME = re.compile(r"[ T]00:00:00(\.0+)?$")
_SHORTER = ((_PLAIN_NUMBER, _EMPTY_FRACTION), (_PLAIN_MOMENT, _EMPTY_TIME))
"""Texts of a file that knows nothing else, and what of them says nothing."""

_KINDS: dict[Any, str] = {
    str: "text", int: "number", float: "number", Exact: "number", bool: "truth", type(None): "null",
    list: "list", tuple: "list", dict: "object",
}  # fmt: skip
"""The types that JSON has; any other is turned into one of them first."""

KINDS = ("text", "number", "truth", "list", "object")
SAID = {
    "text": "texts", "number": "numbers", "truth": "true or false", "list": "lists", "object": "objects",
    "label": "labels", "labels": "lists of labels", "weights": "weights by label", "votes": "votes by annotator",
    "pages": "pages", "spans": "spans", "none": "nothing",
}  # fmt: skip
"""How kinds of value are called in messages."""


def plain(column: Column, kinds: set[type] | None = None) -> Column:
    """The column in Python's own types; what has no value (NaN, NaT, NA) is None in lists. ``kinds``: its types, where known."""
    if isinstance(column, np.ndarray):
        if column.dtype.kind in "biufU":
            return column
        return plain(list(column) if column.dtype.kind in "Mm" else column.tolist())
    if isinstance(column, list) and not (types_in(column) if kinds is None else kinds) <= _KINDS.keys():
        return [_plain(value) for value in column]
    return column


def _plain(value: Any) -> Any:
    if type(value) in _KINDS:
        return value
    if isinstance(value, np.longdouble):
        return float(value)
    if isinstance(value, np.generic):
        return _plain(_moment(value) if value.dtype.kind in "Mm" else value.item())
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    if isinstance(value, (np.ndarray, range)) or hasattr(value, "tolist"):
        return list(value)
    if isinstance(value, (Decimal, Fraction)):
        return _rational(value)
    if isinstance(value, (bytes, bytearray)):
        return text(value)
    if isinstance(value, (date, timedelta)):
        return None if _is_nothing(value) else _told(value)
    base: Any = next((kind for kind in (bool, str, int, float, list, tuple, dict) if isinstance(value, kind)), None)
    if base is not None:
        return str.__str__(value) if base is str else base(value)  # an Enum that is a text calls itself by its class
    if isinstance(value, Iterable):
        return list(value)
    return None if _is_nothing(value) else str(value)


def _rational(value: Decimal | Fraction) -> Any:
    """A whole number, the float that is written so, or else the number itself; a decimal may be none."""
    if isinstance(value, Decimal) and not value.is_finite():
        return None if value.is_nan() else float(value)
    if isinstance(value, Fraction) or value.adjusted() < LONGEST:
        if value == (whole := int(value)):
            return whole
        short = float(value)
        if Fraction(Decimal(repr(short))) == value:
            return short
    return Exact(value)


LONGEST = 400
"""Digits up to which a decimal is written out as a whole number: beyond what a float holds, and not a million."""


def _moment(value: Any) -> Any:
    """A time of NumPy as Python's own, which would be a bare number where it counts nanoseconds; NaT is nothing."""
    if np.isnat(value):
        return None
    if not isinstance(value.item(), int):
        return value.item()
    if value.dtype.kind == "m" and np.datetime_data(value.dtype)[0] in ("Y", "M", "generic"):  # of no length
        return str(value)
    short = value.astype(f"{value.dtype.kind}8[us]")
    if isinstance(short.item(), int) or (value.dtype.kind == "M" and short != value):
        return _EMPTY_TIME.sub("", str(value).replace("T", " "))
    return _told(short.item(), int((value - short) / np.timedelta64(1, "ns")))


def _told(value: date | timedelta, nanoseconds: int = 0) -> str:
    """A date, moment or span of time as text, whoever made it: midnight is its date, as 1.0 is 1, and zones are told in UTC."""
    if isinstance(value, timedelta):
        nanoseconds = nanoseconds or getattr(value, "nanoseconds", 0)
        span = str(timedelta(value.days, value.seconds, value.microseconds))
        return f"{span}{'' if '.' in span else '.000000'}{nanoseconds:03d}" if nanoseconds else span
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            return str(value.astimezone(UTC))
        if value.time() == time() and not getattr(value, "nanosecond", 0):
            return str(value.date())
    return str(value)


def _is_nothing(value: Any) -> bool:
    """NaT differs from itself; pandas.NA will not say."""
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return True


def kinds_of(column: Column) -> Ints:
    """What each value is, as a place in `KINDS`; −1 is nothing. A float that is no number is nothing."""
    if isinstance(column, Nested):
        return np.where(column.given, 3 if column.keys is None else 4, -1)
    if isinstance(column, Codes):
        return np.where(column.code >= 0, 0, -1)
    if isinstance(column, np.ndarray):
        kind = {"U": 0, "S": 0, "b": 2}.get(column.dtype.kind, 1)
        return np.where(np.isnan(column), -1, kind) if column.dtype.kind == "f" else np.full(len(column), kind)
    types = list(map(type, column))
    if set(types) == {float}:
        return kinds_of(np.array(column, float))
    place = {kind: KINDS.index(name) if name != "null" else -1 for kind, name in _KINDS.items()}
    if len(set(types)) == 1 and types[0] is not float:
        return np.full(len(types), place[types[0]])
    places = np.fromiter(map(place.__getitem__, types), np.int64, len(types))
    if float in types:
        places[[i for i, value in enumerate(column) if value != value]] = -1
    return places


def given(column: Column) -> Mask:
    """Rows that hold something, be it a float that is no number."""
    if isinstance(column, Codes):
        return column.code >= 0
    return (
        np.ones(len(column), bool)
        if isinstance(column, np.ndarray)
        else np.array([v is not None for v in column], bool)
    )


def kinds_used(column: Column) -> dict[str, int]:
    """How many values are of each kind.

    >>> kinds_used([1.5, float("nan")]), kinds_used([1.5, "A", None, True, "B"]), kinds_used([None])
    ({'number': 1}, {'text': 2, 'number': 1, 'truth': 1}, {})
    """
    if isinstance(column, Codes):
        known = int(np.count_nonzero(column.code >= 0))
        return {"text": known} if known else {}
    if isinstance(column, np.ndarray) and column.dtype.kind == "f":
        known = len(column) - int(np.isnan(column).sum())
        return {"number": known} if known else {}
    if isinstance(column, np.ndarray):
        return {KINDS[int(kinds_of(column[:1])[0])]: len(column)} if len(column) else {}
    if isinstance(column, list) and len(types := types_in(column)) == 1 and float not in types:
        kind = _KINDS[types.pop()]
        return {} if kind == "null" else {kind: len(column)}
    if isinstance(column, Nested):
        known = int(np.count_nonzero(column.given))
        return {"list" if column.keys is None else "object": known} if known else {}
    kinds = kinds_of(column)
    counts = np.bincount(kinds[kinds >= 0], minlength=len(KINDS))
    return {KINDS[i]: int(counts[i]) for i in np.flatnonzero(counts).tolist()}


def spelt(column: Column) -> Codes:
    """Plain values as the texts that they are as labels or ids; what is nothing, a list or an object has none."""
    if isinstance(column, Codes):
        return column
    if isinstance(column, np.ndarray):
        return factorise(column)
    types = types_in(column)
    if types == {str}:
        return Codes.of(column)
    if types & {list, tuple, dict}:
        column = [None if isinstance(value, (list, tuple, dict)) else value for value in column]
    mixed = bool in types and bool(types & {int, float, Exact})
    values = list(dict.fromkeys(column))
    texts = [text(value, mixed) for value in values]
    names = list(dict.fromkeys(text for text in texts if text is not None))
    at: dict[Any, int] = {name: code for code, name in enumerate(names)}
    lookup = {value: at.get(text, -1) for value, text in zip(values, texts, strict=True)}
    return Codes(np.fromiter(map(lookup.__getitem__, column), np.int64, len(column)), names)


def texts_of(column: Column) -> Codes:
    """A column of texts as they stand."""
    if isinstance(column, Codes):
        return column
    if isinstance(column, np.ndarray):
        return factorise(column)
    if types_in(column) <= {str, type(None)}:
        return Codes.of(column)
    return Codes.of([value if isinstance(value, str) else None for value in column])


def text(value: Any, as_number: bool = False) -> str | None:
    if isinstance(value, str) or value is None:
        return value
    if isinstance(value, bool):
        return str(int(value)) if as_number else "true" if value else "false"
    if isinstance(value, float):
        if value != value:
            return None
        return str(int(value)) if abs(value) < LARGEST and value == int(value) else repr(value)
    if isinstance(value, (bytes, bytearray)):
        return value.decode(errors="surrogateescape")
    return str(value)


def name_of(value: Any) -> str | None:
    """A single value as the label or id that it is in a column."""
    return text(plain([value])[0])


def as_numbers(column: Codes) -> Codes:
    """Texts that are all numbers without their empty fractions, and moments without midnight; others as they are."""
    names = column.names
    pair = next((pair for pair in _SHORTER if names and pair[0].fullmatch(names[0])), None)
    if pair is None or not any(name.endswith("0") and ("." in name or ":" in name) for name in names):
        return column
    kind, empty = pair
    if not all(map(kind.fullmatch, names)):
        return column
    short = [empty.sub("", name) for name in names]
    short = ["0" if name == "-0" else name for name in short]
    if len(set(short)) == len(short):
        return Codes(column.code, short)
    merged = Codes.of(short)
    return Codes(np.append(merged.code, -1)[column.code], merged.names)


def as_grades(column: Column) -> Column:
    """True and false as 1 and 0."""
    if isinstance(column, np.ndarray):
        return column.astype(np.int64)
    return [None if value is None else int(value) for value in column]


def numbers(column: Column) -> tuple[Floats, Ints]:
    """The column as numbers (NaN: nothing, or no number), and the rows that hold what is no number."""
    if isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
        return column.astype(float), np.zeros(0, np.int64)
    values = column.texts() if isinstance(column, Codes) else list(column)
    if set(map(type, values)) == {float}:
        return np.array(values, float), np.zeros(0, np.int64)
    out = np.array([_number(value) for value in values], float)
    bad = [i for i in np.flatnonzero(np.isnan(out)).tolist() if not _is_number(values[i])]
    return out, np.array(bad, np.int64)


def _is_number(value: Any) -> bool:
    """Is it a number, or nothing?"""
    if isinstance(value, str):
        return _NUMBER.fullmatch(value.strip()) is not None
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _number(value: Any) -> float:
    if value is None or not _is_number(value):
        return float("nan")
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def fractional(number: NDArray[Any]) -> bool:
    """Is any number of an array not whole?"""
    return number.dtype.kind == "f" and bool((number != np.rint(number)).any())


def whole(column: Column) -> Ints:
    """The column as whole numbers; `NO_NUMBER` is nothing, no number, or one with a fraction."""
    if isinstance(column, np.ndarray) and column.dtype.kind in "i":
        return column.astype(np.int64)
    if isinstance(column, Codes):
        return np.append(whole(column.names), NO_NUMBER)[column.code]
    number, _ = numbers(column)
    is_whole = (np.abs(number) < 2**62) & (number == np.floor(number))
    return np.where(is_whole, np.where(is_whole, number, 0).astype(np.int64), NO_NUMBER)


_TRUTH = dict.fromkeys(("true", "t", "yes", "y", "on", "1"), 1) | dict.fromkeys(
    ("false", "f", "no", "n", "off", "0"), 0
)


def flags(column: Column) -> Flags:
    """The column as true or false, which 1 and 0, yes and no are too."""
    if isinstance(column, np.ndarray) and column.dtype.kind == "b":
        return column.astype(np.int8)
    if isinstance(column, Codes):
        return np.append(flags(column.names), -1)[column.code].astype(np.int8)
    listed = _listed(column)
    if set(map(type, listed)) & {list, tuple, dict}:
        listed = [None if isinstance(value, (list, tuple, dict)) else value for value in listed]
    flag = {value: _flag(value) for value in dict.fromkeys(listed)}  # true, 1 and 1.0 are one key, and one flag
    return np.fromiter(map(flag.__getitem__, listed), np.int8, len(listed))


def _flag(value: Any) -> int:
    return _TRUTH.get(_EMPTY_FRACTION.sub("", (text(value) or "").strip().lower()), -1)


def _listed(column: Column) -> list[Any]:
    """A column as Python values."""
    if isinstance(column, Codes):
        return column.texts()
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def are_numbers(column: Column) -> bool:
    """Are all texts of a column numbers, as a text file spells them?"""
    names = column.names if isinstance(column, Codes) else list({v for v in column if v is not None})
    return bool(names) and all(isinstance(name, str) and _PLAIN_NUMBER.fullmatch(name) for name in names)


def taken_apart(column: Iterable[Any], objects: bool) -> Nested:
    """A column of lists (or objects), what is neither having no members."""
    kinds = {dict} if objects else {list, tuple}
    rows: list[Any] = column if isinstance(column, list) else list(column)
    given = np.ones(len(rows), bool)
    if list(map(type, rows)).count(dict if objects else list) < len(rows):
        given = np.fromiter((type(value) in kinds for value in rows), bool, len(rows))
        rows = [value if type(value) in kinds else () for value in rows]
    size = np.fromiter(map(len, rows), np.int64, len(rows))
    if not objects:
        return Nested(size, None, _members(rows, int(size.sum())), given)
    texts = list(chain.from_iterable(rows))
    like = list(rows[0])
    times = len(texts) // max(len(like), 1)
    if like and len(set(like)) == len(like) and texts == like * times:  # most often every row names the same labels
        keys = spelt(plain(like))
        keys = Codes(np.tile(keys.code, times), keys.names)
    else:
        keys = spelt(plain(texts))
    members = list(chain.from_iterable(row.values() for row in rows if row))
    return Nested(size, keys, plain(members), given)


def lists_of_texts(column: Column) -> Column:
    """Lists of nothing but texts taken apart, so that nobody looks at each of them again; anything else as it is."""
    rows = column if isinstance(column, list) else ()
    if not isinstance(next((member for row in rows if type(row) is list for member in row), None), str):
        return column
    nested = taken_apart(column, False)
    whole = isinstance(nested.members, Codes) and (
        nested.given.all() or set(map(type, column)) <= {list, tuple, type(None)}
    )
    return nested if whole else column


def _members(rows: list[Any], count: int) -> Column:
    """What the lists hold: texts as codes, which equal nothing but texts, so that the distinct ones show what all are."""
    if isinstance(next(chain.from_iterable(rows), None), str):
        try:
            label = Codes.of_stream(chain.from_iterable(rows), count, np.int32)
        except TypeError:  # a list or an object among them
            return plain(list(chain.from_iterable(rows)))
        if set(map(type, label.names)) == {str}:
            return label
    return plain(list(chain.from_iterable(rows)))


def joined(parts: Sequence[Column]) -> Column:
    """Pieces of a column as one: weights by label and lists of texts as arrays, if they all are; else Python values."""
    kinds = {(type(part), isinstance(part, Nested) and part.keys is None) for part in parts}
    if kinds == {(Codes, False)}:
        return _numbered(parts)
    if kinds == {(Texts, False)}:
        return Texts(chain.from_iterable(parts))
    if len(kinds) > 1 or not isinstance(parts[0], Nested):
        return list(chain.from_iterable(part.texts() if isinstance(part, Codes) else part for part in parts))
    size, given = (np.concatenate([getattr(part, of) for part in parts]) for of in ("size", "given"))
    if parts[0].keys is None:
        return Nested(size, None, _numbered([part.members for part in parts]), given)
    return Nested(size, _numbered([p.keys for p in parts]), np.concatenate([p.members for p in parts]), given)


def _numbered(parts: Sequence[Codes]) -> Codes:
    """Pieces of a column of texts under one numbering, in the order in which they first appear."""
    known, code = Numbering(), []
    for part in parts:
        to = np.append(known.codes(part.names, len(part.names)), -1)
        kind = part.code.dtype if len(known) <= np.iinfo(part.code.dtype).max else np.int64
        code.append(part.code if (to[:-1] == np.arange(len(to) - 1)).all() else to.astype(kind)[part.code])
    return Codes(np.concatenate(code), list(known))


def parsed(names: Sequence[str]) -> list[Any] | None:
    """Texts that are JSON, decoded; None where one is not."""
    decode = msgspec.json.Decoder().decode
    try:
        return [decode(name.encode()) for name in names]
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def literals(names: Sequence[str]) -> list[Any] | None:
    """Texts that are lists as Python prints them, decoded; None where one is not."""
    try:
        lists = [ast.literal_eval(name.strip()) for name in names]
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return lists if all(isinstance(value, list) for value in lists) else None


def is_json(text: str) -> bool:
    return parsed([text]) is not None


# ---- arrays and the columns of other libraries


def coded(column: Any) -> Codes | None:
    """The codes that a column of another library already has; None where it has none."""
    make = _LIBRARIES.get(type(column).__module__.split(".")[0])
    return make(column) if make else None


def _are_truth(values: Sequence[Any]) -> bool:
    """Are the names of codes true and false, which may be numbers as well as labels?"""
    return any(isinstance(value, bool) for value in values)


def _of_pandas(column: Any) -> Codes | None:
    category = getattr(column, "cat", column)
    if hasattr(category, "codes") and hasattr(category, "categories"):
        values = category.categories.tolist()
        return None if _are_truth(values) else _named(np.asarray(category.codes, np.int64), values)
    return None


def _of_polars(column: Any) -> Codes | None:
    import polars

    if column.dtype == polars.Enum:
        values = column.dtype.categories.to_list()
        return _named(column.to_physical().cast(polars.Int64).fill_null(-1).to_numpy(), values)
    if column.dtype not in (polars.Categorical, polars.String):
        return None
    values = column.unique(maintain_order=True).drop_nulls().cast(polars.String)
    codes = column.cast(polars.Enum(values)).to_physical().cast(polars.Int64).fill_null(-1)
    return _named(codes.to_numpy(), values.to_list())


def _of_arrow(column: Any) -> Codes | None:
    from pyarrow import types

    whole = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    if types.is_string(whole.type) or types.is_large_string(whole.type):
        whole = whole.dictionary_encode()
    if not types.is_dictionary(whole.type):
        return None
    values = whole.dictionary.to_pylist()
    return None if _are_truth(values) else _named(whole.indices.fill_null(-1).to_numpy(zero_copy_only=False), values)


_LIBRARIES: dict[str, Callable[[Any], Codes | None]] = {
    "pandas": _of_pandas,
    "polars": _of_polars,
    "pyarrow": _of_arrow,
}


def _named(codes: Any, values: Sequence[Any]) -> Codes:
    """Codes as they are, their values spelt; values that read alike are one."""
    names = spelt(plain(list(values)))
    if (names.code == np.arange(len(values))).all():
        return Codes(np.asarray(codes, np.int64), names.names).pruned()
    return Codes(np.append(names.code, -1)[codes], names.names).pruned()


def factorise(values: NDArray[Any]) -> Codes:
    """Codes of an array's values and their texts, in linear time."""
    kind = values.dtype.kind
    if not len(values):
        return Codes(np.zeros(0, np.int64), [])
    if kind in "iu":
        low, high = int(values.min()), int(values.max())
        if high - low <= 4 * len(values) + 1000:
            shifted = values.astype(np.int64) if low == 0 else (values - values.dtype.type(low)).astype(np.int64)
            return Codes(shifted, [str(v) for v in range(low, high + 1)]).pruned()
    if kind == "f":
        values = values + 0.0  # −0.0 is 0.0
    holders, codes = hashed(_words(values))
    return _named(codes, values[holders].tolist())


def _words(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Each value as one or more 64-bit words, equal where and only where the values are."""
    kind = values.dtype.kind
    if kind == "f":
        values = values.astype(np.float64)
        values[np.isnan(values)] = np.nan
    if kind == "U":
        values = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
        letters = values.view(np.uint32).reshape(len(values), -1)
        narrow = letters.size and letters.max() < 256
        return _packed(letters.astype(np.uint8) if narrow else letters)
    flat = np.ascontiguousarray(values)
    return _packed(flat.view(np.uint8).reshape(len(flat), -1))


def _packed(parts: NDArray[Any]) -> NDArray[np.uint64]:
    """Rows of bytes or letters, filled up with zeros to whole words."""
    rows, width = parts.shape
    per_word = 8 // parts.itemsize
    if width % per_word or not width:
        padded = np.zeros((rows, max(1, -(-width // per_word)) * per_word), parts.dtype)
        padded[:, :width] = parts
        parts = padded
    return np.ascontiguousarray(parts).view(np.uint64).reshape(rows, -1)
