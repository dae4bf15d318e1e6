# SPDX-License-Identifier: Apache-2.0
"""SciPy's and statsmodels' stored values (versions are in the data) against ours."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.stats.by_hand import jackknife_t, resampled

from karat.stats import effects, intervals, power, ranks, tests
from karat.stats.corrections import benjamini_hochberg, bonferroni, holm
from karat.stats.randomisation import Coins, randomisation, sign_flip
from karat.stats.resampling import Units, jackknife

CASES = [json.loads(line) for line in (Path(__file__).parents[1] / "data" / "statistics.jsonl").open()]


def cases(function: str) -> list:
    return [pytest.param(c["input"], c["output"], id=c["name"]) for c in CASES if c["function"].startswith(function)]


def close(ours: float, theirs: float, rel: float = 1e-9) -> None:
    assert ours == pytest.approx(theirs, rel=rel, abs=1e-12)


@pytest.mark.parametrize(("given", "want"), cases("scipy.stats.ttest_rel"))
def test_paired_t(given, want):
    d = np.subtract(given["a"], given["b"])
    ours = tests.paired_t(d, alternative=given["alternative"])
    if tests.is_constant(d):
        assert ours.p == 1.0 or (np.isnan(ours.p) and ours.note == "constant difference")
        return
    close(ours.p, want["pvalue"])
    close(ours.statistic, want["statistic"])
    if given["alternative"] == "two-sided":
        jack = jackknife(lambda W: (W @ d) / (W @ np.ones(len(d))), Units(np.ones(len(d))))
        bounds = jackknife_t(d.mean(), jack, 0.95)
        close(float(bounds.low), want["ci95"][0])
        close(float(bounds.high), want["ci95"][1])


def forced_exact_with_ties(given: dict) -> bool:
    """SciPy's ``exact`` ignores ties; ours is conditional on them, which is SciPy's ``auto``."""
    d = np.abs(given["d"])
    return given["method"] == "exact" and (len(np.unique(d)) < len(d) or (d == 0).any())


@pytest.mark.parametrize(("given", "want"), cases("scipy.stats.wilcoxon"))
def test_wilcoxon(given, want):
    if forced_exact_with_ties(given):
        pytest.skip("SciPy's forced exact null ignores ties")
    method = given["method"]
    if method == "auto" and len(given["d"]) > 50:
        method = "asymptotic"
    ours = tests.wilcoxon(
        np.array(given["d"]), zeros=given["zero_method"], correction=given["correction"], method=method
    )
    close(ours.p, want["pvalue"])
    close(ours.statistic, want["statistic"])


@pytest.mark.parametrize(("given", "want"), cases("scipy.stats.binomtest"))
def test_sign(given, want):
    d, n = np.array([1.0, -1.0, 0.0]), np.array([given["wins"], given["losses"], given["ties"]], float)
    close(tests.sign_test(d, n).p, want["pvalue"])
    close(tests.sign_test(d, n, "greater").p, want["pvalue_greater"])


@pytest.mark.parametrize(("given", "want"), cases("formulas"))
def test_effects(given, want):
    a, b = np.array(given["a"]), np.array(given["b"])
    ours = effects.effect(a - b)
    assert (ours.win, ours.tie, ours.loss) == (want["win"], want["tie"], want["loss"])
    close(ours.superiority, want["prob_superiority_paired"])
    for ours_value, name in [
        (ours.d_z, "cohen_dz"),
        (ours.hedges_g, "hedges_gz"),
        (ours.rank_biserial, "matched_rank_biserial"),
    ]:
        if ours_value is not None:
            close(ours_value, want[name])


@pytest.mark.parametrize(("given", "want"), cases("scipy.stats.permutation_test"))
def test_exact_randomisation(given, want):
    d = np.subtract(given["a"], given["b"])
    size = np.ones(len(d))
    ours = randomisation(lambda s: (size - 2 * s) @ d / len(d), size, d.mean(), Coins(0))
    assert ours.exact
    close(float(ours.p), want["pvalue_abs"])
    close(sign_flip(np.round(d, 9), size), want["pvalue_abs"])


@pytest.mark.parametrize(("given", "want"), cases("statsmodels mcnemar"))
def test_mcnemar(given, want):
    (_, a_only), (b_only, _) = given["table"]
    close(tests.mcnemar(a_only, b_only, "exact").p, want["exact=True,cc=False"]["pvalue"])
    close(tests.mcnemar(a_only, b_only).p, want["midp"])
    if a_only + b_only:
        close(tests.mcnemar(a_only, b_only, "chi2").p, want["exact=False,cc=False"]["pvalue"])
        close(tests.mcnemar(a_only, b_only, "chi2-cc").p, want["exact=False,cc=True"]["pvalue"])
    flips = np.array([a_only, b_only], float)
    close(sign_flip(np.array([1.0, -1.0]), flips), want["exact=True,cc=False"]["pvalue"])


@pytest.mark.parametrize(("given", "want"), cases("scipy friedmanchisquare"))
def test_friedman_nemenyi(given, want):
    ours = ranks.friedman(np.array(given["scores"]), given["higher_is_better"])
    close(ours.chi2, want["statistic"])
    close(ours.chi2_p, want["pvalue"])
    close(ours.f, want["iman_davenport_F"])
    if want["iman_davenport_p"] < 1e-5:  # beyond all shuffles, by which p of tables of this size is found
        assert ours.p == 1e-5
    else:
        close(ours.p, want["iman_davenport_p"])
    close(ours.kendall_w, want["kendalls_w"])
    np.testing.assert_allclose(ours.mean_ranks, want["mean_ranks"])
    close(ranks.critical_difference(len(ours.mean_ranks), ours.blocks), want["cd_05"], rel=1e-6)


@pytest.mark.parametrize(("given", "want"), cases("statsmodels multipletests"))
def test_corrections(given, want):
    p = np.array(given["pvalues"])
    for name, ours in [("holm", holm), ("bonferroni", bonferroni), ("fdr_bh", benjamini_hochberg)]:
        np.testing.assert_allclose(ours(p), want[name]["adjusted"])


@pytest.mark.parametrize(("given", "want"), cases("statsmodels proportion_confint"))
def test_proportions(given, want):
    np.testing.assert_allclose(intervals.wilson(given["k"], given["n"], given["level"]), want["wilson"], atol=1e-12)
    np.testing.assert_allclose(
        intervals.clopper_pearson(given["k"], given["n"], given["level"]), want["beta"], atol=1e-12
    )


@pytest.mark.parametrize(("given", "want"), cases("statsmodels TTestPower"))
def test_power(given, want):
    close(power.power_of(given["dz"], given["n"], given["alpha"]), want["power"])
    needed = power.units_needed(given["dz"], alpha=given["alpha"], power=given["target_power"])
    close(needed, want["n_for_power_80"], rel=1e-4 if needed < 1000 else 5e-3)
    ours = power.mde(1 / np.sqrt(given["n"]), alpha=given["alpha"], power=given["target_power"], df=given["n"] - 1)
    close(ours, want["mde_dz"], rel=1e-4 if given["n"] < 1000 else 5e-3)


@pytest.mark.parametrize(("given", "want"), cases("statsmodels ttost_paired"))
def test_equivalence(given, want):
    d = np.subtract(given["a"], given["b"])
    size, mean, sd = tests.moments(d)
    close(tests.tost(mean, sd / np.sqrt(size), size - 1, given["upp"]).p, want["pvalue"])


@pytest.mark.parametrize(("given", "want"), cases("scipy.stats.bootstrap"))
def test_bca_of_a_mean(given, want):
    x = np.array(given["x"])
    ours = resampled(
        lambda W: (W @ x) / (W @ np.ones(len(x))), x.mean(), Units(np.ones(len(x))), np.random.default_rng(5)
    )
    np.testing.assert_allclose([ours.low, ours.high], want["ci"], atol=want["mc_tolerance"])
    assert ours.se == pytest.approx(want["se"], rel=0.03)


def confusion_statistic(k: int):
    gold, pred = (axis.ravel() for axis in np.indices((k, k)))
    eye, hit = np.eye(k), (gold == pred).astype(float)

    def statistic(W):
        n, ones = W @ np.ones(k * k), np.ones(k * k)
        g, p, tp = W @ eye[gold], W @ eye[pred], W @ (eye[gold] * hit[:, None])
        chance, agree = (g * p).sum(-1), W @ hit
        f1 = (2 * tp / (g + p)).mean(-1)
        kappa = (agree / n - chance / n**2) / (1 - chance / n**2)
        mcc = (agree * n - chance) / np.sqrt((n**2 - (p**2).sum(-1)) * (n**2 - (g**2).sum(-1)))
        return np.stack([f1, kappa, mcc], -1) + 0 * ones.sum()

    return statistic


@pytest.mark.parametrize(("given", "want"), cases("cell bootstrap"))
def test_cell_bootstrap_of_confusion_matrices(given, want):
    table = np.array(given["confusion"], float)
    n, statistic = table.ravel(), confusion_statistic(len(table))
    point, design = statistic(n[None, :])[0], Units(n)
    jack, se = jackknife(statistic, design), intervals.delta_se(statistic, n)
    bca = resampled(statistic, point, design, np.random.default_rng(1), resamples=100_000)
    pct = resampled(statistic, point, design, np.random.default_rng(2), method="percentile", resamples=100_000)
    for k, name in enumerate(["macro_f1", "kappa", "mcc"]):
        stored = want[name]
        width = stored["boot_bca"][1] - stored["boot_bca"][0]
        close(point[k], stored["value"])
        close(se[k], stored["se_delta"], rel=1e-6)
        close(jack.acceleration[k], stored["accel"], rel=2e-2)
        np.testing.assert_allclose([bca.low[k], bca.high[k]], stored["boot_bca"], atol=0.012 * width)
        np.testing.assert_allclose([pct.low[k], pct.high[k]], stored["boot_pct"], atol=0.012 * width)
