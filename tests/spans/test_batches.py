"""One batch is several batches, to the last bit, for spans, nested entities, tags and excerpts."""

import random

import numpy as np
import pytest

import karat
from karat.align import Aligned, meet
from karat.contexts.spans import context
from karat.plan import make_plan
from karat.read.memory import read_memory
from karat.read.table import Read
from karat.state import pack


def documents(draw, size, nested=False):
    out = []
    for n in range(size):
        spans = []
        for _ in range(draw.randrange(4)):
            start = draw.randrange(30)
            span = {"start": start, "end": start + draw.randrange(2, 9), "label": draw.choice("ABC")}
            if nested and draw.random() < 0.5:
                span["children"] = [{"start": start, "end": start + 1, "label": draw.choice("XY")}]
            spans.append(span)
        out.append({"id": f"d{n}", "test_case": draw.choice("st"), "text": "x" * 50, "spans": spans})
    return out


def tags(draw, size):
    return [{"id": str(n), "tags": [draw.choice(["O", "B-X", "I-X", "B-Y"]) for _ in range(6)]} for n in range(size)]


KINDS = {
    "spans": lambda draw: documents(draw, 30),
    "nested": lambda draw: documents(draw, 30, nested=True),
    "tags": lambda draw: tags(draw, 30),
    "excerpts": lambda draw: [
        {"page_id": d["id"], "excerpts": [{**s, "poem_id": s["label"]} for s in d["spans"]]}
        for d in documents(draw, 30)
    ],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batches", [2, 5])
def test_batches_give_the_same_cells(kind, batches):
    draw = random.Random(7)
    gold, pred = (KINDS[kind](draw) for _ in range(2))
    for record, other in zip(gold, pred, strict=True):
        other |= {"test_case": record["test_case"]} if "test_case" in record else {}
    draw.shuffle(pred)
    plan = make_plan("spans", None, {"missing": "wrong", "extra": "wrong"})
    sides = [
        read_memory(None, records, Read(role, role, {}, "spans"))
        for role, records in (("gold", gold[:-2]), ("pred", pred[:-2]))
    ]
    both = meet(*(side.keys for side in sides)).kept("wrong", "wrong")
    whole = context.reduce(Aligned.of(*sides, both), plan.options)
    rows = np.array(draw.sample(range(len(whole)), len(whole)))
    parts = [whole.take(part) for part in np.array_split(rows, batches)]
    merged = context.cells_of(Aligned.merge(parts), plan.options)
    assert pack(merged) == pack(context.cells_of(whole, plan.options))


def test_results_are_not_kept_with_the_cells():
    gold = documents(random.Random(1), 20)
    cells = karat.evaluate(gold, gold, metrics=["f1"], allow_same=True).systems[0].cells
    before = len(pack(cells))
    cells.data.outcomes("exact"), cells.data.pages(), cells.data.credits()
    assert len(pack(cells)) == before


def test_the_order_of_a_file_changes_nothing():
    draw = random.Random(3)
    gold, pred = documents(draw, 25), documents(draw, 25)
    for record, other in zip(gold, pred, strict=True):
        other["test_case"] = record["test_case"]
    one = karat.evaluate(gold, pred, metrics=["f1", "token_f1"], intervals=True)
    two = karat.evaluate(gold[::-1], pred[::-1], metrics=["f1", "token_f1"], intervals=True)
    for a, b in zip(one.systems[0], two.systems[0], strict=True):
        assert (a.value, a.interval.low, a.interval.high) == (b.value, b.interval.low, b.interval.high)
    assert one.systems[0].detail("error-list").rows == two.systems[0].detail("error-list").rows
