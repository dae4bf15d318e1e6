# SPDX-License-Identifier: Apache-2.0
"""What comparisons and intervals say where there is little to say: nothing varies, nothing is defined, nothing is shared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.stats.test_methods import GOLD, NEW, OLD

import karat
from karat.stats import tests
from karat.stats.clusters import ClusterKeys
from karat.stats.design import Aim, power_of
from karat.stats.randomisation import Coins, extreme
from karat.stats.resampling import Strata, jackknife, multinomial
from karat.stats.slices import SliceKeys, difference
from karat.stats.tables import _Counts, by_table
from karat.stats.units import unit_keys
from karat.stats.wording import loss_words

METHODS = {"new": karat.Runs(NEW), "old": karat.Runs(OLD)}


def compared(systems: Any, gold: Any = GOLD, **more: Any) -> karat.Comparison:
    return karat.compare(gold, systems, **{"metrics": ["accuracy"], "resamples": 199, **more})


# ---- methods of several runs


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"baseline": "nobody"}, "no method 'nobody' to be the baseline; there are: new, old"),
        ({"sequential": True}, "have no e-values: compare single runs"),
    ],
)
def test_methods_cannot_do_everything(more: dict[str, Any], said: str) -> None:
    with pytest.raises(karat.MetricError, match=said):
        compared(METHODS, **more)


def test_methods_have_a_posterior_about_their_interval() -> None:
    """The posterior of a difference beyond the region is a t as wide as the interval of the pair."""
    pair = compared(METHODS, rope=0.02).pairs[0]
    gap = pair.runs.gap
    law = stats.t(gap.df, gap.estimate, gap.se)
    expected = law.cdf(-0.02), law.cdf(0.02) - law.cdf(-0.02), law.sf(0.02)
    assert (pair.posterior.worse, pair.posterior.equal, pair.posterior.better) == pytest.approx(expected, rel=1e-6)


def test_methods_without_a_score_are_not_compared() -> None:
    one_class = karat.Runs([["A"] * 30] * 3)
    c = compared({"a": one_class, "b": one_class}, ["A"] * 30, metrics=["mcc"])
    assert (c.pairs[0].verdict, c.pairs[0].difference, c.pairs[0].p) == ("undefined", None, None)
    assert c.pairs[0].sentence.endswith("one of them has no score.")
    assert [(m.value, m.interval) for m in c.evaluation.methods] == [(None, None)] * 2
    assert [row.best for row in c.leaderboards[c.metrics[0]]] == [None, None]


def test_runs_that_never_vary_have_no_interval_where_scores_have_no_limits() -> None:
    gold = [float(i) for i in range(20)]
    off = lambda by: karat.Runs([[x + by for x in gold]] * 3)
    c = compared({"near": off(1), "far": off(2)}, gold, context="numbers", metrics=["mae"])
    pair = c.pairs[0]
    assert (pair.difference, pair.interval, pair.simultaneous, pair.mde) == (-1.0, None, None, None)
    assert [m.interval for m in c.evaluation.methods] == [None, None]
    assert pair.p == pytest.approx(0.5**19)  # all 20 units say the same


# ---- units on which systems differ


def test_units_that_systems_score_differently() -> None:
    pair = {"a": NEW[0], "b": OLD[0]}
    apart = compared(pair, metrics=["mcc", "accuracy"]).disagreements("b", "a")  # the first that a unit has
    right = {s: np.flatnonzero((run == GOLD) & (other != GOLD)) for s, run, other in
             (("a", NEW[0], OLD[0]), ("b", OLD[0], NEW[0]))}  # fmt: skip
    assert {s: sorted(int(row["id"]) - 1 for row in apart if row["wins"] == s) for s in "ab"} == {
        s: at.tolist() for s, at in right.items()
    }
    with pytest.raises(karat.MetricError, match="'a' and 'c' were not compared"):
        compared(pair).disagreements("a", "c")
    with pytest.raises(karat.MetricError, match="no metric of this comparison has a score for a single unit"):
        compared(pair, metrics=["mcc", "kappa"]).disagreements("a", "b")


# ---- pilots


def test_pilots_need_the_same_units_and_two_of_them() -> None:
    gold = {str(i): "AB"[i % 2] for i in range(20)}
    some = dict.fromkeys(list(gold)[:10], "A")
    with pytest.raises(karat.MetricError, match="a and b do not have the same units"):
        karat.design(gold, {"a": gold, "b": some}, difference=0.1, metrics=["accuracy"], missing="skip")
    apart = karat.Runs([{"0": "A", "1": "B"}, {"1": "B", "2": "A"}])
    with pytest.raises(karat.MetricError, match="m: 1 units in common are too few for a pilot"):
        karat.design(gold, {"m": apart}, width=0.1, metrics=["accuracy"], missing="skip")


def test_power_at_its_ends() -> None:
    assert power_of(0.1, 20, Aim()) == 0.0  # nothing to be shown
    assert power_of(0.0, 20, Aim(difference=0.1)) == 1.0
    assert power_of(0.001, 1000, Aim(difference=0.1)) == 1.0
    assert power_of(0.05, 20, Aim(difference=0.1)) == pytest.approx(
        stats.nct.sf(stats.t.ppf(0.975, 20), 20, 2) + stats.nct.cdf(-stats.t.ppf(0.975, 20), 20, 2)
    )


# ---- tests where nothing varies


def test_no_spread_proves_nothing() -> None:
    assert (tests.tost(0.0, 0.0, 9, 0.1).p, tests.tost(0.0, 0.0, 9, 0.1).note) == (1.0, "no spread")
    assert np.isnan(tests.non_inferiority(0.0, 0.0, 9, 0.1).p)
    pair = compared({"a": NEW[0], "b": OLD[0]}).pairs[0]
    assert loss_words(pair, 0.1, 0.05) == ""  # not asked for
    assert loss_words(replace(pair, non_inferiority=tests.non_inferiority(0.0, 0.0, 9, 0.1)), 0.1, 0.05) == ""


def test_one_sided_differences() -> None:
    d = np.array([-0.2, 0.1])
    assert extreme(d, "two-sided").tolist() == [0.2, 0.1]
    assert extreme(d, "greater").tolist() == [-0.2, 0.1]
    assert extreme(d, "less").tolist() == [0.2, -0.1]


# ---- draws


def test_many_coins_at_once_are_fair() -> None:
    """More coins than words of bits are counted for are drawn from the binomial itself."""
    n = np.array([1.0, 5, 100, 10_000_000])
    heads = Coins(3, "test").heads(n, 400)
    assert (heads <= n).all()
    assert np.abs(heads.mean(0) - n / 2) == pytest.approx(0, abs=5 * np.sqrt(n.max() / 4 / 400))
    assert np.abs(heads[:, 3].std() / np.sqrt(n[3] / 4) - 1) < 0.15
    assert (heads == Coins(3, "test").heads(n, 400)).all()


def test_nothing_is_drawn_from_nothing() -> None:
    assert multinomial(np.random.default_rng(0), np.zeros(3), 2).tolist() == [[0, 0, 0], [0, 0, 0]]


def test_rows_whose_counts_are_too_many_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the standard deviations that the counts fall short by, every second row is too large at first."""
    monkeypatch.setattr("karat.stats.tables.SHORT", 0.0)
    n = np.array([3.0, 2, 5] * 20)
    assert not all(_Counts(n).fill(np.empty(60), np.random.default_rng(seed)) for seed in range(20))
    drawn = by_table(np.random.default_rng(1), n, 50)
    assert drawn.sum(1).tolist() == [n.sum()] * 50


def test_strata_of_one_unit_each_have_no_spread() -> None:
    design = Strata.of(np.arange(3), np.arange(3), 3)
    scores = lambda W: np.asarray(W @ np.array([[1.0], [0.0], [1.0]]) / W.sum(1)[:, None])
    spread = jackknife(scores, design)
    assert spread.mean.tolist() == pytest.approx([2 / 3])
    assert spread.centred.tolist() == [[0.0]]
    gold = [{"id": str(i), "value": "AB"[i % 2], "document": f"d{i}"} for i in range(6)]
    for method in ("auto", "jackknife-t", "bca", "hall-t"):
        e = karat.evaluate(gold, {str(i): "A" for i in range(6)}, metrics=["accuracy", "f1"], intervals=True,
                           stratify_by="document", interval_method=method)  # fmt: skip
        assert "single-strata" in [f.code for f in e.systems[0].findings]
        assert (e["f1"].interval.se, e["f1"].interval.method) == (0.0, "rule-of-three")


@pytest.mark.parametrize("what", ["resamples", "draws"])
def test_more_than_a_million_draws_are_refused(what: str) -> None:
    with pytest.raises(karat.MetricError, match="would take for ever and tell no more"):
        compared({"a": NEW[0], "b": OLD[0]}, **{what: 1_000_001})


# ---- columns of gold that say nothing


def test_columns_without_a_value() -> None:
    units = np.array(["a", "b"])
    code, alone = ClusterKeys(np.array([], str), np.array([], str)).of(units)
    assert (sorted(code.tolist()), alone) == ([0, 1], 2)  # each stands alone
    assert SliceKeys("language", np.array([], str), np.array([], str), ["de", "en"]).of(units).tolist() == [2, 2]
    assert difference(0.5, 0.4, None, None, 0.95) is None


def test_a_slice_without_a_score_says_so_and_has_no_difference() -> None:
    gold = [{"id": str(i), "value": "AB"[i % 2] if i < 20 else "A", "kind": "x" if i < 20 else "y"} for i in range(30)]
    pred = {str(i): "A" if i % 3 else "B" for i in range(30)} | {str(i): "A" for i in range(20, 30)}
    e = karat.evaluate(gold, pred, metrics=["mcc"], slices="kind", intervals=True, resamples=199)
    found = e["mcc"].slices["kind"]["y"]
    assert (found.value, found.interval, found.difference) == (None, None, None)
    assert found.undefined == "one side uses a single label"


@pytest.mark.parametrize(
    ("context", "gold", "metric"),
    [("clustering", ["a", "a", "b", "b"], "bcubed_f1"), ("ranking", None, "ndcg")],
)
def test_weights_that_cannot_count_are_refused(context: str, gold: list[str] | None, metric: str) -> None:
    if gold is None:
        side = [{"query": q, "document": d, "relevance": 1, "w": 2} for q in "12" for d in "xy"]
    else:
        side = [{"id": str(i), "value": value, "w": 2} for i, value in enumerate(gold)]
    with pytest.raises(karat.InputError, match="weights-unused"):
        karat.evaluate(side, side, context=context, metrics=[metric], weight="w", allow_same=True)


def test_copies_of_an_item_are_no_mates() -> None:
    gold = {str(i): "abc"[i % 3] for i in range(30)}
    with pytest.raises(karat.MetricError, match="draws items more than once"):
        karat.evaluate(gold, gold, context="clustering", metrics=["bcubed_f1"], intervals=True, allow_same=True,
                       interval_method="percentile")  # fmt: skip


# ---- judges


def test_every_test_case_needs_gold_and_more() -> None:
    rows = [{"test_case": "xy"[i % 2], "id": str(i), "value": "AB"[i % 3 > 0]} for i in range(40)]
    with pytest.raises(karat.MetricError, match="every test case needs units with gold"):
        karat.evaluate(rows[:20:2], rows, judge=rows, metrics=["accuracy"], extra="ignore", allow_same=True)


def test_systems_of_other_units_have_no_difference_by_a_judge() -> None:
    gold = {str(i): "AB"[i % 2] for i in range(30)}
    judge = {str(i): "AB"[i % 2] for i in range(90)}
    both = [{str(i): "A" for i in range(90)}, {str(i): "B" for i in range(80)}]
    found = karat.evaluate(gold, both, judge=judge, names=["one", "two"], metrics=["accuracy"], missing="skip")
    assert [j.system for j in found.judged] == ["one", "two"]


# ---- units


def test_units_that_were_not_kept_are_asked_for() -> None:
    cells = karat.evaluate({"1": "A", "2": "B"}, {"1": "A", "2": "A"}, metrics=["accuracy"]).systems[0].cells
    cells.unit = None
    with pytest.raises(karat.MetricError, match="evaluate with units=True"):
        unit_keys(cells)
