# SPDX-License-Identifier: Apache-2.0
"""Splitting bundles of pages into files: the unit is the bundle, its pages are flags, its cells are sums over pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from karat.contexts.base import Context, Counted, Run, Table
from karat.contexts.labels import unknown_labels
from karat.contexts.options import OPTIONS
from karat.contexts.splitting.bundles import NO_CATEGORY, Bundles, Stream
from karat.contexts.splitting.checks import page_findings
from karat.contexts.splitting.coverage import counts, coverage_findings
from karat.contexts.splitting.pages import Bools, Floats, Ints, Pages
from karat.contexts.splitting.sides import Name, Paired, Side, category_codes, paired, read_side, taken
from karat.contexts.splitting.tables import details
from karat.evaluation import Detail
from karat.findings import Finding, finding


class Splitting(Context):
    """Page streams split into files."""

    name = "splitting"
    title = "Page streams split into files"
    cells = Bundles
    kinds = ("pages",)
    metrics = (
        "precision", "recall", "f1", "file_precision", "file_recall", "file_f1", "panoptic_quality", "straight_through",
        "mndd", "pk", "windowdiff", "boundary_similarity",
    )  # fmt: skip
    options = OPTIONS["splitting"]
    unit = "bundle"
    example = '{"document_id": "1", "category": "invoice", "pages": [{"number": 1, "is_first_page": true, "confidence": 0.9}]}'

    def check(self, run: Run, table: Table, options: Mapping[str, Any]) -> list[Finding]:
        by_threshold = options["threshold"] is not None and table.role == "pred"
        return page_findings(run, table, flags=not by_threshold)

    def count(self, run: Run, gold: Table, pred: Table, options: Mapping[str, Any], *, units: bool = False) -> Counted:
        sides = read_side(run, gold), read_side(run, pred)
        pages = paired(*sides)
        covered = counts(pages)
        findings = coverage_findings(run, gold, pred, pages, options["missing_pages"])
        if options["missing_pages"] == "truncate":
            pages = pages.kept(pages.in_gold & pages.in_pred)
        cells = bundles(pages, *sides, options)
        given = pages.pred_at >= 0
        findings += _confidence_findings(cells.stream, given, pred) + _category_findings(cells, given, pred)
        return Counted(cells, covered, findings)

    def details(self, cells: Any) -> Sequence[Detail]:
        return list(details(cells))


def bundles(pages: Paired, gold: Side, pred: Side, options: Mapping[str, Any]) -> Bundles:
    """Cells of paired pages."""
    confidence = _confidence(pages, pred, options["confidence_of"])
    classes, gold_category, pred_category = _categories(pages, gold, pred)
    flags = Pages(
        pages.bundle,
        taken(gold.first, pages.gold_at, False),
        _flags(pages, pred, confidence, options["threshold"]),
        len(pages.names),
    )
    count_first = options["count_first_page"] == "yes"
    stream = Stream(flags, pages.number, confidence, gold_category, pred_category, len(classes), count_first)
    return bundle_cells(stream, pages.names, classes)


def bundle_cells(stream: Stream, names: Sequence[Name], classes: Sequence[str]) -> Bundles:
    """One cell per bundle, by test case."""
    test_cases = sorted({test_case for test_case, _ in names})
    code = {test_case: i for i, test_case in enumerate(test_cases)}
    every = np.arange(len(names))
    return Bundles(
        stream,
        np.ones(len(names)),
        [code[t] for t, _ in names],
        test_cases,
        classes,
        unit=every,
        unit_ids=[i for _, i in names],
    )


def _confidence(pages: Paired, pred: Side, of: str) -> Floats | None:
    """Confidence that each page begins a file."""
    if pred.confidence is None or np.isnan(pred.confidence).all():
        return None
    found = taken(pred.confidence, pages.pred_at, np.nan)
    return np.where(taken(pred.first, pages.pred_at, False), found, 1 - found) if of == "flag" else found


def _flags(pages: Paired, pred: Side, confidence: Floats | None, threshold: float | None) -> Bools:
    if threshold is None:
        return taken(pred.first, pages.pred_at, False)
    return np.zeros(len(pages.bundle), bool) if confidence is None else confidence >= threshold


def _categories(pages: Paired, gold: Side, pred: Side) -> tuple[list[str], Ints, Ints | None]:
    """Categories, and the code of each page's on either side; a page that gold lacks has that of the page before."""
    given = [side.category for side in (gold, pred)]
    none_predicted = all(v is None for v in pred.category.tolist())
    classes, codes = category_codes(given[0], None if none_predicted else given[1], NO_CATEGORY)
    spread = [c if len(c) == len(s.number) else c[s.bundle] for c, s in zip(codes, (gold, pred), strict=False)]
    none = len(classes) - 1 if classes[-1] == NO_CATEGORY else -1
    gold_codes = taken(spread[0], _last_known(pages), none)
    pred_codes = None if none_predicted else taken(spread[1], pages.pred_at, none)
    return _with_none(classes, none, gold_codes, pred_codes)


def _with_none(classes: list[str], none: int, gold: Ints, pred: Ints | None) -> tuple[list[str], Ints, Ints | None]:
    """Add the class of pages without a category if pairing has made such pages."""
    sides = [gold] if pred is None else [gold, pred]
    if none >= 0 or not any((s < 0).any() for s in sides):
        return classes, gold, pred
    filled = [np.where(s < 0, len(classes), s) for s in sides]
    return [*classes, NO_CATEGORY], filled[0], None if pred is None else filled[1]


def _last_known(pages: Paired) -> Ints:
    """Gold page of each page, or that of the nearest page before it in its bundle."""
    if (pages.gold_at >= 0).all():
        return pages.gold_at
    last = np.maximum.accumulate(np.where(pages.gold_at >= 0, np.arange(len(pages.gold_at)), -1))
    same = (last >= 0) & (pages.bundle[last] == pages.bundle)
    return np.where(same, pages.gold_at[last], -1)


def _confidence_findings(stream: Stream, given: Bools, pred: Table) -> list[Finding]:
    """Confidences that some pages lack, or that look like confidences of the flag."""
    if stream.confidence is None:
        return []
    found, lacking = [], np.isnan(stream.confidence) & given
    if lacking.any():
        found.append(finding("confidence-missing", pred.name, count=int(lacking.sum()), total=int(given.sum())))
    known = given & ~lacking
    first, other = stream.confidence[stream.pages.pred & known], stream.confidence[~stream.pages.pred & known]
    if len(first) and len(other) and np.median(other) > 0.5 and other.max() > first.min():
        found.append(finding("confidence-of-flag", pred.name, low=float(first.min()), high=float(other.max())))
    return found


def _category_findings(cells: Bundles, given: Bools, pred: Table) -> list[Finding]:
    """Predicted categories that gold never uses, and pages without one."""
    if cells.stream.pred_category is None:
        return []
    gold, predicted = cells.stream.gold_category, cells.stream.pred_category[given]
    counts = [
        dict(zip(cells.classes, np.bincount(c, minlength=len(cells.classes)).tolist(), strict=True))
        for c in (gold, predicted)
    ]
    used, found = counts
    lacking = found.pop(NO_CATEGORY, 0)
    unknown = {category: n for category, n in found.items() if n and not used[category]}
    out = unknown_labels(unknown, [c for c, n in used.items() if n and c != NO_CATEGORY], pred)
    if lacking:
        out.append(finding("category-missing", pred.name, count=lacking, total=len(predicted)))
    return out


context = Splitting()
