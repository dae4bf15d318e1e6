"""Items that weigh differently: scikit-learn's sample_weight, the jackknife written out, and what has no ranks."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics

import karat
from karat.contexts import catalogue
from karat.contexts.probabilities import tables
from karat.weights import Dense, Tilt


def weighed(seed: int):
    rng = np.random.default_rng(seed)
    gold, score = rng.integers(0, 2, 60), rng.random(60).round(1)
    return gold, score, rng.uniform(0.1, 3, 60)


def evaluated(gold, score, weight, **wish):
    side = {"id": list(range(60)), "label": gold.astype(str).tolist(), "w": weight.tolist()}
    pred = {"id": list(range(60)), "score": score.tolist()}
    return karat.evaluate(side, pred, context="probabilities", weight="w", **wish)


def test_scikit_learn_agrees():
    for seed in range(5):
        gold, score, weight = weighed(seed)
        e = evaluated(gold, score, weight, metrics=["roc_auc", "average_precision", "log_loss", "brier"])
        by = {"sample_weight": weight}
        assert e["roc_auc"].value == pytest.approx(metrics.roc_auc_score(gold, score, **by))
        assert e["average_precision"].value == pytest.approx(metrics.average_precision_score(gold, score, **by))
        assert e["log_loss"].value == pytest.approx(metrics.log_loss(gold, score, **by))
        assert e["brier"].value == pytest.approx(metrics.brier_score_loss(gold, score, **by))


@pytest.mark.parametrize("name", ["roc_auc", "average_precision", "ks", "ece", "gain"])
def test_without_each_unit(name):
    cells = evaluated(*weighed(1), metrics=["roc_auc"], units=True).only.cells
    n = 1.0 + np.arange(len(cells)) % 3
    known, metric = catalogue("probabilities"), catalogue("probabilities").resolve(name)
    ours = known[name].compute(Tilt(n, 1.0, -1.0), cells, metric).value
    theirs = known[name].compute(Dense(n - np.eye(len(n))), cells, metric).value
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_intervals_and_pictures_of_weighed_items():
    gold, score, weight = weighed(2)
    e = evaluated(gold, score, weight, metrics=["roc_auc"], intervals=True)
    assert e["roc_auc"].interval.low < e["roc_auc"].value < e["roc_auc"].interval.high
    assert f"AUC {e['roc_auc'].value:.3f}" in e.plot("roc").svg


def test_ranks_of_weighed_items_are_undefined():
    gold, score, weight = weighed(3)
    side = {"id": list(range(60)), "value": gold.tolist(), "w": weight.tolist()}
    e = karat.evaluate(
        side, {"id": list(range(60)), "value": score.tolist()}, context="numbers", weight="w",
        metrics=["mae", "spearman", "kendall", "max_error"],
    )  # fmt: skip
    assert e["mae"].value == pytest.approx(np.average(np.abs(gold - score), weights=weight))
    assert e["spearman"].undefined == e["kendall"].undefined == "items of different weight have no ranks"


def test_nothing_is_above_the_highest_score():
    """The point (recall 0, precision 1) is where the curve begins, also where sums of fractions leave 1e-17 above it."""
    gold, score, weight = ["no", "yes", "yes", "no"], [0.9, 0.9, 0.9, 0.6], [0.2, 0.1, 0.7, 0.3]
    e = karat.evaluate(gold, score, context="probabilities", metrics=["pr_auc"], weight=weight)
    assert e["pr_auc"].value == pytest.approx((1 + 0.8) / 2)
    rng = np.random.default_rng(0)
    for _ in range(50):
        gold, score, weight = rng.integers(0, 2, 12), rng.integers(0, 3, 12) / 2, rng.integers(1, 10, 12) / 10
        gold[:2] = 0, 1
        precision, recall, _ = metrics.precision_recall_curve(gold, score, sample_weight=weight)
        e = karat.evaluate(gold, score, context="probabilities", metrics=["pr_auc"], weight=weight)
        assert e["pr_auc"].value == pytest.approx(metrics.auc(recall, precision))


def test_nothing_is_above_the_highest_score_of_a_test_case():
    rng = np.random.default_rng(1)
    case, n = np.repeat([f"t{i:02}" for i in range(40)], 6), 240
    rows = {"id": np.arange(n).tolist(), "test_case": case.tolist()}
    gold, score, weight = rng.integers(0, 2, n), rng.integers(0, 3, n) / 2, rng.integers(1, 10, n) / 10
    gold[::6], gold[1::6] = 0, 1
    e = karat.evaluate(
        rows | {"label": gold.astype(str).tolist(), "w": weight.tolist()}, rows | {"score": score.tolist()},
        context="probabilities", weight="w", metrics=["pr_auc"],
    )  # fmt: skip
    areas = []
    for t in range(40):
        at = slice(6 * t, 6 * t + 6)
        precision, recall, _ = metrics.precision_recall_curve(gold[at], score[at], sample_weight=weight[at])
        areas.append(metrics.auc(recall, precision))
    assert e["pr_auc"].value == pytest.approx(np.mean(areas))


def test_nothing_is_below_the_lowest_score():
    """MCC where everything is predicted is 0; the root of 1e-17 is 3e-9."""
    gold, score = ["no", "yes", "no", "yes", "no", "no"], [0.3, 0.0, 0.2, 0.1, 0.4, 0.4]
    weight = [0.4, 0.4, 0.4, 0.5, 0.2, 0.7]
    e = karat.evaluate(gold, score, context="probabilities", metrics=["best(of=mcc)"], weight=weight)
    assert e["best(of=mcc)"].value == 0


def test_of_equal_thresholds_the_highest_is_named():
    """F1 is .4 from .3 on, 2·.2/(.7 + .3), and from 0 on, 2·.3/(1.2 + .3), which floats make larger."""
    gold, score = ["no", "yes", "yes", "no", "no", "no"], [0.2, 0.3, 0.0, 0.4, 0.5, 0.1]
    weight = [0.2, 0.2, 0.1, 0.2, 0.3, 0.2]
    e = karat.evaluate(gold, score, context="probabilities", weight=weight, metrics=["best"])
    assert tables.best(e.only.cells)[0][:2] == ["f1", 0.3]
    assert "best 0.400 at 0.3" in e.plot("thresholds").svg


def tables_of(gold, score, **wish):
    e = karat.evaluate(list(gold), list(score), context="probabilities", metrics=["best", "best(of=accuracy)"], **wish)
    return e, {detail.name: detail for detail in e.only.details}


def test_tables_weigh_as_scores_do():
    rng = np.random.default_rng(4)
    gold, score, weight = (
        np.array(["no", "yes"])[rng.integers(0, 2, 60)],
        rng.random(60).round(1),
        rng.integers(0, 4, 60),
    )
    e, weighed_ones = tables_of(gold, score, weight=list(weight))
    _, copies = tables_of(np.repeat(gold, weight), np.repeat(score, weight))
    for name in ("thresholds", "calibration"):
        for row, same in zip(weighed_ones[name].rows, copies[name].rows, strict=True):
            assert row[0] == same[0]
            assert row[1:] == pytest.approx(same[1:])
        assert "by weight" in weighed_ones[name].title
        assert "by weight" not in copies[name].title
    assert weighed_ones["calibration"].columns[1] == "weight"
    best = {row[0]: row[2] for row in weighed_ones["thresholds"].rows}
    assert best["f1"] == e.only["best"].value
    assert best["accuracy"] == e.only["best(of=accuracy)"].value


def test_shares_in_bins_are_not_cut_to_whole_numbers():
    _, tables = tables_of(["yes", "no", "yes"], [0.95, 0.05, 0.95], weight=[0.5, 0.25, 0.25])
    assert [row[1] for row in tables["calibration"].rows] == [0.25, 0.75]


def test_the_table_of_thresholds_says_where_nothing_or_everything_is_predicted():
    e, tables = tables_of(["yes", "no", "no", "no", "no"], [0.1, 0.9, 0.8, 0.7, 0.6])
    assert tables["thresholds"].rows[1] == ["accuracy", "none predicted", e.only["best(of=accuracy)"].value]
    e = karat.evaluate({"a": "yes", "b": "no", "c": "no"}, {"b": 0.9, "c": 0.2}, context="probabilities")
    assert [row[1] for row in e.only.detail("thresholds").rows[:2]] == ["all predicted", "none predicted"]
    assert "Infinity" not in e.to_json()
