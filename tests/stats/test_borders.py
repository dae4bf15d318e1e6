# SPDX-License-Identifier: Apache-2.0
"""Borders of statistics: from what size on a thing changes, and what is taken together over test cases."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import karat
from karat.cells import Sparse
from karat.columns import ranked
from karat.metric import MetricError
from karat.stats import comparing, estimate, pair_tests
from karat.stats.randomisation import Coins, randomisation
from karat.stats.ranks import _iman_davenport
from karat.stats.resampling import Units
from karat.stats.statistic import WIDE, Fold, merged


def three(n: int = 300) -> tuple[list[int], dict[str, list[int]]]:
    """Gold of three classes and three systems, the last two as good as each other."""
    rng = np.random.default_rng(3)
    gold = rng.integers(3, size=n)
    return gold.tolist(), {
        name: np.where(rng.random(n) < right, gold, rng.integers(3, size=n)).tolist()
        for name, right in (("a", 0.7), ("b", 0.6), ("c", 0.6))
    }


def test_fewer_draws_begin_beyond_many_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    gold, systems = three()
    for many, draws in ((3, 9_999), (2, 1_999)):
        monkeypatch.setattr(comparing, "MANY_PAIRS", many)
        pairs = karat.compare(gold, systems, metrics=["f1"]).pairs
        assert {pair.tests[0].draws for pair in pairs} == {draws}


def test_fewer_draws_begin_beyond_many_distinct_swaps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A swap moves one outcome of a gold class for another; the same two the other way round are the same swap."""
    gold, systems = three()
    outcomes = zip(gold, systems["a"], systems["b"], strict=True)
    moves = len({(g, frozenset((a, b))) for g, a, b in outcomes if a != b})
    for many, draws in ((moves, 9_999), (moves - 1, 1_999)):
        monkeypatch.setattr(pair_tests, "MANY_MOVES", many)
        pair = karat.compare(gold, {name: systems[name] for name in "ab"}, metrics=["f1"]).pairs[0]
        assert pair.tests[0].draws == draws


def test_p_of_draws_that_are_as_extreme_is_their_share_and_no_bound() -> None:
    """One draw in sixteen is as extreme, though the spread of the draws is far smaller."""

    def difference(swapped: Any) -> Any:
        return (swapped[:, :4] == 1).all(1, keepdims=True).astype(float)

    law = randomisation(difference, np.ones(40), np.array([1.0]), Coins(0), 9_999)
    assert not law.exact
    assert law.p[0] == pytest.approx(1 / 16, abs=0.01)
    none = randomisation(difference, np.ones(40), np.array([9.0]), Coins(0), 9_999)
    assert none.p[0] == 1e-4, "no draw is as extreme"
    assert none.unreached[0]
    assert not law.unreached[0]


def test_resamples_of_two_test_cases_are_taken_together() -> None:
    """The systems are alike in the first test case and far apart in the second."""
    gold = [{"test_case": f"t{i // 40}", "id": str(i), "value": "AB"[i % 2]} for i in range(80)]
    worse = [row | {"value": "A"} if row["test_case"] == "t1" else row for row in gold]
    found = karat.compare(gold, {"good": gold, "worse": worse}, metrics=["accuracy"], tests=["bootstrap"])
    assert found.pairs[0].difference == pytest.approx(0.25)
    boot = next(test for test in found.pairs[0].tests if "bootstrap" in test.name)
    assert boot.p < 0.01


@pytest.mark.parametrize("right", [(90, 70), (90, 80, 75, 70)])
def test_the_gap_of_slices_is_corrected_for_all_pairs_of_them(right: tuple[int, ...]) -> None:
    """Newcombe's interval from Wilson's of the best and the worst, each at 1 − α / pairs."""
    rows = [(k, i < good) for k, good in enumerate(right) for i in range(100)]
    gold = [{"id": str(i), "value": "A", "country": f"c{k}"} for i, (k, _) in enumerate(rows)]
    pred = [{"id": str(i), "value": "A" if good else "B"} for i, (_, good) in enumerate(rows)]
    gap = karat.evaluate(gold, pred, metrics=["accuracy"], slices="country")["accuracy"].slices["country"].gap
    assert gap is not None
    assert gap.interval is not None
    level = 1 - 0.05 / math.comb(len(right), 2)
    best, worst = (stats.binomtest(n, 100).proportion_ci(level, "wilson") for n in (90, 70))
    assert gap.value == pytest.approx(0.2)
    assert gap.interval.low == pytest.approx(0.2 - math.hypot(0.9 - best.low, worst.high - 0.7))
    assert gap.interval.high == pytest.approx(0.2 + math.hypot(best.high - 0.9, 0.7 - worst.low))


def test_resamples_that_would_be_too_many_leave_classes_without_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three classes × 1,000 resamples are above the limit of 1,000 numbers, three classes × their cells are not."""
    gold, systems = three(60)
    monkeypatch.setattr(estimate, "CLASS_NUMBERS", 1_000)
    for method, there in (("bca", False), ("delta", True)):
        e = karat.evaluate(gold, systems["a"], metrics=["f1"], intervals=True, interval_method=method, resamples=1_000)
        assert all((score.interval is not None) == there for score in e["f1"].by_class.values())


def test_a_method_given_as_the_level_is_refused_with_its_keyword() -> None:
    gold, systems = three(60)
    with pytest.raises(MetricError, match=r"intervals='bca' is no level: .* interval_method='bca'"):
        karat.evaluate(gold, systems["a"], intervals="bca")
    with pytest.raises(MetricError, match=r"intervals='yes' is no level: .* a number between 0 and 1$"):
        karat.evaluate(gold, systems["a"], intervals="yes")


def test_f_of_iman_and_davenport_close_to_its_end() -> None:
    """F = (n − 1)χ² / (n(k − 1) − χ²), with k − 1 and (k − 1)(n − 1) degrees of freedom; endless only at the end."""
    f, p = _iman_davenport(1.5, 2, 2)
    assert f == pytest.approx(3.0)
    assert p == pytest.approx(special.fdtrc(1, 1, 3.0))
    assert _iman_davenport(2.0, 2, 2) == (np.inf, 0.0)


def test_gaps_of_bins_whose_units_weigh_differently() -> None:
    """The standard error of Σx/Σv is that of the mean of x − (Σx/Σv)·v, unit by unit."""
    rng = np.random.default_rng(0)
    n, whole = rng.integers(1, 5, 30).astype(float), rng.uniform(0.5, 3.0, 30)
    x, column = rng.normal(size=30), rng.integers(3, size=30)
    gaps = Fold(Sparse(np.arange(30), column, x, (30, 3)), whole).gaps(Units(n))
    table = np.zeros((30, 3))
    table[np.arange(30), column] = x
    total, size = n @ whole, n.sum()
    gap = n @ table / total
    square = n @ (table - gap * whole[:, None]) ** 2
    np.testing.assert_allclose(gaps.gap, gap)
    np.testing.assert_allclose(gaps.se, np.sqrt(square * size / (size - 1)) / total)


@pytest.mark.parametrize("fault", ["", "two", "twice and none"])
def test_cells_are_merged_by_columns_where_each_has_one(fault: str) -> None:
    """A cell that counts twice, or has two columns where another has none, is no column of its own."""
    rng = np.random.default_rng(1)
    cells, columns = 3 * WIDE, WIDE + 1
    row, column, value = np.arange(cells), rng.integers(columns, size=cells), np.ones(cells)
    if fault == "two":
        value[7] = 2
    if fault == "twice and none":
        row[7], column[7], column[8] = 8, 1, 2
    wide, n = Sparse(row, column, value, (cells, columns)), rng.integers(1, 4, cells).astype(float)
    statistic = lambda W: ((W @ wide) ** 2).sum(-1, keepdims=True)
    fewer = merged(statistic, n, few=0)
    assert (fewer is None) == bool(fault)
    if fewer is not None:
        score, count = fewer
        assert len(count) == columns
        np.testing.assert_allclose(score(count[None]), ((np.bincount(column, n, columns)) ** 2).sum())


def test_whole_numbers_further_apart_than_32_bits_keep_their_order() -> None:
    for column in (np.array([-5, 3 << 30, 0]), np.array([-5, 30, 0], np.int8), np.array([-5, 30, 0], np.int16)):
        assert np.argsort(ranked(column)).tolist() == [0, 2, 1]
        assert ranked(column).min() == 0
