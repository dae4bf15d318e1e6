# SPDX-License-Identifier: Apache-2.0
"""The store: save, find, tag, delete, export and import runs."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, select

from karat.evaluation import Evaluation, SystemResult
from karat.provenance import digest, question
from karat.state import StateError, pack, unpack
from karat.store import bundle
from karat.store.database import Database, shown
from karat.store.errors import StoreError
from karat.store.place import place
from karat.store.rows import score_rows
from karat.store.run import Run, Summary
from karat.store.tables import runs, scores, systems, tags

LATEST = "latest"


def open_store(where: str | os.PathLike[str] | None = None, *, create: bool = True) -> Store:
    """The store at a path or URL; by default ``$KARAT_STORE``, the project's ``.karat`` or the user's own."""
    return Store(place(where, create=create))


class Store:
    """Runs in one database. Safe to use from several threads and processes."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._database = Database(address)

    def __repr__(self) -> str:
        return f"Store({shown(self.address)!r})"

    def save(self, evaluation: Evaluation, tags: Iterable[str] = ()) -> Run:
        """Keep the evaluation, whole or not at all."""
        return self._insert(packed(evaluation), list(tags))

    def _insert(self, record: bundle.Record, tag_names: list[str]) -> Run:
        results = [unpack(s.result) for s in record.systems]
        names = [checked_tag(t) for t in dict.fromkeys(tag_names)]
        with self._database.write() as connection:
            connection.execute(runs.insert(), [record.run])
            key = {"run_id": record.run["id"]}
            parts = [key | {"position": i, "name": s.name, "result": s.result, "cells": s.cells} for i, s in enumerate(record.systems)]  # fmt: skip
            connection.execute(systems.insert(), parts)
            rows = [row for i, result in enumerate(results) for row in score_rows(record.run["id"], i, result)]
            if rows:
                connection.execute(scores.insert(), rows)
            if names:
                connection.execute(tags.insert(), [key | {"tag": tag} for tag in names])
        return run_of(record, names)

    def __getitem__(self, name: str) -> Run:
        """The run with this id, the beginning of one, a tag, or ``latest``."""
        with self._database.read() as connection:
            run_id = _resolve(connection, name)
            return run_of(_record(connection, run_id), _tags(connection, run_id))

    def __len__(self) -> int:
        with self._database.read() as connection:
            return len(connection.execute(select(runs.c.id)).all())

    def list(self, *, context: str | None = None, tag: str | None = None, limit: int | None = None) -> list[Summary]:
        """Runs, newest first."""
        wanted = select(*_BRIEF).order_by(runs.c.created.desc(), runs.c.id).limit(limit)
        wanted = wanted.where(runs.c.context == context) if context else wanted
        wanted = wanted.where(runs.c.id.in_(select(tags.c.run_id).where(tags.c.tag == tag))) if tag else wanted
        with self._database.read() as connection:
            return [_summary(connection, row) for row in connection.execute(wanted).all()]

    def tag(self, name: str, *new: str) -> None:
        """Add tags to a run."""
        with self._database.write() as connection:
            run_id = _resolve(connection, name)
            known = set(_tags(connection, run_id))
            rows = [{"run_id": run_id, "tag": checked_tag(t)} for t in dict.fromkeys(new) if t not in known]
            if rows:
                connection.execute(tags.insert(), rows)

    def untag(self, name: str, *old: str) -> None:
        """Take tags from a run."""
        with self._database.write() as connection:
            run_id = _resolve(connection, name)
            connection.execute(tags.delete().where(tags.c.run_id == run_id, tags.c.tag.in_(old)))

    def delete(self, name: str) -> str:
        """Remove a run for good; gives its id."""
        with self._database.write() as connection:
            run_id = _resolve(connection, name)
            for table in (scores, tags, systems):
                connection.execute(table.delete().where(table.c.run_id == run_id))
            connection.execute(runs.delete().where(runs.c.id == run_id))
        return run_id

    def export(self, name: str) -> bytes:
        """A run as one file that another store can import."""
        with self._database.read() as connection:
            run_id = _resolve(connection, name)
            return bundle.write(_record(connection, run_id), _tags(connection, run_id))

    def load(self, data: bytes) -> Run:
        """Import a run from an exported file; one that the store has already is left as it is."""
        record, tag_names = read_record(data)
        with self._database.read() as connection:
            known = connection.execute(select(runs.c.digest).where(runs.c.id == record.run["id"])).scalar()
        if known is None:
            return self._insert(record, tag_names)
        if known != record.run["digest"]:
            raise StoreError(f"the store has another run with the id {record.run['id']}")
        return self[record.run["id"]]

    def close(self) -> None:
        self._database.close()


_BRIEF = (runs.c.id, runs.c.created, runs.c.context, runs.c.gold, runs.c.karat, runs.c.question)


def read_record(data: bytes) -> tuple[bundle.Record, list[str]]:
    """An exported run, if it is as it was exported."""
    record, tag_names = bundle.read(data)
    if record.run.get("digest") != record_digest(record.run, record.systems):
        raise StoreError("the exported run was changed after it was written: its contents do not match their hash")
    return record, tag_names


def packed(evaluation: Evaluation) -> bundle.Record:
    """An evaluation as the store keeps it, under a new id."""
    parts = [
        bundle.Part(s.name, pack(replace(s, cells=None)), pack(s.cells))  # type: ignore[arg-type]
        for s in evaluation.systems
    ]
    plan, provenance = _json(evaluation.plan), _json(evaluation.provenance)
    gold = next((i["path"] for i in evaluation.provenance["inputs"] if i["role"] == "gold"), "")
    run = {
        "id": secrets.token_hex(6), "created": datetime.now(UTC).isoformat(timespec="microseconds"),
        "context": evaluation.context, "gold": gold, "karat": evaluation.provenance["versions"]["karat"],
        "question": question(evaluation), "plan": plan, "provenance": provenance,
        "texts": pack(evaluation.texts) if evaluation.texts else None,
    }  # fmt: skip
    return bundle.Record(run | {"digest": record_digest(run, parts)}, parts)


def record_digest(run: dict[str, Any], parts: Sequence[bundle.Part]) -> str:
    """Hash of everything that a run holds."""
    said = [run["id"], run["context"], run["plan"], run["provenance"], *([run["texts"]] if run.get("texts") else [])]
    return digest([said, [[p.name, p.result, p.cells] for p in parts]])


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def checked_tag(tag: str) -> str:
    """A tag that can be told from an id."""
    if not tag or tag == LATEST or len(tag) > 128 or tag != tag.strip():
        raise StoreError(f"{tag!r} cannot be a tag: use up to 128 characters, no blanks around it, and not {LATEST!r}")
    return tag


def _resolve(connection: Connection, name: str) -> str:
    """The id of the run that ``name`` means; a tag of several runs means the newest of them."""
    newest = select(runs.c.id).order_by(runs.c.created.desc(), runs.c.id)
    if name == LATEST:
        found = connection.execute(newest.limit(1)).scalars().all()
    else:
        found = connection.execute(newest.where(runs.c.id == name)).scalars().all()
        found = found or connection.execute(newest.where(runs.c.id.in_(_tagged(name))).limit(1)).scalars().all()
        found = found or _beginning(connection, name)
    if not found:
        raise StoreError(f"there is no run {name!r} in the store; `karat runs list` shows them")
    if len(found) > 1:
        raise StoreError(f"{name!r} begins the ids of {len(found)} runs: {', '.join(found[:5])}; give more of it")
    return str(found[0])


def _tagged(tag: str) -> Any:
    return select(tags.c.run_id).where(tags.c.tag == tag)


def _beginning(connection: Connection, name: str) -> Sequence[str]:
    if len(name) < 4 or set(name) - set("0123456789abcdef"):
        return []
    return connection.execute(select(runs.c.id).where(runs.c.id.like(name + "%"))).scalars().all()


def _tags(connection: Connection, run_id: str) -> list[str]:
    found = connection.execute(select(tags.c.tag).where(tags.c.run_id == run_id).order_by(tags.c.tag))
    return [str(t) for t in found.scalars()]


def _summary(connection: Connection, row: Row[Any]) -> Summary:
    names = select(systems.c.name).where(systems.c.run_id == row.id).order_by(systems.c.position)
    values: dict[str, list[float | None]] = {}
    wanted = select(scores.c.metric, scores.c.value).where(scores.c.run_id == row.id).order_by(scores.c.position)
    for metric, value in connection.execute(wanted):
        values.setdefault(metric, []).append(value)
    return Summary(
        **row._mapping, systems=list(connection.execute(names).scalars()), tags=_tags(connection, row.id), scores=values
    )


def _record(connection: Connection, run_id: str) -> bundle.Record:
    run = connection.execute(runs.select().where(runs.c.id == run_id)).mappings().one()
    parts = connection.execute(systems.select().where(systems.c.run_id == run_id).order_by(systems.c.position))
    return bundle.Record(dict(run), [bundle.Part(p.name, bytes(p.result), bytes(p.cells)) for p in parts])


def run_of(record: bundle.Record, tag_names: list[str]) -> Run:
    plan, provenance = (msgspec.json.decode(record.run[k]) for k in ("plan", "provenance"))
    evaluation = Evaluation(
        record.run["context"], [_system(p) for p in record.systems], plan, provenance, _texts(record)
    )
    whole = record.run["digest"] == record_digest(record.run, record.systems)
    return Run(record.run["id"], tag_names, record.run["digest"], evaluation, whole)


def _texts(record: bundle.Record) -> dict[str, str] | None:
    packed_texts = record.run.get("texts")
    return unpack(packed_texts) if packed_texts else None


def _system(part: bundle.Part) -> SystemResult:
    try:
        result: SystemResult = unpack(part.result)
        return replace(result, cells=unpack(part.cells))
    except StateError as error:
        raise StoreError(f"system {part.name!r} cannot be read: {error}") from error
