# SPDX-License-Identifier: Apache-2.0
"""Cells of documents: every document is one, and its vectors are sums over its spans."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from karat.cells import ClassCells, Floats, Sparse
from karat.contexts.spans.data import SpanData
from karat.contexts.spans.errors import BOTH, BOUNDARY, CORRECT, LABEL, MISSED, SPURIOUS
from karat.contexts.spans.excerpts import Pages, Rule
from karat.contexts.spans.matching import share
from karat.contexts.spans.semeval import COR, INC, MIS, PAR, SPU
from karat.contexts.spans.span import Ints, counts, totals
from karat.state import stored

ANY = "any label"
"""The only class where a policy ignores labels."""

T = TypeVar("T", Floats, Sparse)


@stored("spans-cells")
class SpansCells(ClassCells):
    """Documents; `document` says which document of `data` a cell is, so that cells can be taken and repeated."""

    per_cell = ("document",)
    averages = ("micro", "macro", "weighted", "samples")

    def __init__(
        self, data: SpanData, n: Any, test_case: Any, test_cases: Sequence[str], document: Any = None, **units: Any
    ) -> None:
        classes = data.labels if data.matching.with_label else [ANY]
        super().__init__(n, test_case, test_cases, classes, **units)
        self.data = data
        self.document: Ints = np.arange(data.units) if document is None else np.asarray(document, np.int64)

    def answers(self, cell: int) -> tuple[str, str]:
        """The spans of the document in words."""
        unit = int(self.document[cell])
        return self.data.words(self.data.gold, unit), self.data.words(self.data.pred, unit)

    def text(self, cell: int) -> str:
        return self.data.text(int(self.document[cell]))

    def _spread(self, x: T) -> T:
        """A vector or matrix of documents as one of cells."""
        if len(self.document) == self.data.units and np.array_equal(self.document, np.arange(self.data.units)):
            return x
        return x.rows(self.document) if isinstance(x, Sparse) else x[self.document]

    def _by_label(self, unit: Ints, label: Ints, amount: Any = 1.0) -> Sparse:
        label = label if self.data.matching.with_label else label * 0
        return self._spread(Sparse.of(unit, label, amount, (self.data.units, len(self.classes))))

    def _by_document(self, unit: Ints, amount: Any = None) -> Floats:
        sums = counts(unit, self.data.units) if amount is None else totals(unit, amount, self.data.units)
        return self._spread(sums.astype(float))

    @cached_property
    def gold_of(self) -> Sparse:
        return self._by_label(self.data.gold.unit, self.data.gold.label)

    @cached_property
    def pred_of(self) -> Sparse:
        return self._by_label(self.data.pred.unit, self.data.pred.label)

    @cached_property
    def hit_of(self) -> Sparse:
        """Matched spans under the chosen policy, by gold label."""
        hit = self.data.matched.gold
        return self._by_label(self.data.gold.unit[hit], self.data.gold.label[hit])

    @cached_property
    def gold_spans(self) -> Floats:
        return self._by_document(self.data.gold.unit)

    @cached_property
    def pred_spans(self) -> Floats:
        return self._by_document(self.data.pred.unit)

    @cached_property
    def wholly_right(self) -> Floats:
        """1 for a document whose spans are all matched, none missed and none too many."""
        hits = self._by_document(self.data.gold.unit[self.data.matched.gold])
        return ((hits == self.gold_spans) & (hits == self.pred_spans)).astype(float)

    def outcome(self, reading: str, code: int) -> Floats:
        """How often an outcome of a MUC reading occurs in each document."""
        outcomes = self.data.outcomes(reading)
        side, codes = (self.data.pred, outcomes.pred) if code == SPU else (self.data.gold, outcomes.gold)
        return self._by_document(side.unit[codes == code])

    def credit(self, reading: str) -> Floats:
        """Correct spans, and half of the partial ones where the reading gives credit for them."""
        half = 0.5 if reading in ("partial", "type") else 0.0
        return self.outcome(reading, COR) + half * self.outcome(reading, PAR)

    def faults(self, reading: str) -> dict[str, Floats]:
        """The outcomes that are not correct, by name."""
        names = {"incorrect": INC, "partial": PAR, "missed": MIS, "spurious": SPU}
        return {name: self.outcome(reading, code) for name, code in names.items()}

    @cached_property
    def kinds(self) -> dict[str, Floats]:
        """Error kinds of the alignment: right spans, half errors (boundary, label, both), missed, spurious."""
        errors, data = self.data.errors, self.data
        half = np.isin(errors.gold, (BOUNDARY, LABEL, BOTH))
        return {
            "right": self._by_document(data.gold.unit[errors.gold == CORRECT]),
            "half": self._by_document(data.gold.unit[half]),
            "missed": self._by_document(data.gold.unit[errors.gold == MISSED]),
            "spurious": self._by_document(data.pred.unit[errors.pred == SPURIOUS]),
        }

    @cached_property
    def cut(self) -> Floats:
        return self._by_document(self.data.gold.unit[self.data.cut_and_joined[0]])

    @cached_property
    def iou(self) -> Floats:
        """Sum of intersection over union of the aligned pairs."""
        pairs = self.data.aligned
        return self._by_document(self.data.gold.unit[pairs.gold], share(self.data.gold, self.data.pred, pairs, "iou"))

    @cached_property
    def pairs(self) -> Floats:
        return self._by_document(self.data.gold.unit[self.data.aligned.gold])

    def covered(self, name: str) -> Floats:
        """A sum of the coverage scores."""
        return self._spread(np.asarray(getattr(self.data.coverage, name), dtype=float))

    @cached_property
    def _positions(self) -> dict[str, Sparse]:
        return {}

    def positions_of(self, name: str) -> Sparse:
        """Tokens or characters by label: of gold, of the prediction, or common to both."""
        if name not in self._positions:
            at = self.data.positions
            self._positions[name] = self._by_label(at.unit, at.label, getattr(at, name))
        return self._positions[name]

    def credited(self, kind: str, *, text_requires_type: bool = True) -> Floats:
        """Entities with MUC's text or type credit, children only inside aligned parents."""
        text, type_ = self.data.credits(text_requires_type=text_requires_type)
        return self._by_document(self.data.gold.unit[(text if kind == "text" else type_).gold])

    def page(self, name: str, rule: Rule, weight: float) -> Floats:
        """A column of the page-excerpt scores."""
        pages: Pages = self.data.pages(rule, weight)
        return self._spread(np.asarray(getattr(pages, name), dtype=float))

    @cached_property
    def tokens(self) -> Floats:
        return self._spread(self.data.tokens[0].astype(float))

    @cached_property
    def right_tokens(self) -> Floats:
        return self._spread(self.data.tokens[1].astype(float))
