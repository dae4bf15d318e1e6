# SPDX-License-Identifier: Apache-2.0
"""pytrec_eval, ir_measures and ranx: the same calls, the same numbers as the tools themselves."""

import random

import pytest

from karat.doors import ir_measures, pytrec_eval, ranx


def data(seed, ties=True, all_queries=True):
    draw = random.Random(seed)
    qrels = {f"q{q}": {f"d{d}": draw.choice([0, 0, 1, 2]) for d in range(12)} for q in range(6)}
    for grades in qrels.values():
        grades["d0"] = 1
    digits = 1 if ties else 9
    run = {q: {f"d{d}": round(draw.random(), digits) for d in draw.sample(range(20), 14)} for q in qrels}
    if not all_queries:
        del run["q3"]
        run["q9"] = {"d1": 1.0}
    return qrels, run


MEASURES = {"map", "ndcg", "ndcg_cut", "P", "recall_10", "recip_rank", "Rprec", "bpref", "success", "map_cut.3,7", "set_P",
            "num_ret", "num_rel", "num_rel_ret", "iprec_at_recall"}  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("level", [1, 2])
def test_pytrec_eval(seed, level):
    peer = pytest.importorskip("pytrec_eval")
    qrels, run = data(seed, all_queries=False)
    theirs = peer.RelevanceEvaluator(qrels, MEASURES, relevance_level=level).evaluate(run)
    ours = pytrec_eval.RelevanceEvaluator(qrels, MEASURES, relevance_level=level).evaluate(run)
    assert ours.keys() == theirs.keys()
    for query, scores in theirs.items():
        assert ours[query] == pytest.approx(scores, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_ir_measures(seed):
    peer = pytest.importorskip("ir_measures")
    qrels, run = data(seed, all_queries=False)
    names = [
        "AP",
        "nDCG@10",
        "P@5",
        "R@10",
        "RR",
        "Rprec",
        "P(rel=2)@5",
        "AP(rel=2)@7",
        "Success@3",
    ]
    measures = [peer.parse_measure(name) for name in names]
    theirs = peer.calc_aggregate(measures, qrels, run)
    assert ir_measures.calc_aggregate(measures, qrels, run) == pytest.approx(theirs, abs=1e-6)
    rows = [peer.Qrel(q, d, g) for q, grades in qrels.items() for d, g in grades.items()]
    docs = [peer.ScoredDoc(q, d, s) for q, scores in run.items() for d, s in scores.items()]
    assert ir_measures.calc_aggregate(measures, rows, docs) == pytest.approx(theirs, abs=1e-6)
    each = {(one.query_id, one.measure): one.value for one in peer.iter_calc(measures, qrels, run)}
    ours = {(one.query_id, one.measure): one.value for one in ir_measures.iter_calc(measures, qrels, run)}
    assert ours == pytest.approx(each, abs=1e-6)


BY_PROVIDER = [
    "Judged@5", "RR@3", "RBP(rel=1)", "BPM(max_rel=4)@5", "SDCG(max_rel=4)@5", "INST(max_rel=4)", "INSQ(max_rel=4,T=2.0)",
    "NERR8(max_rel=4)@5", "NERR9(max_rel=4)@5", "NERR10(max_rel=4)", "NERR11(max_rel=4)", "alpha_nDCG@5", "ERR_IA@5",
    "NRBP(alpha=0.3)", "nNRBP", "AP_IA", "P_IA@5", "StRecall@5",
]  # fmt: skip


@pytest.mark.parametrize("name", BY_PROVIDER)
def test_ir_measures_orders_ties_as_the_provider(name):
    """cwl_eval keeps the order of the run; pyndeval, Judged and RR@k go by rising ids."""
    peer = pytest.importorskip("ir_measures")
    measure = peer.parse_measure(name)
    for seed in range(5):
        qrels, run = data(seed)
        draw = random.Random(seed)
        rows = [peer.Qrel(q, d, g, draw.choice("12")) for q, grades in qrels.items() for d, g in grades.items()]
        docs = [peer.ScoredDoc(q, d, s) for q, scores in run.items() for d, s in scores.items()]
        theirs = {one.query_id: one.value for one in measure.iter_calc(rows, docs)}
        ours = {one.query_id: one.value for one in ir_measures.iter_calc([measure], rows, docs)}
        assert ours == pytest.approx(theirs, abs=1e-6)


# ranx compiles for minutes: only with the slow tests.
RANX = [
    "map",
    "map@5",
    "mrr",
    "ndcg@10",
    "precision@5",
    "recall@10",
    "hit_rate@3",
    "r-precision",
    "f1@5",
    "rbp.95",
    "ndcg_burges@5",
]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_ranx(seed):
    peer = pytest.importorskip("ranx", reason="ranx compiles for a minute; `make test-full` installs it")
    qrels, run = data(seed, ties=False)
    theirs = peer.evaluate(peer.Qrels(qrels), peer.Run(run), RANX)
    assert ranx.evaluate(qrels, run, RANX) == pytest.approx(theirs, abs=1e-9)
    assert ranx.evaluate(peer.Qrels(qrels), peer.Run(run), "map") == pytest.approx(theirs["map"])
