# SPDX-License-Identifier: Apache-2.0
"""What plan and provenance of a record must hold for it to be shown, compared and repeated."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from karat.store.errors import StoreError


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
