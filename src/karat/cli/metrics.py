# SPDX-License-Identifier: Apache-2.0
"""``karat metrics``."""

from __future__ import annotations

import inspect

import click

from karat.cli.failures import guarded
from karat.contexts import MODULES, catalogue, context
from karat.metric import Definition, MetricError, parse, unknown_metric


@click.command("metrics")
@click.argument("name", required=False)
@click.option("-c", "--context", "only", type=click.Choice(list(MODULES)), help="Only the metrics of one context.")
@guarded
def command(name: str | None, only: str | None) -> None:
    """List the metrics, or explain the one called NAME."""
    contexts = [only] if only else list(MODULES)
    click.echo(explained(name, contexts) if name else listed(contexts), nl=False)


def listed(contexts: list[str]) -> str:
    """Every metric with the first sentence of its definition, by context."""
    parts = []
    for one in contexts:
        found = list(catalogue(one))
        width = max(len(d.name) for d in found)
        lines = [f"  {d.name.ljust(width)}  {d.doc.splitlines()[0]}" for d in sorted(found, key=lambda d: d.name)]
        parts.append("\n".join([f"{one}: {context(one).title}", *lines]))
    return "\n\n".join(parts) + "\n"


def explained(name: str, contexts: list[str]) -> str:
    """The definition of a metric in each context that has it."""
    wanted = parse(name).name
    found = {c: catalogue(c).definitions.get(wanted) for c in contexts}
    groups: dict[int, tuple[Definition, list[str]]] = {}
    for where, definition in found.items():
        if definition:
            groups.setdefault(id(definition), (definition, []))[1].append(where)
    if not groups:
        raise MetricError(unknown_metric(wanted, {d.name for c in contexts for d in catalogue(c)}))
    return "\n".join(page(definition, where) for definition, where in groups.values())


def parameters(definition: Definition, where: list[str]) -> dict[str, str]:
    """Default and values of each parameter by its name, with the contexts in which they are not those of the first."""
    found: dict[str, dict[str, list[str]]] = {}
    for one in where:
        for p in definition.parameters(context(one).cells).values():
            found.setdefault(p.name, {}).setdefault(f"{p.default} ({p.describe})", []).append(one)
    return {
        name: ", ".join([first, *(f"in {' and '.join(at)} {said}" for said, at in others)])
        for name, ((first, _), *others) in ((name, kinds.items()) for name, kinds in found.items())
    }


def page(definition: Definition, where: list[str]) -> str:
    """Everything that is known of one metric."""
    low, high = ("−∞" if b == float("-inf") else "∞" if b == float("inf") else f"{b:g}" for b in definition.bounds)
    said = [f"{name} = {values}" for name, values in parameters(definition, where).items()]
    facts = [
        f"{definition.title} ({definition.name})",
        f"Contexts: {', '.join(where)}",
        f"Range: {low} to {high}; better: {definition.better}" + ("; by class" if definition.by_class else ""),
        "Parameters: " + ("; ".join(said) or "none"),
        f"Reference: {definition.reference}",
        "",
        inspect.cleandoc(definition.doc),
        "",
    ]
    return "\n".join(facts)
