# SPDX-License-Identifier: Apache-2.0
"""``karat formats``."""

from __future__ import annotations

import click

from karat.contexts import MODULES, context
from karat.read import FORMATS


@click.command("formats")
def command() -> None:
    """List the file formats and the contexts, with an example record of each."""
    click.echo("File formats (also packed as .gz, .zst, .bz2 or .xz, and - for stdin):")
    for name, format in FORMATS.items():
        click.echo(f"  {name:<10} {format.title}: {format.example}")
    click.echo("\nContexts (detected from the values, or named with -c, as clusters and numbers by id must be):")
    for name in MODULES:
        click.echo(f"  {name:<10} {context(name).title}: {context(name).example}")
