# SPDX-License-Identifier: Apache-2.0
import math

import pytest

from karat.contexts.spans import coverage, errors, semeval
from karat.contexts.spans.span import Spans
from tests.spans.vectors import load, random_spans, spans

VECTORS = [
    v
    for v in load("spans")
    if v["kind"] == "spans" and all(x[1] < x[2] for d in v["docs"] for k in ("true", "pred") for x in d[k])
]


@pytest.mark.parametrize("v", VECTORS, ids=lambda v: v["id"])
def test_plagdet(v):
    expected = v["peers"]["formula_plagdet"]
    labels = sorted({x[0] for d in v["docs"] for k in ("true", "pred") for x in d[k]})
    gold, pred = (spans([(i, *x) for i, d in enumerate(v["docs"]) for x in d[k]], labels) for k in ("true", "pred"))
    c = coverage.coverage(gold, pred, len(v["docs"]))
    precision, recall = (
        a.sum() / b.sum() if b.sum() else 0 for a, b in ((c.pred_share, c.pred), (c.gold_share, c.gold))
    )
    granularity = c.detections.sum() / c.detected.sum() if c.detected.sum() else 1
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0
    assert (precision, recall, granularity) == pytest.approx(
        [expected[k] for k in ("precision", "recall", "granularity")]
    )
    assert f1 / math.log2(1 + granularity) == pytest.approx(expected["plagdet"])


@pytest.mark.parametrize("seed", range(30))
def test_positions_are_those_of_sets(seed):
    rows = random_spans(seed)
    gold, pred = (spans(side, ["A", "B"]) for side in rows)
    found = coverage.positions(gold, pred, 2)
    sets = [{(u, "AB".index(x), i) for u, x, s, e in side for i in range(s, e)} for side in rows]
    assert (found.common.sum(), found.gold.sum(), found.pred.sum()) == (
        len(sets[0] & sets[1]),
        len(sets[0]),
        len(sets[1]),
    )


def test_errors_are_named():
    # gold A[0,4) A[5,9) B[10,14) A[20,24) A[30,34)   pred A[0,4) A[5,8) A[10,14) B[21,24) C[50,54)
    gold = Spans.of([0] * 5, [0, 5, 10, 20, 30], [4, 9, 14, 24, 34], [0, 0, 1, 0, 0])
    pred = Spans.of([0] * 5, [0, 5, 10, 21, 50], [4, 8, 14, 24, 54], [0, 0, 0, 1, 2])
    aligned = semeval.alignment(gold, pred)
    found = errors.errors(gold, pred, aligned)
    assert [errors.KINDS[k] for k in found.gold] == ["correct", "boundary", "label", "label and boundary", "missed"]
    assert errors.KINDS[found.pred[-1]] == "spurious"
    assert errors.confusion(gold, pred, aligned, 3).tolist() == [[2, 1, 0, 1], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]]


def test_cut_and_joined():
    gold = Spans.of([0, 0, 0], [0, 20, 25], [10, 24, 30], [0, 0, 0])
    pred = Spans.of([0, 0, 0], [0, 5, 20], [4, 9, 30], [0, 0, 0])
    cut, joined = errors.cut_and_joined(gold, pred)
    assert cut.tolist() == [True, False, False]
    assert joined.tolist() == [False, False, True]
