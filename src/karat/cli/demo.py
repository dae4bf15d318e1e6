# SPDX-License-Identifier: Apache-2.0
"""``karat demo``."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any

import click

from karat.api import evaluate
from karat.cli.failures import guarded
from karat.cli.printing import print_grid, write_whole
from karat.evaluation import Evaluation
from karat.examples import TOUR, Example, data
from karat.metric import MetricError
from karat.report.tables import grids

REPORT = "report.html"


@click.command("demo")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default="karat-demo")
@click.option("--files", is_flag=True, help="Only write the files.")
@guarded
def command(folder: Path, files: bool) -> None:
    """Walk through every context on bundled data.

    Writes the data and an HTML report into FOLDER (default: karat-demo), so that each command can be tried there.
    """
    written = write(folder)
    click.echo(f"{written} files are in {folder}{os.sep}: go there and try the commands.\n")
    if not files:
        for number, example in enumerate(TOUR, 1):
            tell(number, example, folder)
        report(TOUR[0], folder)


def write(folder: Path) -> int:
    """The bundled files; how many there are."""
    count = 0
    for path, content in data():
        target = folder / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MetricError(f"cannot write {target}: {error.strerror}") from error
        write_whole(target, content)
        count += 1
    return count


def tell(number: int, example: Example, folder: Path) -> None:
    """What it is, the command, its scores and what to see in them."""
    click.echo(click.style(f"{number}. {example.what}", bold=True))
    click.echo(f"$ {shlex.join(example.words)}")
    for grid in grids(evaluated(example, folder), (), 4):
        print_grid(grid)
    click.echo(f"{example.lesson}\n")


def evaluated(example: Example, folder: Path, **options: Any) -> Evaluation:
    """What the command would compute in the folder."""
    tree: dict[str, Any] = {"hierarchy": str(folder / example.options[1])} if "--hierarchy" in example.options else {}
    systems = [str(folder / path) for path in example.systems]
    return evaluate(
        str(folder / example.gold), systems, context=example.context, metrics=example.metrics, **tree, **options
    )


def report(example: Example, folder: Path) -> None:
    """The HTML report of one example, with intervals and single units."""
    page = evaluated(example, folder, intervals=True, units=True).to_html()
    write_whole(folder / REPORT, page.encode())
    click.echo(f"A report to open in a browser: {folder / REPORT}")
    click.echo(f"$ {shlex.join([*example.words, '--intervals', '--report', 'html', '-o', REPORT])}")
    click.echo(f"Is the difference real?\n$ {shlex.join(['karat', 'compare', example.gold, *example.systems])}")
