# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with one side's pages by itself."""

from __future__ import annotations

from collections.abc import Iterator

from karat.contexts.base import Run, Table
from karat.contexts.pairing import maybe_repeated, more
from karat.findings import LIMIT, Finding, finding

LARGEST = 1_000_000_000
"""Largest page number: document and page share one 64-bit key."""


def page_findings(run: Run, table: Table, *, flags: bool = True) -> list[Finding]:
    """Every rule's findings, each with the line of its record; ``flags`` asks for a flag on each page."""
    rules = {"page-number-bad": f"number IS NULL OR number < 0 OR number > {LARGEST}"}
    if flags:
        rules["page-flag-null"] = "number IS NOT NULL AND first IS NULL"
    if "confidence" in table.columns:
        rules["confidence-range"] = "confidence < 0 OR confidence > 1 OR isnan(confidence)"
    found = [f for code, where in rules.items() for f in _bad_pages(run, table, code, where)]
    return [*found, *_repeated_pages(run, table)]


def _numbered(table: Table) -> str:
    return f"(SELECT *, row_number() OVER () - 1 AS nth FROM {table.sql})"


def _bad_pages(run: Run, table: Table, code: str, where: str) -> Iterator[Finding]:
    total = int(run(f"SELECT count(*) AS n FROM {table.sql} WHERE {where}")["n"][0])
    if not total:
        return
    value = "confidence" if code == "confidence-range" else "NULL"
    rows = run(
        f"SELECT id, number, {value} AS value, nth FROM {_numbered(table)} WHERE {where} ORDER BY nth LIMIT {LIMIT}"
    )
    for name, number, value, at in zip(*(rows[k].tolist() for k in ("id", "number", "value", "nth")), strict=True):
        yield finding(code, table.name, table.line(at), id=name, number=_page(number), value=value)
    yield from more(code, total, table)


def _page(number: float | None) -> str:
    return "a page" if number is None or number != number else f"page {int(number)}"


def _repeated_pages(run: Run, table: Table) -> Iterator[Finding]:
    if not maybe_repeated(
        run(f"SELECT hash(test_case, id, number) AS h FROM {table.sql} WHERE number IS NOT NULL")["h"]
    ):
        return
    rows = run(
        f"SELECT id, number, min(nth) AS first, max(nth) AS nth FROM {_numbered(table)} WHERE number IS NOT NULL"
        " GROUP BY test_case, id, number HAVING count(*) > 1 ORDER BY nth"
    )
    columns = (rows[k][:LIMIT].tolist() for k in ("id", "number", "first", "nth"))
    for name, number, first, at in zip(*columns, strict=True):
        yield finding("repeated-page", table.name, table.line(at), id=name, number=int(number), first=table.line(first))
    yield from more("repeated-page", len(rows["nth"]), table)
