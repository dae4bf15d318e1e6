"""The environment that PyEvALL needs for itself, made once in .oracle/ at the root of the repository.

PyEvALL pins numpy 1.26.4 exactly, so it cannot live beside the newer numpy of the other peers.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

HOME = Path(__file__).resolve().parents[2] / ".oracle"
REQUIREMENT = "PyEvALL==0.2.11"
STAMP = HOME / "ready"


class Unavailable(RuntimeError):
    """PyEvALL cannot be installed on this machine; the text says why."""


def python() -> Path:
    """The interpreter that can import PyEvALL; makes the environment if it is not there yet."""
    with alone():
        if not STAMP.exists() or STAMP.read_text() != REQUIREMENT:
            create()
    return HOME / "bin" / "python"


def create() -> None:
    """A fresh environment with PyEvALL in it; the stamp is written last, so a broken one is made anew."""
    base = interpreter()
    STAMP.unlink(missing_ok=True)
    checked([base, "-m", "venv", "--clear", str(HOME)])
    checked([str(HOME / "bin" / "python"), "-m", "pip", "install", "--quiet", REQUIREMENT])
    STAMP.write_text(REQUIREMENT)


def interpreter() -> str:
    """This Python if numpy 1.26.4 has a wheel for it, else an older one found on the path."""
    if sys.version_info < (3, 13):
        return getattr(sys, "_base_executable", None) or sys.executable
    for name in ("python3.12", "python3.11"):
        if (found := shutil.which(name)) and works(found):
            return found
    raise Unavailable(
        "PyEvALL pins numpy 1.26.4, which has no wheel for Python 3.13 or newer, and no older Python is here"
    )


def works(command: str) -> bool:
    """A shim on the path may stand for a Python that is not installed."""
    return subprocess.run([command, "-c", ""], capture_output=True).returncode == 0


def checked(command: list[str]) -> None:
    """Run, or say what failed."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Unavailable(f"PyEvALL's environment could not be made: {(done.stderr or done.stdout).strip()[-400:]}")


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """One maker at a time: parallel test workers would otherwise install into each other's folder."""
    if os.name == "nt":
        yield
        return
    import fcntl

    with open(HOME.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
