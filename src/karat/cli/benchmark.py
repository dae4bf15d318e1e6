# SPDX-License-Identifier: Apache-2.0
"""``karat benchmark``: benchmarks of a server, or of a store at hand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click
import msgspec

from karat.cli.failures import guarded
from karat.cli.options import metrics_option, store_option
from karat.cli.printing import print_grid
from karat.cli.submit import server_option, token_option
from karat.contexts import MODULES
from karat.metric import MetricError
from karat.plan import read_hierarchy
from karat.report.rows import Grid, number


@click.group("benchmark", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Benchmarks with hidden gold on a server: make, change, invite, show, export, import."""


def _client(given: dict[str, Any]) -> Any:
    from karat.client import Client

    return Client(given.pop("server"), given.pop("token"))


def settings_options(function: Any) -> Any:
    """The settings of a benchmark that may change."""
    for option in reversed(
        (
            click.option("--title", help="What it is called."),
            click.option(
                "--description", type=click.Path(exists=True, dir_okay=False), metavar="FILE", help="Markdown file."
            ),
            click.option("--phase", "phases", multiple=True, metavar="NAME[,START[,END]]", help="Phase (repeatable)."),
            click.option("--per-day", type=click.IntRange(1), help="Submissions of a team a day (default 5)."),
            click.option("--in-all", type=click.IntRange(1), help="Submissions of a team in all (default 100)."),
            click.option("--digits", type=click.IntRange(0, 6), help="Decimals that participants see (default 3)."),
            click.option("--pick", type=click.Choice(["best", "last"]), help="Which submission of a team counts."),
            click.option(
                "--board",
                type=click.Choice(["public", "hidden", "blind"]),
                help="Who sees scores: all; each team its own; organisers.",
            ),
            click.option("--board-from", metavar="MOMENT", help="When the leaderboard becomes public."),
        )
    ):
        function = option(function)
    return function


def _settings(given: dict[str, Any]) -> dict[str, Any]:
    """The settings that were given."""
    settings = {k: v for k, v in given.items() if v not in (None, ())}
    if "description" in settings:
        settings["description"] = Path(settings["description"]).read_text("utf-8")
    if "phases" in settings:
        parts = [[*re.split(r"\s*,\s*", p), "", ""][:3] for p in settings["phases"]]
        settings["phases"] = [{"name": n, "start": s or None, "end": e or None} for n, s, e in parts]
    return settings


@command.command("create")
@click.argument("gold", type=click.Path(exists=True, dir_okay=False))
@click.option("-c", "--context", type=click.Choice(list(MODULES)), required=True, help="Context.")
@metrics_option("Metric (repeatable; the first leads).", required=True)
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="Option of the context (repeatable).")
@click.option("--hierarchy", type=click.Path(exists=True, dir_okay=False), help="Label tree for hierarchical metrics.")
@click.option("--id-column", metavar="COLUMN", help="Column of the ids, in gold and in submissions.")
@click.option("--value-column", metavar="COLUMN", help="Column of the values.")
@click.option("--test-case-column", metavar="COLUMN", help="Column of the test case.")
@click.option("--id", default="", help="Part of its address; else made from the title.")
@settings_options
@server_option
@token_option
@guarded
def create(gold: str, options: tuple[str, ...], hierarchy: str | None, id: str, **given: Any) -> None:
    """Make a benchmark of the file GOLD, which never leaves the server.

    Faults of GOLD are told (exit code 2); the benchmark is then there, and `karat benchmark gold` mends it.
    """
    columns = {role: column for role in ("id", "value", "test_case") if (column := given.pop(f"{role}_column"))}
    client, settings = _client(given), _settings(given)
    settings["metrics"] = list(settings["metrics"])
    settings["options"] = dict(_option(o) for o in options)
    settings["columns"] = columns
    if hierarchy:
        settings["options"]["hierarchy"] = read_hierarchy(hierarchy).to_dict()
    settings.setdefault("title", Path(gold).stem)
    name = client.create_benchmark(gold, id, **settings)["id"]
    click.echo(name)
    client.check_gold(name)


def _option(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign:
        raise MetricError(f"--option {text!r} is not NAME=VALUE")
    return name.replace("-", "_"), value


@command.command("gold")
@click.argument("benchmark")
@click.argument("gold", type=click.Path(exists=True, dir_okay=False))
@server_option
@token_option
@guarded
def replace_gold(benchmark: str, gold: str, **given: Any) -> None:
    """Put the file GOLD in the place of the gold of a BENCHMARK, as long as nothing was scored against it."""
    client = _client(given)
    client.replace_gold(benchmark, gold)
    client.check_gold(benchmark)


@command.command("change")
@click.argument("benchmark")
@settings_options
@server_option
@token_option
@guarded
def change(benchmark: str, **given: Any) -> None:
    """Change settings of a BENCHMARK."""
    client = _client(given)
    settings = _settings(given)
    if not settings:
        raise MetricError("say what to change; --help lists it")
    click.echo(msgspec.json.encode(client.change_benchmark(benchmark, **settings)).decode())


@command.command("unblind")
@click.argument("benchmark")
@server_option
@token_option
@guarded
def unblind(benchmark: str, **given: Any) -> None:
    """Show the leaderboard of a BENCHMARK to everybody."""
    _client(given).change_benchmark(benchmark, board="public", board_from=None)


@command.command("invite")
@click.argument("benchmark")
@click.argument("team")
@server_option
@token_option
@guarded
def invite(benchmark: str, team: str, **given: Any) -> None:
    """Print the token of a new TEAM; it is shown this once."""
    click.echo(_client(given).invite(benchmark, team))


@command.command("list")
@server_option
@token_option
@guarded
def list_all(**given: Any) -> None:
    """List the benchmarks of a server."""
    rows = [
        [b["id"], b["title"], b["context"], b["metrics"][0], b["open"] or "closed"] for b in _client(given).benchmarks()
    ]
    print_grid(Grid("Benchmarks", ["benchmark", "title", "context", "leading metric", "phase"], rows))


@command.command("show")
@click.argument("benchmark")
@click.option("--phase", default="", help="Whose leaderboard; else the present one.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@server_option
@token_option
@guarded
def show(benchmark: str, phase: str, as_json: bool, **given: Any) -> None:
    """Print the leaderboard of a BENCHMARK."""
    board = _client(given).leaderboard(benchmark, phase)
    if as_json:
        click.echo(msgspec.json.encode(board).decode())
        return
    rows = [
        [r["team"], str(r["rank"]), _range(r), r["group"] or "–", *(number(r["scores"][m], 6).rstrip("0") for m in board["metrics"])]
        for r in board["rows"]
    ]  # fmt: skip
    print_grid(Grid(f"Leaderboard: {board['phase']}", ["team", "rank", "rank range", "group", *board["metrics"]], rows))


def _range(row: dict[str, Any]) -> str:
    if row["low"] is None:
        return "–"
    return str(row["low"]) if row["low"] == row["high"] else f"{row['low']}–{row['high']}"


@command.command("export")
@click.argument("benchmark")
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False), help="File to write.")
@server_option
@token_option
@guarded
def export(benchmark: str, output: str, **given: Any) -> None:
    """Write everything of a BENCHMARK, gold and submissions included, to one file."""
    _client(given).export_benchmark(benchmark, output)


@command.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--server", envvar="KARAT_SERVER", metavar="URL", help="Address of the server; else the store at hand.")
@token_option
@store_option
@guarded
def load(file: str, server: str | None, token: str | None, store: str | None) -> None:
    """Read an exported benchmark back, on a server or into a store; teams need new tokens."""
    if server:
        click.echo(_client({"server": server, "token": token}).import_benchmark(file)["id"])
        return
    from karat.store import open_store
    from karat.web import archive, tables
    from karat.web.limits import Limits
    from karat.web.people import LOCAL
    from karat.web.problems import Problem

    kept = open_store(store)
    tables.prepare(kept)
    try:
        with Path(file).open("rb") as source:
            click.echo(archive.load(kept, source, LOCAL, Limits()).id)
    except Problem as problem:
        raise MetricError(f"{problem.title}: {problem.detail}") from None
