# SPDX-License-Identifier: Apache-2.0
"""Corrections of p-values for the size of their family; undefined ones (NaN) take no part."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from karat.weights import Floats


def holm(p: Floats) -> Floats:
    """Holm's step-down: family-wise error, never weaker than Bonferroni.

    >>> holm(np.array([0.01, 0.04, 0.03, 0.005, 0.2])).round(3).tolist()
    [0.04, 0.09, 0.09, 0.025, 0.2]
    """
    factor = np.arange(len(p), 0, -1)
    return _in_order(p, lambda ordered: np.maximum.accumulate(np.minimum(1, factor * ordered)))


def bonferroni(p: Floats) -> Floats:
    """Every p times the size of the family."""
    return np.minimum(1, p * len(p))


def benjamini_hochberg(p: Floats) -> Floats:
    """Step-up control of the false discovery rate: for exploration, not for a claim."""
    factor = len(p) / np.arange(1, len(p) + 1)
    return _in_order(p, lambda ordered: np.minimum.accumulate(np.minimum(1, factor * ordered)[::-1])[::-1])


def hochberg(p: Floats) -> Floats:
    """Hochberg's step-up: Holm's factors from the largest p down; family-wise if the tests are not negatively dependent.

    >>> hochberg(np.array([0.01, 0.04, 0.03, 0.005, 0.2])).round(3).tolist()
    [0.04, 0.08, 0.08, 0.025, 0.2]
    """
    factor = np.arange(len(p), 0, -1)
    return _in_order(p, lambda ordered: np.minimum.accumulate(np.minimum(1, factor * ordered)[::-1])[::-1])


def benjamini_yekutieli(p: Floats) -> Floats:
    """False discovery rate under any dependence: Benjamini and Hochberg's p times 1 + 1/2 + … + 1/m."""
    return np.minimum(1, benjamini_hochberg(p) * (1 / np.arange(1, len(p) + 1)).sum()) if len(p) else p.copy()


def uncorrected(p: Floats) -> Floats:
    """The p-values as they are."""
    return p.copy()


def _in_order(p: Floats, adjust: Callable[[Floats], Floats]) -> Floats:
    order = np.argsort(p, kind="stable")
    out = np.empty_like(p)
    out[order] = adjust(p[order])
    return out


CORRECTIONS: dict[str, Callable[[Floats], Floats]] = {
    "holm": holm, "hochberg": hochberg, "bonferroni": bonferroni, "bh": benjamini_hochberg,
    "by": benjamini_yekutieli, "none": uncorrected,
}  # fmt: skip


def family_size(p: Floats) -> int:
    """Number of p-values that exist."""
    return int((~np.isnan(np.asarray(p, float))).sum())


def correct(p: Floats, method: str = "holm") -> Floats:
    """Corrected p-values; NaN stays NaN and does not enlarge the family."""
    p = np.asarray(p, float)
    known = ~np.isnan(p)
    out = np.full_like(p, np.nan)
    out[known] = CORRECTIONS[method](p[known])
    return out
