# SPDX-License-Identifier: Apache-2.0
"""The command ``karat``: a group whose commands are imported when they are called."""

from __future__ import annotations

import difflib
import os
import sys
from importlib import import_module
from typing import Any

import click

from karat import __version__
from karat.cli.defaults import of_command
from karat.cli.exits import run

COMMANDS = {
    "evaluate": "Score predictions against gold.",
    "compare": "Compare systems: which is better, by how much, how surely.",
    "design": "Say how many units the next evaluation needs, from a pilot.",
    "validate": "Check files and say what is wrong, where and how to mend it.",
    "show": "Show where systems are wrong, unit by unit: the worst, and those on which two disagree.",
    "runs": "List, show, compare, tag, export and delete kept runs.",
    "verify": "Repeat a kept run or report and say what differs.",
    "metrics": "List the metrics, or explain one.",
    "formats": "List the file formats and contexts that are understood.",
    "serve": "Serve pages and REST: evaluate, compare, benchmarks with hidden gold.",
    "submit": "Submit a file to a benchmark of a server.",
    "benchmark": "Make, change, export and import benchmarks of a server.",
    "token": "Make a token for somebody to use a server.",
    "store": "Back up a store.",
    "demo": "Walk through every context on bundled data; write it and a report into a folder.",
    "evaluate-poetry-spans": "Score poem excerpts on pages, as the poetry evaluation script does.",
    "evaluate-luis": "Score intents and nested entities, as the LUIS model evaluation does.",
}
"""Commands and their one-line help; each is the function ``command`` of karat.cli.NAME (dashes as underscores)."""


COMPLETION = "_KARAT_COMPLETE"
"""Variable by which a shell asks for completions."""


class Commands(click.Group):
    """Lists every command without importing any."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        # One thread for NumPy's linear algebra: starting more costs each command 0.1 s, and sums may round otherwise.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        command: click.Command = import_module(f"karat.cli.{name.replace('-', '_')}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """``karat GOLD PRED`` is ``karat evaluate GOLD PRED``, unless GOLD is no file but a command misspelt."""
        near = difflib.get_close_matches(args[0], COMMANDS, 1)
        if args[0] not in COMMANDS and near and not os.path.exists(args[0]):
            ctx.fail(f"No such command or file '{args[0]}'. Did you mean '{near[0]}'?")
        if args[0] not in COMMANDS and len(args) > 1:
            args = ["evaluate", *args]
        name, command, rest = super().resolve_command(ctx, args)
        if name and COMPLETION not in os.environ:  # nobody wants to read of settings while typing
            ctx.default_map = {name: of_command(self, ctx, name)}
        return name, command, rest


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="karat %(version)s")
def karat() -> None:
    """Score a system's output against a gold standard.

    \b
    karat evaluate gold.json system.json
    karat evaluate gold.tsv a.tsv b.tsv -m f1 -m kappa --report markdown
    """


def main() -> None:
    """Run the command; anything unforeseen is an internal error, exit code 3."""
    sys.exit(run(_command))


def _command() -> Any:
    if COMPLETION in os.environ:
        return karat.main(prog_name="karat")
    # Not `karat.main`, which makes an exit of its own of a reader that has seen enough, and of Ctrl-C.
    with karat.make_context("karat", sys.argv[1:]) as context:
        return karat.invoke(context)
