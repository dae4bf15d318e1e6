"""Small JSON files whose records are all alike are read in one sweep, and say what the engine reads."""

import json
import random

import numpy as np
import pytest

import karat
from karat.engines.embedded import Embedded
from karat.read import json as reader

LABELS = ["A", "B", "é", "a b", "A:b", 'q"', "😀", "\\"]
VALUES = {
    "label": lambda rng: rng.choice(LABELS),
    "labels": lambda rng: rng.sample(LABELS, rng.randint(0, 3)),
    "weights": lambda rng: {label: rng.choice([0, 1, 0.25, 1e-7]) for label in rng.sample(LABELS, rng.randint(1, 3))},
    "votes": lambda rng: {who: rng.choice(LABELS) for who in rng.sample(["ann1", "ann2", "ann:3"], rng.randint(1, 3))},
}
CONTEXTS = {
    "label": ("monolabel", "multilabel"),
    "labels": ("multilabel", "clustering"),
    "weights": ("soft", "multilabel"),
    "votes": ("soft",),
}
MEANT = [(kind, context) for kind, contexts in CONTEXTS.items() for context in contexts]


def records(kind, rng, rows=30):
    made = [
        {"test_case": rng.choice("tu"), "id": f"i{row}", "text": "so: ½", "value": VALUES[kind](rng)}
        for row in range(rows)
    ]
    rng.shuffle(made)
    return made


def written(path, made, lines):
    path.write_text("\n".join(map(json.dumps, made)) if lines else json.dumps(made, indent=1, ensure_ascii=False))
    return path


def result(gold, pred, **how):
    """Everything that an evaluation says, or the findings that stop it."""
    try:
        found = karat.evaluate(gold, pred, hashes=True, units=True, **how)
    except karat.InputError as error:
        return [(f.code, f.line, f.message) for f in error.findings]
    one = found.systems[0]
    said = [(f.code, f.line, f.message) for f in one.findings]
    scores = {str(m): (s.value, s.by_test_case, s.by_class) for m, s in one.scores.items()}
    hashes = [i["canonical"] for i in found.provenance["inputs"]]
    units = [one.cells.unit.tolist(), list(one.cells.unit_ids), one.cells.n.tolist(), found.texts]
    return scores, said, one.counts, hashes, units


def without_sweep(monkeypatch, *given, **how):
    with monkeypatch.context() as patched:
        patched.setattr(reader, "sweep", lambda *given: None)
        return result(*given, **how)


@pytest.mark.parametrize(("kind", "context"), MEANT)
@pytest.mark.parametrize("lines", [False, True])
@pytest.mark.parametrize("left", ["in order", "shuffled", "some missing", "some more"])
def test_the_same_as_the_engine_reads(kind, context, lines, left, tmp_path, monkeypatch):
    rng = random.Random(f"{kind} {lines} {left}")
    made = records(kind, rng)
    other = [record | {"value": VALUES[kind](rng)} for record in made]
    if left != "in order":
        rng.shuffle(other)
    gold = written(tmp_path / "gold.json", made[: 22 if left == "some more" else 30], lines)
    pred = written(tmp_path / "pred.json", other[: 22 if left == "some missing" else 30], lines)
    assert result(gold, pred, context=context) == without_sweep(monkeypatch, gold, pred, context=context)


ALIKE = '[{"id": "1", "value": {"B": 0.25, "A": 0.75}}, {"id": "2", "value": {"A": 1, "B": 0}}]'
OTHERS = {
    "a label is there twice": ('"A": 1', '"A": 0.5, "A": 1'),
    "a field is there twice": ('{"id": "2"', '{"id": "3", "id": "2"'),
    "a field is there twice, in capitals": ('{"id"', '{"ID": "3", "id"'),
    "a label is missing": (', "B": 0}', "}"),
    "all labels are missing": ('"A": 1, "B": 0', ""),
    "a label is new": ('"A": 1', '"C": 1'),
    "a field is new": ('{"id": "2"', '{"note": "x", "id": "2"'),
    "a field is null": ('"2"', "null"),
    "a number is a text": ('"A": 1', '"A": "1"'),
    "a number is NaN": ('"A": 1', '"A": NaN'),
    "a number is a half": ('"B": 0}', '"B": 0.5}'),
    "an id is a number": ('"2"', "2"),
    "ids are numbers": ('"id": "1"', '"id": -0'),
    "an id is blank": ('"2"', '" "'),
    "an id is there twice": ('"2"', '"1"'),
    "an id has a colon": ('"2"', '"a:2"'),
    "a label is escaped": ('"A"', '"\\u0041"'),
}


@pytest.mark.parametrize("change", [("", ""), *OTHERS.values()], ids=["alike", *OTHERS])
@pytest.mark.parametrize("lines", [False, True])
def test_the_same_is_found(change, lines, tmp_path, monkeypatch):
    text = ALIKE.replace(*change) if change[0] else ALIKE
    path = tmp_path / "weights.json"
    path.write_text(text.strip("[]").replace("}}, ", "}}\n") if lines else text)
    assert result(path, path, context="soft") == without_sweep(monkeypatch, path, path, context="soft")


def test_two_records_on_a_line_are_not_json_lines(tmp_path):
    path = tmp_path / "labels.jsonl"
    path.write_text('{"id": "1", "value": "A"} {"id": "2", "value": "A"}\n')
    assert [f.code for f in karat.validate(path)] == ["bad-json"]


def test_numbers_are_read_to_the_last_bit(tmp_path):
    shares = np.random.default_rng(7).dirichlet(np.ones(3), 500)
    made = [{"id": str(i), "value": dict(zip("XYZ", row, strict=True))} for i, row in enumerate(shares.tolist())]
    path = written(tmp_path / "shares.jsonl", made, True)
    cells = karat.evaluate(path, path, context="soft").systems[0].cells
    assert np.array_equal(cells.aligned.gold.reshape(-1, 3), shares)


@pytest.mark.parametrize(("kind", "context"), [pair for pair in MEANT if pair != ("label", "multilabel")])
def test_whole_evaluations_need_no_engine(kind, context, tmp_path, monkeypatch):
    rng = random.Random(kind)
    made = records(kind, rng)
    gold = written(tmp_path / "gold.json", made, False)
    pred = written(tmp_path / "pred.json", made if context == "multilabel" else rng.sample(made, len(made)), False)
    monkeypatch.setattr(Embedded, "connection", property(lambda self: pytest.fail("the engine was opened")))
    hashes = None if kind == "label" else False
    assert karat.evaluate(gold, pred, context=context, hashes=hashes).systems[0].scores


def test_a_field_without_a_name_is_not_the_value(tmp_path):
    path = tmp_path / "gold.jsonl"
    path.write_text('{"id": "1", "": "A"}\n{"id": "2", "": "B"}\n')
    assert [f.code for f in karat.validate(path)] == ["missing-column"]
