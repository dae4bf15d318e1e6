# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's scores of labels and label sets on karat's metrics: classification_report and its neighbours."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.cells import Dense, Sparse
from karat.contexts import catalogue
from karat.contexts.multilabel import MultiLabelCells
from karat.doors.class_report import COLUMNS, Report, text
from karat.metric import Metric, MetricError

Floats = NDArray[np.float64]
Scores = Any
"""A number, or one for each class."""

__all__ = [
    "accuracy_score", "classification_report", "confusion_matrix", "f1_score", "fbeta_score", "precision_recall_fscore_support",
    "precision_score", "recall_score",
]  # fmt: skip

_metrics = cache(catalogue)


class Labelled:
    """Two columns of labels, or of label sets as indicator matrices, with the classes that are looked at."""

    def __init__(self, y_true: Any, y_pred: Any, labels: Sequence[Any] | None, sample_weight: Any, fill: float) -> None:
        gold, pred = dense(y_true), dense(y_pred)
        if len(gold) != len(pred):
            raise ValueError(f"{len(gold)} true and {len(pred)} predicted items")
        if not len(gold):
            raise ValueError("no items: there is nothing to score")
        self.sets, self.fill = gold.ndim == 2, fill
        self.equal = (gold == pred).all(axis=1) if self.sets else gold == pred
        self.present = np.arange(gold.shape[1]) if self.sets else np.unique(np.concatenate([gold, pred]))
        self.labels = self.present if labels is None else np.asarray(labels)
        self.weight = np.ones(len(gold)) if sample_weight is None else np.asarray(sample_weight, float)
        self.W = Dense(self.weight[None, :])
        sides = [indicated(side, self.labels) for side in (gold, pred)]
        names, nothing = [str(label) for label in self.labels], np.zeros(len(gold), np.int64)
        ones = np.ones(len(gold))
        self.cells = MultiLabelCells(sides[0], sides[1], ones, ones, ones.astype(np.int64), nothing, [""], names)

    @property
    def complete(self) -> bool:
        """Whether every label that occurs is looked at, so that the micro average is the accuracy."""
        return not self.sets and set(self.present.tolist()) <= set(self.labels.tolist())

    @property
    def support(self) -> Floats:
        return np.asarray((self.W @ self.cells.gold_of)[0])

    def by_class(self, metric: Metric) -> Floats:
        found = _metrics("multilabel")[metric.name].compute(self.W, self.cells, metric, self.fill)
        assert found.by_class is not None
        return found.by_class[0]

    def average(self, metric: Metric, how: str) -> float:
        """Means over all classes, also those that do not occur; not over those without a value."""
        if how in ("micro", "samples"):
            definition = _metrics("multilabel")[metric.name]
            return float(definition.compute(self.W, self.cells, metric(average=how), self.fill).value[0])
        values = self.by_class(metric)
        known = ~np.isnan(values)
        weight = self.support[known] if how == "weighted" else np.ones(known.sum())
        if not known.any():
            return float("nan")
        return float(np.average(values[known], weights=weight if weight.any() else None))

    @property
    def accuracy(self) -> float:
        return float(self.weight @ self.equal / self.weight.sum())


def dense(side: Any) -> NDArray[Any]:
    return np.asarray(side.toarray() if hasattr(side, "toarray") else side)


def indicated(side: NDArray[Any], labels: NDArray[Any]) -> Sparse:
    """Which items have which of the labels; what has another label has none of them."""
    marks = side[:, labels] != 0 if side.ndim == 2 else side[:, None] == labels[None, :]
    rows, columns = np.nonzero(marks)
    return Sparse.of(rows, columns, 1.0, (marks.shape[0], marks.shape[1]))


def filling(zero_division: Any) -> float:
    """What a score without a denominator is."""
    return 0.0 if zero_division == "warn" else float(zero_division)


def classification_report(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Sequence[Any] | None = None,
    target_names: Sequence[str] | None = None,
    sample_weight: Any = None,
    digits: int = 2,
    output_dict: bool = False,
    zero_division: Any = "warn",
) -> Any:
    """Precision, recall, F1 and support of each class, as text or as a dictionary.

    >>> classification_report(["a", "a", "b"], ["a", "b", "b"], output_dict=True)["accuracy"]
    0.6666666666666666
    """
    found = Labelled(y_true, y_pred, labels, sample_weight, filling(zero_division))
    names = named(found, target_names, labels is not None)
    by_class = [found.by_class(Metric(metric)).tolist() for metric in COLUMNS.values()]
    # Where no label is right, scikit-learn counts in floats and prints them so.
    whole = int if sample_weight is None and (found.sets or found.equal.any()) else float
    support = [whole(one) for one in found.support]
    rows: Report = {
        name: {**dict(zip(COLUMNS, values, strict=True)), "support": count}
        for name, count, *values in zip(names, support, *by_class, strict=False)
    }
    if found.complete:
        rows["accuracy"] = found.accuracy
    averages = ["macro", "weighted"] if found.complete else ["micro", "macro", "weighted"]
    averages += ["samples"] if found.sets else []
    for how in averages:
        means = {column: found.average(Metric(metric), how) for column, metric in COLUMNS.items()}
        rows[f"{how} avg"] = {**means, "support": sum(support)}
    return with_floats(rows) if output_dict else text(rows, averages, digits)


def with_floats(rows: Report) -> Report:
    """A dictionary has supports as floats, also where the text shows whole numbers."""
    return {
        name: row | {"support": float(row["support"])} if isinstance(row, dict) else row for name, row in rows.items()
    }


def named(found: Labelled, names: Sequence[str] | None, chosen: bool) -> list[str]:
    """What the rows are called."""
    if names is None:
        return list(found.cells.classes)
    if len(names) != len(found.labels):
        problem = f"{len(names)} target names for {len(found.labels)} classes"
        if not chosen:
            raise MetricError(f"{problem}; choose classes with labels")
        warnings.warn(problem, stacklevel=3)
    return [str(name) for name in names]


def precision_recall_fscore_support(
    y_true: Any, y_pred: Any, *, beta: float = 1.0, labels: Sequence[Any] | None = None, pos_label: Any = 1,
    average: str | None = None, warn_for: Any = (), sample_weight: Any = None, zero_division: Any = "warn",
) -> tuple[Scores, Scores, Scores, Any]:  # fmt: skip
    """Precision, recall, F and support: of each class (average=None), of one class (binary), or averaged."""
    labels = None if average == "binary" else labels  # the positive class alone counts then
    found = Labelled(y_true, y_pred, labels, sample_weight, filling(zero_division))
    f = Metric("fbeta")(beta=float(beta)) if beta else Metric("precision")  # recall without weight leaves precision
    metrics = [Metric("precision"), Metric("recall"), f]
    if average is None or average == "binary":
        counts = found.support if sample_weight is not None else found.support.astype(np.int64)
        values = [found.by_class(metric) for metric in metrics]
        if average is None:
            return values[0], values[1], values[2], counts
        at = positive(found, pos_label)
        first, second, third = (float(one[at]) if at is not None else found.fill for one in values)
        return first, second, third, None
    if average not in ("micro", "macro", "weighted", "samples"):
        raise ValueError(f"unknown average {average!r}; there are binary, micro, macro, weighted, samples and None")
    if average == "samples" and not found.sets:
        raise ValueError("average='samples' needs label sets; give None, 'micro', 'macro' or 'weighted'")
    first, second, third = (found.average(metric, average) for metric in metrics)
    return first, second, third, None


def positive(found: Labelled, label: Any) -> int | None:
    """The place of the positive class among two."""
    if found.sets or len(found.present) > 2:
        raise ValueError("average='binary' needs two classes: give average=None, 'micro', 'macro' or 'weighted'")
    places = np.flatnonzero(found.labels == label)
    if len(places) == 0 and len(found.present) == 2:
        raise ValueError(f"pos_label={label!r} is not one of {found.present.tolist()}")
    return int(places[0]) if len(places) else None


def precision_score(y_true: Any, y_pred: Any, *, average: str | None = "binary", **named: Any) -> Scores:
    """tp / (tp + fp).

    >>> precision_score([0, 1, 1], [0, 1, 0])
    1.0
    """
    return precision_recall_fscore_support(y_true, y_pred, average=average, **named)[0]


def recall_score(y_true: Any, y_pred: Any, *, average: str | None = "binary", **named: Any) -> Scores:
    """tp / (tp + fn).

    >>> recall_score([0, 1, 1], [0, 1, 0])
    0.5
    """
    return precision_recall_fscore_support(y_true, y_pred, average=average, **named)[1]


def f1_score(y_true: Any, y_pred: Any, *, average: str | None = "binary", **named: Any) -> Scores:
    """2 tp / (2 tp + fp + fn)."""
    return precision_recall_fscore_support(y_true, y_pred, average=average, **named)[2]


def fbeta_score(y_true: Any, y_pred: Any, *, beta: float, average: str | None = "binary", **named: Any) -> Scores:
    """F with recall weighted beta times as much as precision."""
    return precision_recall_fscore_support(y_true, y_pred, beta=beta, average=average, **named)[2]


def accuracy_score(y_true: Any, y_pred: Any, *, normalize: bool = True, sample_weight: Any = None) -> float:
    """Share (or number) of items whose label, or whole label set, is right.

    >>> accuracy_score([0, 1, 2, 3], [0, 2, 1, 3])
    0.5
    """
    found = Labelled(y_true, y_pred, None, sample_weight, 0.0)
    return found.accuracy if normalize else float(found.weight @ found.equal)


def confusion_matrix(
    y_true: Any, y_pred: Any, *, labels: Sequence[Any] | None = None, sample_weight: Any = None, normalize: Any = None
) -> NDArray[Any]:
    """Rows are true labels, columns predicted ones; normalize by ``true``, ``pred`` or ``all``.

    >>> confusion_matrix(["a", "b", "b"], ["a", "a", "b"]).tolist()
    [[1, 0], [1, 1]]
    """
    found = Labelled(y_true, y_pred, labels, sample_weight, 0.0)
    if found.sets:
        raise ValueError("label sets have no confusion matrix")
    if not found.support.any() and labels is not None:
        raise ValueError("none of the labels is among the true ones")
    gold, pred = found.cells.gold_of.toarray(), found.cells.pred_of.toarray()
    counts: NDArray[Any] = gold.T @ (pred * found.weight[:, None])
    if normalize is None:
        return counts.astype(np.int64) if sample_weight is None else counts
    total = {"true": counts.sum(1, keepdims=True), "pred": counts.sum(0, keepdims=True), "all": counts.sum()}[normalize]
    return np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
