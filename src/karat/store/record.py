# SPDX-License-Identifier: Apache-2.0
"""A run as the store keeps it: readable columns, packed parts, and a hash over all of it."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec

from karat.contexts import context
from karat.contexts.base import Context
from karat.evaluation import Evaluation, SystemResult
from karat.metric import MetricError
from karat.provenance import digest, question
from karat.state import StateError, pack, unpack
from karat.store.listing import moment
from karat.store.location import StoreError
from karat.store.run import Run


@dataclass(frozen=True)
class Part:
    """One system, packed."""

    name: str
    result: bytes
    cells: bytes


@dataclass(frozen=True)
class Record:
    """A run as a row of the store, and its systems."""

    run: dict[str, Any]
    systems: list[Part]


def packed(evaluation: Evaluation) -> Record:
    """An evaluation as the store keeps it, under a new id."""
    try:
        parts = [_part(system) for system in evaluation.systems]
    except StateError as error:
        raise StoreError(f"the evaluation cannot be kept: {error}") from error
    run = {
        "id": secrets.token_hex(6), "created": moment(datetime.now(UTC)),
        "context": evaluation.context, **derived(evaluation),
        "plan": _json(evaluation.plan), "provenance": _json(evaluation.provenance),
        "texts": pack(evaluation.texts) if evaluation.texts else None,
    }  # fmt: skip
    return Record(run | {"digest": record_digest(run, parts)}, parts)


def _part(system: SystemResult) -> Part:
    return Part(system.name, pack(system), pack(system.cells))


def derived(evaluation: Evaluation) -> dict[str, str]:
    """The columns that repeat, for lists, what plan and provenance say."""
    gold = next((i["path"] for i in evaluation.provenance["inputs"] if i["role"] == "gold"), "")
    return {"gold": gold, "karat": evaluation.provenance["versions"]["karat"], "question": question(evaluation)}


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def record_digest(run: dict[str, Any], parts: Sequence[Part]) -> str:
    """Hash of everything that a run holds."""
    fields = [run["id"], run["context"], run["plan"], run["provenance"], *([run["texts"]] if run.get("texts") else [])]
    return digest([fields, [[p.name, p.result, p.cells] for p in parts]])


def is_whole(record: Record) -> bool:
    """Whether the record is as it was written."""
    return bool(record.run["digest"] == record_digest(record.run, record.systems))


def run_of(record: Record, tags: list[str], most: int | None = None) -> Run:
    """The run that a record holds; ``most`` is how many bytes each of its parts may take unpacked."""
    try:
        evaluation = _evaluation(record, most)
        return Run(record.run["id"], tags, record.run["digest"], evaluation, is_whole(record))
    except (StateError, MetricError, msgspec.DecodeError, RecursionError) as error:
        raise StoreError(f"run {record.run['id']} cannot be read: {error}") from error


def _evaluation(record: Record, most: int | None) -> Evaluation:
    plan, provenance = checked(*(msgspec.json.decode(record.run[k]) for k in ("plan", "provenance")))
    if not record.systems:
        raise StoreError("its systems are missing")
    kind = context(record.run["context"])  # also loads the classes that its cells are made of
    if plan["context"] != kind.name:
        raise StoreError(f"its plan is for {plan['context']}, its record for {kind.name}")
    texts = unpack(record.run["texts"], most) if record.run.get("texts") else None
    if not isinstance(texts, dict | None):
        raise StoreError("its texts are damaged")
    return Evaluation(kind.name, [_system(p, kind, most) for p in record.systems], plan, provenance, texts)


def _system(part: Part, kind: Context, most: int | None) -> SystemResult:
    result, cells = unpack(part.result, most), unpack(part.cells, most)
    if not isinstance(result, SystemResult) or not isinstance(cells, kind.cells):
        raise StoreError(f"its results are not those of {kind.name}")
    return replace(result, cells=cells)


class Reading(msgspec.Struct, forbid_unknown_fields=True):
    """How the inputs were read."""

    format: str | None = None
    encoding: str | None = None
    columns: dict[str, str] = {}
    separator: str | None = None
    allow_same: bool = False


class Intervals(msgspec.Struct):
    """What was asked of intervals."""

    level: float
    method: str
    resamples: int
    cluster_by: str | None = None
    stratify_by: str | None = None


class PlanClaims(msgspec.Struct):
    """Fields of a plan that are relied upon."""

    context: str
    metrics: Annotated[dict[str, dict[str, Any]], msgspec.Meta(min_length=1)]
    options: dict[str, Any]
    undefined: str
    seed: int
    reading: Reading = msgspec.field(default_factory=Reading)
    intervals: Intervals | None = None


class InputClaims(msgspec.Struct):
    """Fields of an input that are relied upon."""

    role: str
    path: str
    rows: int
    bytes: int | None
    format: str
    sha256: str | None
    canonical: str | None = None
    system: str | None = None


class ProvenanceClaims(msgspec.Struct):
    """Fields of a provenance that are relied upon."""

    inputs: list[InputClaims]
    versions: dict[str, str]


class Bounds(msgspec.Struct):
    """Ends of an interval."""

    low: float | None
    high: float | None


class PartClaims(msgspec.Struct, rename={"label": "class"}):
    """A score of one test case or class."""

    value: float | None
    test_case: str | None = None
    label: str | None = None


class SliceClaims(msgspec.Struct):
    """A score of one slice."""

    name: str
    value: float | None


class SlicingClaims(msgspec.Struct):
    """A score by the values of a column."""

    column: str
    slices: list[SliceClaims]


class ScoreClaims(msgspec.Struct):
    """A score of a report with its parts."""

    metric: str
    value: float | None
    by_test_case: list[PartClaims]
    by_class: list[PartClaims] = []
    slices: list[SlicingClaims] = []
    interval: Bounds | None = None


class SystemClaims(msgspec.Struct):
    """A system of a report."""

    name: str
    metrics: list[ScoreClaims]


class ReportClaims(msgspec.Struct):
    """Fields of a JSON report that are relied upon."""

    systems: list[SystemClaims]
    provenance: dict[str, Any]


def report(document: Any) -> ReportClaims:
    """A JSON report, if it is one."""
    try:
        return msgspec.convert(document, ReportClaims)
    except msgspec.ValidationError as error:
        raise StoreError(f"this is not a JSON report of an evaluation: {error}") from error


def checked(plan: Any, provenance: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Plan and provenance as they are, if nothing that is relied upon is missing or of another kind."""
    try:
        msgspec.convert(plan, PlanClaims)
        claims = msgspec.convert(provenance, ProvenanceClaims)
    except msgspec.ValidationError as error:
        raise StoreError(f"its plan or provenance is damaged: {error}") from error
    if [i.role == "gold" for i in claims.inputs[:2]] != [True, False]:
        raise StoreError("its plan or provenance is damaged: gold and one system or more must be among the inputs")
    return plan, provenance
