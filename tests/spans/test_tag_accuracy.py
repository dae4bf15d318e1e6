"""The share of tokens with gold's tag, counted token by token; the samples of the laws hold no tags."""

from __future__ import annotations

import random

import pytest

import karat

TAGS = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")


def tagged(rng: random.Random, lengths: list[int]) -> list[list[str]]:
    return [[rng.choice(TAGS) for _ in range(length)] for length in lengths]


def score(gold: list[list[str]], pred: list[list[str]]) -> float | None:
    return karat.evaluate(gold, pred, context="spans", metrics=["tag_accuracy"])["tag_accuracy"].value


@pytest.mark.parametrize("seed", range(6))
def test_token_by_token(seed: int) -> None:
    """It is that share, either way round, in any order of the documents, and 1 for gold itself."""
    rng = random.Random(seed)
    lengths = [rng.randint(1, 12) for _ in range(8)]
    gold, pred = tagged(rng, lengths), tagged(rng, lengths)
    right = sum(g == p for a, b in zip(gold, pred, strict=True) for g, p in zip(a, b, strict=True))
    assert score(gold, pred) == pytest.approx(right / sum(lengths), abs=1e-12)
    assert score(pred, gold) == pytest.approx(right / sum(lengths), abs=1e-12)
    assert score(gold[::-1], pred[::-1]) == pytest.approx(right / sum(lengths), abs=1e-12)
    assert score(gold, gold) == 1.0


def test_labels_are_weighed_by_their_tokens() -> None:
    """Recall A 4/4, B 0/1: of five tokens four are found. By entities it was a half."""
    gold, pred = [["B-A", "I-A", "I-A", "I-A", "B-B", "O"]], [["B-A", "I-A", "I-A", "I-A", "O", "O"]]
    asked = ["token_recall", "token_recall(average=weighted)"]
    e = karat.evaluate(gold, pred, metrics=asked)
    assert [e[m].value for m in asked] == [0.8, 0.8]
