# SPDX-License-Identifier: Apache-2.0
"""Metrics of pages: excerpts with cut system spans, and plagiarism passages."""

from __future__ import annotations

from typing import Literal

import numpy as np

from karat.cells import Floats, Weights
from karat.contexts.spans.cells import SpansCells
from karat.contexts.spans.excerpts import Rule
from karat.metric import MetricError, metric
from karat.score import Values, defined, ratio

Over = Literal["pages", "nonempty", "pooled"]
Factor = Literal["longer", "iou", "gold", "pred", "any"]
Assignment = Literal["best", "one_to_one"]

_POETRY = "Princeton Prosody Archive, evaluation of poetry excerpts, 2025, https://github.com/Princeton-CDH/ppa-nlp"


def _averaged(W: Weights, cells: SpansCells, over: str, score: str, below: str, rule: Rule, weight: float) -> Values:
    """The mean of a page score, over all pages or those with spans; or the pooled ratio."""
    if not 0 <= weight <= 1:
        raise MetricError(f"weight={weight}: a partial match counts between 0 and 1")

    def column(name: str) -> Floats:
        return cells.page(name, rule, weight)

    if over == "pooled":
        return ratio(W @ column("relevance"), W @ column(below), "no spans to divide by")
    used = cells.ones if over == "pages" else (cells.gold_spans + cells.pred_spans > 0).astype(float)
    return ratio(W @ (column(score) * used), W @ used, "no pages")


@metric(SpansCells, unit_mean=True, title="Excerpt precision", reference=_POETRY)
def excerpt_precision(
    W: Weights,
    cells: SpansCells,
    *,
    over: Over = "pages",
    weight: float = 1.0,
    ignore_label: bool = False,
    merge_gold: bool = True,
    factor: Factor = "longer",
    assignment: Assignment = "best",
    join: bool = False,
) -> Values:
    """Mean over pages of relevance / retrieved: how much of what was marked belongs to an excerpt.

    Each reference takes the system span of the greatest overlap factor, common / longer; a span taken by k references
    is cut at their starts. Relevance adds 1 for an exact piece, weight × factor else; retrieved counts pieces and
    spans that nobody took. An empty answer has 1 on an empty page, 0 elsewhere. `factor` divides by another length, or
    counts any common part whole; `one_to_one` maximises the sum of factors; `join` makes fragments one span.
    Undefined without pages.

    >>> # gold a[0,10); predicted a[0,5): factor 5/10
    >>> gold, pred = [{"id": "p", "spans": [[0, 10, "a"]]}], [{"id": "p", "spans": [[0, 5, "a"]]}]
    >>> karat.evaluate(gold, pred, metrics=["excerpt_precision"])["excerpt_precision"].value
    0.5
    """
    rule = Rule(ignore_label, merge_gold, factor, assignment, join)
    return _averaged(W, cells, over, "precision", "retrieved", rule, weight)


@metric(SpansCells, unit_mean=True, title="Excerpt recall", reference=_POETRY)
def excerpt_recall(
    W: Weights,
    cells: SpansCells,
    *,
    over: Over = "pages",
    weight: float = 1.0,
    ignore_label: bool = False,
    merge_gold: bool = True,
    factor: Factor = "longer",
    assignment: Assignment = "best",
    join: bool = False,
) -> Values:
    """Mean over pages of relevance / references: how much of the excerpts was found; see `excerpt_precision`.

    A page without references has 1 if nothing was marked, 0 else.
    Undefined without pages.

    >>> # gold a[0,10) and b[20,30); predicted a[0,5): 0.5/2
    >>> gold = [{"id": "p", "spans": [[0, 10, "a"], [20, 30, "b"]]}]
    >>> karat.evaluate(gold, [{"id": "p", "spans": [[0, 5, "a"]]}], metrics=["excerpt_recall"])["excerpt_recall"].value
    0.25
    """
    rule = Rule(ignore_label, merge_gold, factor, assignment, join)
    return _averaged(W, cells, over, "recall", "gold", rule, weight)


@metric(SpansCells, unit_mean=True, title="Excerpt F1", reference=_POETRY)
def excerpt_f1(
    W: Weights,
    cells: SpansCells,
    *,
    over: Over = "pages",
    weight: float = 1.0,
    ignore_label: bool = False,
    merge_gold: bool = True,
    factor: Factor = "longer",
    assignment: Assignment = "best",
    join: bool = False,
) -> Values:
    """Mean over pages of 2 · relevance / (retrieved + references), 1 for a page that is empty on both sides.

    See `excerpt_precision`. Undefined without pages.

    >>> # gold a[0,10) and b[20,30); predicted a[0,5): 2·0.5/(1 + 2)
    >>> gold = [{"id": "p", "spans": [[0, 10, "a"], [20, 30, "b"]]}]
    >>> e = karat.evaluate(gold, [{"id": "p", "spans": [[0, 5, "a"]]}], metrics=["excerpt_f1"])
    >>> round(e["excerpt_f1"].value, 4)
    0.3333
    """
    rule = Rule(ignore_label, merge_gold, factor, assignment, join)
    return _averaged(W, cells, over, "f1", "halves", rule, weight)


_PLAGDET = "Potthast et al. 2010, https://aclanthology.org/C10-2115"


@metric(SpansCells, title="Plagdet precision", reference=_PLAGDET)
def plagdet_precision(W: Weights, cells: SpansCells) -> Values:
    """Mean over detections of the share of their characters that lie in any gold passage (labels are not looked at).

    Undefined without detections.

    >>> # gold [0,10); detected [5,15): 5 of 10
    >>> gold, pred = [{"id": "p", "spans": [[0, 10, "x"]]}], [{"id": "p", "spans": [[5, 15, "x"]]}]
    >>> karat.evaluate(gold, pred, metrics=["plagdet_precision"])["plagdet_precision"].value
    0.5
    """
    return ratio(W @ cells.covered("pred_share"), W @ cells.covered("pred"), "no detections")


@metric(SpansCells, title="Plagdet recall", reference=_PLAGDET)
def plagdet_recall(W: Weights, cells: SpansCells) -> Values:
    """Mean over gold passages of the share of their characters that were detected.

    Undefined without gold passages.

    >>> # gold [0,10); detected [0,4) and [2,6): 6 of 10
    >>> gold, pred = [{"id": "p", "spans": [[0, 10, "x"]]}], [{"id": "p", "spans": [[0, 4, "x"], [2, 6, "x"]]}]
    >>> karat.evaluate(gold, pred, metrics=["plagdet_recall"])["plagdet_recall"].value
    0.6
    """
    return ratio(W @ cells.covered("gold_share"), W @ cells.covered("gold"), "no gold passages")


@metric(SpansCells, better="lower", bounds=(1, float("inf")), reference=_PLAGDET)
def granularity(W: Weights, cells: SpansCells) -> Values:
    """Mean number of detections for each detected gold passage; 1 is best.

    Undefined if no gold passage is detected.

    >>> # gold [0,10); detected [0,4) and [6,9): 2
    >>> gold, pred = [{"id": "p", "spans": [[0, 10, "x"]]}], [{"id": "p", "spans": [[0, 4, "x"], [6, 9, "x"]]}]
    >>> karat.evaluate(gold, pred, metrics=["granularity"])["granularity"].value
    2.0
    """
    return ratio(W @ cells.covered("detections"), W @ cells.covered("detected"), "nothing was detected")


@metric(SpansCells, reference=_PLAGDET)
def plagdet(W: Weights, cells: SpansCells) -> Values:
    """F1 of plagdet precision and recall, divided by log2(1 + granularity).

    0 where nothing was detected. Undefined if both sides are empty.

    >>> # gold [0,10); detected [0,4) and [6,9): P = 1, R = 0.7, granularity 2: (1.4/1.7)/log2(3)
    >>> gold, pred = [{"id": "p", "spans": [[0, 10, "x"]]}], [{"id": "p", "spans": [[0, 4, "x"], [6, 9, "x"]]}]
    >>> round(karat.evaluate(gold, pred, metrics=["plagdet"])["plagdet"].value, 4)
    0.5196
    """
    gold, pred = W @ cells.covered("gold"), W @ cells.covered("pred")
    precision, recall = _or(W @ cells.covered("pred_share"), pred, 0), _or(W @ cells.covered("gold_share"), gold, 0)
    grain = _or(W @ cells.covered("detections"), W @ cells.covered("detected"), 1)
    value = _or(2 * precision * recall, precision + recall, 0) / np.log2(1 + grain)
    return defined(value, gold + pred > 0, "no passages on either side")


def _or(above: Floats, below: Floats, otherwise: float) -> Floats:
    return np.divide(above, below, out=np.full(np.shape(above), float(otherwise)), where=below > 0)
