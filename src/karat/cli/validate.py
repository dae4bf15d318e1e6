# SPDX-License-Identifier: Apache-2.0
"""``karat validate``."""

from __future__ import annotations

import sys
from typing import Any

import click
import msgspec

from karat.api import validate
from karat.cli import completion
from karat.cli.failures import BAD_INPUT, any_error, as_github, guarded, show
from karat.cli.options import api_arguments, context_options, input_options
from karat.cli.systems import expanded
from karat.findings import Finding


@click.command("validate")
@click.argument("files", nargs=-1, shell_complete=completion.files, required=True, metavar="FILE...")
@input_options
@context_options
@click.option(
    "--gold",
    metavar="GOLD",
    shell_complete=completion.files,
    help="Check the files against this gold too: ids, labels, coverage.",
)
@click.option("--json", "as_json", is_flag=True, help="Findings as one JSON array on stdout.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["human", "json", "github"]),
    default="human",
    show_default=True,
    help="Form of the findings.",
)
@guarded
def command(files: tuple[str, ...], gold: str | None, as_json: bool, form: str, **given: Any) -> None:
    """Check files and say what is wrong, where and how to mend it; exit with 2 if anything is.

    Folders and quoted patterns give their files.
    """
    every = [path for file in files for _, path in expanded(file)]
    findings = list(dict.fromkeys(f for file in every for f in validate(file, gold=gold, **api_arguments(given))))
    {"human": _human, "json": _json, "github": _github}["json" if as_json else form](findings, len(every))
    if any_error(findings):
        sys.exit(BAD_INPUT)


def _human(findings: list[Finding], files: int) -> None:
    show(findings)
    errors = sum(f.severity == "error" for f in findings)
    click.echo(
        f"{files} {'file' if files == 1 else 'files'} checked: {errors} {'error' if errors == 1 else 'errors'}, {len(findings) - errors} other findings"
    )


def _json(findings: list[Finding], files: int) -> None:
    click.echo(msgspec.json.format(msgspec.json.encode(findings), indent=2).decode())


def _github(findings: list[Finding], files: int) -> None:
    for f in findings:
        click.echo(as_github(f))
