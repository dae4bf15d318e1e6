"""What karat says of one thing and of many, and the spellings it takes."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import karat
from karat.findings import finding
from karat.kinds import KINDS
from karat.metric import parse


@pytest.mark.parametrize(
    ("count", "said"),
    [(1, "1 predicted id is not in gold (first: a) and is left out"), (2, "2 predicted ids are not in gold")],
)
def test_words_go_with_their_number(count, said):
    assert finding("pred-only-ids", count=count, examples="a", policy="left out").message.startswith(said)


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


def test_a_cut_off_on_label_sets_is_top_k():
    e = karat.evaluate([["A", "B"]], [["A", "C", "B"]], metrics=["precision@2", "f1@2", "lrap"])
    assert [str(m) for m in e.metrics] == ["topk_precision@2", "topk_f1@2", "label_ranking_average_precision"]
    assert e["precision@2"].value == 0.5


def test_a_label_outside_the_hierarchy_is_said_of_its_own_file(tmp_path):
    (tmp_path / "gold.csv").write_text("id,value\n1,dog\n2,cat\n")
    (tmp_path / "pred.csv").write_text("id,value\n1,dog\n2,tiger\n")
    for context in ("monolabel", "multilabel"):
        e = karat.evaluate(
            tmp_path / "gold.csv", tmp_path / "pred.csv", context=context, hierarchy={"animal": {"dog": {}, "cat": {}}}
        )
        assert {f.file for f in e.findings if f.code == "label-not-in-hierarchy"} == {str(tmp_path / "pred.csv")}


def test_clusters_stand_in_a_column_of_that_name(tmp_path):
    (tmp_path / "gold.csv").write_text("id,cluster\n1,x\n2,x\n3,y\n")
    e = karat.evaluate(
        tmp_path / "gold.csv", tmp_path / "gold.csv", context="clustering", metrics=["purity"], allow_same=True
    )
    assert e["purity"].value == 1.0


OF_ANOTHER_NOUN = {"few-units", "tied-labels", "cluster-overlap", "excerpt-cut", "no-common-cases", "too-many-slices"}
"""Messages whose plural goes with intervals, labels, scores and references, however many things are counted."""
COUNTING = {code for code, kind in KINDS.items() if "{count}" in kind.message}


@pytest.mark.parametrize("code", sorted(COUNTING - OF_ANOTHER_NOUN))
def test_messages_that_count_know_one_from_many(code):
    fixed = re.sub(r"\{\w+:[^}]*\|[^}]*\}", "", KINDS[code].message)
    assert not re.search(r"\b(are|have|were|they|them|their)\b", fixed), "write {count:is|are}"


def test_one_query_and_several():
    facts = {"total": 3, "examples": "'q2'", "policy": "scored 0"}
    one, two = (finding("queries-not-in-run", count=n, **facts).message for n in (1, 2))
    assert one == "1 of 3 gold queries is not in the run (first: 'q2') and is scored 0"
    assert two == "2 of 3 gold queries are not in the run (first: 'q2') and are scored 0"
