# SPDX-License-Identifier: Apache-2.0
"""Signing in and out, tokens of the whole server, and the audit log."""

from __future__ import annotations

from sqlalchemy import Connection
from starlette.responses import RedirectResponse, Response

from karat.report.rows import Grid
from karat.web import people, tables
from karat.web.asking import Ask
from karat.web.pages.downloads import MOST, asked_form, table_download
from karat.web.problems import missing
from karat.web.showing import html

PAGE = 50
PEOPLE = 25


def sign_in_form(ask: Ask, wrong: bool = False) -> Response:
    return html(ask, "sign_in.html", 401 if wrong else 200, wrong=wrong, then=_inside(ask.query("then")))


def _inside(path: str) -> str:
    """A place on this server to go on to."""
    return path if path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() else "/"


def sign_in(ask: Ask) -> Response:
    """A browser shows a token, and gets a session."""
    ask.server.rates.spend("login", ask.address, ask.server.limits.logins)
    with ask.server.store.transaction(write=True) as connection:
        person = people.holder(connection, ask.entry("token"))
        people.note(connection, person or ask.person, ask.address, "sign in" if person else "sign in refused", "")
        secret = people.open_session(connection, person) if person else ""
    if not secret:
        return sign_in_form(ask, wrong=True)
    then = _inside(ask.entry("then"))
    if then == "/" and person and person.benchmark:
        then = f"/benchmarks/{person.benchmark}"
    ask.request.state.cookie = secret
    return RedirectResponse(ask.url(then), 303)


def sign_out(ask: Ask) -> Response:
    with ask.server.store.transaction(write=True) as connection:
        people.close_session(connection, ask.cookie)
    response = RedirectResponse(ask.url("/"), 303)
    response.delete_cookie("karat", path=ask.server.root or "/")
    return response


def tokens(ask: Ask, secret: str = "", whose: str = "") -> Response:
    """Everybody who may use the server, for administrators."""
    ask.must_be("admin")
    page, at = max(ask.number("page", 1, 100_000), 1), max(ask.number("people", 1, 100_000), 1)
    form = asked_form(ask)
    with ask.server.store.transaction() as connection:
        if form:
            return _file(connection, form, ask.query("table"))
        listed, total = people.listed(connection, None, PEOPLE, PEOPLE * (at - 1))
        log = tables.audit.select().order_by(tables.audit.c.id.desc()).limit(PAGE).offset(PAGE * (page - 1))
        lines = connection.execute(log).all()
    return html(
        ask, "tokens.html", people=listed, total=total, at=at, most=PEOPLE, secret=secret, whose=whose, lines=lines, page=page,
        roles=[r for r in people.ROLES if r != "participant"], size=PAGE,
    )  # fmt: skip


def _file(connection: Connection, form: str, table: str) -> Response:
    """People, or the audit log, as a file."""
    if table == "audit":
        rows = connection.execute(tables.audit.select().order_by(tables.audit.c.id.desc()).limit(MOST)).all()
        head = ["moment", "who", "address", "action", "subject"]
        return table_download(Grid("Audit log", head, [[str(getattr(r, h)) for h in head] for r in rows]), form, table)
    everybody, _ = people.listed(connection, None, MOST)
    head = ["id", "name", "role", "benchmark", "created", "revoked"]
    return table_download(
        Grid("People", head, [[str(getattr(p, h) or "") for h in head] for p in everybody]), form, "people"
    )


def tokens_change(ask: Ask) -> Response:
    """Make, renew or revoke a token."""
    ask.must_be("admin")
    what, whose, secret = ask.entry("what"), ask.entry("person"), ""
    with ask.server.store.transaction(write=True) as connection:
        if what == "invite":
            person, secret = people.invite(connection, ask.entry("role"), ask.entry("name"))
            whose = person.name
        elif what in ("renew", "revoke"):
            known = people.find(connection, whose)
            if known is None:
                raise missing("token")
            people.not_own(ask.person, known.id) if what == "revoke" else None
            secret = people.renew(connection, whose) if what == "renew" else ""
            people.revoke(connection, whose) if what == "revoke" else None
            whose = known.name
        else:
            raise missing("form")
        ask.note(connection, f"{what} token", whose)
    return tokens(ask, secret, whose) if secret else RedirectResponse(ask.url("/tokens"), 303)
