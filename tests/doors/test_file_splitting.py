# SPDX-License-Identifier: Apache-2.0
"""The file-splitting door against recorded outputs of the original, bug for bug and corrected."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest

from karat.doors.konfuzio import (
    NO_CATEGORY,
    CategorizationEvaluation,
    Category,
    Document,
    EvaluationCalculator,
    FileSplittingEvaluation,
    Page,
    Project,
)
from karat.findings import InputError

RECORDS = [json.loads(line) for line in Path(__file__).parent.joinpath("../data/file-splitting.jsonl").open()]
PROJECT = Project()


def of_kind(kind):
    return [pytest.param(record, id=record["id"]) for record in RECORDS if record["kind"] == kind]


def category(number):
    return NO_CATEGORY if number in (None, 0) else Category(number, f"Category {number}", PROJECT)


def documents(record):
    gold, pred = [], []
    for one in record["input"]["documents"]:
        common = {"project": PROJECT, "category": category(one["category"])}
        gold.append(Document.of(one["truth"], id_=one["id"], **common))
        if not one.get("drop_prediction"):
            confidences = one.get("pred_confidence", [1.0] * len(one["pred"]))
            pred.append(Document.of(one["pred"], confidences, copy_of_id=one.get("pred_copy_of", one["id"]), **common))
    return gold, pred


def outcome(run):
    try:
        return run()
    except Exception as error:
        return {"error": {"type": type(error).__name__, "message": str(error)}}


def by_text(results):
    return {str(key): value for key, value in results.items()}


def head(record, **options):
    def run():
        evaluation = FileSplittingEvaluation(
            *documents(record), zero_division=record["input"]["zero_division"], **options
        )
        out = {
            "overall": evaluation.evaluation_results,
            "by_category": by_text(evaluation.evaluation_results_by_category),
        }
        search = {str(n): outcome(lambda n=n: evaluation.f1(search=category(n))) for n in record["input"]["search"]}
        return out | ({"f1_search": search} if search else {})

    return outcome(run)


def tutorial(record, allow_zero, **options):
    def run():
        evaluation = FileSplittingEvaluation(
            documents=list(zip(*documents(record), strict=True)), allow_zero=allow_zero, **options
        )
        by_category = {name: by_text(values) for name, values in evaluation.evaluation_results_by_category.items()}
        return {"overall": evaluation.evaluation_results, "by_category": by_category}

    return outcome(run)


@pytest.mark.parametrize("record", of_kind("file_splitting"))
def test_two_lists_bug_for_bug(record):
    expected = {"error": record["error"]} if "error" in record else record["output"]
    assert head(record, strict=True) == expected


@pytest.mark.parametrize("record", [p for p in of_kind("file_splitting") if "legacy_0e5a9f58" in p.values[0]])
@pytest.mark.parametrize("allow_zero", [False, True])
def test_pairs_bug_for_bug(record, allow_zero):
    expected = record["legacy_0e5a9f58"][f"allow_zero={allow_zero}"]
    assert tutorial(record, allow_zero, strict=True) == expected


def is_corrected(record):
    """Does the outcome show a proven bug: pages dropped in silence, or a confidence that must not be null?"""
    pairs = [(d["truth"], d["pred"]) for d in record["input"]["documents"]]
    return any(len(truth) != len(pred) for truth, pred in pairs) or record.get("error", {}).get("type") == "TypeError"


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("record", [p for p in of_kind("file_splitting") if not is_corrected(p.values[0])])
def test_two_lists_by_default(record):
    found, expected = head(record), {"error": record["error"]} if "error" in record else record["output"]
    for results in (found, expected):
        for n, value in results.get("f1_search", {}).items():
            results["f1_search"][n] = value["error"]["type"] if isinstance(value, dict) else value
    assert found == expected


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "record", [p for p in of_kind("file_splitting") if is_corrected(p.values[0]) and "output" in p.values[0]]
)
def test_corrections_count_every_page_and_say_so(record):
    evaluation = FileSplittingEvaluation(*documents(record), zero_division=None)
    sizes = [max(len(d["truth"]), len(d["pred"])) for d in record["input"]["documents"]]
    assert evaluation.tp() + evaluation.fp() + evaluation.fn() + evaluation.tn() == sum(sizes)
    assert {f.code for f in evaluation.findings} == {"pages-as-not-first"}


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_missing_pages_are_missed_first_pages():
    gold = [Document.of([True, False, True, True, True], id_=1)]
    evaluation = FileSplittingEvaluation(gold, [Document.of([True, False], copy_of_id=1)])
    assert [evaluation.tp(), evaluation.fp(), evaluation.fn(), evaluation.tn()] == [1, 0, 3, 1]
    assert [f.code for f in evaluation.findings] == ["pages-as-not-first"]
    assert "pages 3-5 of document 1 are not in the prediction" in evaluation.findings[0].message


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_extra_pages_are_wrong_if_predicted_first():
    evaluation = FileSplittingEvaluation(
        [Document.of([True, False], id_=1)], [Document.of([True, False, True, True], copy_of_id=1)]
    )
    assert [evaluation.tp(), evaluation.fp(), evaluation.fn(), evaluation.tn()] == [1, 2, 0, 1]


def test_missing_pages_can_be_refused_or_cut():
    sides = [Document.of([True, True], id_=1)], [Document.of([True], copy_of_id=1)]
    with pytest.raises(InputError, match="page 2 of document 1"):
        FileSplittingEvaluation(*sides, missing_pages="error")
    with pytest.warns(UserWarning, match="page 2"):
        assert FileSplittingEvaluation(*sides, missing_pages="truncate").recall() == 1


def test_confidences_are_not_needed():
    document = Document.of([True, False, True], id_=1)
    assert FileSplittingEvaluation([document], [document]).f1() == 1


def test_warn_warns():
    sides = [Document.of([False], id_=1)], [Document.of([False], [0.1], copy_of_id=1)]
    with pytest.warns(UserWarning, match="precision|recall|F1"):
        assert FileSplittingEvaluation(*sides).precision() == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert FileSplittingEvaluation(*sides, strict=True).precision() == 0


def test_nothing_is_printed(capsys):
    document = Document.of([True, False, True], [1.0, 0.2, 0.9], id_=1)
    FileSplittingEvaluation([document], [document], strict=True)
    assert capsys.readouterr() == ("", "")


def test_pairs_without_the_tutorial_bugs():
    wrong = [(Document.of([True, False], id_=1), Document.of([False, True], copy_of_id=1))]
    assert FileSplittingEvaluation(wrong).f1() == 0
    nothing = [(Document.of([False], id_=1), Document.of([False], copy_of_id=1))]
    assert FileSplittingEvaluation(nothing, True).f1() is None
    with pytest.raises(ZeroDivisionError):
        FileSplittingEvaluation(nothing)
    unmarked = [(Document.of([True, None], id_=1), Document.of([True, False], copy_of_id=1))]
    with pytest.raises(ValueError, match="Page 2"):
        FileSplittingEvaluation(unmarked)


def test_categories_keep_their_order_and_unknown_ones_are_listed():
    gold = [Document.of([True], id_=i, category=category(c)) for i, c in enumerate((5, 3, 9), 1)]
    evaluation = FileSplittingEvaluation(gold, gold)
    assert list(evaluation.evaluation_results_by_category) == [5, 3, 9]
    with pytest.raises(KeyError, match="evaluated categories: 5, 3, 9"):
        evaluation.f1(category(1))


def test_gt_and_calculator():
    evaluation = FileSplittingEvaluation([Document.of([True, True], id_=1)], [Document.of([True, False], copy_of_id=1)])
    data = evaluation.get_evaluation_data()
    assert (evaluation.gt(), data.tp, data.fn, data.recall) == (2, 1, 1, 0.5)


def test_any_objects_with_the_attributes_do():
    def bundle(name, flags, **more):
        pages = [SimpleNamespace(is_first_page=f) for f in flags]
        return SimpleNamespace(id_=name, pages=lambda: pages, category=SimpleNamespace(id_=4), project="P", **more)

    gold, pred = bundle(1, [True, False, True]), bundle(8, [True, True, True], copy_of_id=1)
    evaluation = FileSplittingEvaluation(ground_truth_documents=[gold], prediction_documents=[pred])
    assert evaluation.fp(search=SimpleNamespace(id_=4)) == 1


def test_documents_of_two_projects_are_refused():
    gold = [Document.of([True], id_=i, project=Project(i)) for i in (1, 2)]
    with pytest.raises(ValueError, match="same Project"):
        FileSplittingEvaluation(gold, gold)


def test_pages_as_the_tutorial_builds_them():
    document = Document(id_=20, project=PROJECT, category=category(1), text="Hi all", dataset_status=3)
    for number in (1, 2):
        page = Page(id_=None, document=document, start_offset=0, end_offset=3, number=number, original_size=(595, 842))
    page.is_first_page = True
    assert [p.is_first_page for p in document.pages()] == [True, True]


def calculated(calculator, names=("precision", "recall", "f1")):
    return {name: outcome(lambda name=name: getattr(calculator, name)) for name in names}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("record", of_kind("calculator"))
def test_calculator(record, strict):
    expected = {"error": record["error"]} if "error" in record else record["output"]
    assert outcome(lambda: calculated(EvaluationCalculator(**record["input"], strict=strict))) == expected


def categorised(record, strict):
    given = record["input"]
    categories = [category(n) for n in given["categories"]]
    pairs = []
    for pair in given["pairs"]:
        one, other = Document(), Document()
        one.category, other.category = (None if n is None else category(n) for n in pair)
        pairs.append((one, other))
    evaluation = CategorizationEvaluation(categories, pairs, given["zero_division"], strict=strict)
    counts = ("tp", "fp", "fn", "tn")
    overall = {name: getattr(evaluation, name)() for name in counts}
    overall |= {f"{name}_weighted": getattr(evaluation, name)(None) for name in ("precision", "recall", "f1")}
    each = {
        str(c.id_): {
            name: outcome(lambda c=c, name=name: getattr(evaluation, name)(c))
            for name in (*counts, "precision", "recall", "f1")
        }
        for c in categories
    }
    return {
        "confusion_matrix_rows_truth_cols_pred_labels": [*given["categories"], 0],
        "confusion_matrix": evaluation.confusion_matrix().tolist(),
        "overall": overall,
        "by_category": each,
    }


@pytest.mark.parametrize("record", of_kind("categorization"))
def test_categorization_bug_for_bug(record):
    found = outcome(lambda: categorised(record, True))
    if "error" in record:
        assert found == {"error": record["error"]}
        return
    expected = record["output"]
    for name in ("overall", *expected["by_category"]):
        ours, theirs = (r[name] if name == "overall" else r["by_category"][name] for r in (found, expected))
        assert ours == pytest.approx(theirs)
    assert found["confusion_matrix"] == expected["confusion_matrix"]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("pairs", "recall", "matrix"),
    [
        # A prediction without, or outside, the categories is a miss: one of two found.
        ([(1, 1), (1, None)], 0.5, [[1, 0, 1], [0, 0, 0], [0, 0, 0]]),
        ([(1, 1), (1, 7)], 0.5, [[1, 0, 1], [0, 0, 0], [0, 0, 0]]),
        # A document of no listed category is nobody's miss, but a false positive of what it was taken for.
        ([(1, 1), (None, 1)], 1.0, [[1, 0, 0], [0, 0, 0], [1, 0, 0]]),
    ],
)
def test_categorization_by_default(pairs, recall, matrix):
    found = categorised({"input": {"categories": [1, 2], "pairs": pairs, "zero_division": 0}}, False)
    assert found["by_category"]["1"]["recall"] == found["overall"]["recall_weighted"] == recall
    assert found["confusion_matrix"] == matrix
    assert sum(found["by_category"]["1"][n] for n in ("tp", "fp", "fn", "tn")) == len(pairs)


@pytest.mark.parametrize("strict", [False, True])
def test_a_document_without_pages_leaves_the_categories_of_the_others_alone(strict):
    one, two = Category(5, "one"), Category(2, "two")
    gold = [Document.of([], id_=1, category=one), Document.of([True, True], id_=2, category=two)]
    pred = [Document.of([], copy_of_id=1), Document.of([True, False], [1.0, 0.2], copy_of_id=2)]
    found = FileSplittingEvaluation(gold, pred, zero_division=None, strict=strict).evaluation_results_by_category
    assert [found[5][name] for name in ("true_positives", "false_negatives", "recall")] == [0, 0, None]
    assert [found[2][name] for name in ("true_positives", "false_negatives", "recall")] == [1, 1, 0.5]


def test_pairs_are_kept_as_the_original_keeps_them():
    document = Document.of([True], [1.0], id_=1)
    assert FileSplittingEvaluation([document], [document]).document_pairs == [[document, document]]
    first_form = FileSplittingEvaluation(documents=[(document, document)])
    assert (first_form.documents, first_form.allow_zero) == ([[document, document]], False)


def test_equal_projects_are_one():
    gold = [Document.of([True], id_=i, project=("project", 46)) for i in (1, 2)]
    assert FileSplittingEvaluation(gold, gold).tp() == 2


def test_true_documents_without_a_category():
    gold = Document.of([True], id_=1)
    gold.category = None
    pred = Document.of([True], [1.0], copy_of_id=1)
    assert FileSplittingEvaluation([gold], [pred]).evaluation_results_by_category[0]["f1"] == 1
    with pytest.raises(AttributeError, match="id_"):
        FileSplittingEvaluation([gold], [pred], strict=True)


def test_a_prediction_that_is_no_copy_has_no_name_in_the_original():
    gold, pred = Document.of([True], id_=1), Document.of([None], id_=1)
    for strict, name in ((True, "None"), (False, "1")):
        with pytest.raises(ValueError, match=f"Page 1 of prediction of {name} "):
            FileSplittingEvaluation([gold], [pred], strict=strict)


def test_an_f1_that_the_first_form_leaves_out_is_said_to_differ():
    wrong = [(Document.of([True, False], id_=1), Document.of([False, True], copy_of_id=1))]
    assert FileSplittingEvaluation(wrong, True, strict=True).f1() is None
    evaluation = FileSplittingEvaluation(wrong, True)
    assert (evaluation.f1(), [f.code for f in evaluation.findings]) == (0, ["door-differs"])


def categories_of(pairs, given=(1, 2), **options):
    documents = [tuple(Document(category=category(n)) for n in pair) for pair in pairs]
    return CategorizationEvaluation([category(n) for n in given], documents, **options)


def test_a_category_that_was_not_given():
    pairs = [(1, 1), (2, 1)]
    evaluation = categories_of(pairs, strict=True)
    assert [getattr(evaluation, name)(category(9)) for name in ("tp", "fp", "fn", "tn", "recall")] == [0] * 5
    with pytest.raises(KeyError, match="evaluated categories: 1, 2"):
        categories_of(pairs).tp(category(9))


def test_true_documents_of_a_category():
    assert categories_of([(1, 1), (1, 2), (2, 2)]).gt(category(1)) == 2
    assert categories_of([(1, 1), (1, 2), (2, 2)], strict=True).gt(category(1)) == 0


def test_no_category_among_the_given_ones():
    # The original keeps the last place of a label that stands twice, so that a given category 0 loses its documents.
    pairs = [(0, 0), (0, 1), (1, 1)]
    strict, corrected = (categories_of(pairs, (0, 1), strict=strict) for strict in (True, False))
    assert [strict.tp(NO_CATEGORY), corrected.tp(NO_CATEGORY)] == [0, 1]
    assert [f.code for f in corrected.findings] == ["door-differs"]
    assert strict.confusion_matrix().tolist() == [[0, 0, 0], [0, 1, 0], [0, 1, 1]]


def test_a_category_given_twice_weighs_twice_in_the_mean():
    # Recall 1/2 of category 1 twice with weight 2, and 1 of category 2 with weight 1: (1 + 1 + 1) / 5.
    evaluation = categories_of([(1, 1), (1, 2), (2, 2)], (1, 2, 1), strict=True)
    assert (evaluation.recall(None), evaluation.tp()) == (pytest.approx(0.6), 2)


@pytest.mark.parametrize("pair", [(9, 1), (1, 9)])
def test_pairs_outside_the_categories_count_and_say_so(pair):
    evaluation = categories_of([(1, 1), pair])
    assert "1 of 2 pairs" in evaluation.findings[0].message
    assert evaluation.precision(category(1)) + evaluation.recall(category(1)) == 1.5


def test_a_bad_zero_division_is_refused_at_once():
    with pytest.raises(AssertionError, match="zero_division"):
        categories_of([(1, 1)], zero_division=1)
