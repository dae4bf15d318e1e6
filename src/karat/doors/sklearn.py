# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's scores of labels and label sets on karat's metrics: classification_report and its neighbours."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection, Sequence
from functools import cache
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.cells import Dense, Sparse
from karat.contexts import catalogue
from karat.contexts.multilabel import MultiLabelCells
from karat.doors.class_report import COLUMNS, Row, Table
from karat.doors.targets import SETS, Targets, array, kind_of, targets, together
from karat.metric import Metric, MetricError

Floats = NDArray[np.float64]
Scores = Any
"""A number, or one for each class."""

__all__ = [
    "accuracy_score", "classification_report", "confusion_matrix", "f1_score", "fbeta_score", "precision_recall_fscore_support",
    "precision_score", "recall_score",
]  # fmt: skip

AVERAGES = ("micro", "macro", "weighted", "samples")
SCORES = ("precision", "recall", "f-score")
"""What may lack a denominator, by the names that scikit-learn warns with."""

_metrics = cache(catalogue)


class Labelled:
    """What both sides say of the classes that are looked at."""

    def __init__(self, sides: Targets, labels: NDArray[Any], zero_division: Any) -> None:
        self.sets, self.fill, self.warns = sides.kind == SETS, filling(zero_division), zero_division == "warn"
        gold, pred = sides.gold, sides.pred
        self.present, self.labels = sides.present, labels
        self.weight = sides.weight.astype(np.float64)
        self.W = Dense(self.weight[None, :])
        names, nothing = [str(label) for label in labels], np.zeros(len(gold), np.int64)
        ones = np.ones(len(gold))
        self.cells = MultiLabelCells(
            indicated(gold, labels), indicated(pred, labels), ones, ones, ones.astype(np.int64), nothing, [""], names
        )

    @property
    def complete(self) -> bool:
        """Whether every label that occurs is looked at, so that the micro average is shown as the accuracy."""
        return not self.sets and set(self.present.tolist()) <= set(self.labels.tolist())

    @property
    def support(self) -> Floats:
        return np.asarray((self.W @ self.cells.gold_of)[0])

    def by_class(self, metric: Metric) -> Floats:
        result = _metrics("multilabel")[metric.name].compute(self.W, self.cells, metric, self.fill)
        assert result.by_class is not None
        return result.by_class[0]

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

    def caution(self, how: str | None, scores: Collection[str]) -> None:
        """Warn of the scores that have no denominator for a class, an item (``samples``) or at all."""
        sides = self.cells.gold_of, self.cells.pred_of
        true, predicted = (
            self.weight * np.bincount(side.row, minlength=len(self.weight)) if how == "samples" else (self.W @ side)[0]
            for side in sides
        )
        if how == "micro":
            true, predicted = true.sum(keepdims=True), predicted.sum(keepdims=True)
        parts = {"precision": (predicted, "predicted"), "recall": (true, "true")}
        parts["f-score"] = true + predicted, "true nor predicted"
        place, member = ("samples", "labels") if how == "samples" else ("labels", "samples")
        for score, (size, sort) in parts.items():
            if self.warns and score in scores and not size.all():
                where = "due to" if len(size) == 1 else f"in {place} with"
                caution(
                    f"{score.capitalize()} is ill-defined and being set to 0.0 {where} no {sort} {member}. "
                    "Use `zero_division` parameter to control this behavior.",
                    undefined_metric(),
                )


def indicated(side: NDArray[Any], labels: NDArray[Any]) -> Sparse:
    """Which items have which of the labels; what has another label has none of them."""
    marks = side[:, labels] != 0 if side.ndim == 2 else side[:, None] == labels[None, :]
    rows, columns = np.nonzero(marks)
    return Sparse.of(rows, columns, 1.0, (marks.shape[0], marks.shape[1]))


def caution(message: str, category: type[Warning] = UserWarning) -> None:
    """A warning of the line that called the door."""
    depth = next(n for n in count(1) if sys._getframe(n).f_globals is not globals())
    warnings.warn(message, category, stacklevel=depth)


def undefined_metric() -> type[Warning]:
    """The category that scripts filter by, if scikit-learn is there to name it."""
    module = sys.modules.get("sklearn.exceptions")
    return module.UndefinedMetricWarning if module else UserWarning


def filling(zero_division: Any) -> float:
    """What a score without a denominator is."""
    if isinstance(zero_division, str) and zero_division == "warn":
        return 0.0
    if isinstance(zero_division, int | float) and (zero_division in (0, 1) or zero_division != zero_division):
        return float(zero_division)
    raise ValueError(f"zero_division={zero_division!r} is not one of 0, 1, nan and 'warn'")


def looked_at(sides: Targets, labels: Any) -> NDArray[Any]:
    """The labels that were chosen, else all that occur; of label sets they are numbers of columns."""
    if labels is None:
        return sides.present
    chosen = array(labels, "labels")
    if chosen.ndim != 1 or kind_of(chosen, "labels") == "unknown":
        raise ValueError(f"labels={labels!r} is no list of labels")
    if not len(chosen):
        raise ValueError("'labels' should contain at least one label.")
    if sides.kind != SETS:
        together(sides.present, chosen)
        return chosen
    width = len(sides.present)
    if chosen.dtype.kind not in "iu" or chosen.min() < 0 or chosen.max() >= width:
        raise ValueError(
            f"All labels must be in [0, n labels) for multilabel targets: there are {width}, and labels={labels!r}"
        )
    return chosen.astype(np.int64)


def classification_report(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
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
    sides = targets(y_true, y_pred, sample_weight)
    labelled = Labelled(sides, looked_at(sides, labels), zero_division)
    names = named(labelled, target_names, labels is not None)
    by_class = [labelled.by_class(Metric(metric)).tolist() for metric in COLUMNS.values()]
    whole = int if sample_weight is None and counted_whole(sides) else float
    support = [float(size) if output_dict else whole(size) for size in labelled.support]
    classes: list[tuple[str, Row]] = [
        (name, {**dict(zip(COLUMNS, values, strict=True)), "support": size})
        for name, size, *values in zip(names, support, *by_class, strict=False)
    ]
    averages = ["macro", "weighted"] if labelled.complete else ["micro", "macro", "weighted"]
    averages += ["samples"] if labelled.sets else []
    micro = labelled.average(Metric("precision"), "micro")  # a label that is listed twice counts twice, as there
    summary: list[tuple[str, Row | float]] = [("accuracy", micro)] if labelled.complete else []
    for how in averages:
        means = {column: labelled.average(Metric(metric), how) for column, metric in COLUMNS.items()}
        summary.append((f"{how} avg", {**means, "support": sum(support)}))
    for average in (None, *averages):
        labelled.caution(average, SCORES)
    table = Table(classes, summary)
    return table.rows() if output_dict else table.text(digits)


def counted_whole(sides: Targets) -> bool:
    """Where no label is right, scikit-learn counts in floats and shows them so."""
    return sides.kind == SETS or bool(sides.right.any())


def named(labelled: Labelled, names: Sequence[str] | None, chosen: bool) -> list[str]:
    """What the rows are called."""
    if names is None:
        return list(labelled.cells.classes)
    classes, given = len(labelled.labels), len(names)
    if classes != given and not chosen:
        problem = f"Number of classes, {classes}, does not match size of target_names, {given}"
        raise MetricError(f"{problem}. Try specifying the labels parameter")
    if classes != given:
        caution(f"labels size, {classes}, does not match size of target_names, {given}")
    return [str(name) for name in names]


def precision_recall_fscore_support(
    y_true: Any, y_pred: Any, *, beta: float = 1.0, labels: Any = None, pos_label: Any = 1, average: str | None = None,
    warn_for: Collection[str] = SCORES, sample_weight: Any = None, zero_division: Any = "warn",
) -> tuple[Scores, Scores, Scores, Any]:  # fmt: skip
    """Precision, recall, F and support: of each class (average=None), of one class (binary), or averaged."""
    if average not in (None, "binary", *AVERAGES):
        raise ValueError(f"unknown average {average!r}; there are binary, {', '.join(AVERAGES)} and None")
    if not (isinstance(beta, int | float | np.number) and beta >= 0):
        raise ValueError(f"beta={beta!r} is not at least 0")
    sides = targets(y_true, y_pred, sample_weight)
    if average == "samples" and sides.kind != SETS:
        raise ValueError("average='samples' needs label sets; give None, 'micro', 'macro' or 'weighted'")
    if average != "binary" and pos_label not in (None, 1):
        caution(
            f"Note that pos_label (set to {pos_label!r}) is ignored when average != 'binary' (got {average!r}). "
            "You may use labels=[pos_label] to specify a single positive class."
        )
    chosen = looked_at(sides, labels)
    looked = positive(sides, pos_label) if average == "binary" else chosen
    labelled = Labelled(sides, looked, zero_division)
    mixes = 0 < beta < float("inf")  # with no weight for recall precision is left, with all weight recall
    labelled.caution(average, set(warn_for) - ({"f-score"} if not mixes else set()))
    f = Metric("fbeta")(beta=float(beta)) if mixes else Metric("recall" if beta else "precision")
    metrics = [Metric("precision"), Metric("recall"), f]
    if average is None:
        size = labelled.support.astype(np.int64 if sample_weight is None and counted_whole(sides) else np.float64)
        values = [labelled.by_class(metric) for metric in metrics]
        return values[0], values[1], values[2], size
    how = "macro" if average == "binary" else average  # the mean of one class is its own score
    first, second, third = (labelled.average(metric, how) for metric in metrics)
    return first, second, third, None


def positive(sides: Targets, label: Any) -> NDArray[Any]:
    """The positive one of two classes; it need not occur where only one does."""
    if sides.kind != "binary":
        others = [None, *(how for how in AVERAGES if sides.kind == SETS or how != "samples")]
        raise ValueError(
            f"Target is {sides.kind} but average='binary'. Please choose another average setting, one of {others}."
        )
    if len(sides.present) == 2 and label not in sides.present.tolist():
        raise ValueError(f"pos_label={label} is not a valid label. It should be one of {sides.present}")
    return np.hstack([[label], sides.present])[:1]  # among texts the number 1 is the text, as there


def precision_score(
    y_true: Any, y_pred: Any, *, labels: Any = None, pos_label: Any = 1, average: str | None = "binary",
    sample_weight: Any = None, zero_division: Any = "warn",
) -> Scores:  # fmt: skip
    """tp / (tp + fp).

    >>> precision_score([0, 1, 1], [0, 1, 0])
    1.0
    """
    return precision_recall_fscore_support(
        y_true, y_pred, labels=labels, pos_label=pos_label, average=average, warn_for=("precision",),
        sample_weight=sample_weight, zero_division=zero_division,
    )[0]  # fmt: skip


def recall_score(
    y_true: Any, y_pred: Any, *, labels: Any = None, pos_label: Any = 1, average: str | None = "binary",
    sample_weight: Any = None, zero_division: Any = "warn",
) -> Scores:  # fmt: skip
    """tp / (tp + fn).

    >>> recall_score([0, 1, 1], [0, 1, 0])
    0.5
    """
    return precision_recall_fscore_support(
        y_true, y_pred, labels=labels, pos_label=pos_label, average=average, warn_for=("recall",),
        sample_weight=sample_weight, zero_division=zero_division,
    )[1]  # fmt: skip


def f1_score(
    y_true: Any, y_pred: Any, *, labels: Any = None, pos_label: Any = 1, average: str | None = "binary",
    sample_weight: Any = None, zero_division: Any = "warn",
) -> Scores:  # fmt: skip
    """2 tp / (2 tp + fp + fn)."""
    return fbeta_score(
        y_true, y_pred, beta=1, labels=labels, pos_label=pos_label, average=average, sample_weight=sample_weight,
        zero_division=zero_division,
    )  # fmt: skip


def fbeta_score(
    y_true: Any, y_pred: Any, *, beta: float, labels: Any = None, pos_label: Any = 1, average: str | None = "binary",
    sample_weight: Any = None, zero_division: Any = "warn",
) -> Scores:  # fmt: skip
    """F with recall weighted beta times as much as precision."""
    return precision_recall_fscore_support(
        y_true, y_pred, beta=beta, labels=labels, pos_label=pos_label, average=average, warn_for=("f-score",),
        sample_weight=sample_weight, zero_division=zero_division,
    )[2]  # fmt: skip


def accuracy_score(y_true: Any, y_pred: Any, *, normalize: bool = True, sample_weight: Any = None) -> float:
    """Share (or number) of items whose label, or whole label set, is right.

    >>> accuracy_score([0, 1, 2, 3], [0, 2, 1, 3])
    0.5
    """
    sides = targets(y_true, y_pred, sample_weight)
    return sides.accuracy if normalize else float(sides.weight @ sides.right)


def confusion_matrix(
    y_true: Any, y_pred: Any, *, labels: Any = None, sample_weight: Any = None, normalize: str | None = None
) -> NDArray[Any]:
    """Rows are true labels, columns predicted ones; normalize by ``true``, ``pred`` or ``all``.

    >>> confusion_matrix(["a", "b", "b"], ["a", "a", "b"]).tolist()
    [[1, 0], [1, 1]]
    """
    if normalize not in (None, "true", "pred", "all"):
        raise ValueError(f"normalize={normalize!r} is not one of 'true', 'pred', 'all' and None")
    sides = targets(y_true, y_pred, sample_weight)
    if sides.kind == SETS:
        raise ValueError(f"{SETS} is not supported: label sets have no confusion matrix")
    chosen = looked_at(sides, labels)
    if not np.isin(sides.gold, chosen).any():
        raise ValueError("At least one label specified must be in y_true")
    counts = crossed(sides, chosen)
    if counts.size == 1:
        caution("A single label was found in 'y_true' and 'y_pred': name all that there are with `labels`")
    if normalize is None:
        return counts
    total = {"true": counts.sum(1, keepdims=True), "pred": counts.sum(0, keepdims=True), "all": counts.sum()}[normalize]
    return np.divide(counts, total, out=np.zeros(counts.shape), where=total != 0)


def crossed(sides: Targets, labels: NDArray[Any]) -> NDArray[Any]:
    """How much each pair of the labels weighs; whole weights are added exactly, or not at all."""
    whole = sides.weight.dtype.kind in "biu"
    if whole and np.abs(sides.weight.astype(np.float64)).sum() >= 2.0**63:
        raise ValueError("the sum of sample_weight is beyond 64 bits: give the weights as floats")
    rows, columns = (place(side, labels) for side in (sides.gold, sides.pred))
    inside = (rows >= 0) & (columns >= 0)
    counts = np.zeros((len(labels), len(labels)), np.int64 if whole else np.float64)
    np.add.at(counts, (rows[inside], columns[inside]), sides.weight[inside].astype(counts.dtype))
    return counts


def place(side: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.int64]:
    """Where each item's label stands among the labels; -1 for another one."""
    places = {label: at for at, label in enumerate(labels.tolist())}
    return np.array([places.get(label, -1) for label in side.tolist()], np.int64)
