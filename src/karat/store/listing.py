# SPDX-License-Identifier: Apache-2.0
"""A list of runs, a page at a time: one question for every database, in the SQL that all of them speak.

Who only looks at the list of a SQLite file need not load SQLAlchemy, which takes longer than all else that is done then.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from karat.store.location import StoreError, complaint, transaction

FORM = 2
"""The form that the tables of a store have at present; `karat.store.tables` makes it of any older one."""
DAY = len("2026-11-16")
ALL = 1 << 62
"""As many rows as there are."""

Rows = Callable[[str, Mapping[str, Any]], Iterable[Any]]
"""What a database answers to a question with named values (`:name`)."""


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

    @property
    def sql(self) -> str:
        """The condition."""
        return " AND ".join(["true", *(text for name, text in _CONDITIONS.items() if getattr(self, name))])

    @property
    def values(self) -> dict[str, Any]:
        """What the names in the condition stand for."""
        given = {name: value for name, value in vars(self).items() if value}
        if self.metric:
            given |= {"at": self.metric + "@", "called": self.metric + "(", "length": len(self.metric) + 1}
        if self.since:
            given["since"] = _moment(self.since)
        return given | ({"until": _moment(self.until, "T23:59:59.999999")} if self.until else {})


_CONDITIONS = {
    "context": "context = :context",
    "tag": "id IN (SELECT run_id FROM tags WHERE tag = :tag)",
    "without": "id NOT IN (SELECT run_id FROM tags WHERE tag = :without)",
    "metric": "id IN (SELECT run_id FROM scores WHERE metric = :metric OR substr(metric, 1, :length) IN (:at, :called))",
    "since": "created >= :since",
    "until": "created <= :until",
}


def moment(when: datetime) -> str:
    """A moment as the store writes it; texts of one form sort by time."""
    return when.astimezone(UTC).isoformat(timespec="microseconds")


def _moment(text: str, hour: str = "T00:00:00") -> str:
    try:
        date = datetime.fromisoformat(text + hour if len(text) == DAY else text)
    except ValueError:
        raise StoreError(f"{text!r} is no date: write 2026-11-16, or 2026-11-16T12:00") from None
    return moment(date if date.tzinfo else date.replace(tzinfo=UTC))


def count(rows: Rows, wanted: Filter) -> int:
    """How many runs there are."""
    return next(int(n) for (n,) in rows(f"SELECT count(*) FROM runs WHERE {wanted.sql}", wanted.values))


def listed(rows: Rows, wanted: Filter, limit: int | None, offset: int) -> list[Summary]:
    """A page of runs, newest first, in four queries however many they are."""
    page = f"FROM runs WHERE {wanted.sql} ORDER BY created DESC, id LIMIT :limit OFFSET :offset"
    ids, values = f"(SELECT id {page})", {**wanted.values, "limit": ALL if limit is None else limit, "offset": offset}
    runs = [*rows(f"SELECT id, created, context, gold, karat, question, plan {page}", values)]
    names, tags = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for run, name in rows(f"SELECT run_id, name FROM systems WHERE run_id IN {ids} ORDER BY run_id, position", values):
        names[run].append(name)
    for run, tag in rows(f"SELECT run_id, tag FROM tags WHERE run_id IN {ids} ORDER BY run_id, tag", values):
        tags[run].append(tag)
    scores: dict[str, dict[str, list[float | None]]] = defaultdict(dict)
    parts = f"SELECT run_id, metric, value FROM scores WHERE run_id IN {ids} ORDER BY run_id, position"
    for run, metric, value in rows(parts, values):
        scores[run].setdefault(metric, []).append(value)
    return [
        Summary(id, created, context, gold, karat, question, names[id], tags[id], _as_planned(plan, scores[id]))
        for id, created, context, gold, karat, question, plan in runs
    ]


class _Planned(msgspec.Struct):
    metrics: dict[str, msgspec.Raw] = {}


def _as_planned(plan: str, values: dict[str, list[float | None]]) -> dict[str, list[float | None]]:
    """Scores in the order in which the metrics were asked for; tables have none."""
    try:
        order = msgspec.json.decode(plan, type=_Planned).metrics
    except msgspec.DecodeError:  # a damaged run is listed all the same
        order = {}
    return {m: values[m] for m in [*order, *values] if m in values}


def of_file(address: str, wanted: Filter, limit: int | None, offset: int) -> tuple[list[Summary], int] | None:
    """A page of the runs in a SQLite file and how many there are; None where there is no file of the present form."""
    if "://" in address or not Path(address).is_file():
        return None
    with complaint(address), transaction(Path(address)) as connection:
        if _form(connection.execute) != str(FORM):
            return None
        return listed(connection.execute, wanted, limit, offset), count(connection.execute, wanted)


def _form(rows: Callable[[str], Iterable[Any]]) -> str | None:
    tables = {name for (name,) in rows("SELECT name FROM sqlite_master")}
    values = rows("SELECT value FROM settings WHERE name = 'form'") if "settings" in tables else ()
    return next((str(value) for (value,) in values), None)
