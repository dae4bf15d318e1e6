# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's and seqeval's reports: the same dictionaries and the same text as the tools themselves."""

import random
import warnings

import numpy as np
import pytest
from seqeval import metrics as seqeval_metrics
from seqeval.metrics import classification_report as seqeval_report
from seqeval.scheme import IOB2
from sklearn.metrics import classification_report as sklearn_report

from karat.doors import seqeval, sklearn
from tests.spans.vectors import random_tags


def flat(report):
    return {
        (name, key): value
        for name, row in report.items()
        for key, value in (row.items() if isinstance(row, dict) else [("", row)])
    }


@pytest.mark.parametrize("labels", [["a", "b", "c"], [0, 1, 2, 10], ["x"]])
def test_sklearn(labels):
    draw = random.Random(len(labels))
    gold, pred = (draw.choices(labels, k=60) for _ in range(2))
    theirs = sklearn_report(gold, pred, output_dict=True, zero_division=0)
    assert flat(sklearn.classification_report(gold, pred, output_dict=True)) == pytest.approx(flat(theirs), abs=1e-12)
    assert sklearn.classification_report(gold, pred) == sklearn_report(gold, pred, zero_division=0)
    assert list(sklearn.classification_report(gold, pred, output_dict=True)) == list(theirs)


def test_sklearn_label_sets_and_names():
    draw = np.random.default_rng(0)
    gold, pred = (draw.integers(0, 2, (40, 5)) for _ in range(2))
    names = ["v", "w", "x", "y", "z"]
    expected = sklearn_report(gold, pred, zero_division=0, digits=4, target_names=names)
    assert sklearn.classification_report(gold, pred, digits=4, target_names=names) == expected


@pytest.mark.parametrize("seed", range(5))
def test_seqeval(seed):
    gold, pred = random_tags(seed)
    theirs = seqeval_report(gold, pred, output_dict=True, zero_division=0)
    assert flat(seqeval.classification_report(gold, pred, output_dict=True)) == pytest.approx(flat(theirs), abs=1e-12)
    assert seqeval.classification_report(gold, pred, digits=3) == seqeval_report(gold, pred, digits=3, zero_division=0)
    strict = seqeval_report(gold, pred, output_dict=True, zero_division=0, mode="strict", scheme=IOB2)
    ours = seqeval.classification_report(gold, pred, output_dict=True, mode="strict", scheme=IOB2)
    assert flat(ours) == pytest.approx(flat(strict), abs=1e-12)


@pytest.mark.parametrize(
    ("gold", "pred"),
    [
        ([["L-", "I-", "I-"]], [["L-", "I-", "I-"]]),
        ([["O", "L-", "I-"]], [["U-", "L-", "I-"]]),  # nothing starts in gold, so both begin at the first token
        ([["O"], ["U-", "I-", "B-X"]], [["O"], ["I-", "I-", "B-X"]]),
        ([["B-X", "O", "L-", "I-"]], [["B-X", "U", "I-_", "E-"]]),  # the label is that of the end
    ],
)
def test_seqeval_tags_without_a_type(gold, pred):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = seqeval_report(gold, pred, output_dict=True, zero_division=0)
    assert flat(seqeval.classification_report(gold, pred, output_dict=True)) == pytest.approx(flat(theirs), abs=1e-12)


@pytest.mark.parametrize("zero_division", [0, 1, "warn"])
@pytest.mark.parametrize("pred", [["O", "O"], ["B-PER", "O"]])
@pytest.mark.parametrize("name", ["precision_score", "recall_score", "f1_score"])
def test_seqeval_weighted_without_entities_in_gold(name, pred, zero_division):
    given = {"average": "weighted", "zero_division": zero_division}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, expected = (getattr(tool, name)([["O", "O"]], [pred], **given) for tool in (seqeval, seqeval_metrics))
    assert found == expected


def test_tags_of_other_lengths_are_refused():
    with pytest.raises(ValueError, match="sentence 1 has 1 true and 2 predicted tags"):
        seqeval.accuracy_score([["O"]], [["O", "O"]])


def test_sklearn_at_its_edges():
    labels = ["a", "b"], ["b", "a"]  # nothing is right: the supports are printed as floats
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert sklearn.classification_report(*labels) == sklearn_report(*labels)
    assert sklearn.fbeta_score([0, 1, 1], [1, 1, 0], beta=0) == 0.5  # precision alone
    with pytest.raises(ValueError, match="needs label sets"):
        sklearn.f1_score([0, 1], [1, 1], average="samples")
    with pytest.raises(ValueError, match="empty"):
        sklearn.accuracy_score([], [])
