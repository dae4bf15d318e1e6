# SPDX-License-Identifier: Apache-2.0
"""Tables and files as the commands print and write them."""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from typing import Any

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


def write_reports(given: Mapping[str, Any], rendered: Callable[[str], str], emit: Callable[[str, str], None]) -> None:
    """Each report to its file, whole or not at all, and the one without a file to stdout; all are made before any is written."""
    reports, outputs = given["report"], given["output"]
    if len(outputs) > len(reports) or len(reports) > len(outputs) + 1:
        raise MetricError(
            f"{len(reports)} --report and {len(outputs)} -o: give each report its file, all but one at most"
        )
    files = [os.path.realpath(output) for output in outputs if _is_file(Path(output))]
    if len(set(files)) < len(files) and not given["append"]:
        raise MetricError("two reports go to one file: name another with -o, or give --append")
    if given["append"] and not outputs:
        raise MetricError("--append adds to a file: name it with -o")
    texts = [rendered(report) for report in reports]
    for report, text, output in zip_longest(reports, texts, outputs):
        if output is None:
            emit(report, text)
        else:
            write_whole(Path(output), _before(Path(output), given["append"]) + text.encode())


def spare(inputs: Iterable[tuple[str, Any]], outputs: Iterable[Any]) -> None:
    """Refuse a report that would take the place of what it is made from, before any of it is read."""
    there = [os.fspath(output) for output in outputs if os.path.isfile(output) and _is_file(Path(output))]
    for what, given in inputs if there else ():
        for output in there:
            if any(_same_file(output, file) for file in _behind(os.fspath(given))):
                raise MetricError(f"the report would go to {output}, which is {what}: name another file")


def _behind(given: str) -> list[str]:
    """The files that are read where one, a folder or a pattern is named."""
    from karat.read.brat import is_folder  # most reports go to a file that is not there yet

    if os.path.isdir(given):
        kinds = ("*.ann", "*.txt") if is_folder(given) else ("*",)
        return [file for kind in kinds for file in glob.glob(os.path.join(glob.escape(given), kind))]
    return [given] if os.path.exists(given) else glob.glob(given, recursive=True)


def _same_file(first: str, second: str) -> bool:
    try:
        return os.path.samefile(first, second)
    except OSError:
        return False


def _before(target: Path, append: bool) -> bytes:
    """What a file holds to which a report is added, ended by a blank line so that two reports do not run together."""
    if not append or not target.is_file():
        return b""
    try:
        content = target.read_bytes()
    except OSError as error:
        raise MetricError(f"cannot read {target}: {error.strerror}") from error
    return content and content.rstrip(b"\n") + b"\n\n"


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
