# SPDX-License-Identifier: Apache-2.0
"""Metrics of numbers: how far off they are, how much of the spread they explain, how alike they order the items."""

from __future__ import annotations

from typing import Any

import numpy as np

from karat.cells import Floats, Weights
from karat.contexts.curve import along
from karat.contexts.numbers.cells import NumberCells
from karat.contexts.numbers.order import kendall_rows, kendall_without, over_rows, spearman_rows, spearman_without
from karat.metric import MetricError, metric
from karat.score import Values, defined, ratio

INF = float("inf")
NONE = "no items"
WEIGHED = "items of different weight have no ranks"
FLAT = "one side has the same value for all items"


def _mean(W: Weights, cells: NumberCells, per_item: Floats) -> Values:
    return ratio(W @ per_item, W @ cells.ones, NONE)


@metric(
    NumberCells,
    better="lower",
    bounds=(0, INF),
    unit_mean=True,
    symmetric=True,
    title="Mean absolute error",
    reference="Willmott & Matsuura 2005, doi:10.3354/cr030079",
)
def mae(W: Weights, cells: NumberCells) -> Values:
    """Mean distance between predicted and gold value.

    Σ_i |p_i − g_i| / n. Undefined without items.

    >>> # |1 − 1.5| and |3 − 2|
    >>> karat.evaluate([1.5, 2.0], [1.0, 3.0], context="numbers", metrics=["mae"])["mae"].value
    0.75
    """
    return _mean(W, cells, cells.size)


@metric(
    NumberCells,
    better="lower",
    bounds=(0, INF),
    unit_mean=True,
    symmetric=True,
    title="Mean squared error",
    squares=True,
    reference="Gauss 1823, Theoria combinationis observationum",
)
def mse(W: Weights, cells: NumberCells) -> Values:
    """Mean squared distance between predicted and gold value.

    Σ_i (p_i − g_i)² / n. Undefined without items.

    >>> # .5² and 1²
    >>> karat.evaluate([1.5, 2.0], [1.0, 3.0], context="numbers", metrics=["mse"])["mse"].value
    0.625
    """
    return _mean(W, cells, cells.square)


@metric(
    NumberCells,
    better="lower",
    bounds=(0, INF),
    symmetric=True,
    title="Root mean squared error",
    squares=True,
    reference="square root of the mean squared error",
)
def rmse(W: Weights, cells: NumberCells) -> Values:
    """Square root of the mean squared error, in the unit of the values.

    √(Σ_i (p_i − g_i)² / n). Undefined without items.

    >>> # √((.5² + 1²) / 2)
    >>> round(karat.evaluate([1.5, 2.0], [1.0, 3.0], context="numbers", metrics=["rmse"])["rmse"].value, 4)
    0.7906
    """
    mean = _mean(W, cells, cells.square)
    return Values(np.sqrt(mean.value), mean.reason)


@metric(NumberCells, better="neither", bounds=(-INF, INF), unit_mean=True, reference="mean of predicted less gold")
def mean_error(W: Weights, cells: NumberCells) -> Values:
    """Mean of predicted less gold value: above 0 the system says too much, below 0 too little.

    Σ_i (p_i − g_i) / n. Undefined without items.

    >>> # −.5 and 1
    >>> karat.evaluate([1.5, 2.0], [1.0, 3.0], context="numbers", metrics=["mean_error"])["mean_error"].value
    0.25
    """
    return _mean(W, cells, cells.error)


@metric(NumberCells, better="lower", bounds=(0, INF), symmetric=True, reference="largest absolute error")
def max_error(W: Weights, cells: NumberCells) -> Values:
    """The largest distance between a predicted and its gold value.

    max_i |p_i − g_i|. Undefined without items.

    >>> # .5 and 1
    >>> karat.evaluate([1.5, 2.0], [1.0, 3.0], context="numbers", metrics=["max_error"])["max_error"].value
    1.0
    """
    largest = along(W, cells.errors, lambda at: np.where(at.dtp > 0, at.value, -np.inf), np.maximum)
    return defined(np.where(np.isfinite(largest), largest, 0.0), (W @ cells.ones > 0) & np.isfinite(largest), NONE)


@metric(
    NumberCells,
    better="lower",
    bounds=(0, INF),
    unit_mean=True,
    title="Quantile loss",
    reference="Koenker & Bassett 1978, doi:10.2307/1913643",
)
def quantile_loss(W: Weights, cells: NumberCells, *, q: float = 0.5) -> Values:
    """Mean cost of predictions that are meant to be exceeded by a share 1 − q of gold values (pinball loss).

    Σ_i (q · max(g_i − p_i, 0) + (1 − q) · max(p_i − g_i, 0)) / n; half the mean absolute error for q = ½.
    Undefined without items.

    >>> # too low by .5 costs .9 · .5, too high by 1 costs .1
    >>> e = karat.evaluate([1.5, 2.0], [1.0, 3.0], context="numbers", metrics=["quantile_loss(q=0.9)"])
    >>> round(e["quantile_loss"].value, 4)
    0.275
    """
    if not 0 < q < 1:
        raise MetricError(f"q={q}: a quantile lies between 0 and 1")
    return _mean(W, cells, np.where(cells.error < 0, q, 1 - q) * cells.size)


def _moments(W: Weights, cells: NumberCells) -> tuple[Floats, Floats, Floats, Any]:
    """Spreads of both sides and their common spread; and where each side has any."""
    x, y, xx, yy, xy = cells.products
    n = W @ cells.ones
    size = np.maximum(n, 1e-300)
    a, b = (W @ x) / size, (W @ y) / size
    spread, common = [(W @ xx) / size - a * a, (W @ yy) / size - b * b], (W @ xy) / size - a * b
    if (grouped := W.grouped) is not None:  # a second pass: a test case far from the mean of all would lose digits
        dx, dy = x - a[grouped.group], y - b[grouped.group]
        spread, common = [(W @ (dx * dx)) / size, (W @ (dy * dy)) / size], (W @ (dx * dy)) / size
    least = [1e-13 * float(np.abs(s).max(initial=0.0)) for s in (xx, yy)]
    some = [(s > e) & (n > 0) for s, e in zip(spread, least, strict=True)]
    return spread[0], spread[1], common, some


@metric(
    NumberCells,
    bounds=(-INF, 1),
    title="R²",
    squares=True,
    reference="Wright 1921, Correlation and causation; as scikit-learn's r2_score",
)
def r2(W: Weights, cells: NumberCells) -> Values:
    """Share of gold's spread that the predictions explain.

    1 − Σ_i (g_i − p_i)² / Σ_i (g_i − ḡ)²: 0 for who always says gold's mean, below 0 for who does worse.
    Undefined when all gold values are equal.

    >>> # 1 − (.25 + 1) / (2 · .25²)
    >>> karat.evaluate([1.5, 2.0], [1.0, 3.0], context="numbers", metrics=["r2"])["r2"].value
    -9.0
    """
    spread, _, _, some = _moments(W, cells)
    n = W @ cells.ones
    return defined(1 - (W @ cells.square) / np.where(some[0], n * spread, 1.0), some[0], "all gold values are equal")


@metric(
    NumberCells,
    bounds=(-1, 1),
    symmetric=True,
    title="Pearson's r",
    squares=True,
    reference="Pearson 1895, doi:10.1098/rspl.1895.0041",
)
def pearson(W: Weights, cells: NumberCells) -> Values:
    """How well a straight line joins predicted and gold values.

    r = cov(g, p) / (sd(g) · sd(p)): neither a shift nor a stretch of the predictions is seen.
    Undefined when one side has the same value for all items.

    >>> # gold 1 2 3 about 2, predicted 1 3 2 about 2: (1 + 0 + 0) / 2
    >>> e = karat.evaluate([1.0, 2.0, 3.0], [1.0, 3.0, 2.0], context="numbers", metrics=["pearson"])
    >>> round(e["pearson"].value, 4)
    0.5
    """
    gold_spread, pred_spread, common, some = _moments(W, cells)
    ok = some[0] & some[1]
    return defined(np.clip(common / np.sqrt(np.where(ok, gold_spread * pred_spread, 1.0)), -1, 1), ok, FLAT)


@metric(
    NumberCells,
    bounds=(-1, 1),
    symmetric=True,
    squares=True,
    title="Concordance",
    reference="Lin 1989, doi:10.2307/2532051",
)
def concordance(W: Weights, cells: NumberCells) -> Values:
    """How close the pairs of gold and predicted value lie to the line on which both are equal (Lin).

    2 · cov(g, p) / (var(g) + var(p) + (ḡ − p̄)²), all with 1/n: Pearson's r, less what a shift or a stretch costs.
    Undefined when both sides are one and the same value.

    >>> # variances 2/3, covariance 1/3, equal means: (2/3) / (4/3)
    >>> e = karat.evaluate([1.0, 2.0, 3.0], [1.0, 3.0, 2.0], context="numbers", metrics=["concordance"])
    >>> round(e["concordance"].value, 4)
    0.5
    """
    _, _, covariance, some = _moments(W, cells)
    n = W @ cells.ones
    # What the divisor has but for twice the covariance are the squared errors; they are the same about any centre.
    common, errors = np.where(some[0] & some[1], covariance, 0.0), (W @ cells.square) / np.maximum(n, 1e-300)
    whole = errors + 2 * common
    ok = (some[0] | some[1] | (errors > 0)) & (whole > 0) & (n > 0)
    return defined(2 * common / np.where(ok, whole, 1.0), ok, "both sides are one and the same value")


@metric(
    NumberCells, bounds=(-1, 1), symmetric=True, title="Spearman's ρ", reference="Spearman 1904, doi:10.2307/1412159"
)
def spearman(W: Weights, cells: NumberCells) -> Values:
    """Pearson's correlation of ranks: how alike both sides order the items.

    r of rank(g_i) and rank(p_i), equal values having the mean of their ranks.
    Undefined when one side has the same value for all items.

    >>> # ranks 1 2 3 and 1 3 2
    >>> e = karat.evaluate([1.5, 2.0, 7.0], [0.1, 0.9, 0.3], context="numbers", metrics=["spearman"])
    >>> round(e["spearman"].value, 4)
    0.5
    """
    if cells.weight is not None:
        return defined(np.zeros(W.shape[0]), False, WEIGHED)
    return Values(over_rows(W, cells.order, spearman_rows, spearman_without), FLAT)


@metric(
    NumberCells,
    bounds=(-1, 1),
    symmetric=True,
    title="Kendall's τ",
    reference="Kendall 1945, doi:10.1093/biomet/33.3.239",
)
def kendall(W: Weights, cells: NumberCells) -> Values:
    """Pairs of items that both sides order alike, less those that they order differently (τ_b).

    (C − D) / √((N − T_g)(N − T_p)): C, D pairs in the same and in the other order, N all pairs, T pairs tied on a side.
    Undefined when one side has the same value for all items.

    >>> # pairs 1–2 and 1–3 alike, 2–3 not: (2 − 1) / 3
    >>> e = karat.evaluate([1.5, 2.0, 7.0], [0.1, 0.9, 0.3], context="numbers", metrics=["kendall"])
    >>> round(e["kendall"].value, 4)
    0.3333
    """
    if cells.weight is not None:
        return defined(np.zeros(W.shape[0]), False, WEIGHED)
    return Values(over_rows(W, cells.order, kendall_rows, kendall_without), FLAT)
