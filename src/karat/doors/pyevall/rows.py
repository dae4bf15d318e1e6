# SPDX-License-Identifier: Apache-2.0
"""Records cleaned row by row, and the test cases that can be evaluated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from karat.doors.pyevall import codes
from karat.doors.pyevall.journal import Journal

KINDS: dict[type, str] = {str: "mono", list: "multi", dict: "soft", int: "ranking", float: "float"}


@dataclass
class File:
    """A file after cleaning: id → value by test case, in order; ``key`` is the records' second field (see ranking)."""

    values: dict[str, dict[str, Any]] = field(default_factory=dict)
    emptied: set[tuple[str, str]] = field(default_factory=set)
    key: str = "id"


@dataclass
class TestCase:
    """What is evaluated at once: gold and predicted values by id."""

    name: str
    kind: str
    gold: dict[str, Any]
    pred: dict[str, Any]
    key: str = "id"


def clean(records: list[dict[str, Any]], gold: bool, journal: Journal, strict: bool) -> File:
    """Empty and repeated labels out of lists, then empty values and repeated ids out of the file.

    PyEvALL does not see that an id stands twice when one of its values is empty.
    """
    file = File(key=list(records[0])[1] if records else "id")
    for line, record in enumerate(records, 1):
        test_case = file.values.setdefault(record["test_case"], {})
        value = labels_once(record["value"], gold, line, journal)
        if value in ("", [], {}):
            journal.row(gold, codes.EMPTY_VALUE, line)
            file.emptied.add((record["test_case"], record["id"]))
        elif record["id"] in test_case or (not strict and (record["test_case"], record["id"]) in file.emptied):
            journal.row(gold, codes.REPEATED_ID, line)
        else:
            test_case[record["id"]] = value
    return file


def labels_once(value: Any, gold: bool, line: int, journal: Journal) -> Any:
    if not isinstance(value, list):
        return value
    kept: dict[str, None] = {}
    for label in value:
        if label == "" or label in kept:
            journal.row(gold, codes.REPEATED_TAG if label else codes.EMPTY_TAG, line)
        else:
            kept[label] = None
    return list(kept)


def test_cases(gold: File, pred: File, journal: Journal, strict: bool) -> list[TestCase]:
    """Gold's test cases that predictions have too, each with values of one kind on both sides."""
    cases = (one_kind(name, gold, pred, journal, strict) for name in gold.values)
    return [case for case in cases if case]


def one_kind(name: str, gold: File, pred: File, journal: Journal, strict: bool) -> TestCase | None:
    if name not in pred.values or not gold.values[name]:
        return None
    ours = gold.values[name]
    theirs = {id: value for id, value in pred.values[name].items() if (name, id) not in gold.emptied}
    # PyEvALL compares kinds before it leaves out the predictions of gold's empty records.
    kinds = kinds_of(ours.values(), strict), kinds_of((pred.values[name] if strict else theirs).values(), strict)
    for is_gold, of_side in ((True, kinds[0]), (False, kinds[1])):
        if len(of_side) > 1:
            journal.test_case(is_gold, codes.MIXED, name)
            return None
    if kinds[1] and kinds[0] != kinds[1]:
        journal.test_case(False, codes.UNLIKE, name)
        return None
    return TestCase(name, kinds[0].pop(), ours, theirs, pred.key)


def kinds_of(values: Iterable[Any], strict: bool) -> set[str]:
    """Kinds of value; PyEvALL takes whole numbers written as 1.0 for a kind that no metric knows."""
    kinds = {KINDS[type(value)] for value in values}
    if "float" in kinds and not strict:
        return (kinds - {"float"}) | {"ranking"}
    return kinds - {"ranking"} if {"float", "ranking"} <= kinds else kinds
