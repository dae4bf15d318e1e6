# SPDX-License-Identifier: Apache-2.0
"""``karat store``."""

from __future__ import annotations

import click

from karat.cli.failures import guarded
from karat.cli.options import store_option
from karat.store import open_store


@click.group("store", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Look after a store."""


@command.command("backup")
@click.argument("target", type=click.Path(dir_okay=False))
@store_option
@guarded
def backup(target: str, store: str | None) -> None:
    """Copy the whole store, as it is at one moment, to the file TARGET, while it is used.

    The copy is a store itself: --store TARGET opens it.
    """
    rows = open_store(store, create=False).backup(target)
    click.echo(f"{rows:,} rows copied to {target}", err=True)
