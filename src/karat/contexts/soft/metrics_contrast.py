# SPDX-License-Identifier: Apache-2.0
"""Information contrast of weighted labels, over a label tree."""

from __future__ import annotations

from typing import Literal

import numpy as np

from karat.cells import Floats, Weights
from karat.contexts.soft.cells import SoftCells
from karat.metric import metric
from karat.score import Values, ratio

_AMIGO = "Amigó & Delgado 2022, doi:10.18653/v1/2022.acl-long.399; soft: Plaza et al. 2023, EXIST 2023"
Variant = Literal["paper", "pyevall"]


def _contrast(
    W: Weights, cells: SoftCells, variant: Variant, alpha_1: float, alpha_2: float, beta: float
) -> tuple[Floats, Floats, Floats]:
    """Summed contrast of the prediction with gold, of gold with itself, and the number of items."""
    gold, pred, union = cells.information(variant)
    of_gold = (alpha_1 + alpha_2 - beta) * gold
    return W @ (alpha_1 * pred + alpha_2 * gold - beta * union), W @ of_gold, W @ cells.in_gold


@metric(SoftCells, bounds=(-np.inf, np.inf), unit_mean=True, title="ICM-Soft", reference=_AMIGO)
def icm_soft(
    W: Weights, cells: SoftCells, *, variant: Variant = "paper",
    alpha_1: float = 2.0, alpha_2: float = 2.0, beta: float = 3.0,
) -> Values:  # fmt: skip
    """Information contrast of weighted labels: mean of α1·I(P) + α2·I(G) − β·I(P ∪ G), union = larger weight.

    I(S) = Σ_c (I(c, v_c) − I(parent of c, v_c)), v_c the largest weight at or below c;
    I(c, v) = −log2 P(weight of c ≥ v), normal with gold's mean and standard deviation. ``pyevall``: mean absolute deviation, log2 n on underflow.
    Undefined without gold items.

    >>> # A and B: mean .5, deviation .5; z = 1: I = −log2 .1587 = 2.656, z = −1 only for weight 0: I = 0
    >>> gold = [{"A": 1.0, "B": 0.0}, {"A": 0.0, "B": 1.0}]
    >>> round(karat.evaluate(gold, gold, metrics=["icm_soft"])["icm_soft"].value, 3)
    2.656
    """
    contrast, _, n = _contrast(W, cells, variant, alpha_1, alpha_2, beta)
    return ratio(contrast, n, "no gold items")


@metric(SoftCells, title="ICM-Soft-Norm", reference=_AMIGO)
def icm_soft_norm(
    W: Weights, cells: SoftCells, *, variant: Variant = "paper",
    alpha_1: float = 2.0, alpha_2: float = 2.0, beta: float = 3.0,
) -> Values:  # fmt: skip
    """ICM-Soft scaled so that gold itself scores 1: (ICM-Soft + G) / 2G, G = ICM-Soft(gold, gold), not below 0.

    Undefined where gold holds no information (every item has the same weights).

    >>> gold = [{"A": 1.0, "B": 0.0}, {"A": 0.0, "B": 1.0}]
    >>> # the wrong way round each item scores −2·2.656, G = 2.656: (−5.312 + 2.656) / 5.312 < 0
    >>> karat.evaluate(gold, gold[::-1], metrics=["icm_soft_norm"])["icm_soft_norm"].value
    0.0
    """
    contrast, of_gold, _ = _contrast(W, cells, variant, alpha_1, alpha_2, beta)
    of_gold = np.where(np.abs(of_gold) > 1e-12, of_gold, 0.0)
    norm = ratio(contrast + of_gold, 2 * of_gold, "gold holds no information: every item has the same weights")
    return Values(np.clip(norm.value, 0, None), norm.reason)
