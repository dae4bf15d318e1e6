# SPDX-License-Identifier: Apache-2.0
"""Thousands of classes: the jackknife keeps what a unit changes, not cells × classes, and gives the same intervals."""

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

import karat
from karat.patched import Patched, WrittenOut, below, beside
from karat.stats import statistic
from karat.stats.resampling import Clusters, Units
from karat.stats.sample import Sample, Stratum

Drawn = Callable[[np.random.Generator, int, int], tuple[list, list]]


def labels(rng: np.random.Generator, classes: int, items: int) -> tuple[list, list]:
    gold = rng.integers(classes, size=items)
    pred = np.where(rng.random(items) < 0.7, gold, rng.integers(classes, size=items))
    return [f"c{x}" for x in gold], [f"c{x}" for x in pred]


def label_sets(rng: np.random.Generator, classes: int, items: int) -> tuple[list, list]:
    one, two = labels(rng, classes, items), labels(rng, classes, items)
    return tuple([sorted({a, b}) for a, b in zip(one[side], two[side], strict=True)] for side in (0, 1))


def intervals(gold: list, pred: list, metrics: list[str]) -> dict:
    scores = karat.evaluate(gold, pred, metrics=metrics, intervals=True).systems[0].scores
    return {
        (str(m), key): (i.method, i.low, i.high, i.se)
        for m, s in scores.items()
        for key, i in [("", s.interval), *s.class_intervals.items()]
        if i
    }


MONO = ["f1", "precision(classes=gold)", "jaccard(average=weighted)", "kappa", "mcc", "balanced_accuracy", "icm"]
MULTI = ["f1", "recall", "hamming_loss", "f1(average=samples)", "icm_norm"]


@pytest.mark.parametrize(("draw", "metrics"), [(labels, MONO), (label_sets, MULTI)])
@pytest.mark.parametrize(("classes", "items"), [(300, 500), (300, 6_000)])
def test_the_same_intervals(
    draw: Drawn, metrics: list[str], classes: int, items: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = draw(np.random.default_rng(classes + items), classes, items)
    slim = intervals(*data, metrics)
    monkeypatch.setattr(statistic, "MANY_CLASSES", 10**9)
    full = intervals(*data, metrics)
    assert slim.keys() == full.keys()
    assert len(slim) > classes
    for key, (method, *numbers) in full.items():
        assert slim[key][0] == method, key
        assert slim[key][1:] == pytest.approx(numbers, abs=1e-9), key


@pytest.mark.parametrize("writes_out", [False, True])
@pytest.mark.parametrize("clustered", [False, True])
def test_a_sample_is_slim_if_nothing_of_it_is_written_out(writes_out: bool, clustered: bool) -> None:
    """Clusters and metrics that hold cells × classes write them out; one test case that does is enough."""

    class Score:
        slim = not writes_out

        def __call__(self, W):
            return W[:, :1]

    units, ids = Units(np.ones(2)), np.arange(2)
    plain = Stratum("a", type("Slim", (Score,), {"slim": True})(), units)
    other = Stratum("b", Score(), Clusters.of(ids, ids, 2) if clustered else units)
    assert Sample([plain, plain]).slim
    assert Sample([plain, other]).slim == (not writes_out and not clustered)


def test_cells_times_classes_are_never_held() -> None:
    """5,000 classes and some 8,000 cells: one table of both would be 320 MB, and there were several."""
    data = labels(np.random.default_rng(5), 5_000, 20_000)
    tracemalloc.start()
    score = karat.evaluate(*data, metrics=["f1"], intervals=True)["f1"]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(score.class_intervals) > 4_000
    assert peak < 100e6


def matrix(rng: np.random.Generator, rows: int = 7, width: int = 5) -> tuple[Patched, np.ndarray]:
    key = np.flatnonzero(rng.random(rows * width) < 0.3)
    patched = Patched(rng.random(width) + 1, key, rng.random(len(key)) + 1, rows)
    return patched, patched.toarray()


@pytest.mark.parametrize("seed", range(20))
def test_operations_are_those_of_full_matrices(seed: int) -> None:
    rng = np.random.default_rng(seed)
    (a, x), (b, y) = matrix(rng), matrix(rng)
    row, weight = rng.random(5), rng.random(7)
    pairs = [
        (a + b, x + y), (2 * a - row, 2 * x - row), (a / b**2, x / y**2), (-a, -x), (a * np.full((7, 1), 3.0), x * 3.0),
        (np.where(a > b, a, np.nan), np.where(x > y, x, np.nan)), ((a > 1.5) | ~(b > 1.5), (x > 1.5) | ~(y > 1.5)),
        (a[:, 1:3], x[:, 1:3]), (beside([x, a]), np.concatenate([x, x], 1)), (below([a, a]), np.concatenate([x, x])),
    ]  # fmt: skip
    for patched, full in pairs:
        assert isinstance(patched, Patched)
        np.testing.assert_allclose(patched.toarray(), full, rtol=1e-14)
    np.testing.assert_allclose(weight @ a, weight @ x, rtol=1e-14)
    np.testing.assert_allclose(a.sum(-1), x.sum(-1), rtol=1e-14)
    np.testing.assert_allclose(a[:, 2], x[:, 2])
    assert (a > 1.1).all(0).tolist() == (x > 1.1).all(0).tolist()


def test_what_needs_every_entry_says_so() -> None:
    a, x = matrix(np.random.default_rng(0))
    for wrong in (lambda: np.asarray(a), lambda: a + x, lambda: a * np.arange(7.0)[:, None], lambda: np.sort(a)):
        with pytest.raises(WrittenOut):
            wrong()


def test_test_cases_times_resamples_are_never_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 300 test cases × 9,999 resamples × 1 metric each number would be held several times; hall-t needs none."""
    from karat.stats import estimate

    gold, pred = labels(np.random.default_rng(6), 3, 600)
    sides = [
        [{"test_case": f"t{i // 2}", "id": str(i), "value": v} for i, v in enumerate(side)] for side in (gold, pred)
    ]
    monkeypatch.setattr(estimate, "CLASS_NUMBERS", 1e6)
    score = karat.evaluate(*sides, metrics=["f1"], intervals=True)["f1"]
    assert score.interval is not None
    assert score.interval.method == "hall-t"
