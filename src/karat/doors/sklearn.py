# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's classification_report on karat's engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from karat.api import evaluate
from karat.doors.class_report import Report, metrics, report, text, undefined
from karat.metric import MetricError


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
    if sample_weight is not None or labels is not None:
        raise MetricError("labels and sample_weight are not taken here; leave items out, or repeat them, beforehand")
    sets = np.ndim(y_true) == 2 or hasattr(y_true, "tocoo")
    averages = ["micro", "macro", "weighted", "samples"] if sets else ["macro", "weighted"]
    gold, pred = (label_sets(side) if sets else side for side in (y_true, y_pred))
    found = evaluate(
        gold, pred, context="multilabel" if sets else "monolabel", undefined=undefined(zero_division),
        metrics=[*metrics(averages), *([] if sets else ["accuracy"])],
    ).systems[0]  # fmt: skip
    rows = report(found, averages, renamed(list(found["support"].by_class), target_names))
    if not sets:
        rows = with_accuracy(rows, found["accuracy"].value or 0.0)
    return rows if output_dict else text(rows, averages, digits)


def label_sets(side: Any) -> list[list[str]]:
    """An indicator matrix as lists of column numbers."""
    dense = side.toarray() if hasattr(side, "toarray") else np.asarray(side)
    return [[str(column) for column in np.flatnonzero(row)] for row in dense]


def renamed(classes: list[str], names: Sequence[str] | None) -> dict[str, str]:
    if names is not None and len(names) != len(classes):
        raise MetricError(f"{len(names)} target names for {len(classes)} classes")
    return dict(zip(classes, names, strict=True)) if names is not None else {}


def with_accuracy(rows: Report, accuracy: float) -> Report:
    """Accuracy stands between the classes and the averages."""
    out: Report = {}
    for name, row in rows.items():
        out |= {"accuracy": accuracy, name: row} if name == "macro avg" else {name: row}
    return out
