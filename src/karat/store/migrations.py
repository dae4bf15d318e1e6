# SPDX-License-Identifier: Apache-2.0
"""From any older form of a store to the present one, a step at a time and all in one transaction."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from sqlalchemy import Connection, inspect, select, text

from karat.state import StateError, unpack
from karat.store.errors import StoreError
from karat.store.rows import score_rows
from karat.store.tables import metadata, runs, scores, settings, systems, tags

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

FORM = len(STEPS)


def form_of(connection: Connection) -> int:
    """The form that the store has; 0 for an empty database."""
    if not inspect(connection).has_table("settings"):
        return 0
    found = connection.execute(settings.select().where(settings.c.name == "form")).first()
    if found is None or not str(found.value).isdecimal():
        raise StoreError("the store does not say which form it has: it is damaged, or not karat's; name another")
    return int(found.value)


def migrate(connection: Connection, to: int = FORM) -> None:
    """Bring the store to form ``to``; one of a newer karat is refused, never changed."""
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SELECT pg_advisory_xact_lock({LOCK})"))
    found = form_of(connection)
    if found > FORM:
        raise StoreError(
            f"the store was written by a newer karat (form {found}, this one knows {FORM}); upgrade karat to open it"
        )
    if found == 0:
        _refuse_others(connection)
    for step in STEPS[found:to]:
        step(connection)
    if found < to:
        _set_form(connection, to)


def _refuse_others(connection: Connection) -> None:
    """A file that another program uses is no place for a store, nor is a server's database with tables named as ours."""
    found = set(inspect(connection).get_table_names())
    strange = sorted(found if connection.dialect.name == "sqlite" else found & set(metadata.tables))
    if strange:
        raise StoreError(f"another program keeps its tables here ({', '.join(strange[:3])}); name another store")


def _set_form(connection: Connection, form: int) -> None:
    connection.execute(settings.delete().where(settings.c.name == "form"))
    connection.execute(settings.insert(), [{"name": "form", "value": str(form)}])
