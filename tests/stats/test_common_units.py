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
    assert pair.effect.units == pair.units == 20
    assert {"skip": "common-units", "undefined": "common-cases"}[policy] in {f.code for f in c.findings}
    first, second = c.leaderboards[c.metrics[0]]
    assert (first.rank, second.rank) == (1, 1)
    assert first.value == second.value == pair.a_value
    assert first.interval == second.interval


@pytest.mark.parametrize("correction", ["holm", "tukey"])
def test_queries_that_a_run_lacks_are_no_units_of_the_pair(runs, tmp_path, correction):
    """Undefined and skipped queries leave the same sample: the same difference, spread, p and leaderboard."""
    lines = (runs / "partial").read_text().splitlines()
    (tmp_path / "other").write_text(
        "\n".join(x.rsplit(" ", 2)[0] + " 9 run" if " d1 " in x else x for x in lines) + "\n"
    )
    both = [
        karat.compare(
            runs / "qrels", [runs / "full", tmp_path / "other"], metrics=["ndcg", "average_precision"],
            missing_queries=policy, correction=correction, resamples=199,
        )
        for policy in ("undefined", "skip")
    ]  # fmt: skip
    for one, other in zip(both[0].pairs, both[1].pairs, strict=True):
        assert one.units == other.units == 20
        assert one.difference == pytest.approx(other.difference)
        assert (one.interval.low, one.interval.high) == pytest.approx((other.interval.low, other.interval.high))
        assert (one.p, one.mde) == pytest.approx((other.p, other.mde))
        assert one.p_corrected == pytest.approx(other.p_corrected)
    places = [[(p.system, p.value) for p in c.leaderboards[c.metrics[0]]] for c in both]
    assert places[0] == places[1]


def test_three_runs_that_answer_other_queries_stand_on_those_that_all_answer(runs, tmp_path):
    lines = (runs / "full").read_text().splitlines()
    for name, kept in (("even", 0), ("late", 10)):
        own = [x for x in lines if (int(x[1:3]) % 2 == 0 if not kept else int(x[1:3]) >= kept)]
        (tmp_path / name).write_text("\n".join(own) + "\n")
    systems = [runs / "full", tmp_path / "even", tmp_path / "late"]
    c = karat.compare(runs / "qrels", systems, metrics=["ndcg"], missing_queries="undefined", resamples=199)
    assert {frozenset((p.a, p.b)): p.units for p in c.pairs} == {
        frozenset(("full", "even")): 30, frozenset(("full", "late")): 50, frozenset(("even", "late")): 25
    }  # fmt: skip
    places = c.leaderboards[c.metrics[0]]
    assert {p.rank for p in places} == {1}
    assert len({round(p.value, 12) for p in places}) == 1
    assert [p.difference for p in c.pairs] == [0.0] * 3
    assert c.disagreements("even", "late") == []


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
    assert pair.units == 80
    first, second = c.leaderboards[c.metrics[0]]
    assert (first.rank, second.rank) == (1, 1)
    assert first.value == second.value


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


def test_as_many_units_are_not_the_same_units():
    gold = {str(n): "AB"[n % 2] for n in range(40)}
    systems = {name: {i: v for i, v in gold.items() if i != lost} for name, lost in (("a", "1"), ("b", "2"))}
    c = karat.compare(gold, systems, metrics=["accuracy"], missing="skip")
    assert [(f.facts["count"], f.facts["total"]) for f in c.own_findings if f.code == "common-units"] == [(38, 40)]


def test_bundles_that_lost_pages_are_no_units_of_the_pair():
    """B is A without the last page of some bundles and without others; what is left out is left out for both."""
    rng = np.random.default_rng(2)
    page = lambda number, first: {"number": number, "is_first_page": bool(first)}
    gold = [
        {"document_id": f"b{i}", "pages": [page(j + 1, j == 0 or rng.random() < 0.3) for j in range(4 + i % 3)]}
        for i in range(30)
    ]
    a = [
        x | {"pages": [p | {"is_first_page": p["is_first_page"] ^ (rng.random() < 0.2)} for p in x["pages"]]}
        for x in gold
    ]
    b = [x | {"pages": x["pages"][: -1 if i % 5 == 0 else None]} for i, x in enumerate(a[:27])]
    metrics = ["f1", "tp", "pk", "straight_through"]
    c = karat.compare(gold, {"a": a, "b": b}, metrics=metrics, missing_pages="truncate", resamples=199, draws=99)
    assert {p.difference for p in c.pairs} == {0.0}
    assert {p.units for p in c.pairs} == {21}
    said = next(f for f in c.own_findings if f.code == "common-units")
    assert (said.facts["count"], said.facts["total"], said.facts["shown"]) == (21, 30, "b lacks 9")
    assert all({place.rank for place in board} == {1} for board in c.leaderboards.values())
    short = [x | {"pages": x["pages"][:-1]} for x in a]
    same = karat.compare(gold, {"a": short, "b": short}, metrics=["f1"], missing_pages="truncate", resamples=199)
    assert same.pairs[0].units == 30


def test_queries_that_a_run_lacks_have_no_part_in_what_is_summed_over_queries(runs):
    """Counts of documents and geometric means are no means of queries, but of the same queries all the same."""
    metrics = ["num_rel_ret", "num_nonrel_judged_ret", "gm_map", "gm_bpref"]
    c = karat.compare(
        runs / "qrels", [runs / "full", runs / "partial"], metrics=metrics, missing_queries="undefined", resamples=199
    )
    assert [p.difference for p in c.pairs] == [0.0] * 4
    assert {p.units for p in c.pairs} == {20}
    assert all({place.rank for place in board} == {1} for board in c.leaderboards.values())


def test_queries_that_one_metric_lacks_are_left_out_of_that_metric_alone():
    """Where nothing relevant is found there is no mean rank: three queries of one run, of which the other metric has scores."""
    gold = {f"q{i}": {"a": 1, "b": 0} for i in range(12)}
    first = {q: {"a": 0.9, "b": 0.1 + 0.05 * i} for i, q in enumerate(gold)}
    second = {q: {"b": 0.9} if q in ("q1", "q2", "q6") else {"b": 0.9, "a": 0.5} for q in gold}
    metrics = ["mean_rank", "average_precision"]
    c = karat.compare(gold, {"x": first, "y": second}, context="ranking", metrics=metrics, resamples=199)
    assert [p.units for p in c.pairs] == [9, 12]


def test_information_is_that_of_the_common_units():
    """How common soft labels are is a fact of gold: of the gold that both systems are compared on."""
    rng = np.random.default_rng(5)
    rows = lambda law, of: [
        {"id": str(i), "value": dict(zip("AB", (round(p, 3), round(1 - p, 3)), strict=True))}
        for i, p in enumerate(law)
        if of(i)
    ]
    gold, guess = rng.beta(1, 2, 40), rng.beta(1, 1, 40)
    whole, part = rows(guess, lambda i: True), rows(guess, lambda i: i % 4)
    c = karat.compare(
        rows(gold, lambda i: True), {"a": whole, "b": part}, context="soft", metrics=["icm_soft", "icm_soft_norm"],
        missing="skip", resamples=199,
    )  # fmt: skip
    assert [p.difference for p in c.pairs] == [0.0, 0.0]


def test_a_metric_that_has_nothing_to_count_stands_beside_others():
    """Distances of numbers are undefined for labels without an order; whatever comes before it is compared."""
    gold = [{"id": str(i), "value": {"A": 0.3, "B": 0.7}} for i in range(12)]
    a, b = ([{"id": str(i), "value": {"A": p, "B": 1 - p}} for i in range(12)] for p in (0.25, 0.75))
    metrics = ["cross_entropy", "js_divergence", "wasserstein"]
    c = karat.compare(gold, {"a": a, "b": b}, context="soft", metrics=metrics, resamples=199, draws=99)
    assert [p.verdict for p in c.pairs[:2]] == ["better"] * 2
    assert c.pairs[2].verdict == "undefined"
