# SPDX-License-Identifier: Apache-2.0
"""The context: options, alignment of documents, cells and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from karat.contexts.base import Context, Counted, Run, Table
from karat.contexts.labels import unknown_labels
from karat.contexts.options import OPTIONS
from karat.contexts.pairing import Coverage
from karat.contexts.spans.annotated import Annotated
from karat.contexts.spans.cells import SpansCells
from karat.contexts.spans.checks import check_lengths, check_side
from karat.contexts.spans.data import Documents, Matching, SpanData, combine, meet
from karat.contexts.spans.tables import tables
from karat.evaluation import Detail
from karat.findings import Finding, InputError, finding

NEAREST = 200
"""With more gold labels than this (poems, works) no similar label is looked for."""


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

    def defaults(self, gold: Table) -> tuple[str, ...]:
        found = gold.coded.get("spans")
        return self.page_metrics if isinstance(found, Annotated) and found.excerpts else self.metrics

    def check(self, run: Run, table: Table, options: Mapping[str, Any]) -> list[Finding]:
        return check_side(table, options)

    def count(self, run: Run, gold: Table, pred: Table, options: Mapping[str, Any], *, units: bool = False) -> Counted:
        mine, theirs = _annotated(gold), _annotated(pred)
        options, scheme = _by_golds_scheme(mine, pred, options)
        documents = meet(mine, theirs)
        coverage = Coverage(len(mine.ids), len(theirs.ids), int(((documents.gold >= 0) & (documents.pred >= 0)).sum()))
        findings = [
            *scheme,
            *_coverage(mine, theirs, documents, coverage, options, pred),
            *_lengths(mine, theirs, documents, pred),
            *_texts(mine, theirs, documents, pred),
        ]
        kept = documents.take(_kept(documents, options))
        data = combine(mine, theirs, kept, options, _matching(options))
        unknown, known = _unknown(data)
        findings += unknown_labels(unknown, known if len(known) <= NEAREST else known[:5], pred)
        return Counted(_cells(data, mine, theirs, kept, units), coverage.counts(), findings)

    def details(self, cells: Any) -> Sequence[Detail]:
        return tables(cells)


def _annotated(table: Table) -> Annotated:
    found: Any = table.coded["spans"]
    assert isinstance(found, Annotated)
    return found


def _by_golds_scheme(
    gold: Annotated, pred: Table, options: Mapping[str, Any]
) -> tuple[Mapping[str, Any], list[Finding]]:
    """Strict reading of both sides by the scheme that gold's tags show: a prediction must not choose its own."""
    if options["scheme"] != "strict" or gold.tagged is None:
        return options, []
    options = {**options, "scheme": gold.scheme("strict")}
    if wrong := [one for one in check_side(pred, options) if one.severity == "error"]:
        raise InputError(wrong)
    return options, [finding("scheme-of-gold", scheme=options["scheme"])]


def _matching(options: Mapping[str, Any]) -> Matching:
    return Matching(options["match"], options["overlap"], options["overlap_of"], options["matching"] == "greedy")


def _kept(documents: Documents, options: Mapping[str, Any]) -> Any:
    """Gold documents (unless skipped for want of a prediction); the prediction's own if they are to count."""
    keep = (documents.gold >= 0) & ((documents.pred >= 0) | (options["missing"] != "skip"))
    return keep | ((documents.gold < 0) & (options["extra"] == "wrong"))


def _cells(data: SpanData, gold: Annotated, pred: Annotated, documents: Documents, units: bool) -> SpansCells:
    names = _test_cases(gold, pred, documents)
    test_cases = sorted(set(names)) if names else [""]
    place = {name: i for i, name in enumerate(test_cases)}
    test_case = np.array([place[name] for name in names], dtype=np.int64) if names else np.zeros(data.units, np.int64)
    each = {"unit": np.arange(data.units), "unit_ids": list(data.ids)} if units else {}
    return SpansCells(data, np.ones(data.units, np.int64), test_case, test_cases, **each)


def _test_cases(gold: Annotated, pred: Annotated, documents: Documents) -> list[str]:
    if gold.test_case is None and pred.test_case is None:
        return []
    mine, theirs = gold.test_case or [""] * len(gold.ids), pred.test_case or [""] * len(pred.ids)
    return [
        mine[g] if g >= 0 else theirs[p] for g, p in zip(documents.gold.tolist(), documents.pred.tolist(), strict=True)
    ]


def _coverage(
    gold: Annotated, pred: Annotated, documents: Documents, coverage: Coverage, options: Mapping[str, Any], table: Table
) -> list[Finding]:
    """Documents that one side lacks."""
    if not coverage.aligned:
        first = [", ".join(map(repr, list(side.ids[:3]))) for side in (gold, pred)]
        return [finding("no-common-ids", table.name, gold=first[0], pred=first[1])]
    out = []
    lacking = np.flatnonzero(documents.pred < 0)
    if len(lacking):
        code = "missing-predictions" if options["missing"] == "error" else "gold-only-ids"
        policy = "not there at all" if options["missing"] == "skip" else "documents without any predicted span"
        ids = ", ".join(str(gold.ids[i]) for i in documents.gold[lacking[:3]])
        out.append(finding(code, table.name, count=len(lacking), total=coverage.gold, examples=ids, policy=policy))
    extra = documents.pred[documents.gold < 0]
    if len(extra):
        ids = ", ".join(str(pred.ids[i]) for i in extra[:3])
        policy = "counted as wrong" if options.get("extra") == "wrong" else "left out"
        out.append(finding("pred-only-ids", table.name, count=len(extra), examples=ids, policy=policy))
    return out


def _lengths(gold: Annotated, pred: Annotated, documents: Documents, table: Table) -> list[Finding]:
    if gold.tagged is None or pred.tagged is None or np.array_equal(gold.tagged.lengths, pred.tagged.lengths):
        return []
    both = documents.take((documents.gold >= 0) & (documents.pred >= 0))
    return check_lengths(gold, pred, zip(both.gold.tolist(), both.pred.tolist(), strict=True), table)


def _texts(gold: Annotated, pred: Annotated, documents: Documents, table: Table) -> list[Finding]:
    """Documents that meet by their ids or places, but are not the same."""
    if gold.texts is None or pred.texts is None:
        return []
    mine, theirs = gold.texts, pred.texts
    both = documents.take((documents.gold >= 0) & (documents.pred >= 0))
    pairs = zip(both.gold.tolist(), both.pred.tolist(), strict=True)
    other = [g for g, p in pairs if mine[g] != theirs[p] and None not in (mine[g], theirs[p])]
    shown = ", ".join(str(gold.ids[g]) for g in other[:3])
    return [finding("texts-differ", table.name, count=len(other), examples=shown)] if other else []


def _unknown(data: SpanData) -> tuple[dict[str, int], list[str]]:
    """Predicted labels that gold never has, and gold's labels."""
    size = len(data.labels)
    gold, pred = (np.bincount(side.label, minlength=size) for side in (data.gold, data.pred))
    unknown = {label: int(pred[i]) for i, label in enumerate(data.labels) if pred[i] and not gold[i]}
    return unknown, [label for i, label in enumerate(data.labels) if gold[i]]


context = SpansContext()
