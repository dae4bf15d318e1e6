# SPDX-License-Identifier: Apache-2.0
"""What is to be computed, with every default written out."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from karat.contexts import catalogue, context
from karat.contexts.base import Context
from karat.contexts.options import Option
from karat.findings import InputError, finding
from karat.hierarchy import Hierarchy
from karat.metric import Catalogue, Metric, MetricError

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
    wanted = [known.resolve(m) for m in _expanded(metrics, defaults or chosen.metrics, chosen, known)]
    return Plan(chosen, known, list(dict.fromkeys(wanted)), _options(chosen, options), undefined, seed)


def _expanded(
    metrics: Iterable[str | Metric] | None, defaults: Sequence[str], chosen: Context, known: Catalogue
) -> list[str | Metric]:
    if metrics is None:
        return list(defaults)
    if isinstance(metrics, (str, Metric)):
        metrics = [metrics]
    out: list[str | Metric] = []
    for one in metrics:
        out += {"all": [d.name for d in known], "default": defaults, **chosen.groups}.get(str(one), [one])
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
    text = path.read_bytes()
    try:
        decoded = text.decode("utf-8-sig").strip()
        if decoded[:1] in "[{":
            return Hierarchy.of(msgspec.json.decode(decoded), name)
    except (UnicodeDecodeError, msgspec.DecodeError) as error:
        raise InputError([finding("hierarchy-bad", name, reason=error)]) from error
    rows = [line.replace("\t", ",").split(",") for line in decoded.splitlines() if line.strip()]
    return Hierarchy.of([(row[0].strip(), row[1].strip() if len(row) > 1 else None) for row in rows], name)
