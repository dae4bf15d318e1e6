# SPDX-License-Identifier: Apache-2.0
"""``karat evaluate-luis``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from karat.cli.failures import guarded
from karat.doors.luis import evaluate_model, read_batch
from karat.findings import InputError, finding


@click.command("evaluate-luis", context_settings={"help_option_names": ["-h", "--help"]})
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
    try:
        texts = [path.read_text(encoding="utf-8") for path in (file, predicted) if path]
        response = evaluate_model(**read_batch(*texts), **options)
    except FileNotFoundError as error:
        raise InputError([finding("file-missing", str(error.filename), path=str(error.filename))]) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError([finding("file-unreadable", str(file), reason=f"{error}")]) from None
    except json.JSONDecodeError as error:
        raise InputError([finding("bad-json", str(file), error.lineno, reason=error.msg)]) from None
    except (ValueError, RecursionError) as error:
        raise InputError([finding("bad-test-data", str(file), reason=f"{error}")]) from None
    click.echo(response.to_json(), nl=False)
