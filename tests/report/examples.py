# SPDX-License-Identifier: Apache-2.0
"""Evaluations of every context with something to show: two systems or more, mistakes, missing predictions, texts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import karat
from karat.evaluation import Evaluation

Records = list[dict[str, Any]]
WORDS = [
    "the",
    "river",
    "ran",
    "past",
    "old",
    "stone",
    "bridges",
    "while",
    "two",
    "men",
    "argued",
    "over",
    "price",
    "of",
    "salt",
    "and",
    "rope",
]
TREE = {"animal": ["cat", "dog"], "plant": ["rose", "oak", "moss"]}
LABELS = ("cat", "dog", "rose", "oak", "moss")


def written(folder: Path, name: str, records: Records) -> str:
    """A JSON file of the records."""
    (folder / name).write_text(json.dumps(records), encoding="utf-8")
    return str(folder / name)


def text(rng: np.random.Generator) -> str:
    return " ".join(rng.choice(WORDS, rng.integers(5, 14)))


def evaluated(folder: Path, gold: Records, systems: dict[str, Records], **wish: Any) -> Evaluation:
    """The evaluation of the records as files, so that the page has inputs and hashes to show."""
    files = [f"{written(folder, f'{name}.json', records)}" for name, records in systems.items()]
    return karat.evaluate(
        written(folder, "gold.json", gold), files, names=list(systems), units=True, hashes=True, **wish
    )


def labels(folder: Path, n: int = 300, cases: int = 1, **wish: Any) -> Evaluation:
    """One label for each item, labels in a tree."""
    rng = np.random.default_rng(3)
    gold = [
        {"test_case": f"part {i % cases}", "id": f"item-{i}", "value": LABELS[k], "text": text(rng)}
        for i, k in enumerate(rng.choice(5, n, p=[0.4, 0.25, 0.2, 0.1, 0.05]).tolist())
    ]

    def system(right: float, missing: float) -> Records:
        return [
            g | {"value": g["value"] if rng.random() < right else LABELS[rng.integers(0, 5)]}
            for g in gold
            if rng.random() >= missing
        ]

    return evaluated(folder, gold, {"careful": system(0.85, 0.0), "hasty": system(0.6, 0.04)}, hierarchy=TREE, **wish)


def label_sets(folder: Path, **wish: Any) -> Evaluation:
    """Sets of labels against ranked lists of labels."""
    rng = np.random.default_rng(4)

    def drawn(k: int) -> list[str]:
        return [LABELS[i] for i in rng.permutation(5)[:k]]

    gold = [{"id": f"paper {i}", "value": sorted(drawn(rng.integers(1, 4))), "text": text(rng)} for i in range(150)]

    def system(right: float) -> Records:
        return [
            {"id": g["id"], "value": g["value"] if rng.random() < right else drawn(rng.integers(1, 4))} for g in gold
        ]

    metrics = ["f1", "precision", "subset_accuracy", "hamming_loss", "icm", "hit@2", "average_accuracy@5"]
    return evaluated(folder, gold, {"tall": system(0.7), "short": system(0.4)}, metrics=metrics, hierarchy=TREE, **wish)


def weights(folder: Path, **wish: Any) -> Evaluation:
    """Shares of annotators against probabilities."""
    rng = np.random.default_rng(5)

    def shares(a: float) -> dict[str, float]:
        raw = rng.dirichlet(np.full(3, a)).round(3)
        return {"yes": raw[0], "no": raw[1], "maybe": round(1 - raw[0] - raw[1], 3)}

    gold = [{"id": f"tweet-{i}", "value": shares(0.7), "text": text(rng)} for i in range(120)]
    near = [g | {"value": {k: round(0.8 * v + 0.2 / 3, 4) for k, v in g["value"].items()}} for g in gold[:-5]]
    return evaluated(folder, gold, {"near": near, "blind": [g | {"value": shares(3)} for g in gold]}, **wish)


def rankings(folder: Path, **wish: Any) -> Evaluation:
    """Judged documents against runs."""
    rng = np.random.default_rng(6)
    grades = {f"q{q}": rng.choice(4, 30, p=[0.6, 0.2, 0.15, 0.05]) for q in range(25)}
    gold = [{"query": q, "id": f"d{i}", "value": int(g)} for q, row in grades.items() for i, g in enumerate(row)]

    def system(noise: float) -> Records:
        return [
            {"query": q, "id": f"d{i}", "score": round(float(g + noise * rng.normal()), 4)}
            for q, row in grades.items()
            for i, g in enumerate(row)
        ]

    return evaluated(folder, gold, {"sharp": system(1.0), "dull": system(4.0)}, context="ranking", **wish)


def spans(folder: Path, **wish: Any) -> Evaluation:
    """Entities in texts."""
    rng = np.random.default_rng(7)
    gold, found = [], {"tight": [], "loose": []}
    for i in range(60):
        words = rng.choice(WORDS, 12).tolist()
        starts = np.cumsum([0, *(len(w) + 1 for w in words)])
        marks = [
            {
                "start": int(starts[k]),
                "end": int(starts[k]) + len(words[k]),
                "label": ("PER", "LOC", "THING")[rng.integers(0, 3)],
            }
            for k in sorted(rng.permutation(12)[:3].tolist())
        ]
        document = {"id": f"doc-{i}", "text": " ".join(words)}
        gold.append(document | {"spans": marks})
        for name, right in (("tight", 0.8), ("loose", 0.5)):
            kept = [m if rng.random() < right else m | {"label": "LOC", "end": m["end"] + 1} for m in marks]
            found[name].append(document | {"spans": [m for m in kept if m["end"] <= len(document["text"])]})
    return evaluated(folder, gold, found, context="spans", **wish)


def splitting(folder: Path, **wish: Any) -> Evaluation:
    """Bundles of pages cut into files."""
    rng = np.random.default_rng(8)
    gold = [
        {"bundle": f"bundle-{b}", "page": p + 1, "first": bool(p == 0 or rng.random() < 0.3), "category": "AB"[b % 2]}
        for b in range(12)
        for p in range(int(rng.integers(6, 20)))
    ]

    def system(right: float) -> Records:
        return [g | {"first": g["first"] if g["page"] == 1 or rng.random() < right else not g["first"]} for g in gold]

    return evaluated(folder, gold, {"knife": system(0.95), "saw": system(0.75)}, context="splitting", **wish)


def clusters(folder: Path, **wish: Any) -> Evaluation:
    """Items in groups without names."""
    rng = np.random.default_rng(9)
    gold = [
        {"id": f"post-{i}", "value": f"topic {k}", "text": text(rng)}
        for i, k in enumerate(rng.integers(0, 6, 120).tolist())
    ]

    def system(right: float) -> Records:
        return [g | {"value": f"k{g['value'][-1]}" if rng.random() < right else f"k{rng.integers(0, 9)}"} for g in gold]

    return evaluated(folder, gold, {"herd": system(0.85), "flock": system(0.5)}, context="clustering", **wish)


def probabilities(folder: Path, **wish: Any) -> Evaluation:
    """Labels against probabilities of three classes."""
    rng = np.random.default_rng(10)
    names = ("cat", "dog", "rose")
    gold = [
        {"id": f"photo-{i}", "value": names[k], "text": text(rng)}
        for i, k in enumerate(rng.integers(0, 3, 90).tolist())
    ]

    def system(right: float, missing: int) -> Records:
        out = []
        for g in gold[missing:]:
            raw = rng.dirichlet(np.ones(3)) + right * np.array([name == g["value"] for name in names])
            out.append({"id": g["id"], "value": dict(zip(names, (raw / raw.sum()).round(3).tolist(), strict=True))})
        return out

    return evaluated(folder, gold, {"sure": system(1.0, 0), "torn": system(0.2, 3)}, **wish)


def measurements(folder: Path, **wish: Any) -> Evaluation:
    """Ratings against predicted ratings."""
    rng = np.random.default_rng(11)
    gold = [
        {"id": f"film-{i}", "value": round(v, 2), "text": text(rng)}
        for i, v in enumerate(rng.uniform(0, 10, 80).tolist())
    ]

    def system(noise: float) -> Records:
        return [{"id": g["id"], "value": round(g["value"] + noise * rng.normal(), 2)} for g in gold]

    return evaluated(folder, gold, {"near": system(1.0), "far": system(4.0)}, context="numbers", **wish)


EXAMPLES: dict[str, Callable[..., Evaluation]] = {
    "labels": labels,
    "label-sets": label_sets,
    "weights": weights,
    "rankings": rankings,
    "spans": spans,
    "splitting": splitting,
    "clusters": clusters,
    "probabilities": probabilities,
    "numbers": measurements,
}
