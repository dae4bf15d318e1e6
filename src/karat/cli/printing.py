# SPDX-License-Identifier: Apache-2.0
"""Tables and files as the commands print and write them."""

from __future__ import annotations

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
    """The file, whole or not at all."""
    partial = target.with_name(target.name + ".partial")
    try:
        partial.write_bytes(data)
        partial.replace(target)
    except BaseException as error:  # Ctrl-C too leaves nothing behind
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise MetricError(f"cannot write {target}: {error.strerror}") from error
        raise
