# SPDX-License-Identifier: Apache-2.0
"""A disk that is really full: a small one in memory, where the machine lets us mount it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small(megabytes: int) -> Iterator[Path]:
    """A file system of its own; where none can be made only the tests with a limit on the size of files run.

    It stands outside pytest's folders, which every run of pytest closes to the user that PostgreSQL runs as.
    """
    folder = Path(tempfile.mkdtemp(prefix="karat-disk-"))
    folder.chmod(0o755)
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
        shutil.rmtree(folder)  # a server's worker that ends later may have begun its database anew
