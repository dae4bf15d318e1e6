"""Clustering metrics against scikit-learn, and B-cubed against its definition, on random partitions and small ones."""

import numpy as np
import pytest
from sklearn import metrics as sk

import karat
from karat.contexts.clustering.chance import expected_information


def entropy_within(a, b):
    """H(a | b) in bits."""
    joint = sk.cluster.contingency_matrix(a, b) / len(a)
    share = joint / joint.sum(0)
    return float(-(joint * np.log2(share, out=np.zeros(share.shape), where=share > 0)).sum())


def pairs(g, x):
    (_, only_pred), (only_gold, both) = sk.cluster.pair_confusion_matrix(g, x) / 2
    return both, only_gold, only_pred


def larsen(g, x):
    table = sk.cluster.contingency_matrix(g, x)
    sizes = table.sum(1)[:, None] + table.sum(0)[None, :]
    return float((table.sum(1) * (2 * table / sizes).max(1)).sum() / table.sum())


EXPECTED = {
    "purity": lambda g, x: sk.cluster.contingency_matrix(g, x).max(0).sum() / len(g),
    "inverse_purity": lambda g, x: sk.cluster.contingency_matrix(g, x).max(1).sum() / len(g),
    "larsen_f": larsen,
    "rand": sk.rand_score,
    "adjusted_rand": sk.adjusted_rand_score,
    "jaccard": lambda g, x: pairs(g, x)[0] / sum(pairs(g, x)),
    "fowlkes_mallows": sk.fowlkes_mallows_score,
    **{f"nmi(mean={m})": lambda g, x, m=m: sk.normalized_mutual_info_score(g, x, average_method=m)
       for m in ("arithmetic", "geometric", "min", "max")},
    **{f"ami(mean={m})": lambda g, x, m=m: sk.adjusted_mutual_info_score(g, x, average_method=m)
       for m in ("arithmetic", "geometric", "min", "max")},
    "homogeneity": sk.homogeneity_score,
    "completeness": sk.completeness_score,
    "v_measure": sk.v_measure_score,
    "v_measure(beta=0.5)": lambda g, x: sk.v_measure_score(g, x, beta=0.5),
    "entropy": entropy_within,
    "class_entropy": lambda g, x: entropy_within(x, g),
    "variation_of_information": lambda g, x: entropy_within(g, x) + entropy_within(x, g),
}  # fmt: skip


def scores(gold, pred, names):
    e = karat.evaluate(list(gold), list(pred), context="clustering", metrics=list(names))
    return {name: score.value for name, score in zip(names, e.systems[0], strict=True)}


@pytest.mark.parametrize(("items", "left", "right"), [(200, 6, 9), (60, 30, 2), (40, 3, 40), (1500, 90, 40)])
def test_random_partitions(items, left, right):
    rng = np.random.default_rng(items)
    gold = rng.integers(0, left, items)
    pred = np.where(rng.random(items) < 0.5, gold % right, rng.integers(0, right, items))
    found = scores(gold.astype(str), pred.astype(str), EXPECTED)
    assert found == pytest.approx({name: f(gold, pred) for name, f in EXPECTED.items()}, abs=1e-9)


SMALL = ["AA xx", "AA xy", "AB xy", "AAA xxx", "AAA xyz", "ABC xxx", "ABC xyz", "AAB xxy", "AAB xyy", "AABBC xyxyz"]


@pytest.mark.parametrize("sides", SMALL)
def test_small_partitions(sides):
    gold, pred = sides.split()
    found = scores(gold, pred, EXPECTED)
    for name, f in EXPECTED.items():
        if found[name] is None:
            together = len(set(gold)) < len(gold), len(set(pred)) < len(pred)
            assert (name == "fowlkes_mallows" and not all(together)) or (name == "jaccard" and not any(together))
        else:
            assert found[name] == pytest.approx(f(list(gold), list(pred)), abs=1e-9), name


def bcubed(here, there):
    """Mean over items of the mean over their mates here of min(shared here, shared there) / shared here."""

    def shared(side, i, j):
        return len(side[i] & side[j])

    out = []
    for i in range(len(here)):
        mates = [j for j in range(len(here)) if shared(here, i, j)]
        if mates:
            each = [min(shared(here, i, j), shared(there, i, j)) / shared(here, i, j) for j in mates]
            out.append(sum(each) / len(each))
    return sum(out) / len(out)


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_bcubed_by_definition(seed, most):
    rng = np.random.default_rng(seed)

    def side(names):
        return [set(rng.choice(list(names), rng.integers(1, most + 1), replace=False).tolist()) for _ in range(30)]

    gold, pred = side("ABCD"), side("wxyz")
    p, r = bcubed(pred, gold), bcubed(gold, pred)
    found = scores(
        [sorted(s) for s in gold], [sorted(s) for s in pred], ["bcubed_precision", "bcubed_recall", "bcubed_f1"]
    )
    assert list(found.values()) == pytest.approx([p, r, 2 * p * r / (p + r)], abs=1e-12)


def test_expected_information_of_many_tables_at_once(monkeypatch):
    """One call for all rows, in blocks, gives what the hypergeometric law gives table by table."""
    monkeypatch.setattr("karat.contexts.clustering.chance.PAIRS", 100)
    monkeypatch.setattr("karat.contexts.clustering.chance.BLOCK", 7)
    rng = np.random.default_rng(0)
    gold = np.array([rng.multinomial(n, np.ones(6) / 6) for n in (1, 2, 30, 30, 500)], float)
    pred = np.array([rng.multinomial(n, np.arange(1, 6) / 15) for n in (1, 2, 30, 30, 500)], float)
    expected = [_expected(g, p) for g, p in zip(gold, pred, strict=True)]
    assert expected_information(gold, pred) == pytest.approx(expected, abs=1e-12)


def _expected(gold, pred):
    """The sum over all numbers of shared items, by SciPy's hypergeometric law."""
    from scipy.stats import hypergeom

    n, total = int(gold.sum()), 0.0
    for a in gold[gold > 0]:
        for b in pred[pred > 0]:
            k = np.arange(1, int(min(a, b)) + 1)
            total += float((hypergeom.pmf(k, n, int(a), int(b)) * k / n * np.log2(n * k / (a * b))).sum())
    return total


@pytest.mark.parametrize("name", ["bcubed_f1(alpha=2.0)", "purity_f(alpha=-0.5)", "v_measure(beta=-1.0)"])
def test_weights_of_a_mean_are_checked(name):
    with pytest.raises(karat.MetricError, match="needs a number"):
        scores("AAB", "xxy", [name])
