# SPDX-License-Identifier: Apache-2.0
"""How far a record travels: each call from one module into another is a place where a reader has to jump."""

import json
import sys

import karat

MOST = 120


def calls_between_modules(work, first, last):
    """Calls of a module's function by another module, from the first call of one function to that of another."""
    calls, counts = [], []

    def watch(frame, event, _):
        if event != "call" or frame.f_back is None:
            return
        here, there = (f.f_globals.get("__name__", "") for f in (frame, frame.f_back))
        if here != there and here.startswith("karat") and there.startswith("karat"):
            name = frame.f_code.co_name
            counts.append(len(calls)) if name in (first, last) else None
            calls.append(f"{there} → {here}.{name}")

    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls[counts[0] : counts[-1] + 1]


def test_a_file_of_labels_becomes_cells_over_few_borders(tmp_path):
    gold, pred = tmp_path / "gold.json", tmp_path / "pred.json"
    gold.write_text(json.dumps([{"id": str(i), "value": "ABC"[i % 3]} for i in range(100)]))
    pred.write_text(json.dumps([{"id": str(i), "value": "AAC"[i % 3]} for i in range(100)]))
    evaluate = lambda: karat.evaluate(gold, pred, metrics=["accuracy"])
    evaluate()  # what is imported or remembered the first time is no part of the path
    path = calls_between_modules(evaluate, "read_input", "cells_of")
    assert path[0].endswith("read_input")
    assert path[-1] == "karat.engines.memory → karat.contexts.monolabel.context.cells_of"
    assert 60 < len(path) < MOST, "\n".join(path)
