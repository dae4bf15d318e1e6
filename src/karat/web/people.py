# SPDX-License-Identifier: Apache-2.0
"""Who may do what: tokens of 256 random bits, which are shown once and stored hashed, and sessions of browsers."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, func, select

from karat.store.listing import moment
from karat.web import tables
from karat.web.problems import Problem, invalid, missing

ROLES = ("admin", "organiser", "participant", "reader")
PREFIX = "karat_"
SESSION = timedelta(days=14)


@dataclass(frozen=True)
class Person:
    """A token's holder."""

    id: str
    role: str
    name: str
    benchmark: str = ""
    """The only benchmark that a participant knows."""
    created: str = ""
    revoked: str | None = None


LOCAL = Person("local", "admin", "you")
"""Whoever uses a server that is open to its own machine alone."""
NOBODY = Person("", "nobody", "")


def hashed(secret: str) -> str:
    """A secret as it is stored; it is as long as its hash, so that no salt is needed."""
    return hashlib.sha256(secret.encode()).hexdigest()


def invite(connection: Connection, role: str, name: str, benchmark: str = "") -> tuple[Person, str]:
    """A new token, and the text that is shown this once."""
    name = checked_name(name)
    if role not in ROLES:
        raise invalid(f"{role!r} is no role: choose one of {', '.join(ROLES)}.")
    if (role == "participant") != bool(benchmark):
        raise invalid("A participant belongs to one benchmark, and others to none.")
    taken = tables.tokens.c
    same = select(taken.id).where(taken.benchmark == benchmark, taken.name == name, taken.revoked.is_(None))
    if benchmark and connection.execute(same).first():
        raise invalid(f"There is a team {name!r} already; renew its token instead.")
    secret = PREFIX + secrets.token_urlsafe(32)
    person = Person(secrets.token_hex(6), role, name, benchmark, tables.now())
    connection.execute(tables.tokens.insert(), [vars(person) | {"digest": hashed(secret)}])
    return person, secret


def renew(connection: Connection, person: str) -> str:
    """Another token for the same person; the old one is worth nothing from now on."""
    secret = PREFIX + secrets.token_urlsafe(32)
    _change(connection, person, digest=hashed(secret), revoked=None)
    return secret


def revoke(connection: Connection, person: str) -> None:
    """Take a token back, and end the sessions that it opened."""
    _change(connection, person, revoked=tables.now())


def not_own(who: Person, person: str) -> None:
    """Nobody locks himself out."""
    if person == who.id:
        raise Problem(409, "own-token", "This is your own token", "Have another administrator revoke it.")


def _change(connection: Connection, person: str, **values: str | None) -> None:
    done = connection.execute(tables.tokens.update().where(tables.tokens.c.id == person).values(**values))
    if not done.rowcount:
        raise missing("token")
    connection.execute(tables.sessions.delete().where(tables.sessions.c.token == person))


def checked_name(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > 64 or not name.isprintable():
        raise invalid("A name has 1 to 64 characters.")
    return name


def holder(connection: Connection, secret: str) -> Person | None:
    """Whose token this is. Found by its hash, so that the time it takes says nothing of other tokens."""
    row = connection.execute(tables.tokens.select().where(tables.tokens.c.digest == hashed(secret))).first()
    if row is None or row.revoked or not hmac.compare_digest(row.digest, hashed(secret)):
        return None
    return Person(row.id, row.role, row.name, row.benchmark, row.created)


def find(connection: Connection, person: str) -> Person | None:
    row = connection.execute(tables.tokens.select().where(tables.tokens.c.id == person)).first()
    return row and Person(row.id, row.role, row.name, row.benchmark, row.created, row.revoked)


def listed(
    connection: Connection, benchmark: str | None = None, limit: int | None = None, offset: int = 0
) -> tuple[Sequence[Person], int]:
    """A page of all tokens, or of a benchmark's, newest first; and how many there are."""
    table = tables.tokens
    here = [] if benchmark is None else [table.c.benchmark == benchmark]
    wanted = table.select().where(*here).order_by(table.c.created.desc(), table.c.id)
    rows = connection.execute(wanted.limit(limit).offset(offset))
    total = connection.execute(select(func.count()).select_from(table).where(*here)).scalar_one()
    return [Person(r.id, r.role, r.name, r.benchmark, r.created, r.revoked) for r in rows], total


def has_admin(connection: Connection) -> bool:
    table = tables.tokens
    wanted = select(table.c.id).where(table.c.role == "admin", table.c.revoked.is_(None)).limit(1)
    return connection.execute(wanted).first() is not None


def open_session(connection: Connection, person: Person) -> str:
    """A session of a browser: the value of its cookie."""
    secret = secrets.token_urlsafe(32)
    expires = moment(datetime.now(UTC) + SESSION)
    connection.execute(tables.sessions.delete().where(tables.sessions.c.expires < tables.now()))
    connection.execute(tables.sessions.insert(), [{"digest": hashed(secret), "token": person.id, "expires": expires}])
    return secret


def close_session(connection: Connection, secret: str) -> None:
    connection.execute(tables.sessions.delete().where(tables.sessions.c.digest == hashed(secret)))


def of_session(connection: Connection, secret: str) -> Person | None:
    """Whose session this is, if it has not ended."""
    sessions, tokens = tables.sessions, tables.tokens
    wanted = select(tokens).join(sessions, sessions.c.token == tokens.c.id)
    row = connection.execute(
        wanted.where(sessions.c.digest == hashed(secret), sessions.c.expires > tables.now(), tokens.c.revoked.is_(None))
    ).first()
    return row and Person(row.id, row.role, row.name, row.benchmark, row.created)


def note(connection: Connection, who: Person, address: str, action: str, subject: str) -> None:
    """A line of the audit log."""
    line = {
        "moment": tables.now(), "who": f"{who.id} {who.name}".strip() or "nobody", "address": address,
        "action": action, "subject": subject[:255],
    }  # fmt: skip
    connection.execute(tables.audit.insert(), [line])
