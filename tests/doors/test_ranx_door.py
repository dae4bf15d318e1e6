# SPDX-License-Identifier: Apache-2.0
"""What ranx's own tests ask of it, in other words: its objects, its files, its arrays, its functions."""

import gzip

import numpy as np
import pytest

from karat.doors import ranx
from karat.doors.ranx import Qrels, Run, compare, evaluate, metrics

GRADES = {"q1": {"d1": 1, "d2": 2, "d3": 3}, "q2": {"d1": 1, "d2": 2}}


@pytest.mark.parametrize("kind", [Qrels, Run])
def test_the_data_are_in_the_object(kind):
    one = kind(GRADES, name="mine")
    data = one.qrels if kind is Qrels else one.run
    assert data == one.to_dict() == GRADES
    assert (one.name, one.size, len(one), one.sorted) == ("mine", 2, 2, True)
    assert list(data["q1"]) == ["d3", "d2", "d1"]


@pytest.mark.parametrize("kind", [Qrels, Run])
def test_sorted_says_whether_something_was_added_since(kind):
    one = kind()
    assert one.sorted is False
    one.add_score("q2", "d1", 1)
    one.add_score("q1", "d1", 1)
    one.add_score("q1", "d2", 3)
    assert one.sorted is False
    one.sort()
    assert one.sorted is True
    assert list(one.keys()) == ["q1", "q2"]
    assert list(one["q1"].items()) == [("d2", 3), ("d1", 1)]
    one.add_score("q2", "d2", 3)
    assert one.sorted is False
    one.add_multi(["q0"], [["d1", "d2"]], [[1, 2]])
    assert one.sorted is True
    assert one.get_query_ids() == ["q0", "q1", "q2"]


def test_arrays_of_an_object_score_as_the_object():
    qrels, run = Qrels(GRADES), Run({"q1": {"x": 0.9, "d1": 0.8, "d3": 0.1}, "q2": {"d2": 3.0, "d1": 4.0}})
    arrays = qrels.to_typed_list(), run.to_typed_list()
    assert [one.shape for one in arrays[0]] == [(3, 2), (2, 2)]
    for name in ("ndcg@3", "map", "mrr", "bpref", "rbp.8", "precision@2-l2"):
        assert evaluate(*arrays, name) == evaluate(qrels, run, name)


def test_a_run_as_an_array_is_ranked_as_it_stands():
    """Relevant are 1, 4, 5, 6; of the first five (1, 2, 3, 4, 5) three are."""
    gold = np.array([[[1, 1], [4, 1], [5, 1], [6, 1]]])
    run = np.array([[[1, 1], [2, 1], [3, 1], [4, 1], [5, 7], [7, 1]]])
    assert evaluate(gold, run, "hits@5") == 3
    assert evaluate(gold, run, "precision@5") == pytest.approx(3 / 5)
    assert evaluate(gold, run, "map@6") == pytest.approx((1 + 2 / 4 + 3 / 5) / 4)
    assert evaluate(gold, run, ["hits", "mrr"], return_mean=False)["mrr"].tolist() == [1.0]


def test_lists_of_arrays_of_unlike_lengths():
    gold = [np.array([[1, 1], [2, 1], [3, 1]]), np.array([[4, 1], [5, 1]]), np.array([[8, 1]])]
    run = [np.array([[4, 1], [5, 1], [2, 1], [1, 1]]), np.array([[4, 1], [5, 1]]), np.array([[1, 1], [1, 1], [8, 1]])]
    alone = [evaluate(gold[nth : nth + 1], run[nth : nth + 1], "map") for nth in range(3)]
    assert alone == pytest.approx([(1 / 3 + 2 / 4) / 3, 1.0, 1 / 3])  # a repeated document keeps its places
    assert evaluate(gold, run, "map") == pytest.approx(np.mean(alone))


def test_graded_functions_of_arrays():
    """Grades at ranks 1 to 5: 0, 5, 0, 4, 3; the ideal is 5, 4, 3, 2."""
    gold, run = np.array([[[2, 5], [4, 4], [5, 3], [10, 2]]]), np.array([[[n, 1] for n in (1, 2, 3, 4, 5)]])
    places, log = np.array([2, 4, 5]), lambda rank: np.log2(rank + 1)
    dcg = (np.array([5, 4, 3]) / log(places)).sum()
    ideal = (np.array([5, 4, 3, 2]) / log(np.arange(1, 5))).sum()
    assert metrics.dcg(gold, run, 10) == pytest.approx([dcg])
    assert metrics.ndcg(gold, run, 10) == pytest.approx([dcg / ideal])
    burges = ((2.0 ** np.array([5, 4, 3]) - 1) / log(places)).sum()
    assert metrics.dcg_burges(gold, run, 10) == pytest.approx([burges])
    assert metrics.ndcg_burges(gold, run, 10)[0] < 1
    assert metrics.hits(gold, run, rel_lvl=4) == pytest.approx([2])


def test_functions_of_queries_without_an_answer():
    qrels = Qrels({f"q{n}": {f"d{n}": 1} for n in range(4)}).to_typed_list()
    run = Run({f"q{n}": {f"d{n}": 1.0} if n != 2 else {} for n in range(4)}).to_typed_list()
    for function in (metrics.precision, metrics.recall, metrics.f1, metrics.r_precision, metrics.hit_rate):
        assert function(qrels, run).tolist() == [1, 1, 0, 1]


def test_a_cut_off_is_nothing_to_metrics_of_whole_runs():
    gold, run = {"q": {"a": 1, "b": 0, "c": 1}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    for name in ("bpref", "r-precision"):
        assert evaluate(gold, run, f"{name}@1") == evaluate(gold, run, name) == 0.5


def test_levels_begin_with_1():
    with pytest.raises(ValueError, match="every judged document"):
        evaluate(GRADES, GRADES, "precision@3-l0")


@pytest.mark.parametrize("p", [0.0, 1e-5, 0.05, 0.5, 1.0])
def test_rank_biased_precision_of_every_persistence(p):
    """Relevant are the first and the third of three: (1 - p)(1 + p²)."""
    gold, run = [[[1, 1], [3, 1]]], [[[1, 0.9], [2, 0.8], [3, 0.7]]]
    assert metrics.rank_biased_precision(gold, run, p) == pytest.approx([(1 - p) * (1 + p * p)])


def test_rank_biased_precision_beyond_1_is_refused():
    with pytest.raises(ValueError, match=r"p=1\.5"):
        metrics.rank_biased_precision([[[1, 1]]], [[[1, 0.9]]], 1.5)


def test_rank_biased_precision_by_hand():
    """Relevant at ranks 1, 2, 6, 11, 17: (1 - p) Σ p^(rank - 1)."""
    qrels = Qrels({"q": dict.fromkeys(["d1", "d2", "d6", "d11", "d17"], 1)}).to_typed_list()
    run = Run({"q": {f"d{n}": 21 - n for n in range(1, 21)}}).to_typed_list()
    for p in (0.5, 0.8, 0.95):
        expected = (1 - p) * sum(p ** (rank - 1) for rank in (1, 2, 6, 11, 17))
        assert metrics.rank_biased_precision(qrels, run, p) == pytest.approx([expected])


def test_bpref_by_hand():
    """One of two relevant found, below one of two judged others: (1 - 1/2) / 2."""
    qrels, run = {"q": {"b": 1, "e": 1, "a": 0, "d": 0}}, {"q": {"a": 10, "b": 9, "c": 8, "d": 7}}
    assert metrics.bpref(qrels, run) == pytest.approx([1 / 4])


@pytest.mark.parametrize("kind", [Qrels, Run])
@pytest.mark.parametrize("ending", ["json", "trec", "txt", "parquet", "parq"])
def test_files(tmp_path, kind, ending):
    path = str(tmp_path / f"data.{ending}")
    kind(GRADES, name="tag").save(path)
    read = kind.from_parquet(path) if ending.startswith("parq") else kind.from_file(path)
    assert read.to_dict() == GRADES
    assert read.name == ("tag" if kind is Run and ending in ("trec", "txt") else None)


def test_gzipped_judgements(tmp_path):
    path = tmp_path / "qrels.trec.gz"
    path.write_bytes(gzip.compress(b"q1 0 d1 1\nq1 0 d2 2\n"))
    assert Qrels.from_file(str(path)).to_dict() == {"q1": {"d2": 2, "d1": 1}}


def test_other_endings_are_refused():
    with pytest.raises(AssertionError, match="kind="):
        Run.from_file("run.xyz")


def test_labels_of_tests_are_in_the_table():
    runs = [Run({"q1": {"d1": n, "d3": 1}, "q2": {"d2": 1}}, name=f"model_{n}") for n in (0, 2, 3)]
    for name, label in {"student": "t-test", "fisher": "randomization", "tukey": "HSD"}.items():
        report = compare(Qrels(GRADES), runs, ["map@100", "ndcg@10"], stat_test=name)
        assert label in report.get_stat_test_label(name)
        assert report.get_stat_test_label(name) in report.to_latex()


@pytest.mark.slow
def test_arrays_and_files_of_ranx_itself(tmp_path):
    """Typed lists of ranx's own making, and its LZ4 files, in both directions."""
    peer = pytest.importorskip("ranx", reason="ranx compiles for a minute; `make test-full` installs it")
    scores = {"q1": {"x": 0.9, "d1": 0.8, "d3": 0.1}, "q2": {"d2": 3.0, "d1": 4.0}}
    lists = peer.Qrels(GRADES).to_typed_list(), peer.Run(scores).to_typed_list()
    for name in ("ndcg@3", "map", "mrr", "precision@2-l2", "rbp.8"):
        assert evaluate(*lists, name) == pytest.approx(peer.evaluate(*lists, name))
    path = str(tmp_path / "run.lz4")
    peer.Run(scores).save(path)
    assert Run.from_file(path).to_dict() == scores
    ranx.Run(scores).save(path)
    assert peer.Run.from_file(path).to_dict() == scores


def test_tied_documents_of_dictionaries_keep_their_order():
    """As those of a Run do; ranx turns them round and has no array for a metric with a cut-off."""
    gold, run = {"q": {"d0": 1}}, {"q": dict.fromkeys(["d0", "d1", "d2"], 1.0)}
    assert evaluate(gold, run, "mrr@2", return_mean=False).tolist() == [1.0]
    assert evaluate(Qrels(gold), Run(run), "mrr@2") == 1.0
