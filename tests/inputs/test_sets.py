# SPDX-License-Identifier: Apache-2.0
"""Label sets in memory: every container gives the same scores as the records of a file would."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import karat

GOLD = [["0", "2"], ["1"], [], ["0"], ["2", "1"]]
PRED = [["0"], ["1", "2"], ["0"], [], ["1", "2"]]
METRICS = ["precision", "recall", "f1(average=samples)", "subset_accuracy", "icm", "average_accuracy"]


def matrix(sets):
    out = np.zeros((len(sets), 3), int)
    for i, labels in enumerate(sets):
        out[i, [int(x) for x in labels]] = 1
    return out


def scores(gold, pred):
    evaluation = karat.evaluate(gold, pred, context="multilabel", metrics=METRICS, units=True)
    return [s.value for s in evaluation.systems[0]], evaluation.systems[0].cells.unit_ids


def records(sets):
    return [{"id": str(i + 1), "value": labels} for i, labels in enumerate(sets)]


@pytest.mark.parametrize(
    "make",
    [
        lambda sets: sets,
        lambda sets: [tuple(s) for s in sets],
        lambda sets: [[int(x) for x in s] for s in sets],
        lambda sets: [np.array(s, object) for s in sets],
        lambda sets: dict(zip("12345", sets, strict=True)),
    ],
    ids=["lists", "tuples", "numbers", "arrays", "dict"],
)
def test_containers_agree_with_records(make):
    assert scores(make(GOLD), make(PRED)) == scores(records(GOLD), records(PRED))


@pytest.mark.parametrize("make", [matrix, lambda s: csr_array(matrix(s)), lambda s: matrix(s).astype(bool)])
def test_matrices_agree_with_lists_in_column_order(make):
    ordered = [sorted(s) for s in GOLD], [sorted(s) for s in PRED]
    assert scores(make(GOLD), make(PRED)) == scores(*ordered)


def test_one_side_in_memory_the_other_records():
    assert scores(GOLD, records(PRED)) == scores(records(GOLD), records(PRED))


def test_sides_of_different_length_are_reported():
    with pytest.raises(karat.InputError) as caught:
        karat.evaluate(GOLD, PRED[:3], context="multilabel", metrics=["f1"])
    assert [f.code for f in caught.value.findings] == ["length-differs"]


def test_an_empty_label_is_a_finding():
    with pytest.raises(karat.InputError) as caught:
        karat.evaluate(GOLD, [["0"], [""], [], [], []], context="multilabel")
    assert [(f.code, f.line) for f in caught.value.findings if f.severity == "error"] == [("empty-value", 2)]


@pytest.mark.parametrize(
    ("pred", "found"),
    [
        ([{"a": 0.9, "b": 0.2}, {"b": 0.3}], []),  # scores, in the order of labels
        ([{"b": 0.2, "a": 0.9}, {"b": 0.3}], []),
        ([["a", "b"], ["b"]], []),
        ([["b", "a"], ["b"]], []),
        ([["b"], ["a", "b", "a"]], [("repeated-label", 2)]),
    ],
)
def test_a_label_that_is_there_once_is_not_repeated(pred, found):
    e = karat.evaluate([["a"], ["b"]], pred, context="multilabel", metrics=["hit@1"])
    assert [(f.code, f.line) for f in e.findings] == found


def test_rankings_of_one_label():
    """The second list leaves out the only label: it is tied below, in place 1 of 1, and there is no false label to be above it."""
    names = ["coverage_error", "label_ranking_average_precision", "label_ranking_loss"]
    e = karat.evaluate([["a"], ["a"]], [["a"], []], context="multilabel", metrics=names)
    assert [e[name].value for name in names] == [1.0, 1.0, 0.0]


def test_items_without_gold_labels_and_labels_without_an_order_are_counted():
    pred = [{"a": 0.5, "b": 0.5, "c": 0.1}, {"a": 0.5, "b": 0.2}, {"b": 0.9}]
    e = karat.evaluate([["a"], [], ["b", "c"]], pred, context="multilabel", metrics=["hit@1"])
    notes = {f.code: f.message for f in e.systems[0].findings}
    assert e["hit@1"].value == 1  # of the first and the third
    assert notes["no-gold-labels"] == "1 of 3 gold items has no label; top-k scores leave it out"
    assert notes["tied-labels"].startswith("1 of 3 items has labels of equal score")
    lists = karat.evaluate([["a"], ["b"]], [["a", "b"], ["b"]], context="multilabel", metrics=["hit@1"])
    assert lists.systems[0].findings == []


@pytest.mark.parametrize("labels", [1 << 13, 1 << 14, 1 << 15, 1 << 16])
def test_ragged_sets_of_many_labels_are_sorted_in_numbers_that_hold_them(labels):
    rng = np.random.default_rng(labels)
    names = [str(i) for i in range(labels)]
    gold, pred = (
        [[names[i] for i in {*rng.integers(0, labels, size).tolist(), nth % labels}] for nth, size in enumerate(sizes)]
        for sizes in rng.integers(0, 2, (2, 40_000)).tolist()
    )
    hits = sum(len({*g} & {*p}) for g, p in zip(gold, pred, strict=True))
    total = sum(len(g) + len(p) for g, p in zip(gold, pred, strict=True))
    scored = karat.evaluate(gold, pred, context="multilabel", metrics=["f1(average=micro)"])
    assert scored["f1(average=micro)"].value == pytest.approx(2 * hits / total, abs=1e-12)
