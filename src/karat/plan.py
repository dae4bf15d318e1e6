# SPDX-License-Identifier: Apache-2.0
"""What is to be computed, with every default written out."""

from __future__ import annotations

import csv
import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from karat.contexts import catalogue, context, homes
from karat.contexts.base import Context
from karat.contexts.options import Option
from karat.evaluation import Score, make_score
from karat.findings import InputError, finding
from karat.hierarchy import Hierarchy
from karat.metric import Catalogue, Metric, MetricError, split_metrics
from karat.values import name_of

FILL = {"report": float("nan"), "zero": 0.0, "one": 1.0, "error": float("nan")}
"""What stands in for an undefined value, by policy."""


@dataclass(frozen=True)
class Plan:
    """A context with its metrics and options, all of them checked."""

    context: Context
    catalogue: Catalogue
    metrics: list[Metric]
    options: dict[str, Any]
    undefined: str = "report"
    seed: int = 0

    @property
    def fill(self) -> float:
        return FILL[self.undefined]

    def score(self, cells: Any) -> dict[Metric, Score]:
        """Every metric on the cells."""
        W, out = cells.by_test_case(), {}
        for metric in self.metrics:
            definition = self.catalogue[metric.name]
            out[metric] = make_score(definition, metric, cells, definition.compute(W, cells, metric, self.fill))
            if out[metric].undefined and self.undefined == "error":
                raise MetricError(f"{metric} is undefined: {out[metric].undefined}")
        return out

    def to_dict(self) -> dict[str, Any]:
        """Everything that decides the numbers, as plain data."""
        options = {k: v.to_dict() if isinstance(v, Hierarchy) else v for k, v in self.options.items()}
        metrics = {str(m): self.catalogue[m.name].settings(m, self.context.cells) for m in self.metrics}
        return {
            "context": self.context.name,
            "metrics": metrics,
            "options": options,
            "undefined": self.undefined,
            "seed": self.seed,
        }


def make_plan(
    name: str,
    metrics: Iterable[str | Metric] | None,
    options: Mapping[str, Any],
    undefined: str = "report",
    seed: int = 0,
    defaults: Sequence[str] | None = None,
) -> Plan:
    """A plan for the context called ``name``; what it cannot do is said at once.

    ``defaults`` are the metrics that the data call for when none is named, if not the context's own.
    """
    chosen, known = context(name), catalogue(name)
    if undefined not in FILL:
        raise MetricError(f"undefined={undefined!r} is not one of {', '.join(FILL)}")
    wanted = [_resolved(m, name, known) for m in _expanded(metrics, defaults or chosen.metrics, chosen, known)]
    return Plan(chosen, known, list(dict.fromkeys(wanted)), _options(chosen, options), undefined, seed)


def _resolved(metric: str | Metric, name: str, known: Catalogue) -> Metric:
    """The metric; one of other contexts is not unknown, but asked of the wrong data."""
    try:
        return known.resolve(metric)
    except MetricError as error:
        others = [] if known.names(metric) else homes(metric)
        if not others:
            raise
        raise MetricError(
            f"{metric} is a metric of {', '.join(others)}, and the data are taken for {name};"
            " if they are not that, name the context (-c, context=)"
        ) from error


def _expanded(
    metrics: Iterable[str | Metric] | None, defaults: Sequence[str], chosen: Context, known: Catalogue
) -> list[str | Metric]:
    if metrics is None:
        return list(defaults)
    if isinstance(metrics, (str, Metric)):
        metrics = split_metrics([metrics]) if isinstance(metrics, str) else [metrics]
    out: list[str | Metric] = []
    for metric in metrics:
        out += {"all": [d.name for d in known], "default": defaults, **chosen.groups}.get(str(metric), [metric])
    return out


def _options(chosen: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    known = {option.name: option for option in chosen.options}
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]}?" if near else f" (it has {', '.join(known) or 'none'})"
            raise MetricError(f"context {chosen.name} has no option {name!r}{hint}")
    return {name: _convert(option, given.get(name, option.default)) for name, option in known.items()}


def _convert(option: Option, value: Any) -> Any:
    if option.choices is Hierarchy:
        return None if value is None else read_hierarchy(value)
    if isinstance(option.choices, tuple):
        if str(value) not in option.choices:
            raise MetricError(f"{option.name}={value!r} is not one of {', '.join(option.choices)}")
        return str(value)
    if value is None:
        return None
    if option.choices is str:
        return name_of(value)
    try:
        return option.choices(value)
    except (TypeError, ValueError):
        raise MetricError(f"{option.name}={value!r} is not {option.choices.__name__}") from None


def read_hierarchy(given: Any) -> Hierarchy:
    """A hierarchy from a file (JSON, or child and parent separated by a tab or comma) or from Python data."""
    if not isinstance(given, (str, Path)):
        return Hierarchy.of(given)
    name, path = str(given), Path(given)
    if not path.is_file():
        raise InputError([finding("file-missing", name, path=str(path.absolute()))])
    try:
        text = path.read_bytes().decode("utf-8-sig").strip()
        data = json.loads(text, object_pairs_hook=_unrepeated) if text.startswith(("[", "{")) else _edges(text)
    except (OSError, ValueError, RecursionError, csv.Error) as error:
        raise InputError([finding("hierarchy-bad", name, reason=error)]) from error
    return Hierarchy.of(data, name)


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose names are all there once: of two, the first would be lost with all that is below it."""
    object_ = dict(pairs)
    if len(object_) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(n for n in names if names.count(n) > 1)!r} is there twice in one object")
    return object_


def _edges(text: str) -> list[tuple[str, str | None]]:
    """Child and parent of each line, separated by the first tab, or as CSV where no line has one."""
    rows = [row for row in csv.reader(text.splitlines(), delimiter="\t" if "\t" in text else ",") if any(row)]
    if not rows:
        raise ValueError("there is nothing in it")
    return [(row[0].strip(), row[1].strip() if len(row) > 1 else None) for row in rows]
