"""What karat says of one thing and of many, and the spellings it takes."""

from __future__ import annotations

import subprocess
import sys

import pytest

import karat
from karat.findings import finding
from karat.metric import parse


@pytest.mark.parametrize(
    ("count", "said"),
    [(1, "1 predicted id is not in gold (first: a) and is left out"), (2, "2 predicted ids are not in gold")],
)
def test_words_go_with_their_number(count, said):
    assert finding("pred-only-ids", count=count, examples="a").message.startswith(said)


def test_a_class_without_a_value_says_why():
    e = karat.evaluate(["A", "A", "B"], ["A", "A", "A"])
    assert e["precision"].by_class["B"].undefined == "nothing was predicted"


@pytest.mark.parametrize(("text", "beta"), [("f2", 2), ("F0.5", 0.5), ("f10", 10)])
def test_f_with_a_number_is_f_beta(text, beta):
    assert (parse(text).name, dict(parse(text).params)) == ("fbeta", {"beta": beta})
    assert parse("f1").name == "f1"


def test_the_module_is_the_command():
    done = subprocess.run([sys.executable, "-m", "karat", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"karat {karat.__version__}\n"


def test_an_evaluation_gives_its_scores_one_by_one():
    e = karat.evaluate(["A", "B"], ["A", "B"], metrics=["accuracy", "f1"])
    assert [score.value for score in e] == [1.0, 1.0]
