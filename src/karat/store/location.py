# SPDX-License-Identifier: Apache-2.0
"""Where a store is (what the user says, the project's ``.karat`` folder, or the user's data folder), how its file is opened, and what can go wrong."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from karat.metric import MetricError


class StoreError(MetricError):
    """The store cannot do what was asked; the message says why and what to do."""


def parsed(address: str) -> Any:
    """The parts of an address; a path is the URL of a SQLite file."""
    from sqlalchemy import URL, exc, make_url  # a list of runs in a file needs none of them

    if "://" not in address:
        return URL.create("sqlite", database=address)
    try:
        url = make_url(address)
    except (exc.ArgumentError, ValueError):
        # The complaint is left out: it may repeat the password.
        raise StoreError("the store's URL cannot be read: write postgresql://user@host:5432/database") from None
    if url.get_backend_name() not in ("sqlite", "postgresql", "postgres"):
        raise StoreError(f"a store is a SQLite file or a postgresql:// URL, not {url.get_backend_name()}://")
    if not url.database and url.get_backend_name() == "sqlite":
        raise StoreError(f"{address} names no file: write sqlite:///path/to/runs.db, or the path alone")
    return url


def shown(address: str) -> str:
    """The address without its password."""
    return parsed(address).render_as_string(hide_password=True) if "://" in address else address


FOLDER, FILE = ".karat", "runs.db"
VARIABLE = "KARAT_STORE"


def place(given: str | os.PathLike[str] | None, *, create: bool) -> str:
    """The address of the store: a URL, or the path of a SQLite file."""
    named = os.fspath(given) if given is not None else os.environ.get(VARIABLE)
    if named:
        return named if "://" in named else str(_file(named))
    folder = _project(Path.cwd())
    if folder is None and create and os.access(Path.cwd(), os.W_OK):
        folder = Path.cwd() / FOLDER
    return str((folder or user_folder()) / FILE)


def _file(name: str) -> Path:
    path = Path(name)
    return path / FILE if path.is_dir() or path.name == FOLDER or name.endswith(os.sep) else path


def _project(folder: Path) -> Path | None:
    """The nearest ``.karat`` at or above the folder."""
    return next((p / FOLDER for p in (folder, *folder.parents) if (p / FOLDER).is_dir()), None)


def user_folder() -> Path:
    """Where the system keeps the data of a user's programs."""
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "karat"
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "karat"
    return Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "karat"


_HINTS = {
    "full": "free some space, or name a store on another disk",
    "no space left": "free some space on the server's disk",
    "readonly": "make the file and its folder writable, or name another store",
    "unable to open": "make the file and its folder readable and writable, or name another store",
    "not a database": "name a store that karat made, or move this file away",
    "malformed": "the file is damaged: put back a copy of it, or import the runs that were exported",
    "is locked": "another process holds the store; try again when it is done",
    "no such column": "another program has made tables here: give karat a database of its own",
    "does not exist": "see that the URL names a database, a user and tables that are there",
    "password": "see that the URL has the user's password, or set PGPASSWORD",
    "resolve host": "see that the URL names the server",
    "connect": "see that the server runs and that the URL names its host, database and user",
}
"""By a sign in the complaint; the first that fits."""


def failed(address: str, error: object) -> StoreError:
    """A complaint of the database as an error of the store."""
    text = " ".join(str(error).split())
    hint = next((hint for sign, hint in _HINTS.items() if sign in text.lower()), "")
    return StoreError(
        f"the store {shown(address)} failed and nothing was changed: {text}" + (f" ({hint})" if hint else "")
    )


@contextmanager
def complaint(address: str) -> Iterator[None]:
    """What SQLite complains of as an error of the store."""
    try:
        yield
    except sqlite3.Error as error:
        raise failed(address, error) from error


WAIT = 60_000
"""Milliseconds that a writer waits for another one."""


def opened(path: Path) -> sqlite3.Connection:
    frozen = path.exists() and not os.access(path.parent, os.W_OK)
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{_frozen(path) if frozen else 'mode=rwc'}", uri=True, check_same_thread=False
    )
    # Who asks begins transactions: the driver would begin them too late to be of use.
    connection.isolation_level = None
    pragmas = [f"busy_timeout={WAIT}", "foreign_keys=ON"]
    for pragma in pragmas if frozen else [*pragmas, "journal_mode=WAL", "synchronous=FULL"]:
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _frozen(path: Path) -> str:
    """Write-ahead mode needs a file beside the store: where none can be made, nothing can change either."""
    return "mode=ro" if path.with_name(path.name + "-wal").exists() else "immutable=1"


@contextmanager
def transaction(path: Path) -> Iterator[sqlite3.Connection]:
    """The file as it is at one moment, to be read."""
    with closing(opened(path)) as connection:
        connection.execute("BEGIN")
        yield connection
