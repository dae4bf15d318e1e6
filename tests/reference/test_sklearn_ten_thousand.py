"""Ten thousand random cases of every kind that scikit-learn scores too, each metric to 1e-9.

A block of cases is one table with a test case for each: karat scores them all at once, and scikit-learn one by one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sklearn
from scipy import stats
from sklearn import metrics as sk
from tests.clustering.test_reference import EXPECTED as PARTITIONS
from tests.reference.test_sklearn_live import MONO, MULTI

import karat
from karat.columns import ordered

CASES, BLOCK = 10_000, 250
FEW = 40
"""Cases of the quick run."""

Case = tuple[Any, Any]
Peers = dict[str, Callable[[Any, Any], float]]


def labels(rng: np.random.Generator) -> Case:
    """Skewed and even, a few labels and many, some of them on one side only."""
    n, names = int(rng.integers(1, 40)), np.array(["A", "B", "C", "10", "9"])[: rng.integers(1, 6)]
    gold = rng.choice(names, n)
    return gold, np.where(rng.random(n) < rng.random(), gold, rng.choice(names, n))


def label_sets(rng: np.random.Generator) -> Case:
    shape, often = (int(rng.integers(1, 25)), 4), rng.random()
    gold = (rng.random(shape) < often).astype(int)
    return gold, np.where(rng.random(shape) < 0.3, 1 - gold, gold)


def two_scores(rng: np.random.Generator) -> Case:
    n = int(rng.integers(2, 60))
    gold = rng.integers(0, 2, n)
    gold[:2] = 0, 1
    score = np.clip(rng.normal(gold * rng.uniform(0, 0.6), 0.4), 0, 1)
    return gold, score.round(int(rng.integers(1, 4))) if rng.random() < 0.6 else score


def many_scores(rng: np.random.Generator) -> Case:
    gold = np.concatenate([np.arange(4), rng.integers(0, 4, int(rng.integers(4, 40)))])
    return gold, rng.dirichlet(np.full(4, rng.uniform(0.3, 3)), len(gold))


def set_scores(rng: np.random.Generator) -> Case:
    gold = rng.integers(0, 2, (int(rng.integers(3, 40)), 3))
    gold[0], gold[1] = 0, 1
    return gold, rng.random(gold.shape).round(2)


def numbers(rng: np.random.Generator) -> Case:
    n = int(rng.integers(3, 80))
    gold = rng.normal(rng.uniform(-100, 100), rng.uniform(0.1, 9), n)
    pred = gold * rng.uniform(-0.5, 1.2) + rng.normal(0, 3, n)
    return (gold.round(1), pred.round(1)) if rng.random() < 0.5 else (gold, pred)


def clusters(rng: np.random.Generator) -> Case:
    n = int(rng.integers(2, 50))
    gold = rng.integers(0, rng.integers(1, 8), n)
    return gold, np.where(rng.random(n) < rng.random(), gold, rng.integers(0, rng.integers(1, 8), n))


def partial(limit: float) -> Callable[[Any, Any], float]:
    return lambda g, s: sk.roc_auc_score(g, s, max_fpr=limit)


def pr_area(gold: Any, score: Any) -> float:
    precision, recall, _ = sk.precision_recall_curve(gold, score)
    return float(sk.auc(recall, precision))


def averaged(name: str, peer: Callable[..., float]) -> Peers:
    return {f"{name}(average={a})": lambda g, s, a=a: peer(g, s, average=a) for a in ("macro", "micro", "weighted")}  # type: ignore[misc]


TWO: Peers = {
    "roc_auc": sk.roc_auc_score,
    "roc_auc(max_fpr=0.1)": partial(0.1),
    "roc_auc(max_fpr=0.5)": partial(0.5),
    "average_precision": sk.average_precision_score,
    "pr_auc": pr_area,
    "log_loss": sk.log_loss,
    "brier": sk.brier_score_loss,
    "accuracy": lambda g, s: sk.accuracy_score(g, s >= 0.5),
    "f1": lambda g, s: sk.f1_score(g, s >= 0.5),
    "precision": lambda g, s: sk.precision_score(g, s >= 0.5, zero_division=np.nan),
    "recall": lambda g, s: sk.recall_score(g, s >= 0.5),
}
MANY: Peers = {
    **averaged("roc_auc", lambda g, s, average: sk.roc_auc_score(g, s, multi_class="ovr", average=average)),
    **averaged("average_precision", lambda g, s, average: sk.average_precision_score(np.eye(4)[g], s, average=average)),
    "roc_auc_ovo": lambda g, s: sk.roc_auc_score(g, s, multi_class="ovo"),
    "roc_auc_ovo(average=weighted)": lambda g, s: sk.roc_auc_score(g, s, multi_class="ovo", average="weighted"),
    "log_loss": sk.log_loss,
    "hit@2": lambda g, s: sk.top_k_accuracy_score(g, s, k=2),
    "hit@3": lambda g, s: sk.top_k_accuracy_score(g, s, k=3),
    "accuracy": lambda g, s: sk.accuracy_score(g, s.argmax(1)),
}
SETS: Peers = {**averaged("roc_auc", sk.roc_auc_score), **averaged("average_precision", sk.average_precision_score)}
NUMBERS: Peers = {
    "mae": sk.mean_absolute_error,
    "mse": sk.mean_squared_error,
    "rmse": sk.root_mean_squared_error,
    "r2": lambda g, x: sk.r2_score(g, x) if len({*g}) > 1 else np.nan,
    "max_error": sk.max_error,
    "quantile_loss": sk.mean_pinball_loss,
    "quantile_loss(q=0.9)": lambda g, x: sk.mean_pinball_loss(g, x, alpha=0.9),
    "pearson": lambda g, x: stats.pearsonr(g, x).statistic,
    "spearman": lambda g, x: stats.spearmanr(g, x).statistic,
    "kendall": lambda g, x: stats.kendalltau(g, x).statistic,
}
SCALE = ordered(["A", "B", "C", "10", "9"])
LABELS = MONO | {
    f"kappa(weights={w})": lambda g, p, w=w: sk.cohen_kappa_score(g, p, labels=SCALE, weights=w)  # type: ignore[misc]
    for w in ("linear", "quadratic")
}
"""All cases of a table are on one scale: that of all of its labels."""
NAMES = list("abcd")
as_text = lambda values: [str(v) for v in values.tolist()]
as_set = lambda rows: [[name for name, there in zip(NAMES, row, strict=False) if there] for row in rows.tolist()]
as_shares = lambda rows: [dict(zip(NAMES, row, strict=False)) for row in rows.tolist()]
as_number = lambda values: values.tolist()
as_class = lambda values: [NAMES[v] for v in values.tolist()]

Said = Callable[[Any], list[Any]]
KINDS: dict[str, tuple[Callable[[np.random.Generator], Case], str, Peers, Said, Said]] = {
    "labels": (labels, "monolabel", LABELS, as_text, as_text),
    "label sets": (label_sets, "multilabel", MULTI, as_set, as_set),
    "two classes": (two_scores, "probabilities", TWO, as_text, as_number),
    "many classes": (many_scores, "probabilities", MANY, as_class, as_shares),
    "scores of sets": (set_scores, "probabilities", SETS, as_set, as_shares),
    "numbers": (numbers, "numbers", NUMBERS, as_number, as_number),
    "clusters": (clusters, "clustering", PARTITIONS, as_text, as_text),
}


def rows(cases: list[Any], said: Said) -> list[dict[str, Any]]:
    return [
        {"test_case": f"{c:04}", "id": f"{c}-{i}", "value": v}
        for c, case in enumerate(cases)
        for i, v in enumerate(said(case))
    ]


def agrees(ours: float | None, theirs: float, peers: Peers) -> bool:
    """What karat leaves undefined is not a number there, or the 0 (of partitions the 1) that stands for it."""
    if ours is None:
        return bool(np.isnan(theirs) or theirs == 0 or (peers is PARTITIONS and theirs == 1))
    return bool(abs(ours - theirs) <= 1e-9 * max(1.0, abs(theirs)))


def rounding_decides(name: str, gold: Any, pred: Any) -> bool:
    """0 / 0, of which scikit-learn gives what its rounding leaves: information of one side by chance alone, over the least."""
    singletons = [len({*side.tolist()}) == len(side) for side in (gold, pred)]
    return name == "ami(mean=min)" and any(singletons)


def differences(kind: str, seed: int, count: int) -> list[Any]:
    """Every metric of a block of cases on which the two differ."""
    draw, context, peers, of_gold, of_pred = KINDS[kind]
    rng = np.random.default_rng([seed, sorted(KINDS).index(kind)])
    cases = [draw(rng) for _ in range(count)]
    gold, pred = rows([g for g, _ in cases], of_gold), rows([p for _, p in cases], of_pred)
    e = karat.evaluate(gold, pred, context=context, metrics=list(peers), hashes=False)
    out = []
    for name, peer in peers.items():
        score = e.only[karat.parse(name)].by_test_case
        for number, case in enumerate(cases):
            ours, theirs = score[f"{number:04}"].value, peer(*case)
            if not agrees(ours, float(theirs), peers) and not rounding_decides(name, *case):
                out.append((name, number, ours, theirs, case))
    return out


@pytest.fixture(autouse=True)
def _unchecked():
    """What scikit-learn checks of its input takes it longer than its sums."""
    with sklearn.config_context(assume_finite=True, skip_parameter_validation=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("kind", KINDS)
def test_scikit_learn_agrees(kind):
    assert differences(kind, 0, FEW)[:3] == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_scikit_learn_agrees_on_ten_thousand(kind):
    for block in range(CASES // BLOCK):
        assert differences(kind, 1 + block, BLOCK)[:3] == []
