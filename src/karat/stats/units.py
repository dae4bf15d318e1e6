# SPDX-License-Identifier: Apache-2.0
"""Systems side by side: the same units by id, each with the cell that it falls into for every system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from karat.cells import Cells
from karat.stats.estimate import over_test_cases, stratum_of, unit_keys
from karat.stats.resampling import Clusters, Design, Units
from karat.stats.statistic import Statistic, Tape, recorded
from karat.stats.system import Sample, Stratum
from karat.weights import Floats, Ints, Texts


@dataclass(frozen=True)
class Entrant:
    """A system that takes part."""

    name: str
    cells: Cells

    @cached_property
    def over_cases(self) -> bool:
        """Whether its units are its test cases (queries)."""
        return over_test_cases(self.cells)

    @cached_property
    def keys(self) -> Texts:
        return np.array(self.cells.test_cases, str) if self.over_cases else unit_keys(self.cells)

    @cached_property
    def cell(self) -> Ints:
        """Cell of each unit (test case of each, where these are the units)."""
        if self.over_cases:
            return np.arange(len(self.cells.test_cases))
        assert self.cells.unit is not None
        return self.cells.unit

    @cached_property
    def case(self) -> Ints:
        return np.zeros(len(self.keys), np.int64) if self.over_cases else self.cells.test_case[self.cell]

    @property
    def cases(self) -> list[str]:
        return [""] if self.over_cases else self.cells.test_cases


@dataclass(frozen=True)
class Joint:
    """All systems over the same units."""

    entrants: list[Entrant]
    keys: Texts
    """The units, sorted, so that the order of files does not matter."""
    place: Ints
    """Systems × units: which of its units this is to a system, −1 for none."""
    cases: list[str]
    case: Ints
    """Test case of each unit."""

    @property
    def absent(self) -> Ints:
        """How many units each system lacks."""
        return (self.place < 0).sum(1)

    def common(self) -> Joint:
        """Only the units that every system has."""
        keep = (self.place >= 0).all(0)
        return Joint(self.entrants, self.keys[keep], self.place[:, keep], self.cases, self.case[keep])

    @property
    def over_cases(self) -> bool:
        return self.entrants[0].over_cases


def align(entrants: Sequence[Entrant]) -> Joint:
    """Pair units by test case and id, never by position."""
    keys = _union([e.keys for e in entrants])
    place = np.full((len(entrants), len(keys)), -1, np.int64)
    cases = sorted({c for e in entrants for c in e.cases})
    case = np.zeros(len(keys), np.int64)
    for i, e in enumerate(entrants):
        at = np.arange(len(keys)) if np.array_equal(e.keys, keys) else np.searchsorted(keys, e.keys)
        place[i, at] = np.arange(len(e.keys))
        case[at] = np.searchsorted(np.array(cases, str), np.array(e.cases, str))[e.case]
    return Joint(list(entrants), keys, place, cases, case)


def _union(keys: Sequence[Texts]) -> Texts:
    first = keys[0]
    if all(np.array_equal(first, k) for k in keys[1:]) and bool((first[1:] > first[:-1]).all()):
        return first
    return np.unique(np.concatenate(keys))


@dataclass(frozen=True)
class Panel:
    """One system on one test case, its cells numbered from 0, with the cell of every unit."""

    stratum: Stratum
    cell: Ints
    """Cell of each unit of the test case, −1 where the system lacks it."""
    labels: Sequence[str] = ()
    widths: Sequence[int] = ()
    """Widths of vectors by label (or by metric, where test cases are the units)."""

    @cached_property
    def tape(self) -> Tape:
        return recorded(self.stratum.statistic, self.stratum.design.n, self.labels, self.widths)

    @cached_property
    def seen(self) -> Ints:
        """Place of each cell among those that occur; the last entry is for units that are not there."""
        n = self.stratum.design.n
        return np.append(np.cumsum(n > 0) - 1, -1)


def panels(joint: Joint, statistic: Statistic, cluster: Ints | None = None) -> list[list[Panel]]:
    """For each system, its test cases."""
    return [
        [_panel(joint, i, t, statistic, cluster) for t in range(len(joint.cases))] for i in range(len(joint.entrants))
    ]


def _panel(joint: Joint, system: int, case: int, statistic: Statistic, cluster: Ints | None) -> Panel:
    entrant, inside = joint.entrants[system], joint.case == case
    place = joint.place[system, inside]
    whole = np.where(place >= 0, entrant.cell[place], -1)
    index, local = np.unique(whole[whole >= 0], return_inverse=True)
    cell = np.full(len(place), -1, np.int64)
    cell[whole >= 0] = local
    n = np.bincount(local, minlength=len(index)).astype(float)
    design = _design(n, cell, None if cluster is None else cluster[inside])
    stratum = stratum_of(entrant.cells, index, joint.cases[case], statistic, design)
    return Panel(stratum, cell, *_labels(entrant, statistic))


def _labels(entrant: Entrant, statistic: Statistic) -> tuple[Sequence[str], Sequence[int]]:
    """What vectors by class stand for, and how wide these are: labels, labels and none, labels with their ancestors."""
    if entrant.over_cases:
        return (), (len(statistic.metrics),)
    labels = entrant.cells.classes
    nodes = getattr(entrant.cells, "nodes", labels)
    return labels, (len(labels), len(labels) + 1, len(nodes))


def _design(n: Floats, cell: Ints, cluster: Ints | None) -> Design:
    if cluster is None:
        return Units(n)
    there = cell >= 0
    return Clusters.of(cluster[there], cell[there], len(n))


def sample(parts: Sequence[Panel]) -> Sample:
    """One system's test cases as a sample."""
    return Sample([p.stratum for p in parts])
