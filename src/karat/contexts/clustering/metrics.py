# SPDX-License-Identifier: Apache-2.0
"""Clustering metrics: set matching, item pairs, information and B-cubed."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from karat.cells import Floats, Weights
from karat.contexts.clustering.cells import ClusteringCells, Links
from karat.contexts.clustering.chance import expected_information
from karat.contexts.clustering.table import Table, divide
from karat.metric import MetricError, metric
from karat.score import Values, defined, ratio

_ZHAO = "Zhao & Karypis 2001, Criterion functions for document clustering"
_LARSEN = "Larsen & Aone 1999, doi:10.1145/312129.312186"
_RAND = "Rand 1971, doi:10.1080/01621459.1971.10482356"
_HUBERT = "Hubert & Arabie 1985, doi:10.1007/BF01908075"
_FOWLKES = "Fowlkes & Mallows 1983, doi:10.1080/01621459.1983.10478008"
_STREHL = "Strehl & Ghosh 2002, Cluster ensembles, JMLR 3"
_VINH = "Vinh, Epps & Bailey 2010, JMLR 11"
_ROSENBERG = "Rosenberg & Hirschberg 2007, V-measure, EMNLP-CoNLL"
_AMIGO = "Amigó et al. 2009, doi:10.1007/s10791-008-9066-8"
_MEILA = "Meilă 2007, doi:10.1016/j.jmva.2006.11.013"

PARTITION = (
    "needs every item in exactly one cluster on both sides (missing=singletons or skip deals with items left out)"
)
Mean = Literal["arithmetic", "geometric", "min", "max"]


def _partition(W: Weights, cells: ClusteringCells) -> tuple[Table, Any]:
    """The tables, and where both sides are partitions of the same items."""
    table = cells.table(W)
    clean = (W @ cells.overlapping == 0) & (W @ cells.unclustered == 0) & (table.n > 0)
    return table, clean


@metric(ClusteringCells, reference=_ZHAO)
def purity(W: Weights, cells: ClusteringCells) -> Values:
    """Share of predicted memberships that fall in their cluster's main gold cluster.

    Σ_x max_g |x ∩ g| / Σ_x |x|, predicted clusters x restricted to gold items.
    Undefined when no gold item is clustered.

    >>> # x = {A, A, B}, y = {B}: (2 + 1) / 4
    >>> karat.evaluate(list("AABB"), list("xxxy"), context="clustering")["purity"].value
    0.75
    """
    table = cells.table(W)
    return ratio(table.largest_by_pred(), table.pred_n, "no gold item is clustered")


@metric(ClusteringCells, reference=_ZHAO)
def inverse_purity(W: Weights, cells: ClusteringCells) -> Values:
    """Share of gold memberships that their gold cluster's main predicted cluster holds.

    Σ_g max_x |x ∩ g| / Σ_g |g|; an item left out of the prediction is held by none.
    Undefined without gold items.

    >>> # A = {x, x}, B = {x, y}: (2 + 1) / 4
    >>> karat.evaluate(list("AABB"), list("xxxy"), context="clustering")["inverse_purity"].value
    0.75
    """
    table = cells.table(W)
    return ratio(table.largest_by_gold(), table.n, "no gold items")


@metric(ClusteringCells, title="F of purities", reference=_ZHAO)
def purity_f(W: Weights, cells: ClusteringCells, *, alpha: float = 0.5) -> Values:
    """Weighted harmonic mean of purity and inverse purity.

    1 / (α/purity + (1 − α)/inverse purity); 0 when either is 0.
    Undefined without gold items.

    >>> # purity 3/4, inverse purity 3/4
    >>> karat.evaluate(list("AABB"), list("xxxy"), context="clustering", metrics=["purity_f"])["purity_f"].value
    0.75
    """
    _share_of_one("purity_f", alpha)
    table = cells.table(W)
    pure, inverse = divide(table.largest_by_pred(), table.pred_n), divide(table.largest_by_gold(), table.n)
    return defined(_harmonic(pure, inverse, alpha), table.n > 0, "no gold items")


def _share_of_one(name: str, alpha: float) -> None:
    if not 0 <= alpha <= 1:
        raise MetricError(f"alpha={alpha}: {name} needs a number from 0 to 1")


def _harmonic(a: Floats, b: Floats, alpha: float = 0.5) -> Floats:
    return divide(a * b, alpha * b + (1 - alpha) * a)


@metric(ClusteringCells, title="F (Larsen)", reference=_LARSEN)
def larsen_f(W: Weights, cells: ClusteringCells) -> Values:
    """Mean over gold clusters, by size, of the best F1 that a predicted cluster reaches.

    Σ_g |g|/n · max_x 2|x ∩ g| / (|x| + |g|).
    Undefined without gold items.

    >>> # A with x: 4/5; B with y: 2/3 (with x: 2/5); (2·4/5 + 2·2/3) / 4
    >>> e = karat.evaluate(list("AABB"), list("xxxy"), context="clustering", metrics=["larsen_f"])
    >>> round(e["larsen_f"].value, 4)
    0.7333
    """
    table = cells.table(W)
    return ratio(table.best_f1(), table.n, "no gold items")


def _pair_counts(W: Weights, cells: ClusteringCells) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    table, clean = _partition(W, cells)
    return *table.pairs, clean.astype(float)


@metric(ClusteringCells, symmetric=True, title="Rand", reference=_RAND)
def rand(W: Weights, cells: ClusteringCells) -> Values:
    """Share of item pairs that both sides treat alike (together in both, or apart in both).

    (SS + DD) / all pairs, counted from squared cell sizes.
    Undefined with fewer than two items, or when a side is not a partition.

    >>> # 6 pairs; together in both 1 (A's), gold 2, predicted 3: apart in both 6 − 2 − 3 + 1 = 2
    >>> karat.evaluate(list("AABB"), list("xxxy"), context="clustering", metrics=["rand"])["rand"].value
    0.5
    """
    both, gold, pred, every, clean = _pair_counts(W, cells)
    return ratio((every + 2 * both - gold - pred) * clean, every * clean, f"fewer than two items, or {PARTITION}")


@metric(ClusteringCells, bounds=(-0.5, 1), symmetric=True, title="Adjusted Rand", reference=_HUBERT)
def adjusted_rand(W: Weights, cells: ClusteringCells) -> Values:
    """Rand corrected for chance: 0 on average for random clusters of the same sizes.

    (SS − E) / (M − E), M the mean of gold and predicted pairs, E = gold pairs · predicted pairs / all pairs; 1 when
    both sides are the same partition.
    Undefined with fewer than two items, or off a partition.

    >>> # SS 1, gold 2, predicted 3, all 6: E = 1, (1 − 1) / (2.5 − 1)
    >>> e = karat.evaluate(list("AABB"), list("xxxy"), context="clustering", metrics=["adjusted_rand"])
    >>> e["adjusted_rand"].value
    0.0
    """
    both, gold, pred, every, clean = _pair_counts(W, cells)
    chance = divide(gold * pred, every)
    same = (both == gold) & (both == pred)
    value = np.where(same, 1.0, divide(both - chance, (gold + pred) / 2 - chance))
    return defined(value, (clean > 0) & (every > 0), f"fewer than two items, or {PARTITION}")


@metric(ClusteringCells, symmetric=True, reference=_HUBERT)
def jaccard(W: Weights, cells: ClusteringCells) -> Values:
    """Pairs together in both sides, of the pairs together in either.

    SS / (gold pairs + predicted pairs − SS).
    Undefined when no two items are together, or when a side is not a partition.

    >>> # SS 1, gold 2, predicted 3: 1 / 4
    >>> karat.evaluate(list("AABB"), list("xxxy"), context="clustering", metrics=["jaccard"])["jaccard"].value
    0.25
    """
    both, gold, pred, _, clean = _pair_counts(W, cells)
    return ratio(both * clean, (gold + pred - both) * clean, f"no two items are together, or {PARTITION}")


@metric(ClusteringCells, symmetric=True, title="Fowlkes–Mallows", reference=_FOWLKES)
def fowlkes_mallows(W: Weights, cells: ClusteringCells) -> Values:
    """Geometric mean of pair precision and pair recall.

    SS / √(gold pairs · predicted pairs).
    Undefined when a side has no two items together, or is not a partition.

    >>> # SS 1, gold 2, predicted 3: 1 / √6
    >>> e = karat.evaluate(list("AABB"), list("xxxy"), context="clustering", metrics=["fowlkes_mallows"])
    >>> round(e["fowlkes_mallows"].value, 4)
    0.4082
    """
    both, gold, pred, _, clean = _pair_counts(W, cells)
    return ratio(both * clean, np.sqrt(gold * pred) * clean, f"a side has no two items together, or {PARTITION}")


def _mean(a: Floats, b: Floats, how: Mean) -> Floats:
    means = {"arithmetic": (a + b) / 2, "geometric": np.sqrt(a * b), "min": np.minimum(a, b), "max": np.maximum(a, b)}
    return means[how]


def _trivial(table: Table) -> Any:
    """Where both sides put everything in one cluster: they agree, though nothing is told apart."""
    gold, pred = table.clusters()
    return (gold <= 1) & (pred <= 1)


@metric(ClusteringCells, symmetric=True, title="NMI", reference=_STREHL)
def nmi(W: Weights, cells: ClusteringCells, *, mean: Mean = "arithmetic") -> Values:
    """Mutual information of the two sides over a mean of their entropies.

    I(G; X) / mean(H(G), H(X)); 1 when both are a single cluster, 0 when only one is.
    Undefined when a side is not a partition.

    >>> # H(G) = 1, H(X) = 0.8113, H(G, X) = 1.5: (1 + 0.8113 − 1.5) / 0.9056
    >>> e = karat.evaluate(list("AABB"), list("xxxy"), context="clustering", metrics=["nmi"])
    >>> round(e["nmi"].value, 4)
    0.3437
    """
    table, clean = _partition(W, cells)
    gold, pred, _ = table.entropies
    value = np.where(_trivial(table), 1.0, divide(table.mutual_information, _mean(gold, pred, mean)))
    return defined(np.minimum(value, 1.0), clean, PARTITION)


@metric(ClusteringCells, bounds=(-1, 1), symmetric=True, title="AMI", reference=_VINH)
def ami(W: Weights, cells: ClusteringCells, *, mean: Mean = "arithmetic") -> Values:
    """Mutual information corrected for chance: 0 on average for random clusters of the same sizes.

    (I − E[I]) / (mean(H(G), H(X)) − E[I]), E over tables with the same cluster sizes.
    1 when both sides are a single cluster; undefined when a side is not a partition.

    >>> # two items, each side one cluster of each: I = E[I] = 1 bit, and the sides are equal
    >>> karat.evaluate(list("AB"), list("xy"), context="clustering", metrics=["ami"])["ami"].value
    1.0
    """
    table, clean = _partition(W, cells)
    gold, pred, _ = table.entropies
    same, rigid = _rigid(table)
    expected = expected_information(table.gold, table.pred)
    value = divide(table.mutual_information - expected, _mean(gold, pred, mean) - expected)
    return defined(np.where(same, 1.0, np.where(rigid, 0.0, value)), clean, PARTITION)


def _rigid(table: Table) -> tuple[Any, Any]:
    """Where both sides are one cluster (or both all singletons), and where one side is: chance then tells all."""
    gold, pred = table.clusters()
    whole, single = (gold <= 1, pred <= 1), (gold == table.n, pred == table.n)
    return (whole[0] & whole[1]) | (single[0] & single[1]), whole[0] | whole[1] | single[0] | single[1]


@metric(ClusteringCells, reference=_ROSENBERG)
def homogeneity(W: Weights, cells: ClusteringCells) -> Values:
    """How far each predicted cluster holds one gold cluster only.

    1 − H(G | X) / H(G); 1 when gold is a single cluster.
    Undefined when a side is not a partition.

    >>> # H(G) = 1, H(G | X) = 1.5 − 0.8113
    >>> e = karat.evaluate(list("AABB"), list("xxxy"), context="clustering", metrics=["homogeneity"])
    >>> round(e["homogeneity"].value, 4)
    0.3113
    """
    table, clean = _partition(W, cells)
    return defined(_explained(table.mutual_information, table.entropies[0]), clean, PARTITION)


@metric(ClusteringCells, reference=_ROSENBERG)
def completeness(W: Weights, cells: ClusteringCells) -> Values:
    """How far each gold cluster is held by one predicted cluster only.

    1 − H(X | G) / H(X); 1 when the prediction is a single cluster.
    Undefined when a side is not a partition.

    >>> # H(X) = 0.8113, H(X | G) = 1.5 − 1
    >>> e = karat.evaluate(list("AABB"), list("xxxy"), context="clustering", metrics=["completeness"])
    >>> round(e["completeness"].value, 4)
    0.3837
    """
    table, clean = _partition(W, cells)
    return defined(_explained(table.mutual_information, table.entropies[1]), clean, PARTITION)


def _explained(information: Floats, entropy: Floats) -> Floats:
    return np.where(entropy > 0, np.minimum(divide(information, entropy), 1.0), 1.0)


@metric(ClusteringCells, title="V-measure", reference=_ROSENBERG)
def v_measure(W: Weights, cells: ClusteringCells, *, beta: float = 1.0) -> Values:
    """Weighted harmonic mean of homogeneity and completeness.

    (1 + β)·h·c / (β·h + c); with β = 1 it is NMI with the arithmetic mean.
    Undefined when a side is not a partition.

    >>> # h = 0.3113, c = 0.3837
    >>> e = karat.evaluate(list("AABB"), list("xxxy"), context="clustering", metrics=["v_measure"])
    >>> round(e["v_measure"].value, 4)
    0.3437
    """
    if not beta >= 0:
        raise MetricError(f"beta={beta}: v_measure needs a number of at least 0")
    table, clean = _partition(W, cells)
    h, c = (_explained(table.mutual_information, x) for x in table.entropies[:2])
    return defined(divide((1 + beta) * h * c, beta * h + c), clean, PARTITION)


@metric(ClusteringCells, better="lower", bounds=(0, float("inf")), reference=_ZHAO)
def entropy(W: Weights, cells: ClusteringCells) -> Values:
    """How mixed the predicted clusters are: bits still needed to know an item's gold cluster.

    H(G | X) = Σ_x |x|/n · H(gold clusters within x).
    Undefined when a side is not a partition.

    >>> # x = {A, A, B}: 0.9183 bits, y = {B}: 0; 3/4 · 0.9183
    >>> round(karat.evaluate(list("AABB"), list("xxxy"), context="clustering", metrics=["entropy"])["entropy"].value, 4)
    0.6887
    """
    table, clean = _partition(W, cells)
    _, pred, joint = table.entropies
    return defined(np.maximum(joint - pred, 0.0), clean, PARTITION)


@metric(ClusteringCells, better="lower", bounds=(0, float("inf")), reference=_ZHAO)
def class_entropy(W: Weights, cells: ClusteringCells) -> Values:
    """How scattered the gold clusters are: bits still needed to know an item's predicted cluster.

    H(X | G) = Σ_g |g|/n · H(predicted clusters within g).
    Undefined when a side is not a partition.

    >>> # A = {x, x}: 0 bits, B = {x, y}: 1; 2/4 · 1
    >>> e = karat.evaluate(list("AABB"), list("xxxy"), context="clustering", metrics=["class_entropy"])
    >>> e["class_entropy"].value
    0.5
    """
    table, clean = _partition(W, cells)
    gold, _, joint = table.entropies
    return defined(np.maximum(joint - gold, 0.0), clean, PARTITION)


@metric(ClusteringCells, better="lower", bounds=(0, float("inf")), symmetric=True, reference=_MEILA)
def variation_of_information(W: Weights, cells: ClusteringCells) -> Values:
    """Bits per item that either side tells and the other does not.

    H(G | X) + H(X | G) = 2·H(G, X) − H(G) − H(X).
    Undefined when a side is not a partition.

    >>> # 0.6887 + 0.5
    >>> e = karat.evaluate(list("AABB"), list("xxxy"), context="clustering", metrics=["variation_of_information"])
    >>> round(e["variation_of_information"].value, 4)
    1.1887
    """
    table, clean = _partition(W, cells)
    gold, pred, joint = table.entropies
    return defined(np.maximum(2 * joint - gold - pred, 0.0), clean, PARTITION)


Variant = Literal["amigo", "pyevall"]


@metric(ClusteringCells, title="B-cubed precision", reference=_AMIGO)
def bcubed_precision(W: Weights, cells: ClusteringCells, *, variant: Variant = "amigo") -> Values:
    """Mean over clustered items of the share of their cluster mates that belong with them.

    Each mate counts as min(p, g) / p: p predicted and g gold clusters hold it together with the item; the item
    itself is among its mates. ``pyevall`` averages over memberships instead of items.
    Undefined when no gold item is clustered.

    >>> # x: A 2/3, A 2/3, B 1/3; y: 1
    >>> e = karat.evaluate(list("AABB"), list("xxxy"), context="clustering", metrics=["bcubed_precision"])
    >>> round(e["bcubed_precision"].value, 4)
    0.6667
    """
    num, den = _bcubed(W, cells, cells.precision_side, variant)
    return ratio(num, den, "no gold item is clustered")


@metric(ClusteringCells, title="B-cubed recall", reference=_AMIGO)
def bcubed_recall(W: Weights, cells: ClusteringCells, *, variant: Variant = "amigo") -> Values:
    """Mean over gold items of the share of their gold mates that the prediction puts with them.

    As bcubed_precision with the sides changed; an item left out of the prediction counts 0.
    Undefined without gold items.

    >>> # A: 1, 1; B (one in x, one in y): 1/2, 1/2
    >>> e = karat.evaluate(list("AABB"), list("xxxy"), context="clustering", metrics=["bcubed_recall"])
    >>> e["bcubed_recall"].value
    0.75
    """
    num, den = _bcubed(W, cells, cells.recall_side, variant)
    return ratio(num, den, "no gold items")


@metric(ClusteringCells, title="B-cubed F1", reference=_AMIGO)
def bcubed_f1(W: Weights, cells: ClusteringCells, *, variant: Variant = "amigo", alpha: float = 0.5) -> Values:
    """Weighted harmonic mean of B-cubed precision and recall.

    1 / (α/P + (1 − α)/R); 0 when either is 0 or nothing is clustered.
    Undefined without gold items.

    >>> # P = 2/3, R = 3/4: 2·(2/3)·(3/4) / (2/3 + 3/4)
    >>> e = karat.evaluate(list("AABB"), list("xxxy"), context="clustering", metrics=["bcubed_f1"])
    >>> round(e["bcubed_f1"].value, 4)
    0.7059
    """
    _share_of_one("bcubed_f1", alpha)
    precision = divide(*_bcubed(W, cells, cells.precision_side, variant))
    num, den = _bcubed(W, cells, cells.recall_side, variant)
    return defined(_harmonic(precision, divide(num, den), alpha), den > 0, "no gold items")


def _bcubed(W: Weights, cells: ClusteringCells, side: Links, variant: Variant) -> tuple[Floats, Floats]:
    """Sum of the items' (or memberships') shares, and how many there are."""
    if not cells.overlapping.any():
        table = cells.table(W)
        sizes = table.pred[:, table.pred_at] if side is cells.precision_side else table.gold[:, table.gold_at]
        return divide(table.joint**2, sizes).sum(1), W @ side.memberships
    weight = W @ side.identity
    if variant == "pyevall":
        return side.by_membership(weight), W @ side.memberships
    mates = divide(W @ side.weight, W @ side.linked)
    return (weight * mates).sum(1), W @ (side.memberships > 0).astype(float)
