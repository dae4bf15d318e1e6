"""The numbers of ir_measures and ranx where they define a measure and no tie decides."""

from __future__ import annotations

import random
import shutil

import ir_measures
import pytest

import karat
from karat.doors import ranx as door

IR_MEASURES = {
    "AP": "average_precision", "AP@5": "average_precision@5", "AP(rel=2)": "average_precision(rel=2)", "nDCG": "ndcg",
    "nDCG@5": "ndcg@5", "P@5": "precision@5", "P(rel=2)@5": "precision(rel=2)@5", "R@5": "recall@5", "RR": "reciprocal_rank",
    "RR@3": "reciprocal_rank@3", "Rprec": "r_precision", "Bpref": "bpref", "infAP": "infap", "Success@3": "success@3",
    "SetP": "precision", "SetR": "recall", "SetF": "f", "SetAP": "set_map", "Judged@5": "judged@5", "Compat(p=0.8)": "compatibility(p=0.8)",
    "Compat(p=0.95)": "compatibility", "IPrec@0.5": "interpolated_precision(recall=0.5)", "nDCG(judged_only=True)@5": "ndcg(judged_only=true)@5",
    "RBP(rel=1)": "rbp", "RBP(rel=2,p=0.5)": "rbp(rel=2,p=0.5)", "BPM(max_rel=3)@5": "bpm@5", "BPM(max_rel=4,T=2.0)@9": "bpm(max_grade=4,T=2)@9",
    "SDCG(max_rel=3)@5": "sdcg@5", "SDCG(max_rel=3,min_rel=1)@9": "sdcg(min_grade=1)@9", "INST(max_rel=3)": "inst", "INST(max_rel=4,T=3.0)": "inst(max_grade=4,T=3)",
    "INSQ(max_rel=3)": "insq", "INSQ(max_rel=2,T=0.5)": "insq(max_grade=2,T=0.5)", "NERR8(max_rel=3)@5": "nerr8@5", "NERR9(max_rel=3)@5": "nerr9@5",
    "NERR10(max_rel=4,p=0.7)": "nerr10(max_grade=4,p=0.7)", "NERR11(max_rel=3,T=2.0)": "nerr11(T=2)",
}  # fmt: skip
"""RBP and the last four lines come from cwl_eval."""
RANX = {
    "hits@5": "hits@5", "hit_rate@5": "success@5", "precision@5": "precision@5", "recall@5": "recall@5", "f1@5": "f@5",
    "r-precision": "r_precision", "mrr@5": "reciprocal_rank@5", "map@5": "average_precision@5", "dcg@5": "dcg@5",
    "map@5-l2": "map@5-l2", "map-l3": "map-l3", "precision@5-l2": "precision@5-l2", "recall@5-l2": "recall@5-l2", "f1@5-l2": "f1@5-l2",
    "mrr@5-l2": "mrr@5-l2", "r-precision-l2": "r-precision-l2", "hits@5-l2": "hits@5-l2", "hit_rate@5-l3": "hit_rate@5-l3",
    "dcg_burges@5": "dcg(gain=exponential)@5", "ndcg@5": "ndcg@5", "ndcg_burges@5": "ndcg(gain=exponential)@5", "ndcg": "ndcg",
}  # fmt: skip


def collection(seed: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """No ties, every query in both, at least one relevant document."""
    rng = random.Random(seed)
    pool = [f"d{i}" for i in range(30)]
    queries = [f"q{i}" for i in range(6)]
    qrels = {q: {d: rng.choice((0, 0, 1, 2, 3)) for d in rng.sample(pool, 15)} | {"d0": 1} for q in queries}
    scores = list(range(1, 500))
    run = {q: {d: float(s) for d, s in zip(rng.sample(pool, 20), rng.sample(scores, 20), strict=True)} for q in queries}
    return qrels, run


def scored(seed: int, metrics: list[str]) -> tuple[dict, dict, karat.Evaluation]:
    qrels, run = collection(seed)
    return qrels, run, karat.evaluate(qrels, run, context="ranking", metrics=metrics)


@pytest.mark.parametrize("seed", range(5))
def test_ir_measures(seed: int) -> None:
    qrels, run, evaluation = scored(seed, list(IR_MEASURES.values()))
    measures = {ir_measures.parse_measure(m): ours for m, ours in IR_MEASURES.items()}
    for value in ir_measures.iter_calc(list(measures), qrels, run):
        got = evaluation[measures[value.measure]].by_test_case[value.query_id].value
        assert got == pytest.approx(value.value, abs=1e-9), value.measure


@pytest.mark.skipif(not shutil.which("perl"), reason="gdeval, which ir_measures asks for ERR, is a Perl script")
def test_gdeval() -> None:
    """It prints five decimals, scales to grade 4, and takes whole numbers for queries only."""
    qrels, run = ({q[1:]: documents for q, documents in side.items()} for side in collection(1))
    names = {
        "ERR@5": "err(max_grade=4)@5",
        "ERR@20": "err(max_grade=4)@20",
        "nDCG(dcg='exp-log2')@5": "nDCG(dcg='exp-log2')@5",
    }
    evaluation = karat.evaluate(qrels, run, context="ranking", metrics=list(names.values()))
    measures = {ir_measures.parse_measure(m): ours for m, ours in names.items()}
    found = list(ir_measures.iter_calc(list(measures), qrels, run))
    assert len(found) == 3 * len(qrels)
    for value in found:
        got = evaluation[measures[value.measure]].by_test_case[value.query_id].value
        assert got == pytest.approx(value.value, abs=5.01e-6), value.measure


@pytest.mark.slow
def test_ranx() -> None:
    ranx = pytest.importorskip("ranx", reason="ranx compiles for a minute; `make test-full` installs it")
    for seed in range(3):
        qrels, run, evaluation = scored(seed, list(RANX.values()))
        found = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), list(RANX), make_comparable=True)
        for theirs, ours in RANX.items():
            assert evaluation[ours].value == pytest.approx(found[theirs], abs=1e-9), theirs


def test_spellings() -> None:
    """Other tools' names mean karat's metrics."""
    same = {"nDCG@10": "ndcg@10", "P(rel=2)@5": "precision(rel=2)@5", "map_cut_10": "average_precision@10", "map_cut.10": "average_precision@10",
            "recip_rank": "reciprocal_rank", "AP": "average_precision", "MAP": "average_precision", "P_10": "precision@10",
            "ndcg_cut_5": "ndcg@5", "rbp.95": "rbp(p=0.95)", "rbp_0.9": "rbp(p=0.9)",
            "Rprec_mult_0.20": "r_precision(multiple=0.2)", "RPrec": "r_precision",
            "BPref": "bpref", "GMAP": "gm_map", "mAP@5": "average_precision@5", "IPrec(recall=0.1)": "interpolated_precision(recall=0.1)",
            "α_nDCG@5": "alpha_ndcg@5", "NumRet(rel=2)": "num_rel_ret(rel=2)", "NumRelRet": "num_rel_ret", "NumRet": "num_ret",
            "SetRelP": "relative_precision", "SetP(relative=True)": "relative_precision", "SetP": "precision", "Hits@1": "hits@1",
            "nDCG(dcg='exp-log2')@5": "ndcg(gain=exponential)@5", "nDCG(cutoff=5)": "ndcg@5", "BPM(max_rel=4)@5": "bpm(max_grade=4)@5",
            "map@100-l2": "average_precision(rel=2)@100", "map-l2": "average_precision(rel=2)", "precision@5-l3": "precision(rel=3)@5",
            "r-precision-l2": "r_precision(rel=2)", "hit_rate@1-l2": "success(rel=2)@1", "mrr@5-l2": "reciprocal_rank(rel=2)@5",
            "ndcg@10-l1": "ndcg@10", "PrecisionAtK": "precision@10", "PrecisionAtK@5": "precision@5",
            "NERR11(T=2.0)": "nerr11(T=2.0)", "NRBP": "nrbp", "MAP_IA": "average_precision_ia"}  # fmt: skip
    for theirs, ours in same.items():
        assert karat.parse(theirs) == karat.parse(ours), theirs


def test_levels_of_ranx_are_relevance() -> None:
    """ranx's numbers where it is installed (`test_ranx`), and its door's, which are held to its vectors, everywhere."""
    qrels, run = collection(0)
    names = [
        f"{name}{cut}-l{level}" for level in (2, 3) for name in LEVELS for cut in ("", "@5") if (name, cut) not in WHOLE
    ]
    ours = karat.evaluate(qrels, run, context="ranking", metrics=names, ties="order")
    theirs = door.evaluate(qrels, run, names, make_comparable=True)
    assert {name: ours[name].value for name in names} == pytest.approx(theirs)


LEVELS = ("map", "precision", "recall", "f1", "mrr", "r-precision", "hits", "hit_rate", "bpref")
WHOLE = (("r-precision", "@5"), ("bpref", "@5"))


@pytest.mark.parametrize("name", ["ndcg@10-l2", "dcg-l2", "rbp.8-l2", "map-l0", "map@5-l", "map-l2-l2"])
def test_levels_that_would_mean_something_else_are_refused(name: str) -> None:
    """The gains of nDCG are not what is relevant, ranx's rbp sums raw grades, and at level 0 all is relevant."""
    with pytest.raises(karat.MetricError):
        karat.evaluate(*collection(0), context="ranking", metrics=[name])


def test_spellings_of_several_metrics() -> None:
    """trec_eval's ndcg_cut is nDCG at nine cutoffs; ranx's f1 is F of a ranking."""
    qrels, run = collection(0)
    many = karat.evaluate(qrels, run, context="ranking", metrics=["ndcg_cut", "f1@5"])
    assert many["ndcg@15"].value == many["ndcg_cut_15"].value
    assert list(map(str, many.systems[0].scores))[-2:] == ["ndcg@1000", "f@5"]
