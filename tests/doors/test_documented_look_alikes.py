# SPDX-License-Identifier: Apache-2.0
"""The calls that the tools' documentation shows, with the import alone changed: our data, their numbers and text."""

import warnings

import numpy as np
import pytest

pytestmark = pytest.mark.filterwarnings("ignore")

QRELS = {"q1": {"a": 0, "b": 1, "c": 2}, "q2": {"a": 1, "d": 2}}
RUN = {"q1": {"a": 0.9, "b": 0.5, "x": 0.3}, "q2": {"d": 2.5, "a": 1.5}}


def close(theirs, ours):
    """Equal up to the last digits, whatever holds the numbers."""
    if isinstance(theirs, dict):
        return list(map(str, theirs)) == list(map(str, ours)) and all(
            close(one, other) for one, other in zip(theirs.values(), ours.values(), strict=True)
        )
    if isinstance(theirs, tuple | list):
        return len(theirs) == len(ours) and all(map(close, theirs, ours))
    if theirs is None or isinstance(theirs, str):
        return theirs == ours
    return np.allclose(np.asarray(theirs, float), np.asarray(ours, float), rtol=1e-9, atol=1e-9, equal_nan=True)


MONO = ([0, 1, 2, 2, 2, 0], [0, 0, 2, 2, 1, 0])
WORDS = (["cat", "dog", "pig", "cat", "dog", "pig"], ["cat", "pig", "dog", "cat", "cat", "dog"])
MATRICES = (np.array([[1, 0, 1], [0, 1, 0], [0, 0, 0]]), np.array([[1, 0, 0], [0, 1, 1], [0, 0, 0]]))
SKLEARN = [
    ("classification_report", MONO, {}),
    ("classification_report", MONO, {"target_names": ["class 0", "class 1", "class 2"], "digits": 4}),
    ("classification_report", ([1, 1, 1], [1, 1, 0]), {"labels": [1, 2, 3]}),
    ("classification_report", MONO, {"output_dict": True, "zero_division": np.nan}),
    ("classification_report", MONO, {"output_dict": True, "sample_weight": [1, 2, 0.5, 1, 1, 3]}),
    ("classification_report", MONO, {"labels": [0, 1, 2, 0], "output_dict": True}),
    ("classification_report", ([0, 0], [0, 0]), {"sample_weight": [-1, 1], "zero_division": 1, "output_dict": True}),
    ("classification_report", MATRICES, {"zero_division": 1, "target_names": ["x", "y", "z"]}),
    ("classification_report", MATRICES, {"labels": [0, 2], "output_dict": True}),
    *((f"{name}_score", MONO, {"average": how}) for name in ("precision", "recall", "f1") for how in (None, "micro", "macro", "weighted")),
    ("precision_score", (MONO[0], [0] * 6), {"average": None, "zero_division": np.nan}),
    ("recall_score", MATRICES, {"average": "samples", "zero_division": 1}),
    ("f1_score", ([0, 0], [0, 0]), {"zero_division": 1.0}),
    ("f1_score", (["1", "1"], ["1", "1"]), {}),
    ("f1_score", ([0, 1, 1], [0, 1, 0]), {"pos_label": 0}),
    ("fbeta_score", MONO, {"beta": 0.5, "average": "macro"}),
    ("precision_recall_fscore_support", WORDS, {"average": None, "labels": ["pig", "dog", "cat"]}),
    ("precision_recall_fscore_support", WORDS, {"average": "macro"}),
    ("accuracy_score", MONO, {"normalize": False}),
    ("accuracy_score", MATRICES, {}),
    ("confusion_matrix", WORDS, {"labels": ["pig", "cat"]}),
    ("confusion_matrix", MONO, {"normalize": "true", "sample_weight": [1, 2, 0.5, 1, 1, 3]}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "sides", "named"), SKLEARN, ids=lambda one: one if isinstance(one, str) else "")
def test_sklearn(name, sides, named):
    import sklearn.metrics

    from karat.doors import sklearn as door

    assert close(getattr(sklearn.metrics, name)(*sides, **named), getattr(door, name)(*sides, **named))


def test_sklearn_refuses_as_it_does():
    from karat.doors.sklearn import classification_report, f1_score

    with pytest.raises(ValueError, match="average"):
        f1_score(*MONO)
    with pytest.raises(ValueError, match="target_names"):
        classification_report(*MONO, target_names=["one"])


TAGS = (
    [["O", "B-MISC", "I-MISC", "O"], ["B-PER", "I-PER", "O"]],
    [["B-MISC", "I-MISC", "I-MISC", "O"], ["B-PER", "I-PER", "O"]],
)


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("accuracy_score", {}), ("performance_measure", {}), ("f1_score", {}), ("precision_score", {"average": "macro"}),
        ("recall_score", {"average": None}), ("classification_report", {"digits": 3}),
        ("classification_report", {"mode": "strict", "scheme": "IOB2", "output_dict": True}),
        ("classification_report", {"suffix": True, "sample_weight": [1, 2]}),
    ],
)  # fmt: skip
def test_seqeval(name, named):
    import seqeval.metrics
    import seqeval.scheme

    from karat.doors import seqeval as door

    sides = (
        [[["-".join(reversed(tag.split("-"))) for tag in s] for s in side] for side in TAGS]
        if "suffix" in named
        else TAGS
    )
    schemes = [
        {"scheme": getattr(module, named["scheme"])} if "scheme" in named else {} for module in (seqeval.scheme, door)
    ]
    theirs = getattr(seqeval.metrics, name)(*sides, **named | schemes[0])
    assert close(theirs, getattr(door, name)(*sides, **named | schemes[1]))


def plain(found):
    return {key: plain(one) if isinstance(one, dict) else vars(one) for key, one in sorted(found.items())}


@pytest.mark.parametrize("loader", ["list", "dict", "conll", "default"])
def test_nervaluate(loader):
    from nervaluate.evaluator import Evaluator as Peer

    from karat.doors.nervaluate import Evaluator

    gold = [["O", "B-PER", "I-PER", "O", "B-ORG"], ["B-LOC", "B-PER", "O", "I-PER"]]
    pred = [["O", "O", "B-PER", "O", "B-ORG"], ["B-LOC", "I-LOC", "B-ORG", "O"]]
    sides = [gold, pred]
    if loader == "dict":
        one = [{"label": "PER", "start": 1, "end": 2}, {"label": "ORG", "start": 6, "end": 7}]
        sides = [[one, one], [[one[1] | {"start": 5}], [*one, {"label": "LOC", "start": 9, "end": 9}]]]
    if loader == "conll":
        sides = [
            "\n\n".join("\n".join(f"word\t{tag}" for tag in sentence) for sentence in side) + "\n" for side in sides
        ]
    theirs, ours = (kind(*sides, tags=["PER", "ORG", "LOC"], loader=loader) for kind in (Peer, Evaluator))
    assert plain(ours.evaluate()) == plain(theirs.evaluate())
    assert list(ours.evaluate()["overall"]) == list(theirs.evaluate()["overall"])
    assert ours.summary_report() == theirs.summary_report()
    assert ours.summary_report(mode="entities", scenario="partial") == theirs.summary_report(
        mode="entities", scenario="partial"
    )
    assert ours.results_to_csv().splitlines()[0] == theirs.results_to_csv().splitlines()[0]


def test_pytrec_eval():
    peer = pytest.importorskip("pytrec_eval")
    from karat.doors import pytrec_eval as door

    for measures in ({"map", "ndcg"}, {"map_cut", "ndcg_cut"}, {"P_1,3", "recall.2", "set_F.2", "iprec_at_recall.0.25"},
                     set(door.supported_measures), {"official"} - {"runid"}):  # fmt: skip
        for named in ({}, {"relevance_level": 2}, {"judged_docs_only_flag": True}):
            theirs = peer.RelevanceEvaluator(QRELS, measures, **named).evaluate(RUN)
            ours = door.RelevanceEvaluator(QRELS, measures, **named).evaluate(RUN)
            assert ours.keys() == theirs.keys()
            for query, row in theirs.items():
                row.pop("runid", None)
                assert ours[query] == pytest.approx(row, abs=1e-9), (measures, named)
    assert door.RelevanceEvaluator(QRELS, {"map"}).evaluate({}) == {}
    lines = ["q1 0 a 1\n", "q1 0 b 0\n"], ["q1 Q0 a 1 0.5 me\n"]
    assert door.parse_qrel(lines[0]) == peer.parse_qrel(lines[0])
    assert door.parse_run(lines[1]) == peer.parse_run(lines[1])
    for measure in ("map", "num_rel", "gm_map"):
        numbers = [0.2, 0.7]
        expected = peer.compute_aggregated_measure(measure, numbers)
        assert door.compute_aggregated_measure(measure, numbers) == pytest.approx(expected)
    with pytest.raises(ValueError, match="unsupported measure nope"):
        door.RelevanceEvaluator(QRELS, {"nope"})


def ir_measures_calls(tool, names):
    """What its guide shows, on either module."""
    AP, nDCG, RR, P, Judged = (names[name] for name in ("AP", "nDCG", "RR", "P", "Judged"))
    measures = [AP, nDCG, RR, nDCG @ 10, P(rel=2) @ 10, Judged @ 10]
    rows = [tool.Qrel(query, one, grade) for query, grades in QRELS.items() for one, grade in grades.items()]
    docs = [tool.ScoredDoc(query, one, score) for query, scores in RUN.items() for one, score in scores.items()]
    text = "\n".join(f"{row.query_id} 0 {row.doc_id} {row.relevance}" for row in rows) + "\n"
    evaluator = tool.evaluator(measures, QRELS)
    yield {
        str(key): round(value, 9) for key, value in sorted(tool.calc_aggregate(measures, QRELS, RUN).items(), key=str)
    }
    yield sorted(str(one._replace(value=round(one.value, 9))) for one in tool.iter_calc(measures, rows, iter(docs)))
    yield {
        str(key): round(value, 9) for key, value in sorted(evaluator.calc_aggregate({"q1": RUN["q1"]}).items(), key=str)
    }
    yield [str(one) for one in tool.read_trec_qrels(text)]
    yield round(AP.calc_aggregate(QRELS, RUN), 9), round((nDCG @ 10).calc_aggregate(QRELS, RUN), 9)
    yield [str(one) for one in (P(rel=2) @ 10).iter_calc(QRELS, RUN)]
    yield [
        str(tool.parse_measure(one)) for one in ("AP", "AP(rel=2)", "nDCG@20", "P(rel=2)@10", "NumRelRet", "IPrec@0.1")
    ]
    yield [str(tool.parse_trec_measure(one)) for one in ("map", "P", "P_3,8", "P.3,8", "ndcg_cut_10", "official")]
    yield AP(rel=1) == AP, AP(cutoff=5) == AP @ 5, {AP: 1}[AP(rel=1)]
    yield {
        str(m): round(m.calc_aggregate(QRELS, {"q1": RUN["q1"]}), 9) for m in (names["NumQ"], names["NumRel"], RR @ 2)
    }


def test_ir_measures():
    peer = pytest.importorskip("ir_measures")
    from karat.doors import ir_measures as door

    star: dict = {}
    exec("from karat.doors.ir_measures import *", star)
    assert {"AP", "nDCG", "Qrel", "alpha_nDCG"} <= star.keys()
    for theirs, ours in zip(ir_measures_calls(peer, vars(peer)), ir_measures_calls(door, star), strict=True):
        assert ours == theirs


def test_ir_measures_with_subtopics():
    """The guide's figures for two subtopics; the real tool needs an extra package for them."""
    from karat.doors.ir_measures import Qrel, ScoredDoc, alpha_nDCG, calc_aggregate

    rows = [Qrel("q", "a", 1, iteration="0"), Qrel("q", "a", 1, iteration="1"), Qrel("q", "b", 1, iteration="0")]
    for document, expected in (("a", 0.8637574337885664), ("b", 0.4318787168942832)):
        found = calc_aggregate([alpha_nDCG @ 10], rows, [ScoredDoc("q", document, 1)])
        assert found[alpha_nDCG @ 10] == pytest.approx(expected)


def test_ir_measures_says_what_it_lacks():
    from karat.doors.ir_measures import Accuracy, calc_aggregate

    with pytest.raises(ValueError, match="does not compute ir_measures' Accuracy"):
        calc_aggregate([Accuracy], QRELS, RUN)


@pytest.fixture
def ranx():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("ranx")


def ranx_calls(tool, folder):
    """What its README and reference show, on either module."""
    qrels, run = tool.Qrels(QRELS, name="gold"), tool.Run({query: RUN[query] for query in ("q2", "q1")}, name="bm25")
    yield tool.evaluate(qrels, run, "ndcg@5")
    yield tool.evaluate(qrels, run, ["map@5", "mrr", "precision@2-l2", "rbp.50", "dcg_burges@3"])
    yield run.mean_scores
    yield {name: dict(by) for name, by in run.scores.items()}
    yield list(tool.evaluate(qrels, run, "recall@1", return_mean=False))
    yield tool.evaluate(QRELS, RUN, ["map"], return_std=True)
    qrels.save(str(folder / "qrels.txt"))
    run.save(str(folder / "run.json"))
    yield (folder / "qrels.txt").read_text()
    yield {query: tool.Run.from_file(str(folder / "run.json"))[query] for query in RUN}
    yield tool.evaluate(qrels, tool.Run({"q1": RUN["q1"], "q9": {"a": 1.0}}), "map", make_comparable=True)


@pytest.mark.slow
def test_ranx(ranx, tmp_path):
    from karat.doors import ranx as door

    for theirs, ours in zip(ranx_calls(ranx, tmp_path), ranx_calls(door, tmp_path), strict=True):
        assert close(theirs, ours), (theirs, ours)


@pytest.mark.slow
@pytest.mark.parametrize("test", ["student", "tukey"])
def test_ranx_compare(ranx, test):
    from karat.doors import ranx as door

    draw = np.random.default_rng(5)
    qrels = {f"q{q}": {f"d{d}": int(draw.integers(0, 3)) + (d == 0) for d in range(8)} for q in range(25)}
    runs = [
        {query: {one: float(draw.random() + gain * (grade > 0)) for one, grade in grades.items()} for query, grades in qrels.items()}
        for gain in (0.0, 0.4, 1.0)
    ]  # fmt: skip
    reports = [
        tool.compare(tool.Qrels(qrels), [tool.Run(run, name=f"model_{n}") for n, run in enumerate(runs)],
                     metrics=["map@100", "mrr@100", "ndcg@10"], max_p=0.01, stat_test=test)
        for tool in (ranx, door)
    ]  # fmt: skip
    assert str(reports[1]) == str(reports[0])
    assert close(reports[0].to_dict(), reports[1].to_dict())
    assert close(reports[0].to_dataframe().to_dict("list"), reports[1].to_dataframe().to_dict("list"))
    assert r"\textbf{Model}" in reports[1].to_latex()


def test_ranx_compare_by_randomisation():
    from karat.doors.ranx import compare

    better = {query: {one: float(grade) for one, grade in grades.items()} for query, grades in QRELS.items()}
    report = compare(QRELS, [RUN, better], "map", stat_test="fisher")
    assert report.to_dict()["run_1"]["comparisons"]["run_2"]["map"] == 1.0  # two queries decide nothing
    assert report.to_dict()["run_2"]["win_tie_loss"]["run_1"]["map"] == {"W": 1, "T": 1, "L": 0}
    with pytest.raises(ValueError, match="unknown test"):
        compare(QRELS, [RUN, better], "map", stat_test="sign")
