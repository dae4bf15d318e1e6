# SPDX-License-Identifier: Apache-2.0
"""``karat submit``."""

from __future__ import annotations

import click

from karat.cli.failures import guarded
from karat.cli.printing import print_grid
from karat.report.rows import Grid

server_option = click.option(
    "--server",
    required=True,
    envvar="KARAT_SERVER",
    metavar="URL",
    help="Address of the server. Default: $KARAT_SERVER.",
)
token_option = click.option(
    "--token",
    envvar="KARAT_TOKEN",
    metavar="TOKEN",
    help="Your token. Default: $KARAT_TOKEN, which no process list shows.",
)


@click.command("submit", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("benchmark")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@server_option
@token_option
@click.option("--system", default="", metavar="NAME", help="What the system is called; else the file's name.")
@click.option("--no-wait", is_flag=True, help="Do not wait for the scores.")
@click.option("--json", "as_json", is_flag=True, help="The submission as one JSON object.")
@guarded
def command(
    benchmark: str, file: str, server: str, token: str | None, system: str, no_wait: bool, as_json: bool
) -> None:
    """Submit FILE to a BENCHMARK of a server, and print its scores.

    Exit codes: 0 scored (or accepted, with --no-wait); 2 the file has errors, which cost no submission.
    """
    import msgspec

    from karat.client import Client

    client = Client(server, token)
    sent = client.submit(benchmark, file, system)
    left = sent.get("left", {})
    if sent.get("duplicate"):
        click.echo("this very file was submitted before; nothing was counted", err=True)
    submission = sent if no_wait else client.wait(sent)
    if as_json:
        click.echo(msgspec.json.encode(submission).decode())
    elif submission["scores"]:
        rows = [[name, "–" if value is None else str(value)] for name, value in submission["scores"].items()]
        print_grid(Grid(f"{submission['system']}: {submission['state']}", ["metric", "score"], rows))
    else:
        click.echo(f"{submission['system']}: {submission['state']}")
    click.echo(f"{left.get('today', 0)} submissions left today, {left.get('in_all', 0)} in all", err=True)
