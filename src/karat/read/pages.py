# SPDX-License-Identifier: Apache-2.0
"""Page streams in any of their shapes as a side: bundles, and their pages.

The shapes: documents with a list of pages; one page per row; documents with the pages that begin a file; documents
with the page ranges of their files, or one range per row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from karat import values
from karat.columns import Codes, Floats, Ints, Mask, distinct, starts, within
from karat.findings import Finding, InputError, finding, limited
from karat.read.names import NAMES, match_columns
from karat.read.roles import Records
from karat.read.table import Read
from karat.side import Entries, Keys, Side
from karat.values import NO_NUMBER, Column, Flags, Nested

PAGE_NAMES: dict[str, tuple[str, ...]] = {
    "test_case": NAMES["test_case"],
    "id": ("document_id", "document", "doc", "bundle_id", "bundle", "stream_id", "stream", *NAMES["id"]),
    "page": ("page", "page_number", "number", "page_no"),
    "first": ("is_first_page", "is_first", "first"),
    "points": ("first_pages", "split_points", "splits"),
    "files": ("files", "page_ranges", "ranges"),
    "pages": ("pages",),
    "start": ("first_page",),
    "end": ("last_page",),
    "category": ("category", "class", "label", "type"),
    "confidence": ("confidence", "is_first_page_confidence", "probability"),
    "file": (),
}
"""Column names of page streams."""
MEMBERS = PAGE_NAMES | {
    "id": ("bundle_id", "bundle", "stream_id", "stream", "binder", "scan", "pdf"),
    "file": ("doc_id", "document_id", "document", "doc", "docid", "file_id", "file", "segment_id", "segment"),
}
"""Names where each page says which file of its bundle it belongs to: what is an id elsewhere names a file then."""
IN_PAGE = {
    "number": ("number", "page", "page_number"),
    "first": ("is_first_page", "is_first", "first"),
    "confidence": ("confidence", "is_first_page_confidence"),
    "category": ("category",),
}
"""Names inside a page of a list."""
IN_FILE = (("first", "first_page", "start"), ("last", "last_page", "end"), ("category",))
"""Names inside a file of a list: its first page, its last page and its category."""
MOST_PAGES = 10_000_000
"""Pages of one record: a range to page 10¹² is a slip, and would fill the memory."""


@dataclass(eq=False)
class Pages:
    """One value for each page, and the record that it comes from."""

    record: Ints
    number: Ints
    first: Flags
    category: Codes
    confidence: Floats | None = None
    open_ended: Mask | None = None
    """Records whose last page is not said: whatever pages follow begin no file."""


def shape(names: Iterable[str], read: Read) -> str | None:
    """Which shape of page stream the columns show; None if they are something else."""
    names = list(names)
    if read.context not in (None, "splitting") or (read.context is None and _has_value(names, read)):
        return None
    roles = _roles(names, read).keys()
    for listed in ("points", "files"):
        if listed in roles and "id" in roles:
            return listed
    if {"page", "first", "id"} <= roles or ({"page", "confidence", "id"} <= roles and read.context == "splitting"):
        return "long"
    if {"start", "end", "id"} <= roles:
        return "ranges"
    if {"page", "file", "id"} <= roles:
        return "members"
    return "pages" if {"pages", "id"} <= roles else None


def _roles(names: list[str], read: Read) -> dict[str, str]:
    """Which column plays which role; the value of a page is whether it is a first one."""
    named = dict(read.columns)
    if read.context == "splitting" and "value" in named:
        named["first"] = named["value"]
    roles = match_columns(names, named, PAGE_NAMES)
    members = match_columns(names, named, MEMBERS)
    if "page" in roles and not roles.keys() & {"first", "confidence"} and {"id", "file"} <= members.keys():
        return members
    return roles


def _has_value(names: list[str], read: Read) -> bool:
    """Is there a column that only other contexts have? A category may be a value elsewhere."""
    value = match_columns(names, read.columns).get("value")
    return value is not None and value.strip().lower() not in PAGE_NAMES["category"]


def are_pages(records: Records, read: Read) -> bool:
    """Are these page streams? A column called pages that holds numbers may be part of anything."""
    kind = shape(records.columns, read)
    if kind != "pages" or read.context == "splitting":
        return kind is not None
    name = _roles(list(records.columns), read)["pages"]
    if getattr(records.columns, "types", {}).get(name, "").endswith("[]"):  # told without a look at the lists
        return True
    column = records.columns[name]
    if isinstance(column, Nested):
        return True
    texts = column.names if isinstance(column, Codes) else column
    first = next((value for value in texts if value is not None), None)
    return isinstance(first, (list, tuple, np.ndarray)) or str(first).lstrip().startswith("[")


def bundle_column(records: Records, read: Read) -> str:
    """The column that says which bundle a record is of."""
    return _roles(list(records.columns), read)["id"]


def read_pages(records: Records, read: Read) -> Side:
    """The records as bundles and their pages."""
    kind = shape(records.columns, read)
    assert kind is not None
    if not records.rows:
        raise InputError([finding("no-records", read.name)])
    roles = _roles(list(records.columns), read)
    columns = {role: records.column(name, coded=True) for role, name in roles.items()}
    case, id = _spelt(columns.get("test_case"), records.rows, ""), _spelt(columns["id"], records.rows)
    findings, bad = list(records.findings), _Bad(records)
    blank = [code for code, name in enumerate(id.names) if not name.strip()]
    bad.add("missing-field", np.isin(id.code, [-1, *blank]), field="document id")
    pages = _SHAPES[kind](columns, records.rows, bad)
    if bad.findings:
        raise InputError([*findings, *bad.findings])
    extra = [name for name in records.columns if name not in (*roles.values(), read.columns.get("cluster"))]
    if extra:
        findings.append(finding("extra-fields", read.name, fields=", ".join(extra[:10]), chosen="the others"))
    unit, first = _bundles(case, id)
    category = _by_appearance(pages.category)
    entries = {"page": pages.number, "first": pages.first, "category": category.code, "record": pages.record}
    entries |= {} if pages.confidence is None else {"confidence": pages.confidence}
    open_ended = np.zeros(len(first), bool)
    if pages.open_ended is not None:
        open_ended[unit[pages.open_ended]] = True
    return Side(
        records.origin, "pages", Keys(case.take(first), id.take(first).texts()),  # type: ignore[arg-type]
        Entries(unit[pages.record], entries).moved(np.arange(len(first))), {"category": category.names},
        {"open_ended": open_ended} | _clusters(records, read, unit, len(first)), {"categories": category.names},
        record=first, records=records.rows, context="splitting", findings=findings,
    )  # fmt: skip


class _Bad:
    """Findings of records that are no page streams."""

    def __init__(self, records: Records) -> None:
        self.origin, self.findings = records.origin, list[Finding]()

    def add(self, code: str, wrong: Mask | Sequence[bool], **facts: str) -> None:
        rows = np.flatnonzero(wrong).tolist()
        self.findings += limited(finding(code, self.origin.name, self.origin.line_of(row), **facts) for row in rows)


def _spelt(column: Column | None, rows: int, nothing: str | None = None) -> Codes:
    """A column as texts, with what stands for nothing."""
    if column is None:
        return Codes.constant(nothing, rows) if nothing is not None else Codes(np.full(rows, -1), [])
    codes = values.spelt(column)
    if nothing is None or not (codes.code < 0).any():
        return codes
    return Codes.of([nothing if text is None else text for text in codes.texts()])


def _bundles(case: Codes, id: Codes) -> tuple[Ints, Ints]:
    """The bundle of each record, in the order in which they first appear, and the first record of each."""
    key, place = distinct(case.code * len(id.names) + id.code)
    first = np.zeros(len(key), np.int64)
    first[place[::-1]] = np.arange(len(place))[::-1]
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank[place], first[order]


def _by_appearance(column: Codes) -> Codes:
    """The names in the order in which they first appear; a blank one is none."""
    column = column.by_appearance()
    names = [name for name in column.names if name]
    return Codes(column.inside(names), names)


def _clusters(records: Records, read: Read, unit: Ints, bundles: int) -> dict[str, Codes]:
    """What each bundle belongs to, where a column of gold was named for that: the least that its records name."""
    column = read.columns.get("cluster")
    if column is None or read.role != "gold":
        return {}
    if column not in records.columns:
        shown = ", ".join(records.columns)
        raise InputError([finding("cluster-column-missing", read.name, column=column, found=shown)])
    least: list[str | None] = [None] * bundles
    for bundle, name in zip(unit.tolist(), values.spelt(records.column(column)).texts(), strict=True):
        least[bundle] = min((text for text in (name, least[bundle]) if text is not None), default=None)
    return {"cluster": Codes.of(least)}


# ---- shapes

Columns = Mapping[str, Column]


def _long(columns: Columns, rows: int, bad: _Bad) -> Pages:
    """A record for each page."""
    first = values.flags(columns["first"]) if "first" in columns else np.full(rows, -1, np.int8)
    confidence = values.numbers(columns["confidence"])[0] if "confidence" in columns else None
    category = _spelt(columns.get("category"), rows)
    return Pages(np.arange(rows), values.whole(columns["page"]), first, category, confidence)


def _members(columns: Columns, rows: int, bad: _Bad) -> Pages:
    """A record for each page, which names its file: one begins where the page before is of another."""
    number, file = values.whole(columns["page"]), _spelt(columns["file"], rows)
    blank = [code for code, name in enumerate(file.names) if not name.strip()]
    bad.add("missing-field", np.isin(file.code, [-1, *blank]), field="file of the page")
    case, id = _spelt(columns.get("test_case"), rows, ""), _spelt(columns["id"], rows)
    order = np.lexsort((number, id.code, case.code))
    moved = [np.diff(codes.code[order]) != 0 for codes in (case, id, file)]
    first = np.ones(rows, np.int8)
    first[order[1:]] = np.logical_or.reduce(moved)
    return Pages(np.arange(rows), number, first, _spelt(columns.get("category"), rows))


def _listed(columns: Columns, rows: int, bad: _Bad) -> Pages:
    """Pages as objects, or as bare flags; a page without a number stands at its place in the list."""
    lists = _lists(columns["pages"])
    shown = 'a list of pages, as {"number": 1, "is_first_page": true}'
    bad.add("page-list-bad", [not isinstance(value, list) for value in lists], expected=shown)
    lists = [value if isinstance(value, list) else [] for value in lists]
    size = np.fromiter(map(len, lists), np.int64, len(lists))
    pages = [page if isinstance(page, Mapping) else {"first": page} for page in chain.from_iterable(lists)]
    fields = {role: values.plain(_field(pages, names)) for role, names in IN_PAGE.items()}
    record, place = np.repeat(np.arange(rows), size), within(size) + 1
    number = np.where(values.kinds_of(fields["number"]) < 0, place, values.whole(fields["number"]))
    confidence = values.numbers(fields["confidence"])[0]
    given = "confidence" in columns or not np.isnan(confidence).all()
    category = _filled(fields["category"], columns.get("category"), record)
    return Pages(record, number, values.flags(fields["first"]), category, confidence if given else None)


def _points(columns: Columns, rows: int, bad: _Bad) -> Pages:
    """Files begin at the listed pages, and at page 1; the number of pages is given, or left open at the last one listed."""
    begins = [_whole_numbers(value) for value in _lists(columns["points"])]
    size = values.whole(columns["pages"]) if "pages" in columns else np.full(rows, NO_NUMBER)
    last = np.maximum(size, [max(numbers, default=1) for numbers in begins])
    wrong = [min(numbers, default=1) < 1 for numbers in begins] | (last > MOST_PAGES)
    bad.add("page-list-bad", wrong, expected="a list of the pages that begin a file, counted from 1, as [1, 4]")
    last = np.where(wrong, 1, np.maximum(last, 1))
    record, number, first = np.repeat(np.arange(rows), last), within(last) + 1, np.zeros(int(last.sum()), np.int8)
    for begin, numbers, end in zip(starts(last).tolist(), begins, last.tolist(), strict=True):
        first[[begin, *(begin + number - 1 for number in numbers if 0 < number <= end)]] = 1
    category = _filled(None, columns.get("category"), record)
    return Pages(record, number, first, category, open_ended=size == NO_NUMBER)


def _files(columns: Columns, rows: int, bad: _Bad) -> Pages:
    """Ranges as [first, last], [first, last, category], {"first", "last", "category"} or "first-last"."""
    lists = [_ranges_of_text(value) if isinstance(value, str) else value for value in _lists(columns["files"])]
    bad.add("page-list-bad", [not isinstance(v, list) for v in lists], expected="a list of page ranges, as [1, 2]")
    lists = [value if isinstance(value, list) else [] for value in lists]
    record = np.repeat(np.arange(rows), np.fromiter(map(len, lists), np.int64, rows))
    files = [_file(file) for file in chain.from_iterable(lists)]
    start, end = (values.whole(values.plain([file[at] for file in files])) for at in (0, 1))
    category = _filled(values.plain([file[2] for file in files]), columns.get("category"), record)
    return _expanded(record, start, end, category, rows, bad)


def _ranges(columns: Columns, rows: int, bad: _Bad) -> Pages:
    """A record for each file."""
    start, end = values.whole(columns["start"]), values.whole(columns["end"])
    return _expanded(np.arange(rows), start, end, _spelt(columns.get("category"), rows), rows, bad)


def _expanded(record: Ints, start: Ints, end: Ints, category: Codes, rows: int, bad: _Bad) -> Pages:
    """The pages of files, each from its first to its last."""
    wrong = (start == NO_NUMBER) | (end == NO_NUMBER) | (start > end)
    wrong |= np.where(wrong, 0, end) - np.where(wrong, 0, start) >= MOST_PAGES
    bad.add("range-bad", np.bincount(record[wrong], minlength=rows) > 0)
    size = np.where(wrong, 0, np.where(wrong, 0, end) - np.where(wrong, 0, start) + 1)
    place, file = within(size), np.repeat(np.arange(len(record)), size)
    return Pages(record[file], start[file] + place, (place == 0).astype(np.int8), category.take(file))


_SHAPES: dict[str, Callable[[Columns, int, _Bad], Pages]] = {
    "pages": _listed,
    "long": _long,
    "points": _points,
    "files": _files,
    "ranges": _ranges,
    "members": _members,
}


# ---- lists


def _lists(column: Column) -> list[Any]:
    """A column of lists, which a text file spells as JSON; what is no list as it is."""
    listed = column.rows() if isinstance(column, Nested) else column
    listed = listed.texts() if isinstance(listed, Codes) else listed.tolist() if hasattr(listed, "tolist") else listed
    return [_list(value) for value in listed]


def _list(value: Any) -> Any:
    if isinstance(value, str) and value.lstrip().startswith("["):
        decoded = values.parsed([value])
        return value if decoded is None else decoded[0]
    return list(value) if isinstance(value, tuple) else value


def _field(members: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[Any]:
    """The first of the names that a member gives a value."""
    out = [member.get(names[0]) for member in members]
    for name in names[1:]:
        if None not in out:
            break
        out = [member.get(name) if value is None else value for value, member in zip(out, members, strict=True)]
    return out


def _filled(inside: list[Any] | None, outside: Column | None, record: Ints) -> Codes:
    """The category of each page or file, or that of its record."""
    of_record = _spelt(outside, int(record.max(initial=-1)) + 1).take(record)
    if inside is None or all(value is None for value in inside):
        return of_record
    texts = values.spelt(inside).texts()
    return Codes.of([other if text is None else text for text, other in zip(texts, of_record.texts(), strict=True)])


def _whole_numbers(value: Any) -> list[int]:
    """The numbers of a list, or of a text such as "1 4"; −1 stands for what is none."""
    if value is None or value != value:
        return []
    if isinstance(value, str):
        parts = re.split(r"[\s,;|]+", value.strip("[] \t"))
        return [int(part) if re.fullmatch(r"\d{1,18}", part) else -1 for part in parts if part]
    members = values.plain(value if isinstance(value, list) else [value])
    return np.maximum(values.whole(members), -1).tolist() if members else []


def _ranges_of_text(text: str) -> Any:
    """Ranges as "1-2, 3-4, 5"; None where the text is something else."""
    return re.findall(r"\d+\s*-\s*\d+|\d+", text) if re.fullmatch(r"[\d\s,;-]+", text) else None


def _file(file: Any) -> tuple[Any, Any, Any]:
    """First page, last page and category of a file."""
    if isinstance(file, Mapping):
        first, last, category = (_field([file], names)[0] for names in IN_FILE)
        return first, last, category
    if isinstance(file, (list, tuple)):
        padded = [*list(file)[:3], None, None, None]
        return padded[0], padded[1], padded[2]
    ends = re.findall(r"\d+", file) if isinstance(file, str) else [file]
    return (ends or [None])[0], (ends or [None])[-1], None
