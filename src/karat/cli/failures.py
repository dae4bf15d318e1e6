# SPDX-License-Identifier: Apache-2.0
"""Findings and failures on the command line: what is printed, and the exit code."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeVar

import click

from karat.findings import Finding, InputError
from karat.metric import MetricError

P = ParamSpec("P")
R = TypeVar("R")

BAD_INPUT = 2
MISSED = 1


def guarded(function: Callable[P, R]) -> Callable[P, R]:
    """Bad input and wrong usage become messages on stderr and exit code 2."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except InputError as error:
            show(error.findings)
            sys.exit(BAD_INPUT)
        except MetricError as error:
            click.echo(f"error: {error}", err=True)
            sys.exit(BAD_INPUT)

    return run


def show(findings: Iterable[Finding], quiet: bool = False) -> None:
    """Findings for a person, on stderr."""
    for found in findings:
        if quiet and found.severity != "error":
            continue
        click.echo(str(found), err=True)
        click.echo(f"  hint: {found.hint}", err=True)


def as_github(found: Finding) -> str:
    """A finding as an annotation of a GitHub workflow."""
    kind = {"error": "error", "warning": "warning"}.get(found.severity, "notice")
    place = ",".join(f"{k}={v}" for k, v in (("file", found.file), ("line", found.line)) if v)
    text = f"{found.message}. {found.hint}".replace("%", "%25").replace("\n", "%0A")
    return f"::{kind} {place},title={found.code}::{text}"


def any_error(findings: Iterable[Finding]) -> bool:
    return any(f.severity == "error" for f in findings)


__all__: list[Any] = ["BAD_INPUT", "MISSED", "any_error", "as_github", "guarded", "show"]
