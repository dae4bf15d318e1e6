# SPDX-License-Identifier: Apache-2.0
"""Prediction-powered estimates, against hand formulas, recorded values of ppi-python and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from tests.stats.by_hand import reading_of_mean

from karat.stats.judge import powered, stratified


def data(n=80, more=1000, seed=5):
    rng = np.random.default_rng(seed)
    truth = (rng.random(n + more) < 0.7).astype(float)
    judge = np.where(rng.random(n + more) < 0.85, truth, 1 - truth)
    return truth[:n], judge[:n], judge[n:]


def estimate(gold, judged, rest, weight=None):
    return powered(reading_of_mean(gold), reading_of_mean(judged), reading_of_mean(rest), weight)


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_error_and_estimate_by_hand(weight):
    gold, judged, rest = data()
    found = estimate(gold, judged, rest, weight)
    assert found.estimate == pytest.approx(gold.mean() - weight * (judged.mean() - rest.mean()))
    by_hand = (gold - weight * judged).var(ddof=1) / 80 + weight**2 * rest.var(ddof=1) / 1000
    assert found.se == pytest.approx(np.sqrt(by_hand))


def test_the_weight_makes_the_error_smallest():
    gold, judged, rest = data()
    best = estimate(gold, judged, rest)
    others = [estimate(gold, judged, rest, w).se for w in np.linspace(0, 1, 101)]
    assert best.se <= min(others) + 1e-12
    assert 0 < best.weight < 1


def test_values_of_ppi_python():
    """ppi_py 0.2.3: ppi_mean_pointestimate and ppi_mean_ci(alpha=0.05), λ = 1 and λ = 0.5; it divides by n, not n − 1."""
    gold, judged, rest = data()
    for weight, point, low, high in RECORDED:
        found = estimate(gold, judged, rest, weight)
        biased = (gold - weight * judged).var() / 80 + weight**2 * rest.var() / 1000
        assert found.estimate == pytest.approx(point, abs=1e-12)
        assert 1.959963984540054 * np.sqrt(biased) == pytest.approx((high - low) / 2, abs=1e-12)
        assert found.se == pytest.approx((high - low) / 2 / 1.959963984540054, rel=0.01)


RECORDED = [(1.0, 0.738, 0.6370453296564653, 0.8389546703435347), (0.5, 0.7065, 0.621251812042368, 0.791748187957632)]


def test_the_tuned_weight_of_ppi_python():
    """ppi_py 0.2.3 with lam=None: 0.70933 [0.62403, 0.79464]; its λ = 0.545 takes one variance of the judge for sample and
    rest, karat's 0.514 that of either. At one λ the estimates are the same, and karat's error is the smallest there is."""
    gold, judged, rest = data()
    spread = np.var(np.concatenate([judged, rest]), ddof=1)
    tuned = np.cov(gold, judged, bias=True)[0, 1] / ((1 + 80 / 1000) * spread)
    assert estimate(gold, judged, rest, tuned).estimate == pytest.approx(0.70933064, abs=1e-8)
    assert estimate(gold, judged, rest, tuned).se == pytest.approx((0.79463526 - 0.62402602) / 2 / 1.959964, rel=0.01)
    found = estimate(gold, judged, rest)
    assert found.weight == pytest.approx(tuned, abs=0.05)
    assert found.se <= estimate(gold, judged, rest, tuned).se


def test_a_perfect_judge_is_worth_all_its_labels_and_a_blind_one_none():
    gold, _, rest = data()
    perfect = estimate(gold, gold, rest)
    assert perfect.effective == pytest.approx(1080, rel=0.1)
    blind = estimate(gold, np.zeros(80), np.zeros(1000))
    assert (blind.weight, blind.gain, blind.estimate) == (0.0, 1.0, gold.mean())


def test_strata_are_weighted_by_their_shares():
    a, b = estimate(*data(40, 200, 1)), estimate(*data(60, 100, 2))
    found = stratified([a, b], [0.25, 0.75])
    assert found.estimate == pytest.approx(0.25 * a.estimate + 0.75 * b.estimate)
    assert found.se == pytest.approx(np.hypot(0.25 * a.se, 0.75 * b.se))
    assert found.labelled == 100


@pytest.mark.slow
def test_intervals_cover_and_are_shorter():
    """2,000 data sets: the standard error of a coverage of .95 is .005. The judge is biased: it says yes too often."""
    rng, inside, alone, gains = np.random.default_rng(9), 0, 0, []
    for _ in range(2000):
        truth = (rng.random(1100) < 0.7).astype(float)
        judge = np.where(rng.random(1100) < 0.9, np.maximum(truth, rng.random(1100) < 0.3), truth)
        found = estimate(truth[:100], judge[:100], judge[100:])
        low, high = found.interval(0.95)
        inside += low <= 0.7 <= high
        low, high = (found.judge + k * judge.std() / np.sqrt(1100) for k in (-1.96, 1.96))
        alone += low <= 0.7 <= high
        gains.append(found.gain)
    assert inside / 2000 >= 0.93
    assert alone == 0
    assert np.mean(gains) > 1.5
