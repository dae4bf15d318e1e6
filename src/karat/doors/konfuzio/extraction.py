# SPDX-License-Identifier: Apache-2.0
"""The front door of Konfuzio's evaluation of extracted annotations: the same names, arguments and results.

``compat="konfuzio"`` repeats the original bug for bug (SDK 0.3.27, where ``strict`` is a way to compare).
By default what was wrong is right, and ``findings`` says where that changed a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from karat.doors.konfuzio.annotations import expected, predicted
from karat.doors.konfuzio.calculator import EvaluationCalculator, check_zero_division
from karat.doors.konfuzio.compared_spans import Bools, Masks, Rows, Side, by_place, corrected, konfuzio, konfuzio_order
from karat.findings import Finding, finding

THRESHOLDS = np.arange(0.05, 1, 0.05)
_WHY = {
    "tp": "what has no id, or a prediction without a confidence, can be right, and what is found twice counts once",
    "fp": "a prediction is wrong or not, whatever is missed beside it, and counts once",
    "fn": "what is predicted wrongly at its place is missed as well, and so is a label that occurs once",
    "gt": "it is what was found or missed, without predictions and placeholders",
    "tn": "it is the predictions below their threshold where nothing is expected",
    "tokenizer_tp": "each place counts once, whatever its label", "tokenizer_fp": "each place counts once, whatever its label",
    "tokenizer_fn": "a place that nothing found is missed in both ways to compare",
    "clf_tp": "each annotation counts once", "clf_fp": "a prediction below its threshold is none",
    "clf_fn": "an annotation with another label is missed as well",
}  # fmt: skip


class ExtractionEvaluation:
    """Labels of spans in documents against predicted ones, from (true, predicted) pairs of documents.

    >>> from karat.doors.konfuzio import Annotation, Document, Label
    >>> date, name = Label(11, "date"), Label(12, "name")
    >>> gold = Document(id_=1, own_annotations=[Annotation(date, [(0, 5)]), Annotation(name, [(7, 9)])])
    >>> pred = Document(copy_of_id=1, own_annotations=[Annotation(date, [(0, 5)], confidence=0.9)])
    >>> evaluation = ExtractionEvaluation([(gold, pred)], zero_division=None)
    >>> evaluation.tp(), evaluation.fn(), evaluation.recall(), evaluation.recall(search=date)
    (1, 1, 0.5, 1.0)
    """

    def __init__(
        self,
        documents: Sequence[Any],
        strict: bool = True,
        use_view_annotations: bool = True,
        ignore_below_threshold: bool = True,
        zero_division: Any = "warn",
        *,
        compat: str | None = None,
    ) -> None:
        if compat not in (None, "konfuzio"):
            raise ValueError(f"compat is None or 'konfuzio', not {compat!r}")
        check_zero_division(zero_division)
        self.documents, self.strict, self.compat = [(pair[0], pair[1]) for pair in documents], strict, compat
        self.use_view_annotations, self.ignore_below_threshold = use_view_annotations, ignore_below_threshold
        self.zero_division, self.findings = zero_division, list[Finding]()
        self.calculate()
        self.calculate_thresholds()

    def calculate(self) -> None:
        """Compare the documents again, as they and the options are now."""
        for pair in self.documents:
            _check_categories(*pair)
        gold = [expected(document) for document, _ in self.documents]
        pred = [self._predicted(document) for _, document in self.documents]
        self._labels = _labels(self.documents, [*gold, *pred])
        self._empty = [(not g, not p) for g, p in zip(gold, pred, strict=True)]
        self._rows, self._masks = self._counted(gold, pred, self.compat)
        self.findings = [] if self.compat else list(self._differences(self._counted(gold, pred, "konfuzio")[1]))

    def _predicted(self, document: Any) -> list[Any]:
        view = self.strict and self.use_view_annotations
        return predicted(document, view=view, ignore_below_threshold=self.ignore_below_threshold)

    def _counted(self, gold: Sequence[Any], pred: Sequence[Any], compat: str | None) -> tuple[dict[str, Rows], Masks]:
        """Rows of each family of counts, and the masks of the counts."""
        sides = Side(gold, bool(compat)), Side(pred, bool(compat))
        rows = Rows.of(*sides, strict=self.strict)
        if compat:
            rows = konfuzio_order(rows)
            return {"": rows, "tokenizer": rows}, konfuzio(rows, rows.above(None))
        places = rows if self.strict else Rows.of(*sides, strict=True)
        return {"": rows, "tokenizer": places}, corrected(rows, rows.above(None)) | by_place(places)

    def _differences(self, masks: Masks) -> Iterator[Finding]:
        """Where Konfuzio's overall counts are others."""
        for name, why in _WHY.items():
            ours, theirs = self._count(name, None), int(masks[name].sum()) + self._placeholders(name)
            if ours != theirs:
                what = f"{name}() is {ours} where Konfuzio counts {theirs}: {why}"
                yield finding("door-differs", what=what, tool="Konfuzio", switch='compat="konfuzio"')

    def _placeholders(self, name: str) -> int:
        """The original's rows for documents without annotations."""
        if not self.strict or name not in ("gt", "tn"):
            return 0
        return sum(gold if name == "gt" else gold or pred for gold, pred in self._empty)

    def calculate_thresholds(self) -> None:
        """For each label the lowest threshold of the best F1, precision and recall, as ``label_thresholds``."""
        rows, count = self._rows[""], konfuzio if self.compat else corrected
        masks = [count(rows, rows.above(threshold)) for threshold in THRESHOLDS]
        self.label_thresholds: dict[Any, dict[str, dict[str, float]]] = {}
        for label in self._labels:
            self.label_thresholds[label.id_] = best = self._best(label.id_, masks)
            getattr(label, "optimized_thresholds", {}).update({name: dict(value) for name, value in best.items()})

    def _best(self, label: Any, masks: Sequence[Masks]) -> dict[str, dict[str, float]]:
        undefined = self.zero_division if self.compat else None
        of = {name: self._of_id("label", label, name) for name in ("tp", "fp", "fn")}
        best = {name: {"score": 0.0, "threshold": 0.0} for name in ("f1", "precision", "recall")}
        for threshold, mask in zip(THRESHOLDS.tolist(), masks, strict=True):
            tp, fp, fn = (int((mask[name] & of[name]).sum()) for name in ("tp", "fp", "fn"))
            calculator = EvaluationCalculator(tp, fp, fn, zero_division=undefined, strict=bool(self.compat))
            for name, kept in best.items():
                if (getattr(calculator, name) or 0) > kept["score"]:
                    best[name] = {"score": getattr(calculator, name), "threshold": threshold}
        return best

    def _of_id(self, column: str, value: Any, name: str) -> Bools:
        """Rows of a label or label set: the original's by both sides, else by the side that the count is about."""
        rows = self._rows["tokenizer" if name.startswith("tokenizer") else ""]
        gold, pred = (_equal(getattr(s, column), value)[i] for s, i in ((rows.gold, rows.g), (rows.pred, rows.p)))
        if self.compat:
            return gold | pred
        return pred if name.endswith(("fp", "tn")) else gold

    def _of_document(self, value: Any, name: str) -> Bools:
        rows = self._rows["tokenizer" if name.startswith("tokenizer") else ""]
        gold, pred = (np.array([_document_id(pair[i]) == value for pair in self.documents], bool) for i in (0, 1))
        if self.compat:
            return (gold[rows.pair] & rows.in_gold) | (pred[rows.pair] & rows.in_pred)
        return (gold | pred)[rows.pair]

    def _count(self, name: str, search: Any) -> int:
        if search is None:
            return int(self._masks[name].sum()) + (self._placeholders(name) if self.compat else 0)
        kind = _kind(search)
        if search.id_ is None:
            raise AssertionError(f"{search} must have an id_.")
        of = self._of_document(search.id_, name) if kind == "document" else self._of_id(kind, search.id_, name)
        return int((self._masks[name] & of).sum())

    def tp(self, search: Any = None) -> int:
        """Annotations that were found."""
        return self._count("tp", search)

    def fp(self, search: Any = None) -> int:
        """Predictions that are wrong."""
        return self._count("fp", search)

    def fn(self, search: Any = None) -> int:
        """Annotations that were missed."""
        return self._count("fn", search)

    def tn(self, search: Any = None) -> int:
        """Predictions below their threshold where nothing is expected; the original raises if there are any."""
        count = self._count("tn", search)
        if count and self.compat:
            raise AssertionError("There are no TNs for Extraction AI.")
        return count

    def gt(self, search: Any = None) -> int:
        """Annotations of the true documents: found or missed."""
        return self._count("gt", search)

    def tokenizer_tp(self, search: Any = None) -> int:
        """Places of annotations that have a prediction, whatever its label."""
        return self._count("tokenizer_tp", search)

    def tokenizer_fp(self, search: Any = None) -> int:
        """Places of predictions where no annotation is."""
        return self._count("tokenizer_fp", search)

    def tokenizer_fn(self, search: Any = None) -> int:
        """Places of annotations without prediction."""
        return self._count("tokenizer_fn", search)

    def clf_tp(self, search: Any = None) -> int:
        """Of the annotations whose place was found, those with the right label."""
        return self._count("clf_tp", search)

    def clf_fp(self, search: Any = None) -> int:
        """Predictions at the place of an annotation that have another label."""
        return self._count("clf_fp", search)

    def clf_fn(self, search: Any = None) -> int:
        """Of the annotations whose place was found, those without their label above its threshold."""
        return self._count("clf_fn", search)

    def _calculator(self, search: Any, family: str = "") -> EvaluationCalculator:
        tp, fp, fn = (self._count(f"{family}{name}", search) for name in ("tp", "fp", "fn"))
        return EvaluationCalculator(tp, fp, fn, zero_division=self.zero_division, strict=bool(self.compat))

    def get_evaluation_data(self, search: Any = None, allow_zero: bool = True) -> EvaluationCalculator:
        """The counts as a calculator; ``allow_zero`` has no effect, as in the original."""
        out = self._calculator(search)
        out.tn = self.tn(search)
        return out

    def precision(self, search: Any = None) -> Any:
        """TP / (TP + FP)."""
        return self._calculator(search).precision

    def recall(self, search: Any = None) -> Any:
        """TP / (TP + FN)."""
        return self._calculator(search).recall

    def f1(self, search: Any = None) -> Any:
        """TP / (TP + (FP + FN) / 2)."""
        return self._calculator(search).f1

    def tokenizer_f1(self, search: Any = None) -> Any:
        """F1 of the places."""
        return self._calculator(search, "tokenizer_").f1

    def clf_f1(self, search: Any = None) -> Any:
        """F1 of the labels at the right places."""
        return self._calculator(search, "clf_").f1


def _kind(search: Any) -> str:
    """What a search is for, by the names of its class and the classes that it extends."""
    names = {base.__name__ for base in type(search).__mro__}
    for name, kind in (("Label", "label"), ("Document", "document"), ("LabelSet", "label_set")):
        if name in names:
            return kind
    raise NotImplementedError(f"search is None, a Label, a Document or a LabelSet, not {search!r}")


def _labels(documents: Sequence[Any], annotations: Iterable[Iterable[Any]]) -> list[Any]:
    """The labels of the first document's project, or those that occur."""
    project = getattr(documents[0][0], "project", None) if documents else None
    seen = {annotation.label.id_: annotation.label for listed in annotations for annotation in listed}
    return list(getattr(project, "labels", None) or seen.values())


def _check_categories(gold: Any, pred: Any) -> None:
    true_id, id = (getattr(getattr(document, "category", None), "id_", None) for document in (gold, pred))
    if true_id != id:
        raise ValueError(f"Categories of {gold} with {gold.category} and {pred} with {pred.category} do not match.")


def _equal(values: Any, value: Any) -> Bools:
    return np.array([item == value for item in values.tolist()], bool)


def _document_id(document: Any) -> Any:
    return document.id_ if document.id_ else getattr(document, "copy_of_id", None)
