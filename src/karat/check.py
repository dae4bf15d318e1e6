# SPDX-License-Identifier: Apache-2.0
"""Rules over one side: what is wrong with it by itself, with the lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from operator import lt
from typing import Any

import numpy as np

from karat.columns import Ints, Mask
from karat.findings import LIMIT, Finding, InputError, finding
from karat.side import Side


def repeated_ids(side: Side) -> list[Finding]:
    """Units whose test case and id an earlier unit has; of those without an id another finding speaks."""
    ids = side.keys.id
    if side.keys.by_position or all(map(lt, ids, islice(ids, 1, None))) or len(set(ids)) == len(ids):
        return []
    several = {id for id, count in Counter(ids).items() if count > 1 and id}
    at_several = np.flatnonzero([id in several for id in ids])
    first: dict[tuple[str, str], int] = {}
    pairs = zip(at_several.tolist(), side.keys.take(at_several).pairs(), strict=True)
    again = [(at, key) for at, key in pairs if first.setdefault(key, at) != at]
    out = [
        finding("repeated-id", side.name, side.line(at), id=id, where=_where(case), first=side.line(first[case, id]))
        for at, (case, id) in again[:LIMIT]
    ]
    return out + more("repeated-id", len(again), side)


def _where(case: str) -> str:
    return f" of test case {case!r}" if case else ""


def at_units(side: Side, code: str, units: Any, **facts: Any) -> list[Finding]:
    """A finding with its line for each of the units."""
    units = np.asarray(units, np.int64).tolist()
    out = [finding(code, side.name, side.line(unit), **facts) for unit in units[:LIMIT]]
    return out + more(code, len(units), side)


def at_entries(side: Side, code: str, entries: Any) -> list[Finding]:
    """A finding with its line for each of the entries, which say of which record they are."""
    entries = np.asarray(entries, np.int64).tolist()
    out = [finding(code, side.name, side.entry_line(entry)) for entry in entries[:LIMIT]]
    return out + more(code, len(entries), side)


def at_limit(code: str, rows: Ints, side: Side, make: Callable[[int], Finding]) -> list[Finding]:
    """The findings of the first rows, and one that counts the rest."""
    return [make(row) for row in rows[:LIMIT].tolist()] + more(code, len(rows), side)


def more(kind: str, total: int, side: Side) -> list[Finding]:
    """One finding that counts those past the limit."""
    return [finding("more", side.name, count=total - LIMIT, kind=kind)] if total > LIMIT else []


def leave_out(gold: Side, systems: Sequence[Side]) -> tuple[Side, list[Side]]:
    """Gold and predictions without the records that cannot be scored, each said to be left out.

    Gold without a value leaves out its predictions too; an empty prediction is a missing one; of two predictions for
    an id the first counts. A repeated gold id stays an error: nobody can say which of the two is right.
    """
    empty = _empty(gold)
    unasked = {key for key, none in zip(gold.keys.pairs(), empty.tolist(), strict=True) if none}
    unasked -= {key for key, none in zip(gold.keys.pairs(), empty.tolist(), strict=True) if not none}
    alone = np.array([key in unasked for key in gold.keys.pairs()], bool) & empty
    gold = _without(gold, [("without a value", alone)])
    if not len(gold):
        raise InputError([finding("no-records", gold.name)])
    return gold, [_answers(side, unasked) for side in systems]


def _answers(side: Side, unasked: set[tuple[str, str]]) -> Side:
    side = _without_empty_labels(side)
    empty = _empty(side)
    asked = np.array([key not in unasked for key in side.keys.pairs()], bool)
    seen: set[tuple[str, str]] = set()
    again = np.zeros(len(side), bool)
    for at, key in enumerate(side.keys.pairs()):
        again[at] = key in seen and not empty[at]
        seen |= set() if empty[at] else {key}
    rules = [
        ("without a value", empty),
        ("for gold records without a value", ~asked),
        ("with the id of another", again),
    ]
    return _without(side, rules)


def _empty(side: Side) -> Mask:
    """Units without a value; a label of nothing but blanks is none."""
    of = side.entries
    blanks = np.isin(of["label"], blank(side.names["label"])) if side.kind == "label" else np.zeros(len(of), bool)
    return np.bincount(of.unit[~blanks], minlength=len(side)) == 0


def _without_empty_labels(side: Side) -> Side:
    if side.kind != "labels":
        return side
    of = side.entries
    bad = (of["label"] < 0) | np.isin(of["label"], [i for i, name in enumerate(side.names["label"]) if not name])
    count = side.units_in(of.unit[bad])
    if not count:
        return side
    line = side.line(int(of.unit[bad].min()))
    left = finding("left-out", side.name, line, count=count, what="empty label" if count == 1 else "empty labels")
    return replace(side, entries=of.at(np.flatnonzero(~bad)), findings=[*side.findings, left])


def _without(side: Side, rules: Sequence[tuple[str, Mask]]) -> Side:
    """The side without the units that the rules name, each left out for the first rule that it meets."""
    keep, findings = np.ones(len(side), bool), list(side.findings)
    for what, bad in rules:
        left = np.flatnonzero(keep & bad)
        if len(left):
            count = side.units_in(left)
            noun = "record" if count == 1 else "records"
            findings.append(finding("left-out", side.name, side.line(int(left[0])), count=count, what=f"{noun} {what}"))
        keep &= ~bad
    out = side if keep.all() else side.take(np.flatnonzero(keep))
    return replace(out, findings=findings)


def blank(names: Sequence[str]) -> list[int]:
    """The codes of names that are nothing but white space."""
    return [code for code, name in enumerate(names) if not name.strip(" \t\n\r")]
