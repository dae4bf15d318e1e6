# SPDX-License-Identifier: Apache-2.0
"""Sides to results: prepared, checked, aligned, counted and scored by the context that they mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from karat.agree import agree, by_position, case_of_query, check_labels, suspicions
from karat.beside import not_ignored
from karat.check import leave_out
from karat.columns import Codes
from karat.contexts import CONTEXT_OF, context
from karat.contexts.agreement import AGREEMENT
from karat.contexts.base import Counted
from karat.engines.duckdb import Engine
from karat.engines.memory import count
from karat.evaluation import SystemResult
from karat.findings import Finding, InputError, finding, stop_on_errors
from karat.inputs import are_two_files, check_tables
from karat.numeric import are_labels, name_columns, of_numbers
from karat.plan import Plan, make_plan
from karat.progress import told
from karat.provenance import input_record
from karat.read.roles import as_labels
from karat.request import Asked
from karat.side import Side
from karat.values import SAID

if TYPE_CHECKING:
    from karat.stats.clusters import ClusterKeys


T = TypeVar("T")


class CountedSides(NamedTuple):
    """What counting all systems gives."""

    plan: Plan
    results: list[SystemResult]
    clusters: ClusterKeys | None
    inputs: list[dict[str, Any]]
    texts: dict[str, str] | None
    gold: Side
    handed: Side | None = None
    """Gold with the records that were left out, whose places are counted; None where nothing was."""


Meet = Callable[[Sequence[Any]], tuple[Any, list[Any]]]
"""How sides are made ready to meet."""


def meeting(
    gold: Any, systems: Sequence[tuple[str, Any]], paired: Mapping[str, Finding], asked: Asked, sides: Sequence[Any]
) -> tuple[Any, list[Any]]:
    """Gold and systems that mean the same by what they say; where they cannot, the findings that say why."""
    golds, *preds = sides
    for side in preds:
        if side.keys.id == golds.keys.id:  # most often: one list of texts serves both
            side.keys = replace(side.keys, id=golds.keys.id)
    same = [] if asked.allow_same else check_tables(gold, [data for _, data in systems], sides)
    golds.facts["alone"] = golds.kind == "votes" and bool(same)
    if same and not golds.facts["alone"]:
        stop_on_errors(same)
    for side, (name, given) in zip(preds, systems, strict=True):
        side.findings += [paired[name]] if name in paired else []
        side.findings += by_position(golds, side, are_two_files(gold, given))
    return agree(golds, preds, asked.context)


def counted_sides(
    engine: Engine, sides: Sequence[Any], asked: Asked, meet: Meet, units: bool, intervals: bool
) -> CountedSides:
    """Gold and systems checked, aligned, counted and scored."""
    golds, preds = meet(sides)
    suspects = [suspicions(golds, side) for side in preds]
    name = asked.context or detect_context(golds, preds)
    defaults = context(name).defaults(golds)
    plan = make_plan(name, asked.metrics, asked.options, asked.undefined, asked.seed, defaults)
    if golds.facts.get("alone") and not {m.name for m in plan.metrics} <= {*AGREEMENT}:
        raise InputError([finding("votes-alone", golds.name, metrics=", ".join(AGREEMENT))])
    if name in ("monolabel", "multilabel"):
        as_they_count = [as_labels(s) if s.kind == "number" and "label" not in s.names else s for s in (golds, *preds)]
        stop_on_errors(check_labels(as_they_count[0], as_they_count[1:]))
    if name != "ranking" and "test_case" not in asked.columns:
        golds.findings += case_of_query(golds)
    name_columns(golds, preds)
    golds, *preds = gathered([partial(prepared, side, plan) for side in (golds, *preds)])
    for side in preds:  # before records are left out, after which the places of the others are no longer counted
        side.findings += _ids_on_one_side(golds, side)
    handed = golds
    golds, preds = without_faulty(golds, preds, plan)
    gathered([partial(check_side, side, plan) for side in (golds, *preds)])
    if asked.beside:
        golds.findings = not_ignored(golds.findings, asked.beside)
    sentences = not asked.carried and in_documents(golds) and (intervals or asked.units)
    column = asked.cluster_by or ("document" if sentences else None)
    units = units or column is not None
    results = [
        doubted(evaluate_system(engine, golds, side, plan, units), plan, *suspicion)
        for side, suspicion in told(list(zip(preds, suspects, strict=True)), "systems scored")
    ]
    clusters = cluster_keys(golds, column) if column else None
    inputs = [input_record(side, asked.hashes) for side in (golds, *preds)]
    return CountedSides(plan, results, clusters, inputs, texts_of(golds) if units else None, golds, handed)


def gathered(steps: Iterable[Callable[[], T]]) -> list[T]:
    """What every step gives; where some find errors, the errors of all of them at once."""
    out, bad = [], list[Finding]()
    for step in steps:
        try:
            out.append(step())
        except InputError as error:
            bad += error.findings
    if bad:
        others = [f for side in out for f in getattr(side, "findings", ()) if f.severity == "error"]
        raise InputError([*others, *bad])
    return out


def detect_context(gold: Side, systems: Sequence[Side]) -> str:
    """The context that gold's format or values mean."""
    if gold.context:
        return gold.context
    if name := of_numbers(gold, systems):
        return name
    if gold.facts.get("unsure") and are_labels(gold, systems):
        return "monolabel"
    if gold.kind not in CONTEXT_OF:
        raise InputError([finding("unknown-context", gold.name, found=SAID.get(gold.kind, gold.kind))])
    return CONTEXT_OF[gold.kind]


def prepared(side: Side, plan: Plan) -> Side:
    """A side as its context wants it."""
    kinds = plan.context.kinds
    labels = "label" in kinds and side.origin.role not in plan.context.numbers
    if side.kind == "number" and labels and ("number" in kinds or side.facts.get("unsure")):
        side = as_labels(side)
    elif side.kind == "number" and (of := side.entries)["number"].dtype.kind != "f":
        side = replace(side, entries=of.of(of.columns | {"number": of["number"].astype(float)}))
    if side.kind not in kinds:
        expected = " or ".join(SAID.get(k, k) for k in kinds)
        raise InputError([finding("mixed-contexts", side.name, gold=expected, pred=SAID.get(side.kind, side.kind))])
    return plan.context.prepare(side, plan.options)


def _ids_on_one_side(gold: Side, pred: Side) -> list[Finding]:
    """Ids that only one side has: only those that count the rows are what the places of the other side say."""
    if gold.keys.by_position == pred.keys.by_position or gold.keys.id == pred.keys.id:
        return []
    named, other = ("the prediction", "gold") if gold.keys.by_position else ("gold", "the prediction")
    ids = (pred if gold.keys.by_position else gold).keys.id
    shown = ", ".join([*map(repr, ids[:3]), *(["…"] if len(ids) > 3 else [])])
    return [finding("ids-on-one-side", pred.name, named=named, other=other, ids=shown)]


def without_faulty(gold: Side, systems: Sequence[Side], plan: Plan) -> tuple[Side, list[Side]]:
    """Where the user wants it, go on without the records that cannot be scored."""
    if plan.options.get("faulty") == "drop":
        return leave_out(gold, systems)
    return gold, list(systems)


def check_side(side: Side, plan: Plan) -> None:
    """Stop at what is wrong with one file by itself."""
    side.findings += plan.context.faults(side, plan.options)
    stop_on_errors(side.findings)


def evaluate_system(engine: Engine, gold: Side, pred: Side, plan: Plan, units: bool) -> SystemResult:
    """One system: aligned, counted and scored."""
    if hasattr(gold, "table") and hasattr(pred, "table"):  # only distinct values of them are here
        from karat.in_place import count as count_in_place

        counted = count_in_place(engine, plan.context, gold, pred, plan.options)  # type: ignore[arg-type]
    else:
        counted = count(plan.context, gold, pred, plan.options, units=units)
    return system_result(plan, gold, pred, counted, pred.origin.system)


def system_result(plan: Plan, gold: Side, pred: Side, counted: Counted, system: str) -> SystemResult:
    """A system that was counted, with its scores and all that was found."""
    findings = [*gold.findings, *pred.findings, *counted.findings]
    stop_on_errors(findings)
    findings += plan.context.doubts(plan.metrics, pred, counted.cells)
    scores, details = plan.score(counted.cells), list(plan.context.details(counted.cells))
    return SystemResult(system, scores, counted.counts, findings, counted.cells, details)


def doubted(result: SystemResult, plan: Plan, suspected: Finding | None, strangers: Finding | None) -> SystemResult:
    """The result, with what is suspected if the system is perfect, and one finding if its labels are all unknown."""
    if strangers is not None and any(f.code == "label-not-in-gold" for f in result.findings):
        kept = [f for f in result.findings if f.code != "label-not-in-gold" and "label-not-in-gold" not in f.message]
        return replace(result, findings=[*kept, strangers])
    best = {m: plan.catalogue[m.name].best for m in result.scores}
    told = [score.value == best[m] for m, score in result.scores.items() if best[m] is not None]
    if suspected is None or not told or not all(told):
        return result
    return replace(result, findings=[*result.findings, suspected])


def texts_of(gold: Side) -> dict[str, str] | None:
    """The texts of gold's units, where it has them."""
    texts = gold.units.get("text")
    if texts is None or gold.kind not in SAID or gold.context == "spans":  # whose cells have their texts
        return None
    pairs = zip(gold.keys.pairs(), texts, strict=True)
    return {f"{case}\x1f{id}": text for (case, id), text in pairs if text is not None}


def cluster_keys(gold: Side, column: str) -> ClusterKeys:
    """The cluster of each unit of gold."""
    from karat.stats.clusters import ClusterKeys

    if not in_documents(gold):
        raise InputError([finding("cluster-column-missing", gold.name, column=column, found="values only")])
    rows = sorted(
        (case if gold.context == "ranking" else f"{case}\x1f{id}", cluster)
        for (case, id), cluster in zip(gold.keys.pairs(), gold.units["cluster"].texts(), strict=True)
        if cluster is not None
    )
    return ClusterKeys(
        np.array([unit for unit, _ in rows], str), np.array([cluster for _, cluster in rows], str), column
    )


def in_documents(gold: Side) -> bool:
    """Does the file itself say which document its units are of?"""
    return isinstance(gold.units.get("cluster"), Codes)
