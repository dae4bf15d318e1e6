# SPDX-License-Identifier: Apache-2.0
"""How much each unit moves a score: squares add up to its variance, products to the covariance of two systems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat.stats.resampling import Clusters
from karat.stats.system import Stratum
from karat.stats.units import Panel, sample
from karat.weights import Floats, Ints


def influence(parts: Sequence[Panel], column: int, clusters: Sequence[Ints | None] | None = None) -> Floats:
    """Influence of each unit (or cluster) on one system's overall score, test case after test case.

    For a mean it is (x − mean)/√(n(n − 1)); else the jackknife's. A unit that the system lacks has none.
    """
    share = sample(parts).share[:, column]
    inside = clusters or [None] * len(parts)
    return np.concatenate([w * _of_case(p, column, c) for p, w, c in zip(parts, share, inside, strict=True)])


def _of_case(panel: Panel, column: int, cluster: Ints | None) -> Floats:
    value = _scaled(panel.stratum, column)
    if cluster is None:
        return np.asarray(np.append(value, 0.0)[panel.seen[panel.cell]], float)
    every = np.unique(cluster)
    out = np.zeros(len(every))
    design = panel.stratum.design
    assert isinstance(design, Clusters)
    out[np.searchsorted(every, np.unique(design.cluster))] = value
    return out


def _scaled(stratum: Stratum, column: int) -> Floats:
    jack = stratum.jackknife
    return np.asarray(jack.centred[:, column] * np.sqrt((jack.size - 1) / jack.size), float)
