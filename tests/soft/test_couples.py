# SPDX-License-Identifier: Apache-2.0
"""Kappas of annotators two by two: run by run of annotators they are those of all at once."""

import numpy as np
import pytest

import karat
from karat.contexts import agreement


@pytest.mark.parametrize("together", [1, 7, 60])
def test_annotators_in_runs_give_the_same_kappa(monkeypatch, together):
    rng = np.random.default_rng(4)
    gold = [{f"a{k}": str(rng.choice(list("ABC"))) for k in range(9) if rng.random() < 0.6} for _ in range(25)]
    gold = [votes for votes in gold if len(votes) > 1]
    pred = [{"A": 0.5, "B": 0.3, "C": 0.2}] * len(gold)

    def kappa():
        e = karat.evaluate(gold, pred, context="soft", metrics=["pairwise_kappa"], intervals=0.95, resamples=200)
        return e["pairwise_kappa"].value, e["pairwise_kappa"].interval

    whole = kappa()
    runs = []
    monkeypatch.setattr(agreement, "TOGETHER", together)
    monkeypatch.setattr(agreement, "Passing", lambda *parts: runs.append(1) or PASSING(*parts))
    assert kappa() == whole
    assert len(runs) > 4  # four matrices are those of one run


PASSING = agreement.Passing
