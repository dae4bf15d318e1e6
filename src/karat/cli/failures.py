# SPDX-License-Identifier: Apache-2.0
"""Findings and failures on the command line: what is printed, and the exit code."""

from __future__ import annotations

import functools
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeVar

import click

from karat.cli.exits import BAD_INPUT, MISSED, Interruption
from karat.evaluation import Evaluation
from karat.findings import Finding, InputError, finding_lines
from karat.metric import MetricError
from karat.report.text import clear

P = ParamSpec("P")
R = TypeVar("R")


def guarded(function: Callable[P, R]) -> Callable[P, R]:
    """Bad input and wrong usage become messages on stderr and exit code 2."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except (InputError, MetricError) as error:
            if Interruption.happened:
                raise KeyboardInterrupt from error
            if isinstance(error, InputError):
                show(error.findings)
            else:
                click.echo(f"error: {error}", err=True)
            sys.exit(BAD_INPUT)

    return run


def show(findings: Iterable[Finding], quiet: bool = False) -> None:
    """Findings for a person, on stderr: a line each, for grep and for editors, but folded where a terminal would cut them."""
    for line in finding_lines([f for f in findings if not quiet or f.severity == "error"], python=False):
        text = clear(line)
        click.echo(folded(text, shutil.get_terminal_size().columns) if sys.stderr.isatty() else text, err=True)


def folded(line: str, width: int) -> str:
    """The line in pieces that fit, between words, each further one indented.

    >>> print(folded("  hint: give every record its id", 20))
      hint: give every
        record its id
    """
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.fill(
        line, max(width, 20), subsequent_indent=indent + "  ", break_long_words=False, break_on_hyphens=False
    )


def say_rejected(evaluation: Evaluation) -> None:
    """Which systems were left out, in one line."""
    if evaluation.rejected:
        total = len(evaluation.systems) + len(evaluation.rejected)
        names = ", ".join(clear(system.name) for system in evaluation.rejected)
        click.echo(f"rejected {len(evaluation.rejected)} of {total} systems: {names}", err=True)


def as_github(f: Finding) -> str:
    """A finding as an annotation of a GitHub workflow."""
    kind = {"error": "error", "warning": "warning"}.get(f.severity, "notice")
    facts = {"file": f.file, "line": f.line, "title": f.code}
    place = ",".join(f"{name}={_escaped(str(fact), ':,')}" for name, fact in facts.items() if fact)
    return f"::{kind} {place}::" + _escaped(f"{f.message}. {f.hint}")


def _escaped(text: str, more: str = "") -> str:
    """Text that ends neither the command nor its field: a file name may hold a line end."""
    return "".join(f"%{ord(c):02X}" if c in "%\r\n" + more else c for c in text)


def any_error(findings: Iterable[Finding]) -> bool:
    return any(f.severity == "error" for f in findings)


__all__: list[Any] = ["BAD_INPUT", "MISSED", "any_error", "as_github", "guarded", "say_rejected", "show"]
