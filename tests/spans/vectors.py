# SPDX-License-Identifier: Apache-2.0
"""Recorded outputs of other tools, and random tag sequences."""

import gzip
import json
import random
from dataclasses import replace
from pathlib import Path

from karat.contexts.spans.marked import tagged
from karat.contexts.spans.span import Spans
from karat.read.documents import tag_entries

DATA = Path(__file__).parent.parent / "data"


def load(name):
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def spans(rows, labels, end=0):
    """Spans of (unit, label, start, end) rows."""
    return Spans.of(*zip(*((u, s, e + end, labels.index(x)) for u, x, s, e in rows))) if rows else empty()


def empty():
    return Spans.of([], [], [], [])


def random_tags(seed, prefixes="OBI", labels=("PER", "LOC", "A-B"), sentences=4):
    draw = random.Random(seed)
    known = ["O"] + [f"{p}-{label}" for p in prefixes if p != "O" for label in labels]
    sizes = [draw.randint(1, 12) for _ in range(sentences)]
    gold = [draw.choices(known, [len(known)] + [3] * (len(known) - 1), k=size) for size in sizes]
    pred = [[tag if draw.random() < 0.7 else draw.choice(known) for tag in row] for row in gold]
    return gold, pred


def random_spans(seed, documents=3, width=30, most=8, labels="AB", equal=0.3):
    draw = random.Random(seed)
    gold, pred = [], []
    for unit in range(documents):
        for side in (gold, pred):
            for _ in range(draw.randint(0, most)):
                start = draw.randint(0, width)
                side.append((unit, draw.choice(labels), start, start + draw.randint(1, 9)))
        pred += [row for row in gold if row[0] == unit and draw.random() < equal]
    draw.shuffle(pred)
    return sorted(gold, key=lambda row: row[0]), sorted(pred, key=lambda row: row[0])


def encode(sides, suffix=False):
    """Lists of tag lists as tag sequences over one vocabulary."""
    entries, names, length = tag_entries([row for side in sides for row in side])
    whole = replace(tagged(entries, length, names), suffix=suffix, unit=None)
    out, first = [], 0
    for side in sides:
        begin, end = whole.begins[first] if side else 0, int(whole.lengths[: first + len(side)].sum())
        inside = (whole.at >= begin) & (whole.at < end)
        lengths = whole.lengths[first : first + len(side)]
        out.append(replace(whole, at=whole.at[inside] - begin, code=whole.code[inside], lengths=lengths))
        first += len(side)
    return out
