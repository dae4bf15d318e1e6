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
