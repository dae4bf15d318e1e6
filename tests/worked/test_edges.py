# SPDX-License-Identifier: Apache-2.0
"""Scores where something is missing, constant or empty, with the arithmetic in the comments."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

import karat
from karat.contexts import catalogue


def value(metric: str, gold: Any, pred: Any, **options: Any) -> float | None:
    return karat.evaluate(gold, pred, metrics=[metric], **options).systems[0][metric].value


def test_mean_iou_over_pairs_or_over_spans() -> None:
    # Gold [0,2) and [3,4), predicted [0,1) and [5,6): one pair with 1/2, one missed span, one spurious.
    gold, pred = [["B-X", "I-X", "O", "B-X", "O", "O"]], [["B-X", "O", "O", "O", "O", "B-X"]]
    assert value("mean_iou", gold, pred) == 1 / 2
    assert value("mean_iou(over=pairs)", gold, pred) == 1 / 2
    assert value("mean_iou(over=spans)", gold, pred) == pytest.approx(1 / 2 / 3)


def test_soft_information_of_gold_that_never_varies() -> None:
    half, other = {"a": 0.5, "b": 0.5}, {"a": 0.6, "b": 0.4}
    evaluation = karat.evaluate([half] * 3, [other, half, half], metrics=["icm_soft", "icm_soft_norm"])
    # What all items have is no information, so only the prediction's own weight of 0.6 costs.
    assert evaluation["icm_soft"].value == pytest.approx(-0.5283208335737187)
    assert evaluation["icm_soft_norm"].value is None
    assert "no information" in (evaluation["icm_soft_norm"].undefined or "")


def test_mean_rank_without_a_relevant_document_is_undefined() -> None:
    score = karat.evaluate({"q": {"d": 1}}, {"q": {"x": 1.0}}, context="ranking", metrics=["mean_rank"])["mean_rank"]
    assert score.value is None
    assert score.undefined == "no relevant document retrieved"


@pytest.mark.parametrize(("policy", "expected"), [("zero", (1 + 0) / 2), ("undefined", 1.0)])
def test_bpref_of_a_query_without_relevant_documents(policy: str, expected: float) -> None:
    gold, run = {"q": {"d": 1}, "r": {"e": 0}}, {"q": {"d": 1.0}, "r": {"e": 1.0}}
    assert value("bpref", gold, run, context="ranking", no_relevant=policy) == expected


SAID = re.compile(r"Where (?!nothing is retrieved)[^:.]+: (0|10⁻⁵), or undefined with ``--no-relevant undefined``")
NEEDING = {d.name: found[1] for d in catalogue("ranking") if (found := SAID.search(" ".join(d.doc.split())))}
"""What each metric says that a query without relevant documents scores."""


def test_what_the_metrics_say_of_a_query_without_relevant_documents_is_found() -> None:
    assert len(NEEDING) > 40


@pytest.mark.parametrize("name", NEEDING)
def test_a_query_without_relevant_documents_scores_what_is_said(name: str) -> None:
    score = value(name, {"r": {"e": 0}}, {"r": {"e": 1.0}}, context="ranking")
    assert score == pytest.approx({"0": 0, "10⁻⁵": 1e-5}[NEEDING[name]], abs=1e-15)


@pytest.mark.parametrize("name", NEEDING)
def test_what_is_undefined_without_relevant_documents_leaves_the_query_out(name: str) -> None:
    asked: Any = {"context": "ranking", "metrics": [name], "no_relevant": "undefined"}
    alone = karat.evaluate({"r": {"e": 0}}, {"r": {"e": 1.0}}, **asked)[name]
    assert (alone.value, bool(alone.undefined)) == (None, True)
    beside = karat.evaluate({"q": {"d": 1}, "r": {"e": 0}}, {"q": {"d": 1.0}, "r": {"e": 1.0}}, **asked)[name]
    assert beside.value is not None
    assert beside.value == karat.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, **asked)[name].value


def test_an_extra_item_without_labels_is_not_right() -> None:
    gold = [{"id": "1", "value": ["a"]}, {"id": "2", "value": ["b"]}]
    pred = [{"id": "1", "value": ["a"]}, {"id": "2", "value": ["a"]}, {"id": "3", "value": []}]
    # Of gold's two items one is right; the third has no gold set that its empty set could equal.
    assert value("subset_accuracy", gold, pred, context="multilabel", extra="wrong") == 1 / 2


@pytest.mark.parametrize("context", ["monolabel", "multilabel"])
def test_extra_items_count_in_hierarchical_scores_as_in_plain_ones(context: str) -> None:
    """Of three labels that are predicted two are right; in a tree, of six with their ancestors four. ICM knows gold's items."""
    gold, pred = {"1": "A", "2": "B"}, {"1": "A", "2": "B", "3": "A"}
    both = [gold, pred] if context == "monolabel" else [{k: [v] for k, v in side.items()} for side in (gold, pred)]
    for tree in ({}, {"hierarchy": {"X": ["A"], "Y": ["B"]}}):
        score = lambda name, extra, tree=tree: value(name, *both, context=context, extra=extra, **tree)
        assert score("hierarchical_precision", "wrong") == pytest.approx(2 / 3)
        assert score("hierarchical_recall", "wrong") == 1
        assert score("hierarchical_f1", "wrong") == pytest.approx(2 * 2 / (3 + 2))
        assert score("hierarchical_precision", "ignore") == 1
        assert score("icm", "wrong") == score("icm", "ignore")


def test_no_prediction_is_not_the_empty_set() -> None:
    gold = [{"id": "1", "value": ["a"]}, {"id": "2", "value": []}]
    assert value("subset_accuracy", gold, gold[:1], context="multilabel", missing="wrong") == 1 / 2
    assert value("subset_accuracy", gold, [*gold], context="multilabel") == 1


@pytest.mark.parametrize("beta", [0, -1])
def test_fbeta_needs_a_positive_beta(beta: float) -> None:
    with pytest.raises(karat.MetricError, match="positive beta"):
        value(f"fbeta(beta={beta})", ["a", "b"], ["a", "a"])


def test_fbeta_of_a_huge_beta_is_recall() -> None:
    """β² alone would be infinite: no warning, and the value that it tends to."""
    gold, pred = ["a", "a", "b"], ["a", "b", "b"]
    assert value("fbeta(beta=1e308)", gold, pred) == value("recall", gold, pred) == 3 / 4


def test_v_measure_may_leave_completeness_out() -> None:
    gold, pred = ["a", "a", "b", "c"], ["x", "x", "y", "y"]
    homogeneity, completeness = (value(m, gold, pred, context="clustering") for m in ("homogeneity", "completeness"))
    assert homogeneity != completeness
    assert value("v_measure(beta=0)", gold, pred, context="clustering") == homogeneity
    with pytest.raises(karat.MetricError, match="beta"):
        value("v_measure(beta=-1)", gold, pred, context="clustering")


def test_adjusted_mutual_information_may_be_negative() -> None:
    gold, pred = ["a", "a", "b", "b"], ["x", "y", "x", "y"]
    # No mutual information, where chance gives some: (0 − E) / (1 − E) with E = 1/3 of a bit.
    score = karat.evaluate(gold, pred, context="clustering", metrics=["ami"], intervals=True)["ami"]
    assert score.value == pytest.approx(-1 / 2)
    assert score.interval is not None
    assert score.interval.low < 0


@pytest.mark.parametrize(
    ("metric", "limit"),
    [("cross_entropy(base=1)", "positive base other than 1"), ("cross_entropy(smoothing=2)", "of at most 1")],
)
def test_soft_parameters_name_their_own_limit(metric: str, limit: str) -> None:
    with pytest.raises(karat.MetricError, match=limit):
        value(metric, [{"a": 0.5, "b": 0.5}], [{"a": 0.5, "b": 0.5}])


@pytest.mark.parametrize("factor", ["any", "longer", "pred", "gold", "iou"])
def test_a_piece_without_length_is_no_hit(factor: str) -> None:
    # The prediction is taken by both references and cut at their starts, which are one: the first piece is empty.
    gold = [{"id": "p", "spans": [[0, 10, "a"], [0, 20, "a"]]}]
    pred = [{"id": "p", "spans": [[0, 20, "a"]]}]
    assert value(f"excerpt_recall(factor={factor}, merge_gold=false)", gold, pred) == 1 / 2


def test_a_report_of_one_test_case_has_no_row_over_test_cases() -> None:
    def keys(cases: str) -> set[str]:
        gold = [{"id": str(i), "test_case": case, "value": "a"} for i, case in enumerate(cases)]
        found = json.loads(karat.evaluate(gold, [*gold], metrics=["f1"]).to_json())
        return set(found["systems"][0]["metrics"][0])

    assert keys("xy") - keys("xx") == {"over_test_cases", "by_class_mean"}


def test_the_worst_units_are_those_of_a_mean_over_units() -> None:
    """A geometric mean comes first in the list, but a query's share in it is no score of the query."""
    gold, run = {"q": {"d": 1}, "r": {"e": 1}}, {"q": {"d": 1.0}, "r": {"x": 2.0, "e": 1.0}}
    found = karat.evaluate(gold, run, context="ranking", metrics=["gm_map", "nrbp"], units=True)
    assert json.loads(found.to_json())["systems"][0]["worst"]["metric"] == "nrbp"


def test_soft_distance_of_gold_with_one_label() -> None:
    # |1 − 0.5| on A and |0 − 0.5| on B, over the one label that gold names.
    assert value("mae", [{"A": 1.0}], [{"A": 0.5, "B": 0.5}], context="soft") == 1


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_weighted_kappa_of_two_labels_is_kappa(weights: str) -> None:
    # Two labels are one step apart, whatever the power: 3 of 4 agree, by chance (2 · 1 + 2 · 3) / 16 = 1/2.
    gold, pred = ["a", "a", "b", "b"], ["a", "b", "b", "b"]
    assert value("kappa", gold, pred) == pytest.approx(1 / 2)
    assert value(f"kappa(weights={weights})", gold, pred) == pytest.approx(1 / 2)


def test_pooled_counts_are_sums_over_all_classes_and_over_those_of_gold() -> None:
    gold, pred = ["A", "A", "B"], ["A", "B", "C"]
    for classes in ("all", "gold"):
        assert value(f"support(average=micro,classes={classes})", gold, pred) == 3
    bundle = [{"document_id": "d", "files": [[1, 2, "u"], [3, 3, "v"]]}]
    for classes in ("all", "gold"):
        assert value(f"tp(average=micro,classes={classes})", bundle, bundle, allow_same=True) == 2
