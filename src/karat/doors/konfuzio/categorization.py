# SPDX-License-Identifier: Apache-2.0
"""Konfuzio's evaluation of documents' categories on karat's engine; `karat.doors.konfuzio.file_splitting` offers it too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from karat.cells import Ints
from karat.contexts import catalogue
from karat.contexts.monolabel import MonoLabelCells
from karat.doors.konfuzio.calculator import COUNTS, EvaluationCalculator, check_zero_division
from karat.findings import Finding, finding

_metrics = cache(catalogue)


class CategorizationEvaluation:
    """Categories of documents against predicted ones, each category against the rest.

    >>> from karat.doors.konfuzio.documents import Category, Document
    >>> one, two = Category(1, "invoice"), Category(2, "letter")
    >>> pairs = [(Document(category=one), Document(category=one)), (Document(category=one), Document(category=two))]
    >>> evaluation = CategorizationEvaluation([one, two], pairs)
    >>> evaluation.recall(one), evaluation.tp(), evaluation.confusion_matrix().tolist()
    (0.5, 1, [[1, 1, 0], [0, 0, 0], [0, 0, 0]])
    """

    def __init__(
        self, categories: Sequence[Any], documents: Sequence[Any], zero_division: Any = "warn", *, strict: bool = False
    ) -> None:
        self.categories, self.documents = list(categories), [(pair[0], pair[1]) for pair in documents]
        self.zero_division, self.strict, self.findings = zero_division, strict, list[Finding]()
        self.calculate()

    @property
    def category_ids(self) -> list[Any]:
        return [category.id_ for category in self.categories]

    @property
    def category_names(self) -> list[Any]:
        return [getattr(category, "name", None) for category in self.categories]

    @property
    def actual_classes(self) -> list[Any]:
        """Category ids of the true documents."""
        if self.strict:
            return [gold.category.id_ for gold, _ in self.documents]
        categories = [getattr(gold, "category", None) for gold, _ in self.documents]
        return [0 if category is None else category.id_ for category in categories]

    @property
    def predicted_classes(self) -> list[Any]:
        """Category ids of the predictions; -1 for none."""
        categories = [getattr(pred, "category", None) for _, pred in self.documents]
        return [-1 if category is None else category.id_ for category in categories]

    def calculate(self) -> None:
        """Count the pairs."""
        labels = list(dict.fromkeys([*self.category_ids, 0]))
        actual, predicted = (_codes(side, labels) for side in (self.actual_classes, self.predicted_classes))
        if len(actual) and (actual < 0).all() and (self.strict or not self.categories):
            raise ValueError("At least one label specified must be in y_true")
        if self.categories:
            check_zero_division(self.zero_division)
        seen = (actual >= 0) & (predicted >= 0)
        self.findings = [] if self.strict else list(self._differences(int((~seen).sum()), len(seen)))
        self._all = _cells(actual, predicted, labels)
        self._cells = _cells(actual[seen], predicted[seen], labels) if self.strict else self._all

    def _differences(self, outside: int, total: int) -> Iterator[Finding]:
        """Where Konfuzio's numbers are others."""
        if outside:
            what = f"{outside} of {total} pairs have a category that was not given, or none: they count; Konfuzio drops them"
            yield finding("door-differs", what=what, tool="Konfuzio", switch="strict=True")
        if 0 in self.category_ids:
            what = "category 0 counts like the others; Konfuzio takes it for the absence of one and finds no documents in it"
            yield finding("door-differs", what=what, tool="Konfuzio", switch="strict=True")

    def confusion_matrix(self) -> Ints:
        """True categories down, predicted across, the given ones and then no category.

        The original leaves pairs with a category outside the list out; by default they are in the last row or column.
        """
        ids, cells = [*self.category_ids, 0], self._cells
        places = {label: place for place, label in enumerate(ids)}  # the last, where a category is given twice
        place = np.array([*map(places.__getitem__, dict.fromkeys(ids)), len(ids) - 1])
        table = np.zeros((len(ids), len(ids)), np.int64)
        np.add.at(table, (place[cells.gold], place[cells.pred]), cells.n)
        return table

    def _counts(self) -> dict[Any, dict[str, int]]:
        """tp, fp, fn and tn of each given category; to the original, a given category 0 has no documents."""
        cells, total = self._cells, int(self._cells.n.sum())
        W = cells.pooled()
        columns = ((W @ x)[0].astype(np.int64).tolist() for x in (cells.hit_of, cells.gold_of, cells.pred_of))
        by_category = dict(zip(dict.fromkeys([*self.category_ids, 0]), zip(*columns, strict=True), strict=False))
        if self.strict:
            by_category[0] = (0, 0, 0)
        return {
            category: {"tp": hit, "fp": pred - hit, "fn": gold - hit, "tn": total - gold - pred + hit}
            for category, (hit, gold, pred) in by_category.items()
            if category in self.category_ids
        }

    def _count(self, name: str, category: Any) -> int:
        counts = self._counts()
        if category is None:
            return sum(of_category[name] for of_category in counts.values())
        if category.id_ not in counts and not self.strict:
            raise KeyError(
                f"{category} is not among the evaluated categories: {', '.join(map(str, self.category_ids))}"
            )
        return counts.get(category.id_, {}).get(name, 0)

    def tp(self, category: Any = None) -> int:
        """Documents of the category that were predicted so."""
        return self._count("tp", category)

    def fp(self, category: Any = None) -> int:
        """Other documents that were predicted to be of the category."""
        return self._count("fp", category)

    def fn(self, category: Any = None) -> int:
        """Documents of the category that were predicted otherwise."""
        return self._count("fn", category)

    def tn(self, category: Any = None) -> int:
        """Other documents that were predicted otherwise."""
        return self._count("tn", category)

    def gt(self, category: Any = None) -> int:
        """Documents of the category; the original always gives 0."""
        return 0 if self.strict else self._count("tp", category) + self._count("fn", category)

    def get_evaluation_data(self, search: Any = None, allow_zero: bool = True) -> EvaluationCalculator:
        """The counts as a calculator."""
        tp, fp, fn, tn = (self._count(name, search) for name in COUNTS)
        return EvaluationCalculator(tp, fp, fn, tn, self.zero_division, strict=self.strict)

    def _score(self, name: str, category: Any) -> Any:
        return self._weighted(name) if category is None else getattr(self.get_evaluation_data(category), name)

    def _weighted(self, name: str) -> float:
        """Mean over the given categories by number of documents, undefined values being 0."""
        metrics, W = _metrics("monolabel"), self._all.pooled()
        result = metrics[name].compute(W, self._all, metrics.resolve(name), fill=0.0)
        assert result.by_class is not None
        kept = _codes(self.category_ids, list(dict.fromkeys(self.category_ids)))
        weight = (W @ self._all.gold_of)[0, kept]
        return float(weight @ result.by_class[0, kept] / weight.sum()) if weight.sum() else 0.0

    def precision(self, category: Any) -> Any:
        """Of one category; with None, the mean over categories weighted by their documents."""
        return self._score("precision", category)

    def recall(self, category: Any) -> Any:
        """Of one category; with None, the mean over categories weighted by their documents."""
        return self._score("recall", category)

    def f1(self, category: Any) -> Any:
        """Of one category; with None, the mean over categories weighted by their documents."""
        return self._score("f1", category)


def _codes(ids: Sequence[Any], labels: Sequence[Any]) -> Ints:
    """Places of the ids among the labels; -1 for others."""
    place = {label: i for i, label in enumerate(labels)}
    return np.array([place.get(i, -1) for i in ids], np.int64)


def _cells(actual: Ints, predicted: Ints, labels: Sequence[Any]) -> MonoLabelCells:
    """Mono-label cells; a true category outside the labels is a class of its own behind them."""
    gold = np.where(actual < 0, len(labels), actual)
    n, nothing = np.ones(len(gold), np.int64), np.zeros(len(gold), np.int64)
    return MonoLabelCells(gold, predicted, n, nothing, [""], [*map(str, labels), "(other)"])
