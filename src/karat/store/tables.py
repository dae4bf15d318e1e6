# SPDX-License-Identifier: Apache-2.0
"""The tables of a store, and the way from any older form of them to the present one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    func,
    inspect,
    select,
)

from karat.evaluation import SystemResult
from karat.state import StateError, unpack
from karat.store.listing import FORM
from karat.store.location import StoreError

metadata = MetaData()

_RUN = ("runs.id",)

settings = Table(
    "settings", metadata, Column("name", String(64), primary_key=True), Column("value", Text, nullable=False)
)

runs = Table(
    "runs",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("created", String(40), nullable=False, index=True),
    Column("context", String(64), nullable=False),
    Column("gold", Text, nullable=False),
    Column("karat", String(32), nullable=False),
    Column("question", String(16), nullable=False, index=True),
    Column("plan", Text, nullable=False),
    Column("provenance", Text, nullable=False),
    Column("digest", String(32), nullable=False),
    Column("texts", LargeBinary),
)

systems = Table(
    "systems",
    metadata,
    Column("run_id", ForeignKey(*_RUN, ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("result", LargeBinary, nullable=False),
    Column("cells", LargeBinary, nullable=False),
)

tags = Table(
    "tags",
    metadata,
    Column("run_id", ForeignKey(*_RUN, ondelete="CASCADE"), primary_key=True),
    Column("tag", String(128), primary_key=True),
)

scores = Table(
    "scores",
    metadata,
    Column("run_id", ForeignKey(*_RUN, ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("metric", String(255), primary_key=True),
    Column("value", Float),
    Column("low", Float),
    Column("high", Float),
)

Index("scores_by_metric", scores.c.metric, scores.c.value)


def score_rows(run_id: str, position: int, result: SystemResult) -> list[dict[str, Any]]:
    """One row per score."""
    return [
        {
            "run_id": run_id, "position": position, "metric": str(score.metric), "value": score.value,
            "low": score.interval.low if score.interval else None, "high": score.interval.high if score.interval else None,
        }
        for score in result
    ]  # fmt: skip


LOCK = 0x6B61726174
"""Number of the advisory lock under which a PostgreSQL store is migrated."""


def _first(connection: Connection) -> None:
    """Form 1: runs with their systems and tags."""
    for table in (settings, runs, systems, tags):
        table.create(connection)


def _scores(connection: Connection) -> None:
    """Form 2: scores in a table of their own, so that leaderboards need not unpack results."""
    scores.create(connection)
    for part in connection.execute(select(systems.c.run_id, systems.c.position, systems.c.result)):
        with suppress(StateError):  # one damaged run, which says so when it is read, must not lock up the others
            rows = score_rows(part.run_id, part.position, unpack(part.result))
            connection.execute(scores.insert(), rows) if rows else None


STEPS: list[Callable[[Connection], None]] = [_first, _scores]
"""Step ``i`` makes form ``i + 1``; steps are added at the end and never changed."""
assert len(STEPS) == FORM


def form_of(connection: Connection) -> int:
    """The form that the store has; 0 for an empty database."""
    if not inspect(connection).has_table("settings"):
        return 0
    row = connection.execute(settings.select().where(settings.c.name == "form")).first()
    if row is None or not str(row.value).isdecimal():
        raise StoreError("the store does not say which form it has: it is damaged, or not karat's; name another")
    return int(row.value)


def migrate(connection: Connection, to: int = FORM) -> None:
    """Bring the store to form ``to``; one of a newer karat is refused, never changed."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(LOCK)))
    form = form_of(connection)
    if form > FORM:
        raise StoreError(
            f"the store was written by a newer karat (form {form}, this one knows {FORM}); upgrade karat to open it"
        )
    if form == 0:
        _refuse_others(connection)
    for step in STEPS[form:to]:
        step(connection)
    if form < to:
        _set_form(connection, to)


def _refuse_others(connection: Connection) -> None:
    """A file that another program uses is no place for a store, nor is a server's database with tables named as ours."""
    tables = set(inspect(connection).get_table_names())
    strange = sorted(tables if connection.dialect.name == "sqlite" else tables & set(metadata.tables))
    if strange:
        raise StoreError(f"another program keeps its tables here ({', '.join(strange[:3])}); name another store")


def _set_form(connection: Connection, form: int) -> None:
    connection.execute(settings.delete().where(settings.c.name == "form"))
    connection.execute(settings.insert(), [{"name": "form", "value": str(form)}])
