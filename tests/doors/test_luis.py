# SPDX-License-Identifier: Apache-2.0
"""The LUIS door: the old package's every answer in compat mode, standard scores by default."""

import dataclasses
import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from karat.cli.main import karat
from karat.doors import luis

with gzip.open(Path(__file__).parent.parent / "data" / "luis-entities.jsonl.gz", "rt", encoding="utf-8") as lines:
    RECORDS = [json.loads(line) for line in lines]
GOOD = [record for record in RECORDS if "error" not in record["output"]]


def ask(record, **options):
    given = record["input"]
    return luis.evaluate_model(given["testData"], given["verbose"], given["entities"], given["classes"], **options)


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["id"])
def test_compat_is_the_old_package(record):
    expected = {key: value for key, value in record["output"].items() if key != "raw"}
    try:
        found = ask(record, compat="luis").to_dict()
    except ValueError as error:
        found = {"error": {"type": type(error).__name__, "message": str(error)}}
    assert found == expected


@pytest.mark.filterwarnings("ignore:.*entity-misplaced")
@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize("record", GOOD, ids=lambda record: record["id"])
def test_default_scores_are_shares(record, typed):
    found = ask(record, text_requires_type=typed)
    for stats in found.EntityModelsStats + found.ClassificationModelsStats:
        assert 0 <= stats.Precision <= 1
        assert 0 <= stats.Recall <= 1
    old = record["output"]
    assert [one.ModelName for one in found.EntityModelsStats] == [one["ModelName"] for one in old["EntityModelsStats"]]
    assert [dataclasses.asdict(one) for one in found.ClassificationModelsStats] == old["ClassificationModelsStats"]


def test_precision_is_over_predictions():
    """Two labelled, one of them predicted: all of the predictions are right, half of the labels are found."""
    found = ask(next(record for record in RECORDS if record["id"] == "c0044")).EntityModelsStats[0]
    assert (found.Precision, found.Recall) == (1.0, 0.5)


def camel(value, join):
    if isinstance(value, dict):
        return {join(key): camel(inner, join) for key, inner in value.items()}
    return [camel(inner, join) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    "join",
    [
        lambda key: key[0].lower() + key[1:],
        lambda key: "".join("_" + c.lower() if c.isupper() else c for c in key).lstrip("_"),
    ],
    ids=["camel", "snake"],
)
def test_other_spellings(join):
    for record in GOOD[:20]:
        given = camel(record["input"]["testData"], join)
        assert luis.evaluate_model(given, True) == luis.evaluate_model(record["input"]["testData"], True)


def test_command_takes_one_file_or_two(tmp_path):
    record = next(record for record in RECORDS if record["id"] == "c0044")
    sides = {
        side: [example[side] for example in record["input"]["testData"]] for side in ("LabeledData", "PredictedData")
    }
    (tmp_path / "batch.json").write_text(json.dumps(record["input"]))
    for side, data in sides.items():
        (tmp_path / f"{side}.json").write_text(json.dumps(data))
    one = CliRunner().invoke(karat, ["evaluate-luis", str(tmp_path / "batch.json"), "--compat", "luis", "--verbose"])
    assert json.loads(one.stdout)["EntityModelsStats"] == record["output"]["EntityModelsStats"]
    two = CliRunner().invoke(karat, ["evaluate-luis", *(str(tmp_path / f"{side}.json") for side in sides)])
    assert json.loads(two.stdout)["EntityModelsStats"][0]["Precision"] == 1.0


@pytest.mark.parametrize("text", ["", "{", "[]", "[3]", '{"a": 1}', '[{"LabeledData": 1, "PredictedData": []}]'])
def test_command_never_fails_without_a_finding(tmp_path, text):
    (tmp_path / "x.json").write_text(text)
    result = CliRunner().invoke(karat, ["evaluate-luis", str(tmp_path / "x.json")])
    assert result.exit_code == 2
    assert "hint:" in result.stderr


def entity(name, start, end, *children):
    return {"Name": name, "StartPosition": start, "EndPosition": end, "Children": list(children)}


def example(labeled, predicted, **more):
    sides = {"LabeledData": labeled, "PredictedData": predicted}
    return {"Text": "t", **{side: {"Classification": [], "Entities": given} for side, given in sides.items()}, **more}


def test_text_credit_is_counted_on_each_side():
    """A[0,4] and A[6,9] are labelled, B[0,4] and A[6,9] predicted; places count whatever the type."""
    labeled, predicted = [entity("A", 0, 4), entity("A", 6, 9)], [entity("B", 0, 4), entity("A", 6, 9)]
    found = luis.evaluate_model([example(labeled, predicted)], text_requires_type=False).EntityModelsStats
    assert [(one.ModelName, one.Precision, one.Recall) for one in found] == [
        ("A", 1.0, 0.75),  # predicted: 1 type + 1 text of 2; labelled: 1 type + 2 texts of 4
        ("B", 0.5, 0.0),  # predicted: 1 text of 2; none is labelled
    ]


def test_reversed_offsets_are_a_finding():
    """What ends before it starts has no character: it is said, and it matches nothing."""
    turned = entity("A", 9, 4, entity("B", 5, 6))
    with pytest.warns(UserWarning, match="example 2, LabeledData: the entity 'A' from 9 to 4 has no character"):
        found = luis.evaluate_model([example([], []), example([turned], [turned])])
    assert [one.FScore for one in found.EntityModelsStats] == [0.0, 0.0]
    assert [("LabeledData" in one.message, one.code) for one in found.findings] == [
        (True, "entity-misplaced"),
        (False, "entity-misplaced"),
    ]
    assert "findings" not in found.to_dict()
    old = luis.evaluate_model([example([turned], [turned])], compat="luis")
    assert (old.findings, old.EntityModelsStats[0].FScore) == ([], 0.5)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"test_data": 5}, "test_data must be a list, not 5"),
        ({"test_data": [3]}, "example 1 must be an object, not 3"),
        ({"test_data": [example([], []), example([entity("A", 0, 4, entity("B", 0, "x"))], [])]},
         "example 2: LabeledData.Entities[0].Children[0].EndPosition must be a whole number"),
        ({"test_data": [example([], [entity("A", 0, 10**30)])]}, "EndPosition must be a number of 64 bits"),
        ({"test_data": [example([], [], Text=7)]}, "example 1: Text must be text, not 7"),
        ({"test_data": [example([], [])], "entities": ["A"]}, "entities[0] must be an object, not 'A'"),
        ({"test_data": [example([], [])], "classes": [{"Type": "t"}]}, "classes[0].Name must be text, not None"),
        ({"test_data": [example([], [])], "end": "open"}, "end must be 'inclusive' or 'exclusive', not 'open'"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named_with_its_place(given, said):
    with pytest.raises(luis.InvalidInputException) as raised:
        luis.evaluate_model(**given)
    assert said in str(raised.value)


def test_null_fields_are_noted_with_their_example(tmp_path):
    broken = example([], [])
    broken["PredictedData"]["Entities"] = None
    (tmp_path / "x.json").write_text("\ufeff" + json.dumps([example([], []), broken]), encoding="utf-8")
    result = CliRunner().invoke(karat, ["evaluate-luis", str(tmp_path / "x.json")])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "The field Entities can't be null, in example 2" in result.stderr


def test_the_file_that_is_broken_is_named(tmp_path):
    (tmp_path / "labels.json").write_text("[]")
    (tmp_path / "predicted.json").write_text("[\n{")
    files = [str(tmp_path / name) for name in ("labels.json", "predicted.json")]
    result = CliRunner().invoke(karat, ["evaluate-luis", *files])
    assert result.exit_code == 2
    assert f"{files[1]}:2: error[bad-json]" in result.stderr
