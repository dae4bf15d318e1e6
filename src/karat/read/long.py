# SPDX-License-Identifier: Apache-2.0
"""Long tables: one record per item and label (with a score), or per item and annotator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from karat.findings import Finding, InputError, finding, limited
from karat.read.names import match_columns
from karat.read.table import Engine, Read, Table

NAMES = {
    "annotator": ("annotator", "annotator_id", "rater", "coder", "worker", "worker_id"),
    "score": ("score", "weight", "probability", "prob", "confidence"),
}
"""Columns that make a table long."""


def long_columns(read: Read, types: Mapping[str, str], taken: Mapping[str, str], kind: str) -> dict[str, str]:
    """The annotator and score columns, where the context could mean them."""
    if kind not in ("label", "number") or "id" not in taken or read.context not in (None, "soft", "multilabel"):
        return {}
    free = [c for c in types if c not in taken.values()]
    return match_columns(free, {k: v for k, v in read.columns.items() if k in NAMES}, NAMES)


def is_long(engine: Engine, read: Read, relation: str, id_column: str, found: Mapping[str, str]) -> bool:
    """Votes always are; scores are when the context says so, or when ids repeat."""
    if "annotator" in found or read.context == "soft":
        return bool(found)
    many = engine.run(f"SELECT count(*) > count(DISTINCT {id_column}) AS repeated FROM {relation}")
    return bool(found) and bool(many["repeated"][0])


def gather(engine: Engine, table: Table, name: str, rows: str, found: Mapping[str, str]) -> Table:
    """``rows`` (test_case, id, label, other, given) as one record per item, in order of first appearance."""
    votes = "annotator" in found
    key, value, kind = ("other", "label", "votes") if votes else ("label", "other", "weights")
    numbered = f"(SELECT *, row_number() OVER () - 1 AS item FROM ({rows}))"
    bad = _missing(engine, table, numbered, "annotator" if votes else "score")
    if bad:
        raise InputError([*table.findings, *bad])
    again = _repeated(engine, table, numbered, key)
    # Of a label that is scored twice the best place counts, of an annotator's votes the first.
    best = "" if votes else "other DESC, "
    engine.execute(
        f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT test_case, id, {{'labels': list({key} ORDER BY item),"
        f" '{'votes' if votes else 'weights'}': list({value} ORDER BY item)}} AS value, min(item) AS first_row"
        f" FROM (SELECT * FROM {numbered} QUALIFY row_number() OVER (PARTITION BY test_case, id, {key} ORDER BY {best}item) = 1)"
        f" GROUP BY test_case, id ORDER BY first_row"
    )
    first = engine.run(f"SELECT first_row FROM {name}")["first_row"].tolist()
    line_of = table.line_of
    findings = [*table.findings, *again]
    return replace(
        table, sql=name, kind=kind, rows=len(first), findings=findings, line_of=lambda row: line_of(first[row])
    )


def _missing(engine: Engine, table: Table, numbered: str, other: str) -> list[Finding]:
    """Fields without a value, and scores that are not numbers."""
    out = []
    for field, said in (("id", "id"), ("label", "label"), ("other", other)):
        rows = engine.run(f"SELECT item, given FROM {numbered} WHERE {field} IS NULL ORDER BY item")
        for row, given in zip(rows["item"].tolist(), rows["given"].tolist(), strict=True):
            none = field != "other" or given is None
            code, facts = ("missing-field", {}) if none else ("not-a-number", {"text": given})
            out.append(finding(code, table.name, table.line(int(row)), field=said, **facts))
    return limited(out)


def _repeated(engine: Engine, table: Table, numbered: str, key: str) -> list[Finding]:
    again = f"{numbered} QUALIFY row_number() OVER (PARTITION BY test_case, id, {key} ORDER BY item) > 1"
    found = engine.run(f"SELECT item FROM {again}")["item"]
    code = "repeated-label" if key == "label" else "repeated-vote"
    return [finding(code, table.name, table.line(int(found.min())), count=len(found))] if len(found) else []
