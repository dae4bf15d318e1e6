# SPDX-License-Identifier: Apache-2.0
"""``karat evaluate``."""

from __future__ import annotations

import sys
from math import isnan, nan
from typing import Any

import click

from karat.api import evaluate
from karat.cli import completion, progress
from karat.cli.failures import BAD_INPUT, MISSED, guarded, say_rejected, show
from karat.cli.options import (
    api_arguments,
    by_columns_option,
    cluster_options,
    context_options,
    delimited_options,
    engine_options,
    input_options,
    interval_options,
    keep_going_option,
    metrics_option,
    name_option,
    report_options,
    run_option,
    same_option,
    store_option,
    typed,
    weight_option,
)
from karat.cli.printing import spare, write_reports
from karat.cli.systems import handed, read_by
from karat.evaluation import Evaluation
from karat.metric import MetricError, parse, split_metrics
from karat.report.junit import missed
from karat.report.rows import BY


@click.command("evaluate")
@click.argument("gold", shell_complete=completion.files)
@click.argument("preds", nargs=-1, shell_complete=completion.files, metavar="[PRED...]")
@metrics_option("Metric to compute (repeatable); `all` for every one. Default: the context's usual ones.")
@input_options
@engine_options
@context_options
@click.option(
    "--undefined",
    type=click.Choice(["report", "zero", "one", "error"]),
    default="report",
    show_default=True,
    help="What an undefined score is.",
)
@interval_options
@run_option
@name_option
@keep_going_option
@same_option
@click.option("--stratify-by", metavar="COLUMN", help="Gold column whose values keep their numbers in every resample.")
@click.option(
    "--judge", metavar="FILE", help="Labels of a judge or model for all units, where gold has a random sample."
)
@click.option("--judge-strata", metavar="COLUMN", help="Column of the judge's file by which estimates are stratified.")
@by_columns_option
@weight_option
@report_options
@click.option(
    "--fail-under",
    multiple=True,
    metavar="METRIC=VALUE",
    help="Exit with 1 if a score is worse than this (repeatable).",
)
@cluster_options
@click.option("--save", is_flag=True, help="Keep the evaluation in the store, so that `karat runs` finds it again.")
@click.option("--tag", "tags", multiple=True, metavar="NAME", help="Tag of the kept run (repeatable; implies --save).")
@store_option
@click.option("--hashes", is_flag=True, help="Hash the records of large inputs too, to cite scores by.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of everything random.")
@click.option("-q", "--quiet", is_flag=True, help="Do not print warnings.")
@guarded
def command(
    gold: str, preds: tuple[str, ...], metrics: tuple[str, ...], fail_under: tuple[str, ...], **given: Any
) -> None:
    """Score one or more prediction files against GOLD (- reads stdin; NAME=FILE names a system,
    NAME=RUN,RUN gives a method of several runs; folders and quoted patterns give their files).

    Without PRED, gold and predictions are columns of one table: --gold-value, --pred-value.
    """
    gates = [gate(text) for text in fail_under]
    wanted = [*(split_metrics(metrics) or ("default",)), *(m for m, _ in gates)]
    files, names = systems = handed(gold, preds, given["names"], given["engine"] == "spark")
    spare(read_by(gold, systems, given), given["output"])
    slices = [what for what in given["by"] if what not in BY]
    given["by"] = tuple(what for what in given["by"] if what in BY)
    save = given["save"] or bool(given["tags"])
    if not save and typed("store"):
        raise click.UsageError("--store says where a run is kept, and none is: add --save (or --tag NAME)")
    with progress.shown(given["quiet"]):
        evaluation = evaluate(
            gold,
            files,
            units=save or "html" in given["report"],
            slices=slices or None,
            hashes=True if save or given["hashes"] else None,
            names=names,
            metrics=wanted,
            undefined=given["undefined"],
            seed=given["seed"],
            **{
                name: given[name]
                for name in (
                    "intervals",
                    "interval_method",
                    "resamples",
                    "cluster_by",
                    "run",
                    "judge",
                    "judge_strata",
                    "stratify_by",
                    "weight",
                    "memory",
                    "temp",
                    "engine",
                    "master",
                    "keep_going",
                    "allow_same",
                )
            },
            **api_arguments(given),
        )
    write(evaluation, given | {"gates": gates})
    if save:
        keep(evaluation, given)
    show(evaluation.findings, given["quiet"])
    say_rejected(evaluation)
    failed = [line for m, limit in gates for line in below(evaluation, m, limit)]
    for line in failed:
        click.echo(line, err=True)
    if evaluation.rejected:
        sys.exit(BAD_INPUT)
    if failed:
        sys.exit(MISSED)


def keep(evaluation: Evaluation, given: dict[str, Any]) -> None:
    """Save the run and say where it is."""
    from karat.store import open_store

    store = open_store(given["store"])
    run = store.save(evaluation, given["tags"])
    click.echo(f"saved run {run.id} in {store}", err=True)


def gate(text: str) -> tuple[str, float]:
    metric, _, limit = text.rpartition("=")
    try:
        parse(metric)
        value = float(limit)
    except ValueError:
        value = nan
    if isnan(value):  # no score is worse than that
        raise MetricError(f"--fail-under {text}: write METRIC=VALUE, as in f1=0.8")
    return metric, value


def below(evaluation: Evaluation, metric: str, limit: float) -> list[str]:
    """A line for each system whose score is missing or worse than the limit."""
    out = []
    for system in evaluation.systems:
        score = system[metric]
        if missed(score, limit):
            got = "undefined" if score.value is None else f"{score.value:.6g}"
            out.append(f"failed: {system.name}: {score.metric} is {got}, limit {limit:g}")
    return out


def write(evaluation: Evaluation, given: dict[str, Any]) -> None:
    """Each report to its file, and the one without a file to stdout."""
    options = dict[str, dict[str, Any]]()

    def text(report: str) -> str:
        content, options[report] = rendered(evaluation, given | {"report": report})
        return content

    write_reports(given, text, lambda report, content: emit(evaluation, content, report, options[report]))


def rendered(evaluation: Evaluation, given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """One report, and the options that it was made with."""
    report, options = given["report"], dict[str, Any]()
    if report == "trec":
        options = {"by": given["by"]}
    elif report == "junit":
        options = {"limits": dict(given.get("gates", ()))}
    elif report not in ("json", "tsv", "csv", "pyevall"):
        options = {"by": given["by"], "digits": given["digits"]}
    if report in ("table", "markdown", "latex"):
        options["show"] = shown(evaluation, given["show"])
    options |= delimited_options(given)
    return evaluation.render(report, **options), options


def shown(evaluation: Evaluation, details: tuple[str, ...]) -> tuple[str, ...]:
    """The detail tables to show, all of which must be there."""
    there = dict.fromkeys(d.name for system in evaluation.systems for d in system.details)
    for name in details:
        if name not in (*there, "all"):
            raise MetricError(f"there is no detail table {name!r} here; there is {', '.join(there) or 'none'}")
    return details


PIECE = 1 << 20
"""Signs of a report that are written together: that of a hundred thousand queries has 140 MB, and would be there three times."""


def emit(evaluation: Evaluation, text: str, report: str, options: dict[str, Any]) -> None:
    """To a terminal the table goes with colour and rules; anywhere else as plain text."""
    if report == "table" and sys.stdout.isatty():
        from karat.report.rich import print_table

        print_table(evaluation, **options)
    else:
        for at in range(0, len(text), PIECE):
            click.echo(text[at : at + PIECE], nl=False)
