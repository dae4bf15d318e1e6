"""Small files whose records are all alike are read in one sweep, with the values that the engine reads."""

import json

import numpy as np
import pytest

import karat
from karat.read import json as reader
from karat.read.records import Look

ALIKE = '[{"id": "1", "value": {"B": 0.25, "A": 0.75}}, {"id": "2", "value": {"A": 1, "B": 0}}]'
OTHERS = {
    "a label is there twice": ALIKE.replace('"A": 1', '"A": 0.5, "A": 1'),
    "a field is there twice": ALIKE.replace('{"id": "2"', '{"id": "3", "id": "2"'),
    "a label is missing": ALIKE.replace(', "B": 0}', "}"),
    "a label is new": ALIKE.replace('"A": 1', '"C": 1'),
    "a field is new": ALIKE.replace('{"id": "2"', '{"note": "x", "id": "2"'),
    "a number is a text": ALIKE.replace('"A": 1', '"A": "1"'),
    "an id is a number": ALIKE.replace('"2"', "2"),
    "an id has a colon": ALIKE.replace('"2"', '"a:2"'),
    "a label is escaped": ALIKE.replace('"A"', '"\\u0041"'),
}


def scores(path, monkeypatch=None):
    if monkeypatch:
        monkeypatch.setattr(reader, "look", lambda *given: Look({}))
    found = karat.evaluate(path, path, context="soft", metrics=["mae", "cross_entropy", "accuracy"], hashes=True)
    said = [(f.code, f.line, f.message) for f in found.systems[0].findings]
    return [s.value for s in found.systems[0].scores.values()], said, found.provenance["inputs"][0]["canonical"]


def result(path, monkeypatch=None):
    try:
        return scores(path, monkeypatch)
    except karat.InputError as error:
        return [(f.code, f.line, f.message) for f in error.findings]


@pytest.mark.parametrize("text", [ALIKE, *OTHERS.values()], ids=["alike", *OTHERS])
@pytest.mark.parametrize("lines", [False, True])
def test_the_same_as_the_engine_reads(text, lines, tmp_path, monkeypatch):
    path = tmp_path / "weights.json"
    path.write_text(text.strip("[]").replace("}}, ", "}}\n") if lines else text)
    assert result(path) == result(path, monkeypatch)


def test_numbers_are_read_to_the_last_bit(tmp_path):
    shares = np.random.default_rng(7).dirichlet(np.ones(3), 500)
    records = [{"id": str(i), "value": dict(zip("XYZ", row, strict=True))} for i, row in enumerate(shares.tolist())]
    path = tmp_path / "shares.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    cells = karat.evaluate(path, path, context="soft").systems[0].cells
    assert np.array_equal(cells.aligned.gold.reshape(-1, 3), shares)
