# SPDX-License-Identifier: Apache-2.0
"""Page streams in any of their shapes as one page per row: test_case, id, number, first, confidence, category.

The shapes: documents with a list of pages; one page per row; documents with the pages that begin a file; documents
with the page ranges of their files, or one range per row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from karat.findings import Finding, InputError, finding
from karat.read.names import NAMES, match_columns
from karat.read.relation import Engine, quoted, table_name
from karat.read.table import Read, Table

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
}
"""Column names of page streams."""

Lines = Callable[[int], int | None]
"""Physical line of a record."""

_PAGE = (
    '[{"number": "BIGINT", "page": "BIGINT", "page_number": "BIGINT", "is_first_page": "BOOLEAN", "is_first": "BOOLEAN",'
    ' "first": "BOOLEAN", "confidence": "DOUBLE", "is_first_page_confidence": "DOUBLE", "category": "VARCHAR"}]'
)


def shape(names: Iterable[str], read: Read) -> str | None:
    """Which shape of page stream the columns show; None if they are something else."""
    names = list(names)
    if read.context not in (None, "splitting") or (read.context is None and _has_value(names, read)):
        return None
    found = match_columns(names, read.columns, PAGE_NAMES).keys()
    for one in ("points", "files"):
        if one in found and "id" in found:
            return one
    if {"page", "first", "id"} <= found or ({"page", "confidence", "id"} <= found and read.context == "splitting"):
        return "long"
    if {"start", "end", "id"} <= found:
        return "ranges"
    return "pages" if {"pages", "id"} <= found else None


def shape_of(engine: Engine, relation: str, types: Mapping[str, str], read: Read) -> str | None:
    """The shape of a relation; a column called pages that holds numbers may be part of anything."""
    found = shape(types, read)
    if found != "pages" or read.context == "splitting":
        return found
    column = quoted(match_columns(types, read.columns, PAGE_NAMES)["pages"])
    first = engine.run(
        f"SELECT CAST(to_json({column}) AS VARCHAR) AS v FROM {relation} WHERE {column} IS NOT NULL LIMIT 1"
    )["v"]
    return found if len(first) and str(first[0]).lstrip('" ').startswith("[") else None


def _has_value(names: list[str], read: Read) -> bool:
    """Is there a column that only other contexts have? A category may be a value elsewhere."""
    value = match_columns(names, read.columns).get("value")
    return value is not None and value.strip().lower() not in PAGE_NAMES["category"]


def normalise_pages(
    engine: Engine,
    read: Read,
    relation: str,
    format: str,
    kind: str,
    json_text: bool,
    line_of: Lines,
    findings: list[Finding],
) -> Table:
    """The relation as a table of pages; with ``json_text``, what other contexts take for the value is JSON."""
    types = engine.types(relation)
    found = match_columns(types, read.columns, PAGE_NAMES)
    if json_text and "category" in found and match_columns(types, read.columns).get("value") == found["category"]:
        types = types | {found["category"]: "JSON"}
    extra = [c for c in types if c not in (*found.values(), read.columns.get("cluster"))]
    if extra:
        findings = [*findings, finding("extra-fields", read.name, fields=", ".join(extra[:10]), chosen="the others")]
    records = f"(SELECT row_number() OVER () - 1 AS record, {_fields(found, types)} FROM {relation})"
    _check(engine, read, records, kind, line_of, findings)
    name = table_name(read)
    how = "VIEW" if kind == "long" else "TABLE"
    engine.execute(f"CREATE OR REPLACE TEMP {how} {name} AS {_SHAPES[kind](records, found)}")
    columns = {
        c: t
        for c, t in engine.types(name).items()
        if c not in ("confidence", "category") or _given(c, kind, found, engine, name)
    }
    rows = int(engine.run(f"SELECT count(*) AS n FROM {name}")["n"][0])
    lines = line_of if kind == "long" else lambda row: line_of(_record(engine, name, row))
    return Table(
        read.name,
        read.role,
        format,
        name,
        columns,
        "pages",
        rows,
        line_of=lines,
        findings=findings,
        context="splitting",
        memo=_clusters(engine, read, relation, types, found),
    )


def _clusters(
    engine: Engine, read: Read, relation: str, types: Mapping[str, str], found: Mapping[str, str]
) -> dict[str, Any]:
    """What each document belongs to, where a column of gold was named for that."""
    column = read.columns.get("cluster")
    if column is None or read.role != "gold":
        return {}
    if column not in types:
        raise InputError([finding("cluster-column-missing", read.name, column=column, found=", ".join(types))])
    case, name, cluster = (
        f"CAST({c} AS VARCHAR)" for c in (_field("test_case", found, types), quoted(found["id"]), quoted(column))
    )
    rows = engine.run(
        f"SELECT {case} AS test_case, {name} AS id, min({cluster}) AS cluster FROM {relation} GROUP BY ALL"
    )
    return {"cluster": list(zip(*(rows[c].tolist() for c in ("test_case", "id", "cluster")), strict=True))}


def _record(engine: Engine, name: str, row: int) -> int:
    return int(engine.run(f"SELECT record FROM {name} LIMIT 1 OFFSET {row}")["record"][0])


def _given(column: str, kind: str, found: Mapping[str, str], engine: Engine, name: str) -> bool:
    """Is the column there, or are there such values inside the lists?"""
    if column in found or kind == "long":
        return column in found
    return bool(engine.run(f"SELECT count({column}) AS n FROM {name}")["n"][0])


def _fields(found: Mapping[str, str], types: Mapping[str, str]) -> str:
    return ", ".join(f"{_field(role, found, types)} AS {role}" for role in PAGE_NAMES)


def _field(role: str, found: Mapping[str, str], types: Mapping[str, str]) -> str:
    if role not in found:
        return "''" if role == "test_case" else "NULL"
    column, declared = quoted(found[role]), types[found[role]]
    if role == "test_case":
        return f"coalesce(CAST({column} AS VARCHAR), '')"
    if role in ("page", "start", "end"):
        return column if declared == "BIGINT" else f"TRY_CAST({column} AS BIGINT)"
    if role == "first":
        return (
            column
            if declared == "BOOLEAN"
            else f"TRY_CAST(regexp_replace(CAST({column} AS VARCHAR), '\\.0+$', '') AS BOOLEAN)"
        )
    if role == "confidence":
        return column if declared == "DOUBLE" else f"TRY_CAST({column} AS DOUBLE)"
    if role == "category" and declared == "JSON":
        return f"nullif(CAST({column} AS JSON)->>'$', '')"
    nested = declared.endswith("]") or declared.startswith(("STRUCT", "MAP"))
    return f"CAST(to_json({column}) AS VARCHAR)" if nested else f"nullif(CAST({column} AS VARCHAR), '')"


def _check(engine: Engine, read: Read, records: str, kind: str, line_of: Lines, findings: list[Finding]) -> None:
    """Stop at records without a document id, with lists that are no lists, or with ranges that end before they begin."""
    rules = {"missing-field": ("id IS NULL", {"field": "document id"})}
    shown = 'a list of pages, as {"number": 1, "is_first_page": true}'
    if kind == "pages":
        rules["page-list-bad"] = (
            "pages IS NULL OR NOT json_valid(pages) OR json_type(pages) <> 'ARRAY'",
            {"expected": shown},
        )
    if kind == "ranges":
        rules["range-bad"] = ('start IS NULL OR "end" IS NULL OR start > "end"', {"range": "a range"})
    if kind == "files":
        rules["page-list-bad"] = (f"files IS NULL OR {_BAD_FILES}", {"expected": "a list of page ranges, as [1, 2]"})
    bad = [
        f for code, (where, facts) in rules.items() for f in _bad(engine, read, records, code, where, facts, line_of)
    ]
    if bad:
        raise InputError([*findings, *bad])


def _bad(
    engine: Engine, read: Read, records: str, code: str, where: str, facts: Mapping[str, str], line_of: Lines
) -> list[Finding]:
    rows = engine.run(f"SELECT record FROM {records} WHERE {where} ORDER BY record LIMIT 20")["record"].tolist()
    return [finding(code, read.name, line_of(int(row)), **facts) for row in rows]


def _long(records: str, found: Mapping[str, str]) -> str:
    return (
        f"SELECT test_case, id, page AS number, first, confidence, CAST(category AS VARCHAR) AS category FROM {records}"
    )


def _pages(records: str, found: Mapping[str, str]) -> str:
    """Pages as objects, or as bare flags; a page without a number stands at its place in the list."""
    objects = (
        f"SELECT record, test_case, id, category, unnest(json_transform(pages, '{_PAGE}')) AS p,"
        f" generate_subscripts(json_extract(pages, '$[*]'), 1) AS place FROM {records} WHERE json_type(pages, '$[0]') = 'OBJECT'"
    )
    flags = (
        f"SELECT record, test_case, id, category, unnest(json_transform(pages, '[\"BOOLEAN\"]')) AS first,"
        f" generate_subscripts(json_extract(pages, '$[*]'), 1) AS number FROM {records} WHERE json_type(pages, '$[0]') <> 'OBJECT'"
    )
    return (
        "SELECT test_case, id, coalesce(p.number, p.page, p.page_number, place) AS number,"
        " coalesce(p.is_first_page, p.is_first, p.first) AS first, coalesce(p.confidence, p.is_first_page_confidence) AS confidence,"
        f" coalesce(p.category, category) AS category, record FROM ({objects})"
        f" UNION ALL SELECT test_case, id, number, first, NULL, category, record FROM ({flags}) ORDER BY record, number"
    )


def _points(records: str, found: Mapping[str, str]) -> str:
    """Files begin at the listed pages, and at page 1; the number of pages is given, or left open at the last one listed."""
    points = "list_transform(regexp_extract_all(coalesce(points, ''), '\\d+'), lambda x: CAST(x AS BIGINT))"
    read = f"SELECT *, {points} AS starts, TRY_CAST(pages AS BIGINT) AS size FROM {records}"
    each = (
        "SELECT record, test_case, id, category, size IS NULL AS open_ended,"
        f" unnest(range(1, greatest(coalesce(size, 1), coalesce(list_max(starts), 1)) + 1)) AS number FROM ({read})"
    )
    begun = f"SELECT DISTINCT record, unnest(starts) AS number, true AS begins FROM ({read})"
    return (
        "SELECT test_case, id, number, coalesce(begins, number = 1) AS first, CAST(NULL AS DOUBLE) AS confidence, category,"
        f" record, open_ended FROM ({each}) LEFT JOIN ({begun}) USING (record, number) ORDER BY record, number"
    )


_BAD_FILES = "(NOT json_valid(files) AND NOT regexp_full_match(files, '[\\d\\s,;-]+'))"

_RANGE = (
    "CASE json_type(f) WHEN 'ARRAY' THEN [f->>'$[0]', f->>'$[1]', f->>'$[2]']"
    " WHEN 'OBJECT' THEN [coalesce(f->>'first', f->>'first_page', f->>'start'), coalesce(f->>'last', f->>'last_page', f->>'end'), f->>'category']"
    " ELSE [regexp_extract(f->>'$', '\\d+'), regexp_extract(f->>'$', '\\d+$'), NULL] END"
)


def _files(records: str, found: Mapping[str, str]) -> str:
    """Ranges as [first, last], [first, last, category], {"first", "last", "category"} or "first-last"."""
    texts = "to_json(regexp_extract_all(files, '\\d+\\s*-\\s*\\d+|\\d+'))"
    listed = f"CASE WHEN json_valid(files) AND json_type(files) = 'ARRAY' THEN CAST(files AS JSON) ELSE {texts} END"
    each = f"SELECT record, test_case, id, category, unnest(json_extract({listed}, '$[*]')) AS f FROM {records}"
    ends = (
        'SELECT record, test_case, id, TRY_CAST(r[1] AS BIGINT) AS start, TRY_CAST(r[2] AS BIGINT) AS "end",'
        f" coalesce(r[3], category) AS category FROM (SELECT *, {_RANGE} AS r FROM ({each}))"
    )
    return _ranges(f"({ends})", found)


def _ranges(records: str, found: Mapping[str, str]) -> str:
    each = f'SELECT *, unnest(range(start, "end" + 1)) AS number FROM {records}'
    return (
        "SELECT test_case, id, number, number = start AS first, CAST(NULL AS DOUBLE) AS confidence, category, record"
        f" FROM ({each}) ORDER BY record, number"
    )


_SHAPES: dict[str, Callable[[str, Mapping[str, str]], str]] = {
    "pages": _pages,
    "long": _long,
    "points": _points,
    "files": _files,
    "ranges": _ranges,
}
