# SPDX-License-Identifier: Apache-2.0
"""How much each unit moves a score: squares add up to its variance, products to the covariance of two systems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat.stats.pair import Part
from karat.stats.resampling import Clusters
from karat.stats.sample import Sample
from karat.weights import Floats


def influence(parts: Sequence[Part], column: int) -> Floats:
    """Influence of each unit (or cluster) on one system's overall score, test case after test case.

    For a mean it is (x − mean)/√(n(n − 1)); else the jackknife's.
    """
    share = Sample([p.stratum for p in parts]).share[:, column]
    return np.concatenate([w * _of_case(p, column) for p, w in zip(parts, share, strict=True)])


def _of_case(part: Part, column: int) -> Floats:
    jack = part.stratum.jackknife
    value = np.asarray(jack.centred[:, column] * np.sqrt((jack.size - 1) / jack.size), float)
    return value if isinstance(part.stratum.design, Clusters) else value[part.cell]
