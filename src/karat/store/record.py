# SPDX-License-Identifier: Apache-2.0
"""A run as the store keeps it: readable columns, packed parts, and a hash over all of it."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import msgspec

from karat.contexts import context
from karat.contexts.base import Context
from karat.evaluation import Evaluation, SystemResult
from karat.metric import MetricError
from karat.provenance import digest, question
from karat.state import StateError, pack, unpack
from karat.store.errors import StoreError
from karat.store.listing import moment
from karat.store.run import Run
from karat.store.schema import checked


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
