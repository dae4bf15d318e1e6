# SPDX-License-Identifier: Apache-2.0
"""Weights are repetition: a unit of weight 3 counts as three units, in every metric that takes weights."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import karat
from karat.cli.main import karat as command

LABELS = np.array(["a", "b", "c", "d"])


def sample(seed: int, n: int = 120):
    rng = np.random.default_rng(seed)
    gold = LABELS[rng.integers(0, 4, n)]
    pred = np.where(rng.random(n) < 0.6, gold, LABELS[rng.integers(0, 4, n)])
    return gold, pred, rng


@pytest.mark.parametrize("seed", range(10))
def test_scikit_learn_agrees(seed):
    from sklearn import metrics

    gold, pred, rng = sample(seed)
    weight = rng.gamma(0.7, 1.0, len(gold))
    asked = ["accuracy", "f1", "precision(average=weighted)", "recall(average=micro)", "kappa", "mcc", "balanced_accuracy",
             "jaccard"]  # fmt: skip
    e = karat.evaluate(gold, pred, metrics=asked, weight=weight)
    how = {"sample_weight": weight}
    expected = {
        "accuracy": metrics.accuracy_score(gold, pred, **how),
        "f1": metrics.f1_score(gold, pred, average="macro", **how),
        "precision(average=weighted)": metrics.precision_score(gold, pred, average="weighted", **how),
        "recall(average=micro)": metrics.recall_score(gold, pred, average="micro", **how),
        "kappa": metrics.cohen_kappa_score(gold, pred, **how),
        "mcc": metrics.matthews_corrcoef(gold, pred, **how),
        "balanced_accuracy": metrics.balanced_accuracy_score(gold, pred, **how),
        "jaccard": metrics.jaccard_score(gold, pred, average="macro", **how),
    }
    assert {m: e[m].value for m in asked} == pytest.approx(expected, abs=1e-9)


def repeated(rows: dict, weight: dict) -> dict:
    return {f"{k}-{i}": v for k, v in rows.items() for i in range(weight[k])}


def labels(rng):
    gold = {str(i): str(LABELS[rng.integers(0, 4)]) for i in range(60)}
    return gold, {k: v if rng.random() < 0.6 else "a" for k, v in gold.items()}


def label_sets(rng):
    def some() -> list[str]:
        return sorted({str(x) for x in rng.choice(LABELS, rng.integers(1, 4))})

    return {str(i): some() for i in range(60)}, {str(i): some() for i in range(60)}


def weights(rng):
    def share() -> dict[str, float]:
        p = rng.dirichlet(np.ones(3))
        return {"a": round(p[0], 3), "b": round(p[1], 3), "c": round(1 - round(p[0], 3) - round(p[1], 3), 3)}

    return {str(i): share() for i in range(60)}, {str(i): share() for i in range(60)}


@pytest.mark.parametrize(("context", "make"), [("monolabel", labels), ("multilabel", label_sets), ("soft", weights)])
def test_weights_are_repetition(context, make):
    rng = np.random.default_rng(4)
    gold, pred = make(rng)
    weight = {k: int(rng.integers(1, 4)) for k in gold}
    weighted = karat.evaluate(gold, pred, context=context, metrics="all", weight=weight)
    written_out = karat.evaluate(repeated(gold, weight), repeated(pred, weight), context=context, metrics="all")
    for one, other in zip(weighted, written_out, strict=True):
        assert one.value == pytest.approx(other.value, abs=1e-9), str(one.metric)


@pytest.mark.parametrize("scale", [0.001, 0.25, 10])
@pytest.mark.parametrize("context", ["monolabel", "soft"])
def test_information_is_that_of_shares_of_the_weights(context, scale):
    """IC(A) = 1, IC(B) = IC(C) = 2; weights that sum to less than 1 made every share 1, and its information 0."""
    labels = ["A", "A", "B", "C"], ["A", "B", "B", "A"]
    gold, pred = ([{x: 1.0} for x in side] if context == "soft" else side for side in labels)
    asked = ["icm", "icm_norm", *(["icm_soft", "icm_soft_norm"] if context == "soft" else [])]
    plain = karat.evaluate(gold, pred, context=context, metrics=asked)
    assert plain["icm"].value == pytest.approx((1 + (-1 - 2) + 2 + (-2 - 1)) / 4)
    scaled = karat.evaluate(gold, pred, context=context, metrics=asked, weight=[scale] * 4)
    for name in asked:
        assert scaled[name].value == pytest.approx(plain[name].value), name


def test_a_label_that_gold_never_has_is_as_rare_as_one_unit():
    """The lightest of weights below 1, else one of weight 1: D has log2 of 4, of 4 · .2 / .2 and of 8."""
    gold, pred = ["A", "A", "B", "C"], ["A", "D", "B", "C"]
    value = lambda weight: karat.evaluate(gold, pred, metrics=["icm"], weight=weight)["icm"].value
    assert value([1] * 4) == pytest.approx((1 - 1 - 2 + 2 + 2) / 4)
    assert value([0.2] * 4) == pytest.approx((1 - 1 - 2 + 2 + 2) / 4)
    assert value([2] * 4) == pytest.approx((1 - 1 - 3 + 2 + 2) / 4)


def test_a_weight_that_never_varies_tells_nothing_whatever_items_weigh():
    """Sums of fractions leave dust where an item lacks the label; none does."""
    others = [{"B": i / 20, "C": 0.9 - i / 20} for i in range(10)]
    each = [0.1, 0.2, 0.7, 0.3, 0.1, 0.2, 0.7, 0.3, 0.6, 0.7]
    bits = [
        karat.evaluate(gold, gold, context="soft", metrics=["icm_soft"], weight=each, allow_same=True)["icm_soft"].value
        for gold in (others, [{"A": 0.1} | weights for weights in others])
    ]
    assert bits[1] == pytest.approx(bits[0], abs=1e-12)


def test_half_a_unit_has_no_pairs():
    gold, pred = ["A", "A", "B", "C"], ["A", "B", "B", "A"]
    votes = [{"ann1": a, "ann2": b} for a, b in zip(gold, pred, strict=True)]
    for given, context in ((gold, "monolabel"), (votes, "soft")):
        score = lambda weight, given=given, context=context: karat.evaluate(
            given, pred if context == "monolabel" else [{"A": 1.0}] * 4,
            context=context, metrics=["krippendorff_alpha"], weight=weight,
        )["krippendorff_alpha"]  # fmt: skip
        assert score([1, 1, 1, 1]).value == pytest.approx(1 - 7 * 2 * 2 / (64 - 26))
        assert score([2, 2, 2, 2]).value == pytest.approx(1 - 15 * 4 * 2 / (256 - 104))
        assert "no whole numbers" in score([0.25] * 4).undefined


def test_documents_are_weighed(tmp_path):
    rng = np.random.default_rng(6)

    def spans() -> list[dict[str, object]]:
        return [{"start": a, "end": a + 3, "label": "PER"} for a in range(0, 40, 5) if rng.random() < 0.6]

    gold = [{"id": f"d{i}", "text": "x" * 50, "spans": spans(), "weight": int(rng.integers(1, 4))} for i in range(20)]
    pred = [{"id": d["id"], "spans": spans()} for d in gold]
    weight = {d["id"]: d["weight"] for d in gold}
    for name, found in (("gold", gold), ("pred", pred)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(d) + "\n" for d in found))
    e = karat.evaluate(tmp_path / "gold.jsonl", tmp_path / "pred.jsonl", metrics=["f1", "recall"], weight="weight")
    many = [
        [dict(d, id=f"{d['id']}-{i}") for d in side for i in range(weight[d["id"]])] for side in (gold, pred)
    ]  # fmt: skip
    other = karat.evaluate(*many, context="spans", metrics=["f1", "recall"])
    for metric in ("f1", "recall"):
        assert e[metric].value == pytest.approx(other[metric].value)


def test_weights_of_one_change_no_score_and_no_interval():
    gold, pred, _ = sample(1)
    plain = karat.evaluate(gold, pred, metrics=["f1", "accuracy"], intervals=True)
    weighted = karat.evaluate(gold, pred, metrics=["f1", "accuracy"], intervals=True, weight=np.ones(len(gold)))
    for metric in ("f1", "accuracy"):
        assert weighted[metric].value == plain[metric].value
        assert weighted[metric].interval == plain[metric].interval


def test_intervals_know_that_few_heavy_units_decide():
    gold, pred, rng = sample(2, 600)
    uneven = np.where(rng.random(600) < 0.05, 50.0, 1.0)
    even = karat.evaluate(gold, pred, metrics=["accuracy"], intervals=True)["accuracy"].interval
    heavy = karat.evaluate(gold, pred, metrics=["accuracy"], intervals=True, weight=uneven)["accuracy"].interval
    assert heavy.high - heavy.low > 2.5 * (even.high - even.low)


@pytest.mark.slow
def test_intervals_of_weighted_scores_cover():
    """Weights that go with the outcome: 95 % intervals hold the weighted share of the population 92 to 98 times of 100."""
    rng, hits, trials = np.random.default_rng(3), 0, 300
    for _ in range(trials):
        heavy = rng.random(300) < 0.3
        weight, right = np.where(heavy, 4.0, 1.0), rng.random(300) < np.where(heavy, 0.6, 0.9)
        pred = np.where(right, "a", "b")
        found = karat.evaluate(np.full(300, "a"), pred, metrics=["accuracy"], intervals=True, weight=weight)
        true = (0.3 * 4 * 0.6 + 0.7 * 0.9) / (0.3 * 4 + 0.7)
        interval = found["accuracy"].interval
        hits += interval.low <= true <= interval.high
    assert 0.92 * trials <= hits <= 0.98 * trials


def test_comparisons_are_weighed():
    gold, pred, rng = sample(3, 300)
    other = np.where(rng.random(300) < 0.5, gold, "a")
    weight = rng.integers(1, 4, 300)
    c = karat.compare(gold, {"x": pred, "y": other}, metrics=["accuracy"], weight=weight)
    found = c.pair("x", "y", "accuracy")
    expected = [np.average(p == gold, weights=weight) for p in (pred, other)]
    assert [found.a_value, found.b_value] == pytest.approx(expected)
    assert found.difference == pytest.approx(expected[0] - expected[1])
    assert found.interval.low < found.difference < found.interval.high


def test_slices_are_weighed():
    gold, pred, rng = sample(4, 300)
    weight, country = rng.integers(1, 4, 300), np.where(rng.random(300) < 0.5, "en", "es")
    e = karat.evaluate(gold, pred, metrics=["accuracy"], weight=weight, slices={"country": country})
    for name in ("en", "es"):
        inside = country == name
        expected = np.average((gold == pred)[inside], weights=weight[inside])
        assert e["accuracy"].slices["country"][name].value == pytest.approx(expected)


def codes(*args, **options) -> list[str]:
    with pytest.raises(karat.InputError) as caught:
        karat.evaluate(*args, **options)
    return [f.code for f in caught.value.findings]


def test_bad_weights_are_findings():
    gold, pred = {"1": "a", "2": "b", "3": "a"}, {"1": "a", "2": "b", "3": "b"}
    assert codes(gold, pred, weight={"1": 1, "2": -1, "3": "much"}) == ["weight-bad"]
    assert codes(gold, pred, weight={"1": 1, "2": 2}) == ["weight-missing"]
    assert codes(gold, pred, weight={"1": 0, "2": 0, "3": 0}) == ["weights-zero"]


MISSING = [
    [1, None],
    pd.Series([1, pd.NA]),
    pd.Series([1, None], dtype="Int64"),
    pd.Series([1, None], dtype="Float64"),
    np.ma.array([1, 2], mask=[False, True]),
    {"1": 1, "2": pd.NA},
]


@pytest.mark.parametrize("weight", MISSING, ids=lambda w: f"{type(w).__name__} {getattr(w, 'dtype', '')}")
def test_a_weight_that_is_missing_is_a_finding_whatever_holds_it(weight):
    assert codes(["a", "b"], ["a", "a"], weight=weight) == ["weight-missing"]


@pytest.mark.parametrize("weight", [5, True, np.array(5), object(), {1, 3}], ids=lambda given: type(given).__name__)
def test_what_is_no_column_of_weights_is_a_finding(weight):
    assert codes(["a", "b"], ["a", "a"], weight=weight) == ["bad-option"]
    assert codes(["a", "b"], ["a", "a"], slices={"country": weight}) == ["bad-option"]


def test_rows_are_no_weights():
    assert codes(["a", "b"], ["a", "a"], weight=np.ones((2, 2))) == ["weight-bad"]


@pytest.mark.parametrize("each", [1e308, 1e200, 1e80, 1e-80, 1e-200, 5e-324])
def test_weights_whose_sums_no_number_holds(each):
    """Accuracy was 0, Kappa undefined and MCC 0, all in silence."""
    assert codes(["a", "b"], ["a", "a"], weight=[each, each]) == ["weights-beyond"]


@pytest.mark.parametrize("each", [4e59, 1e30, 1e-30, 1e-59])
def test_weights_of_any_other_size_score_as_ones_do(each):
    gold, pred, _ = sample(3)
    asked = ["accuracy", "kappa", "mcc", "f1", "balanced_accuracy"]
    weight = np.full(len(gold), each / len(gold))
    weighed, plain = (karat.evaluate(gold, pred, metrics=asked, weight=w) for w in (weight, None))
    assert [weighed[m].value for m in asked] == pytest.approx([plain[m].value for m in asked])
    (said,) = (f.message for f in weighed.findings if f.code == "weighted")
    assert "as much as 120 of equal weight" in said


def test_weights_and_slices_are_paired_by_the_index_as_predictions_are():
    def series(values, index):
        return pd.Series(values, index=index)

    gold, pred = series(["a", "b"], [5, 6]), series(["a", "a"], [5, 6])
    asked = {"metrics": ["accuracy"]}
    for index, expected, said in (
        ([6, 5], 0.75, {"paired-by-index"}),
        (["6", "5"], 0.75, {"paired-by-index"}),
        ([5, 6], 0.25, set()),
        ([0, 1], 0.25, set()),
        ([6, 7], 0.25, {"index-differs"}),
    ):
        e = karat.evaluate(gold, pred, weight=series([1, 3], index), **asked)
        assert (e["accuracy"].value, {f.code for f in e.findings} - {"weighted"}) == (expected, said)
        sliced = karat.evaluate(gold, pred, slices={"where": series(["x", "y"], index)}, **asked)
        assert {f.code for f in sliced.findings} & {"paired-by-index", "index-differs"} == said
        by = {name: sliced["accuracy"].slices["where"][name].value for name in "xy"}
        assert by == ({"x": 0, "y": 1} if expected == 0.75 else {"x": 1, "y": 0})
    both = karat.compare(gold, {"x": pred, "y": gold}, weight=series([1, 3], [6, 5]), **asked)
    assert "paired-by-index" in {f.code for f in both.findings}
    assert both.evaluation.systems[0]["accuracy"].value == 0.75
    frame = pd.DataFrame({"id": ["p", "q"], "label": ["a", "b"]}, index=[5, 6])
    by_id = {"p": "a", "q": "a"}
    assert karat.evaluate(frame, by_id, weight=series([1, 3], [6, 5]), **asked)["accuracy"].value == 0.75


def test_contexts_without_weighted_scores_say_so():
    gold = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 0, "d2": 1}}
    run = {"q1": {"d1": 0.9, "d2": 0.1}, "q2": {"d1": 0.9, "d2": 0.1}}
    assert codes(gold, run, context="ranking", weight={"q1": 1, "q2": 2}) == ["weights-unused"]


def test_command(tmp_path):
    (tmp_path / "gold.csv").write_text("id,label,w\n1,a,3\n2,b,1\n")
    (tmp_path / "pred.csv").write_text("id,prediction\n1,a\n2,a\n")
    run = CliRunner().invoke(
        command, ["evaluate", str(tmp_path / "gold.csv"), str(tmp_path / "pred.csv"), "-m", "accuracy", "--weight", "w"]
    )
    assert run.exit_code == 0
    assert "0.7500" in run.stdout
    assert "2 units weigh 4, as much as 2 of equal weight" in run.stderr


def test_the_report_says_as_how_many_units_of_equal_weight_they_know():
    """(1 + 1 + 2)² / (1 + 1 + 4) = 2.67."""
    gold = [{"id": str(i), "value": "A", "w": w} for i, w in enumerate((1, 1, 2))]
    pred = [{"id": r["id"], "value": r["value"]} for r in gold]
    (said,) = (
        f.message for f in karat.evaluate(gold, pred, metrics=["accuracy"], weight="w").findings if f.code == "weighted"
    )
    assert "3 units weigh 4, as much as 3 of equal weight" in said


@pytest.mark.parametrize(("gold", "pred"), [("P", "P"), ("PQ", "P"), ("P", "PQ")])
@pytest.mark.filterwarnings("error")
def test_one_label_is_one_label_whatever_fractions_weigh_it(gold, pred):
    """n² less what the label has of it left 1e-17 in one of ten: kappa was 1, MCC 6e-9, or the root of a number below 0."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        n = int(rng.integers(2, 12))
        sides = [[labels[i % len(labels)] for i in range(n)] for labels in (gold, pred)]
        weight = (rng.random(n).round(int(rng.integers(1, 4))) + 0.1).tolist()
        e = karat.evaluate(*sides, context="monolabel", metrics=["kappa", "mcc", "scott_pi"], weight=weight)
        both = [e["kappa"].value, e["scott_pi"].value]
        assert e["mcc"].value is None
        assert both == [None, None] if gold == pred else None not in both


@pytest.mark.filterwarnings("error")
def test_pages_that_are_all_alike_are_so_whatever_fractions_weigh_them():
    rng = np.random.default_rng(0)
    for _ in range(60):
        n = int(rng.integers(2, 10))
        weight = (rng.random(n).round(int(rng.integers(1, 4))) + 0.1).tolist()
        one, every = (
            [{"document_id": str(i), "pages": 3, "first_pages": p} for i in range(n)] for p in ([1], [1, 2, 3])
        )
        for gold, pred in ((one, every), (every, one)):
            e = karat.evaluate(gold, pred, metrics=["mcc"], weight=weight)
            assert e["mcc"].value is None


@pytest.mark.filterwarnings("error")
def test_p_of_a_perfect_system_is_that_of_every_swap():
    """Sums of errors that change places left 1e-16, whose root is 1e-8 or none: p of RMSE was half of what it is."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        gold = (2 * rng.normal(size=6)).round(2)
        other = (gold + rng.normal(size=6)).round(2).tolist()
        systems = {"a": gold.tolist(), "b": other}
        c = karat.compare(gold.tolist(), systems, context="numbers", metrics=["rmse", "mae"], resamples=100)
        assert c.pairs[0].p == c.pairs[1].p
