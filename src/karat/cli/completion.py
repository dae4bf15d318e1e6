# SPDX-License-Identifier: Apache-2.0
"""What a shell offers on TAB: files where inputs are named, and the names of metrics."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from karat.contexts import MODULES, catalogue


def files(context: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
    """The shell's own completion of paths: an argument that is a mere text would have none."""
    return [CompletionItem(begun, type="file")]


def metrics(context: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Metrics of the context that is named, or of all; after a comma the next one."""
    before, comma, last = begun.rpartition(",")
    chosen = context.params.get("context") or context.params.get("only")
    names = {d.name: d.doc.splitlines()[0] for name in ([chosen] if chosen else MODULES) for d in catalogue(name)}
    return [
        CompletionItem(before + comma + name, help=sentence)
        for name, sentence in sorted(names.items())
        if name.startswith(last)
    ]
