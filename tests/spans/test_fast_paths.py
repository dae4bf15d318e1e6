"""The fast ways give what the careful ways give."""

import json

import numpy as np
import pytest

import karat
from karat.contexts.spans.matching import overlaps, overlaps_in_turn
from karat.contexts.spans.span import Spans, searched


def random_spans(rng, size, longest):
    start = rng.integers(0, 60, size)
    spans = Spans.of(rng.integers(0, 5, size), start, start + rng.integers(0, longest, size), rng.integers(0, 2, size))
    return spans.in_place()


def rows(pairs):
    return sorted(zip(pairs.gold.tolist(), pairs.pred.tolist(), pairs.common.tolist(), strict=True))


@pytest.mark.parametrize("seed", range(50))
@pytest.mark.parametrize("longest", [1, 4, 30])
def test_overlaps_in_turn(seed, longest):
    rng = np.random.default_rng(seed)
    gold, pred = random_spans(rng, seed, 20), random_spans(rng, 20, longest)
    assert rows(overlaps_in_turn(gold, pred)) == rows(overlaps(gold, pred))


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("seed", range(20))
def test_keys_are_found_where_a_search_finds_them(seed, side):
    rng = np.random.default_rng(seed)
    ahead, keys = np.sort(rng.integers(-9, 9, seed)), rng.integers(-9, 9, 19 - seed)
    for asked in (keys, np.sort(keys)):
        assert searched(ahead, asked, side).tolist() == np.searchsorted(ahead, asked, side).tolist()


SPAN = {"start": 0, "end": 4, "label": "a"}
DOCUMENTS = {
    "flat": {"spans": [SPAN, {"start": 5, "end": 9, "label": "b"}]},
    "no spans": {"spans": []},
    "a triple": {"spans": [[5, 9, "b"]]},
    "a text": {"spans": [SPAN], "text": "abcdefghi"},
    "a test case": {"spans": [SPAN], "test_case": "t"},
    "an end too many": {"spans": [{"start": 3, "end": 3, "label": "a"}]},
    "a fraction": {"spans": [{"start": 0.5, "end": 3, "label": "a"}]},
    "a large number": {"spans": [{"start": 0, "end": 1 << 70, "label": "a"}]},
    "a number as text": {"spans": [{"start": "0", "end": 3, "label": "a"}]},
    "no list": {"spans": "none"},
    "null": {"spans": None},
}


def result(path):
    try:
        found = karat.evaluate(path, path, context="spans", metrics=["f1", "excerpt_f1"], allow_same=True).systems[0]
    except karat.InputError as error:
        return [(f.code, f.line, f.message) for f in error.findings]
    return [s.value for s in found.scores.values()], [(f.code, f.line, f.message) for f in found.findings]


@pytest.mark.parametrize("layout", ["json", "jsonl"])
@pytest.mark.parametrize("other", DOCUMENTS)
def test_documents_alike_are_read_as_any_others(other, layout, tmp_path, monkeypatch):
    records = [{"id": str(i), **document} for i, document in enumerate([DOCUMENTS["flat"], DOCUMENTS[other]])]
    path = tmp_path / f"spans.{layout}"
    path.write_text(json.dumps(records) if layout == "json" else "\n".join(map(json.dumps, records)))
    fast = result(path)
    monkeypatch.setattr("karat.read.fast.ON", False)
    assert fast == result(path)
    monkeypatch.setattr("karat.read.spans._alike", lambda *given: None)
    assert fast == result(path)
