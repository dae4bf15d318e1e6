"""Pages with excerpts: their own defaults, options of the matching, and tables, worked by hand."""

import json

import numpy as np
import pytest

import karat
from karat.contexts.spans.excerpts import Rule, excerpts, score_pages
from karat.contexts.spans.span import Spans


def reference(page, *spans):
    found = [{"start": a, "end": b, "poem_id": poem} for a, b, poem in spans]
    return {"page_id": page, "n_excerpts": len(found), "excerpts": found}


def system(page, *spans):
    found = [{"page_start": a, "page_end": b, "ref_id": poem} for a, b, poem in spans]
    return {"page_id": page, "n_spans": len(found), "poem_spans": found}


# Page 1: [0, 10) a is met by [0, 5) a, 5/10; [20, 30) b is missed; [40, 50) a is exact.
# Page 2: [0, 8) c is found for nothing. Page 3 is empty on both sides.
GOLD = [reference("w.1_001", (0, 10, "a"), (20, 30, "b"), (40, 50, "a")), reference("w.1_002"), reference("w.2_001")]
PRED = [system("w.1_001", (0, 5, "a"), (40, 50, "a")), system("w.1_002", (0, 8, "c")), system("w.2_001")]


@pytest.fixture(params=["uniform", "records"])
def files(request, tmp_path):
    """The same by every reader: a blank line is enough for the careful one."""
    paths = []
    for name, records in (("ref", GOLD), ("sys", PRED)):
        lines = [json.dumps(r) for r in records]
        paths.append(tmp_path / f"{name}.jsonl")
        paths[-1].write_text(("\n" if request.param == "uniform" else "\n\n").join(lines) + "\n")
    return paths


def test_pages_have_their_own_default_metrics(files):
    found = karat.evaluate(*files)
    # Page 1: P = 1.5/2, R = 1.5/3; page 2: 0 and 0; page 3: 1 and 1. All: 1.5/3 and 1.5/3.
    assert found["excerpt_precision"].value == pytest.approx((0.75 + 0 + 1) / 3)
    assert found["excerpt_recall"].value == pytest.approx((0.5 + 0 + 1) / 3)
    assert found["excerpt_f1(over=nonempty)"].value == pytest.approx((0.6 + 0) / 2)
    assert found["excerpt_f1(over=pooled)"].value == pytest.approx(0.5)
    assert "f1" not in {str(m) for m in found.systems[0].scores}


def test_spans_keep_theirs():
    found = karat.evaluate(*([{"id": "1", "spans": [[0, 4, "a"]]}] for _ in range(2)))
    assert "f1" in {str(m) for m in found.systems[0].scores}
    assert not {"excerpts", "excerpt-scores", "poems", "excerpt-list"} & {d.name for d in found.systems[0].details}


def test_named_metrics_are_what_is_computed(files):
    assert [str(m) for m in karat.evaluate(*files, metrics=["f1"]).systems[0].scores] == ["f1"]
    both = karat.evaluate(*files, metrics=["default", "f1"]).systems[0].scores
    assert {"excerpt_precision", "f1"} <= {str(m) for m in both}


def rows(files, table):
    return karat.evaluate(*files).systems[0].detail(table).rows


def test_poems(files):
    # a: 2 references, 2 retrieved, 1.5; b: 1 missed; c: 1 for nothing
    assert rows(files, "poems") == [
        ["a", 2, 2, 2, 0, 0, 0.75, 0.75, 0.75],
        ["b", 1, 0, 0, 1, 0, None, 0.0, 0.0],
        ["c", 0, 1, 0, 0, 1, 0.0, None, 0.0],
    ]


def test_works(files):
    assert rows(files, "works") == [
        ["w.1", 3, 3, 2, 1, 1, 0.5, 0.5, 0.5],
        ["w.2", 0, 0, 0, 0, 0, None, None, None],
    ]


def test_list_of_what_is_not_exact(files):
    assert rows(files, "excerpt-list") == [
        ["w.1_001", "partial", "a", 0, 10, 0, 5, 0.5],
        ["w.1_001", "missed", "b", 20, 30, None, None, None],
        ["w.1_002", "spurious", "c", None, None, 0, 8, None],
    ]


def test_scores_by_credit(files):
    pooled = {row[0]: row[2:4] for row in rows(files, "excerpt-scores") if row[1] == "pooled"}
    assert pooled == {"graded": [0.5, 0.5], "exact only": [1 / 3, 1 / 3], "any overlap": [2 / 3, 2 / 3]}


GOLD_SPAN, SMALL, LARGE = (0, 10, "a"), (0, 4, "a"), (5, 25, "a")


def precision(gold, pred, **choice):
    text = ", ".join(f"{name}={str(value).lower()}" for name, value in choice.items())
    name = f"excerpt_precision(over=pooled, {text})"
    return karat.evaluate([reference("p", *gold)], [system("p", *pred)], metrics=[name])[name].value


@pytest.mark.parametrize(
    ("factor", "expected"),
    [("longer", 5 / 20), ("iou", 5 / 25), ("gold", 5 / 10), ("pred", 5 / 20), ("any", 1)],
)
def test_factors(factor, expected):
    assert precision([GOLD_SPAN], [LARGE], factor=factor) == expected


def test_fragments_may_be_joined():
    # [0, 4) and [6, 9) on [0, 10): the better piece has 4/10 and the other is spurious; joined they are [0, 9), 9/10.
    pieces = [(0, 4, "a"), (6, 9, "a")]
    assert precision([GOLD_SPAN], pieces, join=False) == 0.4 / 2
    assert precision([GOLD_SPAN], pieces, join=True) == 0.9


def test_other_poems_are_not_joined():
    assert precision([GOLD_SPAN], [(0, 4, "a"), (6, 9, "b")], join=True) == 0.4 / 2


def test_one_to_one_cuts_nothing():
    # One span over two references earns both after the cut; one to one it has only the better of them, 10/22.
    gold, pred = [(0, 10, "a"), (12, 20, "a")], [(0, 22, "a")]
    assert precision(gold, pred, assignment="best") == pytest.approx((10 / 12 + 8 / 10) / 2)
    assert precision(gold, pred, assignment="one_to_one") == pytest.approx(10 / 22)


@pytest.mark.parametrize("seed", range(40))
def test_one_to_one_is_the_heaviest(seed):
    """Against every assignment, by SciPy on the whole matrix of factors."""
    from scipy.optimize import linear_sum_assignment

    draw = np.random.default_rng(seed)
    start, size = draw.integers(0, 40, (2, 8)), draw.integers(1, 20, (2, 8))
    gold, pred = (Spans.of(np.zeros(8), s, s + n, np.zeros(8)) for s, n in zip(start, size, strict=True))
    found = excerpts(gold, pred, Rule(assignment="one_to_one"))
    g, p = found.gold, found.pred
    common = np.minimum(g.end[:, None], p.end) - np.maximum(g.start[:, None], p.start)
    factor = np.maximum(common, 0) / np.maximum(g.length[:, None], p.length)
    best = factor[linear_sum_assignment(factor, maximize=True)].sum()
    assert len(set(found.choice[found.chosen])) == found.chosen.sum()
    assert found.factor.sum() == pytest.approx(best)
    assert score_pages(found, 1).relevance[0] == pytest.approx(best)


def test_pages_that_a_system_fills_for_nothing_count_among_those_with_spans(files):
    rows = karat.evaluate(*files).systems[0].detail("excerpt-scores").rows
    means = {row[1]: row[2:] for row in rows if row[0] == rows[0][0]}
    # Pages 1 to 3: P = 1.5/2, 0, 1. Page 3 has no span on either side; page 2 has one of the system.
    assert means["pages"][0] == pytest.approx((0.75 + 0 + 1) / 3)
    assert means["nonempty"][0] == pytest.approx((0.75 + 0) / 2)
