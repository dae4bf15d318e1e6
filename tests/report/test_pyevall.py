# SPDX-License-Identifier: Apache-2.0
"""``--report pyevall``: PyEvALL's layout, which its readers find their way in."""

import json

from click.testing import CliRunner

import karat
from karat.cli.main import karat as command


def test_layout_and_names(tmp_path):
    gold, pred = tmp_path / "gold.json", tmp_path / "pred.json"
    gold.write_text('[{"test_case":"t","id":"1","value":"A"},{"test_case":"t","id":"2","value":"B"}]')
    pred.write_text('[{"test_case":"t","id":"1","value":"A"},{"test_case":"t","id":"2","value":"A"}]')
    args = ["evaluate", str(gold), str(pred), "--report", "pyevall", "-m", "accuracy", "-m", "recall", "-m", "mcc"]
    report = json.loads(CliRunner().invoke(command, args).stdout)
    assert list(report["metrics"]) == ["Accuracy", "Recall", "mcc"]
    case = {"name": "t", "classes": {"A": 1.0, "B": 0.0}, "average": 0.5}
    assert report["metrics"]["Recall"]["results"] == {"test_cases": [case], "average_per_test_case": 0.5}
    assert report["metrics"]["mcc"]["status"] == "FAIL"
    assert {name: entry["gold"] for name, entry in report["files"].items()} == {"pred.json": False, "gold.json": True}


def test_several_systems():
    evaluation = karat.evaluate(["A", "B"], ["A", "B"], metrics=["accuracy"])
    evaluation.systems *= 2
    assert list(json.loads(evaluation.render("pyevall"))) == ["EVALUATION_1", "EVALUATION_2"]
