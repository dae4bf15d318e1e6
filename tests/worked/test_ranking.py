# SPDX-License-Identifier: Apache-2.0
"""The examples in the docstrings of the ranking metrics, computed: the arithmetic is that of the docstring."""

from __future__ import annotations

from math import log, log2, sqrt

import pytest

import karat
from karat.contexts import catalogue


def grades(ranked: str, missed: str = "") -> tuple[dict, dict]:
    """A query whose documents are ranked as written: r relevant, n not, u unjudged, digits grades."""
    gold = {f"d{i}": {"r": 1, "n": 0}.get(c, c) for i, c in enumerate(ranked + missed) if c != "u"}
    run = {f"d{i}": float(len(ranked) - i) for i in range(len(ranked))}
    return {k: int(v) for k, v in gold.items()}, run


def queries(*pairs: tuple[dict, dict]) -> tuple[dict, dict]:
    return {f"q{i}": g for i, (g, _) in enumerate(pairs)}, {f"q{i}": r for i, (_, r) in enumerate(pairs)}


ONE = {
    "precision@3": (grades("rnrn"), 2 / 3),
    "precision": (grades("rnrn"), 2 / 4),
    "recall@3": (grades("rnrn", "rr"), 2 / 4),
    "f@3": (grades("rnrn", "rr"), 2 * (2 / 3) * (1 / 2) / (2 / 3 + 1 / 2)),
    "success@1": (grades("nr"), 0),
    "success@5": (grades("nr"), 1),
    "hits@3": (grades("rnrn"), 2),
    "r_precision": (grades("rnrn"), 1 / 2),
    "reciprocal_rank": (grades("nrr"), 1 / 2),
    "average_precision": (grades("rnr", "r"), (1 + 2 / 3) / 3),
    "bpref": (grades("rnr"), ((1 - 0) + (1 - 1 / 1)) / 2),
    "infap": (grades("rnr"), (1 + (1 / 3 + 2 / 3 * 1 * 1 / 2)) / 2),
    "interpolated_precision(recall=1)": (grades("rnr"), 2 / 3),
    "eleven_point": (grades("rnr"), (6 + 5 * 2 / 3) / 11),
    "mean_rank": (grades("nrr"), (2 + 3) / 2),
    "yaap": (grades("rnr", "r"), log((1 + 5 / 3) / (1 + 3 - 5 / 3))),
    "bin_g": (grades("rnr"), (1 / log2(2) + 1 / log2(3)) / 2),
    "judged@2": (grades("run"), 1 / 2),
    "unjudged@5": (grades("run"), 1 / 5),
    "relative_precision@3": (grades("rnn", "r"), 1 / 2),
    "set_map": (grades("rrnn", "rr"), (2 / 4) * (2 / 4)),
    "utility": (grades("rrnnn"), 2 - 3),
    "num_nonrel_judged_ret": (grades("rnu"), 1),
    "dcg": (grades("201"), 2 + 0 + 1 / 2),
    "ideal_dcg": (grades("12"), 2 + 1 / log2(3)),
    "ndcg": (grades("12"), (1 + 2 / log2(3)) / (2 + 1 / log2(3))),
    "err": (grades("101"), 1 / 2 + (1 / 2) * (1 / 2) / 3),
    "nerr": (grades("01"), (1 / 2 / 2) / (1 / 2)),
    "rbp(p=0.8)": (grades("rnr"), 0.2 * (1 + 0.64)),
    "rbp_residual(p=0.8)": (grades("ru"), 0.2 * 0.8 + 0.8**2),
    "bpm": (grades("nrr"), 1 / 2),
    "sdcg@2": (grades("01"), (1 / log2(3)) / (1 + 1 / log2(3))),
    "insq": (grades("r"), 1 / sum(4 / (i + 1) ** 2 for i in range(1, 1001))),
    "inst": (grades("r"), 1 / sum(1 / i**2 for i in range(1, 1001))),
    "nerr8@2": (grades("12"), (0.5 * 1 + 1 * 0.5) / (1 + 0.5)),
    "nerr9@2": (grades("12"), (0.5 * 1 + 1 * 0.25) / (1 + 0.25)),
    "nerr10": (grades("nr"), 0.9 / 1.9),
    "nerr11": (grades("nr"), (2 / 3) ** 2 / (1 + (2 / 3) ** 2)),
}

SEVERAL = {
    "num_q": (queries(grades("r"), grades("r")), 2),
    "num_ret": (queries(grades("rnn"), grades("nr")), 5),
    "num_rel": (queries(grades("rr"), grades("r")), 3),
    "num_rel_ret": (queries(grades("rnr"), grades("nr")), 3),
    "gm_map": (queries(grades("nnnr"), grades("r")), sqrt(0.25 * 1)),
}


@pytest.mark.parametrize("metric", ONE)
def test_one_query(metric):
    (gold, run), expected = ONE[metric]
    score = karat.evaluate({"q": gold}, {"q": run}, context="ranking", metrics=[metric])[metric]
    assert score.value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("metric", SEVERAL)
def test_several_queries(metric):
    (gold, run), expected = SEVERAL[metric]
    score = karat.evaluate(gold, run, context="ranking", metrics=[metric])[metric]
    assert score.value == pytest.approx(expected, abs=1e-9)


def test_no_metric_is_forgotten():
    elsewhere = {
        "alpha_dcg",
        "alpha_ndcg",
        "err_ia",
        "nerr_ia",
        "nrbp",
        "nnrbp",
        "precision_ia",
        "average_precision_ia",
        "subtopic_recall",
        "compatibility",
    }  # tests/ranking/test_diversity.py
    done = {m.split("@")[0].split("(")[0] for m in (*ONE, *SEVERAL)} | elsewhere
    assert {d.name for d in catalogue("ranking")} - done <= {"g", "gm_bpref", "ndcg_rel", "r_ndcg"}, "against trec_eval"
