"""Every mono-label and multi-label metric that scikit-learn has too, on random labels."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

import karat
from karat.columns import ordered

warnings.filterwarnings("ignore", category=UserWarning, module="sklearn")

LABELS = st.sampled_from(["A", "B", "C", "10", "9"])
PAIRS = st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=40)
SETS = st.lists(st.tuples(*[st.lists(st.integers(0, 1), min_size=4, max_size=4)] * 2), min_size=1, max_size=25)

Peer = Callable[[Any, Any], float]


def per_class(function: Callable[..., Any], **fixed: Any) -> dict[str, Peer]:
    """A peer for each average; undefined classes are left out of the mean, as karat does, by way of NaN."""
    return {
        average: lambda g, p, a=average: function(g, p, average=a, zero_division=np.nan, **fixed)  # type: ignore[misc]
        for average in ("macro", "micro", "weighted")
    }


def averaged(name: str, peers: dict[str, Peer]) -> dict[str, Peer]:
    said = lambda average: name.replace(")", f",average={average})") if "(" in name else f"{name}(average={average})"
    return {said(average): peer for average, peer in peers.items()}


SHARED: dict[str, Peer] = {
    **averaged("f1", per_class(sk.f1_score)),
    **averaged("fbeta(beta=2)", per_class(sk.fbeta_score, beta=2)),
    **averaged("fbeta(beta=0.5)", per_class(sk.fbeta_score, beta=0.5)),
}
MONO: dict[str, Peer] = SHARED | {
    "accuracy": sk.accuracy_score,
    "zero_one_loss": sk.zero_one_loss,
    "hamming_loss": sk.hamming_loss,
    "balanced_accuracy": lambda g, p: sk.balanced_accuracy_score(g, p),
    "kappa": sk.cohen_kappa_score,
    "kappa(weights=linear)": lambda g, p: kappa_in_order(g, p, "linear"),
    "kappa(weights=quadratic)": lambda g, p: kappa_in_order(g, p, "quadratic"),
    "mcc": sk.matthews_corrcoef,
    "jaccard": lambda g, p: sk.jaccard_score(g, p, average="macro"),
    "jaccard(average=micro)": lambda g, p: sk.jaccard_score(g, p, average="micro"),
    "jaccard(average=weighted)": lambda g, p: sk.jaccard_score(g, p, average="weighted"),
    **averaged("precision", per_class(sk.precision_score)),
    **averaged("recall", per_class(sk.recall_score)),
}
MULTI: dict[str, Peer] = SHARED | {
    "subset_accuracy": sk.accuracy_score,
    "precision(average=micro)": per_class(sk.precision_score)["micro"],
    "recall(average=micro)": per_class(sk.recall_score)["micro"],
    "jaccard(average=micro)": lambda g, p: sk.jaccard_score(g, p, average="micro"),
}
OURS_ALONE = {
    "system_precision", "krippendorff_alpha", "scott_pi", "support", "icm", "icm_norm",
    "hierarchical_precision", "hierarchical_recall", "hierarchical_f1",
}  # fmt: skip
"""Metrics that scikit-learn has not; their values are held by other references."""


def kappa_in_order(gold: list[str], pred: list[str], weights: str) -> float:
    return float(sk.cohen_kappa_score(gold, pred, labels=ordered([*gold, *pred]), weights=weights))


def agree(ours: float | None, theirs: float) -> bool:
    """Where karat says undefined, scikit-learn says NaN, or 0 as it does by default."""
    return bool(np.isnan(theirs) or theirs == 0) if ours is None else bool(abs(ours - theirs) < 1e-12)


def compare(gold: Any, pred: Any, peers: dict[str, Peer], theirs: tuple[Any, Any], context: str) -> None:
    found = karat.evaluate(gold, pred, metrics=list(peers), context=context)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrong = {m: (found[m].value, v) for m, peer in peers.items() if not agree(found[m].value, v := peer(*theirs))}
    assert wrong == {}


@given(pairs=PAIRS)
@settings(max_examples=15, deadline=None)
def test_mono_label(pairs: list[tuple[str, str]]) -> None:
    gold, pred = map(list, zip(*pairs, strict=True))
    compare(gold, pred, MONO, (gold, pred), "monolabel")


@given(pairs=SETS)
@settings(max_examples=10, deadline=None)
def test_multi_label(pairs: list[tuple[list[int], list[int]]]) -> None:
    gold, pred = (np.array(side) for side in zip(*pairs, strict=True))
    compare(gold, pred, MULTI, (gold, pred), "multilabel")


def test_every_mono_label_metric_has_a_peer_or_an_excuse() -> None:
    from karat.contexts import catalogue

    compared = {m.split("(")[0] for m in MONO}
    assert {d.name for d in catalogue("monolabel")} - compared <= OURS_ALONE | {"top_k_accuracy"}


@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
def test_classes_without_predictions_count_as_zero_on_request(average: str) -> None:
    gold, pred = ["A", "A", "B", "C"], ["A", "B", "B", "B"]
    found = karat.evaluate(gold, pred, metrics=[f"precision(average={average})"], undefined="zero")
    assert found["precision"].value == pytest.approx(sk.precision_score(gold, pred, average=average, zero_division=0))
