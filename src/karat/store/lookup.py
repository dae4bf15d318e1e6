# SPDX-License-Identifier: Apache-2.0
"""Which runs: by what people call one (its id, the beginning of one, a tag, ``latest``), and lists, a page at a time."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, func, or_, select

from karat.store.errors import StoreError
from karat.store.record import moment
from karat.store.tables import runs, scores, systems, tags

LATEST = "latest"
SHORTEST = 4
"""Fewest digits of an id that may stand for it."""
NEAR = 2_000
"""Newest runs among which a misspelt name is looked for."""

_NEWEST = select(runs.c.id).order_by(runs.c.created.desc(), runs.c.id)


def resolve(connection: Connection, name: str) -> str:
    """The id of the run that ``name`` means; a tag of several runs means the newest of them."""
    found = _named(connection, name) or _beginning(connection, name.lower())
    if not found:
        raise StoreError(f"there is no run {name!r} in the store{_hint(connection, name)}")
    if len(found) > 1:
        raise StoreError(f"{name!r} begins the ids of {len(found)} runs: {', '.join(found[:5])}; give more of it")
    return found[0]


def _named(connection: Connection, name: str) -> Sequence[str]:
    if name == LATEST:
        return connection.execute(_NEWEST.limit(1)).scalars().all()
    tagged = _NEWEST.where(runs.c.id.in_(select(tags.c.run_id).where(tags.c.tag == name))).limit(1)
    return (
        connection.execute(_NEWEST.where(runs.c.id == name)).scalars().all()
        or connection.execute(tagged).scalars().all()
    )


def _beginning(connection: Connection, name: str) -> Sequence[str]:
    if len(name) < SHORTEST or set(name) - set("0123456789abcdef"):
        return []
    return connection.execute(_NEWEST.where(runs.c.id.startswith(name))).scalars().all()


def _hint(connection: Connection, name: str) -> str:
    ids = connection.execute(_NEWEST.limit(NEAR)).scalars().all()
    if not ids:
        return ", which is empty"
    known = [*connection.execute(select(tags.c.tag).distinct()).scalars(), LATEST, *ids]
    near = difflib.get_close_matches(name, known, 1, 0.7)
    if near:
        return f"; did you mean {near[0]}?"
    return f": give an id or its first {SHORTEST} digits or more, a tag, or {LATEST} (which is {ids[0]})"


def checked_tag(tag: str) -> str:
    """A tag that can be told from an id."""
    if not tag or tag == LATEST or len(tag) > 128 or tag != tag.strip():
        raise StoreError(f"{tag!r} cannot be a tag: use up to 128 characters, no blanks around it, and not {LATEST!r}")
    return tag


DAY = len("2026-11-16")


@dataclass(frozen=True)
class Summary:
    """A line of the list of runs."""

    id: str
    created: str
    context: str
    gold: str
    karat: str
    question: str
    systems: list[str]
    tags: list[str]
    scores: dict[str, list[float | None]] = field(default_factory=dict)
    """By metric, the scores of the systems in their order."""


@dataclass(frozen=True)
class Filter:
    """Which runs: all that are true of them is true."""

    context: str | None = None
    tag: str | None = None
    without: str | None = None
    """A tag that the runs must not have."""
    metric: str | None = None
    """A metric as it prints (``ndcg@10``), or its name, whatever its parameters."""
    since: str | None = None
    """First day or moment, in ISO form, UTC unless it says otherwise: ``2026-11-16`` or ``2026-11-16T12:00``."""
    until: str | None = None
    """Last day or moment, itself included."""

    def of(self, wanted: Select[Any]) -> Select[Any]:
        """The query with this filter."""
        if self.context:
            wanted = wanted.where(runs.c.context == self.context)
        if self.tag:
            wanted = wanted.where(runs.c.id.in_(select(tags.c.run_id).where(tags.c.tag == self.tag)))
        if self.without:
            wanted = wanted.where(runs.c.id.not_in(select(tags.c.run_id).where(tags.c.tag == self.without)))
        if self.metric:
            wanted = wanted.where(runs.c.id.in_(_with(self.metric)))
        if self.since:
            wanted = wanted.where(runs.c.created >= _moment(self.since))
        return wanted.where(runs.c.created <= _moment(self.until, "T23:59:59.999999")) if self.until else wanted


def _moment(text: str, hour: str = "T00:00:00") -> str:
    """A day or moment as the store writes moments; texts of one form sort by time."""
    try:
        found = datetime.fromisoformat(text + hour if len(text) == DAY else text)
    except ValueError:
        raise StoreError(f"{text!r} is no date: write 2026-11-16, or 2026-11-16T12:00") from None
    return moment(found if found.tzinfo else found.replace(tzinfo=UTC))


def _with(metric: str) -> Select[Any]:
    """Runs that have the metric."""
    begins = [scores.c.metric.startswith(metric + mark, autoescape=True) for mark in "(@"]
    return select(scores.c.run_id).where(or_(scores.c.metric == metric, *begins))


def count(connection: Connection, wanted: Filter) -> int:
    """How many runs there are."""
    return connection.execute(wanted.of(select(func.count()).select_from(runs))).scalar_one()


def listed(connection: Connection, wanted: Filter, limit: int | None, offset: int) -> list[Summary]:
    """A page of runs, newest first, in four queries however many they are."""
    page = wanted.of(select(*_BRIEF)).order_by(runs.c.created.desc(), runs.c.id).limit(limit).offset(offset)
    ids = select(page.subquery().c.id)
    named = _gathered(connection, ids, systems.c.name, systems.c.position)
    tagged = _gathered(connection, ids, tags.c.tag, tags.c.tag)
    values: dict[str, dict[str, list[float | None]]] = defaultdict(dict)
    for row in connection.execute(_parts(ids, scores.c.position, scores.c.metric, scores.c.value)):
        values[row.run_id].setdefault(row.metric, []).append(row.value)
    return [
        Summary(
            row.id, row.created, row.context, row.gold, row.karat, row.question, named[row.id], tagged[row.id],
            _as_planned(row.plan, values[row.id]),
        )
        for row in connection.execute(page)
    ]  # fmt: skip


_BRIEF = (runs.c.id, runs.c.created, runs.c.context, runs.c.gold, runs.c.karat, runs.c.question, runs.c.plan)


class _Planned(msgspec.Struct):
    metrics: dict[str, msgspec.Raw] = {}


def _as_planned(plan: str, values: dict[str, list[float | None]]) -> dict[str, list[float | None]]:
    """Scores in the order in which the metrics were asked for; tables have none."""
    try:
        order = msgspec.json.decode(plan, type=_Planned).metrics
    except msgspec.DecodeError:  # a damaged run is listed all the same
        order = {}
    return {m: values[m] for m in [*order, *values] if m in values}


def _gathered(connection: Connection, ids: Select[Any], column: Any, order: Any) -> dict[str, list[str]]:
    """A column of the runs' parts, by run."""
    out: dict[str, list[str]] = defaultdict(list)
    for row in connection.execute(_parts(ids, order, column)):
        out[row.run_id].append(row[-1])
    return out


def _parts(ids: Select[Any], order: Any, *columns: Any) -> Select[Any]:
    run_id = order.table.c.run_id
    return select(run_id, *columns).where(run_id.in_(ids)).order_by(run_id, order)
