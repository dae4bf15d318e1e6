# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server of our own: a private folder and socket, gone with the tests."""

from __future__ import annotations

import os
import pwd
import resource
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from glob import glob
from pathlib import Path
from urllib.parse import quote

import pytest
from sqlalchemy import create_engine, make_url, text


def _binaries() -> Path:
    found = sorted(glob("/usr/lib/postgresql/*/bin/initdb"), reverse=True)
    plain = shutil.which("initdb")
    if not found and not plain:
        pytest.fail("no PostgreSQL server on this machine: run `make test` as root, or apt-get install postgresql")
    return Path(found[0] if found else str(plain)).parent


def _user() -> str | None:
    """PostgreSQL refuses to run as root; anybody else runs it as themselves."""
    if os.getuid():
        return None
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        return "nobody"


@contextmanager
def running(largest_file: int | None = None) -> Iterator[str]:
    """The URL of a fresh server; ``largest_file`` is where its disk is full."""
    binaries, user = _binaries(), _user()
    folder = Path(tempfile.mkdtemp(prefix="karat-pg-"))
    if user:
        shutil.chown(folder, user)
    data, name = folder / "data", user or pwd.getpwuid(os.getuid()).pw_name

    def limit() -> None:
        if largest_file:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

    def call(*command: str, limited: bool = False) -> None:
        subprocess.run(command, user=user, check=True, stdout=subprocess.DEVNULL, cwd=folder, preexec_fn=limit if limited else None)  # fmt: skip

    call(
        str(binaries / "initdb"),
        "-D",
        str(data),
        "-U",
        name,
        "-A",
        "trust",
        "-E",
        "UTF8",
        "--locale=C.UTF-8",
        "--no-sync",
    )
    options = f"-c listen_addresses='' -c fsync=off -k {shlex.quote(str(folder))}"
    call(
        str(binaries / "pg_ctl"), "-D", str(data), "-w", "-l", str(folder / "log"), "-o", options, "start", limited=True
    )
    try:
        yield f"postgresql://{name}@/postgres?host={quote(str(folder))}"
    finally:
        call(str(binaries / "pg_ctl"), "-D", str(data), "-w", "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def _ask(url: str, *statements: str) -> None:
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


@contextmanager
def on_disk(url: str, folder: Path) -> Iterator[str]:
    """A new database of the server whose files are in ``folder``; taken away again, or the next checkpoint would fail."""
    place = folder / "tables"
    place.mkdir()
    if user := _user():
        shutil.chown(place, user)
    _ask(url, f"CREATE TABLESPACE small LOCATION '{place}'", "CREATE DATABASE small TABLESPACE small")
    try:
        yield make_url(url).set(database="small").render_as_string(hide_password=False)
    finally:
        _ask(url, "DROP DATABASE small WITH (FORCE)", "DROP TABLESPACE small")
