# SPDX-License-Identifier: Apache-2.0
"""The context: what its sides must be, how its cells are made, what it says of both sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from karat.align import Aligned, Meeting, coverage_findings
from karat.cells import Cells
from karat.check import at_limit
from karat.contexts.base import Context
from karat.contexts.labels import unknown_labels
from karat.contexts.options import OPTIONS
from karat.contexts.spans.cells import SpansCells
from karat.contexts.spans.checks import check_side, check_tags, golds_scheme
from karat.contexts.spans.data import span_data
from karat.contexts.spans.tables import tables
from karat.evaluation import Detail
from karat.findings import Finding, finding, stop_on_errors
from karat.side import Entries, Side

NEAREST = 200
"""With more gold labels than this (poems, works) no similar label is looked for."""

ENTRY = ("start", "end", "label", "parent", "place", "tag")
"""Columns that are counted; lines and quoted texts are for checking a side alone."""


class SpansContext(Context):
    """Entities, nested entities, tagged tokens, page excerpts and passages."""

    name = "spans"
    title = "Entities, spans and page excerpts"
    cells = SpansCells
    kinds = ("spans",)
    metrics = (
        "precision",
        "recall",
        "f1",
        "muc_f1(reading=exact)",
        "muc_f1(reading=partial)",
        "muc_f1(reading=type)",
        "token_f1",
    )
    page_metrics = (
        "excerpt_precision",
        "excerpt_recall",
        "excerpt_f1",
        "excerpt_f1(over=nonempty)",
        "excerpt_precision(over=pooled)",
        "excerpt_recall(over=pooled)",
        "excerpt_f1(over=pooled)",
    )
    """What is computed for pages with excerpts."""
    options = OPTIONS["spans"]
    unit = "document"
    example = '{"id": "1", "spans": [{"start": 0, "end": 4, "label": "PER"}]}'
    keeps_units = True

    def defaults(self, gold: Any) -> tuple[str, ...]:
        return self.page_metrics if gold.facts.get("excerpts") else self.metrics

    def check_side(self, side: Side, options: Mapping[str, Any]) -> list[Finding]:
        return check_side(side, options)

    def coverage(self, gold: Side, pred: Side, both: Meeting, options: Mapping[str, Any]) -> list[Finding]:
        shown: list[Finding] = []
        if (scheme := golds_scheme(options["scheme"], gold, pred)) != options["scheme"]:
            stop_on_errors(tags := check_tags(pred, scheme))  # what the scheme does not know cannot be counted
            shown = [finding("scheme-of-gold", scheme=scheme), *tags]
        shared = both.kept("skip", "ignore")
        return [
            *shown,
            *coverage_findings(gold, pred, both, options),
            *_lengths(gold, pred, shared),
            *_texts(gold, pred, shared),
        ]

    def reduce(self, both: Aligned, options: Mapping[str, Any]) -> Aligned:
        """Documents stay apart."""
        gold, pred = (
            Entries(side.unit, {name: side[name] for name in ENTRY if name in side}) for side in (both.gold, both.pred)
        )
        return replace(both, gold=gold, pred=pred)

    def cells_of(self, both: Aligned, options: Mapping[str, Any]) -> SpansCells:
        both = both.in_order()
        data = span_data(both, options)
        return SpansCells(data, both.n, both.case.code, both.case.names or [""], unit=both.unit, unit_ids=both.ids)

    def remarks(self, gold: Side, pred: Side, cells: Cells, options: Mapping[str, Any]) -> list[Finding]:
        """Predicted labels that gold never has."""
        assert isinstance(cells, SpansCells)
        data = cells.data
        mine, theirs = (np.bincount(side.label, minlength=len(data.labels)).tolist() for side in (data.gold, data.pred))
        unknown = {label: theirs[i] for i, label in enumerate(data.labels) if theirs[i] and not mine[i]}
        known = [label for i, label in enumerate(data.labels) if mine[i]]
        return unknown_labels(unknown, known if len(known) <= NEAREST else known[:5], pred)

    def details(self, cells: Any) -> Sequence[Detail]:
        return tables(cells)


def _lengths(gold: Side, pred: Side, shared: Meeting) -> list[Finding]:
    """Sentences whose tags do not pair up."""
    if "length" not in gold.units or "length" not in pred.units:
        return []
    mine, theirs = gold.units["length"][shared.gold], pred.units["length"][shared.pred]
    return at_limit(
        "sentence-length-differs",
        np.flatnonzero(mine != theirs),
        pred,
        lambda row: finding(
            "sentence-length-differs", pred.name, pred.line(int(shared.pred[row])),
            id=gold.keys.id[int(shared.gold[row])], gold=int(mine[row]), pred=int(theirs[row]),
        ),
    )  # fmt: skip


def _texts(gold: Side, pred: Side, shared: Meeting) -> list[Finding]:
    """Documents that meet by their ids or places, but are not the same."""
    mine, theirs = (side.units.get("digest", side.units.get("text")) for side in (gold, pred))
    if mine is None or theirs is None:
        return []
    pairs = zip(shared.gold.tolist(), shared.pred.tolist(), strict=True)
    other = [g for g, p in pairs if mine[g] != theirs[p] and None not in (mine[g], theirs[p])]
    shown = ", ".join(gold.keys.id[g] for g in other[:3])
    return [finding("texts-differ", pred.name, count=len(other), examples=shown)] if other else []


context = SpansContext()
