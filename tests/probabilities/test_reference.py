"""Every metric that scikit-learn has, on random scores with and without ties."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn import calibration, metrics

import karat
from karat.contexts import catalogue
from karat.contexts.probabilities.context import _counted
from karat.metric import MetricError
from karat.stats.statistic import Statistic
from karat.weights import Dense, Grouped, Memo, Tilt

CASES = 90
"""Ten thousand are in tests/reference/test_sklearn_ten_thousand.py."""


def close(ours: float | None, theirs: float, what: str) -> None:
    assert ours is not None, what
    assert abs(ours - theirs) <= 1e-9 * max(1.0, abs(theirs)), (what, ours, theirs)


def binary(rng: np.random.Generator) -> tuple[Any, Any]:
    n = int(rng.integers(2, 60))
    gold = rng.integers(0, 2, n)
    gold[:2] = 0, 1
    score = np.clip(rng.normal(gold * rng.uniform(0, 0.6), 0.4), 0, 1)
    return gold, score.round(int(rng.integers(1, 4))) if rng.random() < 0.6 else score


def two_classes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    gold, score = binary(rng)
    fpr = round(rng.uniform(0.05, 0.95), 3)
    names = ["roc_auc", f"roc_auc(max_fpr={fpr})", "average_precision", "pr_auc", "log_loss", "brier", "accuracy", "f1", "ks",
             "recall_at_precision(precision=0.7)", "recall_at_fpr(fpr=0)", f"recall_at_fpr(fpr={fpr})", "best(of=accuracy)", "best(of=mcc)", "ece(bins=7)"]  # fmt: skip
    e = karat.evaluate(gold, score, context="probabilities", metrics=names, hashes=False)
    precision, recall, _ = metrics.precision_recall_curve(gold, score)
    fp, tp, cut = metrics.roc_curve(gold, score, drop_intermediate=False)
    close(e[karat.Metric("roc_auc")].value, metrics.roc_auc_score(gold, score), "roc_auc")
    close(e[names[1]].value, metrics.roc_auc_score(gold, score, max_fpr=fpr), "partial")
    close(e["average_precision"].value, metrics.average_precision_score(gold, score), "average_precision")
    close(e["pr_auc"].value, metrics.auc(recall, precision), "pr_auc")
    close(e["log_loss"].value, metrics.log_loss(gold, score), "log_loss")
    close(e["brier"].value, metrics.brier_score_loss(gold, score), "brier")
    close(e["accuracy"].value, metrics.accuracy_score(gold, score >= 0.5), "accuracy")
    close(e["f1"].value, metrics.f1_score(gold, score >= 0.5), "f1")
    close(e["ks"].value, (tp - fp).max(), "ks")
    close(e["recall_at_precision"].value, recall[:-1][precision[:-1] >= 0.7].max(initial=0), "recall at precision")
    close(e["recall_at_fpr(fpr=0)"].value, tp[fp == 0].max(), "recall without a false positive")
    close(e[f"recall_at_fpr(fpr={fpr})"].value, tp[fp <= fpr + 1e-12].max(), "recall at fpr")
    hard = [score >= t for t in cut]
    close(e["best(of=accuracy)"].value, max(metrics.accuracy_score(gold, h) for h in hard), "best accuracy")
    close(e["best(of=mcc)"].value, max(metrics.matthews_corrcoef(gold, h) for h in hard), "best mcc")
    true, said = calibration.calibration_curve(gold, score, n_bins=7)
    bins = np.searchsorted(np.linspace(0, 1, 8)[1:-1], score)
    size = np.bincount(bins, minlength=7)
    close(e["ece"].value, (size[size > 0] * np.abs(true - said)).sum() / len(gold), "ece")


def many_classes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(12, 60)), int(rng.integers(3, 6))
    names = np.array([f"c{i}" for i in range(k)])
    gold = np.concatenate([np.arange(k), np.arange(k), rng.integers(0, k, n)])
    score = rng.dirichlet(np.ones(k), len(gold))
    wanted = [f"roc_auc(average={a})" for a in ("macro", "micro", "weighted")]
    wanted += ["roc_auc_ovo", "roc_auc_ovo(average=weighted)", "log_loss", "brier", "accuracy", "hit@2"]
    wanted += [f"average_precision(average={a})" for a in ("macro", "micro", "weighted")]
    e = karat.evaluate(names[gold], score, classes=names, metrics=wanted, hashes=False)
    for a in ("macro", "micro", "weighted"):
        close(e[f"roc_auc(average={a})"].value, metrics.roc_auc_score(gold, score, multi_class="ovr", average=a), a)
        theirs = metrics.average_precision_score(np.eye(k)[gold], score, average=a)
        close(e[f"average_precision(average={a})"].value, theirs, a)
    for a, ours in (("macro", "roc_auc_ovo"), ("weighted", "roc_auc_ovo(average=weighted)")):
        close(e.only[ours].value, metrics.roc_auc_score(gold, score, multi_class="ovo", average=a), ours)
    close(e["log_loss"].value, metrics.log_loss(gold, score), "log_loss")
    close(e["brier"].value, ((score - np.eye(k)[gold]) ** 2).sum(1).mean(), "brier")
    close(e["hit@2"].value, metrics.top_k_accuracy_score(gold, score, k=2), "top_k")
    close(e["accuracy"].value, metrics.accuracy_score(gold, score.argmax(1)), "accuracy")


def label_sets(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(12, 60)), int(rng.integers(2, 5))
    gold = rng.integers(0, 2, (n, k))
    gold[0], gold[1] = 0, 1
    score = rng.random((n, k)).round(2)
    wanted = [f"{m}(average={a})" for m in ("roc_auc", "average_precision") for a in ("macro", "micro", "weighted")]
    e = karat.evaluate(gold, score, context="probabilities", metrics=[*wanted, "log_loss"], hashes=False)
    for a in ("macro", "micro", "weighted"):
        close(e[f"roc_auc(average={a})"].value, metrics.roc_auc_score(gold, score, average=a), a)
        theirs = metrics.average_precision_score(gold, score, average=a)
        close(e[f"average_precision(average={a})"].value, theirs, a)
    close(e["log_loss"].value, np.mean([metrics.log_loss(gold[:, j], score[:, j]) for j in range(k)]), "log_loss")


SHAPES = {"two classes": two_classes, "many classes": many_classes, "label sets": label_sets}


@pytest.mark.parametrize("shape", SHAPES)
def test_scikit_learn_agrees(shape):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(CASES // len(SHAPES)):
            SHAPES[shape](seed)


def samples() -> list[Any]:
    """Cells of two classes, of four (with missing predictions) and of label sets."""
    rng = np.random.default_rng(5)
    gold, score = binary(rng)
    four = np.array(list("abcd"))[rng.integers(0, 4, 25)].tolist()
    rows: list[Any] = [dict(zip("abcd", p, strict=True)) for p in rng.dirichlet(np.ones(4), 25).round(2).tolist()]
    said = {i: row for i, row in enumerate(rows) if i % 7}
    sets = rng.integers(0, 2, (20, 3))
    given = [
        (gold, score),
        (dict(enumerate(four)), said),
        (sets, rng.random((20, 3)).round(1)),
    ]
    return [
        karat.evaluate(g, p, context="probabilities", metrics=["roc_auc"], missing="wrong").only.cells for g, p in given
    ]


@pytest.mark.parametrize("definition", [d.name for d in catalogue("probabilities")])
def test_all_forms_of_weights_agree(definition):
    """Left-out units, single units, groups and rows give what the written matrix gives."""
    known, rng = catalogue("probabilities"), np.random.default_rng(1)
    averages = ("macro", "micro") if known[definition].by_class else (None,)
    for cells in samples():
        n = cells.n.astype(float)
        index = np.arange(len(n))
        group = rng.integers(0, 3, len(n))
        forms = [(Tilt(n, a, b), a * n + b * np.eye(len(n))) for a, b in ((1.0, -1.0), (0.0, 1.0), (0.9, 0.5))]
        forms += [(Tilt(n, 1.0, -1.0, index[::2]), (n - np.eye(len(n)))[::2])]
        forms += [(Grouped(group, n, (3, len(n))), np.where(group == np.arange(3)[:, None], n, 0.0))]
        for average in averages:
            metric = known.resolve(definition + (f"(average={average})" if average else ""))
            for weights, written in forms:
                try:
                    theirs = known[metric.name].compute(Dense(written), cells, metric)
                except MetricError:
                    continue
                ours = known[metric.name].compute(Memo(weights), cells, metric)
                np.testing.assert_allclose(ours.value, theirs.value, rtol=1e-9, atol=1e-11)
                if ours.by_class is not None and theirs.by_class is not None:
                    np.testing.assert_allclose(ours.by_class, theirs.by_class, rtol=1e-9, atol=1e-11)


def test_the_jackknife_of_auc_is_that_of_delong():
    """DeLong's variance from placements, by its own formula, up to the factor of the jackknife."""
    rng = np.random.default_rng(3)
    gold, score = rng.integers(0, 2, 200), rng.normal(size=200).round(1)
    positive, negative = score[gold == 1], score[gold == 0]
    above = (positive[:, None] > negative) + 0.5 * (positive[:, None] == negative)
    by_positive, by_negative = above.mean(1), above.mean(0)
    delong = by_positive.var(ddof=1) / len(positive) + by_negative.var(ddof=1) / len(negative)
    e = karat.evaluate(
        gold, score, context="probabilities", metrics=["roc_auc"], intervals=True, interval_method="jackknife-t"
    )
    assert e["roc_auc"].interval.se == pytest.approx(np.sqrt(delong), rel=0.01)


def test_resampled_auc_is_that_of_a_loop():
    """The weights of a resample are its units, written out."""
    rng = np.random.default_rng(4)
    gold, score = rng.integers(0, 2, 40), rng.random(40).round(1)
    cells = karat.evaluate(gold, score, context="probabilities", metrics=["roc_auc"], units=True).only.cells
    statistic = Statistic(catalogue("probabilities"), [catalogue("probabilities").resolve("roc_auc")])
    for _ in range(20):
        drawn = rng.integers(0, 40, 40)
        weights = np.bincount(cells.unit[drawn], minlength=len(cells)).astype(float)
        ours = statistic.values(weights[None, :], cells)[0, 0]
        assert ours == pytest.approx(metrics.roc_auc_score(gold[drawn], score[drawn]), abs=1e-12)


def test_many_items_are_compared_by_the_jackknife():
    """As DeLong's test of two areas on the same items, by its own formula."""
    rng = np.random.default_rng(6)
    gold = rng.integers(0, 2, 8000)
    systems = {name: gold * 0.5 + rng.normal(size=8000) + shift for name, shift in (("a", 0.0), ("b", gold * 0.03))}
    placed = []
    for score in systems.values():
        rank = stats.rankdata(score)
        inner = [stats.rankdata(score[gold == k]) for k in (1, 0)]
        n = [(gold == k).sum() for k in (1, 0)]
        placed.append(((rank[gold == 1] - inner[0]) / n[1], 1 - (rank[gold == 0] - inner[1]) / n[0]))
    apart = [x - y for x, y in zip(*placed, strict=True)]
    z = apart[0].mean() / np.sqrt(sum(d.var(ddof=1) / len(d) for d in apart))
    c = karat.compare(gold, systems, context="probabilities", metrics=["roc_auc"])
    assert c.pairs[0].tests[0].name == "paired jackknife-t"
    assert c.pairs[0].tests[0].p == pytest.approx(2 * stats.norm.sf(abs(z)), rel=0.02)


def test_a_curve_in_pieces_is_the_same_curve(monkeypatch):
    """Of a million scores no more than a piece is in the cache; here a piece is three scores."""
    names = ["roc_auc", "roc_auc(max_fpr=0.3)", "average_precision", "pr_auc", "ks", "gain", "best(of=f1)"]
    whole = [binary(np.random.default_rng(seed)) for seed in range(20)]
    score = lambda g, s: [x.value for x in karat.evaluate(g, s, context="probabilities", metrics=names).only]
    expected = [score(*pair) for pair in whole]
    monkeypatch.setattr("karat.contexts.curve.PIECE", 3)
    np.testing.assert_allclose([score(*pair) for pair in whole], expected, atol=1e-14)


@pytest.mark.parametrize("long", [10, 10_000])
def test_resamples_of_an_area_are_weighted_areas(long, monkeypatch):
    """The bootstrap of as many cells as units: each row of weights as scikit-learn's sample weights."""
    monkeypatch.setattr("karat.contexts.curve.LONG", long)
    rng = np.random.default_rng(11)
    gold = rng.integers(0, 2, 300)
    score = np.clip(rng.normal(gold * 0.4, 0.4), 0, 1).round(2)
    cells = karat.evaluate(gold, score, context="probabilities", metrics=["roc_auc"]).only.cells
    drawn = rng.multinomial(300, cells.n / 300, 25).astype(float)
    statistic = Statistic(catalogue("probabilities"), [karat.Metric("roc_auc"), karat.Metric("average_precision")])
    for row, (area, precision) in zip(drawn, statistic.of(cells)(Dense(drawn)), strict=True):
        close(area, metrics.roc_auc_score(cells.gold, cells.score[:, 0], sample_weight=row), "resampled area")
        theirs = metrics.average_precision_score(cells.gold, cells.score[:, 0], sample_weight=row)
        close(precision, theirs, "resampled average precision")


@pytest.mark.parametrize("cases", [1, 3])
def test_many_groups_are_counted_as_few_are(cases, monkeypatch):
    rng = np.random.default_rng(cases)
    rows = [{"test_case": f"t{n % cases}", "id": str(n)} for n in range(90)]
    gold = [row | {"value": str(rng.integers(0, 2))} for row in rows]
    pred = [row | {"value": round(float(rng.random()), 1)} for row in rows]
    asked = {"context": "probabilities", "metrics": ["roc_auc", "average_precision", "log_loss", "accuracy"]}
    few = [(s.value, s.by_test_case) for s in karat.evaluate(gold, pred, **asked).systems[0]]
    monkeypatch.setattr(sys.modules["karat.contexts.probabilities.context"], "MOST_GROUPS", 0)
    assert [(s.value, s.by_test_case) for s in karat.evaluate(gold, pred, **asked).systems[0]] == few


def test_scores_of_a_class_are_counted_once_each() -> None:
    """Of class 0: 0.2 once and 0.5 twice; of class 1: 0.7 once."""
    number, n, size = _counted(np.array([0, 1, 0, 0]), np.array([0.5, 0.7, 0.2, 0.5]), 2)
    assert (number.tolist(), n.tolist(), size.tolist()) == ([0.2, 0.5, 0.7], [1, 2, 1], [2, 1])


@pytest.mark.parametrize("positive", [None, "a", "b"])
@pytest.mark.parametrize("score", [[0.9, 0.2, 0.4, 0.6], [0.9, 0.2, 0.4, 0.4]])
def test_the_curve_of_the_other_class_falls_where_the_first_rises(score, positive):
    """One score a unit: that of the second class (or of the one that is named); the other has what is left of 1."""
    options = {} if positive is None else {"pos_label": positive}
    e = karat.evaluate(["b", "a", "a", "b"], score, context="probabilities", metrics=["roc_auc"], units=True, **options)
    cells, of = e.systems[0].cells, ["a", "b"].index(positive or "b")
    distinct = sorted(set(score))
    assert cells.curves[of].value == pytest.approx(distinct[::-1])
    assert cells.curves[1 - of].value == pytest.approx([1 - x for x in distinct])
