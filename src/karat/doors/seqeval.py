# SPDX-License-Identifier: Apache-2.0
"""seqeval's classification_report on karat's spans context."""

from __future__ import annotations

from typing import Any

from karat.api import evaluate
from karat.doors.class_report import metrics, report, text, undefined
from karat.metric import MetricError

AVERAGES = ["micro", "macro", "weighted"]


def classification_report(
    y_true: list[list[str]],
    y_pred: list[list[str]],
    digits: int = 2,
    suffix: bool = False,
    output_dict: bool = False,
    mode: str | None = None,
    sample_weight: Any = None,
    zero_division: Any = "warn",
    scheme: Any = None,
) -> Any:
    """Precision, recall, F1 and support of each entity type, as text or as a dictionary.

    >>> tags = [["B-PER", "I-PER", "O"], ["B-LOC"]]
    >>> classification_report(tags, tags, output_dict=True)["PER"]["f1-score"]
    1.0
    """
    if suffix or sample_weight is not None:
        raise MetricError("suffix and sample_weight are not taken here; move the prefix to the front of each tag")
    chosen = (scheme if isinstance(scheme, str) else scheme.__name__) if mode == "strict" and scheme else None
    if mode == "strict" and not chosen:
        chosen = "strict"
    found = evaluate(
        y_true, y_pred, context="spans", scheme=chosen or "seqeval", metrics=metrics(AVERAGES),
        undefined=undefined(zero_division),
    ).systems[0]  # fmt: skip
    rows = report(found, AVERAGES)
    return rows if output_dict else text(rows, AVERAGES, digits)
