# SPDX-License-Identifier: Apache-2.0
"""Scores of many queries are made block by block: to the last bit those of all at once."""

from __future__ import annotations

import random

import numpy as np
import pytest

import karat
from karat.contexts import catalogue
from karat.contexts.ranking import rows
from karat.weights import Dense
from tests.ranking.collections import collection

OPTIONS = (
    {}, {"ties": "average"}, {"ties": "order"}, {"unjudged": "drop"}, {"depth": 7}, {"missing_queries": "skip"},
    {"missing_queries": "undefined", "no_relevant": "undefined"},
)  # fmt: skip
METRICS = [
    "all",
    "ndcg@10",
    "P(judged_only=true)@5",
    "rbp(gain=scaled)",
    "err(scale=query)@5",
    "ndcg(gain=exponential)",
]


def scores(gold, run, **options):
    found = karat.evaluate(gold, run, context="ranking", metrics=METRICS, **options)
    return {str(m): (s.value, s.undefined, *s.result.value.tolist()) for m, s in found.systems[0].scores.items()}


def drawn(seed):
    """The queries of several collections as one."""
    parts = [(n, collection(7 * seed + n)) for n in range(5)]
    gold = {f"{n}-{q}": docs for n, part in parts for q, docs in part.qrels.items()}
    run = {f"{n}-{q}": docs for n, part in parts for q, docs in part.run.items()}
    order = list(gold)
    random.Random(seed).shuffle(order)
    return {q: gold[q] for q in order}, run


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_every_metric_of_every_query(seed, options, monkeypatch):
    gold, run = drawn(seed)
    whole = scores(gold, run, **options)
    for block in (1, 40):
        monkeypatch.setattr(rows, "BLOCK", block)
        assert repr(scores(gold, run, **options)) == repr(whole)  # NaN is like NaN


def test_intervals_and_any_weights(monkeypatch):
    gold, run = drawn(11)
    ask = lambda: karat.evaluate(gold, run, context="ranking", intervals=True, resamples=200)
    whole = ask()
    monkeypatch.setattr(rows, "BLOCK", 30)
    parts = ask()
    for one, other in zip(parts.systems[0].scores.values(), whole.systems[0].scores.values(), strict=True):
        assert (one.value, one.interval) == (other.value, other.interval)
    cells, known = parts.systems[0].cells, catalogue("ranking")
    W = Dense(np.random.default_rng(3).integers(0, 4, (6, len(cells))).astype(float))
    assert sum(1 for _ in cells.blocks()) > 5
    for definition in known:
        metric = known.resolve(definition.name)
        at_once = definition.function(W, cells, **definition.settings(metric, type(cells))).filled(np.nan)
        assert np.array_equal(definition.compute(W, cells, metric).value, at_once.value, equal_nan=True), metric
