# SPDX-License-Identifier: Apache-2.0
"""``karat compare``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from karat.api import compare
from karat.ci import gates
from karat.cli import completion
from karat.cli.failures import BAD_INPUT, MISSED, guarded, say_rejected, show
from karat.cli.options import (
    api_arguments,
    context_options,
    delimited_options,
    formulas_option,
    input_options,
    interval_options,
    keep_going_option,
    metrics_option,
    name_option,
    output_option,
    report_option,
    run_option,
    same_option,
    weight_option,
)
from karat.cli.printing import spare, write_reports, write_whole
from karat.cli.progress import shown
from karat.cli.systems import called, handed, read_by
from karat.comparison import Comparison
from karat.metric import split_metrics
from karat.report.comparison import TEXT
from karat.report.delimited import delimited
from karat.stats.settings import CORRECTIONS, JOINT, ON_REQUEST


@click.command("compare")
@click.argument("gold", shell_complete=completion.files)
@click.argument("preds", nargs=-1, shell_complete=completion.files, metavar="[PRED PRED...]")
@metrics_option("Metric to compare on (repeatable).")
@input_options
@context_options
@interval_options
@run_option
@click.option(
    "--by", "slices", multiple=True, metavar="COLUMN",
    help="Compare on each value of a gold column too (repeatable; COLUMN:5 gives five bins of numbers).",
)  # fmt: skip
@weight_option
@name_option
@keep_going_option
@same_option
@click.option("--baseline", metavar="SYSTEM", help="Compare every system with this one alone.")
@click.option(
    "--correction",
    type=click.Choice([*CORRECTIONS, *JOINT]),
    default="holm",
    show_default=True,
    help="Correction of p-values over all pairs and metrics.",
)
@click.option(
    "--test", "tests", multiple=True, type=click.Choice(ON_REQUEST), help="Another test to show beside (repeatable)."
)
@click.option("--draws", type=click.IntRange(99), help="Draws of the randomisation test. Default: 9999.")
@click.option(
    "--margin",
    type=float,
    help="Largest difference that does not matter: for --fail-if-worse, equivalence and --test non-inferiority.",
)
@click.option("--rope", type=float, help="Region of practical equivalence: adds Bayesian probabilities.")
@click.option("--detect", type=float, help="Say how many units a difference of this size needs (80 % power).")
@click.option(
    "--paired-runs", is_flag=True, help="Run r of each method belong together (the same seed, fold or prompt)."
)
@click.option(
    "--one-sided", is_flag=True, help="Test only whether the first of each pair is better (than the baseline)."
)
@click.option("--sequential", is_flag=True, help="Tests and intervals that hold at every look while the data grow.")
@click.option("--fail-if-worse", metavar="BASELINE", help="Exit with 1 if a system is worse than this one.")
@click.option(
    "--inconclusive",
    type=click.Choice(["pass", "fail"]),
    default="pass",
    show_default=True,
    help="What --fail-if-worse does where the data cannot tell.",
)
@click.option("--disagree", "disagree", type=click.Path(dir_okay=False, allow_dash=True), metavar="FILE",
              help="Write the units that the first two systems score differently (.tsv, .csv, .jsonl; - for stdout).")  # fmt: skip
@click.option(
    "--undefined",
    type=click.Choice(["report", "zero", "one", "error"]),
    default="report",
    show_default=True,
    help="What an undefined score is.",
)
@report_option(TEXT, multiple=True)
@click.option("--show", multiple=True, type=click.Choice(["all"]), help="Print long tables of detail too.")
@click.option("--digits", type=click.IntRange(0, 17), default=4, show_default=True, help="Decimals for people.")
@output_option
@formulas_option
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of everything random.")
@click.option("-q", "--quiet", is_flag=True, help="Do not print warnings.")
@guarded
def command(gold: str, preds: tuple[str, ...], metrics: tuple[str, ...], **given: Any) -> None:
    """Compare two or more prediction files on the same GOLD: which is better, by how much, how surely.

    NAME=FILE names a system; NAME=RUN,RUN gives a method of several runs, and methods are compared; folders and quoted
    patterns give their files. Without PRED, gold and systems are columns of one table: --gold-value, --pred-value.

    Exit codes: 0 done; 1 --fail-if-worse was missed; 2 bad input or usage.
    """
    systems = handed(gold, preds, given["names"])
    spare(read_by(gold, systems, given), [*given["output"], *filter(None, [given["disagree"]])])
    passed = (
        "interval_method",
        "resamples",
        "cluster_by",
        "weight",
        "undefined",
        "seed",
        "correction",
        "draws",
        "margin",
        "rope",
        "detect",
        "run",
        "paired_runs",
        "one_sided",
        "sequential",
        "keep_going",
        "allow_same",
    )
    with shown(given["quiet"]):
        comparison = compare(
            gold,
            systems.files,
            names=systems.names,
            metrics=split_metrics(metrics) or None,
            level=given["intervals"] or 0.95,
            baseline=called(given["fail_if_worse"] or given["baseline"], systems),
            tests=given["tests"],
            slices=list(given["slices"]) or None,
            **{name: given[name] for name in passed},
            **api_arguments(given),
        )
    if given["disagree"]:
        export(comparison, given["disagree"])
    if given["disagree"] != "-":
        write(comparison, given)
    told = given["disagree"] != "-" and "table" in given["report"][len(given["output"]) :]
    show(comparison.unsaid if told else comparison.findings, given["quiet"])
    say_rejected(comparison.evaluation)
    if comparison.evaluation.rejected:
        sys.exit(BAD_INPUT)
    if given["fail_if_worse"]:
        check(comparison, given)


def write(comparison: Comparison, given: dict[str, Any]) -> None:
    """Each report to its file, and the one without a file to stdout."""
    write_reports(given, lambda report: rendered(comparison, given | {"report": report}), emit)


def rendered(comparison: Comparison, given: dict[str, Any]) -> str:
    options = {"digits": given["digits"]} if given["report"] in ("table", "markdown", "latex", "html") else {}
    if given["report"] == "table":
        options["show"] = given["show"]
    text: str = comparison.render(given["report"], **options, **delimited_options(given))
    return text


def emit(report: str, text: str) -> None:
    click.echo(text, nl=False)


def export(comparison: Comparison, target: str) -> None:
    """Units that the first two systems score differently, in the form that the file's name says."""
    import msgspec

    first, second = comparison.pairs[0].a, comparison.pairs[0].b
    rows = comparison.disagreements(first, second)
    kind = Path(target).suffix.lower()
    if kind in (".jsonl", ".json"):
        text = "".join(msgspec.json.encode(row).decode() + "\n" for row in rows)
    else:
        text = delimited(rows, "," if kind == ".csv" else "\t")
    click.echo(text, nl=False) if target == "-" else write_whole(Path(target), text.encode())


def check(comparison: Comparison, given: dict[str, Any]) -> None:
    """Say each outcome of the gate, and exit with 1 if one is bad."""
    outcomes = gates(comparison, given["margin"] or 0.0)
    bad = {"worse"} | ({"inconclusive"} if given["inconclusive"] == "fail" else set())
    for gate in outcomes:
        click.echo(f"{'failed' if gate.outcome in bad else 'passed'}: {gate}", err=True)
    if any(gate.outcome in bad for gate in outcomes):
        sys.exit(MISSED)
