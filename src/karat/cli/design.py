# SPDX-License-Identifier: Apache-2.0
"""``karat design``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from karat.cli import completion
from karat.cli.failures import guarded
from karat.cli.options import (
    api_arguments,
    context_options,
    input_options,
    metrics_option,
    name_option,
    one_output_option,
    report_option,
    run_option,
)
from karat.cli.printing import spare, write_whole
from karat.cli.systems import handed, read_by
from karat.designing import design
from karat.metric import split_metrics
from karat.report.design import TEXT


@click.command("design", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("gold", shell_complete=completion.files)
@click.argument("preds", nargs=-1, shell_complete=completion.files, metavar="[PRED...]")
@metrics_option("Metric to plan for (repeatable).")
@input_options
@context_options
@click.option("--detect", "difference", type=float, help="True difference of two systems that is to be shown.")
@click.option("--width", type=float, help="Half of the width that intervals are to have.")
@click.option("--margin", type=float, help="Show that the first system is not worse by more than this.")
@click.option(
    "--power", type=click.FloatRange(0.01, 0.999), default=0.8, show_default=True, help="Probability to show it."
)
@click.option("--level", type=click.FloatRange(0.5, 0.9999), default=0.95, show_default=True, help="1 − α.")
@click.option("--one-sided", is_flag=True, help="Test only whether the first system is better.")
@click.option("--tests", type=click.IntRange(1), default=1, show_default=True, help="Tests that will share alpha.")
@click.option("--cluster-by", metavar="COLUMN", help="Gold column whose values are drawn whole (document, user, …).")
@run_option
@name_option
@click.option("--annotator", "annotators", multiple=True, metavar="FILE",
              help="Gold by another single annotator (repeatable); GOLD is the first.")  # fmt: skip
@report_option(TEXT)
@click.option("--digits", type=click.IntRange(0, 17), default=4, show_default=True, help="Decimals for people.")
@one_output_option
@guarded
def command(gold: str, preds: tuple[str, ...], metrics: tuple[str, ...], **given: Any) -> None:
    """Say how many units the next evaluation needs, from a pilot: GOLD and one or more systems.

    With two systems or more for a difference (--detect, --margin), with one for the width of an interval (--width).
    """
    files, names = systems = handed(gold, preds, given["names"])
    spare(read_by(gold, systems, given), filter(None, [given["output"]]))
    every = [gold, *given["annotators"]] if given["annotators"] else []
    passed = ("difference", "width", "margin", "power", "level", "one_sided", "tests", "cluster_by", "run")
    plan = design(
        gold,
        files,
        names=names,
        metrics=split_metrics(metrics) or None,
        annotators={os.path.basename(path): path for path in every},
        **{name: given[name] for name in passed},
        **api_arguments(given),
    )
    options = {"digits": given["digits"]} if given["report"] in ("table", "markdown", "latex") else {}
    text = plan.render(given["report"], **options)
    if given["output"] is None:
        click.echo(text, nl=False)
    else:
        write_whole(Path(given["output"]), text.encode())
