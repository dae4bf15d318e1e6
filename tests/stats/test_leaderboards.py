# SPDX-License-Identifier: Apache-2.0
"""Leaderboards: chances of being best against the bootstrap, letters against the verdicts."""

from __future__ import annotations

import re
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from tests.stats.systems import GOLD, SYSTEMS, noisy, records

import karat
from karat.stats.leaderboard import leaderboard
from karat.stats.ranks import rank_rows

CLOSE = {"a": noisy(0.85), "b": noisy(0.84), "c": noisy(0.82)}


def macro_f1(gold, pred):
    f = []
    for label in "ABC":
        right = ((gold == label) & (pred == label)).sum()
        f.append(2 * right / max((gold == label).sum() + (pred == label).sum(), 1))
    return np.mean(f)


def test_the_chance_of_being_best_is_that_of_the_bootstrap():
    found = karat.compare(GOLD, CLOSE, metrics=["f1"], resamples=199, draws=199)
    chance = {p.system: p.best for p in next(iter(found.leaderboards.values()))}
    rng, wins = np.random.default_rng(1), np.zeros(3)
    for _ in range(1500):
        at = rng.integers(0, len(GOLD), len(GOLD))
        wins[np.argmax([macro_f1(GOLD[at], p[at]) for p in CLOSE.values()])] += 1
    assert sum(chance.values()) == pytest.approx(1)
    assert [chance[n] for n in CLOSE] == pytest.approx(wins / 1500, abs=0.06)


def test_clusters_make_the_chance_less_sure():
    rng = np.random.default_rng(2)
    gold = np.repeat(rng.choice(["A", "B"], 30), 20)
    flipped = np.where(gold == "A", "B", "A")
    bad = np.repeat(rng.random(30) < 0.25, 20)
    pred = {"x": np.where(bad, flipped, gold), "y": np.where(np.repeat(rng.random(30) < 0.3, 20), flipped, gold)}
    given = records(gold, doc=lambda i: str(i // 20))
    several = {name: records(p) for name, p in pred.items()}
    chances = []
    for column in (None, "doc"):
        found = karat.compare(given, several, metrics=["accuracy"], resamples=199, draws=199, cluster_by=column)
        chances.append(max(p.best for p in next(iter(found.leaderboards.values()))))
    assert 0.5 < chances[1] < chances[0]


def test_systems_share_a_letter_exactly_if_the_tests_do_not_tell_them_apart(comparison):
    for metric, places in comparison.leaderboards.items():
        letters = {p.system: set(re.findall(r"[a-z]", p.groups)) for p in places}
        for a, b in combinations(SYSTEMS, 2):
            told_apart = comparison.pair(a, b, metric).verdict != "inconclusive"
            assert bool(letters[a] & letters[b]) != told_apart


def test_the_order_of_files_changes_no_chance():
    turned = dict(reversed(list(CLOSE.items())))
    boards = [karat.compare(GOLD, s, metrics=["f1"], resamples=199, draws=199).leaderboards for s in (CLOSE, turned)]
    chances = [{p.system: p.best for p in next(iter(b.values()))} for b in boards]
    assert chances[0] == chances[1]


def test_the_report_shows_the_chance(comparison):
    assert "P(best)" in str(comparison)
    assert "P(best)" in comparison.to_markdown()
    assert '"best":' in comparison.to_json().replace('"best": ', '"best":')


@pytest.mark.slow
def test_rank_ranges_hold_together():
    """200 data sets of four systems, two of them alike: all ranges hold in 95 % or more (standard error .015)."""
    rng, held = np.random.default_rng(12), 0
    true = {"a": 0.85, "b": 0.8, "c": 0.8, "d": 0.7}
    above = {name: sum(t > true[name] for t in true.values()) for name in true}
    below = {name: sum(t < true[name] for t in true.values()) for name in true}
    for _ in range(200):
        gold = rng.choice(["A", "B"], 150)
        shared = rng.random(150)
        wrong = {n: 0.5 * shared + 0.5 * rng.random(150) for n in true}
        limit = {n: float(np.quantile(0.5 * rng.random(20_000) + 0.5 * rng.random(20_000), t)) for n, t in true.items()}
        several = {n: np.where(wrong[n] > limit[n], np.where(gold == "A", "B", "A"), gold) for n in true}
        places = next(iter(karat.compare(gold, several, metrics=["accuracy"], resamples=100).leaderboards.values()))
        held += all(p.low <= 1 + above[p.system] and p.high >= 4 - below[p.system] for p in places)
    assert held / 200 >= 0.95 - 2 * 0.016


def test_no_spread_is_no_certainty_of_being_best():
    """One item that A has and B has not gave A a probability of 1."""
    c = karat.compare(["x"], {"a": ["x"], "b": ["y"]}, metrics=["accuracy"], resamples=199)
    assert [p.best for p in c.leaderboards[c.metrics[0]]] == [None, None]
    alike = karat.compare(["x"] * 5, {"a": ["x"] * 5, "b": ["x"] * 5}, metrics=["accuracy"], resamples=199)
    assert [p.best for p in alike.leaderboards[alike.metrics[0]]] == [0.5, 0.5]
    gold = ["x", "y"] * 100
    systems = {"a": gold, "b": ["x"] * 10 + gold[10:], "c": ["y", "x"] * 100}
    c = karat.compare(gold, systems, metrics=["accuracy"], resamples=199)
    best = {p.system: p.best for p in c.leaderboards[c.metrics[0]]}
    assert best["a"] is None
    assert best["c"] is None
    assert best["b"] == pytest.approx(0.01, abs=0.02)


def test_few_units_leave_the_best_less_sure():
    """Four units, three of which A wins: Student's t with three degrees of freedom, 1.7 standard errors ahead."""
    c = karat.compare(["x"] * 4, {"a": ["x"] * 4, "b": ["x", "y", "y", "y"]}, metrics=["accuracy"], resamples=199)
    first = c.leaderboards[c.metrics[0]][0]
    d = np.array([0.0, 1, 1, 1])
    t = d.mean() / (d.std(ddof=1) / 2)
    assert first.best == pytest.approx(1 - stats.t.sf(t, 3), abs=0.01)


def test_a_test_case_that_one_system_has_no_score_for_is_not_ranked():
    """κ is undefined where both sides say one and the same class."""
    rows = [(f"t{t}", f"{t}-{n}", "AB"[n % 2] if t else "A") for t in range(9) for n in range(8)]
    gold = [{"test_case": t, "id": i, "value": v} for t, i, v in rows]
    flipped = lambda every: [g | {"value": "B" if k % every == 0 else g["value"]} for k, g in enumerate(gold)]
    systems = {"a": gold, "b": flipped(5), "c": flipped(3)}
    found = karat.compare(gold, systems, metrics=["cohen_kappa"], draws=99)
    assert found.ranks[0].test_cases == 8


def test_scores_that_differ_in_rounding_alone_share_their_rank():
    """0.1 + 0.2 is not 0.3 to the last digit."""
    of = lambda name, value: SimpleNamespace(
        name=name, scores={"m": SimpleNamespace(value=value, better="higher", interval=None)}
    )
    places = leaderboard("m", [of("a", 0.3), of("b", 0.1 + 0.2), of("c", 0.2999)], [], None)
    assert [(p.system, p.rank) for p in places] == [("a", 1), ("b", 1), ("c", 3)]
    ranks = rank_rows(np.array([[0.3, 0.1 + 0.2, 0.2], [0.1 + 0.2, 0.3, 0.4]]))
    assert ranks.tolist() == [[1.5, 1.5, 3.0], [2.5, 2.5, 1.0]]
