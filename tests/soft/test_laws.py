"""What must hold of weighted labels whatever the data: silence costs, gold is best, order does not matter."""

import numpy as np
import pytest

import karat
from karat.contexts import catalogue
from karat.contexts.soft.aligned import align
from karat.contexts.soft.information import information, spread
from karat.findings import InputError

LABELS = "12345"

BY_DEFINITION = {
    "entropy_correlation": "a correlation over items can rise when an item goes",
    "icm_soft": "silence tells nothing wrong",
    "icm_soft_norm": "silence tells nothing wrong",
    "icm": "silence tells nothing wrong",
    "icm_norm": "silence tells nothing wrong",
    "precision": "what is not predicted is not wrong",
    "f1": "what is not predicted is not wrong",
    "fbeta": "what is not predicted is not wrong",
    "jaccard": "what is not predicted is not wrong",
    "hierarchical_precision": "what is not predicted is not wrong",
    "hierarchical_f1": "what is not predicted is not wrong",
}
"""Metrics for which a wrong answer may be worse than none, and why."""

COSTLY = [
    *(d.name for d in catalogue("soft") if d.better != "neither" and d.name not in BY_DEFINITION),
    "cross_entropy(variant=lewidi2023)",
    "soft_f1(average=macro)",
    "ece(against=humans)",
    "ece(bins=1)",
    "perspectivist_accuracy(average=annotator)",
]


def random_sides(seed, n=12, labels="ABC"):
    rng = np.random.default_rng(seed)
    make = lambda: {
        str(i): dict(zip(labels, r, strict=True)) for i, r in enumerate(rng.dirichlet(np.ones(3), n).tolist())
    }
    return make(), make()


KINDS = {
    "distributions": lambda rng, n, k: rng.dirichlet(np.ones(k) * rng.choice([0.2, 1, 10]), n),
    "independent": lambda rng, n, k: (rng.random((n, k)) * rng.choice([0.3, 1])).round(2),
    "one label": lambda rng, n, k: np.eye(k)[rng.integers(0, k, n)],
    "votes": lambda rng, n, k: rng.integers(0, k, (n, 3)),
}


def said(kind, row):
    """One item as weights by label or, of votes, as labels by annotator."""
    if kind == "votes":
        return {f"ann{a}": LABELS[label] for a, label in enumerate(row.tolist())}
    return dict(zip(LABELS, row.tolist(), strict=False))


@pytest.mark.parametrize("harden", ["majority", "threshold"])
@pytest.mark.parametrize("kind", KINDS)
def test_leaving_out_a_prediction_never_helps(kind, harden):
    """In sixty small test cases, each with one prediction less; gold names every label."""
    rng, sides = np.random.default_rng(len(kind)), ([], [], [])
    for case in range(60):
        n, k = int(rng.integers(2, 8)), int(rng.integers(2, 4 if kind == "votes" else 6))
        gold, pred = KINDS[kind](rng, n, k), KINDS[kind](rng, n, k)
        if kind == "votes":
            gold[0] = np.arange(3) % k
        for i in range(n):
            rows = [{"test_case": f"{case}", "id": f"{i}", "value": said(kind, side[i])} for side in (gold, pred, pred)]
            for side, row in zip(sides, rows if i else rows[:2], strict=False):
                side.append(row)
    whole, part = (karat.evaluate(sides[0], p, context="soft", metrics=COSTLY, harden=harden) for p in sides[1:])
    for before, after in zip(whole.systems[0], part.systems[0], strict=True):
        sign = 1 if before.better == "higher" else -1
        for case, score in before.by_test_case.items():
            other = after.by_test_case[case].value
            if score.value is not None:
                assert sign * (other - score.value) <= 1e-9, (before.metric, case)


def test_weights_of_nothing_are_an_answer_where_labels_are_independent():
    """None of the labels holds, and the prediction says so: that is no silence."""
    gold = {"1": {"A": 0.0, "B": 0.0}, "2": {"A": 1.0, "B": 0.9}}
    names = ["manhattan", "brier", "mae", "accuracy"]
    e = karat.evaluate(gold, gold, metrics=names, harden="threshold")
    assert [s.value for s in e.systems[0]] == [0, 0, 0, 1]
    # item 1 is missing: 0 + 2 labels of its own, of two items
    e = karat.evaluate(gold, {"2": gold["2"]}, metrics=names, harden="threshold")
    assert [s.value for s in e.systems[0]] == [1, 1, 0.5, 0.5]


def test_silence_is_not_calibrated():
    """Twenty answers too unsure by .05 do not make up for a missing one."""
    gold = {str(i): {"A": 1.0, "B": 0.0} for i in range(21)}
    e = karat.evaluate(gold, {str(i): {"A": 0.95, "B": 0.05} for i in range(20)}, metrics=["ece"])
    assert e["ece"].value == pytest.approx((20 * 0.05 + 1) / 21)


def test_pyevall_rewards_silence_and_says_so():
    """Q11: cross entropy of a perfect system falls from .675 to .234 when one of two predictions is dropped."""
    gold = {"1": {"A": 0.9, "B": 0.1}, "2": {"A": 0.3, "B": 0.7}}
    pyevall = "cross_entropy(variant=pyevall)"
    full = karat.evaluate(gold, gold, metrics=[pyevall, "cross_entropy"])
    half = karat.evaluate(gold, {"1": gold["1"]}, metrics=[pyevall, "cross_entropy"])
    assert full[pyevall].value == pytest.approx(0.675, abs=1e-3)
    assert half[pyevall].value == pytest.approx(0.234, abs=1e-3)
    assert half["cross_entropy"].value > 10 * full["cross_entropy"].value


@pytest.mark.parametrize("seed", range(3))
def test_gold_scores_best_and_order_is_nothing(seed):
    gold, pred = random_sides(seed)
    tree = {"X": ["A", "B"], "C": []}
    names = ["icm_soft", "icm_soft_norm", "manhattan", "soft_f1"]
    best = karat.evaluate(gold, gold, metrics=names, hierarchy=tree)
    other = karat.evaluate(gold, pred, metrics=names, hierarchy=tree)
    assert best["icm_soft_norm"].value == pytest.approx(1)
    assert best["icm_soft"].value > other["icm_soft"].value
    assert (best["manhattan"].value, best["soft_f1"].value) == (0, 1)
    shuffled = dict(sorted(pred.items(), key=lambda kv: hash(kv[0])))
    again = karat.evaluate(dict(reversed(gold.items())), shuffled, metrics=names, hierarchy=tree)
    for name in names:
        assert again[name].value == pytest.approx(other[name].value, abs=1e-12)


def test_q14_information_is_monotone_by_default():
    """A class in 1 of 16 or 17 items: PyEvALL jumps from 50.4 to 4.1 bits, the paper's estimate does not."""
    bits = {}
    for variant in ("paper", "pyevall"):
        for n in (16, 17):
            gold = [{"A": 1.0, "B": 0.0}] * (n - 1) + [{"A": 0.0, "B": 1.0}]
            bits[variant, n] = karat.evaluate(gold, gold, metrics=[f"icm_soft(variant={variant})"])["icm_soft"].value
    assert bits["pyevall", 16] == pytest.approx(4.79, abs=0.01)
    assert bits["pyevall", 17] == pytest.approx(1.89, abs=0.01)
    assert bits["paper", 16] == pytest.approx(bits["paper", 17], rel=0.1)


@pytest.mark.parametrize("seed", range(20))
def test_closed_form_is_the_recursion(seed):
    """Sum over nodes against the recursion over deepest common ancestors, on a random tree."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 9))
    parent = np.array([int(rng.integers(-1, i)) if i else -1 for i in range(size)])
    rows = [
        {int(c): float(w) for c, w in zip(rng.permutation(size)[:3], rng.random(3), strict=False)} for _ in range(14)
    ]
    flat = [np.array(x) for x in zip(*[(i, c, w) for i, r in enumerate(rows) for c, w in r.items()], strict=True)]
    side = (flat[0].astype(int), flat[1].astype(int), flat[2].astype(float))
    a = align(side, side, len(rows), size)
    s = spread(
        a,
        np.zeros(len(rows), int),
        np.ones(len(rows)),
        1,
        parent,
        np.ones(size, bool),
        np.zeros(size, bool),
        np.ones(1),
    )
    for variant in ("paper", "pyevall"):
        from karat.contexts.soft.information import INFORMATION

        def own(c, w, variant=variant):
            return float(INFORMATION[variant](s.at(np.zeros(1, int), np.array([c]), variant), np.array([w]))[0])

        found = information(a, s, np.zeros(len(rows), int), parent, variant)[0]
        assert found == pytest.approx([recursion(list(r.items()), parent, own) for r in rows], abs=1e-9)


@pytest.mark.parametrize("variant", ["paper", "pyevall"])
@pytest.mark.parametrize("full", [True, False])
def test_information_is_the_same_by_tables_by_keys_and_along_runs(variant, full, monkeypatch):
    """To the last bit: which labels items name, and which weights stand beside each other, is for speed alone."""
    rng = np.random.default_rng(5)
    parent, items, labels = np.array([-1, 0, 0, 1, -1, 4]), 60, 6
    item, label = np.divmod(np.arange(items * labels), labels)
    case = np.sort(rng.integers(0, 3, items))

    def side():
        some = np.full(len(item), True) if full else rng.random(len(item)) < 0.7
        return item[some], label[some], rng.integers(0, 3, len(item))[some] / 4

    gold, pred = side(), side()
    by_gold = align(gold, pred, items, labels)
    found = {}
    for dense, runs in ((0, 0), (0, 2), (8, 0), (8, 2)):
        monkeypatch.setattr("karat.contexts.soft.information.DENSE", dense)
        monkeypatch.setattr("karat.contexts.soft.information.RUN", runs)
        s = spread(by_gold, case, np.ones(items), 3, parent, np.ones(labels, bool), np.zeros(labels, bool), np.ones(3))
        found[dense, runs] = [s.mean, s.deviation, s.absolute, *information(by_gold, s, case, parent, variant)]
    for numbers in found.values():
        assert all(np.array_equal(a, b) for a, b in zip(numbers, found[0, 0], strict=True))
    assert np.ptp(found[0, 0][-1]) > 0


def path(c, parent):
    return [c] if parent[c] < 0 else [c, *path(parent[c], parent)]


def recursion(pairs, parent, own):
    if not pairs:
        return 0.0
    (c, w), rest = pairs[0], pairs[1:]
    shared = {}
    for d, u in rest:
        above = [x for x in path(c, parent) if x in path(d, parent)]
        if above:
            shared[above[0]] = max(shared.get(above[0], 0.0), min(w, u))
    return own(c, w) + recursion(rest, parent, own) - recursion(list(shared.items()), parent, own)


def test_long_tables_are_weights_and_votes():
    gold = [
        {"id": i, "label": label, "score": s} for i, label, s in (("1", "A", 0.75), ("1", "B", 0.25), ("2", "A", 1.0))
    ]
    pred = {"1": {"A": 0.5, "B": 0.5}, "2": {"A": 1.0}}
    same = {"1": {"A": 0.75, "B": 0.25}, "2": {"A": 1.0}}
    assert karat.evaluate(gold, pred, metrics=["manhattan"])["manhattan"].value == pytest.approx(0.25)
    assert karat.evaluate(same, pred, metrics=["manhattan"])["manhattan"].value == pytest.approx(0.25)
    votes = [{"item": "1", "annotator": f"a{i}", "label": v} for i, v in enumerate("AAAB")]
    votes += [{"item": "2", "annotator": "a0", "label": "A"}]
    e = karat.evaluate(votes, pred, metrics=["manhattan", "perspectivist_accuracy", "percent_agreement"])
    assert e.context == "soft"
    assert "extra-fields" not in {f.code for f in e.findings}
    # item 1: A A A B agree in 3 of 6 pairs; the top label meets 3 of 4 votes, then 1 of 1
    assert [s.value for s in e.systems[0]] == pytest.approx([0.25, (0.75 + 1) / 2, 0.5])


def test_predictions_for_each_annotator():
    gold = [{"ann1": "A", "ann2": "B"}, {"ann1": "A", "ann2": "A"}]
    pred = [{"ann1": "A", "ann2": "B"}, {"ann1": "B", "ann2": "A"}]
    e = karat.evaluate(gold, pred, context="soft", metrics=["perspectivist_accuracy(average=annotator)"])
    assert e["perspectivist_accuracy"].value == pytest.approx((1 / 2 + 2 / 2) / 2)


def test_wasserstein_needs_an_order():
    gold, pred = [{"low": 1.0}], [{"high": 1.0}]
    assert karat.evaluate(gold, pred, metrics=["wasserstein"])["wasserstein"].undefined
    e = karat.evaluate(gold, pred, metrics=["wasserstein"], order="low,mid,high")
    assert e["wasserstein"].value == 2
    with pytest.raises(InputError, match="leaves out"):
        karat.evaluate(gold, pred, metrics=["wasserstein"], order="low,mid")


def test_findings_name_the_line(tmp_path):
    path = tmp_path / "gold.jsonl"
    path.write_text(
        '{"id": "1", "value": {"A": 0.5, "B": 0.5}}\n{"id": "2", "value": {"A": 1.5, "B": -0.5}}\n'
        '{"id": "3", "value": {"A": null, "B": 0.5}}\n'
    )
    found = [(f.code, f.line) for f in karat.validate(path)]
    assert found == [("weight-not-number", 3), ("weight-outside", 2), ("weight-outside", 2)]
    with pytest.raises(InputError, match="outside"):
        karat.evaluate(path, path, allow_same=True)


def test_sums_are_said_with_how_much(tmp_path):
    path = tmp_path / "gold.jsonl"
    path.write_text(
        '{"id": "1", "value": {"A": 0.5, "B": 0.5}}\n{"id": "2", "value": {"A": 0.5, "B": 0.2}}\n'
        '{"id": "3", "value": {"A": 1.0}}\n{"id": "4", "value": {}}\n'
    )
    found = {(f.code, f.line): f.message for f in karat.validate(path)}
    assert "sum to 0.7, -0.3 off 1" in found["weights-sum", 2]
    assert ("weights-empty", 4) in found
    many = [{"A": 0.9, "B": 0.9}, {"A": 0.2, "B": 0.1}, {"A": 0.5, "B": 0.5}]
    assert "weights-independent" in {f.code for f in karat.evaluate(many, many, metrics=["mae"]).findings}


@pytest.mark.parametrize("variant", ["paper", "pyevall"])
def test_weights_that_never_vary_tell_nothing(variant):
    """The mean of ten times 0.1 is not 0.1: what rounding makes of equal weights is no deviation."""
    bits = lambda gold: (
        karat.evaluate(gold, gold, context="soft", metrics=[f"icm_soft(variant={variant})"])["icm_soft"].value
    )
    others = [{"B": i / 20, "C": 0.9 - i / 20} for i in range(10)]
    assert bits([{"A": 0.1} | weights for weights in others]) == pytest.approx(bits(others), abs=1e-12)
