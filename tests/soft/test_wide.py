# SPDX-License-Identifier: Apache-2.0
"""Weights in a column for each label, in gold and in predictions, whether the context is named or told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import karat

GOLD = {"id": ["1", "2", "3"], "ok": [0.5, 0.25, 1.0], "toxic": [0.5, 0.75, 0.0]}
PRED = {"id": ["1", "2", "3"], "ok": [0.25, 0.25, 0.5], "toxic": [0.75, 0.75, 0.5]}
AS_OBJECTS = [
    {i: {"ok": ok, "toxic": toxic} for i, ok, toxic in zip(*side.values(), strict=True)} for side in (GOLD, PRED)
]


def table(path: Path, side: dict[str, list[Any]], key: str = "id") -> str:
    rows = zip(*side.values(), strict=True)
    path.write_text("\n".join([",".join([key, *list(side)[1:]]), *(",".join(map(str, row)) for row in rows)]) + "\n")
    return str(path)


@pytest.mark.parametrize("context", [None, "soft"])
def test_shares_side_by_side_are_weights(context: str | None, tmp_path: Path) -> None:
    expected = karat.evaluate(*AS_OBJECTS, context="soft")
    files = table(tmp_path / "gold.csv", GOLD), table(tmp_path / "pred.csv", PRED)
    for gold, pred in ((GOLD, PRED), files):
        found = karat.evaluate(gold, pred, context=context)
        assert found.context == "soft"
        assert [s.value for s in found] == [s.value for s in expected]


@pytest.mark.parametrize("context", [None, "soft"])
def test_votes_against_weights_side_by_side(context: str | None, tmp_path: Path) -> None:
    votes = {"comment": ["1", "1", "2", "3"], "annotator": list("abab"), "label": ["ok", "toxic", "toxic", "ok"]}
    gold = table(tmp_path / "votes.csv", votes, "comment")
    pred = table(tmp_path / "pred.csv", PRED, "comment")
    found = karat.evaluate(gold, pred, context=context, metrics=["mae"], columns={"id": "comment"})
    assert found["mae"].value == pytest.approx((0.25 + 0.25 + 0.5) / 3)  # Σ_c |g_c − p_c| / 2 labels


@pytest.mark.parametrize("last", [[1, 0, 1], [0.5, 0.75, 0.5], [-0.5, 0.75, 0.0]])
def test_numbers_that_are_no_shares_are_not_taken_for_weights(last: list[float], tmp_path: Path) -> None:
    """Zeros and ones may be labels of annotators, and what does not add up may be anything."""
    ok = [0, 1, 0] if last == [1, 0, 1] else GOLD["ok"]
    gold = table(tmp_path / "gold.csv", {**GOLD, "ok": ok, "toxic": last})
    with pytest.raises(karat.InputError, match="no column for the value"):
        karat.evaluate(gold, AS_OBJECTS[1])


@pytest.mark.parametrize("context", [None, "soft", "probabilities"])
def test_a_named_id_that_is_not_there_is_an_error_beside_scores_too(context: str | None, tmp_path: Path) -> None:
    """It was passed over, and rows were paired by their order."""
    gold = table(tmp_path / "gold.csv", {"id": ["2", "1", "3"], "label": ["ok", "toxic", "ok"]})
    pred = table(tmp_path / "pred.csv", PRED, "number")
    with pytest.raises(karat.InputError, match="no column for the id"):
        karat.evaluate(gold, pred, context=context, columns={"pred_id": "doc"})
    votes = table(
        tmp_path / "votes.csv", {"number": ["2", "1"], "ann1": ["ok", "ok"], "ann2": ["toxic", "ok"]}, "number"
    )
    with pytest.raises(karat.InputError, match="no column for the id"):
        karat.evaluate(votes, AS_OBJECTS[1], context="soft", columns={"gold_id": "doc"})
