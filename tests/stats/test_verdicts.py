# SPDX-License-Identifier: Apache-2.0
"""What a verdict may rest on: clusters, the whole family, spread that was seen, draws that suffice."""

from __future__ import annotations

import numpy as np
import pytest
from tests.stats.systems import GOLD, SYSTEMS, records

import karat
from karat.ci import outcome
from karat.comparison import Test
from karat.stats.comparing import _decidable
from karat.stats.family import corrected, verdict_of
from karat.stats.power import mde
from karat.stats.settings import ComparisonSettings


def labels(rng, n, accuracies):
    gold = rng.choice(list("ABC"), n)
    return gold, {
        f"s{i}": np.where(rng.random(n) < a, gold, rng.choice(list("ABC"), n)) for i, a in enumerate(accuracies)
    }


def by_document(rng, documents=40, items=20, systems=3):
    """Systems that are right or wrong by whole documents; none is better than another."""
    n = documents * items
    gold = rng.choice(list("AB"), n)
    other = np.where(gold == "A", "B", "A")
    each = lambda: np.repeat(rng.beta(0.6, 0.4, documents), items)
    given = {f"s{i}": np.where(rng.random(n) < each(), gold, other) for i in range(systems)}
    doc = lambda i: f"d{i // items}"
    return records(gold, doc=doc), {name: records(values) for name, values in given.items()}


@pytest.mark.parametrize("correction", ["tukey", "maxt"])
def test_corrections_of_the_joint_law_keep_clusters_whole(correction):
    gold, systems = by_document(np.random.default_rng(4))
    options = {
        "metrics": ["accuracy"],
        "resamples": 100,
        "draws": 499,
        "baseline": "s0" if correction == "maxt" else None,
    }
    whole = karat.compare(gold, systems, cluster_by="doc", correction=correction, **options)
    plain = karat.compare(gold, systems, cluster_by="doc", correction="none", **options)
    for pair, alone in zip(whole.pairs, plain.pairs, strict=True):
        assert pair.p_corrected > alone.p - 0.05


@pytest.mark.slow
@pytest.mark.parametrize("correction", ["tukey", "maxt", "holm"])
def test_family_error_with_clusters(correction):
    """A false verdict in at most 5 % of data sets of three equal systems on 40 documents; ±3 standard errors."""
    rng, wrong, runs = np.random.default_rng(41), 0, 300
    for _ in range(runs):
        gold, systems = by_document(rng)
        c = karat.compare(
            gold, systems, metrics=["accuracy"], cluster_by="doc", correction=correction, resamples=100, draws=399,
            baseline="s0" if correction == "maxt" else None,
        )  # fmt: skip
        wrong += any(p.verdict != "inconclusive" for p in c.pairs)
    assert wrong / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


@pytest.mark.parametrize("correction", ["tukey", "maxt"])
def test_the_joint_law_is_that_of_all_metrics(correction):
    """Beside other metrics a p-value is corrected for them too."""
    gold, systems = labels(np.random.default_rng(2), 120, (0.8, 0.75, 0.7))
    options = {"correction": correction, "baseline": "s0" if correction == "maxt" else None, "resamples": 100}
    alone = karat.compare(gold, systems, metrics=["accuracy"], **options)
    among = karat.compare(
        gold, systems, metrics=["accuracy", "f1(average=weighted)", "recall", "precision", "mcc"], **options
    )
    assert among.family == 5 * alone.family
    p = [pair.p_corrected for pair in alone.pairs]
    q = [pair.p_corrected for pair in among.of("accuracy")]
    assert sum(q) > sum(p)


def test_many_tests_do_not_hide_a_large_difference():
    """13 systems × 8 metrics: F1 .97 and F1 .0 are told apart whatever the number of draws."""
    rng = np.random.default_rng(5)
    gold = rng.choice(list("ABC"), 300)
    good = {f"s{i:02}": np.where(rng.random(300) < 0.97, gold, "A") for i in range(12)}
    bad = np.array(list("BCA"))[np.searchsorted(list("ABC"), gold)]
    c = karat.compare(
        gold, good | {"bad": bad}, metrics=["f1", "kappa", "mcc"], draws=999, resamples=100, correction="bonferroni"
    )
    assert c.family == 3 * 78
    assert all(c.pair("s00", "bad", m).verdict == "better" for m in c.metrics)
    assert c.pair("s00", "bad", "f1").p_is_bound


def test_a_p_at_its_floor_is_not_called_equality():
    for seed in range(60):  # until a difference lies beyond the draws, but not far beyond
        gold, systems = labels(np.random.default_rng(seed), 200, (0.9, 0.8, 0.75, 0.7))
        c = karat.compare(gold, systems, metrics=["f1"], draws=39, resamples=100)
        undecided = [p for p in c.pairs if p.undecided]
        if undecided:
            break
    assert undecided
    assert all("cannot be told apart" not in p.sentence and "draws are too few" in p.sentence for p in undecided)
    assert "too-few-draws" in {f.code for f in c.findings}
    for report in ("table", "markdown", "latex", "html"):
        assert "too few to decide" in c.render(report)


def test_a_p_at_its_floor_is_undecided_however_large_its_family_makes_it():
    """Corrected it is 1 at most, as any p is: that says nothing of the systems."""
    raw = np.array([[0.01, 0.5], [0.01, 0.9]] * 40)
    family = corrected(raw, raw == 0.01, ComparisonSettings(draws=99))
    assert family.of(0, 0).p == 1
    assert family.of(0, 0).bound
    assert not family.of(0, 1).bound


def first_looks(p, draws=1_999):
    """A first look at pairs on one metric."""
    return [[[Test("randomisation", value, draws=draws)]] for value in p]


@pytest.mark.parametrize(
    ("pairs", "again"),
    [
        (4_000, [0, 1, 2]),  # 1/100,000 of no draw beyond is below .05/4,000: these can be shown
        (6_000, [2]),  # and above .05/6,000; but the bound of the third is near that by itself
    ],
)
def test_pairs_are_drawn_again_where_that_can_decide(pairs, again):
    drawn = first_looks([0.0005, 0.002, 2e-5, 0.003, 1e-9, *np.full(pairs - 5, 0.5)])
    assert _decidable(drawn, ComparisonSettings()) == again


def test_steps_that_others_take_count_for_more_draws():
    """Of 6,000 pairs 2,000 are told apart: Holm leaves a factor of 4,000 to the others, Bonferroni does not."""
    drawn = first_looks([*np.full(2_000, 1e-9), 0.0005, *np.full(3_999, 0.5)])
    assert _decidable(drawn, ComparisonSettings()) == [2_000]
    assert _decidable(drawn, ComparisonSettings(correction="bonferroni")) == []
    assert _decidable(drawn, ComparisonSettings(correction="none")) == []  # 1,999 draws are enough for one test


def test_detectable_differences_are_those_of_the_corrected_test():
    gold, systems = labels(np.random.default_rng(6), 400, (0.8,) * 5)
    c = karat.compare(gold, systems, metrics=["f1"], resamples=100, draws=199)
    pair = c.pairs[0]
    assert pair.mde == pytest.approx(mde(pair.interval.se, alpha=0.05 / 10, df=399))
    alone = karat.compare(gold, systems, metrics=["f1"], resamples=100, draws=199, correction="none").pairs[0]
    assert alone.mde == pytest.approx(mde(pair.interval.se, df=399))


@pytest.mark.slow
def test_a_detectable_difference_is_detected_in_four_of_five_data_sets():
    """Ten systems, one of them better by the difference that the sentence names: power .8 ± Monte Carlo error."""
    rng, seen, named, runs = np.random.default_rng(7), 0, [], 60
    for _ in range(runs):
        gold = rng.choice(["A", "B"], 400)
        wrong = np.where(gold == "A", "B", "A")
        systems = {f"s{i}": np.where(rng.random(400) < (0.885 if i == 0 else 0.8), gold, wrong) for i in range(10)}
        c = karat.compare(gold, systems, metrics=["accuracy"], resamples=100, draws=199)
        first = [p for p in c.pairs if p.a == "s0"]
        seen += np.mean([p.verdict == "better" for p in first])
        named += [p.mde for p in first]
    # Differences between what is named and the true .085 shift the power: compare where they agree.
    assert np.mean(named) == pytest.approx(0.1, abs=0.015)
    assert 0.45 <= seen / runs <= 0.85


def test_no_spread_is_not_certainty():
    one = karat.compare(["A"], {"a": ["A"], "b": ["B"]}, metrics=["accuracy"], rope=0.01, margin=0.1, resamples=100)
    assert one.pairs[0].posterior is None
    assert one.pairs[0].interval.low < 0 < one.pairs[0].interval.high
    assert one.pairs[0].equivalence.p == 1.0
    gold = list("ABABA")
    five = karat.compare(gold, {"a": gold, "b": gold}, metrics=["accuracy"], rope=0.01, margin=0.1, resamples=100)
    assert five.pairs[0].equivalence.p == pytest.approx(0.9**5)
    assert five.pairs[0].posterior is None
    assert "difference-constant" in {f.code for f in five.findings}


def test_a_gate_does_not_pass_on_three_equal_units():
    with pytest.raises(AssertionError, match="not shown to be no worse"):
        karat.assert_not_worse(
            list("ABA"), list("ABA"), list("ABA"), metrics=["accuracy"], margin=0.02, inconclusive="fail"
        )
    many = ["A", "B"] * 500
    c = karat.assert_not_worse(many, many, many, metrics=["accuracy"], margin=0.02, inconclusive="fail")
    assert outcome(c.pairs[0], 0.02, 0.05) == "not worse"


@pytest.mark.parametrize("correction", ["holm", "hochberg", "bonferroni", "bh", "by", "none", "tukey", "maxt"])
def test_verdict_and_interval_agree(correction):
    for seed in range(3):
        gold, systems = labels(np.random.default_rng(seed), 80, (0.9, 0.8, 0.8, 0.7, 0.65))
        base = "s4" if correction == "maxt" else None
        c = karat.compare(
            gold, systems, metrics=["f1", "accuracy"], correction=correction, baseline=base, resamples=100, draws=499
        )
        for pair in c.pairs:
            decided = pair.verdict in ("better", "worse")
            low, high = pair.simultaneous.low, pair.simultaneous.high
            assert decided != (low < 0 < high), pair.sentence
            assert low <= pair.difference <= high


def test_simultaneous_intervals_are_wider_than_single_ones():
    gold, systems = labels(np.random.default_rng(0), 200, (0.9, 0.8, 0.8, 0.7))
    c = karat.compare(gold, systems, metrics=["f1"], resamples=100, draws=499)
    for pair in c.pairs:
        assert pair.simultaneous.high - pair.simultaneous.low >= pair.interval.high - pair.interval.low - 1e-12
    assert "simultaneous" in c.render("table")


@pytest.mark.parametrize("correction", ["holm", "tukey"])
def test_names_and_order_of_systems_do_not_move_p(correction):
    gold, systems = labels(np.random.default_rng(9), 150, (0.8, 0.75, 0.7))
    options = {"metrics": ["f1"], "resamples": 100, "draws": 999, "correction": correction}
    one = karat.compare(gold, systems, **options)
    turned = karat.compare(gold, dict(reversed(systems.items())), **options)
    renamed = karat.compare(gold, {f"x{name}": s for name, s in systems.items()}, **options)
    for pair, other in zip(one.pairs, renamed.pairs, strict=True):
        assert pair.p_corrected == other.p_corrected
        assert pair.p_corrected == turned.pair(pair.a, pair.b, "f1").p_corrected


def test_a_test_that_does_not_apply_is_said():
    c = karat.compare(
        GOLD, {k: SYSTEMS[k] for k in ("good", "fair")}, metrics=["accuracy", "f1"], tests=["wilcoxon"], resamples=100
    )
    said = [f for f in c.findings if f.code == "test-needs-units"]
    assert len(said) == 1
    assert "f1" in said[0].message
    assert "accuracy" not in said[0].message
    ordered = karat.compare(
        GOLD, {k: SYSTEMS[k] for k in ("good", "fair")}, metrics=["accuracy", "f1"], tests=["aso"], resamples=100
    )
    assert [f.facts["metrics"] for f in ordered.findings if f.code == "test-needs-units"] == ["f1"]


def test_the_mark_of_a_corrected_p_is_its_own():
    """Tukey's p is at the floor of its own draws, not of the single test's."""
    c = karat.compare(GOLD, SYSTEMS, metrics=["accuracy", "f1"], correction="tukey", draws=499, resamples=100)
    for pair in c.pairs:
        assert pair.p_is_bound == (pair.p_corrected <= 1 / 500)


def test_many_swaps_do_not_overflow():
    from karat.stats.randomisation import Coins, randomisation

    n = np.full(20_000, 3.0)
    with np.errstate(all="raise"):
        law = randomisation(lambda s: (n - 2 * s).sum(1, keepdims=True), n, np.array([0.0]), Coins(0), 99)
    assert law.p[0] == 1.0


def test_no_interval_is_no_interval_without_ends():
    """Distances have no largest value: of systems that are alike no interval is known, and none is said."""
    gold, pred = {str(i): float(i) for i in range(40)}, {str(i): i + 0.5 for i in range(40)}
    c = karat.compare(gold, {"a": pred, "b": pred}, context="numbers", metrics=["mae"], resamples=199)
    assert c.pairs[0].simultaneous is None
    assert c.pairs[0].sentence.endswith("difference 0.000, Holm-corrected p = 1.")


def test_a_correction_that_mixes_outcomes_names_the_metrics_that_it_cannot_mix():
    gold, a, b = (
        {str(i): float(x) for i, x in enumerate(row)} for row in np.random.default_rng(8).normal(size=(3, 30))
    )
    how = {"context": "numbers", "correction": "tukey", "resamples": 199, "draws": 199}
    with pytest.raises(karat.MetricError, match=r"those of spearman have .* leave these metrics out"):
        karat.compare(gold, {"a": a, "b": b}, metrics=["mae", "spearman"], **how)
    assert karat.compare(gold, {"a": a, "b": b}, metrics=["mae", "rmse"], **how).correction == "tukey"


@pytest.mark.parametrize(
    ("gain", "p", "verdict"),
    [
        (0.1, 0.05, "better"), (-0.1, 0.05, "worse"), (0.1, 0.0501, "inconclusive"), (0.0, 0.01, "inconclusive"),
        (0.1, float("nan"), "undefined"), (float("nan"), 0.01, "undefined"),
    ],
)  # fmt: skip
def test_a_p_of_alpha_itself_decides(gain, p, verdict):
    assert verdict_of(gain, p, 0.05) == verdict


def test_two_systems_have_one_p_in_every_test_whichever_comes_first():
    gold, systems = labels(np.random.default_rng(9), 150, (0.8, 0.7))
    options = {"metrics": ["f1"], "tests": ["bootstrap"], "resamples": 100, "draws": 199}
    one, other = (
        karat.compare(gold, {name: systems[name] for name in names}, **options).pairs[0]
        for names in (("s0", "s1"), ("s1", "s0"))
    )
    assert one.difference == -other.difference
    assert [(t.name, t.p) for t in one.tests] == [(t.name, t.p) for t in other.tests]
    assert {"randomisation", "paired bootstrap"} <= {t.name for t in one.tests}
