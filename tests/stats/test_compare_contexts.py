# SPDX-License-Identifier: Apache-2.0
"""Comparison in every context: whose labels may differ, whose units are queries, whose cells may be merged."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats
from tests.stats.systems import GOLD, SYSTEMS, bundles, label_sets, records, spans, weights

import karat


def test_label_sets_may_differ():
    odd = SYSTEMS["fair"].copy()
    odd[:5] = "Z"
    c = karat.compare(GOLD, {"a": SYSTEMS["good"], "b": odd}, metrics=["accuracy", "f1", "icm"], resamples=199)
    assert all(p.verdict == "better" for p in c.pairs)
    assert c.pairs[1].test.name == "randomisation"
    for pair in c.pairs:
        assert pair.b_value == pytest.approx(c.evaluation.systems[1][pair.metric].value)


def test_label_sets_of_spans_may_differ():
    rng = np.random.default_rng(6)
    gold = spans(rng, 1.0)
    odd = [[t.replace("LOC", "ORG") for t in row] for row in spans(rng, 0.9, gold)]
    c = karat.compare(gold, {"a": spans(rng, 0.95, gold), "b": odd}, context="spans", metrics=["f1"], resamples=199)
    assert c.pairs[0].test.name == "paired bootstrap"
    assert "labels or levels differ" in c.pairs[0].test.note
    assert c.pairs[0].verdict == "better"


@pytest.mark.parametrize(("label", "test"), [("MISC", "paired bootstrap"), ("ORG", "randomisation")])
def test_as_many_labels_are_not_the_same_labels(label, test):
    """Both systems have three labels; where they are not the same, no outcome may change sides."""
    gold = [["B-PER", "O", "B-LOC"]] * 10
    one, other = [*gold[1:], ["B-ORG", "O", "O"]], [*gold[1:], ["B-PER", f"B-{label}", "O"]]
    c = karat.compare(gold, {"a": one, "b": other}, context="spans", metrics=["f1"], resamples=199)
    assert c.pairs[0].test.name == test


def test_few_units_are_not_told_apart_by_resamples_alone():
    """Six positive items of forty: the resamples say p = .041, the jackknife's t of the same difference .076, which decides."""
    rng = np.random.default_rng(6)
    gold = ["yes"] * 6 + ["no"] * 34
    a, b = ([(g == "yes") * lead + 0.6 * rng.random() for g in gold] for lead in (0.35, 0.05))
    c = karat.compare(
        gold,
        {"a": a, "b": b},
        context="probabilities",
        metrics=["average_precision"],
        pos_label="yes",
        tests=["bootstrap"],
    )
    decides, resamples = c.pairs[0].tests
    low, high = c.pairs[0].interval.low, c.pairs[0].interval.high
    assert (decides.name, resamples.name, decides.draws) == ("paired bootstrap", "paired bootstrap", 1_999)
    assert resamples.p < 0.05 < decides.p
    assert c.pairs[0].verdict == "inconclusive"
    jackknife = 2 * stats.t.sf(abs(c.pairs[0].difference) / ((high - low) / 2 / stats.t.ppf(0.975, 39)), 39)
    assert decides.p == pytest.approx(jackknife)
    assert "at least that of the jackknife" in decides.note


def test_several_test_cases_give_ranks():
    case = lambda i: f"T{i % 8}"
    c = karat.compare(
        records(GOLD, case), {n: records(s, case) for n, s in SYSTEMS.items()}, metrics=["f1"], rope=0.01, resamples=199
    )
    ranks = c.ranks[0]
    assert ranks.test_cases == 8
    assert ranks.mean_ranks[0] < ranks.mean_ranks[3]
    assert sum(c.pairs[0].test_cases) == 8
    assert c.pairs[0].posterior is not None
    assert c.pair("good", "poor", "f1").verdict == "better"


def test_weights_of_joint_cells_are_gathered():
    from karat.stats.pair import gathered

    W = np.array([[1.0, 2.0, 4.0, 8.0]])
    np.testing.assert_array_equal(gathered(W, np.array([2, 3, 0, 2]), 4), [[4, 0, 9, 2]])


@pytest.mark.parametrize(
    ("context", "make"), [("spans", spans), ("splitting", bundles), ("multilabel", label_sets), ("soft", weights)]
)
def test_every_metric_of_every_context(context, make):
    """All metrics have an interval around their score, and the better system is never called worse."""
    rng = np.random.default_rng(6)
    gold = make(rng, 1.0)
    pair = {"good": make(rng, 0.95, gold), "poor": make(rng, 0.6, gold)}
    c = karat.compare(gold, pair, context=context, metrics=["all"], resamples=199, draws=299, correction="none")
    assert c.evaluation.context == context
    for score in c.evaluation.systems[0]:
        if score.value is not None:
            assert score.interval is not None, score.metric
            assert score.interval.low - 1e-9 <= score.value <= score.interval.high + 1e-9, score.metric
    f1 = c.pair("good", "poor", "f1")
    assert f1.verdict == "better"
    assert f1.test.name == "randomisation"
    assert f1.interval.low <= f1.difference <= f1.interval.high


def test_queries_are_units(tmp_path):
    """Rankings: a query is a test case and a unit; t and interval are those of SciPy on the queries."""
    rng = np.random.default_rng(8)
    grade = rng.integers(0, 3, (30, 20))
    qrels = "".join(f"q{q} 0 d{d} {grade[q, d]}\n" for q in range(30) for d in range(20))
    (tmp_path / "qrels.txt").write_text(qrels)
    for name, noise in (("sharp", 0.5), ("blurred", 2.0)):
        score = grade + noise * rng.normal(size=grade.shape)
        lines = [f"q{q} Q0 d{d} 1 {score[q, d]:.5f} {name}\n" for q in range(30) for d in range(20)]
        (tmp_path / name).write_text("".join(lines))
    files = [tmp_path / "sharp", tmp_path / "blurred"]
    c = karat.compare(tmp_path / "qrels.txt", files, metrics=["average_precision", "ndcg"], resamples=499)
    a, b = ([p.value for p in s["ndcg"].by_test_case.values()] for s in c.evaluation.systems)
    pair = c.of("ndcg")[0]
    want = stats.ttest_rel(a, b)
    assert {t.name: t.p for t in pair.tests}["paired t"] == pytest.approx(want.pvalue)
    low, high = want.confidence_interval(0.95)
    assert (pair.interval.low, pair.interval.high) == pytest.approx((low, high))
    assert pair.units == 30
    assert pair.verdict == "better"
    assert c.evaluation.systems[0]["ndcg"].interval.method in ("student-t", "hall-t")
    assert len(c.disagreements(pair.a, pair.b, "ndcg")) == 30


def test_clusterings_are_compared_by_the_jackknife():
    rng = np.random.default_rng(2)
    gold = {str(i): f"c{i % 5}" for i in range(100)}
    noise = lambda share: {k: v if rng.random() < share else f"c{rng.integers(5)}" for k, v in gold.items()}
    c = karat.compare(
        gold, {"a": noise(0.95), "b": noise(0.5)}, context="clustering", metrics=["bcubed_f1"], resamples=199
    )
    assert c.pairs[0].test.name == "paired jackknife-t"
    assert c.pairs[0].verdict == "better"


@pytest.mark.parametrize(
    ("context", "make"), [("spans", spans), ("splitting", bundles), ("multilabel", label_sets), ("soft", weights)]
)
def test_cells_that_no_metric_tells_apart_may_be_merged(context, make):
    """Scores of merged cells are the scores, whatever the counts."""
    from karat.contexts import catalogue
    from karat.stats.estimate import sample_of
    from karat.stats.statistic import Statistic, merged

    rng = np.random.default_rng(9)
    gold = make(rng, 1.0)
    e = karat.evaluate(gold, make(rng, 0.7, gold), context=context, metrics=["all"])
    statistic = Statistic(catalogue(context), e.metrics)
    stratum = sample_of(e.systems[0].cells, statistic, True).strata[0]
    for _ in range(3):
        n = rng.integers(0, 4, stratum.design.width).astype(float)
        score, count = merged(stratum.statistic, n, few=0)
        assert count.sum() == n.sum()
        np.testing.assert_allclose(score(count[None]), stratum.statistic(n[None]), rtol=1e-9, atol=1e-12)


def test_label_sets_of_sets_may_differ():
    rng = np.random.default_rng(6)
    gold = label_sets(rng, 1.0)
    odd = [row | {"value": [*row["value"], "Z"]} if i < 40 else row for i, row in enumerate(label_sets(rng, 0.9, gold))]
    c = karat.compare(gold, {"a": label_sets(rng, 0.95, gold), "b": odd}, metrics=["f1", "jaccard"], resamples=199)
    assert all(p.test.name == "randomisation" and p.verdict == "better" for p in c.pairs)
    assert c.pairs[0].b_value == pytest.approx(c.evaluation.systems[1]["f1"].value)


def test_systems_that_differ_by_rounding_alone_do_not_differ():
    """Two labels that gold has alike change places: the same distances but for the last bit, which was better with p = 5e-8."""
    gold = [{"K": 0.2, "L": 0.2, "M": 0.2, "N": 0.4}] * 30
    shares = np.random.default_rng(1).dirichlet(np.ones(4), 30).round(2)[0]
    shares = shares / shares.sum()
    a, b = ([dict(zip("KLMN", shares[order].tolist(), strict=True))] * 30 for order in ([0, 1, 2, 3], [2, 0, 1, 3]))
    for correction in ("holm", "tukey"):
        names = ["mse", "brier", "euclidean", "cosine", "kl"]
        c = karat.compare(gold, {"a": a, "b": b}, context="soft", metrics=names, resamples=100, correction=correction)
        assert {(p.difference, p.p_corrected, p.verdict) for p in c.pairs} == {(0.0, 1.0, "inconclusive")}
        assert {t.p for p in c.pairs for t in p.tests} == {1.0}


def test_clusters_of_other_names_differ_as_little_as_is_known():
    """Sums in another order: the interval was ±2e-15, and p what the processor made of it."""
    rng = np.random.default_rng(1)
    gold = rng.integers(0, 5, 60)
    pred = np.where(rng.random(60) < 0.7, gold, rng.integers(0, 6, 60))
    a, b = ([names[x] for x in pred] for names in ("012345", "".join(rng.permutation(list("530142")))))
    names = ["purity", "nmi", "v_measure", "bcubed_f1"]
    c = karat.compare(gold.astype(str).tolist(), {"a": a, "b": b}, context="clustering", metrics=names, resamples=100)
    assert {(p.difference, p.p, p.interval.method) for p in c.pairs} == {(0.0, 1.0, "rule-of-three")}
    assert {p.interval for p in c.pairs} == {c.pairs[0].interval}
    assert {place.best for board in c.leaderboards.values() for place in board} == {0.5}


def test_a_difference_that_is_the_same_for_every_unit_has_no_spread_from_rounding():
    gold = np.random.default_rng(4).normal(size=40).round(2)
    systems = {"a": (gold + 1).tolist(), "b": (gold + 1.001).tolist()}
    c = karat.compare(gold.tolist(), systems, context="numbers", metrics=["mae", "max_error"], resamples=100)
    assert [p.interval for p in c.pairs] == [None, None]


def every_swap(context, metrics, gold, a, b):
    """p of each metric by scoring both systems anew for every choice of units that change places."""
    choices = list(product((False, True), repeat=len(gold)))
    mixed = {str(i): [y if swap else x for x, y, swap in zip(a, b, c, strict=True)] for i, c in enumerate(choices)}
    e = karat.evaluate(gold, mixed, context=context, metrics=metrics)
    scores = np.array([[system[m].value for m in metrics] for system in e.systems])
    apart = np.abs(scores - scores[::-1])
    return (apart >= apart[0] - 1e-12).mean(0)


@pytest.mark.parametrize("seed", range(3))
def test_p_of_numbers_is_that_of_every_swap(seed):
    """Each system's predictions were centred at their own mean: concordance said .047 for .125, and 1 where one system is 5 too high."""
    rng = np.random.default_rng(seed)
    gold, a, b = ((rng.normal(size=7) * size + off).round(2).tolist() for size, off in ((1, 0), (1, 0.3), (2, 1)))
    b[2] = a[2]
    metrics = ["mae", "r2", "pearson", "concordance"]
    c = karat.compare(gold, {"a": a, "b": b}, context="numbers", metrics=metrics, resamples=100)
    assert [p.p for p in c.pairs] == pytest.approx(every_swap("numbers", metrics, gold, a, b))
    assert all(p.tests[0].exact for p in c.pairs)


def test_p_of_the_correlation_of_entropies_is_that_of_every_swap():
    rng = np.random.default_rng(0)
    gold, a, b = ([dict(zip("PQR", x, strict=True)) for x in rng.dirichlet(np.ones(3), 7)] for _ in range(3))
    metrics = ["entropy_correlation", "entropy_similarity", "brier"]
    c = karat.compare(gold, {"a": a, "b": b}, context="soft", metrics=metrics, resamples=100)
    assert [p.p for p in c.pairs] == pytest.approx(every_swap("soft", metrics, gold, a, b))


def test_outcomes_on_which_systems_agree_are_no_coins():
    """Sums of other rows ended in another last bit, so that every unit was tossed for, and p was drawn where it can be computed."""
    rng = np.random.default_rng(0)
    gold = rng.normal(size=40).round(2)
    a = gold + rng.normal(size=40).round(2)
    b = a + np.where(np.arange(40) < 4, 0.5, 0.0)
    metrics = ["r2", "pearson", "concordance"]
    c = karat.compare(gold.tolist(), {"a": a.tolist(), "b": b.tolist()}, metrics=metrics, resamples=100)
    assert all(p.tests[0].exact and p.p * 16 == round(p.p * 16) for p in c.pairs)


def test_concordance_sees_who_is_too_high():
    rng = np.random.default_rng(1)
    gold = rng.normal(size=60)
    a, b = ((gold + rng.normal(size=60) / 3 + off).tolist() for off in (0, 5))
    c = karat.compare(gold.tolist(), {"a": a, "b": b}, context="numbers", metrics=["concordance"], resamples=100)
    assert c.pairs[0].verdict == "better"


def test_numbers_far_off_keep_their_digits():
    gold = [1.0, 2.0, 3.0, 5.0]
    e = karat.evaluate(gold, [1e9 + x for x in (1, 3, 2, 5)], context="numbers", metrics=["pearson", "concordance"])
    assert e["pearson"].value == pytest.approx(0.8857142857142857, abs=1e-12)
    # Covariance 31/16, squared errors of 10⁹.
    assert e["concordance"].value == pytest.approx(3.875e-18, rel=1e-8)


@pytest.mark.parametrize("metrics", [None, ["f1"], ["jaccard", "hamming_loss"]])
def test_systems_that_agree_that_there_are_no_labels_at_all(metrics):
    """Totals by label of no labels were taken for one number."""
    empty = {f"i{i}": [] for i in range(4)}
    c = karat.compare(empty, {"a": empty, "b": empty}, context="multilabel", metrics=metrics)
    assert {p.verdict for p in c.pairs} <= {"inconclusive", "undefined"}
    assert {p.p for p in c.pairs if p.difference is not None} <= {1.0}
