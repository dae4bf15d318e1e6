# SPDX-License-Identifier: Apache-2.0
"""nervaluate's Evaluator: the same tables as nervaluate itself, from tags, dictionaries and text."""

import dataclasses

import pytest
from nervaluate.evaluator import Evaluator as Peer

from karat.doors.nervaluate import Evaluator
from tests.spans.vectors import random_tags

TAGS = ["PER", "LOC", "A-B"]


def plain(table):
    return {name: vars(one) if hasattr(one, "__dict__") else dataclasses.asdict(one) for name, one in table.items()}


def assert_same(true, pred, loader, overlap=1.0):
    theirs = Peer(true, pred, tags=TAGS, loader=loader, min_overlap_percentage=overlap).evaluate()
    ours = Evaluator(true, pred, TAGS, loader, overlap).evaluate()
    assert plain(ours["overall"]) == plain(theirs["overall"])
    assert set(ours["entities"]) == set(theirs["entities"])
    for tag in ours["entities"]:
        assert plain(ours["entities"][tag]) == plain(theirs["entities"][tag])


@pytest.mark.parametrize("overlap", [1.0, 50.0])
@pytest.mark.parametrize("seed", range(6))
def test_tags(seed, overlap):
    assert_same(*random_tags(seed), "list", overlap)


def test_conll():
    gold, pred = random_tags(3)
    texts = ["\n\n".join("\n".join(f"word\t{tag}" for tag in row) for row in side) + "\n\n" for side in (gold, pred)]
    assert_same(*texts, "conll")


def test_dictionaries():
    gold = [[{"label": "PER", "start": 0, "end": 3}, {"label": "LOC", "start": 5, "end": 6}], []]
    pred = [
        [{"label": "PER", "start": 1, "end": 3}, {"label": "ORG", "start": 5, "end": 6}],
        [{"label": "LOC", "start": 0, "end": 0}],
    ]
    assert_same(gold, pred, "dict")


def test_summary():
    gold, pred = random_tags(1)
    assert (
        Evaluator(gold, pred, TAGS, "list").summary_report()
        == Peer(gold, pred, tags=TAGS, loader="list").summary_report()
    )


@pytest.mark.parametrize(
    ("entity", "message"),
    [
        ({"label": "PER", "start": 1.5, "end": 3}, "Entity start and end must be integers"),
        ({"label": "PER", "start": "1", "end": 3}, "Entity start and end must be integers"),
        ({"label": "PER", "start": 1, "end": None}, "Entity start and end must be integers"),
        ({"label": None, "start": 1, "end": 3}, "Entity label must be a string"),
        ({"label": "PER", "start": 1}, "Entity missing required keys"),
        (("PER", 1, 3), "Invalid entity type"),
    ],
)
def test_entities_that_are_refused(entity, message):
    for tool in (Peer, Evaluator):
        with pytest.raises(ValueError, match=message):
            tool([[entity]], [[]], TAGS, loader="dict")


def test_options_that_are_refused():
    for tool in (Peer, Evaluator):
        with pytest.raises(ValueError, match=r"min_overlap_percentage must be between 1.0 and 100.0"):
            tool([["O"]], [["O"]], TAGS, loader="list", min_overlap_percentage=0.5)
        evaluator = tool([["O"]], [["O"]], TAGS, loader="list")
        assert evaluator.summary_report(scenario="of no use here")
        for write in (evaluator.summary_report, evaluator.results_to_csv):
            with pytest.raises(ValueError, match="Invalid mode: must be one of"):
                write(mode="all")
            with pytest.raises(ValueError, match="Invalid scenario: must be one of"):
                write(mode="entities", scenario="loose")


def test_blank_text_is_one_document_and_no_text_none():
    for tool in (Peer, Evaluator):
        with pytest.raises(ValueError, match="Number of predicted documents"):
            tool("\n", "", TAGS, loader="conll")
        assert tool("a\tB-PER", "\n\n", TAGS, loader="conll").evaluate()["overall"]["strict"].missed == 1
