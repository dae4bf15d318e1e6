# SPDX-License-Identifier: Apache-2.0
"""``karat evaluate-poetry-spans``."""

from __future__ import annotations

from pathlib import Path

import click

from karat.cli.failures import guarded, show
from karat.cli.printing import spare
from karat.doors.poetry_spans import evaluate_files
from karat.findings import InputError, finding


@click.command("evaluate-poetry-spans")
@click.argument("reference", type=click.Path(path_type=Path))
@click.argument("system", type=click.Path(path_type=Path))
@click.argument("output", type=click.Path(path_type=Path))
@click.option("--ignore-label/--no-ignore-label", default=False, help="Compare places only, not poems.")
@click.option(
    "--partial-match-weight", type=float, default=1.0, show_default=True, help="Credit of a match that is not exact."
)
@click.option("--progress/--no-progress", default=False, help="Say on stderr what is being read.")
@click.option("--force", is_flag=True, help="Replace OUTPUT if it is there.")
@guarded
def command(
    reference: Path,
    system: Path,
    output: Path,
    ignore_label: bool,
    partial_match_weight: float,
    progress: bool,
    force: bool,
) -> None:
    """Score poem excerpts page by page: REFERENCE and SYSTEM are JSON Lines, OUTPUT is a CSV file."""
    if output.is_dir() or (output.exists() and not force):
        problem, way_out = "the output file is there already", "name another file, or give --force"
        raise InputError([finding("bad-option", str(output), message=problem, way_out=way_out)])
    spare([("the reference", reference), ("the system's file", system)], [output])
    if progress:
        click.echo(f"reading {reference} and {system}", err=True)
    scores = evaluate_files(reference, system, ignore_label, partial_match_weight)
    try:
        scores.write(output)
    except OSError as error:
        problem, way_out = (
            f"the output file cannot be written: {error.strerror}",
            "name a file in a folder that is there",
        )
        raise InputError([finding("bad-option", str(output), message=problem, way_out=way_out)]) from None
    show(scores.findings)
    click.echo(scores.summary)
