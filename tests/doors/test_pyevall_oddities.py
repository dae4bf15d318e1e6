# SPDX-License-Identifier: Apache-2.0
"""Odd inputs through the strict door: numbers and errors as PyEvALL 0.2.11 gave them, run on Python 3.11."""

import json
import math

import pytest

from karat.doors.pyevall import PyEvALLEvaluation
from tests.doors.pyevall_case import answer

GOLD = [{"A": 0.2, "B": 0.8}, {"A": 0.6, "B": 0.1}, {"B": 0.5, "C": 0.5}]
PRED = [{"A": 0.3, "B": 0.7}, {"A": 0.5, "C": -0.4}, {"B": 0.9}]
LABELS = ["a", "b", "a", "c"], ["a", "a", "b", "c"]
SETS = [["a"], ["b", "c"], ["a", "c"]], [["a"], ["b"], ["c"]]


def written(values):
    return json.dumps([{"test_case": "t", "id": str(i), "value": value} for i, value in enumerate(values)])


def asked(metric, gold, pred, **params):
    files = {"gold": gold, "pred": pred, "gold_file": "gold.json", "pred_file": "pred.json"}
    return answer({**files, "metrics": [metric], "params": params})


def score(metric, gold, pred, **params):
    return asked(metric, written(gold), written(pred), **params)["metrics"][metric]["results"]["average_per_test_case"]


@pytest.mark.parametrize(
    ("hierarchy", "expected"),
    [
        (None, -0.9917176601224534),
        ({"A": None}, -0.9917176601224534),
        ({"A": {}, "B": []}, -0.9917176601224534),
        # Text in the place of children is below its parent where ancestors are looked for, and nowhere else.
        ({"A": "B"}, -0.9367577154823407),
        ({"A": ["B", "C"]}, -1.6592036353706137),
        ({"R": {"A": {"B": []}}}, -1.7179917080512543),
    ],
)
def test_weights_on_hierarchies_of_any_form(hierarchy, expected):
    # The second prediction has a weight below zero for a class that its gold lacks, which the union keeps.
    assert score("ICMSoft", GOLD, PRED, hierarchy=hierarchy) == pytest.approx(expected)


def test_a_child_in_an_object_needs_a_weight():
    found = asked("ICMSoft", written(GOLD), written(PRED), hierarchy={"R": {"A": "B"}})
    assert found == {"exception": "KeyError: 'A'"}


@pytest.mark.parametrize(
    ("sides", "hierarchy", "expected"),
    [
        (LABELS, {"r": "a"}, -0.75),
        (LABELS, {"r": {"a": [], "b": "c"}}, -0.1274437510817341),
        (SETS, {"r": "a"}, 0.5283208335737187),
        (SETS, {"r": {"a": [], "b": "c"}}, 1.0566416671474375),
    ],
)
def test_labels_on_hierarchies_of_any_form(sides, hierarchy, expected):
    assert score("ICM", *sides, hierarchy=hierarchy) == pytest.approx(expected)


def test_children_that_cannot_be_counted():
    found = asked("ICM", *map(written, SETS), hierarchy={"r": None})
    assert found == {"exception": "TypeError: object of type 'NoneType' has no len()"}


def test_a_weight_that_is_not_a_number_is_left_out_of_the_sum():
    # Only NaN in class A: pandas' sum is 0, so nothing deviates.
    found = asked("ICMSoft", written([{"A": math.nan}, {"A": math.nan}]), written([{"A": 0.3}]))
    assert found == {"exception": "StatisticsError: cdf() not defined when sigma is zero"}


def test_an_alfa_that_is_not_a_number():
    found = asked("FMeasure", *map(written, (["a", "b"], ["a", "a"])), alfa_param=math.nan)
    (case,) = found["metrics"]["FMeasure"]["results"]["test_cases"]
    assert [math.isnan(value) for value in (case["average"], *case["classes"].values())] == [True, True, False]
    assert case["classes"]["b"] == 0


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("test_case , id,value", "FORMAT_INCORRECT_SCHEMA_JSON_ERROR"),
        ("test_case,id, value", "FORMAT_INCORRECT_JSON_ERROR"),
    ],
)
def test_blanks_in_a_header(header, code):
    found = asked("Accuracy", f"{header}\nt,1,a\n", written(["a"]))
    assert (found["metrics"], list(found["files"]["gold.json"]["errors"])[-1]) == ({}, code)


def test_a_first_row_that_quotes_make_longer_sets_the_width():
    gold = 't\t1\t"\nt\t2\t"A\tB"\nt\t3\tA\n'
    found = asked("Accuracy", gold, written(["a"]))
    assert "FORMAT_TSV_FORMAT_IDENTIFIED_WARNING" in found["files"]["gold.json"]["errors"]


@pytest.mark.parametrize(
    ("name", "error", "text"),
    [
        ("math", TypeError, "'module' object is not callable"),
        ("PyEvALLMetric", TypeError, "missing 3 required positional arguments: 'name', 'acronym', and 'evaluation_id'"),
        ("NormalDist", ValueError, "could not convert string to float"),
    ],
)
def test_names_that_are_not_metrics(tmp_path, name, error, text):
    path = tmp_path / "labels.json"
    path.write_text(written(["a", "b"]))
    with pytest.raises(error, match=text):
        PyEvALLEvaluation(strict=True).evaluate(path, path, [name])
    report = PyEvALLEvaluation().evaluate(path, path, [name]).report
    assert report["metrics"][name]["errors"][0]["name"] == "METRIC_UNKONW_METRIC_ERROR"


@pytest.fixture
def systems(tmp_path):
    """A file with one right and one wrong label, and one that is not there."""
    for name, values in (("gold", ["a", "b"]), ("half", ["a", "c"])):
        (tmp_path / f"{name}.json").write_text(written(values))
    return [tmp_path / "half.json", tmp_path / "none.json"], tmp_path / "gold.json"


def test_tables_of_a_file_that_failed(systems, capsys):
    found = PyEvALLEvaluation(strict=True).evaluate_lst(*systems, ["FMeasure", "Precision"], report="dataframe")
    assert found.df_average.values.tolist()[0] == ["half.json", "0.5", "1.0"]
    assert found.df_average.isna().to_numpy().tolist()[1] == [False, True, True]
    assert found.df_test_case_classes.iloc[0]["Pr_b"] is None
    found.print_report_tsv()
    _, *lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["\tfiles\tF1\tPr", "0\thalf.json\t0.5\t1.0", "1\tnone.json\t\t"]
    assert lines[-2] == "0\thalf.json_t\t1.0\t0\t1.0\t-"
    found.print_report()
    assert "|  1 | none.json | nan   |  nan |" in capsys.readouterr().out


def test_tables_without_rows(systems):
    (_, missing), gold = systems
    strict, corrected = (
        PyEvALLEvaluation(strict=strict).evaluate(missing, gold, ["Accuracy"], report="dataframe")
        for strict in (True, False)
    )
    assert (strict.df_test_case, strict.df_test_case_classes, list(strict.df_average.columns)) == (
        None,
        None,
        ["files"],
    )
    assert corrected.df_test_case.empty
