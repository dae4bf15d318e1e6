"""Kernels of contexts, each against a few lines of plain Python, and what rounding must not show."""

from __future__ import annotations

import random

import numpy as np
import pytest

import karat
from karat.contexts.ranking import rows
from karat.contexts.soft import aligned
from karat.contexts.spans import tags
from karat.contexts.splitting import metrics_thresholds


@pytest.mark.parametrize("seed", range(30))
def test_ends_belong_to_the_last_start(seed: int) -> None:
    rng = random.Random(seed)
    into, out = (
        np.array([rng.choice((0, mark)) for _ in range(rng.randint(0, 7))], np.uint8) for mark in (tags.START, tags.END)
    )
    starts, ends = np.flatnonzero(into), np.flatnonzero(out)
    first, last = tags._forgiven_spans(into, out)
    assert last.tolist() == ends.tolist()
    assert first.tolist() == [max((s for s in starts.tolist() if s <= end), default=-1) for end in ends.tolist()]


@pytest.mark.parametrize("block", [1, 4, 12, 100])
def test_groups_stay_within_a_block(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics_thresholds, "_BLOCK", block)
    pages = [1.0, 2.0, 1.0, 3.0, 1.0, 1.0]
    spans = list(metrics_thresholds._spans(np.array(pages)))
    assert [at for low, high in spans for at in range(low, high)] == list(range(6))
    for n, (low, high) in enumerate(spans):
        assert high - low == 1 or (high - low) * sum(pages[low:high]) <= block
        assert n + 1 == len(spans) or (high - low + 1) * sum(pages[low : high + 1]) > block


def test_queries_are_cut_where_a_block_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    some = rows.Rows(np.array([0, 3, 5, 9, 10, 10, 12]), grade=np.arange(12))
    for block, cuts in (
        (100, [(0, 6)]), (4, [(0, 1), (1, 2), (2, 6)]), (5, [(0, 2), (2, 5), (5, 6)]), (12, [(0, 6)]),
    ):  # fmt: skip
        monkeypatch.setattr(rows, "BLOCK", block)
        found = list(some.cuts())
        assert found == cuts, (block, found)


def test_a_correlation_is_never_beyond_one() -> None:
    rng = random.Random(3)
    for _ in range(60):
        gold = [rng.random() for _ in range(4)]
        slope = rng.choice((-3.7, 0.3, 1e-3))
        found = karat.evaluate(gold, [slope * g for g in gold], context="numbers", metrics=["pearson"])["pearson"].value
        assert found is not None
        assert abs(found) <= 1
        assert found == pytest.approx(1 if slope > 0 else -1)


@pytest.mark.parametrize("size", range(3, 24))
def test_one_cluster_or_none_tells_exactly_nothing(size: int) -> None:
    some = [f"c{n * n % 7 % 3}" for n in range(size)]
    for other in (["x"] * size, [f"x{n}" for n in range(size)]):
        for sides in ((some, other), (other, some)):
            found = karat.evaluate(*sides, context="clustering", metrics=["ami", "adjusted_rand"])
            assert [found["ami"].value, found["adjusted_rand"].value] == [0, 0]


@pytest.mark.parametrize(
    ("gold", "pred", "alike"),
    [
        ("0a 0b 1a", "0a 0b 1a", True),
        ("0a 1b", "0a 1b", True),
        ("0b 0a", "0b 0a", False),
        ("1a 0a", "1a 0a", False),
        ("0a 0a", "0a 0a", False),
        ("0a 1a", "0a 1b", False),
        ("0a 1a", "0a 2a", False),
        ("0a", "0a 1a", False),
        ("", "", True),
    ],
)
@pytest.mark.parametrize("block", [1, 2, 100])
def test_sides_are_alike_in_order_alone(
    gold: str, pred: str, alike: bool, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aligned, "BLOCK", block)
    sides = []
    for side in (gold, pred):
        item, label = (np.array([int(part[at], 16) for part in side.split()], np.int64) for at in (0, 1))
        sides.append((item, label, np.ones(len(item))))
    assert aligned._alike(sides[0], sides[1]) == alike
