# SPDX-License-Identifier: Apache-2.0
"""One request: who asks, what is asked, and the answer to it."""

from __future__ import annotations

import hmac
import re
import secrets
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import IO, Any
from urllib.parse import urlencode

import msgspec
from sqlalchemy import Connection, select
from starlette.datastructures import FormData, UploadFile
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from karat.store import Run, StoreError
from karat.store.tables import runs
from karat.web import benchmarks, people, submissions
from karat.web.benchmarks import Benchmark
from karat.web.files import shown_name
from karat.web.people import LOCAL, NOBODY, Person
from karat.web.problems import Problem, invalid, missing, refused
from karat.web.server import Server, csrf
from karat.web.submissions import Submission
from karat.web.tables import HIDDEN

COOKIE = "karat"
LARGEST_FIELD = 8 << 20
"""Bytes of a field of a form that is no file, such as pasted text, and of JSON."""
STRANGERS_BYTES = 65_536
"""Bytes that somebody without a token may send."""
OPEN_FORMS = ("/sign-in", "/sign-out")
"""Forms of those who have no session."""
SAFE = ("GET", "HEAD", "OPTIONS")
READERS = ("admin", "organiser", "reader")
MAKERS = ("admin", "organiser")


@dataclass
class Ask:
    """A request with what was read of it."""

    request: Request
    server: Server
    person: Person = NOBODY
    cookie: str = ""
    form: FormData = field(default_factory=FormData)
    body: IO[bytes] | None = None
    """What was sent, where it is not a form."""

    @property
    def address(self) -> str:
        return self.request.client.host if self.request.client else "?"

    def part(self, name: str) -> str:
        """A part of the path."""
        return str(self.request.path_params[name])

    def query(self, name: str, otherwise: str = "") -> str:
        return self.request.query_params.get(name, otherwise).strip()

    def several(self, name: str, split: bool = True) -> list[str]:
        """A parameter that may be given several times; with ``split``, also several at once with commas."""
        given = self.request.query_params.getlist(name)
        return [word.strip() for text in given for word in (text.split(",") if split else [text]) if word.strip()]

    def number(self, name: str, otherwise: int, most: int = 1_000_000) -> int:
        """A whole number of the query."""
        text = self.query(name)
        if not text:
            return otherwise
        if not text.isascii() or not text.isdecimal() or len(text) > 9 or int(text) > most:
            raise invalid(f"{name} must be a whole number from 0 to {most:,}.")
        return int(text)

    def entry(self, name: str) -> str:
        """A field of the form."""
        value = self.form.get(name, "")
        return plain(value).strip() if isinstance(value, str) else ""

    def listed(self, name: str) -> list[str]:
        """A field of the form that may be given several times."""
        given = (plain(v).strip() for v in self.form.getlist(name) if isinstance(v, str))
        return [v for v in given if v]

    def uploads(self, name: str) -> list[tuple[str, IO[bytes]]]:
        """Files of the form under one name, with what the visitor calls them."""
        files = [f for f in self.form.getlist(name) if isinstance(f, UploadFile) and (f.filename or f.size)]
        return [(shown_name(f.filename), f.file) for f in files]

    @property
    def csrf(self) -> str:
        return csrf(self.cookie)

    def url(self, path: str, **query: Any) -> str:
        """An address of this server."""
        given = {k: v for k, v in query.items() if v not in ("", None, [])}
        return self.server.at(path) + (f"?{urlencode(given, doseq=True)}" if given else "")

    def here(self, **query: Any) -> str:
        """This address with some of its query changed."""
        old = {k: self.request.query_params.getlist(k) for k in self.request.query_params}
        return self.url(self.request.url.path, **(old | query))

    # what the visitor may do

    def note(self, connection: Connection, action: str, subject: str) -> None:
        """A line of the audit log."""
        people.note(connection, self.person, self.address, action, subject)

    def must_be(self, *roles: str) -> None:
        if self.person.role in roles:
            return
        if self.person is NOBODY:
            raise Problem(401, "unknown", "Please sign in", "This is shown to people with a token.", WWW_Authenticate="Bearer")  # fmt: skip
        raise refused(f"This needs the role {' or '.join(roles)}; yours is {self.person.role}.")

    def organised(self, id: str) -> Benchmark:
        """A benchmark that this visitor organises."""
        benchmark = self.seen_benchmark(id)
        if not benchmarks.organises(self.person, benchmark):
            self.must_be("admin") if self.person is NOBODY else None
            raise refused("This is for the organisers of the benchmark.")
        return benchmark

    def seen_benchmark(self, id: str) -> Benchmark:
        """A benchmark that this visitor may know of: a participant knows one, and what others there are takes no longer."""
        if self.person.role == "participant" and id != self.person.benchmark:
            raise missing("benchmark")
        with self.server.store.transaction() as connection:
            return benchmarks.find(connection, id)

    def seen_submission(self, id: str) -> tuple[Submission, Benchmark]:
        """A submission of this visitor's own team, or of a benchmark that the visitor organises."""
        team = self.person.id if self.person.role not in MAKERS else None
        with self.server.store.transaction() as connection:
            sent = submissions.find(connection, id, team=team)
            benchmark = benchmarks.find(connection, sent.benchmark)
        if team is None and not benchmarks.organises(self.person, benchmark):
            raise missing("submission")
        return sent, benchmark

    def seen_run(self, name: str) -> Run:
        """A run that this visitor may see; one against hidden gold is its organisers' alone.

        A run that is hidden and one that is not there take the same two questions to the store.
        """
        self.must_be(*READERS)
        id = name if re.fullmatch("[0-9a-f]{12}", name) else self._called(name)
        with self.server.store.transaction() as connection:
            known = connection.execute(select(runs.c.id).where(runs.c.id == id)).scalar()
            hiding = submissions.benchmarks_of_run(connection, id)
            if not known or any(not benchmarks.organises(self.person, b) for b in hiding):
                raise missing("run")
        run = self.server.run(id)
        if HIDDEN in run.tags and not hiding and self.person.role != "admin":
            raise missing("run")  # left behind by an import that broke off
        return run

    def _called(self, name: str) -> str:
        """The id of a run by the beginning of it, a tag or ``latest``."""
        try:
            return self.server.store.id_of(name)
        except StoreError:
            raise missing("run") from None


Handler = Callable[[Ask], Response]


def page(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """A handler of pages: forms must come from a page of ours."""
    return _endpoint(handler, _from_our_form)


def call(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """A handler of REST calls: tokens in the header, or a browser on a page of ours."""
    return _endpoint(handler, _from_our_pages)


def _endpoint(handler: Handler, checked: Callable[[Ask], None]) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        server: Server = request.scope["karat.server"]
        ask = Ask(request, server)
        try:
            _plain_address(request)
            if request.method in SAFE:
                return await server.reading(_read_by, handler, ask)
            await server.reading(_identify, ask)
            server.rates.spend("write", ask.person.id or ask.address, server.limits.writes)
            _may_send(ask)
            await _read(ask)
            checked(ask)
            return await server.writing(handler, ask)
        finally:
            await ask.form.close()
            if ask.body:
                ask.body.close()

    return endpoint


def _read_by(handler: Handler, ask: Ask) -> Response:
    _identify(ask)
    return handler(ask)


def _plain_address(request: Request) -> None:
    """No text that a database cannot hold is looked for in one."""
    for text in (request.url.path, *request.path_params.values(), *request.query_params.values()):
        if str(text) != plain(str(text)):
            raise Problem(400, "bad-text", "The address holds what is no text")


def _may_send(ask: Ask) -> None:
    """A stranger sends a token and no more: files of those who may do nothing are not even read."""
    if ask.person is not NOBODY:
        return
    if ask.request.url.path not in OPEN_FORMS:
        ask.must_be("participant")
    ask.request.state.most = STRANGERS_BYTES


def _identify(ask: Ask) -> None:
    """Who asks: the holder of a token, a signed-in browser, or the owner of the machine."""
    scheme, _, secret = ask.request.headers.get("authorization", "").partition(" ")
    ask.cookie = ask.request.cookies.get(COOKIE, "")
    fresh = not 20 <= len(ask.cookie) <= 64
    if fresh:
        ask.cookie = secrets.token_urlsafe(32)
        ask.request.state.cookie = ask.cookie
    person: Person | None = None
    if scheme:
        with ask.server.store.transaction() as connection:
            person = people.holder(connection, secret.strip()) if scheme.lower() == "bearer" else None
        if person is None:
            ask.server.rates.spend("login", ask.address, ask.server.limits.logins)
            raise Problem(401, "unknown", "This token is not known", "It may have been revoked; ask for another.", WWW_Authenticate="Bearer")  # fmt: skip
    elif not ask.server.accounts:
        person = LOCAL
    elif not fresh:
        with ask.server.store.transaction() as connection:
            person = people.of_session(connection, ask.cookie)
    ask.person = ask.request.state.person = person or NOBODY


async def _read(ask: Ask) -> None:
    """The body: a form, or bytes on disk."""
    kind = ask.request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        if kind in ("multipart/form-data", "application/x-www-form-urlencoded"):
            ask.form = await _form(ask.request)
            return
        ask.body = tempfile.TemporaryFile(prefix="karat-")  # noqa: SIM115 (closed with the request)
        async for block in ask.request.stream():
            ask.body.write(block)
        ask.body.seek(0)
    except ClientDisconnect:
        raise Problem(400, "cut-off", "The request was cut off") from None


async def _form(request: Request) -> FormData:
    try:
        return await request.form(max_files=100, max_fields=500, max_part_size=LARGEST_FIELD)
    except (ValueError, LookupError, RecursionError):  # a character set or a form of which nobody can make sense
        raise Problem(400, "bad-form", "The form cannot be read") from None


def plain(text: str) -> str:
    """Text that every database and every answer can hold: no NUL, no half of a character."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _from_our_form(ask: Ask) -> None:
    _from_our_pages(ask)
    if not hmac.compare_digest(ask.entry("csrf").encode(), ask.csrf.encode()):
        raise refused("The form has grown old, or comes from another site: open the page again and send it from there.")


def _from_our_pages(ask: Ask) -> None:
    """No page of another site may act for the visitor: browsers say where a request comes from."""
    if ask.request.headers.get("sec-fetch-site", "none") in ("cross-site", "same-site"):
        raise refused("The request comes from a page of another site.")
    origin = ask.request.headers.get("origin")
    if origin is not None and origin.partition("://")[2] != ask.request.headers.get("host", ""):
        raise refused("The request comes from a page of another site.")


def json_body(ask: Ask) -> dict[str, Any]:
    """The body as a JSON object."""
    try:
        return json_object((ask.body.read(LARGEST_FIELD + 1) if ask.body else b"") or b"{}")
    except ValueError as error:
        raise Problem(400, "bad-json", "The body is not JSON", str(error)[:200]) from None


def json_object(text: bytes) -> dict[str, Any]:
    """A JSON object whose texts every database can hold."""
    if len(text) > LARGEST_FIELD:
        raise Problem(413, "too-large", "This is more than the server takes", f"JSON has at most {LARGEST_FIELD:,} bytes.")  # fmt: skip
    try:
        value = msgspec.json.decode(text)
    except RecursionError:
        raise invalid("The JSON is nested too deeply.") from None
    if not isinstance(value, dict):
        raise invalid("This must be a JSON object.")
    if re.search(rb"(?<!\\)(\\\\)*\\u0000", text):
        raise invalid("A text must not hold the character NUL.")
    return value
