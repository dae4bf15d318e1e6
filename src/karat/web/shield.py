# SPDX-License-Identifier: Apache-2.0
"""What stands before every request: hosts, sizes, rates; and behind every answer: headers, problems, the log."""

from __future__ import annotations

import asyncio
import errno
import time
import traceback
from typing import Any

import msgspec
from sqlalchemy.exc import DBAPIError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from karat.findings import InputError
from karat.metric import MetricError
from karat.store import StoreError
from karat.web.asking import COOKIE
from karat.web.people import SESSION
from karat.web.problems import Problem
from karat.web.server import Server
from karat.web.showing import problem_page

POLICY = "; ".join(
    [
        "default-src 'none'",
        "style-src 'self'",
        "script-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "x-robots-tag": "noindex",
}
"""On every answer."""
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What an upload meets that is written to a full disk."""


class Shield:
    """The outermost part of the application."""

    def __init__(self, app: ASGIApp, server: Server) -> None:
        self.app, self.server = app, server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        # A proxy may or may not have taken its own path away; "app" makes the router raise what it cannot find.
        scope = {**scope, "path": self._inside(scope["path"]), "karat.server": self.server, "app": self}
        request, began, status = Request(scope), time.perf_counter(), 0
        started = False

        async def answer(message: Message) -> None:
            nonlocal status, started
            if message["type"] == "http.response.start":
                status, started = message["status"], True
                self._dress(request, message)
            await send(message)

        try:
            self._let_in(request)
            await self.app(scope, self._bounded(request, receive), answer)
        except Exception as error:
            if started:
                raise
            await self._problem(request, error)(scope, receive, answer)
        finally:
            self._note(request, status, began)

    def _inside(self, path: str) -> str:
        root = self.server.root
        return path.removeprefix(root) or "/" if root and (path + "/").startswith(root + "/") else path

    def _let_in(self, request: Request) -> None:
        server = self.server
        if not server.accounts:
            host = request.headers.get("host", "")
            name = host[: host.rfind("]") + 1] if host.startswith("[") else host.partition(":")[0]
            if name.lower() not in server.hosts:
                raise Problem(421, "other-host", "This server answers on its own machine only", "Start it with --accounts to serve others.")  # fmt: skip
            if {"forwarded", "x-forwarded-for", "x-forwarded-host"} & set(request.headers):
                raise Problem(403, "proxy", "This server is open and must not stand behind a proxy", "Start it with --accounts.")  # fmt: skip
        size = request.headers.get("content-length", "0")
        if not size.isdecimal() or int(size) > server.limits.upload:
            raise self._too_large()
        if not request.url.path.endswith("/health"):
            server.rates.spend("read", request.client.host if request.client else "?", server.limits.reads)

    def _too_large(self) -> Problem:
        most = self.server.limits.upload
        return Problem(413, "too-large", "This is more than the server takes", f"Send at most {most:,} bytes; files may be packed (.gz, .zst).")  # fmt: skip

    def _bounded(self, request: Request, receive: Receive) -> Receive:
        """Count what comes: a client may say one size and send another."""
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            try:
                message = await asyncio.wait_for(receive(), self.server.limits.patience)
            except TimeoutError:
                raise Problem(408, "too-slow", "The request took too long to arrive") from None
            seen += len(message.get("body", b""))
            if seen > min(self.server.limits.upload, getattr(request.state, "most", seen)):
                raise self._too_large()
            return message

        return counted

    def _dress(self, request: Request, message: Message) -> None:
        given = {name for name, _ in message["headers"]}
        headers = HEADERS | ({} if b"cache-control" in given else {"cache-control": "no-store"})
        cookie = getattr(request.state, "cookie", None)
        if cookie and message["status"] < 500 and b"set-cookie" not in given:
            headers |= {"set-cookie": cookie_header(request, self.server, cookie)}
        message["headers"] = [*message["headers"], *((k.encode(), v.encode()) for k, v in headers.items())]

    def _problem(self, request: Request, error: Exception) -> Response:
        problem = as_problem(error)
        if problem.status >= 500 and self.server.log:
            trace = "".join(traceback.format_exception(error))
            self.server.log({"event": "error", "path": request.url.path, "error": trace})
        return answer_to(request, self.server, problem)

    def _note(self, request: Request, status: int, began: float) -> None:
        if self.server.log:
            line: dict[str, Any] = {"event": "request", "method": request.method, "path": request.url.path}
            line |= {"status": status, "ms": round(1000 * (time.perf_counter() - began), 1)}
            self.server.log(line | {"address": request.client.host if request.client else "?"})


def as_problem(error: Exception) -> Problem:
    """Any error as what a visitor may know of it: never a path, a trace or what was in a file."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, InputError):
        return Problem(422, "findings", "The files cannot be evaluated", "", error.findings)
    if isinstance(error, HTTPException):
        known = {404: "There is no such page", 405: "This cannot be done here", 400: "The request cannot be read"}
        title = known.get(error.status_code, "This cannot be done")
        problem = Problem(error.status_code, "http", title)
        problem.headers |= error.headers or {}
        return problem
    if isinstance(error, StoreError) and isinstance(error.__cause__, DBAPIError):
        return Problem(503, "store", "The store cannot be used at the moment", "Nothing was changed; try again in a while.", Retry_After="10")  # fmt: skip
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        return Problem(503, "no-room", "The server has no room for this at the moment", "Nothing was changed; try again in a while.", Retry_After="60")  # fmt: skip
    if isinstance(error, MetricError):
        return Problem(422, "invalid", "This cannot be computed", str(error))
    return Problem(500, "internal", "The server failed", "This is a fault of karat; whoever runs the server finds it in its log.")  # fmt: skip


def answer_to(request: Request, server: Server, problem: Problem) -> Response:
    """A problem for a program, or for a person."""
    path = request.url.path
    if path.startswith("/api/") or "text/html" not in request.headers.get("accept", ""):
        body = msgspec.json.encode(problem.document())
        return Response(body, problem.status, problem.headers, media_type="application/problem+json")
    return problem_page(request, server, problem)


def cookie_header(request: Request, server: Server, value: str) -> str:
    """A cookie that no script reads and no other site sends."""
    secure = "; Secure" if request.url.scheme == "https" else ""
    age = int(SESSION.total_seconds())
    return f"{COOKIE}={value}; Path={server.root or '/'}; Max-Age={age}; HttpOnly; SameSite=Lax{secure}"
