"""Numbers against scikit-learn and SciPy, and every form of weights against the written matrix."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

import karat
from karat.contexts import catalogue
from karat.contexts.numbers.order import Ties
from karat.weights import Dense, Grouped, Memo, Tilt

NAMES = [d.name for d in catalogue("numbers")]


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 80))
    gold = rng.normal(rng.uniform(-100, 100), rng.uniform(0.1, 9), n)
    pred = gold * rng.uniform(-0.5, 1.2) + rng.normal(0, 3, n)
    if rng.random() < 0.6:
        gold, pred = gold.round(int(rng.integers(0, 2))), pred.round(int(rng.integers(0, 2)))
    return gold, pred


def agrees(seed: int) -> None:
    gold, pred = drawn(seed)
    e = karat.evaluate(gold, pred, context="numbers", metrics=[*NAMES, "quantile_loss(q=0.9)"], hashes=False)
    wanted = {
        "mae": metrics.mean_absolute_error(gold, pred),
        "mse": metrics.mean_squared_error(gold, pred),
        "rmse": metrics.root_mean_squared_error(gold, pred),
        "max_error": metrics.max_error(gold, pred),
        "mean_error": (pred - gold).mean(),
        "quantile_loss": metrics.mean_pinball_loss(gold, pred),
        "quantile_loss(q=0.9)": metrics.mean_pinball_loss(gold, pred, alpha=0.9),
    }
    if len({*gold}) > 1:
        wanted["r2"] = metrics.r2_score(gold, pred)
    if len({*gold}) > 1 and len({*pred}) > 1:
        covariance = np.cov(gold, pred, bias=True)
        wanted["pearson"] = stats.pearsonr(gold, pred).statistic
        wanted["spearman"] = stats.spearmanr(gold, pred).statistic
        wanted["kendall"] = stats.kendalltau(gold, pred).statistic
        apart = (gold.mean() - pred.mean()) ** 2
        wanted["concordance"] = 2 * covariance[0, 1] / (covariance[0, 0] + covariance[1, 1] + apart)
    for name, theirs in wanted.items():
        ours = e.only[karat.parse(name)].value
        assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-9), (name, seed)


def test_peers_agree():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(100):
            agrees(seed)


@pytest.mark.parametrize("name", NAMES)
def test_all_forms_of_weights_agree(name):
    known, rng = catalogue("numbers"), np.random.default_rng(2)
    metric = known.resolve(name)
    for seed in range(12):
        cells = karat.evaluate(*drawn(seed), context="numbers", metrics=["mae"]).only.cells
        n = rng.integers(1, 4, len(cells)).astype(float)
        group = rng.integers(0, 3, len(n))
        forms = [(Tilt(n, a, b), a * n + b * np.eye(len(n))) for a, b in ((1.0, -1.0), (0.0, 1.0), (0.9, 0.5))]
        forms += [(Tilt(n, 1.0, -1.0, np.arange(0, len(n), 2)), (n - np.eye(len(n)))[::2])]
        forms += [(Grouped(group, n, (3, len(n))), np.where(group == np.arange(3)[:, None], n, 0.0))]
        for weights, written in forms:
            theirs = known[name].compute(Dense(written), cells, metric).value
            ours = known[name].compute(Memo(weights), cells, metric).value
            np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-9, err_msg=f"{name} {seed}")


def test_weights_are_copies():
    gold, pred = drawn(7)
    copies = np.random.default_rng(0).integers(0, 4, len(gold))
    once = karat.evaluate(gold, pred, context="numbers", metrics=NAMES, units=True).only.cells
    weights = np.zeros(len(once))
    np.add.at(weights, once.unit, copies)
    many = karat.evaluate(np.repeat(gold, copies), np.repeat(pred, copies), context="numbers", metrics=NAMES)
    for score in many:
        ours = catalogue("numbers")[score.metric.name].compute(Dense(weights[None, :]), once, score.metric).value[0]
        assert ours == pytest.approx(score.value, rel=1e-9)


@pytest.mark.parametrize(
    ("gold", "pred", "context"),
    [
        ([1.5, 2.25, 3.0], [1.0, 2.5, 3.5], "numbers"),
        ([1, 0, 1], [0.9, 0.2, 0.4], "probabilities"),
        ([1, 2, 3], [1, 2, 2], "monolabel"),
        (["a", "b", "a"], [0.9, 0.2, 0.4], "probabilities"),
        ({"x": 1, "y": 0, "z": 1}, {"x": 0.9, "y": 0.2, "z": 0.4}, "probabilities"),
    ],
)
def test_what_numbers_mean(gold, pred, context):
    assert karat.evaluate(gold, pred, metrics=[]).context == context


def test_unclear_numbers_are_asked_for():
    gold, pred = {"x": 3.5, "y": 1.25, "z": 2.0}, {"x": 3.0, "y": 1.5, "z": 9.0}
    with pytest.raises(karat.InputError, match='context="numbers" or context="ranking"'):
        karat.evaluate(gold, pred)
    assert karat.evaluate(gold, pred, context="numbers")["mae"].value == pytest.approx((0.5 + 0.25 + 7) / 3)


def test_a_table_of_fractions_is_measured(tmp_path):
    rng = np.random.default_rng(0)
    gold, pred = rng.normal(size=50).round(3), rng.normal(size=50).round(3)
    for name, values, column in (("gold", gold, "target"), ("pred", pred, "prediction")):
        rows = [f"{i},{v}" for i, v in enumerate(values.tolist())]
        (tmp_path / f"{name}.csv").write_text("\n".join([f"id,{column}", *rows]) + "\n")
    e = karat.evaluate(tmp_path / "gold.csv", tmp_path / "pred.csv")
    assert e.context == "numbers"
    assert e["rmse"].value == pytest.approx(np.sqrt(((gold - pred) ** 2).mean()))


def test_missing_numbers_are_errors():
    with pytest.raises(karat.InputError, match="no prediction"):
        karat.evaluate({"a": 1.5, "b": 2.5}, {"a": 1.0}, context="numbers")
    assert karat.evaluate({"a": 1.5, "b": 2.5}, {"a": 1.0}, context="numbers", missing="skip")["mae"].value == 0.5


def test_an_error_that_is_always_the_same_has_no_upper_limit_to_reckon_with():
    e = karat.evaluate([1.0, 2.0, 3.5], [2.0, 3.0, 4.5], context="numbers", metrics=["mae"], intervals=True)
    assert (e["mae"].interval.low, e["mae"].interval.high) == (1, 1)


def test_no_items_have_no_ties():
    ties = Ties.of(np.zeros(0, np.int64))
    assert ties.sums(np.zeros((2, 0))).shape == ties.ranks(np.zeros((2, 0))).shape == (2, 0)


def test_a_test_case_far_from_the_others_keeps_its_digits():
    rng = np.random.default_rng(1)
    sides = [(rng.normal(centre, 0.01, 40), rng.normal(centre, 0.01, 40)) for centre in (-5_000.0, 5_000.0)]
    rows = [
        [{"test_case": str(t), "id": f"{t}-{i}", "value": v} for t, s in enumerate(sides) for i, v in enumerate(s[k])]
        for k in (0, 1)
    ]
    e = karat.evaluate(*rows, context="numbers", metrics=["r2", "pearson"])
    for t, (gold, pred) in enumerate(sides):
        assert e["r2"].by_test_case[str(t)].value == pytest.approx(metrics.r2_score(gold, pred), rel=1e-9)
        assert e["pearson"].by_test_case[str(t)].value == pytest.approx(np.corrcoef(gold, pred)[0, 1], abs=1e-9)
