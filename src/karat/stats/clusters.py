# SPDX-License-Identifier: Apache-2.0
"""Units that belong together (of one document, user, conversation): which, and how many groups they make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from karat.cells import Cells
from karat.findings import Finding, finding
from karat.stats.random import hash_group
from karat.stats.resampling import Clusters, Strata
from karat.stats.units import over_test_cases, unit_keys
from karat.weights import Floats, Ints, Places, Texts

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


@dataclass(frozen=True)
class UnitGroups:
    """Units that an engine has merged by random group and contents: the group of each such unit, and how many it is."""

    group: Ints
    n: Ints

    def design(self, cells: Cells) -> dict[int, Clusters]:
        """The groups of each test case; ids of merged units are their numbers."""
        at = np.array([int(id) for id in cells.unit_ids or ()], np.int64)
        return designs(cells, self.group[at], self.n[at].astype(float))


def hashed(cells: Cells) -> Ints:
    """Random groups of units, by a hash of their ids."""
    return hash_group(unit_keys(cells), GROUPS)


def designs(cells: Cells, cluster: Ints, count: Floats | None = None) -> dict[int, Clusters]:
    """The clusters of each test case; of all of them together, where they are the units."""
    if over_test_cases(cells):
        return {0: Clusters.of(cluster, np.arange(len(cluster)), len(cluster))}
    return {
        t: Clusters.of(cluster[units], place, width, None if count is None else count[units])
        for t, (units, place, width) in enumerate(_units_of_cases(cells))
    }


def _units_of_cases(cells: Cells) -> Iterator[tuple[Ints, Ints, int]]:
    """The units of each test case, the place of each one's cell among those of the test case, and how many these are."""
    assert cells.unit is not None
    cases = len(cells.test_cases)
    inside, units = Places.of(cells.test_case, cases), Places.of(cells.test_case[cells.unit], cases)
    place = np.empty(len(cells), np.int64)
    place[inside.order] = np.arange(len(cells)) - inside.start[inside.case]
    for t in range(cases):
        yield units.cells(t), place[cells.unit[units.cells(t)]], len(inside.cells(t))


def stratified(cells: Cells, keys: ClusterKeys) -> tuple[dict[int, Strata], list[Finding]]:
    """The strata of each test case, units that gold puts in none together; and what must be said of them."""
    unit = unit_keys(cells)
    at = np.minimum(np.searchsorted(keys.unit, unit), max(len(keys.unit) - 1, 0))
    names = np.where(keys.unit[at] == unit, keys.cluster[at], "") if len(keys.unit) else np.full(len(unit), "")
    code = np.unique(names, return_inverse=True)[1]
    out = {}
    if over_test_cases(cells):
        out[0] = Strata.of(code, np.arange(len(code)), len(code))
    else:
        for t, (units, place, width) in enumerate(_units_of_cases(cells)):
            out[t] = Strata.of(code[units], place, width)
    single = sum(int((s.sizes == 1).sum()) for s in out.values())
    findings = [finding("stratified", count=int(code.max(initial=-1)) + 1, column=keys.column)]
    return out, findings + ([finding("single-strata", count=single)] if single else [])


def cluster_findings(design: Mapping[int, Clusters], alone: int, units: int, column: str) -> list[Finding]:
    """How many clusters there are, whether that is few, and which units have none."""
    size = sum(c.size for c in design.values())
    findings = [finding("clustered", count=size, units=units, column=column)]
    findings += [finding("no-cluster", count=alone)] if alone else []
    return findings + ([finding("few-clusters", count=size)] if size < FEW_CLUSTERS else [])
