# SPDX-License-Identifier: Apache-2.0
"""Soft metrics: distances between distributions, soft F1, and labels after hardening."""

from __future__ import annotations

from typing import Literal

import numpy as np

from karat.cells import Floats, Sparse, Weights
from karat.contexts.groups import middle
from karat.contexts.soft import distances
from karat.contexts.soft.cells import SoftCells
from karat.contexts.soft.hard import bin_of, confidence
from karat.metric import MetricError, metric
from karat.score import Values, defined, mean_defined, ratio

_UMA = "Uma et al. 2021, Learning from disagreement: a survey, doi:10.1613/jair.1.12752"
_LIN = "Lin 1991, doi:10.1109/18.61115"
_KULLBACK = "Kullback & Leibler 1951, doi:10.1214/aoms/1177729694"
_RIZZI = "Rizzi et al. 2024, Soft metrics for evaluation with disagreements, NLPerspectives"
_KURNIAWAN = "Kurniawan et al. 2025, Training and evaluating with human label variation"
_LEWIDI25 = "Leonardelli et al. 2025, LeWiDi-2025, NLPerspectives"
_INF = float("inf")


def _mean(W: Weights, cells: SoftCells, x: Floats) -> Values:
    return ratio(W @ x, W @ cells.in_gold, "no gold items")


def _weighted_mean(W: Weights, cells: SoftCells, x: Floats) -> Values:
    """Mean over the items whose gold weights can be made a distribution."""
    return ratio(W @ (x * cells.weighted), W @ cells.weighted, "no gold item has a weight above 0")


def _positive(name: str, **params: float) -> None:
    """A base of logarithms other than 1, and a share to stand for 0."""
    for key, value in params.items():
        limit = " other than 1" if key == "base" else " of at most 1"
        if not 0 < value < _INF or (value == 1 if key == "base" else value > 1):
            raise MetricError(f"{key}={value}: {name} needs a positive {key}{limit}")


@metric(
    SoftCells,
    better="lower",
    bounds=(0, _INF),
    unit_mean=True,
    reference=f"{_UMA}; lewidi2023: Leonardelli et al. 2023",
)
def cross_entropy(
    W: Weights, cells: SoftCells, *, base: float = 2.0, smoothing: float = 1e-12,
    variant: Literal["strict", "pyevall", "lewidi2023"] = "strict",
) -> Values:  # fmt: skip
    """Mean over items of −Σ_c gold_c · log(predicted_c), predictions not below ``smoothing``.

    A label or item without a prediction costs −log(smoothing). ``pyevall``: weights ≤ 0 become .001, both sides
    are rescaled, and what is not predicted costs nothing; ``lewidi2023``: natural log of clip(p, 1e-12) + 1e-9.
    Undefined without gold items.

    >>> # −(.5·log2 .5 + .5·log2 .25) = .5 + 1
    >>> e = karat.evaluate([{"A": 0.5, "B": 0.5}], [{"A": 0.5, "B": 0.25}], metrics=["cross_entropy"])
    >>> e["cross_entropy"].value
    1.5
    """
    _positive("cross_entropy", base=base, smoothing=smoothing)
    if variant == "strict":
        return _mean(W, cells, cells.vector(distances.cross_entropy, base, smoothing))
    return _mean(W, cells, cells.vector(getattr(distances, f"cross_entropy_{variant}")))


@metric(SoftCells, better="lower", bounds=(0, _INF), unit_mean=True, title="KL divergence", reference=_KULLBACK)
def kl(W: Weights, cells: SoftCells, *, base: float = 2.0, smoothing: float = 1e-12) -> Values:
    """Mean over items of Σ_c gold_c · log(gold_c / predicted_c), both sides scaled to sum to 1.

    Predicted shares are not below ``smoothing``; an item without a prediction has that share everywhere.
    Undefined when no gold item has a weight above 0.

    >>> # 1·log2(1 / .5)
    >>> karat.evaluate([{"A": 1.0}], [{"A": 0.5, "B": 0.5}], metrics=["kl"])["kl"].value
    1.0
    """
    _positive("kl", base=base, smoothing=smoothing)
    return _weighted_mean(W, cells, cells.vector(distances.kl, base, smoothing))


@metric(SoftCells, better="lower", symmetric=True, unit_mean=True, title="JS divergence", reference=_LIN)
def js_divergence(W: Weights, cells: SoftCells, *, base: float = 2.0) -> Values:
    """Mean over items of the Jensen–Shannon divergence, both sides scaled to sum to 1.

    JSD = ½·KL(gold ‖ m) + ½·KL(predicted ‖ m), m their mean; 1 bit without a prediction.
    Undefined when no gold item has a weight above 0.

    >>> # disjoint distributions: ½·log2 2 + ½·log2 2
    >>> karat.evaluate([{"A": 1.0}], [{"B": 1.0}], metrics=["js_divergence"])["js_divergence"].value
    1.0
    """
    _positive("js_divergence", base=base)
    return _weighted_mean(W, cells, cells.vector(distances.js, base))


@metric(
    SoftCells,
    better="lower",
    symmetric=True,
    unit_mean=True,
    title="JS distance",
    reference="Endres & Schindelin 2003, doi:10.1109/TIT.2003.813506",
)
def js_distance(W: Weights, cells: SoftCells, *, base: float = 2.0) -> Values:
    """Mean over items of the square root of the Jensen–Shannon divergence.

    √JSD of each item, then the mean; 1 without a prediction (base 2).
    Undefined when no gold item has a weight above 0.

    >>> # one item disjoint (1), one equal (0)
    >>> e = karat.evaluate([{"A": 1.0}, {"A": 1.0}], [{"B": 1.0}, {"A": 1.0}], metrics=["js_distance"])
    >>> e["js_distance"].value
    0.5
    """
    _positive("js_distance", base=base)
    return _weighted_mean(W, cells, np.sqrt(cells.vector(distances.js, base)))


@metric(
    SoftCells,
    better="lower",
    bounds=(0, _INF),
    unit_mean=True,
    symmetric=True,
    title="MAE",
    reference="Willmott & Matsuura 2005, doi:10.3354/cr030079",
)
def mae(W: Weights, cells: SoftCells, *, variant: Literal["strict", "pyevall"] = "strict") -> Values:
    """Mean over items of (1/K) Σ_c |gold_c − predicted_c|, K the labels that gold of the test case names.

    An item without a prediction has weight 1 on a label of its own (Σ gold + 1), or on K if weights are independent.
    ``pyevall``: it has weight 0, and predicted labels that gold never names are left out.
    Undefined without gold items.

    >>> # (|.5 − .25| + |.5 − .75|) / 2
    >>> karat.evaluate([{"A": 0.5, "B": 0.5}], [{"A": 0.25, "B": 0.75}], metrics=["mae"])["mae"].value
    0.25
    """
    gap = cells.known_gap if variant == "pyevall" else cells.vector(distances.manhattan) + cells.lost
    return _mean(W, cells, gap / np.maximum(cells.gold_labels, 1))


@metric(SoftCells, better="lower", bounds=(0, _INF), unit_mean=True, symmetric=True, title="MSE", reference=_UMA)
def mse(W: Weights, cells: SoftCells) -> Values:
    """Mean over items of (1/K) Σ_c (gold_c − predicted_c)², K the labels that gold of the test case names.

    An item without a prediction has weight 1 on a label of its own (Σ gold² + 1), or on K if weights are independent.
    Undefined without gold items.

    >>> # (.25² + .25²) / 2
    >>> karat.evaluate([{"A": 0.5, "B": 0.5}], [{"A": 0.25, "B": 0.75}], metrics=["mse"])["mse"].value
    0.0625
    """
    return _mean(W, cells, (cells.vector(distances.squares) + cells.lost) / np.maximum(cells.gold_labels, 1))


@metric(
    SoftCells,
    better="lower",
    bounds=(0, _INF),
    symmetric=True,
    unit_mean=True,
    title="Brier",
    reference="Brier 1950, doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2",
)
def brier(W: Weights, cells: SoftCells) -> Values:
    """Mean over items of Σ_c (gold_c − predicted_c)².

    An item without a prediction has weight 1 on a label of its own (Σ gold² + 1), or on K if weights are independent.
    Undefined without gold items.

    >>> # .25² + .25²
    >>> karat.evaluate([{"A": 0.5, "B": 0.5}], [{"A": 0.25, "B": 0.75}], metrics=["brier"])["brier"].value
    0.125
    """
    return _mean(W, cells, cells.vector(distances.squares) + cells.lost)


@metric(SoftCells, better="lower", bounds=(0, _INF), symmetric=True, unit_mean=True, reference=_RIZZI)
def euclidean(W: Weights, cells: SoftCells) -> Values:
    """Mean over items of √(Σ_c (gold_c − predicted_c)²).

    An item without a prediction has weight 1 on a label of its own, or on each of K if weights are independent.
    Undefined without gold items.

    >>> # √(.3² + .4²)
    >>> e = karat.evaluate([{"A": 0.5, "B": 0.5}], [{"A": 0.2, "B": 0.9}], metrics=["euclidean"])
    >>> round(e["euclidean"].value, 4)
    0.5
    """
    return _mean(W, cells, np.sqrt(cells.vector(distances.squares) + cells.lost))


@metric(SoftCells, better="lower", bounds=(0, _INF), symmetric=True, unit_mean=True, reference=_LEWIDI25)
def manhattan(W: Weights, cells: SoftCells) -> Values:
    """Mean over items of Σ_c |gold_c − predicted_c|.

    An item without a prediction has weight 1 on a label of its own (Σ gold + 1), or on K if weights are independent.
    Undefined without gold items.

    >>> # |.5 − .25| + |.5 − .75|
    >>> karat.evaluate([{"A": 0.5, "B": 0.5}], [{"A": 0.25, "B": 0.75}], metrics=["manhattan"])["manhattan"].value
    0.5
    """
    return _mean(W, cells, cells.vector(distances.manhattan) + cells.lost)


@metric(SoftCells, better="lower", bounds=(0, _INF), symmetric=True, unit_mean=True, reference=_LEWIDI25)
def binary_manhattan(W: Weights, cells: SoftCells) -> Values:
    """Mean over items and labels of the Manhattan distance of each label's own distribution (it holds, or not).

    (1/K) Σ_c (|g_c − p_c| + |(1 − g_c) − (1 − p_c)|) for independent weights g and p of the K labels that gold of
    the test case names: LeWiDi-2025's score of VariErrNLI. No prediction is the opposite of gold for every label.
    Undefined without gold items.

    >>> # A: |.75 − .5|·2, B: |.5 − 1|·2; mean of .5 and 1
    >>> e = karat.evaluate([{"A": 0.75, "B": 0.5}], [{"A": 0.5, "B": 1.0}], metrics=["binary_manhattan"])
    >>> e["binary_manhattan"].value
    0.75
    """
    return _mean(W, cells, distances.binary(cells.aligned, cells.gold_labels))


@metric(
    SoftCells,
    symmetric=True,
    unit_mean=True,
    reference="Salton & McGill 1983, Introduction to Modern Information Retrieval",
)
def cosine(W: Weights, cells: SoftCells) -> Values:
    """Mean over items of the cosine between gold's and predicted weights.

    Σ_c gold_c·predicted_c / (|gold|·|predicted|); 0 without a prediction.
    Undefined when no gold item has a weight above 0.

    >>> # (.6·1) / (1·1) with gold (.6, .8)
    >>> karat.evaluate([{"A": 0.6, "B": 0.8}], [{"A": 1.0}], metrics=["cosine"])["cosine"].value
    0.6
    """
    return _weighted_mean(W, cells, np.minimum(cells.vector(distances.cosine), 1.0))


@metric(SoftCells, better="lower", bounds=(0, _INF), symmetric=True, unit_mean=True, reference=_LEWIDI25)
def wasserstein(W: Weights, cells: SoftCells) -> Values:
    """Mean over items of the work to move predicted weight onto gold's along the order of the labels.

    Σ_j |G_j − P_j| · s_j over the steps j along the order, s_j wide: G_j and P_j are the weights up to there, both
    sides scaled to sum to 1. Labels that are numbers stand at their value; ``order`` names other orders (steps of
    1). No prediction: all at the worse end.
    Undefined for labels without an order.

    >>> # all of 1 must go to 3
    >>> karat.evaluate([{"3": 1.0}], [{"1": 1.0, "2": 0.0}], metrics=["wasserstein"])["wasserstein"].value
    2.0
    """
    if cells.position is None:
        return defined(np.zeros(W.shape[0]), False, "the labels have no order: name it with order=")
    return _weighted_mean(W, cells, cells.vector(distances.wasserstein, tuple(cells.position), at_once=True))


@metric(SoftCells, unit_mean=True, symmetric=True, title="Soft F1", reference=_KURNIAWAN)
def soft_f1(W: Weights, cells: SoftCells, *, average: Literal["micro", "macro"] = "micro") -> Values:
    """F1 with weights in place of counts.

    2·Σ min(gold, predicted) / Σ (gold + predicted), over all labels (micro) or label by label, then averaged
    over the labels in use (macro). A missing prediction adds weight 1 to the denominator (of every label, for macro,
    and for micro too if weights are independent).
    Undefined when no weight is above 0.

    >>> # micro: 2·(.25 + .5) / 2
    >>> karat.evaluate([{"A": 0.5, "B": 0.5}], [{"A": 0.25, "B": 0.75}], metrics=["soft_f1"])["soft_f1"].value
    0.75
    """
    both, gold, pred = W @ cells.shared, W @ cells.gold_share, W @ cells.pred_share
    if average == "micro":
        return ratio(2 * both.sum(1), gold.sum(1) + pred.sum(1) + W @ cells.lost, "no weight is above 0")
    by_class = ratio(2 * both, gold + pred + W @ cells.lost_labels, "no weight is above 0")
    return Values(mean_defined(by_class.value), by_class.reason)


@metric(SoftCells, unit_mean=True, symmetric=True, reference=_KURNIAWAN)
def soft_accuracy(W: Weights, cells: SoftCells) -> Values:
    """Mean over items of the weight that both sides share, Σ_c min(gold_c, predicted_c), as a share of gold's.

    For distributions it is 1 − Manhattan / 2; 0 without a prediction.
    Undefined when no gold item has a weight above 0.

    >>> # min(.5, .25) + min(.5, .75)
    >>> e = karat.evaluate([{"A": 0.5, "B": 0.5}], [{"A": 0.25, "B": 0.75}], metrics=["soft_accuracy"])
    >>> e["soft_accuracy"].value
    0.75
    """
    return ratio(W @ cells.vector(distances.overlap), W @ cells.aligned.gold_mass, "no gold item has a weight above 0")


@metric(SoftCells, bounds=(-1, 1), symmetric=True, reference=_UMA)
def entropy_correlation(W: Weights, cells: SoftCells) -> Values:
    """Pearson's correlation, over items, of gold's and the prediction's entropy: is doubt where annotators doubt?

    r of H(gold_i) and H(predicted_i); a missing prediction has the entropy farthest from gold's.
    Undefined when the entropies of a side are all the same.

    >>> # entropies 0, 1 and 1, 0
    >>> sure, torn = {"A": 1.0, "B": 0.0}, {"A": 0.5, "B": 0.5}
    >>> karat.evaluate([sure, torn], [torn, sure], metrics=["entropy_correlation"])["entropy_correlation"].value
    -1.0
    """
    (gold, pred), n = distances.entropies(cells.aligned), W @ cells.ones
    # The sums of squares of raw entropies would lose digits to cancellation; systems that change places share a centre.
    centre = middle(gold, cells.n)
    gold, pred = gold - centre, pred - centre
    a, b = W @ gold, W @ pred
    spread = [n * (W @ gold**2) - a**2, n * (W @ pred**2) - b**2]
    flat = np.minimum(*spread) <= 1e-12 * n**2
    value = (n * (W @ (gold * pred)) - a * b) / np.where(flat, 1.0, np.sqrt(np.abs(spread[0] * spread[1])))
    return defined(np.clip(value, -1, 1), ~flat, "the entropies of one side are all the same")


@metric(SoftCells, symmetric=True, reference=_UMA)
def entropy_similarity(W: Weights, cells: SoftCells) -> Values:
    """Cosine, over items, of the vectors of gold's and the prediction's entropy.

    Σ_i H(gold_i)·H(predicted_i) / √(Σ_i H(gold_i)² · Σ_i H(predicted_i)²); a missing prediction has the largest
    entropy there can be, and meets none of gold's.
    Undefined when a side has no entropy at all.

    >>> # entropies (0, 1) and (1, 1): 1 / √2
    >>> sure, torn = {"A": 1.0, "B": 0.0}, {"A": 0.5, "B": 0.5}
    >>> e = karat.evaluate([sure, torn], [torn, torn], metrics=["entropy_similarity"])
    >>> round(e["entropy_similarity"].value, 4)
    0.7071
    """
    a = cells.aligned
    gold, pred = distances.entropies(a)
    norm = np.where(a.answered, pred, distances.largest_entropy(a))
    met = W @ (gold * pred * a.answered)
    return ratio(met, np.sqrt((W @ gold**2) * (W @ norm**2)), "no distribution of one side is in doubt")


@metric(
    SoftCells,
    better="lower",
    title="ECE",
    reference="Guo et al. 2017, On calibration of modern neural networks; humans: Baan et al. 2022",
)
def ece(W: Weights, cells: SoftCells, *, bins: int = 10, against: Literal["majority", "humans"] = "majority") -> Values:
    """Expected calibration error: how far confidence is from success, by bins of confidence.

    Σ_b n_b/n · |mean top share − mean success|; success is 1 where the top label is gold's majority, or
    (``humans``) gold's share of that label. Missing predictions are certain and wrong, in a bin of their own.
    Undefined without gold items.

    >>> # one item at .9, right: |.9 − 1|
    >>> round(karat.evaluate([{"A": 1.0}], [{"A": 0.9, "B": 0.1}], metrics=["ece"])["ece"].value, 4)
    0.1
    """
    if bins < 1:
        raise MetricError(f"bins={bins}: ece needs at least one bin")
    sure, right, people = confidence(cells.aligned)
    gap = sure - (right if against == "majority" else people)
    # Among the surest answers silence could make up for too little confidence.
    at = np.where(cells.aligned.answered, bin_of(sure, bins), bins)
    by_bin = Sparse.of(np.arange(len(cells)), at, gap, (len(cells), bins + 1))
    return ratio(np.abs(W @ by_bin).sum(1), W @ cells.in_gold, "no gold items")


@metric(SoftCells, unit_mean=True, symmetric=True, reference="share of agreement after majority vote or threshold")
def accuracy(W: Weights, cells: SoftCells) -> Values:
    """Share of gold items whose labels after hardening are gold's.

    ``harden`` (majority or threshold) turns weights into labels on both sides; an item without a
    prediction is not hit. Undefined without gold items.

    >>> # majority of gold A, of the prediction B
    >>> karat.evaluate([{"A": 0.7, "B": 0.3}], [{"A": 0.4, "B": 0.6}], metrics=["accuracy"])["accuracy"].value
    0.0
    """
    return _mean(W, cells, cells.exact)
