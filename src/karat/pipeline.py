# SPDX-License-Identifier: Apache-2.0
"""The pipeline: read, check, align, count, score; on this machine or on a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from karat.agree import agree
from karat.beside import beside_record, slice_error, sliced_by, weighed_by
from karat.contexts import context
from karat.counting import CountedSides, Meet, cluster_keys, counted_sides, gathered, meeting, prepared, system_result
from karat.engines.duckdb import Engine
from karat.evaluation import Evaluation, Rejected, SystemResult
from karat.findings import InputError
from karat.inputs import Column, by_index, on_cluster, read_side, to_read, with_ids
from karat.larger import counted_larger
from karat.metric import MetricError
from karat.plan import Plan, make_plan
from karat.progress import told
from karat.provenance import input_record, provenance
from karat.read import whole
from karat.request import Asked
from karat.side import Side
from karat.stats.settings import IntervalSettings

if TYPE_CHECKING:
    from karat.engines.spark import Frame
    from karat.stats.clusters import ClusterKeys, UnitGroups
    from karat.stats.slices import SliceKeys


class Scored(NamedTuple):
    """An evaluation with the plan behind it and, where they were named, the clusters of its units."""

    evaluation: Evaluation
    plan: Plan
    clusters: ClusterKeys | None
    stratified: bool = False
    slices: Sequence[SliceKeys] = ()


def scored(gold: Any, systems: Sequence[tuple[str, Any]], asked: Asked, wanted: IntervalSettings | None) -> Scored:
    """The whole pipeline; where some systems cannot be scored, the others, or what is wrong with all of them at once."""
    try:
        return _scored(gold, systems, asked, wanted)
    except InputError as error:
        if len(systems) < 2 or "-" in [data for data in (gold, *(s for _, s in systems)) if isinstance(data, str)]:
            raise slice_error(error, asked.beside) from error
        good, rejected = sifted(gold, systems, asked)
        if not rejected:
            raise slice_error(error, asked.beside) from error
        if not asked.keep_going or not good:
            every = dict.fromkeys(f for system in rejected for f in system.findings)
            raise slice_error(InputError(every), asked.beside) from error
        result = _scored(gold, good, asked, wanted)
        return result._replace(evaluation=replace(result.evaluation, rejected=rejected))


def sifted(gold: Any, systems: Sequence[tuple[str, Any]], asked: Asked) -> tuple[list[tuple[str, Any]], list[Rejected]]:
    """The systems that can be scored, each tried by itself, and those that cannot."""
    good, rejected = list[tuple[str, Any]](), list[Rejected]()
    for name, data in systems:
        try:
            _scored(gold, [(name, data)], replace(asked, hashes=False), None)
            good.append((name, data))
        except InputError as error:
            rejected.append(Rejected(name, error.findings))
    return good, rejected


def _scored(gold: Any, systems: Sequence[tuple[str, Any]], asked: Asked, wanted: IntervalSettings | None) -> Scored:
    keep_freed_memory()
    if asked.engine == "spark" or on_cluster(gold):
        return scored_on_cluster(gold, systems, asked, wanted)
    broken_down = asked.slices is not None or asked.weight is not None
    units = asked.units or broken_down or bool(asked.cluster_by) or bool(wanted and wanted.method == "groups")
    gold, systems = with_ids(gold, systems)
    systems, paired = by_index(gold, systems)
    asked, of_beside = asked.in_order(gold)
    with Engine(memory=asked.memory, temp=asked.temp) as engine, ExitStack() as stack:
        sides = [("gold", None, gold), *(("pred", name, data) for name, data in systems)]
        read = [partial(read_side, engine, stack, data, role, asked.given, name) for role, name, data in sides]
        loaded = gathered(read)
        if isinstance(loaded[0], Side):  # what has an index is in memory
            loaded[0].findings += of_beside
        meet = partial(meeting, gold, systems, paired, asked)
        counted = None
        if not all(isinstance(side, Side) for side in loaded):
            counted = None if units else counted_larger(engine, loaded, asked, meet)
            loaded = loaded if counted else gathered([partial(whole, side) for side in loaded])
        counted = counted or counted_sides(engine, loaded, asked, meet, units, bool(wanted))
        plan, results, clusters, inputs, texts, ready, handed = counted
        read_column = partial(gold_column, engine, stack, gold, ready, asked, plan)
        weights = None if asked.weight is None else weighed_by(asked.weight, read_column, ready, handed)
        slices = sliced_by(asked.slices, read_column, ready, handed)
    if weights is not None:
        from karat.stats.weighting import weighted

        results = [weighted(result, plan, weights) for result in results]
    if wanted:
        from karat.stats.estimate import add_intervals  # SciPy takes longer to import than most evaluations take

        results = [add_intervals(r, plan, wanted, clusters) for r in told(results, "systems with intervals")]
    if slices and not asked.compared:
        from karat.stats.slices import add_slices

        how = wanted or IntervalSettings(seed=plan.seed)
        results = [add_slices(r, plan, slices, how, clusters) for r in told(results, "systems sliced")]
    record = plan.to_dict() | {"reading": asked.reading} | beside_record(asked.slices, asked.weight)
    strata = bool(wanted and wanted.stratify_by)
    record |= {"intervals": wanted.to_dict() | {"cluster_by": None if strata else asked.cluster_by}} if wanted else {}
    evaluation = Evaluation(plan.context.name, results, record, provenance(inputs, plan.seed), texts)
    return Scored(evaluation, plan, clusters, strata, slices)


def gold_column(
    engine: Engine, stack: ExitStack, gold: Any, ready: Side, asked: Asked, plan: Plan, column: str
) -> ClusterKeys:  # fmt: skip
    """The values of a column of gold by unit: the one that rode along, or another reading of gold."""
    if column == asked.carried:
        return cluster_keys(ready, column)
    if isinstance(gold, str) and gold == "-":
        raise MetricError("gold from stdin is read once and carries one column: give it as a file")
    again = read_side(engine, stack, gold, "gold", replace(asked, cluster_by=column).given)
    return cluster_keys(prepared(whole(again), plan), column)


@cache
def keep_freed_memory() -> None:
    """Let the columns of one step take the place of those of the step before.

    glibc gives freed arrays back to the system at once, and every new one costs a fault per page (a tenth of an
    evaluation), until a program has freed a large block: then it keeps some. This block is never touched.
    """
    np.empty(31 << 20, np.uint8)


def scored_on_cluster(
    gold: Any, systems: Sequence[tuple[str, Any]], asked: Asked, wanted: IntervalSettings | None
) -> Scored:
    """The pipeline where a cluster reads, joins and groups, and what comes here is small."""
    from karat import distributed

    sides = [
        to_read(data, role, asked.given, name)
        for role, name, data in (("gold", None, gold), *(("pred", *s) for s in systems))
    ]
    golds, *preds = gathered(
        [partial(distributed.framed, data, read, asked.format, asked.master) for data, _, read in sides]
    )
    preds = [replace(pred, data=golds.data) if asked.shared else pred for pred in preds]
    name = distributed.context_of(golds, preds)
    single = asked.units or asked.cluster_by or asked.slices is not None or asked.weight is not None
    if single or name in distributed.SINGLE:
        tables = gathered([partial(distributed.collected, frame) for frame in (golds, *preds)])
        named = [
            (pred.name, data._replace(table=tables[0]) if isinstance(data, Column) else table)
            for pred, table, (_, data) in zip(preds, tables[1:], systems, strict=True)
        ]
        return scored(tables[0], named, replace(asked, context=name, engine=None, format=None), wanted)
    groups = bool(wanted and wanted.method == "groups")
    parts = [counted_on_cluster(golds, pred, name, asked, groups) for pred in preds]
    plan, inputs = parts[0][0].plan, [parts[0][0].inputs[0], *(part.inputs[1] for part, _ in parts)]
    results = [part.results[0] for part, _ in parts]
    if wanted:
        results = [estimated(result, plan, wanted, of) for result, (_, of) in zip(results, parts, strict=True)]
    record = plan.to_dict() | {"reading": asked.reading}
    record |= {"intervals": wanted.to_dict() | {"cluster_by": None}} if wanted else {}
    return Scored(Evaluation(plan.context.name, results, record, provenance(inputs, plan.seed)), plan, None)


def counted_on_cluster(
    gold: Frame, pred: Frame, name: str | None, asked: Asked, groups: bool
) -> tuple[CountedSides, UnitGroups | None]:
    """One system, and the random groups of its units where they were asked for."""
    from karat.distributed import WHOLE, Pair

    if name is not None and name in WHOLE:
        options = make_plan(name, asked.metrics, asked.options).options
        count, sides = WHOLE[name](gold, pred).count(options)
        plan = make_plan(
            name, asked.metrics, asked.options, asked.undefined, asked.seed, context(name).defaults(sides[0])
        )
        result = system_result(plan, sides[0], sides[1], count, pred.name)
        return CountedSides(plan, [result], None, [input_record(side, False) for side in sides], None, sides[0]), None
    pair = Pair(gold, pred, name, dict(asked.options), groups)
    asked = replace(asked, context=name, hashes=False)
    meet: Meet = lambda sides: agree(sides[0], sides[1:], asked.context)
    try:
        with Engine() as engine:
            counted = counted_sides(engine, pair.sides(), asked, meet, groups, False)
        result = counted.results[0]
        findings = pair.located([*result.findings, *pair.alike()])
    except InputError as error:
        near = pair.alike() if any(f.code == "no-common-ids" for f in error.findings) else []
        raise InputError([*pair.located(error.findings), *near]) from error
    return counted._replace(results=[replace(result, findings=findings)]), pair.unit_groups


def estimated(result: SystemResult, plan: Plan, wanted: IntervalSettings, groups: UnitGroups | None) -> SystemResult:
    """The result with intervals; what its cells know of merged units was needed for them alone."""
    from karat.stats.estimate import add_intervals

    out = add_intervals(result, plan, wanted, groups)
    if groups is not None:
        out.cells.unit, out.cells.unit_ids = None, None
    return out
