# SPDX-License-Identifier: Apache-2.0
"""What was evaluated is given back at once: cells that name themselves stay until Python's collector comes, and memory fills."""

from __future__ import annotations

import gc
from weakref import ref

import pytest

import karat

LABELS = ["a", "b", "a", "c"], ["a", "a", "b", "c"]
DATA = {
    "monolabel": LABELS,
    "multilabel": ([["a", "b"], ["a"], []], [["a"], ["b"], ["a"]]),
    "soft": ([{"a": 0.3, "b": 0.7}, {"a": 1.0, "b": 0.0}], [{"a": 0.5, "b": 0.5}, {"a": 0.9, "b": 0.1}]),
    "clustering": LABELS,
    "probabilities": ([0, 1, 1, 0], [0.2, 0.9, 0.4, 0.6]),
    "numbers": ([0.1, 0.5, 0.9], [0.2, 0.4, 0.8]),
    "ranking": ({"q": {"a": 1, "b": 0}}, {"q": {"a": 0.5, "b": 0.9}}),
    "spans": ([["B-PER", "O", "B-LOC"]], [["B-PER", "O", "O"]]),
}


@pytest.mark.parametrize("context", DATA)
def test_no_cells_are_left_for_the_collector(context):
    gc.collect()
    gc.disable()
    try:
        evaluation = karat.evaluate(*DATA[context], context=context)
        cells = ref(evaluation.systems[0].cells)
        assert cells() is not None
        del evaluation
        assert cells() is None
    finally:
        gc.enable()
