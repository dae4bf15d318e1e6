# SPDX-License-Identifier: Apache-2.0
"""A server from beginning to end: store, workers, application, and a clean stop."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import uvicorn
from sqlalchemy import select

from karat.store import Store
from karat.store.listing import moment
from karat.web import files, people, tables
from karat.web.app import create_app
from karat.web.limits import Limits
from karat.web.server import Server
from karat.web.showing import warm
from karat.web.workers import Workers

LOOPBACK = ("127.0.0.1", "localhost", "::1")
KEPT = timedelta(days=7)
"""How long files of evaluations are kept, so that they can be evaluated in another way."""


def serve(
    store: Store,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    accounts: bool = False,
    workers: int = 2,
    limits: Limits | None = None,
    root: str = "",
    proxies: str = "",
    log: bool = True,
    started: Callable[[str], None] | None = None,
) -> None:
    """Serve until told to stop; ``started`` is called with the address once it is listened to."""
    limits = limits or Limits()
    tables.prepare(store)
    tidy(store)
    config = uvicorn.Config(
        lambda: None, host=host, port=port, lifespan="off", log_config=None, access_log=False, server_header=False,
        proxy_headers=bool(proxies), forwarded_allow_ips=proxies or "", timeout_graceful_shutdown=5, loop="asyncio",
        http="h11", h11_max_incomplete_event_size=32_768, limit_concurrency=500,
    )  # fmt: skip
    socket = config.bind_socket()
    socket.listen(config.backlog)  # who comes before all is ready waits
    crew = Workers(store, limits, workers)
    server = Server(store, limits, crew, accounts, root=root.rstrip("/"), log=log_line if log else None)
    config.app = create_app(server)
    warm()
    if started:
        shown = f"[{host}]" if ":" in host else host
        started(f"http://{shown}:{socket.getsockname()[1]}{server.root}/")
    try:
        uvicorn.Server(config).run(sockets=[socket])
    finally:
        crew.end()
        socket.close()


def log_line(line: dict[str, Any]) -> None:
    """A line of the log: one JSON object."""
    time = datetime.now(UTC).isoformat(timespec="milliseconds")
    sys.stderr.write(msgspec.json.encode({"time": time} | line).decode() + "\n")


def tidy(store: Store) -> None:
    """Forget the files of evaluations that are long done, and sessions that have ended."""
    jobs, old = tables.jobs, moment(datetime.now(UTC) - KEPT)
    with store.transaction(write=True) as connection:
        stale = select(jobs.c.id, jobs.c.payload).where(
            jobs.c.kind.in_(("check", "evaluation")), jobs.c.created < old, jobs.c.finished.is_not(None)
        )
        for row in connection.execute(stale).all():
            for file in msgspec.json.decode(row.payload)["files"].values():
                files.forget(connection, file)
            connection.execute(jobs.delete().where(jobs.c.id == row.id))
        done = (jobs.c.kind.in_(("board", "comparison"))) & (jobs.c.created < old) & jobs.c.finished.is_not(None)
        connection.execute(jobs.delete().where(done))
        connection.execute(tables.sessions.delete().where(tables.sessions.c.expires < tables.now()))


def first_admin(store: Store) -> str | None:
    """A token for the first administrator; none if there is one."""
    tables.prepare(store)
    with store.transaction(write=True) as connection:
        if people.has_admin(connection):
            return None
        return people.invite(connection, "admin", "admin")[1]


def new_token(store: Store, role: str, name: str) -> str:
    """A token that is made beside the server, by whoever has its store."""
    tables.prepare(store)
    with store.transaction(write=True) as connection:
        return people.invite(connection, role, name)[1]
