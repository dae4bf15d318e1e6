# SPDX-License-Identifier: Apache-2.0
"""The store: save, find, tag, delete, export and import runs."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from sqlalchemy import Connection, select, text

from karat.evaluation import Evaluation
from karat.metric import MetricError
from karat.state import unpack
from karat.store import bundle
from karat.store.database import Database, copy
from karat.store.listing import Filter, Rows, Summary, count, listed
from karat.store.location import StoreError, place, shown
from karat.store.record import Part, Record, derived, is_whole, packed, run_of
from karat.store.run import Run
from karat.store.tables import runs, score_rows, scores, systems, tags
from karat.store.verification import numbers


def open_store(where: str | os.PathLike[str] | None = None, *, create: bool = True, pooled: bool = False) -> Store:
    """The store at a path or URL; by default ``$KARAT_STORE``, the project's ``.karat`` or the user's own.

    Without ``create`` nothing is made where there is no store yet: the first question to it says so. ``pooled`` keeps
    its file open until it is closed, as one does who asks many questions.
    """
    return Store(place(where, create=create), create=create, pooled=pooled)


class Store:
    """Runs in one database. Safe to use from several threads and processes."""

    def __init__(self, address: str, *, create: bool = True, pooled: bool = False) -> None:
        self.address = address
        self._database = Database(address, create, pooled)

    def __repr__(self) -> str:
        return f"Store({str(self)!r})"

    def __str__(self) -> str:
        """Where it is, without a password."""
        return shown(self.address)

    def transaction(self, *, write: bool = False) -> AbstractContextManager[Connection]:
        """The store's database for a moment, for those who keep tables of their own beside the runs."""
        return self._database.write() if write else self._database.read()

    def save(
        self,
        evaluation: Evaluation,
        tags: Iterable[str] = (),
        within: Callable[[Connection, str], None] | None = None,
    ) -> Run:
        """Keep the evaluation, whole or not at all.

        ``within`` is called with the transaction and the run's id: what it writes is kept with the run, and what it
        raises undoes both.
        """
        return self._insert(packed(evaluation), list(tags), within)

    def _insert(
        self, record: Record, tag_names: list[str], within: Callable[[Connection, str], None] | None = None
    ) -> Run:
        run_id, names = record.run["id"], [checked_tag(t) for t in dict.fromkeys(tag_names)]
        parts = [{"run_id": run_id, "position": i} | vars(part) for i, part in enumerate(record.systems)]
        rows = [row for i, s in enumerate(record.systems) for row in score_rows(run_id, i, unpack(s.result))]
        with self._database.write() as connection:
            connection.execute(runs.insert(), [record.run])
            connection.execute(systems.insert(), parts)
            if rows:
                connection.execute(scores.insert(), rows)
            if names:
                connection.execute(tags.insert(), [{"run_id": run_id, "tag": tag} for tag in names])
            if within:
                within(connection, run_id)
        return run_of(record, names)

    def __getitem__(self, name: str) -> Run:
        """The run with this id, the beginning of one, a tag, or ``latest``."""
        with self._database.read() as connection:
            run_id = resolve(connection, name)
            return run_of(_record(connection, run_id), _tags(connection, run_id))

    def id_of(self, name: str) -> str:
        """The id of the run that ``name`` means, whether or not the run can be read."""
        with self._database.read() as connection:
            return resolve(connection, name)

    def __len__(self) -> int:
        return self.count()

    def count(self, **wanted: Any) -> int:
        """How many runs there are, of all or of those that `list` would filter."""
        with self._database.read() as connection:
            return count(_rows(connection), Filter(**wanted))

    def list(self, *, limit: int | None = None, offset: int = 0, **wanted: Any) -> list[Summary]:
        """Runs, newest first; a filter has ``context``, ``tag``, ``without`` (a tag), ``metric``, ``since`` and ``until``.

        >>> import tempfile, karat.store
        >>> store = karat.store.open_store(tempfile.mkdtemp() + "/runs.db")
        >>> for tag in ("old", "new"):
        ...     run = store.save(karat.evaluate(["A", "B"], ["A", "A"], metrics=["accuracy"]), tags=[tag])
        >>> [(run.tags, run.scores) for run in store.list(metric="accuracy", limit=1)]
        [(['new'], {'accuracy': [0.5]})]
        >>> store.count(tag="old"), store.count(since="2999-01-01")
        (1, 0)
        """
        with self._database.read() as connection:
            return listed(_rows(connection), Filter(**wanted), limit, offset)

    def tag(self, name: str, *new: str) -> Sequence[str]:
        """Add tags to a run; gives all it has."""
        with self._database.write() as connection:
            run_id = resolve(connection, name)
            known = set(_tags(connection, run_id))
            rows = [{"run_id": run_id, "tag": checked_tag(t)} for t in dict.fromkeys(new) if t not in known]
            if rows:
                connection.execute(tags.insert(), rows)
            return _tags(connection, run_id)

    def untag(self, name: str, *old: str) -> Sequence[str]:
        """Take tags from a run; gives those it keeps."""
        with self._database.write() as connection:
            run_id = resolve(connection, name)
            connection.execute(tags.delete().where(tags.c.run_id == run_id, tags.c.tag.in_(old)))
            return _tags(connection, run_id)

    def delete(self, name: str) -> str:
        """Remove a run for good; gives its id."""
        with self._database.write() as connection:
            run_id = resolve(connection, name)
            for table in (scores, tags, systems):
                connection.execute(table.delete().where(table.c.run_id == run_id))
            connection.execute(runs.delete().where(runs.c.id == run_id))
        return run_id

    def export(self, name: str) -> bytes:
        """A run as one file that another store can import."""
        with self._database.read() as connection:
            run_id = resolve(connection, name)
            record, names = _record(connection, run_id), _tags(connection, run_id)
        if not is_whole(record):
            raise StoreError(f"run {run_id} was altered after it was saved, so that no store would import it")
        return bundle.write(record, names)

    def load(self, data: bytes) -> Run:
        """Import a run from an exported file; one that the store has already is left as it is."""
        record, tag_names = bundle.read(data)
        run = run_of(record, tag_names, bundle.most_unpacked(data))
        _try(run)
        run_id, sure = record.run["id"], derived(run.evaluation)
        with self._database.read() as connection:
            known = connection.execute(select(runs.c.digest).where(runs.c.id == run_id)).scalar()
        if known is None:
            return self._insert(Record(record.run | sure, record.systems), tag_names)
        if known != record.run["digest"]:
            raise StoreError(f"the store has another run with the id {run_id}")
        return self[run_id]

    def backup(self, target: str | os.PathLike[str]) -> int:
        """Copy everything, as it is at one moment, to a SQLite file that is a store itself; gives the rows copied."""
        with self._database.read() as connection:
            return copy(connection, os.fspath(target))

    def close(self) -> None:
        self._database.close()


def _rows(connection: Connection) -> Rows:
    return lambda sql, values: connection.execute(text(sql), values)


def _try(run: Run) -> None:
    """Read the scores and compute them anew, once: a forged file may hold what no counting gives."""
    try:
        numbers(run.evaluation)
        run.evaluate()
    except MetricError:
        return  # a metric of a plug-in that is not installed here
    except Exception as error:
        raise StoreError(f"run {run.id} cannot be scored: {type(error).__name__}: {error}") from error


def _tags(connection: Connection, run_id: str) -> list[str]:
    result = connection.execute(select(tags.c.tag).where(tags.c.run_id == run_id).order_by(tags.c.tag))
    return [str(t) for t in result.scalars()]


def _record(connection: Connection, run_id: str) -> Record:
    run = connection.execute(runs.select().where(runs.c.id == run_id)).mappings().one()
    parts = connection.execute(systems.select().where(systems.c.run_id == run_id).order_by(systems.c.position))
    return Record(dict(run), [Part(p.name, bytes(p.result), bytes(p.cells)) for p in parts])


LATEST = "latest"
SHORTEST = 4
"""Fewest digits of an id that may stand for it."""
NEAR = 2_000
"""Newest runs among which a misspelt name is looked for."""

_NEWEST = select(runs.c.id).order_by(runs.c.created.desc(), runs.c.id)


def resolve(connection: Connection, name: str) -> str:
    """The id of the run that ``name`` means; a tag of several runs means the newest of them."""
    ids = _named(connection, name) or _beginning(connection, name.lower())
    if not ids:
        raise StoreError(f"there is no run {name!r} in the store{_hint(connection, name)}")
    if len(ids) > 1:
        raise StoreError(f"{name!r} begins the ids of {len(ids)} runs: {', '.join(ids[:5])}; give more of it")
    return ids[0]


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
