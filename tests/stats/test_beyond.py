# SPDX-License-Identifier: Apache-2.0
"""p of differences that no draw reaches: above what it is by conditioning and enumeration, valid, and the same for all names."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import karat
from karat.stats import beyond
from karat.stats import pair as pairs
from karat.stats.beyond import LEAST, Mixture, Swaps, sum_of_signs, tilted
from karat.stats.randomisation import Coins, sign_flip

METRICS = ["f1", "precision"]


def names(codes: Any) -> list[str]:
    return [f"c{x}" for x in codes]


def compared(gold: Any, a: Any, b: Any, metrics: list[str], **options: Any) -> Any:
    return karat.compare(names(gold), {"A": names(a), "B": names(b)}, metrics=metrics, resamples=100, **options)


def one_label_more(
    seed: int, classes: int = 4, units: int = 600, accuracy: float = 0.9, odd: int = 14, rare: int = 0
) -> Any:
    """Two systems alike in all but one label, which B gives to units that A gets wrong too: an invented one, or that of a few."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, classes, units)
    gold[:rare] = classes

    def system() -> Any:
        pred, wrong = gold.copy(), rng.random(units) < 1 - accuracy
        pred[wrong] = (gold[wrong] + rng.integers(1, classes, wrong.sum())) % classes
        pred[:rare] = classes
        return pred

    a, b, at = system(), system(), np.arange(50, 50 + odd)
    a[at], b[at] = (gold[at] + 1) % classes, classes
    return gold, a, b, at


def macro_f1(gold: Any, pred: Any) -> Any:
    total, seen = np.zeros(len(pred)), np.zeros(len(pred))
    for label in range(gold.max() + 2):
        both = (gold == label).sum() + (pred == label).sum(1)
        total += 2 * ((pred == label) & (gold == label)).sum(1) / np.maximum(both, 1)
        seen += both > 0
    return total / seen


def by_conditioning(gold: Any, a: Any, b: Any, at: Any, rows: int = 400) -> float:
    """p of macro-F1, from draws given how many of the odd units have changed sides: two, three or four at most."""
    rng, d = np.random.default_rng(1), abs(np.subtract(*macro_f1(gold, np.stack([a, b]))))
    others, total = np.setdiff1d(np.flatnonzero(a != b), at), 0.0
    for count in range(5):
        swapped = np.zeros((rows, len(gold)), bool)
        swapped[:, others] = rng.random((rows, len(others))) < 0.5
        swapped[:, at] = rng.random((rows, len(at))).argsort(1) < count
        far = np.abs(macro_f1(gold, np.where(swapped, b, a)) - macro_f1(gold, np.where(swapped, a, b)))
        total += 2 * binom.pmf(count, len(at), 0.5) * (far >= d - 1e-12).mean()
    return float(total)


def test_an_invented_label_on_wrong_units_is_no_certainty() -> None:
    """10⁶ plain draws reach the difference 15 times; its normal tail is 4·10⁻⁴⁶."""
    gold, a, b, at = one_label_more(2)
    true = by_conditioning(gold, a, b, at)
    assert 1e-6 < true < 1e-4
    found = compared(gold, a, b, METRICS)
    assert all(true / 2 < pair.p <= 1e-4 for pair in found.pairs if pair.verdict == "better")
    assert all(pair.p_is_bound for pair in found.pairs)
    assert "≤" in found.pairs[0].sentence


@pytest.mark.parametrize(
    ("seed", "how"),
    [
        (1, {"classes": 5, "units": 1000, "accuracy": 0.85, "odd": 17}), (2, {"odd": 20}),
        (1, {"classes": 2, "units": 500, "odd": 16, "rare": 2}), (2, {"units": 1000, "accuracy": 0.85, "odd": 18, "rare": 2}),
        (2, {"units": 1000, "accuracy": 0.85, "odd": 18, "rare": 5}),
    ],
)  # fmt: skip
def test_p_of_macro_f1_is_not_below_that_by_conditioning(seed: int, how: dict[str, Any]) -> None:
    gold, a, b, at = one_label_more(seed, **how)
    true, p = by_conditioning(gold, a, b, at), compared(gold, a, b, ["f1"]).pairs[0].p
    assert true < 1e-4
    assert true / 3 < p <= max(1e-4, 3 * true)


def counts(kind: str, n: Any, shared: int = 3) -> Any:
    """Precision or Jaccard of two systems that share hits: swapped are hits, and wrong predictions of two kinds."""

    def score(hit: Any, wrong: Any) -> Any:
        whole = hit + wrong if kind == "precision" else 40 + wrong
        with np.errstate(all="ignore"):
            return hit / whole

    def difference(swapped: Any) -> Any:
        there, here = swapped, n - swapped
        a, b = (score(shared + x[:, 0], x[:, 1] + 2 * x[:, 2]) for x in (here, there))
        return (a - b)[:, None]

    return difference


def swaps_of(difference: Any, n: Any, seen: Any) -> Swaps:
    """With the gain of each unit that stays where half are swapped."""
    step = np.eye(len(n)) / 8
    lean = (difference(n / 2 - step) - difference(n / 2 + step)) * 2
    return Swaps(difference, n, np.asarray(seen, float), np.nan_to_num(lean))


def every(n: Any) -> tuple[Any, Any]:
    """All numbers swapped, with their chances."""
    states = np.array(list(product(*(range(int(k) + 1) for k in n))), float)
    return states, np.prod(binom.pmf(states, n, 0.5), axis=1)


@pytest.mark.parametrize("kind", ["precision", "jaccard"])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_tilted_draws_have_the_mean_of_the_exact_p_and_a_little_more(kind: str, alternative: str) -> None:
    n = np.array([24.0, 30.0, 16.0])
    difference = counts(kind, n)
    states, chance = every(n)
    turn = -1.0 if alternative == "less" else 1.0
    law = turn * difference(states)[:, 0]
    for state in ([4, 24, 12], [4, 22, 14], [6, 26, 14], [3, 20, 14]):
        seen = n - state if alternative == "less" else np.array(state, float)
        swaps, observed = swaps_of(difference, n, seen), difference(seen[None])[0]
        far = np.abs(law) if alternative == "two-sided" else law
        exact = chance[far >= turn * observed[0] - 1e-12].sum()
        p = [tilted(swaps, observed, Coins(seed), 9_999, alternative)[0] for seed in range(40)]
        assert exact < 1e-4
        assert 0.8 * exact < np.mean(p) < 2 * exact


@pytest.mark.parametrize("kind", ["precision", "jaccard"])
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_tilted_p_keeps_every_level(kind: str, alternative: str) -> None:
    """P(p ≤ α) ≤ α also far down: what is observed is drawn from the mixture and counted by its weight."""
    n = np.array([3.0, 14.0, 6.0])
    difference = counts(kind, n, shared=0)
    base = swaps_of(difference, n, n)
    mixture, rng = Mixture.of(base, np.array([1.0]), "two-sided"), np.random.default_rng(3)
    seen = mixture.drawn(rng, 1_000)
    weight, p = np.exp(mixture.log_weight(base.sums(seen))), np.ones(len(seen))
    for i, row in enumerate(seen):
        observed = difference(row[None])[0]
        if np.isfinite(observed[0]):
            p[i] = tilted(Swaps(difference, n, row, base.lean), observed, Coins(i), LEAST, alternative)[0]
    for alpha in (0.05, 1e-2, 1e-3, 1e-4, 1e-5):
        assert (weight * (p <= alpha)).mean() <= 1.2 * alpha
    assert (weight * (p <= 1e-4)).mean() > 0


def test_undefined_differences_are_not_as_extreme() -> None:
    """Of precision without a prediction nothing is known; p is that of the swaps in which it is defined."""
    n = np.array([12.0, 20.0, 0.0])
    difference = counts("precision", n, shared=0)
    assert np.isnan(difference(n[None])).all()
    seen = np.array([2.0, 18.0, 0.0])
    p = tilted(swaps_of(difference, n, seen), difference(seen[None])[0], Coins(0), 9_999)
    states, chance = every(n)
    law = np.abs(np.nan_to_num(difference(states)[:, 0]))
    exact = chance[law >= abs(difference(seen[None])[0, 0]) - 1e-12].sum()
    assert exact < 1e-4
    assert exact / 2 < p[0] < 10 * exact


def test_without_a_lean_nothing_is_tilted() -> None:
    flat = Swaps(lambda s: np.zeros((len(s), 2)), np.ones(9), np.zeros(9), np.zeros((9, 2)))
    assert tilted(flat, np.array([0.0, 1.0]), Coins(0), 99).tolist() == [1, 1]


def test_the_tail_bounds_the_exact_p() -> None:
    """Sums of signs: the bound lies above the exact p, and not far above; tilted draws are near too."""
    rng = np.random.default_rng(8)
    for shift in (0.5, 0.6, 0.7):
        d, n = np.unique(rng.integers(-3, 4, 300) + (rng.random(300) < shift), return_counts=True)
        exact = sign_flip(d.astype(float), n.astype(float))
        assert exact is not None
        swaps = Swaps(
            lambda s, d=d, n=n: ((n - 2 * s) @ d)[:, None], n.astype(float), np.zeros(len(n)), d[:, None] / 1.0
        )
        observed = np.array([float(n @ d)])
        assert exact < sum_of_signs(swaps, observed)[0] < 20 * exact
        assert exact / 2 < tilted(swaps, observed, Coins(0), 9_999)[0] < 20 * exact
        assert np.isnan(sum_of_signs(swaps, observed + 1)[0])  # which is no sum of these signs


def far_apart(seed: int = 5, units: int = 400) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, 3, units)
    return gold, *(np.where(rng.random(units) < share, gold, rng.integers(0, 3, units)) for share in (0.95, 0.6))


def test_a_mean_of_unit_scores_has_the_tail_of_its_sum() -> None:
    """Of means the bound holds; of their roots tilted draws."""
    rng = np.random.default_rng(0)
    gold = {str(i): float(x) for i, x in enumerate(rng.normal(size=300))}
    a, b = ({k: v + s * rng.normal() for k, v in gold.items()} for s in (0.1, 1.0))
    pair = karat.compare(gold, {"A": a, "B": b}, context="numbers", metrics=["mae"], resamples=100).pairs[0]
    assert pair.p < 1e-25
    assert pair.p_is_bound
    squared = karat.compare(gold, {"A": a, "B": b}, context="numbers", metrics=["rmse"], resamples=100).pairs[0]
    assert 1e-60 < squared.p < 1e-10


@pytest.mark.parametrize("cluster", [None, "doc"])
@pytest.mark.parametrize("cases", [1, 2])
def test_means_over_test_cases_and_clusters_have_it_too(
    cluster: str | None, cases: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no exact law is at hand: no draw is tilted for them."""
    gold, a, b = far_apart(units=800)

    def rows(codes: Any) -> list[dict[str, str]]:
        return [
            {"test_case": f"t{i % cases}", "id": str(i), "value": f"c{x}", "doc": str(i // 4)}
            for i, x in enumerate(codes)
        ]

    monkeypatch.setattr(beyond, "tilted", None)
    systems = {"A": rows(a), "B": rows(b)}
    pair = karat.compare(rows(gold), systems, metrics=["accuracy"], cluster_by=cluster, resamples=100).pairs[0]
    assert 1e-70 < pair.p < 1e-20
    assert pair.p_is_bound or pair.tests[0].exact or cluster is None


def test_plain_differences_stay_far_below_the_draws() -> None:
    """Macro-F1 .97 and .73: p is that of tilted draws, near that of the bound for accuracy."""
    found = compared(*far_apart(), ["f1", "kappa", "mcc"])
    assert all(1e-35 < pair.p < 1e-15 and pair.p_is_bound for pair in found.pairs)


def test_tilted_draws_know_neither_names_nor_order() -> None:
    gold, a, b = far_apart()
    c = np.where(np.arange(len(gold)) % 9 == 0, 0, a)
    metrics = ["f1", "mcc", "precision"]
    one = karat.compare(names(gold), {"A": names(a), "B": names(b), "C": names(c)}, metrics=metrics, resamples=100)
    turned = karat.compare(names(gold), {"z": names(c), "y": names(b), "x": names(a)}, metrics=metrics, resamples=100)
    order = np.random.default_rng(1).permutation(len(gold))
    ids = [{"id": str(i), "value": f"c{x}"} for i, x in enumerate(gold)]
    rows = {
        name: [{"id": str(i), "value": f"c{system[i]}"} for i in order]
        for name, system in {"A": a, "B": b, "C": c}.items()
    }
    mixed = karat.compare([ids[i] for i in order], rows, metrics=metrics, resamples=100)
    was = dict(zip("ABC", "xyz", strict=True))
    tilt = [pair for pair in one.pairs if pair.p < 1e-4]
    assert len(tilt) >= len(metrics)
    for pair in one.pairs:
        assert pair.p == turned.pair(was[pair.a], was[pair.b], pair.metric).p
        assert pair.p == mixed.pair(pair.a, pair.b, pair.metric).p
    again = compared(gold, a, b, metrics)
    other = compared(gold, a, b, metrics, seed=1)
    for pair in again.pairs:
        assert pair.p == one.pair("A", "B", pair.metric).p
        assert pair.p != other.pair("A", "B", pair.metric).p
        assert abs(np.log10(pair.p / other.pair("A", "B", pair.metric).p)) < 1.5


def test_with_too_many_totals_p_is_that_of_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "MOST_TOTALS", 2)
    found = compared(*far_apart(), ["f1"], draws=499)
    assert found.pairs[0].p == 1 / 500
    assert found.pairs[0].p_is_bound


def test_p_of_the_bootstrap_is_at_least_that_of_one_resample() -> None:
    found = compared(*far_apart(), ["f1"], tests=["bootstrap"], draws=999)
    boot = next(test for test in found.pairs[0].tests if test.name == "paired bootstrap")
    assert boot.p == 1 / 1_000
    assert boot.at_floor


def test_systems_change_places_beside_a_metric_that_one_of_them_lacks() -> None:
    """What was tilted towards a difference without a sign hung on which system came first."""
    rng = random.Random(16)
    gold = [sorted(rng.sample("abcd", rng.randrange(4))) for _ in range(60)]
    good = [g if rng.random() < 0.8 else sorted(rng.sample("abcd", rng.randrange(4))) for g in gold]
    systems, metrics = {"good": good, "empty": [[] for _ in gold]}, ["f1", "precision(average=micro)"]
    one, other = (
        karat.compare(gold, {n: systems[n] for n in names}, context="multilabel", metrics=metrics, draws=199)
        for names in (("good", "empty"), ("empty", "good"))
    )
    assert one.pairs[1].difference is None
    assert one.pairs[0].p < 1e-10
    assert [p.p for p in one.pairs] == [p.p for p in other.pairs]
