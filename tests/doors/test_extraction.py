# SPDX-License-Identifier: Apache-2.0
"""The extraction door against recorded outputs of the original, bug for bug, and corrected by hand."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from karat.doors.konfuzio import (
    Annotation,
    AnnotationSet,
    Category,
    Document,
    ExtractionEvaluation,
    Label,
    LabelSet,
    Project,
)

LINES = Path(__file__).parent.joinpath("../data/file-splitting.jsonl").read_text().splitlines()
RECORDS = [record for record in map(json.loads, LINES) if record["kind"] == "extraction"]
ONE, TWO, ONCE = Label(11), Label(12), Label(13, has_multiple_top_candidates=False)


def gold(*annotations, **fields):
    return Document(id_=7, own_annotations=[Annotation(*a, id_=i) for i, a in enumerate(annotations, 1)], **fields)


def pred(*annotations):
    return Document(copy_of_id=7, own_annotations=[Annotation(label, spans, 0.9) for label, spans in annotations])


def evaluated(true, predicted, **options):
    return ExtractionEvaluation([(true, predicted)], **{"zero_division": None, **options})


def counts(evaluation, search=None, family=""):
    return [getattr(evaluation, f"{family}{name}")(search) for name in ("tp", "fp", "fn")]


def recorded(record, **options):
    given = record["input"]
    labels = {
        n: Label(n, None, given["label_threshold"], given["label_has_multiple_top_candidates"]) for n in (11, 12, 13)
    }
    sets = {n: AnnotationSet(n) for n in (1, 2)}

    def document(side, **fields):
        own = [
            Annotation(labels[one["label"]], one["spans"], one.get("confidence"), sets[one.get("set", 1)], i)
            for i, one in enumerate(given[side], 1)
        ]
        return Document(project=Project(1, list(labels.values())), own_annotations=own, **fields)

    pair = document("truth", id_=1), document("pred", copy_of_id=1)
    evaluation = ExtractionEvaluation([pair], given["strict"], zero_division=given["zero_division"], **options)
    return evaluation, labels


def outcome(run):
    try:
        return run()
    except AssertionError as error:
        return {"error": {"type": type(error).__name__, "message": str(error)}}


@pytest.mark.parametrize("record", [pytest.param(record, id=record["id"]) for record in RECORDS])
def test_bug_for_bug(record):
    evaluation, labels = recorded(record, compat="konfuzio")
    names, expected = record["output"]["overall"], record["output"]
    found = {name: outcome(getattr(evaluation, name)) for name in names}
    by_label = {
        str(n): {name: outcome(lambda name=name, label=label: getattr(evaluation, name)(label)) for name in names}
        for n, label in labels.items()
    }
    thresholds = {str(n): best for n, best in evaluation.label_thresholds.items()}
    assert {"overall": found, "by_label": by_label, "label_thresholds": thresholds} == expected
    assert evaluation.findings == []


@pytest.mark.parametrize("record", [pytest.param(record, id=record["id"]) for record in RECORDS])
def test_every_annotation_is_found_or_missed(record):
    evaluation, labels = recorded(record)
    assert evaluation.gt() == evaluation.tp() + evaluation.fn() == len(record["input"]["truth"])
    assert evaluation.tn() == 0
    for name in ("tp", "fp", "fn", "gt", "tokenizer_tp", "tokenizer_fp", "tokenizer_fn"):
        assert sum(getattr(evaluation, name)(label) for label in labels.values()) == getattr(evaluation, name)()
    same = all(
        getattr(evaluation, name)() == record["output"]["overall"][name] for name in ("tp", "fp", "fn", "gt", "tn")
    )
    assert same or {f.code for f in evaluation.findings} == {"door-differs"}


def test_a_wrong_label_is_wrong_and_missed():
    sides = gold((ONE, [(0, 5)])), pred((TWO, [(0, 5)]))
    assert counts(evaluated(*sides, compat="konfuzio")) == [0, 1, 0]
    found = evaluated(*sides)
    assert (counts(found), found.recall()) == ([0, 1, 1], 0)
    assert (counts(found, ONE), counts(found, TWO)) == ([0, 0, 1], [0, 1, 0])
    assert (counts(found, family="clf_"), counts(found, family="tokenizer_")) == ([0, 1, 1], [1, 0, 0])
    assert "fn() is 1 where Konfuzio counts 0" in found.findings[0].message
    assert found.findings[0].hint == 'compat="konfuzio" gives Konfuzio\'s own number'


def test_a_wrong_annotation_set_is_wrong_and_missed():
    first, second = AnnotationSet(1), AnnotationSet(2)
    true = Document(id_=7, own_annotations=[
        Annotation(ONE, [(0, 5)], None, first, 1), Annotation(TWO, [(6, 9)], None, first, 2),
        Annotation(ONE, [(10, 15)], None, second, 3),
    ])  # fmt: skip
    same = pred((ONE, [(0, 5)]), (TWO, [(6, 9)]), (ONE, [(10, 15)]))
    for strict in (True, False):  # one predicted set, whose matches are mostly of the first
        assert counts(evaluated(true, same, strict=strict, compat="konfuzio")) == [2, 1, 0]
        assert counts(evaluated(true, same, strict=strict)) == [2, 1, 1]


@pytest.mark.parametrize("strict", [True, False])
def test_nothing_expected(strict):
    found = evaluated(gold(), pred((ONE, [(0, 5)])), strict=strict)
    assert (found.gt(), found.tn(), counts(found)) == (0, 0, [0, 1, 0])
    assert evaluated(gold(), pred((ONE, [(0, 5)])), strict=strict, compat="konfuzio").gt() == 1
    assert found.get_evaluation_data().fp == 1


def test_tn_counts_what_the_threshold_keeps_back():
    low = Document(copy_of_id=7, own_annotations=[Annotation(ONE, [(0, 5)], 0.05), Annotation(TWO, [(7, 9)], 0.05)])
    options = {"use_view_annotations": False, "ignore_below_threshold": False}
    found = evaluated(gold((ONE, [(0, 5)])), low, **options)
    assert (found.tn(), found.tn(TWO), counts(found)) == (1, 1, [0, 0, 1])
    with pytest.raises(AssertionError, match="no TNs"):
        evaluated(gold((ONE, [(0, 5)])), low, compat="konfuzio", **options).tn()


def test_without_overlap_a_prediction_is_wrong_although_one_of_its_label_is_missed():
    sides = gold((ONE, [(0, 5)])), pred((ONE, [(50, 55)]))
    assert counts(evaluated(*sides, strict=False, compat="konfuzio")) == [0, 0, 1]
    assert counts(evaluated(*sides, strict=False)) == [0, 1, 1]


def test_a_label_that_occurs_once_can_be_missed():
    sides = gold((ONCE, [(0, 5)]), (ONCE, [(20, 25)])), pred()
    assert counts(evaluated(*sides, strict=False, compat="konfuzio")) == [0, 0, 0]
    assert counts(evaluated(*sides, strict=False)) == [0, 0, 1]
    either = pred((ONCE, [(20, 25)]), (ONCE, [(40, 45)]))
    assert counts(evaluated(sides[0], either, strict=False)) == [1, 0, 0]


def test_annotations_and_sets_without_ids_can_be_right():
    unnamed = AnnotationSet()
    true = Document(id_=7, own_annotations=[Annotation(ONE, [(0, 5)], None, unnamed)])
    assert counts(evaluated(true, pred((ONE, [(0, 5)])), compat="konfuzio")) == [0, 1, 0]
    assert counts(evaluated(true, pred((ONE, [(0, 5)])))) == [1, 0, 0]
    assert counts(evaluated(true, true)) == [1, 0, 0]


def test_spans_of_one_place_pair_one_to_one():
    twice = gold((ONE, [(0, 5)]), (ONE, [(0, 5), (7, 9)]))
    assert counts(evaluated(twice, pred((ONE, [(0, 5)])))) == [1, 0, 2]
    again = pred((ONE, [(0, 5)]), (ONE, [(0, 5), (7, 9)]))
    assert counts(evaluated(twice, again, use_view_annotations=False)) == [3, 0, 0]
    assert counts(evaluated(gold((ONE, [(0, 5)])), again, use_view_annotations=False)) == [1, 2, 0]
    assert counts(evaluated(twice, again, use_view_annotations=False, compat="konfuzio")) == [5, 0, 0]


def test_places_without_strict():
    found = evaluated(gold((ONE, [(0, 5)]), (ONE, [(20, 25)])), pred((TWO, [(0, 5)])), strict=False)
    assert counts(found, family="tokenizer_") == [1, 0, 1]


def test_searches_and_errors():
    lines, heads = LabelSet(5), LabelSet(6)
    true = Document(id_=7, own_annotations=[
        Annotation(ONE, [(0, 5)], None, AnnotationSet(1, lines)), Annotation(ONE, [(6, 9)], None, AnnotationSet(2, heads)),
    ])  # fmt: skip
    found = evaluated(true, pred())
    assert (found.fn(lines), found.fn(heads), found.fn(true), found.fn(Document(id_=8))) == (1, 1, 2, 0)
    for search, error in ((3, NotImplementedError), (Label(None), AssertionError)):
        with pytest.raises(error):
            found.tp(search)
    with pytest.raises(ValueError, match="do not match"):
        evaluated(gold(category=Category(3)), pred())
    with pytest.raises(ValueError, match="compat"):
        evaluated(true, pred(), compat="exact")
    with pytest.raises(AssertionError):
        evaluated(true, pred(), zero_division=1)
    assert ExtractionEvaluation([], zero_division=None).f1() is None


def test_one_undefined_label_stops_nothing_but_the_original():
    project = Project(1, [ONE, TWO])
    true = gold((ONE, [(0, 5)]), project=project)
    assert evaluated(true, pred((ONE, [(0, 5)])), zero_division="error").f1() == 1
    with pytest.raises(ZeroDivisionError):
        evaluated(true, pred((ONE, [(0, 5)])), zero_division="error", compat="konfuzio")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evaluated(true, pred((ONE, [(0, 5)])), zero_division="warn").f1() == 1
    assert TWO.optimized_thresholds["f1"] == {"score": 0.0, "threshold": 0.0}


def test_thresholds_are_the_lowest_of_the_best():
    low = Document(copy_of_id=7, own_annotations=[Annotation(ONE, [(0, 5)], 0.9), Annotation(ONE, [(7, 9)], 0.32)])
    best = evaluated(gold((ONE, [(0, 5)])), low).label_thresholds[11]
    assert best["f1"] == {"score": 1.0, "threshold": pytest.approx(0.35)}
    assert best["recall"] == {"score": 1.0, "threshold": 0.05}


def test_only_what_a_reader_is_shown_is_compared():
    both = Document(copy_of_id=7, own_annotations=[Annotation(TWO, [(0, 5)], 0.4), Annotation(ONE, [(3, 9)], 0.8)])
    assert counts(evaluated(gold((ONE, [(3, 9)])), both)) == [1, 0, 0]
    assert counts(evaluated(gold((ONE, [(3, 9)])), both, use_view_annotations=False)) == [1, 1, 0]


def test_any_objects_with_the_attributes_do():
    def document(name, confidence, is_correct):
        one = SimpleNamespace(
            id_=3, label=ONE, label_set=LabelSet(1), annotation_set=AnnotationSet(1), confidence=confidence,
            is_correct=is_correct, revised=False, spans=[SimpleNamespace(start_offset=0, end_offset=4)],
        )  # fmt: skip
        return SimpleNamespace(id_=name, annotations=lambda use_correct: [one])

    assert evaluated(document(1, None, True), document(2, 0.7, False)).f1() == 1


def test_the_order_of_annotations_changes_nothing():
    rng = np.random.default_rng(4)
    places = [(int(s), int(s) + 4) for s in rng.integers(0, 200, 30)]
    true = [((ONE, TWO, ONCE)[i % 3], [place]) for i, place in enumerate(places)]
    for strict in (True, False):
        ways = [evaluated(gold(*own), pred(*own[5:]), strict=strict) for own in (true,)]
        ways.append(evaluated(gold(*true[::-1]), pred(*true[5:][::-1]), strict=strict))
        assert counts(ways[0]) == counts(ways[1])
