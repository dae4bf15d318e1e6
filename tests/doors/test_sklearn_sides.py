# SPDX-License-Identifier: Apache-2.0
"""What scikit-learn's functions take for labels and label sets, what they refuse, and what they warn of."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics as peer
from scipy.sparse import csr_array
from sklearn.exceptions import UndefinedMetricWarning

from karat.doors import sklearn as door

GOLD = np.array([0, 1, 2, 2, 1, 0])
PRED = np.array([0, 2, 2, 2, 1, 1])
SETS = np.array([[1, 0, 1], [0, 1, 0]])


@pytest.mark.parametrize("gold", [GOLD, GOLD.reshape(-1, 1), pd.DataFrame({"y": GOLD}), GOLD.tolist()], ids=type)
@pytest.mark.parametrize("pred", [PRED, PRED.reshape(-1, 1), PRED.astype(float)], ids=["vector", "column", "floats"])
def test_a_column_is_a_vector(gold, pred):
    assert door.accuracy_score(gold, pred) == pytest.approx(4 / 6)
    # Class 0: 1 hit of 1 predicted and 2 true, F1 2/3; class 1: 1 of 2 and 2, 1/2; class 2: 2 of 3 and 2, 4/5.
    assert door.f1_score(gold, pred, average="macro") == pytest.approx((2 / 3 + 1 / 2 + 4 / 5) / 3)
    assert door.confusion_matrix(gold, pred).tolist() == [[1, 1, 0], [0, 1, 1], [0, 0, 2]]
    assert list(door.classification_report(gold, pred, output_dict=True))[:3] == ["0", "1", "2"]


REFUSED = {
    "probabilities": ([0, 1, 1], [0.2, 0.9, 0.8], "mix of binary and continuous"),
    "probabilities on both sides": ([0.1, 0.9], [0.2, 0.9], "continuous is not supported"),
    "probabilities against three classes": ([0, 1, 2], [0.5, 1.0, 2.0], "mix of multiclass and continuous"),
    "sets against three classes": ([0, 1, 2], [[1, 0], [0, 1], [1, 1]], "mix of multiclass and multilabel-indicator"),
    "no label against three classes": (["a", "b", "c"], [1, None, 1], "mix of multiclass and unknown"),
    "texts against numbers": (["1", "2"], [1, 2], r"Mix of label input types \(string and number\)"),
    "texts and numbers in one": (np.array(["a", 1], object), ["a", "b"], "y_true"),
    "NaN": ([0, 1, np.nan], [0, 1, 1], "Input y_true contains NaN"),
    "infinity": ([0, 1], [0, np.inf], "Input y_pred contains infinity"),
    "several outputs": ([[1, 2], [0, 3]], [[1, 2], [0, 1]], "multiclass-multioutput is not supported"),
    "sets against labels": (SETS, [0, 1], "mix of multilabel-indicator and binary"),
    "sets of another width": (SETS, SETS[:, :2], "3 true and 2 predicted labels"),
    "lists of labels": ([[1], [2], [0, 1]], [[1], [2], [0, 1]], "indicator matrix"),
    "a row": ([[0, 1]], [0, 1], r"inconsistent numbers of samples: \[1, 2\]"),
    "nothing": ([], [], "empty"),
    "no list": ("ab", "ab", "neither an array nor a list"),
    "objects": (np.array([{}, {}]), [0, 1], "mix of unknown and binary"),
    "three dimensions": (np.zeros((2, 2, 2)), np.zeros((2, 2, 2)), "unknown is not supported"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("name", [name for name in door.__all__ if name != "fbeta_score"])
def test_refused(case, name):
    gold, pred, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        getattr(door, name)(gold, pred)
    with pytest.raises((ValueError, TypeError)):  # of dicts it says that they cannot be hashed
        getattr(peer, name)(gold, pred)


WEIGHTS = {
    "all 0": ([0, 0], "at least one non-zero"),
    "too many": ([1, 1, 1], r"inconsistent numbers of samples: \[2, 2, 3\]"),
    "NaN": ([1, np.nan], "sample_weight contains NaN"),
    "infinity": ([1, np.inf], "sample_weight contains infinity"),
    "complex": ([1j, 1], "Complex data"),
    "two for each": ([[1, 2], [3, 4]], "1D"),
}


@pytest.mark.parametrize("case", WEIGHTS)
@pytest.mark.parametrize("name", [name for name in door.__all__ if name != "fbeta_score"])
def test_weights_that_are_refused(case, name):
    weight, message = WEIGHTS[case]
    with pytest.raises(ValueError, match=message):
        getattr(door, name)([0, 1], [1, 1], sample_weight=weight)


@pytest.mark.parametrize("weight", [["1", "2"], [None, None]])
def test_weights_that_are_no_numbers(weight):
    for tool in (door, peer):
        with pytest.raises(TypeError):
            tool.f1_score([0, 1], [1, 1], sample_weight=weight)


def test_one_weight_for_all_is_refused():
    for tool in (door, peer):
        with pytest.raises(ValueError, match="sample_weight"):
            tool.accuracy_score([1], [1], sample_weight=2)


def test_masked_labels_are_refused():
    masked = np.ma.array([0, 1, 1], mask=[False, True, False])
    for tool in (door, peer):
        with pytest.raises(TypeError, match=r"[Mm]asked"):
            tool.accuracy_score(masked, [0, 1, 1])


def test_moments_against_numbers():
    for tool in (door, peer):
        with pytest.raises(TypeError):
            tool.accuracy_score(np.array(["2020-01-01", "2021-01-01"], "M8[D]"), [0, 1])


@pytest.mark.parametrize("normalize", ["true", "pred", "all", None])
def test_weights_below_0_are_weights(normalize):
    sides, weight = (GOLD, PRED), [-1.0, -2.0, -1.0, -3.0, -1.0, -1.0]
    ours, theirs = (tool.confusion_matrix(*sides, sample_weight=weight, normalize=normalize) for tool in (door, peer))
    assert np.allclose(ours, theirs, rtol=0, atol=1e-12)


def test_support_is_whole_unless_nothing_is_right():
    for pred in ([0, 1], [1, 0]):
        ours, theirs = (tool.precision_recall_fscore_support([0, 1], pred)[3] for tool in (door, peer))
        assert ours.dtype == theirs.dtype
        assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("labels", [[-1, 0], [0, 5], ["a"], [0.5], [], [[0, 1]], "a"])
def test_labels_that_sets_do_not_have(labels):
    with pytest.raises(ValueError, match="label"):
        door.recall_score(SETS, SETS, labels=labels, average="macro")


def test_labels_of_another_type():
    with pytest.raises(ValueError, match="Mix of label input types"):
        door.f1_score([0, 1], [0, 1], labels=["0"], average="macro")


@pytest.mark.parametrize(
    "named",
    [
        {"zero_division": 0.5},
        {"average": "mean"},
        {"beta": -1.0},
        {"beta": float("nan")},
        {"beta": "1"},
        {"pos_label": 7},
        {"labels": "a"},
    ],
)
def test_options_that_are_refused(named):
    with pytest.raises(ValueError, match=next(iter(named))):
        door.precision_recall_fscore_support([0, 1], [1, 1], **{"average": "binary"} | named)


def test_normalize_is_one_of_three():
    with pytest.raises(ValueError, match="normalize"):
        door.confusion_matrix([0, 1], [1, 1], normalize="rows")


def test_sparse_and_nullable_and_object_columns():
    assert door.accuracy_score(csr_array(SETS), SETS) == 1.0
    with pytest.raises(TypeError, match="sparse column"):
        door.accuracy_score(csr_array([[1], [0]]), [1, 0])
    with pytest.raises(TypeError, match="bytes"):
        door.accuracy_score([b"a", b"b"], [b"a", b"b"])
    assert door.accuracy_score(pd.Series([1, 0, 1], dtype="Int64"), [1, 1, 1]) == pytest.approx(2 / 3)
    assert door.accuracy_score(np.array([1, 0, 1], object), [1, 1, 1]) == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match=r"NaN|unknown"):  # pandas before 3 leaves an object
        door.accuracy_score(pd.Series([1, None, 1], dtype="Int64"), [1, 1, 1])


def test_equal_numbers_are_called_as_gold_writes_them():
    assert list(door.classification_report([0, 1], [0.0, 1.0], output_dict=True))[:2] == ["0", "1"]


@pytest.mark.parametrize("average", [None, "binary", "micro", "macro", "weighted"])
def test_beta_without_end_is_recall(average):
    gold, pred = [0, 1, 1], [0, 1, 0]
    recall = door.recall_score(gold, pred, average=average)
    assert np.array_equal(door.fbeta_score(gold, pred, beta=np.inf, average=average), recall)
    assert door.fbeta_score(gold, pred, beta=float("inf")) == 0.5


@pytest.mark.parametrize(
    ("gold", "pred", "named"),
    [
        (["accuracy", "micro avg", "b"], ["accuracy", "b", "b"], {}),
        (["macro avg", "b"], ["macro avg", "b"], {"labels": ["macro avg"]}),
        ([0, 1, 2], [0, 1, 1], {"target_names": ["same", "same", "weighted avg"]}),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_a_class_may_be_called_as_a_row_below(gold, pred, named):
    assert door.classification_report(gold, pred, **named) == peer.classification_report(gold, pred, **named)
    ours, theirs = (tool.classification_report(gold, pred, output_dict=True, **named) for tool in (door, peer))
    assert ours == theirs
    assert list(ours) == list(theirs)


@pytest.mark.parametrize("kind", [bool, np.int32, np.uint64])
def test_whole_weights_keep_a_whole_matrix(kind):
    weight = np.array([1, 3, 0], kind)
    matrix = door.confusion_matrix([0, 1, 1], [0, 1, 0], sample_weight=weight)
    assert matrix.dtype == np.int64
    assert matrix.tolist() == [[1, 0], [0, int(weight[1])]]


def test_whole_weights_are_added_exactly_or_not_at_all():
    large = 2**53 + 1  # the first whole number that a float cannot hold
    assert door.confusion_matrix([0, 1], [0, 1], sample_weight=[large, 1]).tolist() == [[large, 0], [0, 1]]
    with pytest.raises(ValueError, match="64 bits"):
        door.confusion_matrix([0, 1], [0, 1], sample_weight=np.array([2**63 - 1, 2**63 - 1]))
    floats = door.confusion_matrix([0, 1], [0, 1], sample_weight=[0.5, 1])
    assert floats.tolist() == [[0.5, 0.0], [0.0, 1.0]]


def warned(function, *sides, **named):
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        function(*sides, **named)
    return [(one.category, str(one.message)) for one in record]


UNDEFINED = {
    "no prediction of a class": (([0, 1, 2], [1, 1, 2]), {}),
    "no truth of a class": (([1, 1, 2], [0, 1, 2]), {}),
    "neither": (([1, 1], [1, 1]), {"labels": [1, 2]}),
    "all is well": (([0, 1], [1, 0]), {}),
    "weighted away": (([0, 1], [0, 1]), {"sample_weight": [0, 1]}),
    "sets": ((np.array([[1, 0], [0, 0]]), np.array([[0, 0], [1, 0]])), {}),
    "sets weighted away": ((np.eye(2, dtype=int), np.eye(2, dtype=int)), {"sample_weight": [0, 1]}),
}


@pytest.mark.parametrize(
    ("case", "average"),
    [
        *((case, how) for case in UNDEFINED for how in (None, "micro", "macro", "weighted")),
        *((case, "samples") for case in UNDEFINED if "sets" in case),
    ],
)
@pytest.mark.parametrize("zero_division", ["warn", 0])
def test_warnings_are_as_there(case, average, zero_division):
    sides, named = UNDEFINED[case]
    named = {**named, "average": average, "zero_division": zero_division}
    for name in ("precision_recall_fscore_support", "precision_score", "recall_score", "f1_score"):
        ours, theirs = (warned(getattr(tool, name), *sides, **named) for tool in (door, peer))
        assert ours == theirs


def test_warnings_name_the_line_that_called():
    with pytest.warns(UndefinedMetricWarning, match="due to no predicted samples") as record:
        door.precision_score([1, 1], [0, 0])
    with pytest.warns(UserWarning, match="single label") as single:
        door.confusion_matrix([0], [0])
    with pytest.warns(UserWarning, match=r"pos_label \(set to 2\) is ignored") as unused:
        door.f1_score([1, 2], [1, 2], pos_label=2, average="macro")
    with pytest.warns(UserWarning, match="labels size, 1, does not match size of target_names, 2") as names:
        door.classification_report([1, 1], [1, 1], labels=[1], target_names=["a", "b"])
    assert {one.filename for part in (record, single, unused, names) for one in part} == {__file__}
