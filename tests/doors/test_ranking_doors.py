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


GOLD, HALF = {"q1": {"a": 1}, "q2": {"b": 1, "c": 2}}, {"q1": {"a": 1.0}, "q2": {}}


@pytest.mark.parametrize("run", [HALF, {"q2": {}}, {"q1": {"a": 2.0}}, {"q9": {"a": 1.0}}, {}])
@pytest.mark.parametrize("judged_only", [False, True])
def test_pytrec_eval_scores_a_query_for_which_nothing_was_found(run, judged_only):
    peer = pytest.importorskip("pytrec_eval")
    measures = {*MEASURES, "num_q", "gm_map"} - {"iprec_at_recall"}  # not a number there, see the page
    theirs, ours = (
        tool.RelevanceEvaluator(GOLD, measures, judged_docs_only_flag=judged_only).evaluate(run)
        for tool in (peer, pytrec_eval)
    )
    assert ours.keys() == theirs.keys()
    for query, scores in theirs.items():
        assert ours[query] == pytest.approx(scores, abs=1e-9)
    if run is HALF:
        assert ours["q2"]["map"] == 0.0
        assert ours["q2"]["num_rel"] == 2.0


IN_TWO = [("1", "a", 1, "1"), ("1", "a", 0, "2"), ("1", "b", 1, "1"), ("1", "c", 0, "2"), ("1", "c", 3, "1")]
BY_LAST = ["P@5", "AP", "nDCG@5", "nDCG(gains={1:5,3:1})@5", "RR", "RR@3", "Bpref", "SetF", "NumRel", "infAP", "Judged@5",
           "Compat", "RBP(rel=1)", "INST(max_rel=4)", "alpha_nDCG@5", "StRecall@5"]  # fmt: skip


@pytest.mark.parametrize("name", BY_LAST)
@pytest.mark.parametrize("rows", [IN_TWO, IN_TWO[::-1], [("1", "a", 1, "1"), ("1", "b", 2, "2"), ("1", "c", 3, "1")]])
def test_a_document_in_two_iterations(name, rows):
    """The last judgement counts, but for measures of subtopics and RR@k; gains apply with iterations too."""
    peer = pytest.importorskip("ir_measures")
    docs = [peer.ScoredDoc("1", doc, -rank) for rank, doc in enumerate("axbc")]
    measure = peer.parse_measure(name)
    qrels = [peer.Qrel(*row) for row in rows]
    theirs = measure.calc_aggregate(qrels, docs)
    assert ir_measures.parse_measure(name).calc_aggregate(qrels, docs) == pytest.approx(theirs, abs=1e-6)


def test_a_run_of_other_queries_scores_0():
    peer = pytest.importorskip("ir_measures")
    measures, run = ["AP", "P@5", "NumRel", "NumQ", "alpha_nDCG@5"], [peer.ScoredDoc("9", "a", 1.0)]
    rows = [peer.Qrel(*row) for row in IN_TWO]
    theirs = peer.calc_aggregate([peer.parse_measure(name) for name in measures], rows, run)
    ours = ir_measures.calc_aggregate(measures, rows, run)
    assert ours == {str(measure): value for measure, value in theirs.items()} == dict.fromkeys(measures, 0.0)


@pytest.mark.parametrize("name", ["set_F.0.5", "set_F_2", "set_F", "P.5,10", "iprec_at_recall_0.5"])
def test_trec_names_of_ir_measures(name):
    peer = pytest.importorskip("ir_measures")
    assert list(map(str, ir_measures.parse_trec_measure(name))) == list(map(str, peer.parse_trec_measure(name)))


NEAR = {"d": 0.5, "c": 1.0, "b": 1.00000001, "a": 1.00000002}
"""Scores of which three are one in single precision."""


@pytest.mark.parametrize(
    "name", ["AP", "nDCG@5", "P@2", "RR", "Success@2", "RR@2", "Judged@1", "Compat", "AP_IA", "ERR_IA@2"]
)
def test_scores_are_compared_as_the_provider_does(name):
    """trec_eval compares them in single precision, so that its ties are by id; the others do not."""
    peer = pytest.importorskip("ir_measures")
    qrels = [peer.Qrel("1", doc, grade) for doc, grade in zip("abd", (1, 2, 0), strict=True)]
    docs = [peer.ScoredDoc("1", *one) for one in NEAR.items()]
    theirs = peer.parse_measure(name).calc_aggregate(qrels, docs)
    assert ir_measures.parse_measure(name).calc_aggregate(qrels, docs) == pytest.approx(theirs, abs=1e-6)


def test_the_script_compares_doubles():
    """a (1), b (2), c (0): 1/16 at the first place, 3/16 of the other 15/16 at the second; to trec_eval c is first."""
    measures, gold = ["ERR@5", "RR"], {"1": {"a": 1, "b": 2, "d": 0}}
    scores = ir_measures.calc_aggregate(measures, gold, {"1": NEAR})
    assert scores == pytest.approx({"ERR@5": 1 / 16 + 15 / 16 * 3 / 16 / 2, "RR": 0.5})


@pytest.mark.parametrize("measures", [["alpha_nDCG@5", "AP"], ["NRBP", "P@5"]])
def test_queries_of_a_run_are_no_systems(measures):
    """As many documents for each query as there are queries: a run of subtopics was taken for several systems."""
    peer = pytest.importorskip("ir_measures")
    qrels = [peer.Qrel(q, d, 1, topic) for q in "12" for d in "ab" for topic in "xy"]
    run = [peer.ScoredDoc(q, d, score) for q in "12" for score, d in enumerate("ab")]
    theirs = peer.calc_aggregate([peer.parse_measure(name) for name in measures], qrels, run)
    ours = ir_measures.calc_aggregate(measures, qrels, run)
    assert ours == pytest.approx({str(measure): value for measure, value in theirs.items()}, abs=1e-6)


@pytest.mark.parametrize("data", [None, 3, "1 0 a 1", [("1", "a", 1)], [{"query_id": "1"}]])
def test_what_is_no_ranking_is_refused(data):
    peer = pytest.importorskip("ir_measures")
    run, qrels = [peer.ScoredDoc("1", "a", 1.0)], [peer.Qrel("1", "a", 1)]
    for tool in (peer, ir_measures):
        with pytest.raises(ValueError, match="unknown qrels format"):
            tool.calc_aggregate([tool.AP], data, run)
        with pytest.raises(ValueError, match="unknown run format"):
            tool.calc_aggregate([tool.AP], qrels, data)


def test_a_frame_without_a_column_is_refused():
    peer, pandas = pytest.importorskip("ir_measures"), pytest.importorskip("pandas")
    for tool in (peer, ir_measures):
        with pytest.raises(ValueError, match="unknown qrels format"):
            tool.calc_aggregate([tool.AP], pandas.DataFrame({"query_id": ["1"], "doc_id": ["a"]}), {"1": {"a": 1.0}})


@pytest.mark.parametrize("text", ["P@5@6", "P(5)", "AP(rel=2", ""])
def test_what_is_no_measure_is_refused(text):
    peer = pytest.importorskip("ir_measures")
    for tool in (peer, ir_measures):
        with pytest.raises(ValueError, match="measure"):
            tool.parse_measure(text)


def test_ids_of_queries_are_texts():
    peer = pytest.importorskip("pytrec_eval")
    for tool in (peer, pytrec_eval):
        with pytest.raises(TypeError):
            tool.RelevanceEvaluator({0: {"a": 1}}, {"map"})
    assert ir_measures.calc_aggregate(["AP"], {0: {"a": 1}}, {0: {"a": 1.0}}) == {"AP": 1.0}


@pytest.mark.parametrize(
    ("name", "values"), [("map", []), ("num_q", []), ("gm_map", []), ("num_ret", [1, 2]), ("P_5", [0.5])]
)
@pytest.mark.filterwarnings("ignore")
def test_aggregates_as_there(name, values):
    peer = pytest.importorskip("pytrec_eval")
    theirs = peer.compute_aggregated_measure(name, values)
    assert pytrec_eval.compute_aggregated_measure(name, values) == pytest.approx(theirs, nan_ok=True)


SOME = ("1", "a", 1, "0"), ("1", "b", 2, "0"), ("2", "a", 0, "0"), ("2", "c", 1, "0")
SCORED = ("1", "a", 0.5), ("1", "x", 0.9), ("1", "b", 0.1), ("2", "c", 0.3), ("2", "b", 0.7)


@pytest.mark.parametrize("judged", [SOME, SOME[:2], ()], ids=["all", "one query", "none"])
@pytest.mark.parametrize("ranked", [SCORED, SCORED[:3], ()], ids=["all", "one query", "none"])
@pytest.mark.filterwarnings("ignore")
def test_sides_that_lack_queries(judged, ranked):
    """What ir_measures' own tests ask of its providers: 0 where the run lacks a query, no number without judgements."""
    peer = pytest.importorskip("ir_measures")
    answers = []
    for tool in (peer, ir_measures):
        measures = [tool.parse_measure(name) for name in ("P@5", "AP", "RR@5", "Judged@5", "Compat(p=0.8)")]
        qrels, run = [tool.Qrel(*row) for row in judged], [tool.ScoredDoc(*row) for row in ranked]
        values = {(one.query_id, str(one.measure)): one.value for one in tool.iter_calc(measures, qrels, run)}
        answers.append((values, {str(name): v for name, v in tool.calc_aggregate(measures, qrels, run).items()}))
    for theirs, ours in zip(*answers, strict=True):
        assert ours == pytest.approx(theirs, nan_ok=True)


@pytest.mark.parametrize(
    "measures",
    [
        ["ndcg_cut", "ndcg_cut.1,4", "ndcg_cut_20,4", "ndcg_cut_15", "recall.1000", "P"],
        ["all_trec"],
        ["set"],
        ["official"],
        ["official", "set", "ndcg"],
        [],
    ],
)
def test_names_that_are_printed(measures):
    """What pytrec_eval's own tests ask: the measures that a name means, without the two texts among them."""
    peer = pytest.importorskip("pytrec_eval")
    answers = [tool.RelevanceEvaluator(GOLD, measures).evaluate({"q1": {}, "q2": {}}) for tool in (peer, pytrec_eval)]
    theirs, ours = ({query: set(scores) for query, scores in answer.items()} for answer in answers)
    assert ours == {query: names - {"runid", "relstring"} for query, names in theirs.items()}
