# SPDX-License-Identifier: Apache-2.0
"""The doors' commands on files that cannot be scored: a finding, exit code 2, and no output file."""

import json

import pytest
from click.testing import CliRunner

from karat.cli.main import karat as main

PAGE = {"page_id": "p", "n_excerpts": 1, "excerpts": [{"start": 0, "end": 5, "poem_id": "a"}]}
ANSWER = {"page_id": "p", "n_spans": 1, "poem_spans": [{"page_start": 0, "page_end": 5, "ref_id": "a"}]}
SIDE = {"Classification": ["Buy"], "Entities": [{"Name": "Size", "StartPosition": 0, "EndPosition": 4}]}


def run(*args):
    return CliRunner().invoke(main, [str(arg) for arg in args])


@pytest.mark.parametrize(
    "reference",
    ["", "{oops", "[1]", "null", json.dumps(PAGE | {"page_id": ["p"]}), json.dumps({"page_id": "p"}), "[" * 100_000,
     json.dumps(PAGE | {"n_excerpts": "1"}), json.dumps(PAGE | {"excerpts": [None]}),
     json.dumps(PAGE | {"excerpts": [{"start": 0, "end": 10**30, "poem_id": "a"}]}),
     json.dumps(PAGE | {"excerpts": [{"start": 5, "end": 0, "poem_id": "a"}]})],
    ids=range(11),
)  # fmt: skip
def test_poetry_spans_refuses_pages(tmp_path, reference):
    (tmp_path / "ref.jsonl").write_text(reference)
    (tmp_path / "sys.jsonl").write_text(json.dumps(ANSWER) + "\n")
    result = run("evaluate-poetry-spans", tmp_path / "ref.jsonl", tmp_path / "sys.jsonl", tmp_path / "out.csv")
    assert result.exit_code == 2
    assert "ref.jsonl" in result.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ref.jsonl", "sys.jsonl"]


@pytest.mark.parametrize("target", ["nowhere/out.csv", "."])
def test_poetry_spans_says_where_it_cannot_write(tmp_path, target):
    (tmp_path / "ref.jsonl").write_text(json.dumps(PAGE) + "\n")
    (tmp_path / "sys.jsonl").write_text(json.dumps(ANSWER) + "\n")
    result = run("evaluate-poetry-spans", tmp_path / "ref.jsonl", tmp_path / "sys.jsonl", tmp_path / target, "--force")
    assert result.exit_code == 2
    assert "output file" in result.output


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("[", "not valid JSON"),
        ([1], "example 1 must be an object, not 1"),
        ([], "testData"),
        ([{"Text": "x"}], "LabeledData"),
        ([{"LabeledData": {"Classification": "Buy", "Entities": []}, "PredictedData": SIDE}], "must be a list, not 'Buy'"),
        ([{"LabeledData": SIDE | {"Entities": [{"Name": "a", "StartPosition": 0}]}, "PredictedData": SIDE}],
         "EndPosition must be a whole number, not None"),
        ([{"LabeledData": SIDE | {"Entities": [{"Name": 3}]}, "PredictedData": SIDE}], "Name must be text, not 3"),
        ("[" * 100_000, "recursion"),
    ],
    ids=range(8),
)  # fmt: skip
def test_luis_refuses_test_data(tmp_path, data, said):
    path = tmp_path / "luis.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    result = run("evaluate-luis", path)
    assert result.exit_code == 2
    assert said in result.output
    assert "Traceback" not in result.output
