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
    moved = Sample([p.stratum for p in parts]).influences(slice(column, column + 1))
    return np.concatenate([_by_unit(p, of_case[:, 0]) for p, of_case in zip(parts, moved, strict=True)])


def _by_unit(part: Part, value: Floats) -> Floats:
    return value if isinstance(part.stratum.design, Clusters) else value[part.cell]
