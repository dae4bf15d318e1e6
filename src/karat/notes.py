# SPDX-License-Identifier: Apache-2.0
"""What is found in the parts of an input, and how that becomes what is said of the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from karat.findings import LIMIT, Finding, finding

EXAMPLES = 3


class Note(NamedTuple):
    """A finding before it is put into words: its kind, the input, the record's key or line (None: the whole), and the facts."""

    code: str
    file: str | None
    place: str | int | None
    facts: dict[str, Any]


def noted(findings: Iterable[Finding], place: Callable[[int], str | int]) -> list[Note]:
    """Findings of a part as notes; ``place`` says which record a line is."""
    return [Note(f.code, f.file, None if f.line is None else place(f.line), dict(f.facts)) for f in findings]


def worded(notes: Sequence[Note]) -> list[Finding]:
    """One finding for each thing that was counted, the first of those that were listed, and how many more there are."""
    counted: dict[Any, list[Note]] = {}
    listed: dict[tuple[str, str | None], list[Note]] = {}
    more: dict[tuple[str, str | None], int] = {}
    for note in notes:
        if note.code == "more":
            kind = note.facts["kind"], note.file
            more[kind] = more.get(kind, 0) + note.facts["count"]
        elif "count" in note.facts:
            same = tuple(sorted((k, v) for k, v in note.facts.items() if k not in _SUMS))
            counted.setdefault((note.code, note.file, same), []).append(note)
        elif note.place is not None or note not in listed.get((note.code, note.file), ()):  # said of the whole: once
            listed.setdefault((note.code, note.file), []).append(note)
    out = [_summed(parts) for parts in counted.values()]
    for (code, file), parts in listed.items():
        parts = sorted(parts, key=_order)
        out += [_finding(note, note.facts) for note in parts[:LIMIT]]
        rest = len(parts) - LIMIT + more.get((code, file), 0)
        out += [finding("more", file, count=rest, kind=code)] if rest > 0 else []
    return out


_SUMS = ("count", "total", "examples")
"""Facts that add up over parts."""


def _order(note: Note) -> tuple[int, str]:
    return (note.place, "") if isinstance(note.place, int) else (0, note.place or "")


def _summed(parts: Sequence[Note]) -> Finding:
    first, facts = min(parts, key=_order), dict(parts[0].facts)
    for name in ("count", "total"):
        if name in facts:
            facts[name] = sum(int(part.facts[name]) for part in parts)
    if "examples" in facts:
        facts["examples"] = ", ".join([e for part in parts for e in part.facts["examples"].split(", ")][:EXAMPLES])
    return _finding(first, facts)


def _finding(note: Note, facts: dict[str, Any]) -> Finding:
    """The finding, with its line or, where records have none, with the record's key."""
    if isinstance(note.place, int):
        return finding(note.code, note.file, note.place, **facts)
    return finding(note.code, note.file if note.place is None else f"{note.file} ({note.place})", **facts)
