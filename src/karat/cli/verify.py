# SPDX-License-Identifier: Apache-2.0
"""``karat verify``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click
import msgspec

from karat.cli import completion
from karat.cli.failures import MISSED, guarded
from karat.cli.options import store_option
from karat.metric import MetricError
from karat.store import Check, Recorded, StoreError, bundle, open_store, verify
from karat.store.record import run_of


@click.command("verify")
@click.argument("run", shell_complete=completion.files)
@click.option("--gold", metavar="FILE", shell_complete=completion.files, help="Where gold is now, if not where it was.")
@click.option(
    "--pred", "preds", multiple=True, metavar="SYSTEM=FILE", help="Where a system's file is now (repeatable)."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per check.")
@store_option
@guarded
def command(run: str, gold: str | None, preds: tuple[str, ...], as_json: bool, store: str | None) -> None:
    """Repeat RUN (a kept run, an exported one or a JSON report) and say what is equal and what differs.

    Exit codes: 0 all equal (or equal but for rounding); 1 something differs; 2 bad input or usage.
    """
    files = dict(_moved(p) for p in preds) | ({"gold": gold} if gold else {})
    checks = verify(_recorded(run, store), files, os.path.dirname(run) if os.path.isfile(run) else "")
    for check in checks:
        click.echo(msgspec.json.encode(check).decode() if as_json else _line(check))
    if any(c.status in ("changed", "unknown") for c in checks):
        sys.exit(MISSED)


def _moved(text: str) -> tuple[str, str]:
    name, mark, file = text.partition("=")
    if not mark:
        raise MetricError(f"--pred {text}: write SYSTEM=FILE")
    return name, file


def _recorded(name: str, store: str | None) -> Recorded:
    path = Path(name)
    if not path.is_file():
        return Recorded.of_run(open_store(store, create=False)[name])
    data = path.read_bytes()
    if data[:2] == b"PK":
        return Recorded.of_run(run_of(*bundle.read(data), bundle.most_unpacked(data)))
    try:
        return Recorded.of_report(msgspec.json.decode(data))
    except (msgspec.DecodeError, StoreError) as error:
        raise MetricError(f"{name} is neither a JSON report nor an exported run: {error}") from None


def _line(check: Check) -> str:
    mark = {"equal": "=", "close": "≈", "changed": "≠", "unknown": "?"}[check.status]
    return f"{mark} {check.what}: {check.message}"
