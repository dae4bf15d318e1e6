# SPDX-License-Identifier: Apache-2.0
"""``karat token``."""

from __future__ import annotations

import click

from karat.cli.failures import guarded
from karat.cli.options import store_option
from karat.metric import MetricError
from karat.store import open_store


@click.command("token", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("name")
@click.option("--role", type=click.Choice(["admin", "organiser", "reader"]), default="organiser", show_default=True)
@store_option
@guarded
def command(name: str, role: str, store: str | None) -> None:
    """Make a token for NAME to use a server of this store; it is printed this once."""
    from karat.web.problems import Problem
    from karat.web.serve import new_token

    try:
        click.echo(new_token(open_store(store), role, name))
    except Problem as problem:
        raise MetricError(f"{problem.title}: {problem.detail}") from None
