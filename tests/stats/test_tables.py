"""Counts of many cells from tables are multinomial, and an AUC over runs of scores is that of the items."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

import karat
from karat.contexts import catalogue
from karat.stats import resampling, statistic
from karat.stats.random import stream
from karat.stats.resampling import MANY_CELLS, multinomial
from karat.stats.statistic import Statistic, merged

SIZES = np.array([0, 1, 2, 3, 7, 15, 16, 40])


@pytest.fixture(scope="module")
def drawn():
    n = np.tile(SIZES, 1_000).astype(float)
    return n, multinomial(stream(0, "counts"), n, 400)


def test_every_row_has_as_many_units_as_there_are(drawn):
    n, rows = drawn
    assert len(n) > MANY_CELLS
    assert (rows.sum(1) == n.sum()).all()
    assert (rows[:, n == 0] == 0).all()
    assert (rows == np.floor(rows)).all()


@pytest.mark.parametrize("size", SIZES[1:].tolist())
def test_a_cell_is_drawn_as_often_as_a_binomial_says(drawn, size):
    """Goodness of fit over all counts that are expected five times, of 400,000."""
    n, rows = drawn
    seen = np.bincount(rows[:, n == size].astype(int).ravel())
    chance = stats.binom.pmf(np.arange(len(seen)), int(n.sum()), size / n.sum()) * seen.sum()
    often = chance >= 5
    expected = np.append(chance[often], seen.sum() - chance[often].sum())
    found = np.append(seen[often], seen.sum() - seen[often].sum())
    assert stats.chisquare(found[expected > 1e-6], expected[expected > 1e-6], sum_check=False).pvalue > 1e-4


def test_cells_share_one_sum(drawn):
    """Half of the units: the variance of a binomial, which Poisson counts without a common sum would double."""
    n, rows = drawn
    half = rows[:, : len(n) // 2].sum(1)
    expected = n.sum() / 4
    low, high = stats.chi2.ppf([0.0001, 0.9999], 399)
    assert low < half.var(ddof=1) * 399 / expected < high
    assert abs(half.mean() - n.sum() / 2) < 4 * np.sqrt(expected / 400)


def test_few_units_in_many_cells():
    n = np.zeros(MANY_CELLS + 1)
    n[[3, 5_000]] = 4, 2
    rows = multinomial(stream(0, "few"), n, 2_000)
    assert (rows.sum(1) == 6).all()
    assert abs(rows[:, 3].mean() - 4) < 4 * np.sqrt(6 * 2 / 9 / 2_000)


def scored(digits: int | None, items: int = 12_000):
    rng = np.random.default_rng(5)
    gold = rng.integers(0, 2, items)
    score = np.clip(rng.normal(gold * 0.3 + 0.35, 0.2), 0, 1)
    return gold, score if digits is None else score.round(digits)


@pytest.mark.parametrize("digits", [None, 4])
def test_an_auc_over_runs_is_that_of_the_items(digits):
    gold, score = scored(digits)
    e = karat.evaluate(gold, score, context="probabilities", metrics=["roc_auc"], units=True)
    cells = e.systems[0].cells
    of = Statistic(catalogue("probabilities"), e.metrics).of(cells)
    found = merged(of, cells.n.astype(float))
    assert found is not None
    over_columns, n = found
    assert len(n) <= len(cells)
    assert n.sum() == len(gold)
    column = cells.own_curve.runs.col
    weight = np.random.default_rng(1).poisson(1.0, (12, len(cells))).astype(float)
    by_column = np.stack([np.bincount(column, w, len(n)) for w in weight])
    truth, value = cells.gold == cells.positive, cells.column(cells.positive)
    theirs = [roc_auc_score(truth, value, sample_weight=w) for w in weight]
    assert over_columns(by_column)[:, 0] == pytest.approx(theirs, abs=1e-12)
    assert of(weight)[:, 0] == pytest.approx(theirs, abs=1e-12)


def test_items_stay_apart_where_a_metric_tells_them_apart():
    gold, score = scored(None)
    e = karat.evaluate(gold, score, context="probabilities", metrics=["roc_auc", "log_loss"])
    of = Statistic(catalogue("probabilities"), e.metrics).of(e.systems[0].cells)
    assert merged(of, e.systems[0].cells.n.astype(float)) is None


@pytest.mark.parametrize(("more", "most", "written"), [(0, 1536, True), (0, 1535, False), (1, 1e7, False)])
def test_a_product_is_written_out_up_to_its_limits(more, most, written, monkeypatch):
    """Three cells by 512 columns, of which one vector has two and each of the others one."""
    monkeypatch.setattr(statistic, "MOST", most)
    wide, narrow = np.arange(6.0).reshape(3, 2), [np.arange(3.0) + k for k in range(510 + more)]
    of = lambda W: np.concatenate([W @ wide, np.stack([W @ x for x in narrow], 1)], 1)
    found = merged(of, np.ones(3))
    assert (found is not None) == written
    if found:
        assert found[0](np.eye(3)) == pytest.approx(of(np.eye(3)))


def interval(method: str = "percentile", seed: int = 0):
    gold, score = scored(None)
    asked = {"intervals": True, "interval_method": method, "resamples": 2_000, "seed": seed}
    return karat.evaluate(gold, score, context="probabilities", metrics=["roc_auc"], **asked)["roc_auc"].interval


def test_resamples_of_an_auc_agree_with_its_jackknife_and_repeat_themselves(monkeypatch):
    plain, exact = interval(), interval("jackknife-t")
    assert plain.se == pytest.approx(exact.se, rel=4 / np.sqrt(2 * 2_000))
    assert plain.low == pytest.approx(exact.low, abs=exact.se / 5)
    assert plain != interval(seed=1)
    monkeypatch.setattr(resampling, "block_sizes", lambda rows, width: iter([7, rows - 7]))
    monkeypatch.setattr(statistic, "CACHED", 3)
    assert plain == interval()
