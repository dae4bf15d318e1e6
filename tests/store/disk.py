# SPDX-License-Identifier: Apache-2.0
"""A disk that is really full: a small one in memory, where the machine lets us mount it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small(folder: Path, megabytes: int) -> Iterator[Path]:
    """A file system of its own in ``folder``; elsewhere only the tests with a limit on the size of files run."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no mount here: a full disk is only simulated, by a limit on the size of files")
    if done.returncode:
        pytest.skip(f"a full disk is only simulated, by a limit on the size of files: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
