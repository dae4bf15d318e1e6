# SPDX-License-Identifier: Apache-2.0
"""Systems are compared on what they share: a system that left something out is not better than itself."""

from __future__ import annotations

import numpy as np
import pytest
from tests.stats.systems import GOLD, SYSTEMS, N, records

import karat


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Sixty queries of growing difficulty; the partial run answers the twenty easiest as the full one does."""
    folder, rng = tmp_path_factory.mktemp("runs"), np.random.default_rng(3)
    lines: dict[str, list[str]] = {"qrels": [], "full": [], "partial": []}
    for q in range(60):
        grade = rng.integers(0, 2, 12)
        lines["qrels"] += [f"q{q:02} 0 d{d} {grade[d]}" for d in range(12)]
        score = grade + (0.2 + q / 15) * rng.normal(size=12)
        answer = [f"q{q:02} Q0 d{d} 1 {score[d]:.5f} run" for d in range(12)]
        lines["full"] += answer
        lines["partial"] += answer if q < 20 else []
    for name, text in lines.items():
        (folder / name).write_text("\n".join(text) + "\n")
    return folder


@pytest.mark.parametrize("policy", ["undefined", "skip"])
def test_a_run_of_easy_queries_is_not_better_than_itself(runs, policy):
    c = karat.compare(
        runs / "qrels", [runs / "full", runs / "partial"], metrics=["ndcg"], missing_queries=policy, resamples=199
    )
    pair = c.pairs[0]
    assert pair.difference == 0.0
    assert pair.verdict == "inconclusive"
    assert pair.interval.low <= 0 <= pair.interval.high
    assert pair.effect.units == 20
    if policy == "skip":
        assert "common-units" in {f.code for f in c.findings}
        full, partial = (s["ndcg"].value for s in c.evaluation.systems)
        assert full == partial


def test_one_query_can_be_compared(runs, tmp_path):
    for name in ("qrels", "full"):
        lines = (runs / name).read_text().splitlines()
        (tmp_path / name).write_text("\n".join(line for line in lines if line.startswith("q00 ")) + "\n")
    (tmp_path / "other").write_text((tmp_path / "full").read_text())
    c = karat.compare(tmp_path / "qrels", [tmp_path / "full", tmp_path / "other"], metrics=["ndcg"], resamples=199)
    assert c.pairs[0].units == 1
    assert c.pairs[0].verdict == "inconclusive"
    assert c.pairs[0].interval.low < -0.9


def test_a_test_case_without_a_score_is_left_out_of_the_difference():
    """B is A without predictions in one of three test cases, where its precision is undefined."""
    rng, gold, a = np.random.default_rng(1), [], []
    for case, accuracy in (("x", 0.95), ("y", 0.9), ("z", 0.85)):
        for i in range(40):
            label = "AB"[rng.integers(2)]
            gold.append({"test_case": case, "id": f"{i}", "value": label})
            a.append({"test_case": case, "id": f"{i}", "value": label if rng.random() < accuracy else "C"})
    b = [row for row in a if row["test_case"] != "z"]
    c = karat.compare(gold, {"a": a, "b": b}, metrics=["system_precision"], resamples=199)
    pair = c.pairs[0]
    assert pair.difference == 0.0
    assert pair.interval.low < 0 < pair.interval.high
    assert "common-cases" in {f.code for f in c.findings}


def test_skipped_units_are_skipped_on_the_leaderboard_too():
    a, b = records(SYSTEMS["fair"]), records(SYSTEMS["fair"])[: N // 2]
    c = karat.compare(records(GOLD), {"a": a, "b": b}, metrics=["accuracy"], missing="skip", resamples=199)
    first, second = c.leaderboards[c.metrics[0]]
    assert c.pairs[0].difference == 0.0
    assert (first.rank, second.rank) == (1, 1)
    assert first.value == second.value == pytest.approx((SYSTEMS["fair"] == GOLD)[: N // 2].mean())


def test_systems_without_a_common_unit_are_refused():
    a, b = records(SYSTEMS["fair"])[:100], records(SYSTEMS["fair"])[100:]
    with pytest.raises(karat.InputError, match="no unit that every system has"):
        karat.compare(records(GOLD), {"a": a, "b": b}, metrics=["accuracy"], missing="skip", resamples=199)
