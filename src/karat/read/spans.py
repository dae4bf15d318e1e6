# SPDX-License-Identifier: Apache-2.0
"""Spans in JSON: records with lists of spans, as many tools write them, under many names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from karat.findings import Finding, InputError, finding
from karat.read.annotators import task_lists, unwrapped
from karat.read.json import diagnose, line_of
from karat.read.relation import Engine
from karat.read.source import Source
from karat.read.table import NAMES, Read, Table

if TYPE_CHECKING:
    from karat.contexts.spans import Annotated

FIELDS: dict[str, tuple[str, ...]] = {
    "id": ("page_id", *NAMES["id"], "sent_id", "sentence_id"),
    "test_case": ("test_case", "testcase"),
    "text": ("text", "Text", "query", "sentence", "content", "utterance"),
    "spans": (
        "spans",
        "entities",
        "excerpts",
        "poem_spans",
        "Entities",
        "ents",
        "labels",
        "label",
        "value",
        "annotations",
        "tags",
        "ner_tags",
    ),
    "classes": ("intent", "intents", "Classification", "classes"),
    "count": ("n_excerpts", "n_spans"),
}
"""Names of a document's fields, the first found being taken."""

PLACES: dict[str, tuple[str, ...]] = {
    "start": (
        "start",
        "page_start",
        "start_offset",
        "startPos",
        "StartPosition",
        "startCharIndex",
        "begin",
        "ppa_span_start",
    ),
    "end": ("end", "page_end", "end_offset", "endPos", "EndPosition", "endCharIndex", "ppa_span_end"),
    "label": (
        "label",
        "poem_id",
        "ref_id",
        "entity",
        "Name",
        "type",
        "tag",
        "entity_type",
        "entity_group",
        "name",
        "category",
    ),
    "children": ("children", "Children"),
    "text": ("text", "ppa_span_text"),
}
"""Names of a span's fields."""

CERTAIN = ("spans", "entities", "excerpts", "poem_spans")
"""Names of lists that can hold nothing but spans."""

EXCERPTS = {"excerpts", "poem_spans"}
"""Lists under these names are excerpts on pages."""

INCLUSIVE = {"endPos", "EndPosition", "endCharIndex"}
"""Ends under these names point at the last character of a span."""

_MARK = re.compile(
    rb'"(spans|entities|excerpts|poem_spans|Entities|ents|LabeledData|annotations)"\s*:\s*[\[{]|"labels?"\s*:\s*\[\s*[\[{]'
)
_NULL = re.compile(rf'"({"|".join(CERTAIN)})"\s*:\s*null'.encode())
_VALUE = re.compile(rf'"({"|".join(NAMES["value"])})"\s*:'.encode())


def is_spans(source: Source) -> bool:
    """A list of spans, or null in its place where nothing else can be the value."""
    if source.sniff()[:1] not in (b"[", b"{"):
        return False
    found = _MARK.search(source.head) or (_NULL.search(source.head) and not _VALUE.search(source.head))
    return bool(found)


def read_spans(engine: Engine, source: Source, read: Read) -> Table:
    """A JSON array or JSON Lines of documents with spans."""
    from karat.read.spans_columns import read_columns
    from karat.read.spans_uniform import read_uniform

    layout = "json" if source.sniff()[:1] == b"[" else "jsonl"
    side = (read_uniform(source, read) if layout == "jsonl" else None) or read_columns(engine, source, read, layout)
    if side is None:
        return documents_table(
            _records(source, layout),
            read,
            f"spans ({layout})",
            lambda row: line_of(source, layout, row),
            source.findings,
        )
    return annotated_table(side, read, f"spans ({layout})", lambda row: line_of(source, layout, row), source.findings)


def _records(source: Source, layout: str) -> list[Any]:
    try:
        if layout == "json":
            found = msgspec.json.decode(source.bytes())
            return found if isinstance(found, list) else [found]
        return [msgspec.json.decode(line) for line in source.lines() if line.strip()]
    except (ValueError, RecursionError) as error:
        raise InputError(diagnose(source, layout) or [finding("bad-json", source.name, reason=str(error))]) from error


def annotated_table(side: Annotated, read: Read, format: str, line: Any, findings: Iterable[Finding] = ()) -> Table:
    """Documents in memory as a table of the spans context."""
    if not len(side.ids):
        raise InputError([finding("no-records", read.name)])
    return Table(
        read.name, read.role, format, "", {"id": "VARCHAR", "spans": "SPANS"}, "spans", len(side.ids),
        {"spans": side}, list(findings), line, "spans",
    )  # fmt: skip


def documents_table(
    records: Sequence[Any], read: Read, format: str, line: Any, findings: Iterable[Finding] = ()
) -> Table:
    """Documents from Python records; everything that is wrong with them is said at once."""
    from karat.read.tag_records import holds_tags, read_tag_records

    if holds_tags(records, read):
        return read_tag_records(records, read, format, line, findings)
    found = Documents(read, line, list(findings), task_lists(records, read.role))
    for row, record in enumerate(records):
        found.add(row, record)
    if found.left_out:
        found.findings.append(finding("documents-left-out", read.name, count=found.left_out))
    if any(f.severity == "error" for f in found.findings):
        raise InputError(found.findings)
    return annotated_table(found.annotated(), read, format, line, found.findings)


@dataclass
class Documents:
    """Documents as they are read, record by record."""

    read: Read
    line: Any
    findings: list[Finding]
    tasks: str
    """What the spans of Label Studio's tasks are under."""
    left_out: int = 0
    ids: list[str] = field(default_factory=list)
    test_case: list[str] = field(default_factory=list)
    texts: list[str | None] = field(default_factory=list)
    classes: list[list[str]] = field(default_factory=list)
    rows: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    quotes: list[str | None] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    inclusive: bool = False
    has: set[str] = field(default_factory=set)

    def add(self, row: int, record: Any) -> None:
        """One document, whatever tool wrote it."""
        if not isinstance(record, Mapping):
            self._bad(row, "expected a document with a list of spans")
            return
        known = unwrapped(record, self.read.role, self.tasks)
        if known is None:
            self.left_out += 1
            return
        said = self.read.columns.get("value")
        fields = {role: field_of(known, names) for role, names in FIELDS.items()}
        fields["spans"] = said or fields["spans"]
        name = self.read.columns.get("id") or fields["id"]
        given = known.get(name or "")
        self.ids.append(str(row + 1) if given is None else str(given))
        self._take("test_case", self.test_case, known, fields["test_case"], "")
        self._take("text", self.texts, known, fields["text"], None)
        self.classes.append(_classes(known.get(fields["classes"] or "")))
        self.has |= {"classes"} if fields["classes"] else set()
        self.has |= {"excerpts"} if fields["spans"] in EXCERPTS else set()
        spans = known.get(fields["spans"] or "")
        if spans is None and fields["spans"] in known:
            self.note("spans-null", row, field=fields["spans"])
            return
        if not isinstance(spans, list):
            self._bad(row, f"no list of spans; the document has: {', '.join(map(str, known)) or 'nothing'}")
            return
        self._count(row, known, fields["count"], spans)
        for span in spans:
            for one in labelled(span):
                self._span(row, one, -1)

    def _take(self, name: str, column: list[Any], known: Mapping[str, Any], field: str | None, otherwise: Any) -> None:
        value = known.get(field) if field else None
        column.append(value if isinstance(value, str) else otherwise if value is None else str(value))
        if field:
            self.has.add(name)

    def _bad(self, row: int, reason: str) -> None:
        self.note("span-unreadable", row, reason=reason)

    def note(self, code: str, row: int, **facts: Any) -> None:
        """Something that is wrong with a record."""
        if len(self.findings) < 20:
            self.findings.append(finding(code, self.read.name, self.line(row), **facts))

    def _count(self, row: int, known: Mapping[str, Any], field: str | None, spans: Sequence[Any]) -> None:
        if field and known[field] != len(spans):
            self.note("span-count-differs", row, field=field, said=known[field], found=len(spans))

    def _span(self, row: int, span: Any, parent: int) -> None:
        found = as_span(span)
        if isinstance(found, str):
            self._bad(row, found)
            return
        place, end_name = found
        self.inclusive |= end_name in INCLUSIVE
        code = self.labels.setdefault(str(place["label"]), len(self.labels))
        self.rows.append((len(self.ids) - 1, place["start"], place["end"], code, parent))
        self.quotes.append(place.get("text"))
        mine = len(self.rows) - 1
        for child in place.get("children") or ():
            self.has.add("children")
            self._span(row, child, mine)

    def annotated(self) -> Annotated:
        from karat.contexts.spans import Annotated, Spans

        columns = np.array(self.rows, dtype=np.int64).reshape(-1, 5).T
        quoted = any(q is not None for q in self.quotes) and "text" in self.has
        return Annotated(
            self.ids, Spans.of(*columns[:4]), list(self.labels),
            test_case=self.test_case if "test_case" in self.has else None,
            inclusive=self.inclusive,
            parent=columns[4] if "children" in self.has else None,
            texts=self.texts if "text" in self.has else None,
            quotes=self.quotes if quoted else None,
            excerpts="excerpts" in self.has,
            classes=self.classes if "classes" in self.has else None,
        )  # fmt: skip


def field_of(known: Mapping[str, Any], names: Iterable[str]) -> str | None:
    return next((name for name in names if name in known), None)


def _classes(value: Any) -> list[str]:
    if value is None:
        return []
    return [str(v) for v in value] if isinstance(value, list) else [str(value)]


def labelled(span: Any) -> list[Any]:
    """A span for each of the labels that it has, as Label Studio writes them."""
    labels = span.get("labels") if isinstance(span, Mapping) else None
    return [{**span, "label": label} for label in labels] if isinstance(labels, list) and labels else [span]


def as_span(span: Any) -> tuple[dict[str, Any], str] | str:
    """A span's fields by our names and the file's name of its end; or what is wrong with it."""
    if isinstance(span, (list, tuple)) and len(span) >= 3:
        span = dict(zip(("start", "end", "label"), span[:3], strict=True))
    if isinstance(span, str):
        return f"a span is the text {span!r} (a list holds spans or tags, not both)"
    if not isinstance(span, Mapping):
        return f"a span is {span!r}"
    names = {role: field_of(span, known) for role, known in PLACES.items()}
    lacking = [role for role in ("start", "end", "label") if names[role] is None]
    if lacking:
        return f"a span has no {' and no '.join(lacking)}: {_said(span)}"
    out = {role: span[name] for role, name in names.items() if name is not None}
    if not all(isinstance(out[role], int) and not isinstance(out[role], bool) for role in ("start", "end")):
        return f"start and end must be whole numbers: {_said(span)}"
    if max(abs(out["start"]), abs(out["end"])) >= 1 << 63:
        return f"start and end must be numbers of 64 bits: {_said(span)}"
    if out["label"] is None:
        return f"a span has no label: {_said(span)}"
    if isinstance(out["label"], (list, dict)):
        return f"a span's label is a list or an object: {_said(span)}"
    return out, str(names["end"])


def _said(span: Any) -> str:
    text = json.dumps(span, default=str, ensure_ascii=False)
    return text if len(text) <= 80 else text[:79] + "…"
