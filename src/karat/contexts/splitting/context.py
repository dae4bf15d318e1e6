# SPDX-License-Identifier: Apache-2.0
"""The context of page streams: what its sides must be, how its cells are made, what it says of both sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from karat.align import Aligned, Meeting
from karat.cells import Cells
from karat.contexts.base import Context
from karat.contexts.labels import unknown_labels
from karat.contexts.options import OPTIONS
from karat.contexts.splitting.cells import NO_CATEGORY, SplittingCells, Stream
from karat.contexts.splitting.checks import page_findings
from karat.contexts.splitting.coverage import coverage_findings
from karat.contexts.splitting.metrics_borders import shares_of
from karat.contexts.splitting.pages import Bools, Floats, Ints, Pages
from karat.contexts.splitting.paired import Paired, paired, taken
from karat.contexts.splitting.tables import details
from karat.evaluation import Detail
from karat.findings import Finding, finding
from karat.metric import Metric
from karat.side import Entries, Side


class Splitting(Context):
    """Page streams split into files."""

    name = "splitting"
    title = "Page streams split into files"
    cells = SplittingCells
    kinds = ("pages",)
    metrics = (
        "precision", "recall", "f1", "file_precision", "file_recall", "file_f1", "panoptic_quality", "straight_through",
        "mndd", "pk", "windowdiff", "boundary_similarity",
    )  # fmt: skip
    options = OPTIONS["splitting"]
    unit = "bundle"
    example = '{"document_id": "1", "category": "invoice", "pages": [{"number": 1, "is_first_page": true, "confidence": 0.9}]}'
    keeps_units = True

    def check_side(self, side: Side, options: Mapping[str, Any]) -> list[Finding]:
        by_threshold = options["threshold"] is not None and side.role == "pred"
        return page_findings(side, flags=not by_threshold)

    def coverage(self, gold: Side, pred: Side, both: Meeting, options: Mapping[str, Any]) -> list[Finding]:
        aligned = Aligned.of(gold, pred, both)
        return coverage_findings(gold, pred, aligned, paired(aligned), options["missing_pages"])

    def kept(self, both: Meeting, options: Mapping[str, Any]) -> Meeting:
        """Every bundle: what is missing or extra is a matter of pages; where these are left out, bundles of both sides."""
        return both.kept("skip", "ignore") if options["missing_pages"] == "truncate" else both

    def reduce(self, both: Aligned, options: Mapping[str, Any]) -> Aligned:
        """Bundles stay apart."""
        return both

    def cells_of(self, both: Aligned, options: Mapping[str, Any]) -> SplittingCells:
        both = both.in_order()
        pages, left_out = paired(both), None
        if options["missing_pages"] == "truncate":
            left_out, pages = pages.lacking(len(both)), pages.kept(pages.in_gold & pages.in_pred)
        return bundle_cells(both, pages, options, left_out)

    def totals(self, both: Aligned) -> dict[str, int]:
        """Coverage is counted in pages."""
        return paired(both).counts()

    def remarks(self, gold: Side, pred: Side, cells: Cells, options: Mapping[str, Any]) -> list[Finding]:
        return _confidence_findings(pred, options) + _category_findings(gold, pred)

    def doubts(self, metrics: Sequence[Metric], pred: Side, cells: Cells) -> list[Finding]:
        assert isinstance(cells, SplittingCells)
        total = int(cells.n.sum())
        without: dict[int, list[str]] = {}
        for asked in metrics:
            if (rated := shares_of(cells, asked)) is not None:
                without.setdefault(int(cells.n[rated == 0].sum()), []).append(str(asked))
        return [
            finding("bundles-left-out", pred.name, metrics=", ".join(names), count=count, total=total)
            for count, names in without.items()
            if 0 < count < total
        ]

    def details(self, cells: Any) -> Sequence[Detail]:
        return list(details(cells))


def bundle_cells(
    both: Aligned, pages: Paired, options: Mapping[str, Any], left_out: Ints | None = None
) -> SplittingCells:
    """One cell for each bundle."""
    confidence, flags = predicted(both.pred, options)
    classes, gold_category, pred_category = _categories(both, pages)
    stream = Stream(
        Pages(pages.row, taken(both.gold["first"] == 1, pages.gold_at, False), taken(flags, pages.pred_at, False), len(both)),
        pages.number,
        None if confidence is None else taken(confidence, pages.pred_at, np.nan),
        gold_category,
        pred_category,
        len(classes),
        options["count_first_page"] == "yes",
        left_out,
    )  # fmt: skip
    return SplittingCells(
        stream, both.n.astype(float), both.case.code, both.case.names, classes, unit=both.unit, unit_ids=both.ids
    )


def predicted(pages: Entries, options: Mapping[str, Any]) -> tuple[Floats | None, Bools]:
    """The confidence that each page begins a file, if there is any, and whether it is predicted to."""
    first, confidence = pages["first"] == 1, None
    if "confidence" in pages and not np.isnan(pages["confidence"]).all():
        confidence = pages["confidence"]
        if options["confidence_of"] == "flag":
            # 1 − .8 is .19999999999999996, which is below a threshold of .2 and in the bin before it.
            confidence = np.where(first, confidence, np.round(1 - confidence, 15))
    if options["threshold"] is not None:
        first = np.zeros(len(first), bool) if confidence is None else confidence >= options["threshold"]
    return confidence, first


def _categories(both: Aligned, pages: Paired) -> tuple[list[str], Ints, Ints | None]:
    """Categories in the order of gold's file, and the code of each page's on either side.

    A page that gold lacks has the category of the page before.
    """
    gold, pred = both.gold["category"], both.pred["category"]
    predicted = bool((pred >= 0).any())
    lists = [both.facts["gold"]["categories"], *([both.facts["pred"]["categories"]] if predicted else [])]
    classes = list(dict.fromkeys(name for names in lists for name in names))
    place = {name: code for code, name in enumerate(classes)}
    code = np.array([*(place.get(name, -1) for name in both.names["category"]), -1], np.int64)
    of_gold, of_pred = code[taken(gold, _last_known(pages), -1)], code[taken(pred, pages.pred_at, -1)]
    lacking = [(side < 0).any() for side in ((gold, of_gold, pred, of_pred) if predicted else (gold, of_gold))]
    if any(lacking) or not classes:
        classes = [*classes, NO_CATEGORY]
        of_gold, of_pred = (np.where(side < 0, len(classes) - 1, side) for side in (of_gold, of_pred))
    return classes, of_gold, of_pred if predicted else None


def _last_known(pages: Paired) -> Ints:
    """Gold page of each page, or that of the nearest page before it in its bundle."""
    if (pages.gold_at >= 0).all():
        return pages.gold_at
    last = np.maximum.accumulate(np.where(pages.gold_at >= 0, np.arange(len(pages.gold_at)), -1))
    same = (last >= 0) & (pages.row[last] == pages.row)
    return np.where(same, pages.gold_at[last], -1)


def _confidence_findings(pred: Side, options: Mapping[str, Any]) -> list[Finding]:
    """Confidences that some pages lack, or that look like confidences of the flag."""
    confidence, flags = predicted(pred.entries, options)
    if confidence is None:
        return []
    out, known = list[Finding](), ~np.isnan(confidence)
    if not known.all():
        out.append(finding("confidence-missing", pred.name, count=int((~known).sum()), total=len(known)))
    first, other = confidence[flags & known], confidence[~flags & known]
    if len(first) and len(other) and np.median(other) > 0.5 and other.max() > first.min():
        out.append(finding("confidence-of-flag", pred.name, low=float(first.min()), high=float(other.max())))
    return out


def _category_findings(gold: Side, pred: Side) -> list[Finding]:
    """Predicted categories that gold never uses, and pages without one."""
    code, names, known = pred.entries["category"], pred.names["category"], gold.names["category"]
    if not (code >= 0).any():
        return []
    uses = np.bincount(code[code >= 0], minlength=len(names)).tolist()
    unknown = {name: n for name, n in zip(names, uses, strict=True) if n and name not in known}
    out, lacking = unknown_labels(unknown, known, pred), int((code < 0).sum())
    if lacking:
        out.append(finding("category-missing", pred.name, count=lacking, total=len(code)))
    return out


context = Splitting()
