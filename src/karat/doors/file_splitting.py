# SPDX-License-Identifier: Apache-2.0
"""The front door of Konfuzio's file-splitting evaluation: the same names, fields and numbers on karat's engine.

``strict=True`` repeats the original bug for bug (SDK 0.3.27 for two lists, the 2022 tutorial for a list of pairs).
By default what was wrong is right, and ``findings`` says where that changed a number.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from karat.cells import Ints
from karat.contexts import catalogue
from karat.contexts.monolabel import MonoLabelCells
from karat.contexts.splitting import bundles
from karat.contexts.splitting.bundles import Bundles
from karat.contexts.splitting.coverage import ranges
from karat.contexts.splitting.sides import Paired, Side, paired
from karat.doors.documents import NO_CATEGORY, Category, Document, Page, Project
from karat.findings import Finding, InputError, finding
from karat.score import ratio

__all__ = [
    "NO_CATEGORY", "CategorizationEvaluation", "Category", "Document", "EvaluationCalculator", "FileSplittingEvaluation",
    "Page", "Project",
]  # fmt: skip

COUNTS = ("tp", "fp", "fn", "tn")
SCORES = ("precision", "recall", "f1")
LONG = ("true_positives", "false_positives", "false_negatives", "true_negatives", *SCORES)
_UNDEFINED = {
    "precision": "TP and FP are zero, impossible to calculate precision.",
    "recall": "TP and FN are zero, recall is impossible to calculate.",
    "f1": "Precision and recall are zero, F1 is impossible to calculate.",
}
_PAIR_UNDEFINED = {
    name: f"{which} are zero, please specify allow_zero=True if you want {shown} to be None."
    for name, which, shown in (
        ("precision", "TP and FP", "precision"), ("recall", "TP and FN", "recall"), ("f1", "FP and FN", "F1"),
    )
}  # fmt: skip

logger = logging.getLogger(__name__)
_metrics = cache(catalogue)


class EvaluationCalculator:
    """Precision, recall and F1 of four counts.

    >>> calculator = EvaluationCalculator(tp=3, fp=0, fn=1, tn=4)
    >>> calculator.precision, calculator.recall, round(calculator.f1, 4)
    (1.0, 0.75, 0.8571)
    """

    def __init__(
        self,
        tp: float = 0,
        fp: float = 0,
        fn: float = 0,
        tn: float = 0,
        zero_division: Any = "warn",
        *,
        strict: bool = False,
    ) -> None:
        if not any(zero_division is allowed or zero_division == allowed for allowed in ("warn", "error", 0, None)):
            raise AssertionError("The value of zero_division has to be 'warn', 'error', 0 or None")
        self.tp, self.fp, self.fn, self.tn = tp, fp, fn, tn
        self.zero_division, self.strict = zero_division, strict

    @property
    def precision(self) -> Any:
        return self._value("precision", self.tp, self.tp + self.fp)

    @property
    def recall(self) -> Any:
        return self._value("recall", self.tp, self.tp + self.fn)

    @property
    def f1(self) -> Any:
        return self._value("f1", self.tp, self.tp + 0.5 * (self.fp + self.fn))

    def _value(self, name: str, num: float, den: float) -> Any:
        value = float(ratio(num, den, "").value)
        return self._undefined(_UNDEFINED[name]) if np.isnan(value) else value

    def _undefined(self, message: str) -> Any:
        if self.zero_division == "error":
            raise ZeroDivisionError(message)
        if self.zero_division != "warn":
            return self.zero_division
        logger.info(message)
        if not self.strict:
            warnings.warn(f"{message} It is set to 0.", stacklevel=4)
        return 0

    def metrics_logging(self) -> None:
        """Log counts and scores."""
        for name in ("tp", "fn", "tn", "fp", *SCORES):
            logger.info("%s: %s", name.upper() if name in COUNTS else name.capitalize(), getattr(self, name))


class FileSplittingEvaluation:
    """First-page flags of documents against their predictions, overall and by category of the true document.

    Two lists with ``zero_division``, or one list of (true, predicted) pairs with ``allow_zero``.

    >>> gold = [Document.of([True, False, True], id_=1)]
    >>> pred = [Document.of([True, False, False], copy_of_id=1)]
    >>> evaluation = FileSplittingEvaluation(gold, pred)
    >>> evaluation.tp(), evaluation.fn(), evaluation.recall()
    (1, 1, 0.5)
    """

    def __init__(
        self,
        ground_truth_documents: Sequence[Any] | None = None,
        prediction_documents: Any = None,
        zero_division: Any = "warn",
        *,
        documents: Sequence[Any] | None = None,
        allow_zero: bool = False,
        strict: bool = False,
        missing_pages: str | None = None,
    ) -> None:
        first = documents if documents is not None else ground_truth_documents
        self.strict, self.zero_division, self.findings = strict, zero_division, list[Finding]()
        self.missing_pages = missing_pages or ("truncate" if strict else "not-first")
        self.as_pairs = documents is not None or prediction_documents is None or isinstance(prediction_documents, bool)
        self.allow_zero = prediction_documents if isinstance(prediction_documents, bool) else allow_zero
        if self.as_pairs:
            self.document_pairs = [(pair[0], pair[1]) for pair in first or ()]
            _check_flags(self.document_pairs, self.strict)
        else:
            self.document_pairs = _checked_pairs(list(first or ()), list(prediction_documents))
        self.project = getattr(self.document_pairs[0][0], "project", None) if self.document_pairs else None
        self._cells = self._counted()
        self.calculate()
        self.calculate_metrics_by_category()

    def _counted(self) -> Bundles:
        """The pairs as cells of the context splitting."""
        if self.strict and not self.as_pairs:
            _check_confidences(self.document_pairs)
        gold, pred = (_side(self.document_pairs, i, self._category_codes, by_number=not self.strict) for i in (0, 1))
        pages = paired(gold, pred)
        self._report(pages)
        if self.missing_pages == "truncate":
            pages = pages.kept(pages.in_gold & pages.in_pred)
        return bundles(pages, gold, pred, {"confidence_of": "first", "threshold": None, "count_first_page": "yes"})

    @property
    def _categories(self) -> list[Any]:
        """Ids of the true documents' categories, in order of appearance."""
        return list(dict.fromkeys(_category_id(gold) for gold, _ in self.document_pairs))

    @property
    def _category_codes(self) -> list[str]:
        index = {category: str(i) for i, category in enumerate(self._categories)}
        return [index[_category_id(gold)] for gold, _ in self.document_pairs]

    def _report(self, pages: Paired) -> None:
        """Say which pages only one side has."""
        code = {"error": "pages-on-one-side", "truncate": "pages-left-out", "not-first": "pages-as-not-first"}[
            self.missing_pages
        ]
        for only, other in ((~pages.in_pred, "the prediction"), (~pages.in_gold, "the ground truth")):
            for bundle in np.unique(pages.bundle[only]).tolist():
                numbers = pages.number[only & (pages.bundle == bundle)]
                name = getattr(self.document_pairs[bundle][0], "id_", bundle)
                self.findings.append(finding(code, None, id=name, pages=ranges(numbers), other=other))
        if self.findings and self.missing_pages == "error":
            raise InputError(self.findings)
        for one in self.findings if not self.strict else ():
            warnings.warn(str(one), stacklevel=5)

    def _values(self, name: str) -> tuple[float, list[float]]:
        """A metric of the engine: overall and by category."""
        found = _metrics("splitting")
        result = found[name].compute(self._cells.pooled(), self._cells, found.resolve(name))
        assert result.by_class is not None
        found_by = dict(zip(self._cells.classes, result.by_class[0].tolist(), strict=True))
        return float(result.value[0]), [found_by.get(str(i), 0.0) for i in range(len(self._categories))]

    def calculate(self) -> None:
        """Overall counts and scores, as ``evaluation_results``."""
        counts = [int(self._values(name)[0]) for name in COUNTS]
        self.evaluation_results = dict(zip(self._names, [*counts, *self._scores(counts)], strict=True))

    def calculate_metrics_by_category(self) -> None:
        """Counts and scores by category, as ``evaluation_results_by_category``."""
        columns = zip(*(self._values(name)[1] for name in COUNTS), strict=True)
        rows = {c: [int(n) for n in counts] for c, counts in zip(self._categories, columns, strict=False)}
        scored = {c: dict(zip(self._names, [*n, *self._scores(n)], strict=True)) for c, n in rows.items()}
        by_metric = {name: {c: row[name] for c, row in scored.items()} for name in self._names}
        self.evaluation_results_by_category: dict[Any, Any] = by_metric if self.as_pairs else scored

    @property
    def _names(self) -> tuple[str, ...]:
        return (*COUNTS, *SCORES) if self.as_pairs else LONG

    def _scores(self, counts: Sequence[int]) -> list[Any]:
        if self.as_pairs:
            return _pair_scores(counts[0], counts[1], counts[2], self.allow_zero, self.strict)
        tp, fp, fn, tn = counts
        calculator = EvaluationCalculator(tp, fp, fn, tn, self.zero_division, strict=self.strict)
        return [calculator.precision, calculator.recall, calculator.f1]

    def _find(self, name: str, search: Any) -> Any:
        if search is None:
            return self.evaluation_results[name]
        by_category = self.evaluation_results_by_category
        found = by_category[name] if self.as_pairs else by_category
        category = getattr(search, "id_", search)
        if category not in found:
            raise KeyError(self._unknown(search))
        return found[category] if self.as_pairs else found[category][name]

    def _unknown(self, search: Any) -> str:
        if self.strict:
            return f"{search} is not present in {self.project}. Only Categories within a Project can be used for viewing metrics."
        return f"no evaluated document is of {search}; evaluated categories: {', '.join(map(str, self._categories)) or 'none'}"

    def tp(self, search: Any = None) -> int:
        """First pages that were predicted first."""
        return int(self._find(self._names[0], search))

    def fp(self, search: Any = None) -> int:
        """Pages that were predicted first and are not."""
        return int(self._find(self._names[1], search))

    def fn(self, search: Any = None) -> int:
        """First pages that were not predicted first."""
        return int(self._find(self._names[2], search))

    def tn(self, search: Any = None) -> int:
        """Other pages that were not predicted first."""
        return int(self._find(self._names[3], search))

    def gt(self, search: Any = None) -> int:
        """First pages of the ground truth; the original always gives 0."""
        return 0 if self.strict else self.tp(search) + self.fn(search)

    def precision(self, search: Any = None) -> Any:
        """TP / (TP + FP)."""
        return self._find("precision", search)

    def recall(self, search: Any = None) -> Any:
        """TP / (TP + FN)."""
        return self._find("recall", search)

    def f1(self, search: Any = None) -> Any:
        """TP / (TP + (FP + FN) / 2)."""
        return self._find("f1", search)

    def get_evaluation_data(self, search: Any = None, allow_zero: bool = True) -> EvaluationCalculator:
        """The counts as a calculator; ``allow_zero`` has no effect, as in the original."""
        counts = (self.tp(search), self.fp(search), self.fn(search), self.tn(search))
        return EvaluationCalculator(*counts, self.zero_division, strict=self.strict)


def _pair_scores(tp: int, fp: int, fn: int, allow_zero: bool, strict: bool) -> list[Any]:
    """Scores of the first published form: None or an error where undefined, F1 from precision and recall."""
    precision = _pair_value("precision", tp, tp + fp, allow_zero)
    recall = _pair_value("recall", tp, tp + fn, allow_zero)
    if not strict:
        return [precision, recall, _pair_value("f1", 2 * tp, 2 * tp + fp + fn, allow_zero)]
    # The original adds precision and recall before it asks whether they are None, so that None raises TypeError here.
    return [precision, recall, _pair_value("f1", 2 * precision * recall if tp else 0, precision + recall, allow_zero)]


def _pair_value(name: str, num: float, den: float, allow_zero: bool) -> Any:
    if den:
        return float(ratio(num, den, "").value)
    if not allow_zero:
        raise ZeroDivisionError(_PAIR_UNDEFINED[name])
    return None


def _category_id(document: Any) -> Any:
    category = getattr(document, "category", None)
    return 0 if category is None else category.id_


def _checked_pairs(gold: Sequence[Any], pred: Sequence[Any]) -> list[tuple[Any, Any]]:
    """The documents in pairs, after the original's checks in its order."""
    if len(gold) != len(pred):
        raise ValueError("ground_truth_documents and prediction_documents must be same length.")
    pairs = list(zip(gold, pred, strict=True))
    _check_flags(pairs, False)
    for one, other in pairs:
        if one.id_ not in (getattr(other, "copy_of_id", None), getattr(other, "id_", None)):
            raise ValueError(
                f"Incorrect prediction passed for {one}. Prediction has to be a copy of a ground truth Document."
            )
    if len({id(getattr(one, "project", None)) for one in gold}) > 1:
        raise ValueError("All Documents have to belong to the same Project.")
    return pairs


def _check_flags(pairs: Iterable[tuple[Any, Any]], lenient: bool) -> None:
    """Every page needs a flag; the first published form takes none for "not first"."""
    pairs = [] if lenient else list(pairs)
    for one, _ in pairs:
        for place, page in enumerate(one.pages(), 1):
            if page.is_first_page is None:
                raise ValueError(f"Page {_number(page, place)} of {one} does not have a value of is_first_page.")
    for _, other in pairs:
        for place, page in enumerate(other.pages(), 1):
            if page.is_first_page is None:
                name = getattr(other, "copy_of_id", None) or getattr(other, "id_", None)
                raise ValueError(
                    f"Page {_number(page, place)} of prediction of {name} does not have a value of is_first_page."
                )


def _number(page: Any, place: int) -> int:
    number = getattr(page, "number", None)
    return place if number is None else number


def _check_confidences(pairs: Iterable[tuple[Any, Any]]) -> None:
    """The original formats every confidence of the pages that it compares."""
    for one, other in pairs:
        for _, page in zip(one.pages(), other.pages(), strict=False):
            f"{getattr(page, 'is_first_page_confidence', None):.2f}"


def _side(pairs: Sequence[tuple[Any, Any]], side: int, categories: Sequence[str], *, by_number: bool) -> Side:
    """One side's pages as flat arrays; pairs stand for bundles, so ids may repeat."""
    documents = [list(pair[side].pages()) for pair in pairs]
    numbers = [_numbers(pages) if by_number else list(range(1, len(pages) + 1)) for pages in documents]
    return Side(
        [("", str(i)) for i in range(len(pairs))],
        np.array([len(pages) for pages in documents], np.int64),
        np.array([n for own in numbers for n in own], np.int64),
        np.array([bool(page.is_first_page) for pages in documents for page in pages], bool),
        None,
        np.array([own for own, pages in zip(categories, documents, strict=True) for _ in pages], object)
        if side == 0
        else np.full(sum(map(len, documents)), None, object),
        np.zeros(len(pairs), bool),
    )


def _numbers(pages: Sequence[Any]) -> list[int]:
    """Page numbers, or places where numbers are missing or repeated."""
    numbers = [_number(page, place) for place, page in enumerate(pages, 1)]
    return numbers if len(set(numbers)) == len(numbers) else list(range(1, len(pages) + 1))


class CategorizationEvaluation:
    """Categories of documents against predicted ones, each category against the rest.

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
        return [_category_id(gold) for gold, _ in self.documents]

    @property
    def predicted_classes(self) -> list[Any]:
        """Category ids of the predictions; -1 for none."""
        found = [getattr(pred, "category", None) for _, pred in self.documents]
        return [-1 if category is None else category.id_ for category in found]

    def calculate(self) -> None:
        """Count the pairs."""
        labels = [*self.category_ids, 0]
        actual, predicted = _codes(self.actual_classes, labels), _codes(self.predicted_classes, labels)
        if len(actual) and (actual < 0).all() and (self.strict or not self.categories):
            raise ValueError("At least one label specified must be in y_true")
        self._report(int((predicted < 0).sum()), len(predicted))
        self._all = _cells(actual, predicted, labels)
        seen = (actual >= 0) & (predicted >= 0)
        self._cells = _cells(actual[seen], predicted[seen], labels) if self.strict else self._all

    def _report(self, lacking: int, total: int) -> None:
        if lacking and not self.strict:
            self.findings = [finding("category-missing", None, count=lacking, total=total)]

    def confusion_matrix(self) -> Ints:
        """True categories down, predicted across, the given ones and then no category.

        The original leaves pairs with a category outside the list out; by default they are in the last row or column.
        """
        size = len(self.categories) + 1
        table = np.zeros((size, size), np.int64)
        last = size - 1
        np.add.at(
            table,
            (np.minimum(self._cells.gold, last), np.where(self._cells.pred < 0, last, self._cells.pred)),
            self._cells.n,
        )
        return table

    def _counts(self) -> dict[str, Ints]:
        """tp, fp, fn and tn of each given category."""
        cells, kept = self._cells, slice(0, len(self.categories))
        W = cells.pooled()
        hits, gold, pred = ((W @ x)[0, kept].astype(np.int64) for x in (cells.hit_of, cells.gold_of, cells.pred_of))
        return {"tp": hits, "fp": pred - hits, "fn": gold - hits, "tn": int(cells.n.sum()) - gold - pred + hits}

    def _count(self, name: str, category: Any) -> int:
        counts = self._counts()[name]
        return int(counts.sum() if category is None else counts[self.category_ids.index(category.id_)])

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
        """Documents of the category."""
        return sum(
            1 for c in self.actual_classes if (c in self.category_ids if category is None else c == category.id_)
        )

    def get_evaluation_data(self, search: Any = None, allow_zero: bool = True) -> EvaluationCalculator:
        """The counts as a calculator."""
        tp, fp, fn, tn = (self._count(name, search) for name in COUNTS)
        return EvaluationCalculator(tp, fp, fn, tn, self.zero_division, strict=self.strict)

    def _score(self, name: str, category: Any) -> Any:
        return self._weighted(name) if category is None else getattr(self.get_evaluation_data(category), name)

    def _weighted(self, name: str) -> float:
        """Mean over the given categories by number of documents, undefined values being 0."""
        found, W = _metrics("monolabel"), self._all.pooled()
        result = found[name].compute(W, self._all, found.resolve(name), fill=0.0)
        assert result.by_class is not None
        kept = slice(0, len(self.categories))
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
    place = {label: i for i, label in reversed(list(enumerate(labels)))}
    return np.array([place.get(i, -1) for i in ids], np.int64)


def _cells(actual: Ints, predicted: Ints, labels: Sequence[Any]) -> MonoLabelCells:
    """Mono-label cells; a true category outside the labels is a class of its own behind them."""
    gold = np.where(actual < 0, len(labels), actual)
    n, nothing = np.ones(len(gold), np.int64), np.zeros(len(gold), np.int64)
    return MonoLabelCells(gold, predicted, n, nothing, [""], [*map(str, labels), "(other)"])
