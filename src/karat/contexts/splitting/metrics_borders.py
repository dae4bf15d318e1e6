# SPDX-License-Identifier: Apache-2.0
"""Border metrics: how far are predicted borders from gold ones? A near miss costs less than a miss."""

from __future__ import annotations

from typing import Literal

import numpy as np

from karat.cells import Weights
from karat.contexts.splitting.cells import SplittingCells
from karat.metric import Metric, metric
from karat.score import Floats, Values, ratio

Over = Literal["bundles", "windows"]
_SHORT = "every bundle is shorter than the window"


def _rate(W: Weights, wrong: Floats, count: Floats, over: str, reason: str) -> Values:
    """Mean of the rates of the bundles that have one, or the rate of all their windows together."""
    if over == "windows":
        return ratio(W @ wrong, W @ count, reason)
    some = count > 0
    rates = np.divide(wrong, count, out=np.zeros(len(count)), where=some)
    return ratio(W @ rates, W @ some.astype(float), reason)


def shares_of(cells: SplittingCells, asked: Metric) -> Floats | None:
    """What a bundle's rate is a share of, where the metric is the mean of rates: a bundle that has none is left out."""
    params = dict(asked.params)
    if params.get("over", "bundles") != "bundles":
        return None
    if asked.name in ("pk", "windowdiff"):
        return cells.windows(params.get("k"))[0]
    return cells.edit_total if asked.name == "boundary_similarity" else None


@metric(
    SplittingCells,
    better="lower",
    unit_mean=True,
    title="Pk",
    reference="Beeferman, Berger & Lafferty 1999, doi:10.1023/A:1007506220214",
)
def pk(W: Weights, cells: SplittingCells, *, k: int | None = None, over: Over = "bundles") -> Values:
    """Share of page pairs (i, i + k) that are in one file on one side and in two files on the other.

    Pk = Σ [same gold file ≠ same predicted file] / (N − k); k = max(2, N / (2 · gold files)), rounded half to even.
    Mean over bundles, or over=windows.
    Undefined for a bundle of k pages or fewer.

    >>> # N = 5, k = 2: pairs (1,3), (2,4) parted on both sides; (3,5) only in gold: 1/3
    >>> gold = [{"document_id": "a", "pages": 5, "first_pages": [1, 3, 5]}]
    >>> pred = [{"document_id": "a", "pages": 5, "first_pages": [1, 3]}]
    >>> round(karat.evaluate(gold, pred, metrics=["pk"])["pk"].value, 4)
    0.3333
    """
    count, parted, _ = cells.windows(k)
    return _rate(W, parted, count, over, _SHORT)


@metric(
    SplittingCells,
    better="lower",
    unit_mean=True,
    title="WindowDiff",
    reference="Pevzner & Hearst 2002, doi:10.1162/089120102317341756",
)
def windowdiff(W: Weights, cells: SplittingCells, *, k: int | None = None, over: Over = "bundles") -> Values:
    """Share of windows (i, i + k) with another number of borders in the prediction than in gold.

    WD = Σ [gold borders ≠ predicted borders] / (N − k) over windows, k as in Pk. Mean over bundles, or
    over=windows.
    Undefined for a bundle of k pages or fewer.

    >>> # N = 4, k = 2: window 1-3 holds 1 gold and 2 predicted borders, window 2-4 holds 1 and 1: 1/2
    >>> gold = [{"document_id": "a", "pages": 4, "first_pages": [1, 3]}]
    >>> pred = [{"document_id": "a", "pages": 4, "first_pages": [1, 2, 3]}]
    >>> karat.evaluate(gold, pred, metrics=["windowdiff"])["windowdiff"].value
    0.5
    """
    count, _, unequal = cells.windows(k)
    return _rate(W, unequal, count, over, _SHORT)


@metric(
    SplittingCells,
    symmetric=True,
    unit_mean=True,
    reference="Fournier 2013, Evaluating text segmentation using boundary edit distance, ACL",
)
def boundary_similarity(
    W: Weights, cells: SplittingCells, *, over: Literal["bundles", "borders"] = "bundles"
) -> Values:
    """One minus the cost of editing predicted into gold borders, per border that either side has.

    B = 1 − (A + T/2) / (A + T + M): A missed or extra borders, T near misses (one page off), M matches.
    Mean over bundles, or over=borders. Undefined for a bundle without borders on either side.

    >>> # border before page 3 matches; before page 5 in gold, before page 6 predicted: 1 − (1/2) / (1 + 1)
    >>> gold = [{"document_id": "a", "pages": 7, "first_pages": [1, 3, 5]}]
    >>> pred = [{"document_id": "a", "pages": 7, "first_pages": [1, 3, 6]}]
    >>> karat.evaluate(gold, pred, metrics=["boundary_similarity"])["boundary_similarity"].value
    0.75
    """
    over_all = "windows" if over == "borders" else over
    return _rate(W, cells.edit_total - cells.edit_weight, cells.edit_total, over_all, "no borders within a bundle")
