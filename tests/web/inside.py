# SPDX-License-Identifier: Apache-2.0
"""The application without a network: for what a test must see from the inside, such as the questions to the store."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import event
from starlette.types import Message

from karat.store import Store, open_store
from karat.web import tables
from karat.web.app import create_app
from karat.web.limits import Limits
from karat.web.server import Server


class Inside:
    """A server for people with tokens, without workers."""

    def __init__(self, path: Path, **limits: Any) -> None:
        self.store: Store = open_store(path, pooled=True)
        tables.prepare(self.store)
        self.lines = list[dict[str, Any]]()
        self.server = Server(self.store, Limits(**limits), accounts=True, log=self.lines.append)
        self.app = create_app(self.server)

    def ask(
        self, method: str, path: str, token: str = "", body: bytes = b"", pause: float = 0, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of an answer; ``pause`` is how long the body takes to arrive."""
        given = {"host": "localhost", "content-length": str(len(body))} | {
            k.replace("_", "-").lower(): v for k, v in headers.items()
        }
        if token:
            given["authorization"] = f"Bearer {token}"
        place = urlsplit(path)
        scope = {
            "type": "http", "method": method, "path": place.path, "raw_path": place.path.encode(), "query_string": place.query.encode(),
            "headers": [(k.encode(), v.encode()) for k, v in given.items()], "client": ("203.0.113.5", 1), "server": ("localhost", 80),
            "scheme": "http", "http_version": "1.1", "root_path": "",
        }  # fmt: skip
        said = list[Message]()

        async def receive() -> Message:
            await asyncio.sleep(pause)
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Message) -> None:
            said.append(message)

        asyncio.run(self.app(scope, receive, send))
        start = next(m for m in said if m["type"] == "http.response.start")
        content = b"".join(m.get("body", b"") for m in said if m["type"] == "http.response.body")
        return start["status"], {k.decode(): v.decode() for k, v in start["headers"]}, content

    def json(self, method: str, path: str, token: str = "", body: Any = None) -> tuple[int, Any]:
        sent = b"" if body is None else json.dumps(body).encode()
        status, _, content = self.ask(method, path, token, sent, content_type="application/json")
        return status, json.loads(content or b"null")

    @contextmanager
    def questions(self) -> Iterator[list[str]]:
        """Every statement that the store is asked meanwhile."""
        asked = list[str]()
        listen: Callable[..., None] = lambda c, cursor, statement, *rest: asked.append(statement)
        engine = self.store._database._engine
        event.listen(engine, "before_cursor_execute", listen)
        yield asked
        event.remove(engine, "before_cursor_execute", listen)
