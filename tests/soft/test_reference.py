"""Soft metrics and agreement against SciPy, scikit-learn, krippendorff and statsmodels on random data."""

import krippendorff
import numpy as np
import pytest
from scipy.spatial import distance
from scipy.stats import entropy, pearsonr, wasserstein_distance
from sklearn.metrics import cohen_kappa_score, f1_score, log_loss
from statsmodels.stats.inter_rater import fleiss_kappa

import karat
from karat.contexts import catalogue

LABELS = ["1", "2", "3", "4"]


@pytest.fixture(scope="module", params=[0, 1])
def sides(request):
    rng = np.random.default_rng(request.param)
    return rng.dirichlet(np.ones(4), 40), rng.dirichlet(np.ones(4), 40)


def dicts(matrix):
    return [dict(zip(LABELS, row, strict=True)) for row in matrix.tolist()]


def score(gold, pred, metric, **options):
    return karat.evaluate(gold, pred, context="soft", metrics=[metric], **options)[metric].value


EXPECTED = {
    "cross_entropy(base=2.718281828459045)": lambda g, p: -(g * np.log(p)).sum(1).mean(),
    "cross_entropy(variant=lewidi2023)": lambda g, p: -(g * np.log(np.clip(p, 1e-12, 1 - 1e-12) + 1e-9)).sum(1).mean(),
    "kl": lambda g, p: np.mean([entropy(a, b, base=2) for a, b in zip(g, p, strict=True)]),
    "js_distance": lambda g, p: np.mean([distance.jensenshannon(a, b, base=2) for a, b in zip(g, p, strict=True)]),
    "js_divergence": lambda g, p: np.mean(
        [distance.jensenshannon(a, b, base=2) ** 2 for a, b in zip(g, p, strict=True)]
    ),
    "mae": lambda g, p: np.abs(g - p).mean(),
    "mse": lambda g, p: ((g - p) ** 2).mean(),
    "brier": lambda g, p: ((g - p) ** 2).sum(1).mean(),
    "euclidean": lambda g, p: np.mean([distance.euclidean(a, b) for a, b in zip(g, p, strict=True)]),
    "manhattan": lambda g, p: np.mean([distance.cityblock(a, b) for a, b in zip(g, p, strict=True)]),
    "cosine": lambda g, p: np.mean([1 - distance.cosine(a, b) for a, b in zip(g, p, strict=True)]),
    "wasserstein": lambda g, p: np.mean(
        [wasserstein_distance([1, 2, 3, 4], [1, 2, 3, 4], a, b) for a, b in zip(g, p, strict=True)]
    ),
    "entropy_correlation": lambda g, p: pearsonr(entropy(g, axis=1, base=2), entropy(p, axis=1, base=2))[0],
    "entropy_similarity": lambda g, p: 1 - distance.cosine(entropy(g, axis=1), entropy(p, axis=1)),
    "soft_f1": lambda g, p: 2 * np.minimum(g, p).sum() / (g + p).sum(),
    "soft_f1(average=macro)": lambda g, p: (2 * np.minimum(g, p).sum(0) / (g + p).sum(0)).mean(),
    "soft_accuracy": lambda g, p: np.minimum(g, p).sum(1).mean(),
    "accuracy": lambda g, p: (g.argmax(1) == p.argmax(1)).mean(),
    "f1": lambda g, p: f1_score(g.argmax(1), p.argmax(1), average="macro"),
}


@pytest.mark.parametrize("metric", EXPECTED)
def test_against_other_tools(sides, metric):
    assert score(dicts(sides[0]), dicts(sides[1]), metric) == pytest.approx(EXPECTED[metric](*sides), abs=1e-9)


def test_cross_entropy_of_certain_gold_is_log_loss(sides):
    hard = sides[0].argmax(1)
    gold = [{LABELS[i]: 1.0} for i in hard]
    found = score(gold, dicts(sides[1]), "cross_entropy(base=2.718281828459045)")
    assert found == pytest.approx(log_loss(hard, sides[1], labels=range(4)))


def test_threshold_hardening(sides):
    gold, pred = (s >= 0.3 for s in sides)
    found = karat.evaluate(
        *map(dicts, sides), context="soft", metrics=["f1(average=micro)", "accuracy"], harden="threshold", threshold=0.3
    )
    assert found["f1"].value == pytest.approx(f1_score(gold, pred, average="micro"))
    assert found["accuracy"].value == pytest.approx((gold == pred).all(1).mean())


def test_ece_by_hand():
    """Confidences .9 (right), .8 (wrong), .85 (right), .3 of three (wrong): bins .8–.9 and .2–.3.

    |(.9 + .8 + .85)/3 − 2/3|·3/4 + |.4 − 0|·1/4 with .4 in the bin .3–.4.
    """
    gold = [{"A": 1.0}, {"A": 1.0}, {"A": 1.0}, {"C": 1.0}]
    pred = [{"A": 0.9, "B": 0.1}, {"A": 0.2, "B": 0.8}, {"A": 0.85, "B": 0.15}, {"A": 0.4, "B": 0.3, "C": 0.3}]
    # bins: .8 alone in (.7, .8]; .85 and .9 in (.8, .9]; .4 alone in (.3, .4]
    assert score(gold, pred, "ece") == pytest.approx((0.8 + abs(0.85 + 0.9 - 2) + 0.4) / 4)
    # one bin: |(.9 + .8 + .85 + .4) − 2| / 4
    assert score(gold, pred, "ece(bins=1)") == pytest.approx(0.95 / 4)


@pytest.fixture(scope="module", params=[0, 1, 2])
def votes(request):
    """Items × annotators of labels 1 to 4, −1 where an annotator did not vote."""
    rng = np.random.default_rng(request.param)
    truth = rng.integers(1, 5, (30, 1))
    matrix = np.where(rng.random((30, 5)) < 0.6, truth, rng.integers(1, 5, (30, 5)))
    return matrix if request.param == 0 else np.where(rng.random((30, 5)) < 0.25, -1, matrix)


def as_votes(matrix):
    return [{f"a{j}": str(v) for j, v in enumerate(row) if v > 0} for row in matrix.tolist()]


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_krippendorff(votes, level):
    matrix = votes[(votes > 0).any(1)]
    data = np.where(matrix > 0, matrix, np.nan).astype(float).T
    expected = krippendorff.alpha(reliability_data=data, level_of_measurement=level, value_domain=[1, 2, 3, 4])
    found = score(as_votes(matrix), [{"1": 1.0}] * len(matrix), f"krippendorff_alpha(level={level})")
    assert found == pytest.approx(expected, abs=1e-9)


def test_fleiss(votes):
    if (votes < 0).any():
        pytest.skip("statsmodels needs every annotator on every item")
    table = np.stack([(votes == k).sum(1) for k in range(1, 5)], 1)
    found = score(as_votes(votes), [{"1": 1.0}] * len(votes), "fleiss_kappa")
    assert found == pytest.approx(fleiss_kappa(table), abs=1e-9)


def test_pairwise_kappa(votes):
    pairs = []
    for a in range(5):
        for b in range(a + 1, 5):
            both = (votes[:, a] > 0) & (votes[:, b] > 0)
            pairs.append(cohen_kappa_score(votes[both, a], votes[both, b]))
    matrix = votes[(votes > 0).any(1)]
    found = score(as_votes(matrix), [{"1": 1.0}] * len(matrix), "pairwise_kappa")
    assert found == pytest.approx(np.mean(pairs), abs=1e-9)


def test_votes_become_shares(votes):
    matrix = votes[(votes > 0).any(1)]
    shares = np.stack([(matrix == k).sum(1) for k in range(1, 5)], 1) / (matrix > 0).sum(1, keepdims=True)
    pred = dicts(np.random.default_rng(9).dirichlet(np.ones(4), len(matrix)))
    assert score(as_votes(matrix), pred, "manhattan") == pytest.approx(score(dicts(shares), pred, "manhattan"))


SPELT = {
    "soft": "KL kl JSD js_divergence jensenshannon js_distance EMD wasserstein Brier brier ECE ece soft_micro_f1 soft_f1"
    " krippendorffs_alpha krippendorff_alpha pairwise_cohen_kappa pairwise_kappa CrossEntropy cross_entropy(variant=pyevall)",
    "multilabel": "hit_rate@3 hit@3 P@3 topk_precision@3 F1@3 topk_f1@3 lrap label_ranking_average_precision",
    "clustering": "rand_index rand ARI adjusted_rand VI variation_of_information V-measure v_measure bcubed_f bcubed_f1",
}


@pytest.mark.parametrize("context", SPELT)
def test_spellings_of_the_field(context):
    names, known = SPELT[context].split(), catalogue(context)
    for other, own in zip(names[::2], names[1::2], strict=True):
        assert str(known.resolve(other)) == own


@pytest.mark.parametrize(
    "name",
    ["cross_entropy(smoothing=2.0)", "kl(smoothing=0.0)", "js_divergence(base=1.0)", "kl(base=nan)", "ece(bins=0)"],
)
def test_parameters_without_a_meaning_are_refused(name):
    with pytest.raises(karat.MetricError):
        score([{"A": 1.0}], [{"A": 0.5, "B": 0.5}], name)
