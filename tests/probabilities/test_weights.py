"""Items that weigh differently: scikit-learn's sample_weight, the jackknife written out, and what has no ranks."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics

import karat
from karat.contexts import catalogue
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
