# SPDX-License-Identifier: Apache-2.0
import pytest

import karat
from karat.contexts.spans.excerpts import Rule, excerpts, score_pages
from karat.contexts.spans.span import Spans, merged
from tests.spans.vectors import empty, load

PAGES = [v for v in load("page-excerpts") if v["kind"] == "page"]
SCORED = [v for v in PAGES if "output" in v]
# Cut of a system span went wrong in the script; here such a page is flagged and scored.
DIED = [
    v
    for v in PAGES
    if v.get("error", {}).get("message") == "Start index must be less than end index"
    and "zero-length" not in v["note"].split("->")[0]
]


def page(v):
    ref, system = v["input"]["ref"], v["input"]["sys"]
    gold = [(x["start"], x["end"], x["poem_id"]) for x in (ref["excerpts"] if ref["n_excerpts"] else [])]
    pred = [(x["page_start"], x["page_end"], x["ref_id"]) for x in (system["poem_spans"] if system["n_spans"] else [])]
    labels = []
    for row in gold + pred:
        labels += [row[2]] if row[2] not in labels else []
    return [
        Spans.of(*zip(*((0, s, e, labels.index(x)) for s, e, x in side))) if side else empty() for side in (gold, pred)
    ]


def scores(v):
    ignore = v["input"]["ignore_label"]
    found = excerpts(*page(v), Rule(ignore))
    return score_pages(found, 1, partial_weight=v["input"]["partial_match_weight"], ignore_label=ignore, compat=True)


COLUMNS = {
    "precision": "precision", "recall": "recall", "n_span_matches": "matched", "n_span_misses": "missed",
    "n_span_spurious": "spurious", "n_poem_matches": "poems_matched", "n_poem_misses": "poems_missed",
    "n_poem_spurious": "poems_spurious",
}  # fmt: skip


@pytest.mark.parametrize("v", SCORED, ids=lambda v: v["id"])
def test_every_page_bit_for_bit(v):
    found = scores(v)
    assert {k: getattr(found, name)[0] for k, name in COLUMNS.items()} == {k: v["output"][k] for k in COLUMNS}
    assert not found.cut_wrong[0]


@pytest.mark.parametrize("v", DIED, ids=lambda v: v["id"])
def test_pages_on_which_the_script_dies_are_flagged(v):
    assert scores(v).cut_wrong[0]


def test_many_pages_at_once_are_the_pages_one_by_one():
    alike = [v for v in SCORED if not v["input"]["ignore_label"] and v["input"]["partial_match_weight"] == 1]
    sides = [page(v) for v in alike]
    together = [Spans.of(*zip(*(
        (i, s, e, x) for i, pair in enumerate(sides) for s, e, x in zip(pair[k].start, pair[k].end, pair[k].label, strict=True)
    ))) for k in (0, 1)]  # fmt: skip
    found = score_pages(excerpts(*together), len(alike), compat=True)
    assert found.precision.tolist() == [v["output"]["precision"] for v in alike]
    assert found.recall.tolist() == [v["output"]["recall"] for v in alike]


def test_a_perfect_system_scores_one_with_labels_ignored_and_references_merged():
    same = Spans.of([0, 0], [0, 5], [10, 12], [0, 1])
    found = score_pages(excerpts(same, same, Rule(ignore_label=True, merge_gold=True)), 1, ignore_label=True)
    assert (found.precision[0], found.recall[0]) == (1, 1)
    # The script merges only the system's side: one span [0, 12) cut at 5.
    theirs = score_pages(excerpts(same, same, Rule(ignore_label=True)), 1, ignore_label=True)
    assert theirs.precision[0] == pytest.approx((5 / 10 + 1) / 2)


def test_a_poem_is_missed_only_if_no_excerpt_of_it_was_found():
    gold = Spans.of([0, 0], [0, 20], [10, 30], [0, 0])
    pred = Spans.of([0], [0], [10], [0])
    found = excerpts(gold, pred)
    assert score_pages(found, 1).poems_missed[0] == 0
    assert score_pages(found, 1, compat=True).poems_missed[0] == 1


def test_touching_spans_stay_apart_when_merged():
    rows = merged(Spans.of([1, 0, 0, 0], [0, 10, 0, 4], [3, 12, 5, 10], [7, 7, 7, 7]))
    assert list(zip(rows.unit.tolist(), rows.start.tolist(), rows.end.tolist(), strict=True)) == [
        (0, 0, 10),
        (0, 10, 12),
        (1, 0, 3),
    ]


@pytest.mark.parametrize("weight", [-0.1, 1.5])
def test_a_partial_match_counts_between_nothing_and_all(weight):
    page = [{"id": "1", "excerpts": [{"start": 0, "end": 4, "label": "A"}]}]
    with pytest.raises(karat.MetricError, match="between 0 and 1"):
        karat.evaluate(page, page, metrics=[f"excerpt_precision(weight={weight})"], allow_same=True)
