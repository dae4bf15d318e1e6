# SPDX-License-Identifier: Apache-2.0
"""Documents with spans or tags, from records of many tools under many names, to one side of an evaluation."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from karat import values
from karat.columns import Codes, Ints, Numbering, starts
from karat.findings import LIMIT, Finding, InputError, finding
from karat.read.annotators import TASKS, is_wrapped, task_lists, unwrapped
from karat.read.fast import tag_bytes
from karat.read.names import span_columns
from karat.read.span_names import (
    EXCERPTS,
    INCLUSIVE,
    PLACES,
    UNFOLDS,
    Names,
    field_of,
    names_of_document,
    names_of_span,
)
from karat.read.table import Read
from karat.side import Entries, Keys, Origin, Positions, Side


def spelt(value: Any) -> Any:
    """An id or label as text, as it is in a column."""
    return value if value is None or type(value) is str else values.name_of(value)


def documents_side(records: Sequence[Any], read: Read, format: str, line: Any, findings: Iterable[Finding]) -> Side:
    """Documents from Python records."""
    documents = Documents(read, line, list(findings), lambda: records)
    documents.add(records)
    return documents.side(format)


@dataclass(eq=False)
class Documents:
    """Documents as they are read, some records at a time, by the same rules for the first and the last of them."""

    read: Read
    line_of: Callable[[int], int | None]
    findings: list[Finding]
    every: Callable[[], Iterable[Any]]
    """All records of the input, for what only the whole can tell."""
    records: int = 0
    left_out: int = 0
    tags: bool | None = None
    """Do the lists hold tags? Unknown as long as they are empty."""
    row: list[int] = field(default_factory=list)
    """The record of each document."""
    columns: dict[str, list[Any]] = field(default_factory=dict)
    """Fields of the documents that have been there, by our names; None where a document lacks one."""
    number: list[int] = field(default_factory=list)
    """Spans or tags of each document."""
    sentences: list[Sequence[str]] = field(default_factory=list)
    places: list[tuple[Ints, Ints, Ints, Ints | None]] = field(default_factory=list)
    """Start, end, label and parent of the spans of each block."""
    quotes: list[Any] = field(default_factory=list)
    labels: Numbering = field(default_factory=Numbering)
    facts: dict[str, bool] = field(default_factory=dict)
    _tasks: str = ""
    _shapes: dict[tuple[str, ...], Names] = field(default_factory=dict)

    def add(self, records: Sequence[Any]) -> None:
        """Documents of any kind."""
        if self.tags is None:
            self.tags = self._are_tags(records)
        numbered = list(self._unwrapped(records))
        self.records += len(records)
        documents = [document for _, document in numbered]
        names = [self.names(tuple(document)) for document in documents]
        lists = [document.get(name["spans"]) for document, name in zip(documents, names, strict=True)]
        rows = [row for row, _ in numbered]
        self.add_fields(
            rows,
            {
                role: [document.get(name[role]) for document, name in zip(documents, names, strict=True)]
                for role in ("id", "test_case", "text", "classes", "cluster", "tokens" if self.tags else "count")
                if any(name[role] is not None for name in self._shapes.values())
            },
            [len(given) if isinstance(given, (list, tuple)) else None for given in lists],
        )
        if self.tags:
            self._add_sentences(rows, lists, names)
        else:
            given = zip(rows, documents, names, lists, strict=True)
            self._add_lists(rows, [self._list(row, document, name, spans) for row, document, name, spans in given])

    def names(self, shape: tuple[str, ...]) -> Names:
        """What documents with these fields call them."""
        if shape not in self._shapes:
            self._shapes[shape] = names_of_document(shape, self.read)
        return self._shapes[shape]

    def _are_tags(self, records: Iterable[Any]) -> bool | None:
        """Is the first list that is not empty one of texts, or of numbers where tags are due? Spans are objects or lists."""
        plain = (record for record in records if isinstance(record, Mapping) and not is_wrapped(record))
        named = ((record, self.names(tuple(record))["spans"]) for record in plain)
        first = next(((name, got) for record, name in named if (got := record.get(name))), None)
        if first is None:
            return None
        name, got = first
        return _are_texts(got) or (_are_numbers(got) and "tags" in str(name).lower())

    def _unwrapped(self, records: Sequence[Any]) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """The number of each record and the document inside it; those that the annotator left out are counted."""
        for row, record in enumerate(map(_without_pair, records), self.records):
            if not isinstance(record, Mapping):
                code, reason = "span-unreadable", "expected a document with a list of spans"
                if self.tags:
                    code, reason = "tags-unreadable", "the record is no list of tags"
                self.note(code, row, reason=reason)
            elif not is_wrapped(record):
                yield row, record
            else:
                self._tasks = self._tasks or task_lists(self.every(), self.read.role)
                document = unwrapped(record, self.read.role, self._tasks)
                self.facts["by_role"] = "LabeledData" in record or self._tasks == TASKS.get(self.read.role)
                if document is None:
                    self.left_out += 1
                else:
                    yield row, document

    def note(self, code: str, row: int, **facts: Any) -> None:
        """Something that is wrong with a record."""
        if len(self.findings) < LIMIT:
            self.findings.append(finding(code, self.read.name, self.line_of(row), **facts))

    def add_fields(self, rows: Sequence[int], columns: dict[str, list[Any]], spans: Sequence[int | None]) -> None:
        """What some documents have beside their spans, of which there are so many."""
        if (counts := columns.pop("count", None)) is not None and counts != spans:
            name = next(names["count"] for names in self._shapes.values() if names["count"])
            for row, count, number in zip(rows, counts, spans, strict=True):
                if None not in (count, number) and count != number:
                    self.note("span-count-differs", row, field=name, said=count, found=number)
        for role in {*self.columns, *columns}:
            known = self.columns.setdefault(role, [None] * len(self.row))
            known += columns.get(role, [None] * len(rows))
        self.row += rows
        for role in ("id", "test_case"):
            if {list, dict} & set(map(type, columns.get(role, ()))):
                for row, value in zip(rows, columns[role], strict=True):
                    if isinstance(value, (list, dict)):
                        self.note("nested-id", row, field=role)

    def _list(self, row: int, document: Mapping[str, Any], names: Names, spans: Any) -> list[Any]:
        """A document's list of spans; empty, and a finding, where it has none."""
        if spans is None and names["spans"] in document:
            self.note("spans-null", row, field=names["spans"])
        elif not isinstance(spans, (list, tuple)):
            shown = ", ".join(map(str, document)) or "nothing"
            if table := span_columns(map(str, document)):
                self.note("span-rows", row, columns=table)
            else:
                self.note("span-unreadable", row, reason=f"no list of spans; the document has: {shown}")
        else:
            return list(spans)
        return []

    def _add_lists(self, rows: Sequence[int], lists: Sequence[list[Any]]) -> None:
        """The spans of some documents, all of them at once."""
        spans, number = list(chain.from_iterable(lists)), list(map(len, lists))
        parent: list[int] | None = None
        if set(map(type, spans)) - {dict} or any(map(UNFOLDS.intersection, set(map(tuple, spans)))):
            spans, number, parent = _unfolded(lists)
        shapes = {shape: names_of_span(shape) for shape in set(map(tuple, filter(_is_object, spans)))}
        columns = _columns(spans, shapes)
        if columns is None or not self.add_spans(number, columns, parent):
            of_row = np.repeat(rows, number).tolist()
            for row, span in zip(of_row, spans, strict=True):
                if (reason := problem(span)) is not None:
                    self.note("span-unreadable", row, reason=reason)
        if any(names["end"] in INCLUSIVE for names in shapes.values()):
            self.facts["inclusive"] = True

    def add_spans(self, number: Sequence[int], columns: list[list[Any]], parent: list[int] | None = None) -> bool:
        """Start, end, label and own text of the spans of some documents; False if something among them is no span."""
        start, end, label, quote = columns
        if {*map(type, start), *map(type, end)} - {int, *_WHOLE}:
            return False
        kinds = {*map(type, label)}
        if kinds & {list, tuple, dict, type(None)}:
            return False
        try:
            places = np.array(start, np.int64), np.array(end, np.int64)
        except OverflowError:
            return False
        texts = label if kinds <= {str} else list(map(spelt, label))
        if None in texts:
            return False
        parents = None if parent is None or max(parent, default=-1) < 0 else np.array(parent, np.int64)
        self.places.append((*places, self.labels.codes(texts, len(label)), parents))
        self.quotes += quote
        self.number += number
        return True

    def _add_sentences(self, rows: Sequence[int], lists: Sequence[Any], names: Sequence[Names]) -> None:
        tokens = self.columns.get("tokens", [])[-len(rows) :] or [None] * len(rows)
        for row, tags, words, name in zip(rows, lists, tokens, names, strict=True):
            if not _are_texts(tags):
                numbers = "holds numbers in place of tags" if _are_numbers(tags) else "is no list of tags"
                self.note("tags-unreadable", row, reason=f"{name['spans'] or 'the record'} {numbers}")
            elif _are_texts(words) and len(words) != len(tags):
                self.note("tags-unreadable", row, reason=f"tokens: {len(words)}, tags: {len(tags)}")
        self.sentences += lists

    def side(self, format: str) -> Side:
        """All that was read; what is wrong with it is said at once."""
        if self.left_out:
            self.findings.append(finding("documents-left-out", self.read.name, count=self.left_out))
        self._check_clusters()
        self._check_ids()
        if any(f.severity == "error" for f in self.findings):
            raise InputError(self.findings)
        if not self.row:
            raise InputError([*self.findings, finding("no-records", self.read.name)])
        units: dict[str, Any] = {}
        if self.tags:
            empty = [()] * (len(self.row) - len(self.sentences))
            entries, tags, units["length"] = tag_entries([*empty, *self.sentences])
            names = {"tag": tags}
        else:
            entries, names = self._entries(), {"label": list(self.labels)}
        units |= self._units()
        self.facts["excerpts"] = any(names["spans"] in EXCERPTS for names in self._shapes.values())
        origin = Origin(self.read.name, self.read.role, format, self.line_of)
        record = np.array(self.row, np.int64) if self.left_out else None
        return Side(
            origin,
            "spans",
            self._keys(),
            entries,
            names,
            units,
            self.facts,
            record,
            self.records,
            "spans",
            self.findings,
        )

    def _check_clusters(self) -> None:
        name = self.read.columns.get("cluster")
        if self.read.role == "gold" and name and not any(c is not None for c in self.columns.get("cluster", ())):
            shown = ", ".join(dict.fromkeys(chain.from_iterable(self._shapes))) or "nothing"
            self.findings.append(finding("cluster-column-missing", self.read.name, column=name, found=shown))

    def _check_ids(self) -> None:
        """Documents without an id among others that have one: by their place, or as another without one, they would meet any."""
        if "id" in self.columns:
            self.columns["id"] = list(map(spelt, self.columns["id"]))
        ids = self.columns.get("id", ())
        if any(id is not None for id in ids):
            for row, id in zip(self.row, ids, strict=True):
                if id is None:
                    self.note("missing-field", row, field="id")
                elif isinstance(id, str) and not id.strip(" \t\n\r"):
                    self.note("empty-value", row, field="id")

    def _keys(self) -> Keys:
        ids = self.columns.get("id", ())
        cases = [spelt(case) or "" for case in self.columns.get("test_case", ())]
        case = Codes.of(cases) if cases else Codes.constant("", len(self.row))
        if not any(id is not None for id in ids):
            return Keys(case, Positions(len(self.row) + self.left_out, self.row if self.left_out else None))
        return Keys(case, [str(row + 1) if id is None else id for row, id in zip(self.row, ids, strict=True)])

    def _entries(self) -> Entries:
        unit = np.repeat(np.arange(len(self.row)), self.number)
        columns = {
            name: np.concatenate([np.zeros(0, np.int64), *(block[nth] for block in self.places)])
            for nth, name in enumerate(("start", "end", "label"))
        }
        if any(block[3] is not None for block in self.places):
            parents = [np.full(len(block[0]), -1) if block[3] is None else block[3] for block in self.places]
            columns["parent"] = np.concatenate(parents)
        if "text" in self.columns and any(quote is not None for quote in self.quotes):
            columns["quote"] = np.fromiter(self.quotes, object, len(self.quotes))
        return Entries(unit, columns)

    def _units(self) -> dict[str, Any]:
        """The columns of the documents that ride along."""
        out: dict[str, Any] = {}
        if self.tags:
            if (tokens := self.columns.get("tokens")) and all(map(_are_texts, tokens)):
                out["text"] = tokens
        elif "text" in self.columns:
            out["text"] = [text if isinstance(text, str) else spelt(text) for text in self.columns["text"]]
        if "classes" in self.columns:
            out["classes"] = [
                list(map(str, c)) if isinstance(c, list) else [] if c is None else [str(c)]
                for c in self.columns["classes"]
            ]
        if "cluster" in self.columns:
            out["cluster"] = Codes.of(list(map(spelt, self.columns["cluster"])))
        return out


_WHOLE = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32)


def _is_object(span: Any) -> bool:
    return isinstance(span, Mapping)


def _are_texts(values: Any) -> bool:
    return isinstance(values, (list, tuple)) and all(isinstance(value, str) for value in values)


def _are_numbers(values: Any) -> bool:
    return isinstance(values, (list, tuple)) and {*map(type, values)} == {int}


def _columns(spans: Sequence[Any], shapes: Mapping[tuple[str, ...], Names]) -> list[list[Any]] | None:
    """Start, end, label and own text of spans; None if one is no object or lacks a place or label."""
    complete = all(None not in (names["start"], names["end"], names["label"]) for names in shapes.values())
    if not complete or not all(map(_is_object, spans)):
        return None
    names = [shapes[shape] for shape in map(tuple, spans)]
    return [
        [span.get(name[role]) for span, name in zip(spans, names, strict=True)]
        for role in ("start", "end", "label", "text")
    ]


def _unfolded(lists: Iterable[list[Any]]) -> tuple[list[Any], list[int], list[int]]:
    """Spans with their children behind them, how many each document has, and the place of each one's parent in it."""
    flat, number, parent = list[Any](), list[int](), list[int]()
    for spans in lists:
        first = len(flat)
        todo = [(part, -1) for span in reversed(spans) for part in reversed(labelled(span))]
        while todo:
            span, above = todo.pop()
            flat.append(span)
            parent.append(above)
            if isinstance(span, Mapping):
                children = span.get(field_of(span, PLACES["children"]))
                inner = children if isinstance(children, list) else [] if children is None else [children]
                todo += [(child, len(flat) - 1 - first) for child in reversed(inner)]
        number.append(len(flat) - first)
    return flat, number, parent


def labelled(span: Any) -> list[Any]:
    """A span as an object, once for each of the labels that it has, as Label Studio writes them."""
    if isinstance(span, (list, tuple)) and len(span) >= 3:
        return [dict(zip(("start", "end", "label"), span[:3], strict=True))]
    labels = span.get("labels") if isinstance(span, Mapping) else None
    return [{**span, "label": label} for label in labels] if isinstance(labels, list) and labels else [span]


def _without_pair(record: Any) -> Any:
    """A document that spaCy 2 trains with, `[text, {"entities": …}]`, as others are."""
    if isinstance(record, (list, tuple)) and len(record) == 2 and isinstance(record[0], str):
        return {"text": record[0], **record[1]} if isinstance(record[1], Mapping) else record
    return record


def problem(span: Any) -> str | None:
    """What is wrong with a span."""
    if isinstance(span, str):
        return f"a span is the text {span!r} (a list holds spans or tags, not both)"
    if not isinstance(span, Mapping):
        return f"a span is {span!r}"
    names = names_of_span(span)
    lacking = [role for role in ("start", "end", "label") if names[role] is None]
    if lacking:
        return f"a span has no {' and no '.join(lacking)}: {_brief(span)}"
    start, end, label = (span[names[role]] for role in ("start", "end", "label"))
    if not all(isinstance(place, (int, *_WHOLE)) and not isinstance(place, bool) for place in (start, end)):
        return f"start and end must be whole numbers: {_brief(span)}"
    if max(abs(start), abs(end)) >= 1 << 63:
        return f"start and end must be numbers of 64 bits: {_brief(span)}"
    if spelt(label) is None:
        return f"a span has no label: {_brief(span)}"
    return f"a span's label is a list or an object: {_brief(span)}" if isinstance(label, (list, tuple, dict)) else None


def looks_like_span(value: Any) -> bool:
    """Has it the fields of a span, whatever is in them? Then what is wrong with it can be said."""
    if isinstance(value, Mapping):
        names = names_of_span(value)
        return names["start"] is not None and names["end"] is not None
    return isinstance(value, (list, tuple)) and len(value) >= 3 and problem(labelled(value)[0]) is None


def _brief(span: Any) -> str:
    text = json.dumps(span, default=str, ensure_ascii=False)
    return text if len(text) <= 80 else text[:79] + "…"


def tag_entries(sentences: Sequence[Sequence[str]]) -> tuple[Entries, list[str], Ints]:
    """The tags that are not O by sentence and place, their names, and how many tokens each sentence has."""
    length = np.fromiter(map(len, sentences), np.int64, len(sentences))
    tags = Numbering({"O": 0})
    marks = tag_bytes.marked(sentences, length, tags)
    if marks is None:
        every = tags.codes(chain.from_iterable(sentences), int(length.sum()))
        marks = np.flatnonzero(every), every[every > 0]
    at, code = marks
    every_unit = np.repeat(np.arange(len(length), dtype=np.int32), length)  # of all tokens, in half the room
    unit = every_unit[at].astype(np.int64)
    return Entries(unit, {"place": at - starts(length)[unit], "tag": code - 1}), list(tags)[1:], length
