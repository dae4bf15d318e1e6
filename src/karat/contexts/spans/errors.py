# SPDX-License-Identifier: Apache-2.0
"""What went wrong with each span: boundary, label, both, missed, spurious; and which spans were cut or joined."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from karat.contexts.spans.matching import Pairs, overlaps, same_label, same_place
from karat.contexts.spans.span import Bools, Ints, Spans

KINDS = ("correct", "boundary", "label", "label and boundary", "missed", "spurious")
CORRECT, BOUNDARY, LABEL, BOTH, MISSED, SPURIOUS = range(6)


@dataclass(frozen=True, eq=False)
class Errors:
    """An error kind for every gold and predicted row; `partner` is the aligned row of the other side or -1."""

    gold: NDArray[np.int8]
    pred: NDArray[np.int8]
    gold_partner: Ints
    pred_partner: Ints


def errors(gold: Spans, pred: Spans, aligned: Pairs) -> Errors:
    """Name the outcome of every span under an alignment; each error is counted once."""
    kinds = Errors(
        np.full(len(gold), MISSED, np.int8), np.full(len(pred), SPURIOUS, np.int8),
        np.full(len(gold), -1), np.full(len(pred), -1),
    )  # fmt: skip
    kind = ~same_place(gold, pred, aligned) * BOUNDARY + ~same_label(gold, pred, aligned) * LABEL
    kinds.gold[aligned.gold] = kinds.pred[aligned.pred] = kind
    kinds.gold_partner[aligned.gold], kinds.pred_partner[aligned.pred] = aligned.pred, aligned.gold
    return kinds


def confusion(gold: Spans, pred: Spans, aligned: Pairs, labels: int) -> Ints:
    """Gold label × predicted label of aligned spans; the last column holds the missed, the last row the spurious."""
    row = np.concatenate((gold.label, np.full(len(pred) - len(aligned), labels)))
    free = np.ones(len(pred), dtype=bool)
    free[aligned.pred] = False
    column = np.full(len(gold), labels)
    column[aligned.gold] = pred.label[aligned.pred]
    column = np.concatenate((column, pred.label[free]))
    return np.bincount(row * (labels + 1) + column, minlength=(labels + 1) ** 2).reshape(labels + 1, labels + 1)


def cut_and_joined(gold: Spans, pred: Spans) -> tuple[Bools, Bools]:
    """Gold spans that two or more predictions of their label touch, and predictions that touch two gold spans."""
    pairs = overlaps(gold, pred)
    pairs = pairs.take(same_label(gold, pred, pairs))
    return np.bincount(pairs.gold, minlength=len(gold)) > 1, np.bincount(pairs.pred, minlength=len(pred)) > 1
