"""LeWiDi-2025's scores: by hand, and by the formulas of the task on random annotators."""

import numpy as np
import pytest

import karat


def score(gold, pred, metric, **options):
    return karat.evaluate(gold, pred, context="soft", metrics=[metric], **options)[metric].value


def as_votes(matrix):
    return [{f"ann{j}": str(v) for j, v in enumerate(row)} for row in matrix.tolist()]


@pytest.fixture(params=range(3))
def rng(request):
    return np.random.default_rng(request.param)


def test_error_rate_of_binary_votes(rng):
    gold, pred = rng.integers(0, 2, (2, 40, 5))
    expected = (np.abs(gold - pred).sum(1) / 5).mean()
    assert score(as_votes(gold), as_votes(pred), "perspectivist_error") == pytest.approx(expected)
    assert score(as_votes(gold), as_votes(pred), "perspectivist_accuracy") == pytest.approx(1 - expected)


@pytest.mark.parametrize(("low", "high", "divisor"), [(-5, 6, 11), (1, 7, 6)])
def test_distance_of_ordinal_votes(rng, low, high, divisor):
    """Paraphrases are rated −5 to 5 and sarcasm 1 to 6; the task divides by 11 and 6."""
    gold, pred = rng.integers(low, high, (2, 40, 5))
    expected = (np.abs(gold - pred) / divisor).mean(1).mean()
    found = score(as_votes(gold), as_votes(pred), f"perspectivist_distance(divisor={divisor})")
    assert found == pytest.approx(expected)


def test_distance_by_hand():
    """Positions 0, 1, 2: votes 0 2 | 1; answers 1 and none | 2: ((1 + 2)/2 + 1)/2 over a span of 2."""
    gold = {"1": {"x": "low", "y": "high"}, "2": {"x": "mid"}}
    pred = {"1": {"x": "mid"}, "2": {"x": "high"}}
    assert score(gold, pred, "perspectivist_distance", order="low,mid,high") == pytest.approx((3 / 2 + 1) / 2 / 2)
    assert score(gold, pred, "perspectivist_distance(average=vote)", order="low,mid,high") == pytest.approx(4 / 3 / 2)
    # x: (1 + 1)/2, y: 2
    found = score(gold, pred, "perspectivist_distance(average=annotator)", order="low,mid,high")
    assert found == pytest.approx((1 + 2) / 2 / 2)


def test_the_top_label_answers_every_annotator():
    """Top label 3 of votes 1 and 5: (2 + 2)/2 over 4."""
    assert score({"1": {"x": "1", "y": "5"}}, {"1": {"3": 0.6, "5": 0.4}}, "perspectivist_distance") == pytest.approx(
        0.5
    )


def test_distance_needs_an_order_and_a_divisor_above_zero():
    found = karat.evaluate([{"x": "A"}], [{"x": "B"}], context="soft", metrics=["perspectivist_distance"])
    assert "no order" in found["perspectivist_distance"].undefined
    with pytest.raises(karat.MetricError, match="above 0"):
        score([{"x": "1"}], [{"x": "2"}], "perspectivist_distance(divisor=0)")
    assert score([{"x": "1"}], [{"x": "3"}], "perspectivist_distance(divisor=1)") == 2.0


LABELS = ["entailment", "neutral", "contradiction"]


def as_weights(matrix):
    return [dict(zip(LABELS, row, strict=True)) for row in matrix.tolist()]


def test_independent_labels(rng):
    """VariErrNLI: each label has a distribution over no and yes; the mean over samples of the mean over labels."""
    gold, pred = rng.integers(0, 5, (2, 30, 3)) / 4
    both = [np.stack([1 - x, x]) for x in (gold, pred)]
    expected = np.abs(both[0] - both[1]).sum(0).mean(1).mean()
    assert score(as_weights(gold), as_weights(pred), "binary_manhattan") == pytest.approx(expected)


def test_independent_labels_without_an_answer():
    """Gold .75 and 0 of two labels: the opposite is .75·2 and 1·2 away; all zeros are an answer, .75·2 and 0 away."""
    gold = {"1": {"A": 0.75, "B": 0.0}, "2": {"A": 1.0, "B": 1.0}}
    right = {"2": {"A": 1.0, "B": 1.0}}
    assert score(gold, right, "binary_manhattan") == pytest.approx((1.5 + 2) / 2 / 2)
    assert score(gold, right | {"1": {"A": 0.0, "B": 0.0}}, "binary_manhattan") == pytest.approx(1.5 / 2 / 2)


def test_labels_as_test_cases():
    """The perspectivist score of independent labels: each label is a test case, whose error rates are averaged."""
    gold = [
        {"test_case": "entailment", "id": "1", "value": {"x": "1", "y": "0"}},
        {"test_case": "neutral", "id": "1", "value": {"x": "1", "y": "1"}},
    ]
    pred = [
        {"test_case": "entailment", "id": "1", "value": {"x": "0", "y": "0"}},
        {"test_case": "neutral", "id": "1", "value": {"x": "1", "y": "1"}},
    ]
    assert score(gold, pred, "perspectivist_error") == pytest.approx((1 / 2 + 0) / 2)


def test_annotators_who_all_choose_the_only_class_are_right():
    votes = [{"ann0": "A", "ann1": "A", "ann2": "A"}, {"ann1": "A"}, {"ann0": "A", "ann2": "A"}]
    fewer = [{"ann0": "A", "ann1": "A"}, {"ann1": "A"}, {"ann0": "A"}]
    assert score(votes, list(map(dict, votes)), "perspectivist_error") == 0.0
    assert score(votes, fewer, "perspectivist_error") == pytest.approx((1 / 3 + 1 / 2) / 3)
