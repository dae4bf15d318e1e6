# SPDX-License-Identifier: Apache-2.0
"""Test cases that are asked together say what each of them says by itself."""

from typing import Any

import numpy as np
import pytest

import karat
from karat.contexts import catalogue
from karat.evaluation import Evaluation
from karat.stats.cases import CaseStratum, strata_of
from karat.stats.clusters import designs
from karat.stats.estimate import sample_of, stratum_of
from karat.stats.resampling import Clusters, Units
from karat.stats.statistic import Statistic

LABELS = list("abcd")
SIZES = [1, 7, 40, 3, 12, 2]


def rows(rng: np.random.Generator, value: Any, missing: float = 0.0) -> list[dict[str, Any]]:
    case = np.repeat(np.arange(len(SIZES)), SIZES)
    out = [{"test_case": f"t{t}", "id": str(i), "value": value(rng)} for i, t in enumerate(case)]
    return [out[i] for i in rng.permutation(len(out)) if rng.random() >= missing]


def one(rng: np.random.Generator) -> str:
    return str(rng.choice(LABELS))


def several(rng: np.random.Generator) -> list[str]:
    return [label for label in LABELS if rng.random() < 0.5] or ["a"]


def shares(rng: np.random.Generator) -> dict[str, float]:
    return dict(zip(LABELS, rng.dirichlet(np.ones(4)).tolist(), strict=True))


def number(rng: np.random.Generator) -> float:
    return float(rng.normal())


def evaluation(kind: str) -> Evaluation:
    rng = np.random.default_rng(5)
    averages = [
        "accuracy",
        "f1",
        "f1(average=micro)",
        "precision(average=weighted,classes=gold)",
        "kappa",
        "mcc",
        "icm",
    ]
    if kind == "weights":
        gold = rows(rng, one)
        weight = {row["id"]: float(rng.gamma(2.0)) for row in gold}
        gold = [row | {"weight": weight[row["id"]]} for row in gold]
        return karat.evaluate(gold, rows(rng, one), metrics=averages, weight="weight", units=True)
    if kind == "labels":
        return karat.evaluate(rows(rng, one), rows(rng, one, missing=0.1), metrics=averages, units=True)
    value = {"label sets": several, "shares": shares}[kind]
    return karat.evaluate(rows(rng, value), rows(rng, value, missing=0.1), units=True)


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("kind", ["labels", "weights", "label sets", "shares"])
def test_asked_together_or_alone(kind: str, classes: bool) -> None:
    e = evaluation(kind)
    cells, statistic = e.systems[0].cells, Statistic(catalogue(e.context), e.metrics)
    together = strata_of(cells, statistic, classes)
    assert together is not None
    for t, stratum in enumerate(together):
        index = np.flatnonzero(cells.test_case == t)
        alone = stratum_of(cells, index, stratum.name, statistic, Units(cells.n[index].astype(float)), classes)
        near = {"rtol": 1e-12, "atol": 1e-12}
        np.testing.assert_allclose(stratum.point, alone.point, **near)
        np.testing.assert_array_equal(stratum.jackknife.n, alone.jackknife.n)
        np.testing.assert_allclose(stratum.jackknife.value, alone.jackknife.value, **near)
        np.testing.assert_allclose(stratum.unit_scores.value, alone.unit_scores.value, **near)
        np.testing.assert_array_equal(stratum.unit_scores.is_mean, alone.unit_scores.is_mean)
        np.testing.assert_array_equal(stratum.is_share, alone.is_share)
        assert stratum.folds.keys() == alone.folds.keys()


def test_rows_of_test_cases_come_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    e = evaluation("labels")
    cells, statistic = e.systems[0].cells, Statistic(catalogue(e.context), e.metrics)
    whole = sample_of(cells, statistic, True)
    monkeypatch.setattr("karat.stats.statistic.FEW_ROWS", 0)
    monkeypatch.setattr("karat.stats.statistic.BLOCK", 200)  # a few rows at a time, less than the largest test case has
    cut = sample_of(cells, statistic, True)
    for a, b in zip(whole.strata, cut.strata, strict=True):
        assert isinstance(a, CaseStratum)
        np.testing.assert_array_equal(a.point, b.point)
        np.testing.assert_array_equal(a.jackknife.value, b.jackknife.value)
        np.testing.assert_array_equal(a.unit_scores.is_mean, b.unit_scores.is_mean)


def test_numbers_are_asked_alone() -> None:
    """Their vectors are centred at the mean of all cells, far from which digits would be lost."""
    rng = np.random.default_rng(5)
    e = karat.evaluate(rows(rng, number), rows(rng, number), context="numbers")
    assert strata_of(e.systems[0].cells, Statistic(catalogue(e.context), e.metrics), False) is None


def test_clusters_of_each_test_case() -> None:
    cells = evaluation("labels").systems[0].cells
    assert cells.unit is not None
    cluster = np.arange(len(cells.unit)) % 5
    case = cells.test_case[cells.unit]
    for t, design in designs(cells, cluster).items():
        inside = np.flatnonzero(cells.test_case == t)
        units = np.flatnonzero(case == t)
        expected = Clusters.of(cluster[units], np.searchsorted(inside, cells.unit[units]), len(inside))
        np.testing.assert_array_equal(design.matrix, expected.matrix)
