# SPDX-License-Identifier: Apache-2.0
"""``karat demo``."""

from __future__ import annotations

from importlib.resources import as_file, files

import click

from karat.cli import evaluate
from karat.cli.failures import guarded


@click.command("demo")
@click.pass_context
@guarded
def command(ctx: click.Context) -> None:
    """Evaluate the bundled example data: two systems against one gold standard."""
    with as_file(files("karat.examples")) as folder:
        inputs = [str(folder / name) for name in ("gold.tsv", "careful.tsv", "hasty.tsv")]
        click.echo("$ karat evaluate gold.tsv careful.tsv hasty.tsv --by class --show confusion\n")
        ctx.invoke(evaluate.command, **arguments(inputs))


def arguments(inputs: list[str]) -> dict[str, object]:
    """What the command line would have said."""
    ctx = evaluate.command.make_context("evaluate", [*inputs, "--by", "class", "--show", "confusion"])
    return ctx.params
