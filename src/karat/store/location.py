# SPDX-License-Identifier: Apache-2.0
"""Where a store is: what the user says, the project's ``.karat`` folder, or the user's data folder; a path or a URL."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from karat.store.errors import StoreError


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
