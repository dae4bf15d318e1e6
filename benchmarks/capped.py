"""A command that the kernel ends as soon as it and all that it starts take more memory than a limit: a control group."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
LIMITS = {GROUPS / "memory": "memory.limit_in_bytes", GROUPS: "memory.max"}
"""Where version 1 and version 2 of control groups have their folders, and the file that says how much memory there is."""


@contextmanager
def group(limit: int) -> Iterator[Path]:
    """A control group with a limit of memory, which takes the right to make one (root, or a delegated folder)."""
    for root, most in LIMITS.items():
        folder = root / f"karat-bench-{os.getpid()}"
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            if (folder / most).exists():
                (folder / most).write_text(str(limit))
                yield folder
                return
        finally:
            folder.rmdir()
    raise SystemExit("a limit of memory needs control groups that this user may make")


def capped(command: list[str], limit: int) -> str:
    """The output of a command under the limit; what was refused, or killed, is an error."""
    with group(limit) as folder:
        enter = lambda: (folder / "cgroup.procs").write_text(str(os.getpid()))
        done = subprocess.run(command, capture_output=True, text=True, preexec_fn=enter)
    if done.returncode:
        raise SystemExit(f"ended with {done.returncode} under {limit >> 20} MiB: {done.stderr[-200:]}")
    return done.stdout
