# SPDX-License-Identifier: Apache-2.0
"""Rankings in batches of whole queries, of which each keeps its judged documents with their places."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from karat.align import Aligned, meet
from karat.batches.files import Lined, NotInBatches, Parted, Small, batch_rows, checked_table, is_large
from karat.columns import Codes, Ints, Text
from karat.contexts import context
from karat.contexts.base import Counted
from karat.engines.duckdb import Engine, Stretches
from karat.engines.memory import finished
from karat.findings import Finding, InputError, any_error, stop_on_errors
from karat.notes import Note, noted, worded
from karat.progress import told
from karat.read import Unread, Waiting
from karat.read.roles import roles_of
from karat.side import Entries, Keys, Origin, Side, joined

TREC = ("trec-run", "trec-qrels")


class Ranked(NamedTuple):
    """What a batch gives: its queries reduced, what the whole must know of either side, and what is wrong."""

    part: Aligned | None
    """None where something is wrong."""
    gold: Side
    pred: Side
    retrieved: int
    notes: list[Note]


Place = Callable[[Side, int], str | int]
"""What a line of a batch is called."""


def reduced(gold: Side, pred: Side, options: Mapping[str, Any], place: Place) -> Ranked:
    """The queries of one batch, checked and reduced."""
    ranking, findings, notes = context("ranking"), list[Finding](), list[Note]()
    for side in (gold, pred):
        wrong = [*side.findings, *ranking.faults(side, options)]
        notes += noted(wrong, partial(place, side))
        findings += wrong
    slim = _slim(gold, _best(gold)), _slim(pred, Entries.none())
    if any_error(findings):  # nothing that is counted will be shown
        return Ranked(None, *slim, len(pred.entries), notes)
    both = meet(gold.keys, pred.keys)
    aligned = Aligned.of(gold, pred, ranking.kept(both, options), units=False)
    return Ranked(ranking.reduce(aligned, options), *slim, len(pred.entries), notes)


def _best(gold: Side) -> Entries:
    """The highest grade of each query, by which one sees whether anything is relevant."""
    best = np.full(len(gold), -np.inf)
    np.maximum.at(best, gold.entries.unit, gold.entries["number"])
    return Entries(np.arange(len(gold)), {"number": best})


def _slim(side: Side, entries: Entries) -> Side:
    """What the whole must know of a side: its queries, and where they begin."""
    # Records of a table have the numbers that they have in the file, those of lines have their own in each batch.
    begin = side.record if side.origin.format not in TREC else [side.line(unit) for unit in range(len(side))]
    return replace(
        side, entries=entries, names={}, findings=[], record=None, units={"record": np.asarray(begin, np.int64)},
        origin=Origin(side.name, side.role, side.origin.format),
    )  # fmt: skip


def whole(parts: Sequence[Ranked], role: str, *, by_name: bool = False) -> Side:
    """A side as a whole, its queries in the order of the file, or by name; its documents have stayed where they are."""
    side = joined([getattr(part, role) for part in parts])
    names = side.keys.case.texts()
    order = sorted(range(len(side)), key=lambda i: names[i] or "") if by_name else np.argsort(side.units["record"])
    side = side.take(np.asarray(order, np.int64))
    if role == "pred":
        retrieved = sum(part.retrieved for part in parts)
        side = replace(side, entries=Entries(np.broadcast_to(np.int64(0), retrieved), {}))
    return replace(side, units={})


def counted(parts: list[Ranked], sides: tuple[Side, Side], options: Mapping[str, Any]) -> Counted:
    """The cells of all queries, and what is wrong with them; the parts are gone when they are merged."""
    notes = worded([note for part in parts for note in part.notes])
    stop_on_errors([*sides[0].findings, *sides[1].findings, *notes])
    merged = Aligned.merge(_with_rows([part.part for part in parts if part.part is not None]))
    merged = replace(merged, facts={"gold": sides[0].facts, "pred": sides[1].facts})
    parts.clear()  # the judged documents of all queries need the room a second time
    result = finished(context("ranking"), sides[0], sides[1], meet(sides[0].keys, sides[1].keys), merged, options)
    return replace(result, findings=[*notes, *result.findings])


def _with_rows(parts: Sequence[Aligned]) -> Sequence[Aligned]:
    """Those in which something is scored: a batch without any does not know all columns."""
    out = [part for part in parts if len(part)] or parts[:1]
    if len({(*part.gold.columns, *part.names) for part in out}) > 1:
        raise NotInBatches  # subtopics that no more than one query of a batch has look like none
    return out


# ---- files


def are_rankings(sides: Sequence[Any]) -> bool:
    """Do format and columns say that these are judgements and runs? (Numbers without a name may be labels.)"""
    return all(_is_ranking(side) for side in sides)


def _is_ranking(side: Any) -> bool:
    if not isinstance(side, Waiting):
        return side.format in TREC if isinstance(side, Unread) else side.context == "ranking"
    roles = roles_of(side.records, side.read)
    keyed = {"value", "id", "test_case"} <= roles.keys() and not side.pages
    return keyed and side.read.wants_numbers(roles["value"])


def ranked(engine: Engine, gold: Any, pred: Any, options: Mapping[str, Any]) -> tuple[Counted, tuple[Side, Side]]:
    """Judgements and a run of which one does not fit into memory."""
    sides = [_parted(engine, side) for side in (gold, pred)]
    parts: list[Ranked] = []
    unread: list[Finding] = []
    rows = _arranged(sides, batch_rows(engine))
    for batch in told(range(len(rows)), "ranked documents", rows):
        try:
            mine, other = _read(sides, batch)
            parts.append(reduced(mine, other, options, lambda _, line: line))
        except InputError as error:
            unread += error.findings
    if unread:
        raise InputError(worded([*noted(unread, int), *(note for part in parts for note in part.notes)]))
    both = [_whole(part, parts, role) for part, role in zip(sides, ("gold", "pred"), strict=True)]
    return counted(parts, (both[0], both[1]), options), (both[0], both[1])


def _whole(of: Parted, parts: Sequence[Ranked], role: str) -> Side:
    return replace(whole(parts, role), origin=of.origin, records=of.records, findings=list(of.findings))


def _parted(engine: Engine, side: Any) -> Parted:
    if isinstance(side, Waiting) and is_large(engine, side):
        return checked_table(engine, side, "test_case")
    if isinstance(side, Unread):
        return Lined(engine, side)
    return Small(context("ranking").prepare(side.side() if isinstance(side, Waiting) else side, {}))


def _read(sides: Sequence[Parted], batch: int) -> Iterator[Side]:
    """Both sides of a batch; where one has no query of it, a side without any."""
    for of in sides:
        side = of.side(batch)
        yield _nothing(of.origin) if side is None else _queries(side)


def _queries(side: Side) -> Side:
    if side.kind != "number" or side.facts.get("unsure"):
        raise NotInBatches
    return context("ranking").prepare(side, {})


def _nothing(origin: Origin) -> Side:
    """A side without any query."""
    none = np.zeros(0, np.int64)
    entries = Entries(none, {"number": np.zeros(0), "document": Text.of([])})
    return Side(origin, "number", Keys(Codes(none, []), []), entries, record=none, context="ranking")


def _arranged(sides: Sequence[Parted], rows: int) -> list[int]:
    """Assign queries to batches and let both sides put them together; gives how many rows of the larger each has.

    Queries follow each other as in the larger side; where its rows stand by query, as those of most runs do, a batch
    is a stretch of its rows and nothing is moved.
    """
    units = [side.stretches() for side in sides]
    lead = int(units[1].rows.sum() >= units[0].rows.sum())
    batch, cuts = stretched(units[lead], rows)
    batch_of = dict(zip(units[lead].key, batch.tolist(), strict=True))
    batches = int(batch.max(initial=0)) + 1
    other = units[1 - lead]
    lone = [key for key in other.key if key not in batch_of]
    batch_of |= {key: nth % batches for nth, key in enumerate(lone)}
    sides[lead].arrange(batch_of, cuts, batches)
    sides[1 - lead].arrange(batch_of, _same_cuts(other, batch_of, batches), batches)
    return np.bincount(batch, units[lead].rows, batches).astype(int).tolist()  # type: ignore[no-any-return]


def stretched(units: Stretches, rows: int) -> tuple[Ints, Ints | None]:
    """The batch of each unit, and the rows at which batches begin and the last ends, where no unit crosses them."""
    closed = np.append(np.maximum.accumulate(units.last)[:-1] < units.first[1:], True)  # nothing crosses what follows
    piece = np.append(0, np.cumsum(closed)[:-1])
    size = np.bincount(piece, units.rows)
    in_stretches = bool((size <= 2 * rows).all())
    if not in_stretches:
        return np.minimum(np.cumsum(units.rows) // rows, len(units.rows) - 1), None
    nth = (np.cumsum(size) - size) // rows
    batch = np.cumsum(np.append(0, np.diff(nth) > 0)).astype(np.int64)[piece]
    begin = units.first[np.append(True, np.diff(batch) > 0)]
    return batch, np.append(begin, units.last.max() + 1)


def _same_cuts(units: Stretches, batch_of: Mapping[str, int], batches: int) -> Ints | None:
    """The same of the side that follows, if its units stand in the order of the batches."""
    batch = np.array([batch_of[key] for key in units.key], np.int64)
    first = np.searchsorted(batch, np.arange(batches))
    if (np.diff(batch) < 0).any():
        return None
    begin = np.append(units.first, units.last.max() + 1)[first]
    crossed = np.maximum.accumulate(units.last)
    inner = first[(first > 0) & (first < len(batch))]
    return np.append(begin, units.last.max() + 1) if (crossed[inner - 1] < units.first[inner]).all() else None
