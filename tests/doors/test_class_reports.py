# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's and seqeval's reports: the same dictionaries and the same text as the tools themselves."""

import random

import numpy as np
import pytest
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
