# SPDX-License-Identifier: Apache-2.0
"""One side on a cluster: where it is read, what it means, and what is wrong with its keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from karat.contexts import CONTEXT_OF
from karat.engines import spark
from karat.engines.spark import Frame
from karat.findings import Finding, InputError, finding
from karat.read.names import NAMES, NUMBERS, match_columns
from karat.read.pages import shape
from karat.read.roles import Records, required_columns
from karat.read.span_names import CERTAIN
from karat.read.table import Read
from karat.side import Origin


def framed(given: Any, read: Read, format: str | None, master: str | None) -> Frame:
    """A DataFrame, or a path that the cluster reads, with the names of our columns."""
    typed = True
    if isinstance(given, str):
        format = spark.format_of(given, format)
        typed = format not in spark.UNTYPED
        given = spark.read_path(spark.session(master), given, format)
    roles = match_columns(given.columns, read.columns, side=read.side)
    graded = roles.get("value", "").strip().lower() in NUMBERS
    return Frame(given, read, roles, typed, graded)


MOST_UNITS = 5_000_000
"""Single records that are brought to the driver for those who ask for units."""


def collected(frame: Frame) -> Any:
    """A frame as a table in memory, for what needs every unit: lists of units, clusters, comparisons."""
    table = spark.collected(frame, MOST_UNITS + 1)
    if table.num_rows > MOST_UNITS:
        raise InputError([finding("too-many-units", frame.name, limit=MOST_UNITS)])
    return table


def context_of(gold: Frame, systems: Sequence[Frame]) -> str | None:
    """The context that the columns show; None where only the values can tell."""
    names, read = gold.data.columns, gold.read
    if read.context:
        return read.context
    if shape(names, read):
        return "splitting"
    if any(name in names for name in CERTAIN):
        return "spans"
    if "value" not in gold.roles:
        return None
    column, kind = gold.roles["value"].strip().lower(), spark.kind_of(gold)
    if kind == "number" and column in NUMBERS:
        return "ranking"
    if kind == "number" and column == "value":
        return _of_numbers(gold, systems)
    if kind in ("text", "label") and systems and all(spark.kind_of(pred) == "weights" for pred in systems):
        return "probabilities"
    return CONTEXT_OF[kind] if kind not in ("text", "number") else "monolabel" if kind == "number" else None


def _of_numbers(gold: Frame, systems: Sequence[Frame]) -> str:
    """Labels, if a system uses no number that gold lacks, unless it ranks by them; else grades of queries."""
    facts = [spark.numbers(gold, pred) for pred in systems if spark.kind_of(pred) == "number"]
    if len(facts) == len(systems) > 0 and all(f.known and not f.ranks for f in facts):
        return "monolabel"
    if "test_case" not in gold.roles and not any(f.ranks for f in facts):
        raise InputError([finding("numbers-or-ranking", gold.name)])
    return "ranking"


def lacking(frame: Frame) -> list[Finding]:
    """Columns that are needed and not there: without an order, records cannot be paired by position."""
    needed = {} if frame.read.shared else {"id": "one of " + ", ".join(NAMES["id"][:5]) + ", …"}
    columns = needed | frame.read.columns
    records = Records(
        Origin(frame.name, frame.role, "spark"), {name: [] for name in frame.data.columns}, 0, frame.typed
    )
    try:
        required_columns(records, replace(frame.read, columns=columns), frame.roles)
    except InputError as error:
        return error.findings
    return []


def key_findings(frame: Frame, rows: Mapping[str, int]) -> list[Finding]:
    """Records without an id, and test cases that some have and others have not."""
    wrong = {"missing-field": ("id", rows["no_id"]), "empty-value": ("id", rows["blank_id"])}
    if rows["blank_case"] < rows["rows"]:
        wrong["some-without"] = ("test_case", rows["blank_case"])
    return [
        finding(code, f"{frame.name} ({count:,} {'record' if count == 1 else 'records'})", field=field)
        for code, (field, count) in wrong.items()
        if count
    ]


def record_key(case: str, id: str) -> str:
    return f"id {id!r}" + (f" of test case {case!r}" if case else "")
