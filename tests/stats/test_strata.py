# SPDX-License-Identifier: Apache-2.0
"""Stratified resampling, against formulas by hand and a bootstrap by brute force."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner
from tests.stats.systems import records

import karat
from karat.cli.main import karat as command
from karat.stats.resampling import Strata, StratifiedJackknife, jackknife

RNG = np.random.default_rng(31)
N = 240
LANGUAGE = np.repeat(["de", "en", "fr"], [40, 150, 50])
GOLD = RNG.choice(["A", "B"], N)
SURE = np.select([LANGUAGE == "de", LANGUAGE == "en"], [0.2, 0.95], 0.6)
PRED = np.where(RNG.random(N) < SURE, GOLD, np.where(GOLD == "A", "B", "A"))
GIVEN = records(GOLD, language=lambda i: LANGUAGE[i])


def evaluated(**more):
    return karat.evaluate(
        GIVEN, records(PRED), **{"metrics": ["accuracy", "f1"], "intervals": True, "stratify_by": "language", **more}
    )


def variance_by_hand():
    x = (PRED == GOLD).astype(float)
    parts = [x[name == LANGUAGE] for name in np.unique(LANGUAGE)]
    return sum(len(p) * p.var(ddof=1) for p in parts) / N**2


def test_the_error_of_a_mean_by_hand():
    found = evaluated()["accuracy"].interval
    assert found.se**2 == pytest.approx(variance_by_hand())
    assert found.method == "jackknife-t"
    plain = evaluated(stratify_by=None, interval_method="jackknife-t")["accuracy"].interval
    assert found.se < plain.se


def test_f1_by_brute_force():
    def f1(gold, pred):
        return np.mean([2 * ((gold == c) & (pred == c)).sum() / ((gold == c).sum() + (pred == c).sum()) for c in "AB"])

    rng, draws = np.random.default_rng(1), []
    groups = [np.flatnonzero(name == LANGUAGE) for name in np.unique(LANGUAGE)]
    for _ in range(1500):
        at = np.concatenate([g[rng.integers(0, len(g), len(g))] for g in groups])
        draws.append(f1(GOLD[at], PRED[at]))
    found = evaluated(interval_method="percentile", resamples=4000)["f1"].interval
    assert (found.low, found.high) == pytest.approx(np.quantile(draws, [0.025, 0.975]), abs=0.01)
    assert evaluated(interval_method="jackknife-t")["f1"].interval.se == pytest.approx(np.std(draws), rel=0.08)
    assert evaluated()["f1"].interval.method == "bootstrap-bca"


def test_the_bias_is_the_sum_of_the_biases_of_the_strata():
    """Strata of 2 and 3 units whose values without one are 0.1 and 0.2 above the score: 1 · 0.1 + 2 · 0.2 = 4 · (mean − score)."""
    value = np.array([[0.5], [0.7], [0.6], [0.7], [0.8]])
    found = StratifiedJackknife(np.ones(5), value, np.array([0, 0, 1, 1, 1]), np.array([0.5]))
    assert found.mean - 0.5 == pytest.approx((1 * 0.1 + 2 * 0.2) / 4)
    # Of the strata: 1/2 · (0.1² + 0.1²) and 2/3 · (0.1² + 0 + 0.1²).
    assert found.se**2 == pytest.approx(1 / 2 * 0.02 + 2 / 3 * 0.02)


def test_one_stratum_is_the_plain_jackknife():
    one = records(GOLD, language=lambda i: "x")
    found = karat.evaluate(one, records(PRED), metrics=["f1"], intervals=True, stratify_by="language",
                           interval_method="jackknife-t")["f1"].interval  # fmt: skip
    plain = evaluated(stratify_by=None, interval_method="jackknife-t")["f1"].interval
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high))


def test_strata_keep_their_sizes():
    design = Strata.of(np.array([0, 0, 1, 1, 1]), np.array([0, 1, 0, 2, 2]), 3)
    drawn = design.draw(np.random.default_rng(2), 500)
    assert (drawn.sum(1) == 5).all()
    assert set(drawn[:, 1]) <= {0.0, 1.0, 2.0}  # cell 1 is in the first stratum alone, which has two units


def test_a_stratum_of_one_unit_is_said_and_shows_no_spread():
    design = Strata.of(np.array([0, 1, 1, 1]), np.array([0, 1, 2, 2]), 3)
    x = np.array([5.0, 1.0, 2.0])
    mean = lambda W: (W @ x[:, None]) / (W @ np.ones((3, 1)))
    by_hand = 3 * np.array([1.0, 2.0, 2.0]).var(ddof=1) / 16
    assert jackknife(mean, design).se[0] ** 2 == pytest.approx(by_hand)
    odd = [row | {"language": "it" if i == 0 else row["language"]} for i, row in enumerate(GIVEN)]
    found = karat.evaluate(odd, records(PRED), metrics=["accuracy"], intervals=True, stratify_by="language")
    assert {"stratified", "single-strata"} <= {f.code for f in found.findings}


def test_several_test_cases_are_stratified_each():
    case = lambda i: "T1" if i % 2 else "T2"
    given = records(GOLD, case, language=lambda i: LANGUAGE[i])
    found = karat.evaluate(given, records(PRED, case), metrics=["accuracy"], intervals=True, stratify_by="language",
                           interval_method="jackknife-t")["accuracy"].interval  # fmt: skip
    x = (PRED == GOLD).astype(float)
    total = 0.0
    for t in (0, 1):
        inside = np.arange(N) % 2 == t
        parts = [x[inside & (name == LANGUAGE)] for name in np.unique(LANGUAGE)]
        total += sum(len(p) * p.var(ddof=1) for p in parts) / inside.sum() ** 2 / 4
    assert found.se**2 == pytest.approx(total)


def test_what_does_not_go_together_is_refused():
    with pytest.raises(karat.MetricError, match="stratum"):
        evaluated(cluster_by="language")
    with pytest.raises(karat.MetricError, match="strata"):
        evaluated(interval_method="wilson")
    with pytest.raises(karat.InputError):
        evaluated(stratify_by="nowhere")


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i},{g},{c}\n" for i, (g, c) in enumerate(zip(GOLD, LANGUAGE, strict=True)))
    (tmp_path / "gold.csv").write_text("id,value,language\n" + rows)
    (tmp_path / "pred.csv").write_text("id,value\n" + "".join(f"{i},{p}\n" for i, p in enumerate(PRED)))
    words = ["evaluate", "gold.csv", "pred.csv", "-m", "accuracy", "--intervals", "--stratify-by", "language"]
    found = CliRunner().invoke(command, words)
    assert found.exit_code == 0, found.output
    low = evaluated(metrics=["accuracy"])["accuracy"].interval.low
    assert f"{low:.4f}" in found.output


def test_verify_repeats_strata(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i},{g},{c}\n" for i, (g, c) in enumerate(zip(GOLD, LANGUAGE, strict=True)))
    (tmp_path / "gold.csv").write_text("id,value,language\n" + rows)
    (tmp_path / "pred.csv").write_text("id,value\n" + "".join(f"{i},{p}\n" for i, p in enumerate(PRED)))
    words = ["gold.csv", "pred.csv", "-m", "accuracy", "--intervals", "--stratify-by", "language", "--hashes"]
    assert CliRunner().invoke(command, ["evaluate", *words, "--report", "json", "-o", "r.json"]).exit_code == 0
    again = CliRunner().invoke(command, ["verify", "r.json"])
    assert again.exit_code == 0, again.output
