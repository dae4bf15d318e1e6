# SPDX-License-Identifier: Apache-2.0
"""A client of a karat server, for scripts and for ``karat submit``.

It speaks to the server it is given and to nobody else: no redirects are followed, and no proxy of the environment
is asked unless ``proxies`` says so.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import secrets
import ssl
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from karat.findings import Finding, InputError
from karat.metric import MetricError

BLOCK = 1 << 18


class ServerError(MetricError):
    """What a server answers when it cannot do what it was asked; ``problem`` is its document (RFC 9457)."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status, self.problem = status, dict(problem)
        detail = f": {problem['detail']}" if problem.get("detail") else ""
        super().__init__(f"{problem.get('title', 'the server answers')} ({status}){detail}")


class Client:
    """A server and a token.

    The token is ``$KARAT_TOKEN`` unless one is given; ``timeout`` is how many seconds an answer may take.
    What a server refuses is a ``karat.client.ServerError``.
    """

    def __init__(self, server: str, token: str | None = None, timeout: float = 60) -> None:
        self._place = urlsplit(server.rstrip("/"))
        if self._place.scheme not in ("http", "https") or not self._place.hostname:
            raise MetricError(f"{server!r} is no address of a server: write https://host/path")
        self._token = token if token is not None else os.environ.get("KARAT_TOKEN", "")
        self.timeout = timeout

    def submit(self, benchmark: str, file: str | os.PathLike[str], system: str = "") -> dict[str, Any]:
        """Send a file to a benchmark; sent again after a broken connection, it counts once."""
        path = Path(file)
        key = f"{secrets.token_hex(8)}-{_digest(path)}"
        query = {"name": path.name, "system": system}
        for attempt in range(4):
            try:
                with path.open("rb") as body:
                    return self._ask(
                        "POST", f"/benchmarks/{quote(benchmark)}/submissions", query, body, {"Idempotency-Key": key}
                    )
            except (OSError, http.client.HTTPException) as error:
                if attempt == 3:
                    raise ServerError(0, {"title": "the server cannot be reached", "detail": str(error)}) from error
                time.sleep(0.5 * 2**attempt)
        raise AssertionError

    def submission(self, id: str) -> dict[str, Any]:
        """A submission as it stands: its state, and its scores or findings."""
        return self._ask("GET", f"/submissions/{quote(id)}")

    def wait(self, sent: Mapping[str, Any], seconds: float = 600) -> dict[str, Any]:
        """A submission or job, once it is done; its findings raise `karat.InputError` where it was refused."""
        what = "jobs" if "kind" in sent else "submissions"
        end, pause = time.monotonic() + seconds, 0.1
        while True:
            now = self._ask("GET", f"/{what}/{quote(sent['id'])}")
            if now["state"] not in ("queued", "running"):
                break
            if time.monotonic() > end:
                raise ServerError(0, {"title": "the server is not done yet", "detail": f"it is {now['state']}"})
            time.sleep(pause)
            pause = min(pause * 1.5, 3.0)
        if now["state"] in ("refused", "unscored"):
            raise InputError([Finding(**f) for f in now["findings"]])
        return now

    def evaluate(
        self, gold: str | os.PathLike[str], *systems: str | os.PathLike[str], context: str = "", metrics: tuple[str, ...] = (),
        intervals: bool = False, tags: tuple[str, ...] = (), columns: Mapping[str, str] | None = None,
        hierarchy: str | os.PathLike[str] | None = None, **options: Any,
    ) -> dict[str, Any]:  # fmt: skip
        """Have files evaluated, and wait for the report; the options are those of `karat.evaluate`."""
        fields = [("context", context), ("intervals", "1" if intervals else ""), *(("metric", m) for m in metrics)]
        fields += [
            *(("tag", t) for t in tags),
            ("options", json.dumps(options)),
            ("columns", json.dumps(columns or {})),
        ]
        files = [("gold", Path(gold)), *(("systems", Path(s)) for s in systems)]
        files += [("hierarchy", Path(hierarchy))] if hierarchy else []
        job = self.wait(self._form("/evaluations", fields, files))
        if job["state"] != "done":
            problem = job.get("problem") or {"title": f"the job was {job['state']}"}
            if problem.get("findings"):
                raise InputError([Finding(**f) for f in problem["findings"]])
            raise ServerError(0, problem)
        return self._ask("GET", f"/runs/{job['result']['run']}")

    def leaderboard(self, benchmark: str, phase: str = "") -> dict[str, Any]:
        """The leaderboard of a benchmark, of the phase that runs or of the one named."""
        return self._ask("GET", f"/benchmarks/{quote(benchmark)}/leaderboard", {"phase": phase})

    def benchmarks(self) -> list[dict[str, Any]]:
        """The benchmarks that the token may see, at most 200."""
        benchmarks: list[dict[str, Any]] = self._ask("GET", "/benchmarks", {"limit": "200"})["benchmarks"]
        return benchmarks

    def create_benchmark(self, gold: str | os.PathLike[str], id: str = "", **settings: Any) -> dict[str, Any]:
        """Make a benchmark; the settings are those of ``karat benchmark create``."""
        fields = [("settings", json.dumps(settings)), ("id", id)]
        return self._form("/benchmarks", fields, [("gold", Path(gold))])

    def check_gold(self, benchmark: str, seconds: float = 600) -> None:
        """Wait until the server has looked at gold; its faults raise `karat.InputError`."""
        end, pause = time.monotonic() + seconds, 0.1
        while (check := self._ask("GET", f"/benchmarks/{quote(benchmark)}/gold"))["state"] in ("queued", "running"):
            if time.monotonic() > end:
                raise ServerError(0, {"title": "the server is not done yet", "detail": "gold is in its queue"})
            time.sleep(pause)
            pause = min(pause * 1.5, 3.0)
        if check["good"] is False:
            raise InputError([Finding(**f) for f in check["findings"]])
        if check["problem"]:
            raise ServerError(0, check["problem"])

    def replace_gold(self, benchmark: str, gold: str | os.PathLike[str]) -> dict[str, Any]:
        """Put other gold in the place of what has faults, as long as nothing was scored."""
        with Path(gold).open("rb") as body:
            return self._ask("PUT", f"/benchmarks/{quote(benchmark)}/gold", {"name": Path(gold).name}, body)

    def change_benchmark(self, benchmark: str, **settings: Any) -> dict[str, Any]:
        """Give a benchmark other settings; those that are not named stay."""
        return self._ask("PATCH", f"/benchmarks/{quote(benchmark)}", {}, json.dumps(settings).encode())

    def invite(self, benchmark: str, team: str) -> str:
        """The token of a new team."""
        body = json.dumps({"name": team}).encode()
        return str(self._ask("POST", f"/benchmarks/{quote(benchmark)}/teams", {}, body)["token"])

    def export_benchmark(self, benchmark: str, target: str | os.PathLike[str]) -> None:
        """Everything of a benchmark as one file."""
        with self._answer("GET", f"/benchmarks/{quote(benchmark)}/export") as answer, Path(target).open("wb") as out:
            for block in iter(lambda: answer.read(BLOCK), b""):
                out.write(block)

    def import_benchmark(self, source: str | os.PathLike[str]) -> dict[str, Any]:
        """Make a benchmark from a file of `export_benchmark`."""
        with Path(source).open("rb") as body:
            return self._ask("POST", "/benchmarks/import", {}, body)

    # requests

    def _ask(
        self, method: str, path: str, query: Mapping[str, str] | None = None, body: Any = None, headers: Any = None
    ) -> dict[str, Any]:
        with self._answer(method, path, query, body, headers) as answer:
            reply: dict[str, Any] = json.loads(answer.read() or b"{}")
            return reply

    def _answer(
        self, method: str, path: str, query: Mapping[str, str] | None = None, body: Any = None, headers: Any = None
    ) -> Answer:
        place = self._place
        kind: Any = http.client.HTTPConnection
        more: dict[str, Any] = {}
        if place.scheme == "https":
            kind, more = http.client.HTTPSConnection, {"context": ssl.create_default_context()}
        connection = kind(place.hostname, place.port, timeout=self.timeout, **more)
        given = {k: v for k, v in (query or {}).items() if v}
        target = f"{place.path}/api{path}" + (f"?{urlencode(given)}" if given else "")
        sent = {"Accept": "application/json", **(headers or {})}
        if self._token:
            sent["Authorization"] = f"Bearer {self._token}"
        if isinstance(body, bytes):
            sent.setdefault("Content-Type", "application/json")
        elif body is not None:
            sent.setdefault("Content-Type", "application/octet-stream")
            sent["Content-Length"] = str(os.fstat(body.fileno()).st_size)
        connection.request(method, target, body, sent)
        return Answer(connection)

    def _form(self, path: str, fields: list[tuple[str, str]], files: list[tuple[str, Path]]) -> dict[str, Any]:
        """A form with files, written to disk first so that its size is known."""
        import tempfile

        edge = secrets.token_hex(16)
        with tempfile.TemporaryFile() as body:
            for part in _parts(edge, fields, files):
                body.write(part)
            body.seek(0)
            return self._ask("POST", path, {}, body, {"Content-Type": f"multipart/form-data; boundary={edge}"})


class Answer:
    """What a server answers; a problem is raised."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self._connection = connection
        self._response = connection.getresponse()
        if self._response.status >= 300:
            text = self._response.read(1 << 20)
            connection.close()
            raise ServerError(self._response.status, _problem(text))

    def read(self, size: int | None = None) -> bytes:
        return self._response.read(size)

    def __enter__(self) -> Answer:
        return self

    def __exit__(self, *error: object) -> None:
        self._connection.close()


def _problem(text: bytes) -> dict[str, Any]:
    try:
        problem = json.loads(text)
    except ValueError:
        problem = None
    return problem if isinstance(problem, dict) else {"title": "this is no karat server, or something stands before it"}


def _parts(edge: str, fields: list[tuple[str, str]], files: list[tuple[str, Path]]) -> Iterator[bytes]:
    for name, value in fields:
        if value:
            yield f'--{edge}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
    for name, path in files:
        shown = path.name.replace('"', "'")
        yield f'--{edge}\r\nContent-Disposition: form-data; name="{name}"; filename="{shown}"\r\n\r\n'.encode()
        with path.open("rb") as file:
            yield from iter(lambda file=file: file.read(BLOCK), b"")  # type: ignore[misc]
        yield b"\r\n"
    yield f"--{edge}--\r\n".encode()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]
