# SPDX-License-Identifier: Apache-2.0
"""The LUIS evaluator's counts reproduced, and each of its proven bugs absent from the default."""

import pytest

from karat.contexts.spans.nested import LuisCounts, align, flatten, text_and_type
from tests.spans.vectors import load

VECTORS = {v["id"]: v for v in load("luis-entities") if "error" not in v["output"]}


def counted(v):
    counts, lists = LuisCounts(), []
    for model in v["input"]["entities"] or []:
        counts.rows.setdefault(model["Name"], [0, 0, 0, 0])
    for example in v["input"]["testData"]:
        lists.append(counts.example(example["LabeledData"]["Entities"], example["PredictedData"]["Entities"]))
    return counts.rows, lists


@pytest.mark.parametrize("v", VECTORS.values(), ids=lambda v: v["id"])
def test_compatible_counts(v):
    rows, lists = counted(v)
    raw = v["output"]["raw"]["entities"]
    keys = ("CorrectTypeCount", "CorrectTextCount", "ActualCount", "PossibleCount")
    assert rows == {name: [row[k] for k in keys] for name, row in raw.items()}
    assert list(rows) == [row["ModelName"] for row in v["output"]["EntityModelsStats"]]
    places = ("EntityName", "StartPosition", "EndPosition")
    for found, query in zip(lists, v["output"]["QueryStats"], strict=True):
        expected = [query["FalsePositiveEntities"], query["FalseNegativeEntities"]]
        assert list(found) == [[tuple(x[k] for k in places) for x in part] for part in expected]


def aligned(v, **options):
    codes = {}
    gold, pred = (
        flatten([e[k]["Entities"] for e in v["input"]["testData"]], codes) for k in ("LabeledData", "PredictedData")
    )
    text, type_ = text_and_type(gold, pred, align(gold, pred), **options)
    return len(gold.spans), len(pred.spans), len(text), len(type_)


@pytest.mark.parametrize(
    ("case", "expected"),  # (labelled, predicted, text, type)
    [
        ("c0044", (2, 1, 1, 1)),  # precision 1/1, recall 1/2: not exchanged
        ("c0045", (1, 2, 1, 1)),
        ("c0035", (1, 3, 0, 1)),  # three predictions in one label: one credit
        ("c0036", (3, 1, 0, 1)),  # one prediction over three labels: one credit
        ("c0037", (2, 1, 1, 1)),  # duplicate labels
        ("c0039", (2, 2, 2, 2)),  # duplicates on both sides: two pairs, not four
        ("c0060", (4, 4, 4, 4)),  # two parents of one name, all right: no false positive
        ("c0061", (4, 4, 2, 2)),  # children under the wrong parent earn nothing
        ("c0056", (2, 2, 0, 0)),  # child of a parent that does not overlap earns nothing
        ("c0062", (4, 2, 2, 2)),  # a child is credited once
        ("c0041", (2, 0, 0, 0)),  # (1, 112) and (11, 12) are two misses
        ("c0063", (1, 2, 0, 0)),  # flat P::C is not nested P > C
        ("c0068", (4, 4, 3, 4)),  # four levels
    ],
)
def test_corrected_default(case, expected):
    assert aligned(VECTORS[case]) == expected


@pytest.mark.parametrize("v", VECTORS.values(), ids=lambda v: v["id"])
def test_no_credit_exceeds_the_number_of_entities(v):
    labelled, predicted, text, type_ = aligned(v)
    assert text <= type_ <= min(labelled, predicted)


def test_text_without_type():
    places = (
        [{"Name": "A", "StartPosition": 0, "EndPosition": 4}],
        [{"Name": "B", "StartPosition": 0, "EndPosition": 4}],
    )
    v = {"input": {"testData": [{"LabeledData": {"Entities": places[0]}, "PredictedData": {"Entities": places[1]}}]}}
    assert aligned(v) == (1, 1, 0, 0)
    assert aligned(v, text_requires_type=False) == (1, 1, 1, 0)


def test_touching_exclusive_ends_do_not_overlap():
    codes = {}
    entity = [{"n": "A", "s": 0, "e": 5}], [{"n": "A", "s": 5, "e": 9}]
    gold, pred = (flatten([side], codes, name="n", start="s", end="e", inclusive=False) for side in entity)
    assert len(align(gold, pred)) == 0
