# SPDX-License-Identifier: Apache-2.0
import itertools
import random

import numpy as np
import pytest
from nervaluate.evaluator import Evaluator

from karat.contexts.spans import matching, semeval, tags
from karat.contexts.spans.semeval import OUTCOMES, READINGS
from karat.contexts.spans.span import Spans
from tests.spans.vectors import encode, load, random_spans, random_tags, spans

VECTORS = [v for v in load("spans") if v["kind"] == "spans"]
THEIRS = {"strict": "strict", "exact": "exact", "partial": "partial", "type": "ent_type"}


def sides(v, end=0):
    labels = sorted({x[0] for d in v["docs"] for k in ("true", "pred") for x in d[k]})
    return *(
        spans([(i, *x) for i, d in enumerate(v["docs"]) for x in d[k]], labels, end) for k in ("true", "pred")
    ), labels


def greedy_table(gold, pred, labels, threshold):
    """nervaluate's whole table: counts by (reading, outcome), and by (reading, label, outcome) matched inside a label."""
    whole = semeval.Greedy.of(gold, pred, threshold)
    overall, inside = (
        np.array([semeval.tally(greedy.outcomes(reading), gold, pred, labels) for reading in READINGS])
        for greedy in (whole, whole.inside_labels())
    )
    return overall.sum(1), inside


def assert_theirs(expected, gold, pred, labels, threshold):
    tables = greedy_table(gold, pred, len(labels), threshold)
    for (reading, theirs), overall, by_label in zip(THEIRS.items(), *tables, strict=True):
        assert overall.tolist() == [expected["overall"][theirs][o] for o in OUTCOMES], reading
        for label, row in zip(labels, by_label.tolist(), strict=True):
            assert row == [expected["entities"][label][theirs][o] for o in OUTCOMES], (reading, label)


@pytest.mark.parametrize("threshold", [1, 50, 100])
@pytest.mark.parametrize("v", VECTORS, ids=lambda v: v["id"])
def test_greedy_is_nervaluates(v, threshold):
    for name, end in (("end_minus_1", 0), ("half_open_as_given", 1)):
        assert_theirs(v["peers"][f"nervaluate_1.2.1_{name}_thr{threshold}"], *sides(v, end), threshold / 100)


def as_dicts(results):
    return {
        "overall": {k: vars(r) for k, r in results["overall"].items()},
        "entities": {tag: {k: vars(r) for k, r in rows.items()} for tag, rows in results["entities"].items()},
    }


@pytest.mark.parametrize("seed", range(300))
def test_random_documents_match_as_in_nervaluate(seed):
    gold, pred = random_spans(seed)
    labels = sorted({row[1] for row in gold + pred})
    threshold = (1, 30, 50, 100)[seed % 4]
    documents = [
        [[{"label": x, "start": s, "end": e - 1} for u, x, s, e in side if u == i] for i in range(3)]
        for side in (gold, pred)
    ]
    expected = as_dicts(Evaluator(*documents, tags=labels, loader="dict", min_overlap_percentage=threshold).evaluate())
    assert_theirs(expected, spans(gold, labels), spans(pred, labels), labels, threshold / 100)


@pytest.mark.parametrize("v", VECTORS, ids=lambda v: v["id"])
def test_optimal_alignment_agrees_with_an_independent_one(v):
    gold, pred, labels = sides(v)
    aligned = semeval.alignment(gold, pred)
    for reading, theirs in THEIRS.items():
        counts = semeval.tally(semeval.outcomes(gold, pred, aligned, reading), gold, pred, len(labels)).sum(0)
        assert counts.tolist() == [v["peers"]["formula_optimal_alignment"][theirs][o] for o in OUTCOMES]


def all_pairs(gold, pred):
    return {
        (g, p): min(gold.end[g], pred.end[p]) - max(gold.start[g], pred.start[p])
        for g, p in itertools.product(range(len(gold)), range(len(pred)))
        if gold.unit[g] == pred.unit[p] and min(gold.end[g], pred.end[p]) > max(gold.start[g], pred.start[p])
    }


@pytest.mark.parametrize("seed", range(60))
def test_sweep_finds_the_pairs_of_a_double_loop(seed):
    gold, pred = (spans(side, ["A", "B"]) for side in random_spans(seed))
    found = matching.overlaps(gold, pred)
    rows = zip(found.gold.tolist(), found.pred.tolist(), found.common.tolist(), strict=True)
    assert {(g, p): c for g, p, c in rows} == all_pairs(gold, pred)


def heaviest(pairs):
    """(Pairs, common positions) of the best one-to-one choice, by trying them all."""
    if not pairs:
        return 0, 0
    (pair, common), *rest = pairs
    without = heaviest([(other, c) for other, c in rest if other[0] != pair[0] and other[1] != pair[1]])
    return max(heaviest(rest), (1 + without[0], common + without[1]))


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("seed", range(60))
def test_optimal_matching_beats_every_other(seed, flat):
    gold, pred = random_spans(seed, documents=1, width=25, most=5, labels="A", equal=0)
    gold, pred = (spans(apart(side) if flat else side, ["A"]) for side in (gold, pred))
    pairs = all_pairs(gold, pred)
    same = {k for k in pairs if gold.start[k[0]] == pred.start[k[1]] and gold.end[k[0]] == pred.end[k[1]]}
    found = matching.match(gold, pred, "partial")
    assert len(set(found.gold)) == len(set(found.pred)) == len(found)
    if not same:
        assert (len(found), found.common.sum()) == heaviest(sorted(pairs.items()))


def apart(rows):
    kept = []
    for row in sorted(rows, key=lambda r: r[2]):
        if not kept or row[2] >= kept[-1][3]:
            kept.append(row)
    return kept


@pytest.mark.parametrize("seed", range(40))
def test_order_of_the_input_changes_nothing(seed):
    gold, pred = random_spans(seed)
    shuffled = [random.Random(seed).sample(side, len(side)) for side in (gold, pred)]
    for policy in matching.POLICIES:
        counts = [
            sorted(zip(g.label[m.gold], p.label[m.pred], m.common, strict=True))
            for g, p in (tuple(spans(s, ["A", "B"]) for s in pair) for pair in ((gold, pred), shuffled))
            for m in [matching.match(g, p, policy)]
        ]
        assert counts[0] == counts[1]
    tables = []
    for pair in ((gold, pred), shuffled):
        g, p = (spans(s, ["A", "B"]) for s in pair)
        aligned = semeval.alignment(g, p)
        tables.append([semeval.tally(semeval.outcomes(g, p, aligned, r), g, p, 2).tolist() for r in READINGS])
    assert tables[0] == tables[1]


def test_long_chain_is_matched_in_linear_time():
    n = 20_000
    gold = Spans.of(np.zeros(n), np.arange(n) * 10, np.arange(n) * 10 + 10, np.zeros(n))
    pred = Spans.of(np.zeros(n), np.arange(n) * 10 + 4, np.arange(n) * 10 + 14, np.zeros(n))
    assert len(matching.match(gold, pred, "partial")) == n


def test_unknown_policy():
    with pytest.raises(ValueError, match="no match policy 'fuzzy'"):
        matching.match(spans([], []), spans([], []), "fuzzy")


def test_tags_through_nervaluate():
    for seed in range(30):
        gold, pred = random_tags(seed, labels=("PER", "LOC"))
        sides = encode([gold, pred])
        labels = tags.labels_of(sides)
        g, p = (tags.decode(side, labels) for side in sides)
        expected = as_dicts(Evaluator(gold, pred, tags=labels, loader="list").evaluate())
        assert_theirs(expected, g, p, labels, 0.01)


def rank(gold, pred, chosen):
    """What a matching is worth: equal spans, equal places, pairs of one label, pairs, common positions."""
    both = [(gold[g], pred[p]) for g, p in chosen]
    place = [a[2:] == b[2:] for a, b in both]
    label = [a[1] == b[1] for a, b in both]
    common = sum(min(a[3], b[3]) - max(a[2], b[2]) for a, b in both)
    return sum(map(min, place, label)), sum(place), sum(label), len(both), common


def every(golds, options, taken=()):
    """All one-to-one matchings of the eligible pairs."""
    if not golds:
        yield ()
        return
    first, *rest = golds
    yield from every(rest, options, taken)
    for p in options[first]:
        if p not in taken:
            yield from (((first, p), *others) for others in every(rest, options, (*taken, p)))


SHARES = [(0.0, "gold"), (0.5, "gold"), (0.5, "pred"), (0.5, "longer"), (0.34, "iou"), (0.5, "iou")]


@pytest.mark.parametrize("policy", matching.POLICIES)
@pytest.mark.parametrize("seed", range(60))
def test_no_matching_is_better_under_any_policy(seed, policy):
    """Several spans at one place with different labels decide together whom they leave for the others."""
    draw = random.Random(seed)
    gold, pred = (
        [(0, draw.choice("ABC"), at, at + draw.randint(1, 4)) for at in draw.choices(range(5), k=4)] for _ in range(2)
    )
    sides = spans(gold, ["A", "B", "C"]), spans(pred, ["A", "B", "C"])
    for threshold, of in SHARES:
        pairs = matching.eligible(*sides, policy, threshold=threshold, of=of)
        options = {g: [] for g in range(len(gold))}
        for g, p in zip(pairs.gold.tolist(), pairs.pred.tolist(), strict=True):
            options[g].append(p)
        best = max(rank(gold, pred, chosen) for chosen in every(list(options), options))
        found = matching.match(*sides, policy, threshold=threshold, of=of)
        assert rank(gold, pred, zip(found.gold.tolist(), found.pred.tolist(), strict=True)) == best


def test_who_takes_an_equal_place_leaves_the_other_its_label():
    """A and B lie where C is predicted; the prediction A beside it is for A, so B takes C."""
    gold = spans([(0, "A", 0, 4), (0, "B", 0, 4)], ["A", "B", "C"])
    pred = spans([(0, "C", 0, 4), (0, "A", 0, 3)], ["A", "B", "C"])
    found = matching.match(gold, pred, "partial")
    assert sorted(zip(found.gold.tolist(), found.pred.tolist(), strict=True)) == [(0, 1), (1, 0)]


@pytest.mark.parametrize("seed", range(20))
def test_equal_places_are_those_of_a_double_loop(seed):
    """Places are there more than once, the first of them or others."""
    rng = np.random.default_rng(seed)
    rows = lambda size: [(int(u), "A", int(s), int(s + n)) for u, s, n in rng.integers(1, 3, (size, 3))]
    gold, pred = (spans(rows(int(rng.integers(1, 6))), ["A"]) for _ in range(2))
    found = matching.equal_places(gold, pred)
    places = [list(zip(side.unit, side.start, side.end, strict=True)) for side in (gold, pred)]
    expected = [(g, p) for g, a in enumerate(places[0]) for p, b in enumerate(places[1]) if a == b]
    assert sorted(zip(found.gold.tolist(), found.pred.tolist(), strict=True)) == expected
