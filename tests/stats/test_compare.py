# SPDX-License-Identifier: Apache-2.0
"""Comparison of systems: pairing, tests, corrections, settings."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.stats.systems import GOLD, METRICS, SYSTEMS, N, records
from tests.stats.tukey import randomised_tukey

import karat
from karat.comparison import flipped
from karat.stats.tests import mcnemar


def test_all_pairs_and_metrics(comparison):
    assert len(comparison.pairs) == 6 * 4
    assert comparison.family == 24
    assert [str(m) for m in comparison.metrics] == METRICS


def test_differences_are_those_of_the_scores(comparison):
    for pair in comparison.pairs:
        a, b = (
            next(s for s in comparison.evaluation.systems if s.name == n)[pair.metric].value for n in (pair.a, pair.b)
        )
        assert pair.difference == pytest.approx(a - b)
        assert pair.interval.low <= pair.difference <= pair.interval.high


def test_accuracy_is_mcnemar_and_paired_t(comparison):
    pair = comparison.pair("good", "fair", "accuracy")
    a, b = (SYSTEMS[n] == GOLD for n in ("good", "fair"))
    n10, n01 = int((a & ~b).sum()), int((~a & b).sum())
    assert pair.test.name == "McNemar mid-p"
    assert pair.p == pytest.approx(mcnemar(n10, n01).p)
    by_name = {t.name: t for t in pair.tests}
    assert by_name["randomisation"].p == pytest.approx(mcnemar(n10, n01, "exact").p)
    assert by_name["randomisation"].exact
    d = a.astype(float) - b
    assert by_name["paired t"].p == pytest.approx(stats.ttest_1samp(d, 0).pvalue)
    low, high = stats.ttest_1samp(d, 0).confidence_interval(0.95)
    assert pair.interval.low == pytest.approx(low)
    assert pair.interval.high == pytest.approx(high)
    assert (pair.effect.win, pair.effect.loss) == (n10, n01)


def macro_f1(gold, pred):
    hit = gold == pred
    return np.mean([2 * (hit & (gold == c)).sum() / ((gold == c).sum() + (pred == c).sum()) for c in "ABC"])


def test_the_reference_is_scikit_learns():
    from sklearn.metrics import f1_score

    assert macro_f1(GOLD, SYSTEMS["fair"]) == pytest.approx(f1_score(GOLD, SYSTEMS["fair"], average="macro"))


def test_randomisation_of_f1_is_that_of_items(comparison):
    """The p of swapping cells against the p of swapping items in a loop."""
    rng, a, b = np.random.default_rng(0), SYSTEMS["fair"], SYSTEMS["even"]
    observed = abs(macro_f1(GOLD, a) - macro_f1(GOLD, b))
    extreme = 0
    for _ in range(400):
        swap = rng.random(N) < 0.5
        x, y = np.where(swap, b, a), np.where(swap, a, b)
        extreme += abs(macro_f1(GOLD, x) - macro_f1(GOLD, y)) >= observed - 1e-12
    ours = comparison.pair("fair", "even", "f1").p
    assert ours == pytest.approx((extreme + 1) / 401, abs=0.1)


def test_jackknife_of_the_difference_is_that_of_items(comparison):
    a, b = SYSTEMS["fair"], SYSTEMS["poor"]
    left_out = [
        macro_f1(np.delete(GOLD, i), np.delete(a, i)) - macro_f1(np.delete(GOLD, i), np.delete(b, i)) for i in range(N)
    ]
    se = np.sqrt((N - 1) / N * ((left_out - np.mean(left_out)) ** 2).sum())
    assert comparison.pair("fair", "poor", "f1").interval.se == pytest.approx(se)


def test_lower_is_better_turns_the_verdict(comparison):
    pair = comparison.pair("good", "poor", "hamming_loss")
    assert pair.difference < 0 < pair.gain
    assert pair.verdict == "better"
    assert pair.effect.win > pair.effect.loss


def test_p_is_never_zero(comparison):
    assert all(0 < t.p <= 1 for p in comparison.pairs for t in p.tests)


def test_corrected_p_is_holm_over_the_family(comparison):
    from karat.stats.corrections import holm

    raw = np.array([p.p for p in comparison.pairs])
    np.testing.assert_allclose([p.p_corrected for p in comparison.pairs], holm(raw))


def test_order_of_rows_and_systems_does_not_matter():
    order = np.random.default_rng(1).permutation(N)
    names = ["fair", "even"]
    one = karat.compare(records(GOLD), {n: records(SYSTEMS[n]) for n in names}, metrics=["f1", "kappa"], resamples=199)
    gold = [records(GOLD)[i] for i in order]
    two = karat.compare(
        gold, {n: [records(SYSTEMS[n])[i] for i in order[::-1]] for n in names}, metrics=["f1", "kappa"], resamples=199
    )
    assert one.to_dicts() == two.to_dicts()


def test_flipped_is_the_other_side(comparison):
    pair = comparison.pairs[0]
    assert flipped(flipped(pair)) == pair
    assert flipped(pair).difference == -pair.difference


def test_identical_systems_are_equal():
    c = karat.compare(GOLD, {"a": SYSTEMS["fair"], "b": SYSTEMS["fair"]}, metrics=METRICS, resamples=199)
    assert all(p.p == 1.0 and p.verdict == "inconclusive" and p.difference == 0 for p in c.pairs)


def test_small_data_are_enumerated():
    gold, a, b = list("ABABAB"), list("ABABAA"), list("BBAAAB")
    c = karat.compare(gold, {"a": a, "b": b}, metrics=["f1"], resamples=199)
    assert c.pairs[0].test.exact


@pytest.mark.parametrize("correction", ["holm", "hochberg", "bonferroni", "bh", "by", "none", "tukey", "maxt"])
def test_every_correction(correction):
    c = karat.compare(
        GOLD,
        SYSTEMS,
        metrics=["f1"],
        correction=correction,
        baseline="poor" if correction == "maxt" else None,
        draws=499,
        resamples=199,
    )
    best = c.pair("good", "poor", "f1")
    assert best.p_corrected <= 0.05
    assert best.verdict == "better"
    if correction == "tukey":
        assert c.pair("fair", "even", "f1").p_corrected > 0.05


def test_tukey_of_accuracy_is_that_of_item_means():
    from karat.stats.random import stream

    c = karat.compare(GOLD, SYSTEMS, metrics=["accuracy"], correction="tukey", draws=1999, resamples=199)
    x = np.stack([s == GOLD for s in SYSTEMS.values()], -1).astype(float)
    want = randomised_tukey(x, stream(1, "t"), 1999)
    names = list(SYSTEMS)
    for pair in c.pairs:
        assert pair.p_corrected == pytest.approx(want[names.index(pair.a), names.index(pair.b)], abs=0.04)


def test_other_tests_on_request():
    c = karat.compare(
        GOLD,
        {k: SYSTEMS[k] for k in ("good", "fair")},
        metrics=["accuracy", "f1"],
        tests=["wilcoxon", "sign", "bootstrap"],
        resamples=199,
    )
    assert [t.name for t in c.pairs[0].tests] == [
        "McNemar mid-p",
        "randomisation",
        "paired t",
        "Wilcoxon",
        "sign",
        "paired bootstrap",
    ]
    assert [t.name for t in c.pairs[1].tests] == ["randomisation", "paired bootstrap"]
    assert c.pairs[1].tests[1].p == pytest.approx(c.pairs[1].p, abs=0.02)


def test_equivalence_and_posterior():
    c = karat.compare(
        GOLD,
        {k: SYSTEMS[k] for k in ("fair", "even", "poor")},
        metrics=["accuracy"],
        margin=0.5,
        rope=0.02,
        resamples=199,
    )
    pair = c.pair("fair", "even", "accuracy")
    assert pair.equivalence.p < 0.05
    found = c.pair("fair", "poor", "accuracy").posterior
    assert found.worse + found.equal + found.better == pytest.approx(1)
    assert found.better > 0.99


def test_units_are_paired_by_id_and_missing_ones_are_said():
    a, b = records(SYSTEMS["good"]), records(SYSTEMS["fair"])[:200]
    c = karat.compare(records(GOLD), {"a": a, "b": b}, metrics=["accuracy"], resamples=199)
    assert c.pairs[0].units == N
    assert "gold-only-ids" in {f.code for f in c.findings}
    skipped = karat.compare(records(GOLD), {"a": a, "b": b}, metrics=["accuracy"], missing="skip", resamples=199)
    assert skipped.pairs[0].units == 200
    assert "common-units" in {f.code for f in skipped.findings}
    want = (SYSTEMS["good"] == GOLD)[:200].mean()
    assert skipped.pairs[0].a_value == pytest.approx(want)


def test_clusters_swap_whole():
    doc = lambda i: f"doc{i // 8}"
    gold = records(GOLD, doc=doc)
    c = karat.compare(
        gold,
        {n: records(SYSTEMS[n]) for n in ("good", "poor")},
        metrics=["accuracy", "f1"],
        cluster_by="doc",
        resamples=199,
    )
    assert all(p.verdict == "better" for p in c.pairs)
    assert c.pairs[0].test.name == "randomisation"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"correction": "magic"}, "not one of"),
        ({"tests": ["magic"]}, "not one of"),
        ({"baseline": "nobody"}, "no system 'nobody'"),
        ({"correction": "maxt"}, "name one"),
        ({"level": 2.0}, "not between"),
    ],
)
def test_wrong_wishes_are_explained(given, said):
    with pytest.raises(karat.MetricError, match=said):
        karat.compare(GOLD, {k: SYSTEMS[k] for k in ("good", "fair")}, **given)


def test_a_metric_without_a_better_end_compares_nothing():
    votes = {str(i): {"ann1": "AB"[i % 2], "ann2": "AABB"[i % 4]} for i in range(8)}
    systems = {name: {k: {"A": p, "B": 1 - p} for k in votes} for name, p in (("a", 0.4), ("b", 0.8))}
    with pytest.raises(karat.MetricError, match="krippendorff_alpha cannot say which system is better"):
        karat.compare(votes, systems, metrics=["krippendorff_alpha"])


def test_one_system_is_no_comparison():
    with pytest.raises(karat.MetricError, match="two systems"):
        karat.compare(GOLD, {"a": SYSTEMS["good"]})


def test_units_needed_for_a_difference():
    pair = {k: SYSTEMS[k] for k in ("fair", "even")}
    first, half = (
        karat.compare(GOLD, pair, metrics=["accuracy"], detect=d, resamples=199).pairs[0] for d in (0.02, 0.01)
    )
    # Half the difference needs four times the units; as many units as there are show the detectable difference.
    assert half.needed == pytest.approx(4 * first.needed, rel=0.01)
    again = karat.compare(GOLD, pair, metrics=["accuracy"], detect=first.mde, resamples=199).pairs[0]
    assert again.needed == pytest.approx(N, abs=2)
    for nothing in (-1.0, 0.0):
        with pytest.raises(karat.MetricError, match="positive"):
            karat.compare(GOLD, pair, detect=nothing)


def test_names_of_corrections_are_those_that_exist():
    from karat.stats import corrections, settings

    assert tuple(corrections.CORRECTIONS) == settings.CORRECTIONS


@pytest.mark.slow
def test_family_error_of_three_equal_systems():
    """Holm over pairs and metrics: a false verdict in at most 5 % of null experiments."""
    rng, wrong, runs = np.random.default_rng(31), 0, 200
    for seed in range(runs):
        gold = rng.choice(["A", "B", "C"], 150, p=[0.5, 0.3, 0.2])
        null = {n: np.where(rng.random(150) < 0.75, gold, rng.choice(["A", "B", "C"], 150)) for n in "xyz"}
        c = karat.compare(gold, null, metrics=["f1", "kappa"], resamples=100, draws=999, seed=seed)
        wrong += any(p.verdict != "inconclusive" for p in c.pairs)
    assert wrong / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


def test_threads_do_not_change_a_digit():
    from concurrent.futures import ThreadPoolExecutor

    def rows(_):
        return karat.compare(
            GOLD, {k: SYSTEMS[k] for k in ("fair", "even")}, metrics=["f1", "kappa"], resamples=199, draws=499
        ).to_dicts()

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(rows, range(4)))
    assert all(f == found[0] for f in found)


def test_a_metric_that_is_undefined_from_the_start():
    """It asks for no product at all."""
    gold = [{"A": 0.7, "B": 0.3}, {"A": 0.2, "B": 0.8}] * 10
    found = karat.compare(gold, {"x": gold, "y": gold[::-1]}, metrics=["wasserstein", "manhattan"], draws=19)
    assert found.pairs[0].verdict == "undefined"
    alone = karat.compare(gold, {"x": gold, "y": gold[::-1]}, metrics=["wasserstein"], draws=19)
    assert alone.pairs[0].p is None


def test_a_p_that_is_alpha_rules_zero_out():
    """Five units of one system alone: McNemar's mid-p is 2 · (½)⁵ − (½)⁵ = 1/32."""
    gold, worse = ["A"] * 12, ["B"] * 5 + ["A"] * 7
    for level, verdict in ((1 - 1 / 32, "better"), (1 - 1 / 33, "inconclusive")):
        pair = karat.compare(gold, {"a": gold, "b": worse}, metrics=["accuracy"], level=level).pairs[0]
        assert (pair.p, pair.verdict) == (1 / 32, verdict)
        for interval in (pair.interval, pair.simultaneous):
            assert (interval.low > 0) == (verdict == "better")


def test_many_pairs_get_a_first_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer draws for each of very many pairs, and more only where they could still decide."""
    from karat.comparison import Test as Drawn
    from karat.stats import comparing

    rng = np.random.default_rng(3)
    gold = rng.integers(3, size=300)
    systems = {name: np.where(rng.random(300) < 0.7, gold, rng.integers(3, size=300)).tolist() for name in "abc"}
    usual = karat.compare(gold.tolist(), systems, metrics=["f1"])
    monkeypatch.setattr(comparing, "MANY_PAIRS", 2)
    many = karat.compare(gold.tolist(), systems, metrics=["f1"])
    assert {p.tests[0].draws for p in usual.pairs} == {9_999}
    assert {p.tests[0].draws for p in many.pairs} == {1_999}
    assert [p.verdict for p in many.pairs] == [p.verdict for p in usual.pairs]
    asked = karat.compare(gold.tolist(), systems, metrics=["f1"], draws=5_000)
    assert {p.tests[0].draws for p in asked.pairs} == {5_000}
    assert comparing._is_open(Drawn("randomisation", 1 / 2_000, draws=1_999), 1e-5)
    assert not comparing._is_open(Drawn("randomisation", 1e-9, draws=1_999), 1e-5), "its bound decides"
    assert not comparing._is_open(Drawn("randomisation", 0.2, draws=1_999), 1e-5)


def test_a_difference_that_no_score_reaches_is_no_size_to_show():
    gold, a, b = ["y", "n", "y", "n"], [0.9, 0.2, 0.3, 0.4], [0.6, 0.7, 0.5, 0.1]
    c = karat.compare(gold, {"A": a, "B": b}, context="probabilities", pos_label="y", metrics=["roc_auc"])
    (pair,) = c.pairs
    assert pair.mde is not None
    assert pair.mde > 1
    assert pair.sentence.endswith("; this data is too small to show any.")
