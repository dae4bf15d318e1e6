# SPDX-License-Identifier: Apache-2.0
"""Rules over one side: what is wrong with it by itself, with the lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from karat.findings import LIMIT, Finding, finding
from karat.side import Side


def repeated_ids(side: Side, code: str = "repeated-id") -> list[Finding]:
    """Units whose test case and id an earlier unit has."""
    ids = side.keys.id
    if side.keys.by_position or len(set(ids)) == len(ids):
        return []
    first: dict[tuple[str, str], int] = {}
    again = [(at, key) for at, key in enumerate(side.keys.pairs()) if first.setdefault(key, at) != at]
    out = [
        finding(code, side.name, side.line(at), id=id, where=_where(case), first=side.line(first[case, id]))
        for at, (case, id) in again[:LIMIT]
    ]
    return out + more(code, len(again), side)


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


def more(kind: str, total: int, side: Side) -> list[Finding]:
    """One finding that counts those past the limit."""
    return [finding("more", side.name, count=total - LIMIT, kind=kind)] if total > LIMIT else []


def blank(names: Sequence[str]) -> list[int]:
    """The codes of names that are nothing but white space."""
    return [code for code, name in enumerate(names) if not name.strip(" \t\n\r")]
