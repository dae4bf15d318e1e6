"""Averages over the orders of ties, against every order there is."""

from __future__ import annotations

import random
from itertools import permutations, product
from math import prod

import pytest

import karat

METRICS = ["precision@2", "precision@5", "recall@3", "r_precision", "average_precision", "average_precision@3", "reciprocal_rank",
           "reciprocal_rank@2", "dcg@3", "ndcg", "ndcg@2", "ndcg(gain=exponential)@4", "hits@3", "precision(judged_only=true)@2"]  # fmt: skip


def drawn(seed: int) -> tuple[dict[str, int], dict[str, float]]:
    rng = random.Random(seed)
    documents = [f"d{i}" for i in range(rng.randint(1, 6))]
    qrels = {d: rng.choice((0, 0, 1, 2)) for d in [*documents, "unseen"] if rng.random() < 0.8} or {"d0": 1}
    return qrels, {d: float(rng.randint(0, 2)) for d in documents}


def orders(run: dict[str, float]) -> list[dict[str, float]]:
    """Every ranking without ties that keeps the order of the scores."""
    blocks = [[d for d in run if run[d] == s] for s in sorted(set(run.values()), reverse=True)]
    whole = [sum(choice, ()) for choice in product(*(permutations(b) for b in blocks))]
    assert len(whole) == prod(len(list(permutations(b))) for b in blocks)
    return [{d: -float(i) for i, d in enumerate(order)} for order in whole]


@pytest.mark.parametrize("seed", range(12))
def test_expectation(seed: int) -> None:
    qrels, run = drawn(seed)
    ways = orders(run)
    gold = {f"w{i}": qrels for i in range(len(ways))}
    every = karat.evaluate(gold, {f"w{i}": way for i, way in enumerate(ways)}, context="ranking", metrics=METRICS)
    average = karat.evaluate({"q": qrels}, {"q": run}, context="ranking", metrics=METRICS, ties="average")
    for metric in METRICS:
        assert average[metric].value == pytest.approx(every[metric].value, abs=1e-12), metric


def test_without_a_closed_form_it_is_undefined() -> None:
    tied = karat.evaluate(
        {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}, context="ranking", metrics=["bpref"], ties="average"
    )
    assert tied["bpref"].undefined == "no closed form over the orders of ties"
    clear = karat.evaluate(
        {"q": {"a": 1, "b": 0}}, {"q": {"a": 2.0, "b": 1.0}}, context="ranking", metrics=["bpref"], ties="average"
    )
    assert clear["bpref"].value == 1.0


@pytest.mark.parametrize("metric", ["gm_map", "yaap", "success@1", "err", "f@1"])
def test_no_value_is_made_up(metric: str) -> None:
    """The logarithm of a mean is not the mean of logarithms: what has no closed form has no value where documents are tied."""
    gold, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}
    tied = karat.evaluate(gold, run, context="ranking", metrics=[metric], ties="average")
    assert tied[metric].undefined == "no closed form over the orders of ties"


def test_a_cut_through_a_tie_is_refused() -> None:
    """Which documents of the tie are cut off is a matter of their order: P@1 here is 1/2, but of the last two ids 0."""
    gold, run = {"q": {"a": 1, "b": 1, "c": 0, "d": 0}}, {"q": dict.fromkeys("abcd", 1.0)}
    assert karat.evaluate(gold, run, context="ranking", metrics=["P@1"], ties="average")["P@1"].value == 0.5
    with pytest.raises(karat.MetricError, match="--depth and --ties average"):
        karat.evaluate(gold, run, context="ranking", metrics=["P@1"], ties="average", depth=2)


@pytest.mark.parametrize(("ties", "rr"), [("trec", 0.5), ("order", 1.0), ("average", 0.75)])
def test_rules(ties: str, rr: float) -> None:
    """trec_eval puts z before a; in the dict a comes first; half of the orders have each first."""
    evaluation = karat.evaluate(
        {"q": {"a": 1, "z": 0}}, {"q": {"a": 1.0, "z": 1.0}}, context="ranking", metrics=["RR"], ties=ties
    )
    assert evaluation["RR"].value == rr
    assert [f.code for f in evaluation.findings] == ["tied-documents"]


def test_long_ids_are_compared_in_bytes() -> None:
    """Ids of several words, one a prefix of another, and UTF-8 beyond the basic plane."""
    ids = ["a" * 8, "a" * 9, "a" * 17, "b", "é", "\U0001f600", "\uffff", "a" * 16 + "\x7f"]
    for relevant in ids:
        run = {"q": dict.fromkeys(ids, 1.0)}
        got = karat.evaluate({"q": {relevant: 1}}, run, context="ranking", metrics=["RR"])["RR"].value
        rank = 1 + sorted(ids, key=str.encode, reverse=True).index(relevant)
        assert got == pytest.approx(1 / rank), relevant
