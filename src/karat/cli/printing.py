# SPDX-License-Identifier: Apache-2.0
"""Tables and files as the commands print and write them."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

import click

from karat.metric import MetricError
from karat.report.rows import Grid
from karat.report.terminal import plain


def print_grid(grid: Grid) -> None:
    """One table to stdout: with rules on a terminal, as plain text elsewhere."""
    if not sys.stdout.isatty():
        click.echo(plain(grid) + "\n")
        return
    from karat.report.rich import print_grid as printed

    printed(grid)


def write_whole(target: Path, data: bytes) -> None:
    """The file, whole or not at all; what is no file (a device, a pipe) is written to and stays what it is."""
    link = Path(os.path.realpath(target))  # it goes on leading where it led
    partial = link.with_name(link.name + ".partial")
    try:
        if _is_file(target):
            partial.write_bytes(data)
            partial.replace(link)
        else:
            with target.open("ab") as stream:
                stream.write(data)
    except BaseException as error:  # Ctrl-C too leaves nothing behind
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise MetricError(f"cannot write {target}: {error.strerror}") from error
        raise


def _is_file(target: Path) -> bool:
    """Is it, or will it be, a file? What the system lists as devices is none, wherever it leads: /dev/stdout may be a file."""
    device = target.absolute().parts[1:2] in (("dev",), ("proc",))
    return not device and (target.is_file() or not target.exists())
