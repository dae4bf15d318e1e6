# SPDX-License-Identifier: Apache-2.0
"""``karat metrics``."""

from __future__ import annotations

import inspect

import click

from karat.cli import completion
from karat.cli.failures import guarded
from karat.contexts import MODULES, catalogue, context
from karat.metric import Definition, MetricError, parse, unknown_metric


@click.command("metrics")
@click.argument("name", required=False, shell_complete=completion.metrics)
@click.option("-c", "--context", "only", type=click.Choice(list(MODULES)), help="Only the metrics of one context.")
@guarded
def command(name: str | None, only: str | None) -> None:
    """List the metrics, or explain the one called NAME."""
    contexts = [only] if only else list(MODULES)
    click.echo(explained(name, contexts) if name else listed(contexts), nl=False)


def listed(contexts: list[str]) -> str:
    """Every metric with the first sentence of its definition, by context."""
    parts = []
    for name in contexts:
        definitions = list(catalogue(name))
        width = max(len(d.name) for d in definitions)
        lines = [f"  {d.name.ljust(width)}  {d.doc.splitlines()[0]}" for d in sorted(definitions, key=lambda d: d.name)]
        parts.append("\n".join([f"{name}: {context(name).title}", *lines]))
    return "\n\n".join(parts) + "\n"


def explained(name: str, contexts: list[str]) -> str:
    """The definition of a metric in each context that has it."""
    wanted = parse(name).name
    definitions = {c: catalogue(c).definitions.get(wanted) for c in contexts}
    groups: dict[int, tuple[Definition, list[str]]] = {}
    for where, definition in definitions.items():
        if definition:
            groups.setdefault(id(definition), (definition, []))[1].append(where)
    if not groups:
        raise MetricError(unknown_metric(wanted, {d.name for c in contexts for d in catalogue(c)}))
    return "\n".join(page(definition, where) for definition, where in groups.values())


def parameters(definition: Definition, where: list[str]) -> dict[str, str]:
    """Default and values of each parameter by its name, with the contexts in which they are not those of the first."""
    defaults: dict[str, dict[str, list[str]]] = {}
    for context_name in where:
        for p in definition.parameters(context(context_name).cells).values():
            defaults.setdefault(p.name, {}).setdefault(f"{p.default} ({p.describe})", []).append(context_name)
    return {
        name: ", ".join([first, *(f"in {' and '.join(at)} {value}" for value, at in others)])
        for name, ((first, _), *others) in ((name, kinds.items()) for name, kinds in defaults.items())
    }


def page(definition: Definition, where: list[str]) -> str:
    """Everything that is known of one metric."""
    low, high = ("−∞" if b == float("-inf") else "∞" if b == float("inf") else f"{b:g}" for b in definition.bounds)
    lines = [f"{name} = {values}" for name, values in parameters(definition, where).items()]
    facts = [
        f"{definition.title} ({definition.name})",
        f"Contexts: {', '.join(where)}",
        f"Range: {low} to {high}; better: {definition.better}" + ("; by class" if definition.by_class else ""),
        "Parameters: " + ("; ".join(lines) or "none"),
        f"Reference: {definition.reference}",
        "",
        inspect.cleandoc(definition.doc),
        "",
    ]
    return "\n".join(facts)
