# SPDX-License-Identifier: Apache-2.0
"""Where a store is: what the user says, the project's ``.karat`` folder, or the user's data folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

FOLDER, FILE = ".karat", "runs.db"
VARIABLE = "KARAT_STORE"


def place(given: str | os.PathLike[str] | None, *, create: bool) -> str:
    """The address of the store: a URL, or the path of a SQLite file."""
    said = os.fspath(given) if given is not None else os.environ.get(VARIABLE)
    if said:
        return said if "://" in said else str(_file(said))
    found = _project(Path.cwd())
    if found is None and create and os.access(Path.cwd(), os.W_OK):
        found = Path.cwd() / FOLDER
    return str((found or user_folder()) / FILE)


def _file(said: str) -> Path:
    path = Path(said)
    return path / FILE if path.is_dir() or path.name == FOLDER or said.endswith(os.sep) else path


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
