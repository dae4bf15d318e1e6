# SPDX-License-Identifier: Apache-2.0
"""``karat show``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import click
import numpy as np

from karat.api import evaluate
from karat.cli.failures import guarded
from karat.cli.options import context_options, input_options, said
from karat.contexts.spans.data import SpanData
from karat.metric import MetricError
from karat.report.page import COLOURS, Line, page, plain


@click.command("show", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("gold")
@click.argument("pred")
@click.option("--document", "documents", multiple=True, metavar="ID", help="Document to show (repeatable).")
@click.option("--limit", type=click.IntRange(1), default=5, show_default=True, help="How many documents to show.")
@click.option("--all", "everything", is_flag=True, help="Show documents without errors too.")
@input_options
@context_options
@guarded
def command(gold: str, pred: str, documents: tuple[str, ...], limit: int, everything: bool, **given: Any) -> None:
    """Show documents with gold and predicted spans marked under the text: = right, - missed, + spurious, ~ wrong."""
    evaluation = evaluate(gold, pred, metrics=["f1"], **{**said(given), "context": "spans"})
    data: SpanData = evaluation.systems[0].cells.data  # type: ignore[attr-defined]
    for unit in _chosen(data, documents, everything)[:limit]:
        _print(page(data, unit))


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
