# SPDX-License-Identifier: Apache-2.0
"""What is rarely given: odd types, empty things, parameters outside their range. Each is read as its plain twin, or said."""

from __future__ import annotations

import json
from collections import OrderedDict, UserDict
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from scipy import sparse

import karat
from karat import values
from karat.read.pages import _list, _whole_numbers

TWO = {"1": "A", "2": "B"}


def refused(gold: Any, pred: Any, **more: Any) -> str:
    with pytest.raises((karat.InputError, karat.MetricError)) as raised:
        karat.evaluate(gold, pred, **more)
    return str(raised.value)


# ---- parameters


@pytest.mark.parametrize(
    ("context", "metric", "said"),
    [
        ("numbers", "quantile_loss(q=1)", "a quantile lies between 0 and 1"),
        ("probabilities", "ece(bins=0)", "there is at least one bin"),
        ("probabilities", "brier_reliability(bins=0)", "there is at least one bin"),
        ("probabilities", "roc_auc(max_fpr=0)", "a false positive rate lies above 0"),
        ("probabilities", "recall_at_precision(precision=0)", "a share lies above 0"),
        ("splitting", "calibration_error(bins=0)", "needs at least 1 bin"),
        ("multilabel", "topk_f1(level=-1)", "levels of a hierarchy count from 0"),
    ],
)
def test_parameters_outside_their_range(context: str, metric: str, said: str) -> None:
    given: dict[str, tuple[Any, Any]] = {
        "numbers": ([1.0, 2.0, 3.0], [1.0, 2.5, 3.0]),
        "probabilities": (["a", "b"], [{"a": 0.6, "b": 0.4}, {"a": 0.1, "b": 0.9}]),
        "splitting": tuple([{"id": "s", "pages": [{"number": 1, "is_first_page": True, "confidence": 0.9}]}] for _ in "gp"),
        "multilabel": ([["a"], ["b"]], [["a"], ["a", "b"]]),
    }  # fmt: skip
    hierarchy = {"hierarchy": {"a": ["b"]}} if "level" in metric else {}
    assert said in refused(*given[context], context=context, metrics=[metric], allow_same=True, **hierarchy)


# ---- scores of one class


def test_one_score_an_item_needs_two_classes() -> None:
    column = np.array([[0.9], [0.2], [0.4]])
    assert "one-score-many-classes" in refused(["a", "b", "c"], column, context="probabilities")
    two = karat.evaluate(["yes", "no", "no"], column, context="probabilities", metrics=["roc_auc"], pos_label="yes")
    assert two["roc_auc"].value == 1.0
    alone = karat.evaluate(["yes", "yes", "yes"], column, context="probabilities", metrics=["accuracy", "roc_auc"])
    assert alone["roc_auc"].value is None


def test_names_of_classes_in_one_text() -> None:
    scores = np.array([[0.9, 0.1], [0.2, 0.8]])
    texts = karat.evaluate(["a", "b"], scores, classes="a, b", metrics=["log_loss"])["log_loss"].value
    assert texts == karat.evaluate(["a", "b"], scores, classes=["a", "b"], metrics=["log_loss"])["log_loss"].value


def test_rows_of_scores_of_other_lengths_are_no_table() -> None:
    assert "labels-not-scores" in refused(["a", "b"], [[0.9, 0.1], [0.8]], context="probabilities")


# ---- things in memory


def test_a_set_has_no_order() -> None:
    assert "a set has no order to pair items by" in refused({"a", "b"}, ["a", "b"])


@pytest.mark.parametrize("kind", ["csr", "coo", "csc"])
def test_sparse_matrices_are_label_sets(kind: str) -> None:
    """Zeros that are written out are no labels, and columns may come before rows."""
    dense = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 0]])
    written = sparse.csr_array(dense).asformat(kind)
    if kind == "csr":
        written.data = written.data.copy()
        written.data[0] = 0
        dense = written.toarray()
    expected = karat.evaluate(dense, np.eye(3, dtype=int), metrics=["f1", "subset_accuracy"], context="multilabel")
    found = karat.evaluate(written, np.eye(3, dtype=int), metrics=["f1", "subset_accuracy"], context="multilabel")
    assert [s.value for s in found.systems[0]] == [s.value for s in expected.systems[0]]


def test_a_matrix_of_other_numbers_is_no_label_set() -> None:
    whole = np.array([[1, 2], [0, 3]])
    found = karat.evaluate(whole, whole, context="multilabel", metrics=["subset_accuracy"], allow_same=True)
    assert found["subset_accuracy"].value == 1.0  # lists of the labels 1, 2 and 0, 3
    assert found.systems[0].cells.classes == ["0", "1", "2", "3"]


class Word(str):
    """A text of somebody's own class."""


@pytest.mark.parametrize(
    ("odd", "plain"),
    [
        ([{"b", "a"}, frozenset({"c"})], [["a", "b"], ["c"]]),
        ([UserDict(a=0.5, b=0.5), OrderedDict(a=1.0)], [{"a": 0.5, "b": 0.5}, {"a": 1.0}]),
        ([Word("a"), Word("b")], ["a", "b"]),
        ([np.array(["a", "b"]), np.array(["c"])], [["a", "b"], ["c"]]),
    ],
    ids=["sets", "mappings", "texts", "arrays"],
)
def test_values_of_other_classes_are_their_plain_twins(odd: list[Any], plain: list[Any]) -> None:
    assert values.plain(odd) == plain
    found, twin = (karat.evaluate(given, plain, allow_same=True) for given in (odd, plain))
    assert [s.value for s in found.systems[0]] == [s.value for s in twin.systems[0]]


def test_kinds_and_flags_of_lists() -> None:
    assert values.kinds_of(values.taken_apart([["a", "b"], None], False)).tolist() == [3, -1]
    assert values.spelt(["a", ["b"], None]).texts() == ["a", None, None]
    assert values.flags([True, "no", ["yes"]]).tolist()[:2] == [1, 0]
    assert values.as_grades(np.array([True, False])).tolist() == [1, 0]


def test_dicts_of_dicts_without_a_document() -> None:
    assert "no-records" in refused({"q": {}}, {"q": {"d": 1.0}}, context="ranking")
    assert "missing-field" in refused({"q": {None: 1}}, {"q": {"d": 1.0}}, context="ranking")
    found = karat.evaluate({1: {7: 1, 8: 0}}, {"1": {"7": 2.0, "8": 1.0}}, metrics=["ndcg"], context="ranking")
    assert found["ndcg"].value == 1.0  # keys that are numbers are spelt as in a file


def test_frames_without_a_row() -> None:
    empty = pandas.DataFrame(
        {"query": pandas.Series([], dtype=str), "document": pandas.Series([], dtype=str), "score": []}
    )
    assert "no-records" in refused(empty, empty, context="ranking")
    assert "no-records" in refused(pandas.DataFrame({"id": [], "label": []}), TWO)


# ---- files


def test_files_of_tags_that_hold_none(tmp_path: Path) -> None:
    path, other = tmp_path / "a.conll", tmp_path / "b.conll"
    other.write_text("Anna B-PER\nran O\n")
    path.write_text("\n\n\n")
    assert "no-records" in refused(path, other, format="conll")
    path.write_text("Anna B-PER\nran O\n")
    assert "cluster-column-missing" in refused(path, other, cluster_by="chapter", intervals=True)
    assert "error[bad-option]" in refused(path, other, columns={"value": "0"})
    path.write_bytes(b"Anna\xe9 B-PER\nran O\n")
    assert "not-utf8" in refused(path, other)


def test_numbers_of_spans_that_are_said_and_wrong(tmp_path: Path) -> None:
    span = {"start": 0, "end": 4, "poem_id": "x"}
    rows = [{"page_id": str(i), "n_excerpts": n, "excerpts": [span]} for i, n in enumerate((1, 2, None))]
    path = tmp_path / "gold.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = karat.validate(path)
    assert [(f.code, f.line) for f in found if f.code == "span-count-differs"] == [("span-count-differs", 2)]


@pytest.mark.parametrize(
    ("given", "numbers"),
    [(None, []), (float("nan"), []), ("1, 4", [1, 4]), ("1 x", [1, -1]), ([1, 4], [1, 4]), (3, [3])],
)
def test_pages_as_numbers(given: Any, numbers: list[int]) -> None:
    assert _whole_numbers(given) == numbers


def test_lists_of_pages_in_a_cell() -> None:
    assert _list("[true, false]") == [True, False]
    assert _list("[true") == "[true"
    assert _list((1, 2)) == [1, 2]
    files = [{"document": "s", "files": [{"first": 1, "last": 2, "category": "letter"}, [3, 4]]}]
    ranges = [{"document": "s", "files": "1-2, 3-4"}]
    assert karat.evaluate(files, ranges, context="splitting", metrics=["f1"])["f1"].value == 1.0


def test_names_that_differ_in_case_alone(tmp_path: Path) -> None:
    path = tmp_path / "gold.json"
    path.write_text(json.dumps([{"id": "1", "Value": "A", "value": "B"}]))
    assert "repeated-column" in refused(path, TWO)


def test_nested_too_deeply(tmp_path: Path) -> None:
    path = tmp_path / "gold.json"
    path.write_text('[{"id": "1", "value": ' + "[" * 100_000 + "]" * 100_000 + "}]")
    assert "nested too deeply" in refused(path, TWO)
