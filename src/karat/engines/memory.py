# SPDX-License-Identifier: Apache-2.0
"""The engine of data in memory: NumPy arrays, one batch, no start-up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from karat.align import Aligned, Meeting, met
from karat.contexts.base import Context, Counted
from karat.findings import Finding, InputError, finding
from karat.side import Positions, Side


def count(context: Context, gold: Side, pred: Side, options: Mapping[str, Any], *, units: bool = False) -> Counted:
    """Both sides aligned, reduced and counted: count = cells ∘ merge ∘ reduce, and one batch needs no merging."""
    mine, theirs = gold.keys.id, pred.keys.id
    if isinstance(mine, Positions) and isinstance(theirs, Positions) and mine.rows != theirs.rows:
        raise InputError([finding("length-differs", pred.name, gold=mine.rows, pred=theirs.rows)])
    both = met(gold, pred)
    findings = context.coverage(gold, pred, both, options)
    kept = context.kept(both, options)
    reduced = context.reduce(Aligned.of(gold, pred, kept, units=units or context.keeps_units), options)
    return finished(context, gold, pred, both, reduced, options, findings)


def finished(
    context: Context, gold: Side, pred: Side, both: Meeting, merged: Aligned, options: Mapping[str, Any],
    findings: list[Finding] | None = None,
) -> Counted:  # fmt: skip
    """The cells of merged batches, with what is said of coverage (unless that is said already) and of both sides."""
    coverage = context.coverage(gold, pred, both, options) if findings is None else findings
    cells = context.cells_of(merged, options)
    counts = context.counts(gold, pred, both) | context.totals(merged)
    return Counted(cells, counts, coverage + context.remarks(gold, pred, cells, options))
