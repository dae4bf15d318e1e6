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


@pytest.mark.parametrize("record", GOOD, ids=lambda record: record["id"])
def test_default_scores_are_shares(record):
    found = ask(record)
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
