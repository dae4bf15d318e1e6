# SPDX-License-Identifier: Apache-2.0
"""Which run: by what people call one, its id, the beginning of one, a tag, or ``latest``."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from sqlalchemy import Connection, select

from karat.store.errors import StoreError
from karat.store.tables import runs, tags

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
