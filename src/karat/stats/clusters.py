# SPDX-License-Identifier: Apache-2.0
"""Units that belong together (of one document, user, conversation): which, and how many groups they make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from karat.cells import Cells
from karat.findings import Finding, finding
from karat.stats.random import hash_group
from karat.stats.resampling import Clusters
from karat.stats.units import over_test_cases, unit_keys
from karat.weights import Ints, Texts

FEW_CLUSTERS = 50
GROUPS = 256


@dataclass(frozen=True)
class ClusterKeys:
    """Units of gold (test case and id as one text, sorted), the cluster of each, and the column that says it."""

    unit: Texts
    cluster: Texts
    column: str = ""

    def of(self, units: Texts) -> tuple[Ints, int]:
        """The cluster of each unit as a number, and how many units gold puts in none: these stand alone."""
        names, alone = np.char.add("\x1e", units), np.ones(len(units), bool)
        if len(self.unit):
            at = np.minimum(np.searchsorted(self.unit, units), len(self.unit) - 1)
            alone = self.unit[at] != units
            names = np.where(alone, names, self.cluster[at])
        return np.unique(names, return_inverse=True)[1], int(alone.sum())


def hashed(cells: Cells) -> Ints:
    """Random groups of units, by a hash of their ids."""
    return hash_group(unit_keys(cells), GROUPS)


def designs(cells: Cells, cluster: Ints) -> dict[int, Clusters]:
    """The clusters of each test case; of all of them together, where they are the units."""
    if over_test_cases(cells):
        return {0: Clusters.of(cluster, np.arange(len(cluster)), len(cluster))}
    assert cells.unit is not None
    case, out = cells.test_case[cells.unit], {}
    for t in range(len(cells.test_cases)):
        inside = cells.test_case == t
        place = np.cumsum(inside) - 1
        out[t] = Clusters.of(cluster[case == t], place[cells.unit[case == t]], int(inside.sum()))
    return out


def cluster_findings(design: Mapping[int, Clusters], alone: int, units: int, column: str) -> list[Finding]:
    """How many clusters there are, whether that is few, and which units have none."""
    size = sum(c.size for c in design.values())
    found = [finding("clustered", count=size, units=units, column=column)]
    found += [finding("no-cluster", count=alone)] if alone else []
    return found + ([finding("few-clusters", count=size)] if size < FEW_CLUSTERS else [])
