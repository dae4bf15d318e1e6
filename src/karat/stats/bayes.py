# SPDX-License-Identifier: Apache-2.0
"""Probabilities that A is worse, practically equal, or better: Bayesian signed-rank and correlated t."""

from __future__ import annotations

import numpy as np
from scipy import special

from karat.comparison import Posterior
from karat.weights import Floats, block_sizes


def signed_rank(d: Floats, rope: float, rng: np.random.Generator, draws: int = 50_000, prior: float = 0.5) -> Posterior:
    """Bayesian signed-rank test of differences A − B with a region of practical equivalence ± rope.

    Weights of the differences (and of a pseudo-difference 0) come from a Dirichlet law; a draw
    goes to the state that holds the largest share of the pairwise means of differences.
    """
    z = np.concatenate([[0.0], np.asarray(d, float)])
    order = np.argsort(z, kind="stable")
    alpha = np.concatenate([[prior], np.ones(len(d))])[order]
    parts = [_shares(rng.dirichlet(alpha, rows), z[order], rope) for rows in block_sizes(draws, 4 * len(z))]
    return Posterior(*_winners(np.concatenate(parts)))


def _shares(w: Floats, z: Floats, rope: float) -> Floats:
    """Share of weighted pairs below, inside and above the region, by prefix sums over sorted differences."""
    below = (_prefix(w, z, -2 * rope, "left") + _prefix(w, z, -2 * rope, "right")) / 2
    above = 1 - (_prefix(w, z, 2 * rope, "left") + _prefix(w, z, 2 * rope, "right")) / 2
    return np.stack([below, 1 - below - above, above], -1)


def _prefix(w: Floats, z: Floats, limit: float, side: str) -> Floats:
    """Σ over pairs with z_i + z_j below the limit (``right``: up to it) of w_i · w_j."""
    sums = np.concatenate([np.zeros((len(w), 1)), np.cumsum(w, 1)], 1)
    at = np.searchsorted(z, limit - z, side="left" if side == "left" else "right")
    return np.asarray((w * sums[:, at]).sum(1), float)


def _winners(shares: Floats) -> list[float]:
    best = shares >= shares.max(1, keepdims=True) - 1e-12
    return [float(p) for p in (best / best.sum(1, keepdims=True)).mean(0)]


def correlated_t(mean: float, sd: float, n: float, rope: float, rho: float = 0.0) -> Posterior:
    """Bayesian correlated t: ``rho`` is 1/folds for cross-validation, 0 for independent units."""
    se = sd * np.sqrt(1 / n + rho / (1 - rho))
    worse, up_to = (float(special.stdtr(n - 1, (edge - mean) / se)) for edge in (-rope, rope))
    return Posterior(worse, up_to - worse, 1 - up_to)
