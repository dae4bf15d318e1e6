# SPDX-License-Identifier: Apache-2.0
"""The front door of Konfuzio's file-splitting evaluation: the same names, fields and numbers on karat's engine.

``strict=True`` repeats the original bug for bug (SDK 0.3.27 for two lists, the 2022 tutorial for a list of pairs).
By default what was wrong is right, and ``findings`` says where that changed a number.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from karat.align import Aligned, meet
from karat.columns import Codes
from karat.contexts import catalogue
from karat.contexts.splitting.cells import SplittingCells
from karat.contexts.splitting.context import bundle_cells
from karat.contexts.splitting.coverage import ranges
from karat.contexts.splitting.paired import Paired, paired
from karat.doors.konfuzio.calculator import COUNTS, SCORES, EvaluationCalculator
from karat.findings import Finding, InputError, finding
from karat.score import ratio
from karat.side import Entries, Keys, Origin, Side

LONG = ("true_positives", "false_positives", "false_negatives", "true_negatives", *SCORES)
_PAIR_UNDEFINED = {
    name: f"{which} are zero, please specify allow_zero=True if you want {shown} to be None."
    for name, which, shown in (
        ("precision", "TP and FP", "precision"), ("recall", "TP and FN", "recall"), ("f1", "FP and FN", "F1"),
    )
}  # fmt: skip

NO_HIT = finding(
    "door-differs",
    what="F1 is 0 where nothing is hit; Konfuzio leaves it undefined",
    tool="Konfuzio",
    switch="strict=True",
)
_metrics = cache(catalogue)


class FileSplittingEvaluation:
    """First-page flags of documents against their predictions, overall and by category of the true document.

    Two lists with ``zero_division``, or one list of (true, predicted) pairs with ``allow_zero``.

    >>> from karat.doors.konfuzio import Document
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
            self.document_pairs = [[pair[0], pair[1]] for pair in first or ()]
            _check_flags([] if strict else self.document_pairs, strict)  # no flag was "not first" in this form
        else:
            self.document_pairs = _checked_pairs(list(first or ()), list(prediction_documents), strict)
        self.documents = self.document_pairs  # as the first published form calls them
        self.project = getattr(self.document_pairs[0][0], "project", None) if self.document_pairs else None
        self._cells = self._counted()
        self.calculate()
        self.calculate_metrics_by_category()

    def _counted(self) -> SplittingCells:
        """The pairs as cells of the context splitting."""
        if self.strict and not self.as_pairs:
            _check_confidences(self.document_pairs)
        gold, pred = (_side(self.document_pairs, i, self._category_codes, by_number=not self.strict) for i in (0, 1))
        both = Aligned.of(gold, pred, meet(gold.keys, pred.keys))
        pages = paired(both)
        self._report(pages)
        if self.missing_pages == "truncate":
            pages = pages.kept(pages.in_gold & pages.in_pred)
        return bundle_cells(both, pages, {"confidence_of": "first", "threshold": None, "count_first_page": "yes"})

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
            for bundle in np.unique(pages.row[only]).tolist():
                numbers = pages.number[only & (pages.row == bundle)]
                name = getattr(self.document_pairs[bundle][0], "id_", bundle)
                self.findings.append(
                    finding(code, None, id=name, count=len(numbers), pages=ranges(numbers), other=other)
                )
        if self.findings and self.missing_pages == "error":
            raise InputError(self.findings)
        for f in self.findings if not self.strict else ():
            warnings.warn(str(f), stacklevel=5)

    def _values(self, name: str) -> tuple[float, list[float]]:
        """A metric of the engine: overall and by category."""
        metrics = _metrics("splitting")
        result = metrics[name].compute(self._cells.pooled(), self._cells, metrics.resolve(name))
        assert result.by_class is not None
        by_class = dict(zip(self._cells.classes, result.by_class[0].tolist(), strict=True))
        return float(result.value[0]), [by_class.get(str(i), 0.0) for i in range(len(self._categories))]

    def calculate(self) -> None:
        """Overall counts and scores, as ``evaluation_results``."""
        counts = [int(self._values(name)[0]) for name in COUNTS]
        self.evaluation_results = dict(zip(self._names, [*counts, *self._scores(counts)], strict=True))

    def calculate_metrics_by_category(self) -> None:
        """Counts and scores by category, as ``evaluation_results_by_category``."""
        categories = [gold.category.id_ for gold, _ in self.document_pairs] if self.strict else self._categories
        columns = zip(*(self._values(name)[1] for name in COUNTS), strict=True)
        rows = {c: [int(n) for n in counts] for c, counts in zip(dict.fromkeys(categories), columns, strict=False)}
        scored = {c: dict(zip(self._names, [*n, *self._scores(n)], strict=True)) for c, n in rows.items()}
        by_metric = {name: {c: row[name] for c, row in scored.items()} for name in self._names}
        self.evaluation_results_by_category: dict[Any, Any] = by_metric if self.as_pairs else scored

    @property
    def _names(self) -> tuple[str, ...]:
        return (*COUNTS, *SCORES) if self.as_pairs else LONG

    def _scores(self, counts: Sequence[int]) -> list[Any]:
        tp, fp, fn, tn = counts
        if self.as_pairs:
            if not tp and fp and fn and not self.strict and NO_HIT not in self.findings:
                self.findings.append(NO_HIT)
            return _pair_scores(tp, fp, fn, self.allow_zero, self.strict)
        calculator = EvaluationCalculator(tp, fp, fn, tn, self.zero_division, strict=self.strict)
        return [calculator.precision, calculator.recall, calculator.f1]

    def _find(self, name: str, search: Any) -> Any:
        if search is None:
            return self.evaluation_results[name]
        by_category = self.evaluation_results_by_category
        results = by_category[name] if self.as_pairs else by_category
        category = getattr(search, "id_", search)
        if category not in results:
            raise KeyError(self._unknown(search))
        return results[category] if self.as_pairs else results[category][name]

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


def _checked_pairs(gold: Sequence[Any], pred: Sequence[Any], strict: bool) -> list[list[Any]]:
    """The documents in pairs, after the original's checks in its order."""
    if len(gold) != len(pred):
        raise ValueError("ground_truth_documents and prediction_documents must be same length.")
    pairs = [list(pair) for pair in zip(gold, pred, strict=True)]
    _check_flags(pairs, strict)
    for true, predicted in pairs:
        if true.id_ not in (getattr(predicted, "copy_of_id", None), getattr(predicted, "id_", None)):
            raise ValueError(
                f"Incorrect prediction passed for {true}. Prediction has to be a copy of a ground truth Document."
            )
    if len({getattr(document, "project", None) for document in gold}) > 1:
        raise ValueError("All Documents have to belong to the same Project.")
    return pairs


def _check_flags(pairs: Iterable[Sequence[Any]], strict: bool) -> None:
    """Every page needs a flag; the original calls a prediction that is no copy None."""
    for gold, _ in pairs:
        _check_pages(gold, str(gold))
    for _, pred in pairs:
        name = getattr(pred, "copy_of_id", None)
        _check_pages(pred, f"prediction of {getattr(pred, 'id_', None) if name is None and not strict else name}")


def _check_pages(document: Any, name: str) -> None:
    for place, page in enumerate(document.pages(), 1):
        if page.is_first_page is None:
            raise ValueError(f"Page {_number(page, place)} of {name} does not have a value of is_first_page.")


def _number(page: Any, place: int) -> int:
    number = getattr(page, "number", None)
    return place if number is None else number


def _check_confidences(pairs: Iterable[Sequence[Any]]) -> None:
    """The original formats every confidence of the pages that it compares."""
    for true, predicted in pairs:
        for _, page in zip(true.pages(), predicted.pages(), strict=False):
            f"{getattr(page, 'is_first_page_confidence', None):.2f}"


def _side(pairs: Sequence[Sequence[Any]], side: int, categories: Sequence[str], *, by_number: bool) -> Side:
    """One side's pages as flat arrays; pairs stand for bundles, so ids may repeat."""
    documents = [list(pair[side].pages()) for pair in pairs]
    numbers = [_numbers(pages) if by_number else list(range(1, len(pages) + 1)) for pages in documents]
    size = np.array([len(pages) for pages in documents], np.int64)
    unit = np.repeat(np.arange(len(pairs)), size)
    category = Codes.of(categories)
    columns = {
        "page": np.array([number for listed in numbers for number in listed], np.int64),
        "first": np.array([bool(page.is_first_page) for pages in documents for page in pages], np.int8),
        "category": category.code[unit] if side == 0 else np.full(len(unit), -1),
    }
    keys = Keys(Codes.constant("", len(pairs)), [str(i) for i in range(len(pairs))])
    return Side(
        Origin("documents", ("gold", "pred")[side]), "pages", keys, Entries(unit, columns), {"category": category.names},
        {"open_ended": np.zeros(len(pairs), bool)}, {"categories": category.names},
    )  # fmt: skip


def _numbers(pages: Sequence[Any]) -> list[int]:
    """Page numbers, or places where numbers are missing or repeated."""
    numbers = [_number(page, place) for place, page in enumerate(pages, 1)]
    return numbers if len(set(numbers)) == len(numbers) else list(range(1, len(pages) + 1))
