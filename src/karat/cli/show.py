# SPDX-License-Identifier: Apache-2.0
"""``karat show``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import click
import numpy as np

from karat.api import evaluate
from karat.cli import completion
from karat.cli.failures import guarded
from karat.cli.options import api_arguments, context_options, input_options, store_option
from karat.cli.printing import print_grid
from karat.cli.runs import found_run
from karat.cli.systems import handed
from karat.contexts.spans.data import SpanData
from karat.evaluation import Evaluation
from karat.metric import MetricError
from karat.report import mistakes
from karat.report.page import COLOURS, Line, page, plain
from karat.report.rows import Grid
from karat.store import open_store


@click.command("show")
@click.argument("sources", nargs=-1, shell_complete=completion.files, required=True, metavar="RUN | GOLD PRED...")
@click.option("--worst", type=click.IntRange(1), metavar="N", help="The N units with the worst scores of each system.")
@click.option("--disagree", metavar="A,B", help="Units that two systems score differently, the widest gaps first.")
@click.option("--confused", type=click.IntRange(1), metavar="N", help="The N pairs of labels that are confused most.")
@click.option(
    "-m",
    "--metric",
    metavar="METRIC",
    shell_complete=completion.metrics,
    help="Metric that scores units; else the first that can.",
)
@click.option("--document", "documents", multiple=True, metavar="ID", help="Document to show (repeatable; spans).")
@click.option(
    "--limit", type=click.IntRange(1), default=5, show_default=True, help="How many documents to show (spans)."
)
@click.option("--all", "everything", is_flag=True, help="Show documents without errors too (spans).")
@input_options
@context_options
@store_option
@guarded
def command(
    sources: tuple[str, ...], worst: int | None, disagree: str | None, confused: int | None, **given: Any
) -> None:
    """Show where systems are wrong, unit by unit, from a kept RUN or from files.

    By itself the 20 worst units; of spans, documents with gold and predicted spans marked under the text:
    = right, - missed, + spurious, ~ wrong.
    """
    evaluation = _evaluation(sources, given)
    if not (worst or disagree or confused):
        if evaluation.context == "spans":
            _print_pages(evaluation, given)
            return
        worst = 20
    for grid in _grids(evaluation, worst, disagree, confused, given["metric"]):
        print_grid(grid)


def _evaluation(sources: tuple[str, ...], given: dict[str, Any]) -> Evaluation:
    if len(sources) == 1 and os.path.exists(sources[0]):
        raise MetricError(f"{sources[0]} is a file: give GOLD and one or more PRED, or name a kept run")
    if len(sources) == 1:
        return found_run(open_store(given["store"], create=False), sources[0]).evaluation
    gold, *preds = sources
    files, names = handed(gold, preds)
    metrics = [given["metric"]] if given["metric"] else None
    return evaluate(gold, files, names=names, metrics=metrics, units=True, **api_arguments(given))


def _print_pages(evaluation: Evaluation, given: dict[str, Any]) -> None:
    for system in evaluation.systems:
        if len(evaluation.systems) > 1:
            click.secho(f"{system.name}\n", bold=True)
        data: SpanData = system.cells.data  # type: ignore[attr-defined]
        chosen = _chosen(data, given["documents"], given["everything"])
        for unit in chosen[: given["limit"]]:
            _print(page(data, unit))
        if not chosen:
            click.echo("no document has an error (--all shows them all)", err=True)


def _grids(
    evaluation: Evaluation, worst: int | None, disagree: str | None, confused: int | None, metric: str | None
) -> Iterator[Grid]:
    if worst:
        yield from (mistakes.worst_grid(evaluation, system, metric, worst) for system in evaluation.systems)
    if disagree:
        a, _, b = (part.strip() for part in disagree.partition(","))
        if not a or not b:
            raise MetricError(f"--disagree {disagree}: name two systems, as in --disagree A,B")
        yield mistakes.disagreement_grid(evaluation, a, b, metric, worst or 20)
    if confused:
        grids = [g for s in evaluation.systems for g in mistakes.confusion_grids(s, confused)]
        if not grids:
            raise MetricError(f"context {evaluation.context} has no confusion matrix")
        yield from grids


def _chosen(data: SpanData, documents: tuple[str, ...], everything: bool) -> list[int]:
    if documents:
        place = {name: unit for unit, name in enumerate(data.ids)}
        unknown = [name for name in documents if name not in place]
        if unknown:
            raise MetricError(f"no document {unknown[0]!r}; the first is {data.ids[0]!r}")
        return [place[name] for name in documents]
    if everything:
        return list(range(data.units))
    wrong = np.concatenate((data.gold.unit[data.errors.gold > 0], data.pred.unit[data.errors.pred > 0]))
    return np.unique(wrong).tolist()


def _print(lines: Iterator[Line]) -> None:
    """Colour on a terminal, plain text elsewhere."""
    if not sys.stdout.isatty():
        click.echo(plain(lines))
        return
    for line in lines:
        kinds = {mark.kind for mark in line.marks}
        colour = COLOURS.get(next(iter(kinds)), "magenta") if len(kinds) == 1 else "blue" if kinds else None
        click.echo(
            f"{line.name:5}" + click.style(line.text, fg=colour) if line.name else click.style(line.text, bold=True)
        )
    click.echo()
