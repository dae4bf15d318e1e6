"""Products of many rows with a small table: what they are, and that no other thread waits for the next one."""

from __future__ import annotations

import time

import numpy as np
import pytest

from karat.stats import multiplying
from karat.stats.standing import best_probabilities
from karat.stats.tests import moments


@pytest.mark.parametrize("rows", [0, 1, 3, 129, 500])
@pytest.mark.parametrize("shape", [(8, 3), (1, 1), (5, 0), (0, 2), (64, 1), (65, 1), (90, 17), (200, 9)])
def test_a_product_in_blocks_is_the_product(rows: int, shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multiplying, "ALONE", 64 * multiplying.FEW_ROWS)
    monkeypatch.setattr(multiplying, "LONG", 50)
    rng = np.random.default_rng(rows)
    left, table = rng.integers(0, 9, (rows, shape[0])).astype(float), rng.integers(0, 9, shape).astype(float)
    np.testing.assert_array_equal(multiplying.multiplied(left, table), left @ table)


def test_no_other_thread_works_for_a_small_product() -> None:
    """Each of a linear algebra library's threads waits at full speed for what comes next: ten systems took half as much CPU again."""
    best_probabilities(np.arange(10.0), np.eye(10), np.random.default_rng(0))
    time.sleep(0.2)  # what the tests before have set going has come to rest
    all_threads, own = time.process_time(), time.thread_time()
    for seed in range(5):
        best_probabilities(np.arange(10.0), np.eye(10), np.random.default_rng(seed))
        time.sleep(0.02)
    others = (time.process_time() - all_threads) - (time.thread_time() - own)
    assert others < 0.01


@pytest.mark.parametrize("length", [10_001, 30_000])
def test_effects_of_many_differences_do_not_hang_on_the_number_of_processors(length: int) -> None:
    """A library's threads split long sums: the last digits were others with two processors than with one."""
    d = np.random.default_rng(length).normal(0.1, 1.0, length)
    parts = [d[a : a + 10_000] for a in range(0, length, 10_000)]
    mean = sum(float(np.ones(len(part)) @ part) for part in parts) / length
    assert moments(d)[:2] == (length, mean)


def test_no_other_thread_works_for_a_long_sum() -> None:
    time.sleep(0.2)
    d = np.random.default_rng(0).normal(0.1, 1.0, 20_000)
    all_threads, own = time.process_time(), time.thread_time()
    for _ in range(5):
        moments(d)
        time.sleep(0.02)
    assert (time.process_time() - all_threads) - (time.thread_time() - own) < 0.01
