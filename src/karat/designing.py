# SPDX-License-Identifier: Apache-2.0
"""From a pilot to the size of the next evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from karat.inputs import Columns, systems_of
from karat.methods import methods_of
from karat.metric import Metric, MetricError
from karat.needs import Design
from karat.pipeline import scored
from karat.request import Asked


def design(
    gold: Any,
    systems: Any,
    *,
    difference: float | None = None,
    width: float | None = None,
    margin: float | None = None,
    power: float = 0.8,
    level: float = 0.95,
    one_sided: bool = False,
    tests: int = 1,
    annotators: Mapping[str, Any] | None = None,
    context: str | None = None,
    metrics: Iterable[str | Metric] | None = None,
    format: str | None = None,
    encoding: str | None = None,
    columns: Columns | None = None,
    separator: str | None = None,
    undefined: str = "report",
    seed: int = 0,
    names: Sequence[str] | None = None,
    cluster_by: str | None = None,
    run: str | None = None,
    max_unpacked: int | None = None,
    **options: Any,
) -> Design:
    """How many units (clusters, runs, annotators) show a ``difference``, or an interval of ± ``width``.

    The spread comes from a pilot: one or more systems on a small gold standard. With a ``margin`` the aim is to show
    that the first system is not worse by more than that, if the true difference is ``difference`` (0 if not given).
    ``tests`` share alpha. ``annotators`` are gold standards by single annotators, in place of ``gold``.

    >>> gold, a, b = ["A", "B"] * 30, ["A", "B"] * 25 + ["A", "A"] * 5, ["A", "B"] * 22 + ["B", "B"] * 8
    >>> karat.design(gold, {"a": a, "b": b}, difference=0.05, metrics=["accuracy"]).needs[0].needed
    686
    """
    from karat.stats.design import Aim
    from karat.stats.pilot import needs

    if width is None and difference is None and margin is None:
        raise MetricError("a design needs an aim: a difference to detect, a width of intervals, or a margin")
    aim = Aim(difference, margin, width, power, round(1 - level, 12), one_sided, tests)
    handed = systems_of(gold, systems, names, columns, by_name=True)
    methods = methods_of(handed.named, run, encoding)
    asked = Asked(
        context, metrics, format, encoding, handed.columns, undefined, seed, True, cluster_by, options,
        max_unpacked=max_unpacked, separator=separator, shared=handed.shared,
    )  # fmt: skip
    if annotators and methods.repeated:
        raise MetricError("give several runs or several annotators, not both: a pilot tells one of them apart")
    if annotators:
        views = [scored(labels, methods.systems, asked, None) for labels in annotators.values()]
        grouped = {name: [v.evaluation.systems[i] for v in views] for name, (i, *_) in methods.groups.items()}
        result, facet = views[0], "annotators"
    else:
        result, facet = scored(gold, methods.systems, asked, None), "runs" if methods.repeated else ""
        grouped = {name: [result.evaluation.systems[i] for i in g] for name, g in methods.groups.items()}
    return Design(needs(grouped, result.plan, aim, facet, result.clusters), asdict(aim), seed)
