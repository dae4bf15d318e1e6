# SPDX-License-Identifier: Apache-2.0
"""``karat evaluate-luis``."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import click

from karat.cli.failures import guarded, show
from karat.doors.luis import evaluate_model, read_batch
from karat.findings import InputError, finding


@click.command("evaluate-luis")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("predicted", type=click.Path(path_type=Path), required=False)
@click.option("--verbose", is_flag=True, help="Also the scores of place and of type by themselves.")
@click.option("--compat", type=click.Choice(["luis"]), help="The old package's numbers, errors included.")
@click.option(
    "--end",
    type=click.Choice(["inclusive", "exclusive"]),
    default="inclusive",
    show_default=True,
    help="Whether the last position belongs to the entity.",
)
@guarded
def command(file: Path, predicted: Path | None, **options: Any) -> None:
    """Score intents and nested entities: FILE is JSON with Text, LabeledData and PredictedData of each utterance.

    With a second file the first holds the labels and the second the predictions, in the same order.
    """
    texts = [content(path) for path in (file, predicted) if path]
    try:
        with warnings.catch_warnings(action="ignore"):  # the findings are shown below
            response = evaluate_model(**read_batch(*texts), **options)
    except json.JSONDecodeError as error:
        wrong = predicted if predicted and error.doc != texts[0] else file
        raise InputError([finding("bad-json", str(wrong), error.lineno, reason=error.msg)]) from None
    except (ValueError, RecursionError) as error:
        reason = ", ".join((f"{error}", *getattr(error, "__notes__", ())))
        raise InputError([finding("bad-test-data", str(file), reason=reason)]) from None
    show(response.findings)
    click.echo(response.to_json(), nl=False)


def content(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError([finding("file-missing", str(path), path=str(path.absolute()))]) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError([finding("file-unreadable", str(path), reason=f"{error}")]) from None
