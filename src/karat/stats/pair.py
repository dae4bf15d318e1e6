# SPDX-License-Identifier: Apache-2.0
"""Two systems on the same units: their difference, its spread, and what it would be if they swapped outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.score import mean_defined
from karat.stats.beyond import Swaps, beyond
from karat.stats.estimate import query_scores, stratum_of
from karat.stats.random import stream
from karat.stats.randomisation import NUMBERS, Coins, Randomised, randomisation
from karat.stats.resampling import ROUNDING, Clusters, Design, Units, bootstrap
from karat.stats.sample import Sample, Stratum, pooled_spread
from karat.stats.settings import DRAWS
from karat.stats.statistic import Mask, Shared, Statistic, Tape, marks, recorded
from karat.stats.units import Joint
from karat.weights import Floats, Ints, cuts


@dataclass(frozen=True)
class Part:
    """One system on one test case, its cells numbered from 0, with the cell of every unit."""

    stratum: Stratum
    cell: Ints
    labels: Sequence[str] = ()
    widths: Sequence[int] = ()
    """Widths of vectors by label (or by metric, where test cases are the units)."""
    hidden: Mask | None = None
    """Cells × metrics: scores that are left out because another system has none."""

    @cached_property
    def tape(self) -> Tape:
        return recorded(self.stratum.statistic, self.stratum.design.n, self.labels, self.widths)

    @cached_property
    def left_out(self) -> Floats:
        """The scores without a unit of each cell."""
        return self.stratum.jackknife.value


def parts_of(joint: Joint, statistic: Statistic, cluster: Ints | None, hidden: Sequence[Mask] = ()) -> list[list[Part]]:
    """For each system, its test cases; ``hidden`` marks scores of queries that are not to be read."""
    return [
        [_part(joint, i, t, statistic, cluster, hidden) for t in range(len(joint.cases))]
        for i in range(len(joint.names))
    ]  # fmt: skip


def _part(
    joint: Joint, system: int, case: int, statistic: Statistic, cluster: Ints | None, hidden: Sequence[Mask]
) -> Part:
    cells, inside = joint.cells[system], joint.case == case
    index, cell = np.unique(joint.cell[system, inside], return_inverse=True)
    n = np.bincount(cell, minlength=len(index)).astype(float)
    design: Design = Units(n) if cluster is None else Clusters.of(cluster[inside], cell, len(n))
    blank = hidden[system][index] if len(hidden) else None
    stratum = stratum_of(cells, index, joint.cases[case], statistic, design, hidden=blank)
    labels: Sequence[str] = () if joint.over_cases else cells.classes
    nodes = getattr(cells, "nodes", labels)
    widths = (len(statistic.metrics),) if joint.over_cases else (len(labels), len(labels) + 1, len(nodes))
    return Part(stratum, cell, labels, widths, blank)


def blanks(joint: Joint, statistic: Statistic, systems: Sequence[int]) -> list[Mask]:
    """By system, which scores of its queries are left out because another of ``systems`` has none."""
    if not joint.over_cases:
        return []
    known = [~np.isnan(query_scores(cells, statistic)) & cells.counts[:, None] for cells in joint.cells]
    shared = np.all([known[i][joint.cell[i]] for i in systems], axis=0)
    if all((known[i][joint.cell[i]] == shared).all() for i in systems):
        return []
    out = list[Mask]()
    for i, cells in enumerate(joint.cells):
        hidden = np.zeros((len(cells.test_cases), shared.shape[1]), bool)
        hidden[joint.cell[i]] = ~shared
        out.append(hidden)
    return out


def apart(a: Any, b: Any) -> Any:
    """How far scores of one system lie above those of another; 0 where that is rounding."""
    gap = a - b
    return np.where(np.abs(gap) < ROUNDING * np.abs(a), 0.0, gap)


@dataclass(frozen=True)
class Swap:
    """Two systems on one test case, whose units (or clusters of units) may change sides."""

    a: Part
    b: Part
    cluster: Ints | None = None

    @cached_property
    def shared(self) -> Shared:
        return Shared([self.a.tape, self.b.tape])

    @cached_property
    def joint(self) -> tuple[Ints, Ints, Floats, Ints]:
        """Joint cells: cell of A, cell of B, number of units; and the joint cell of each unit."""
        width = len(self.b.stratum.design.n)
        key, cell, n = np.unique(self.a.cell * width + self.b.cell, return_inverse=True, return_counts=True)
        return key // width, key % width, n.astype(float), cell

    @cached_property
    def variance(self) -> tuple[Floats, float]:
        """Of the difference, by leaving a unit (or cluster) out of both systems; and how many there are."""
        if self.cluster is not None:
            n, left, right = self.a.stratum.jackknife.n, self.a.left_out, self.b.left_out
        else:
            a, b, n, _ = self.joint
            left, right = self.a.left_out[a], self.b.left_out[b]
        scale = np.maximum(*(np.abs(p.stratum.jackknife.mean) for p in (self.a, self.b)))
        both = replace(self.a.stratum.jackknife, n=n, value=apart(left, right), scale=scale)
        return both.se**2, both.size

    def units(self, column: int) -> int:
        """Units of which no score is left out."""
        blank = [p.hidden[p.cell, column] for p in (self.a, self.b) if p.hidden is not None]
        return len(self.a.cell) - int(np.any(blank, axis=0).sum() if blank else 0)

    def unit_scores(self, column: int) -> tuple[Floats, Floats, Floats]:
        """Scores of single units of the joint cells for A and for B, and how many units there are of each."""
        a, b, n, _ = self.joint
        left, right = (p.stratum.unit_scores.value[:, column] for p in (self.a, self.b))
        return left[a], right[b], n

    @cached_property
    def moves(self) -> tuple[Any, Floats, Floats]:
        """Distinct moves of outcomes from A to B, how many units make each, and how many the other way round."""
        from scipy.sparse import csr_array

        left, right = self.shared.matrices
        if self.cluster is None:
            a, b, n, _ = self.joint
            moved = left[a] - right[b]
        else:
            _, row = np.unique(self.cluster, return_inverse=True)
            members = csr_array((np.ones(len(row)), (row, np.arange(len(row)))), shape=(row.max() + 1, len(row)))
            moved = members @ (left[self.a.cell] - right[self.b.cell])
            n = np.ones(moved.shape[0])
        # One number per row tells moves apart; a move and its opposite share a coin.
        mark = marks(moved)
        real = np.flatnonzero(mark)
        _, first, group = np.unique(np.abs(mark[real]), return_index=True, return_inverse=True)
        size = np.bincount(group, n[real], len(first)).astype(float)
        back = np.bincount(group, n[real] * (mark[real] < 0), len(first)).astype(float)
        turn = np.where(mark[real[first]] < 0, -1.0, 1.0)
        return _compact(moved[real[first]].multiply(turn[:, None]).tocsr(), size).T, size, back

    @cached_property
    def totals(self) -> tuple[Floats, Floats]:
        a, b = self.shared.matrices
        return self.a.stratum.design.n @ a, self.b.stratum.design.n @ b

    def difference(self, swapped: Floats) -> Floats:
        """Score of A minus score of B, column by column, after these swaps (rows × moves)."""
        moves, _, back = self.moves
        return self._moved((np.asarray(moves @ swapped.T, float) - (moves @ back)[:, None]).T)

    def _moved(self, shift: Floats) -> Floats:
        """The difference when so much of each total goes from A to B (rows × totals)."""
        a, b = (self._settled(totals) for totals in (self.totals[0] - shift, self.totals[1] + shift))
        left, right = self.a.stratum, self.b.stratum
        return apart(left.statistic(self.shared.replay(0, a)), right.statistic(self.shared.replay(1, b)))

    @cached_property
    def dust(self) -> Floats | None:
        """What rounding may leave of each total where nothing is left; None of whole numbers, whose sums are exact."""
        moves, size, _ = self.moves
        if all((x % 1 == 0).all() for x in (moves.data, *self.totals)):
            return None
        return np.asarray(ROUNDING * (sum(map(np.abs, self.totals)) + abs(moves) @ size), float)

    def _settled(self, totals: Floats) -> Floats:
        return totals if self.dust is None else np.where(np.abs(totals) < self.dust, 0.0, totals)

    @cached_property
    def slopes(self) -> Floats:
        """Moves × metrics: what one more of each move adds to the difference where half of all are made."""
        moves, size, back = self.moves
        reach = abs(moves).max(axis=1).toarray().ravel() if len(size) else np.zeros(moves.shape[0])
        totals, middle = np.flatnonzero(reach), np.asarray(moves @ (size / 2 - back), float)
        if not 0 < len(totals) <= MOST_TOTALS:
            return np.zeros((len(size), self._moved(middle[None]).shape[1]))
        blocks = cuts(len(totals), max(NUMBERS // (8 * len(reach)), 1))
        slopes = np.concatenate([self._slopes(middle, totals[a:b], STEP * reach[totals[a:b]]) for a, b in blocks])
        return np.asarray(moves.tocsr()[totals].T @ slopes, float)

    def _slopes(self, middle: Floats, totals: Ints, step: Floats) -> Floats:
        """Totals × metrics: by a step of each total; 0 where no difference is defined."""
        further = np.zeros((len(totals), len(middle)))
        further[np.arange(len(totals)), totals] = step
        with np.errstate(all="ignore"):
            gained = self._moved(middle + further) - self._moved(middle - further)
        return np.nan_to_num(gained, posinf=0.0, neginf=0.0) / (2 * step[:, None])

    def resampled(self, rng: np.random.Generator, draws: int, in_order: bool) -> Floats:
        """Resamples of the difference: both systems see the same units (or clusters)."""
        a, b, n, cell = self.joint
        if not in_order:
            order = np.lexsort((a, b))
            a, b, n, cell = a[order], b[order], n[order], np.argsort(order)[cell]
        design: Design = Units(n) if self.cluster is None else Clusters.of(self.cluster, cell, len(n))

        def difference(W: Any) -> Floats:
            sides = ((self.a.stratum, a), (self.b.stratum, b))
            left, right = (s.statistic(gathered(W, c, s.design.width)) for s, c in sides)
            return apart(left, right)

        return bootstrap(difference, design, rng, draws)


STEP, MOST_TOTALS = 1 / 64, 4_096
"""Part of the largest move by which totals change for slopes; with more totals, swaps are not tilted."""


def _compact(moves: Any, size: Floats) -> Any:
    """Whole numbers in half the space, if the sums of so many of each stay exact."""
    whole = bool((moves.data == np.round(moves.data)).all())
    return moves.astype(np.float32) if whole and (np.abs(moves).T @ size).max(initial=0.0) < 2**24 else moves


def gathered(W: Floats, cell: Ints, width: int) -> Floats:
    """Weights of joint cells as weights of one system's cells."""
    order = np.argsort(cell, kind="stable")
    cells, start = np.unique(cell[order], return_index=True)
    out = np.zeros((len(W), width))
    out[:, cells] = np.add.reduceat(W[:, order], start, axis=1)
    return out


@dataclass(frozen=True)
class Paired:
    """Two systems side by side on all test cases."""

    a: int
    b: int
    names: tuple[str, str]
    swaps: list[Swap]
    kept: Mask | None = None
    """Which of all units the two are compared on, where not on all."""

    @staticmethod
    def of(
        systems: tuple[int, int], names: tuple[str, str], parts: tuple[Sequence[Part], Sequence[Part]],
        clusters: Sequence[Ints | None], kept: Mask | None = None,
    ) -> Paired:  # fmt: skip
        return Paired(*systems, names, [Swap(a, b, c) for a, b, c in zip(*parts, clusters, strict=True)], kept)

    @property
    def parts(self) -> tuple[list[Part], list[Part]]:
        """The test cases of each of the two."""
        return [s.a for s in self.swaps], [s.b for s in self.swaps]

    @cached_property
    def samples(self) -> tuple[Sample, Sample]:
        return Sample([s.a.stratum for s in self.swaps]), Sample([s.b.stratum for s in self.swaps])

    @cached_property
    def differences(self) -> Floats:
        """Test cases × metrics; NaN where one of the systems has no score."""
        return apart(self.samples[0].points, self.samples[1].points)

    @cached_property
    def difference(self) -> Floats:
        """Over the test cases that both have a score for."""
        return mean_defined(self.differences.T)

    @cached_property
    def spread(self) -> tuple[Floats, Floats]:
        """Standard error of the difference and its degrees of freedom, by the paired jackknife."""
        variance, size = zip(*(s.variance for s in self.swaps), strict=True)
        scale = np.maximum(*(np.abs(s.point) for s in self.samples))
        return pooled_spread(self.differences, np.stack(variance), np.array(size), scale)

    @property
    def units(self) -> int:
        return int(sum(len(s.a.cell) for s in self.swaps))

    def units_of(self, column: int) -> int:
        """Units behind the difference: without queries and test cases that only one of the systems has a score for."""
        return int(sum(s.units(column) for s, d in zip(self.swaps, self.differences[:, column], strict=True) if d == d))

    def lacks(self, column: int) -> bool:
        """Whether a query or a test case has a score for one of the systems alone."""
        first, second = (np.isnan(x.points[:, column]) for x in self.samples)
        short = any(s.units(column) < len(s.a.cell) for s in self.swaps)
        return self.kept is not None or short or bool((first != second).any())

    @property
    def clusters(self) -> int | None:
        """How many clusters the units come in."""
        return None if self.swaps[0].cluster is None else sum(s.a.stratum.design.size for s in self.swaps)

    @property
    def swappable(self) -> NDArray[np.bool_]:
        """Metrics whose outcomes can be swapped in every test case."""
        columns = len(self.difference)
        flags = [s.shared.eligible for s in self.swaps]
        # One flag stands for all where queries are averaged; a metric that asks for nothing has nothing to swap.
        filled = [f * columns if len(f) == 1 else f + [True] * (columns - len(f)) for f in flags]
        return np.asarray(np.array(filled, bool).all(0))

    def unit_differences(self, column: int) -> tuple[Floats, Floats] | None:
        """Differences of unit scores with their counts, where every unit has both scores."""
        scores = [s.unit_scores(column) for s in self.swaps]
        d, n = np.concatenate([apart(a, b) for a, b, _ in scores]), np.concatenate([n for _, _, n in scores])
        blank = np.concatenate([np.isnan(a) & np.isnan(b) for a, b, _ in scores])
        d, n = d[~blank], n[~blank]
        return None if np.isnan(d).any() or not len(d) else (d, n)

    def is_mean(self, column: int) -> bool:
        """Whether the score is the mean of unit scores for both systems, with one test case."""
        mean = all(bool(s.unit_scores.is_mean[column]) for x in self.samples for s in x.strata)
        return mean and len(self.swaps) == 1 and self.swaps[0].cluster is None

    @cached_property
    def in_order(self) -> bool:
        """Whether the first system has the larger outcomes: what is drawn for a pair hangs on that, not on names."""
        a, b = (
            np.concatenate([np.nan_to_num(self.samples[i].point), *(s.totals[i] for s in self.swaps)]) for i in (0, 1)
        )
        apart = np.flatnonzero(a != b)
        return not len(apart) or bool(a[apart[0]] > b[apart[0]])

    def swap_test(self, coins: Coins, draws: int = DRAWS) -> Randomised:
        """The paired randomisation test of all metrics, over all test cases at once."""
        size, back = (np.concatenate([s.moves[i] for s in self.swaps]) for i in (1, 2))
        ends = np.cumsum([0, *(len(s.moves[1]) for s in self.swaps)])

        def difference(swapped: Floats) -> Floats:
            swapped = swapped if self.in_order else size.astype(swapped.dtype) - swapped
            cases = [s.difference(swapped[:, ends[i] : ends[i + 1]]) for i, s in enumerate(self.swaps)]
            gap = cases[0] if len(cases) == 1 else mean_defined(np.stack(cases, -1))
            return gap if self.in_order else -gap

        seen = back if self.in_order else size - back
        observed = difference(seen[None, :])[0]
        law = randomisation(difference, size, observed, coins, draws)
        if not law.unreached.any():
            return law
        slopes = np.concatenate([s.slopes for s in self.swaps]) / -2
        swaps = Swaps(difference, size, seen, slopes / len(self.swaps))
        return beyond(law, swaps, observed, self.sums_of_signs, coins)

    @cached_property
    def sums_of_signs(self) -> Mask:
        """Metrics that are means of unit scores in every test case, where each unit has both scores."""
        mean = np.all([s.unit_scores.is_mean for x in self.samples for s in x.strata], axis=0)
        return np.array([bool(m) and self.unit_differences(k) is not None for k, m in enumerate(mean)], bool)

    def resampled(self, seed: int, draws: int) -> Floats:
        """Resamples of the difference."""
        cases = np.stack([
            s.resampled(stream(seed, "paired", s.a.stratum.name), draws, self.in_order) for s in self.swaps
        ])  # fmt: skip
        return cases[0] if len(cases) == 1 else mean_defined(np.moveaxis(cases, 0, -1))
