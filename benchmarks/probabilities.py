"""Scores of classes: scikit-learn in memory, and the interval of an AUC against a loop of resamples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.case import Case, Data, Side

NAMES = ["roc_auc", "log_loss", "brier"]
LOOPS = 20
"""Resamples of scikit-learn's loop that are timed; its seconds count for 10,000."""


def scores(rows: int, classes: int = 2) -> Data:
    def make(folder: Path) -> None:
        rng = np.random.default_rng(rows + classes)
        gold = rng.integers(0, classes, rows)
        if classes == 2:
            found = np.clip(rng.normal(gold * 0.3 + 0.35, 0.2), 0, 1)
        else:
            found = rng.dirichlet(np.ones(classes), rows) + 0.5 * np.eye(classes)[gold]
            found /= found.sum(1)[:, None]
        np.savez(folder / "scores.npz", gold=gold, score=found)

    return Data(f"scores-{rows}-{classes}", make)


def arrays(folder: Path) -> Any:
    with np.load(folder / "scores.npz") as found:
        return found["gold"], found["score"]


def karat_scores(pair: Any) -> float:
    import karat

    return float(karat.evaluate(*pair, context="probabilities", metrics=NAMES)["roc_auc"].value)


def sklearn_scores(pair: Any) -> float:
    from sklearn import metrics

    gold, score = pair
    metrics.log_loss(gold, score)
    metrics.brier_score_loss(gold, score)
    return float(metrics.roc_auc_score(gold, score, **({"multi_class": "ovr"} if score.ndim > 1 else {})))


def karat_interval(pair: Any) -> float:
    import karat

    e = karat.evaluate(*pair, context="probabilities", metrics=["roc_auc"], intervals=True)
    return float(e["roc_auc"].value)


def karat_resamples(pair: Any) -> float:
    import karat

    asked: Any = {"intervals": True, "interval_method": "bca", "resamples": 10_000}
    e = karat.evaluate(*pair, context="probabilities", metrics=["roc_auc"], **asked)
    assert e["roc_auc"].interval.resamples == 10_000
    return float(e["roc_auc"].value)


def sklearn_interval(pair: Any) -> float:
    from sklearn import metrics

    gold, score = pair
    rng = np.random.default_rng(0)
    for _ in range(LOOPS):
        drawn = rng.integers(0, len(gold), len(gold))
        metrics.roc_auc_score(gold[drawn], score[drawn])
    return float(metrics.roc_auc_score(gold, score))


CASES = [
    Case(
        "sklearn-1M",
        scores(1_000_000),
        Side("karat", karat_scores, arrays),
        (Side("scikit-learn", sklearn_scores, arrays),),
        3,
        "ROC AUC, log loss and Brier of 1,000,000 scores of two classes, from arrays",
    ),
    Case(
        "sklearn-100k-10",
        scores(100_000, 10),
        Side("karat", karat_scores, arrays),
        (Side("scikit-learn", sklearn_scores, arrays),),
        None,
        "the same of 100,000 items with 10 classes, one against the rest",
    ),
    Case(
        "interval-100k",
        scores(100_000),
        Side("karat", karat_interval, arrays),
        (Side("loop over scikit-learn", sklearn_interval, arrays, repeat=3, part=LOOPS / 10_000),),
        50,
        "95% interval of an AUC of 100,000 items: karat's default (the exact jackknife, bent) against 10,000 resamples",
    ),
    Case(
        "resamples-100k",
        scores(100_000),
        Side("karat", karat_resamples, arrays),
        (Side("loop over scikit-learn", sklearn_interval, arrays, repeat=3, part=LOOPS / 10_000),),
        50,
        "the same by 10,000 resamples on both sides (BCa); scikit-learn's seconds are scaled from 20 of them",
    ),
]
