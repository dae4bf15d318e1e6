"""Ranked labels against label sets: the field-of-study records, scikit-learn, and hand-worked rankings."""

import json
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import coverage_error, label_ranking_average_precision_score, label_ranking_loss

import karat

DATA = Path(__file__).parents[1] / "data" / "label-set-accuracy.jsonl"
RECORDS = [json.loads(line) for line in DATA.read_text().splitlines()]

BY_PAPER = {
    "precision_set": "average_accuracy(empty=skip)",
    "recall": "average_accuracy(denominator=true)",
    "jaccard": "average_accuracy(denominator=union)",
    "f1": "topk_f1",
    "hit_at_k": "hit",
    "exact_set": "accuracy",
}


def of(kind):
    return pytest.mark.parametrize("record", [r for r in RECORDS if r["kind"] == kind], ids=lambda r: r["id"])


def exact(value):
    return None if value is None else float(Fraction(value["fraction"]))


def score(record, metric, **options):
    gold, pred = record["input"]["true_label"], record["input"]["predicted_label"]
    given = {"faulty": faulty(gold)} | options
    return karat.evaluate(gold, pred, context="multilabel", metrics=[metric], **given)[metric].value


def faulty(gold):
    """Where the records repeat a gold label, it counts once; karat does so when it is told to."""
    return "drop" if any(len(set(map(str, labels))) < len(labels) for labels in gold) else "error"


@of("accuracy")
def test_accuracy(record):
    assert score(record, "accuracy") == pytest.approx(exact(record["output"]["accuracy"]), abs=1e-9)


@of("adjusted_accuracy")
def test_adjusted_accuracy(record):
    assert score(record, "adjusted_accuracy") == pytest.approx(exact(record["output"]["adjusted_accuracy"]), abs=1e-9)


@of("average_accuracy")
def test_average_accuracy(record):
    if not record["input"]["true_label"]:
        with pytest.raises(karat.InputError, match="no record"):
            score(record, "average_accuracy")
        return
    for name, metric in BY_PAPER.items():
        expected = exact(record["output"]["mean_over_papers"][name])
        if name == "hit_at_k" and not any(record["input"]["true_label"]):
            expected = None  # no gold label: karat has no score where the record has 0
        assert score(record, metric) == (None if expected is None else pytest.approx(expected, abs=1e-9)), name
    pooled = exact(record["output"]["pooled_precision"])
    assert score(record, "average_accuracy(mean=pooled)") == (
        None if pooled is None else pytest.approx(pooled, abs=1e-9)
    )


@of("document_function_Average_acc")
def test_the_documents_function_is_adjusted_accuracy(record):
    """It takes the last prediction row of a paper, and computes adjusted accuracy in spite of its name."""
    gold, pred = defaultdict(list), {}
    for paper, label in record["input"]["true"]:
        gold[str(paper)].append(str(label))
    for paper, label in record["input"]["pred"]:
        pred[str(paper)] = [str(label)]
    e = karat.evaluate(
        dict(gold), pred, context="multilabel", metrics=["adjusted_accuracy"], faulty=faulty(gold.values())
    )
    assert e["adjusted_accuracy"].value == pytest.approx(record["output"]["value"], abs=1e-9)


@of("spark_MulticlassClassificationEvaluator_default")
def test_what_spark_calls_accuracy_is_weighted_f1(record):
    gold, pred, out = record["input"]["label"], record["input"]["prediction"], record["output"]
    if not gold:
        return
    names = {
        "evaluate_default": "f1(average=weighted)",
        "evaluate_accuracy": "accuracy",
        "weightedPrecision": "precision(average=weighted)",
        "weightedRecall": "recall(average=weighted)",
    }
    texts = [str(float(x)) for x in gold], [str(float(x)) for x in pred]
    e = karat.evaluate(*texts, context="monolabel", metrics=list(names.values()), undefined="zero")
    for theirs, ours in names.items():
        assert e[ours].value == pytest.approx(out[theirs], abs=1e-9), theirs


def test_the_documents_example_is_two_thirds():
    gold, pred = [[0, 3, 4], [0, 1, 2, 3, 4]], [[0, 1, 2], [0, 1, 2, 3, 4]]
    value = karat.evaluate(gold, pred, metrics=["average_accuracy"])["average_accuracy"].value
    assert value == pytest.approx(2 / 3)
    assert value != pytest.approx(0.5, abs=1e-2)
    assert value != pytest.approx(17 / 30, abs=1e-2)


@pytest.mark.parametrize("seed", range(6))
def test_rankings_against_scikit_learn(seed):
    """Random scores with ties; every label ranked."""
    rng = np.random.default_rng(seed)
    truth = rng.random((25, 6)) < 0.4
    truth[np.arange(25), rng.integers(0, 6, 25)] = True
    truth[0] = True
    scores = rng.integers(0, 5, (25, 6)) / 4
    names = [str(i) for i in range(6)]
    gold = [[n for n, t in zip(names, row, strict=True) if t] for row in truth]
    pred = [dict(zip(names, row, strict=True)) for row in scores.tolist()]
    e = karat.evaluate(
        gold, pred, context="multilabel", metrics=["coverage_error", "LRAP", "label_ranking_loss", "topk_recall@3"]
    )
    assert e["coverage_error"].value == pytest.approx(coverage_error(truth, scores))
    assert e["LRAP"].value == pytest.approx(label_ranking_average_precision_score(truth, scores))
    assert e["label_ranking_loss"].value == pytest.approx(label_ranking_loss(truth, scores))


def test_a_long_table_with_scores():
    gold = [{"id": "p", "label": x} for x in "AB"] + [{"id": "q", "label": "C"}]
    rows = [("p", "C", 0.2), ("p", "A", 0.9), ("p", "B", 0.6), ("q", "A", 0.8), ("q", "C", 0.7)]
    pred = [{"id": i, "label": x, "score": s} for i, x, s in rows]
    e = karat.evaluate(
        gold,
        pred,
        context="multilabel",
        metrics=["adjusted_accuracy", "topk_recall@1", "hit@2", "recall(average=micro)"],
    )
    # first labels A (right) and A (wrong); one of two, none of one; C at place 2; sets from .5 on: {A, B}, {A, C}
    assert [s.value for s in e.systems[0]] == pytest.approx([0.5, 0.25, 1, 1])


def test_levels_of_a_hierarchy():
    """Fields and subfields: a wrong subfield of the right field is right at level 0."""
    tree = {"physics": ["optics", "heat"], "biology": ["cells"]}
    gold, pred = [["optics"], ["cells"], ["physics"]], [["heat"], ["optics", "cells"], ["heat"]]
    e = karat.evaluate(
        gold,
        pred,
        hierarchy=tree,
        metrics=["adjusted_accuracy", "adjusted_accuracy(level=0)", "adjusted_accuracy(level=1)", "hit(level=0)@2"],
    )
    # as labels 0, 0, 0; as fields 1, 0, 1; as subfields 0 and 0 (the third has no gold subfield)
    assert [s.value for s in e.systems[0]] == pytest.approx([0, 2 / 3, 0, 1])


def test_missing_and_empty():
    gold, pred = {"1": ["A"], "2": ["B"], "3": []}, {"1": ["A"], "3": ["A"]}
    e = karat.evaluate(gold, pred, context="multilabel", metrics=["average_accuracy", "average_accuracy(empty=skip)"])
    # the second has no prediction: 0, or skipped; the third has no gold label: left out
    assert [s.value for s in e.systems[0]] == pytest.approx([0.5, 1])
