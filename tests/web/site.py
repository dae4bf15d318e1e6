# SPDX-License-Identifier: Apache-2.0
"""A real server on loopback, and a visitor who asks it things."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

PATIENCE = 120
"""Seconds after which a test that waits has failed."""


class Answer:
    """What a server answered."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status, self.headers = response.status, response.headers
        self.body = response.read()

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def place(self) -> str:
        """Where it sends the visitor on to."""
        return urlsplit(self.headers["location"])._replace(scheme="", netloc="").geturl()


class Site:
    """One server process."""

    def __init__(self, store: str, *options: str) -> None:
        self.store, self.options = store, options
        self.process: subprocess.Popen[str] | None = None
        self.url, self.said = "", list[str]()
        self.start()

    def start(self) -> None:
        """Start it, and wait until it listens."""
        line = [sys.executable, "-m", "karat", "serve", "--port", "0", "--store", self.store, "--rate", "1000000"]
        line += [] if "--workers" in self.options else ["--workers", "1"]
        self.process = subprocess.Popen(
            [*line, *self.options], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        )
        ready, self.said = threading.Event(), []
        threading.Thread(target=self._listen, args=(ready,), daemon=True).start()
        assert ready.wait(PATIENCE), self.said

    def _listen(self, ready: threading.Event) -> None:
        assert self.process
        assert self.process.stderr
        for line in self.process.stderr:
            self.said.append(line)
            if found := re.search(r" at (http://\S+)/$", line):
                self.url = found[1]
                ready.set()
        ready.set()

    @property
    def admin(self) -> str:
        """The token of the first administrator."""
        return next(line.split(": ")[1].strip() for line in self.said if "first administrator" in line)

    def stop(self, how: int = signal.SIGTERM) -> None:
        if self.process and self.process.poll() is None:
            os.kill(self.process.pid, how)
            self.process.wait(PATIENCE)

    def workers(self) -> list[int]:
        """Process ids of the workers."""
        assert self.process
        found = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True
        ).stdout
        return [int(pid) for pid in found.split()]


@contextmanager
def running(store: str | Path, *options: str) -> Iterator[Site]:
    site = Site(str(store), *options)
    try:
        yield site
    finally:
        site.stop(signal.SIGKILL)


class Visitor:
    """Somebody with a token, or a browser with a cookie."""

    def __init__(self, site: Site, token: str = "") -> None:
        self.site, self.token, self.cookie = site, token, ""

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        place = urlsplit(self.site.url)
        sent = {k.replace("_", "-"): v for k, v in headers.items()}
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        if self.cookie:
            sent["Cookie"] = f"karat={self.cookie}"
        if isinstance(body, dict):
            body = json.dumps(body).encode()
        connection = http.client.HTTPConnection(str(place.hostname), place.port, timeout=PATIENCE)
        connection.request(method, place.path + path, body, sent)
        answer = Answer(connection.getresponse())
        connection.close()
        if found := re.search(r"karat=([^;]+)", answer.headers.get("set-cookie") or ""):
            self.cookie = found[1]
        return answer

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, **headers)

    def page(self, path: str) -> Answer:
        """A page, as a browser asks for it."""
        return self.ask("GET", path, Accept="text/html")

    def form(self, path: str, seen_on: str = "", /, **fields: Any) -> Answer:
        """Send a form that was seen on a page; tuples are files (name, content), lists are repeated."""
        page = self.page(seen_on or path).text
        csrf = re.search(r'name="csrf" value="([0-9a-f]+)"', page)
        assert csrf, page[:300]
        given = {"csrf": csrf[1]} | fields
        if any(isinstance(v, tuple) or (isinstance(v, list) and isinstance(v[0], tuple)) for v in fields.values()):
            body, kind = multipart(given)
        else:
            body, kind = urlencode(given, doseq=True).encode(), "application/x-www-form-urlencoded"
        return self.ask("POST", path, body, Content_Type=kind, Accept="text/html")

    def upload(self, path: str, **fields: Any) -> Answer:
        body, kind = multipart(fields)
        return self.ask("POST", path, body, Content_Type=kind)

    def sign_in(self, token: str) -> Answer:
        return self.form("/sign-in", token=token)


def multipart(fields: dict[str, Any]) -> tuple[bytes, str]:
    edge, out = "karat-test-edge", b""
    for name, values in fields.items():
        for value in values if isinstance(values, list) else [values]:
            head = f'--{edge}\r\nContent-Disposition: form-data; name="{name}"'
            if isinstance(value, tuple):
                content = value[1] if isinstance(value[1], bytes) else value[1].encode()
                out += f'{head}; filename="{value[0]}"\r\n\r\n'.encode() + content + b"\r\n"
            else:
                out += f"{head}\r\n\r\n{value}\r\n".encode()
    return out + f"--{edge}--\r\n".encode(), f"multipart/form-data; boundary={edge}"


def until(found: Callable[[], Any], what: str = "it") -> Any:
    """What ``found`` gives, once it gives something."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if value := found():
            return value
        time.sleep(0.1)
    raise AssertionError(f"waited in vain for {what}")


def table(rows: dict[str, str]) -> str:
    """Ids and labels as a CSV file."""
    return "id,value\n" + "".join(f"{k},{v}\n" for k, v in rows.items())


def labels(n: int = 60, wrong: int = 0, shift: int = 0) -> str:
    """A file of ``n`` items, of which some are wrong."""
    letters = "ABC"
    return table({f"i{k}": letters[(k + (k < wrong) + shift) % 3] for k in range(n)})
