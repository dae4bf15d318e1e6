# SPDX-License-Identifier: Apache-2.0
"""Systems to compare, of every context."""

from __future__ import annotations

import numpy as np

RNG = np.random.default_rng(4)
N = 240
GOLD = RNG.choice(["A", "B", "C"], N, p=[0.5, 0.3, 0.2])


def noisy(accuracy: float) -> np.ndarray:
    return np.where(RNG.random(N) < accuracy, GOLD, RNG.choice(["A", "B", "C"], N))


SYSTEMS = {"good": noisy(0.95), "fair": noisy(0.8), "even": noisy(0.8), "poor": noisy(0.4)}
METRICS = ["accuracy", "f1", "kappa", "hamming_loss"]


def records(labels, case=lambda i: "T", **more):
    return [
        {"test_case": case(i), "id": f"d{i}", "value": str(v)} | {k: f(i) for k, f in more.items()}
        for i, v in enumerate(labels)
    ]


def spans(rng, accuracy, gold=None):
    tags = ["O", "O", "O", "B-PER", "B-LOC"]
    if gold is None:
        return [list(rng.choice(tags, 12)) for _ in range(60)]
    return [[t if rng.random() < accuracy else str(rng.choice(tags)) for t in row] for row in gold]


def bundles(rng, accuracy, gold=None):
    turned = lambda first: first if rng.random() < accuracy else not first
    first = lambda i, j: (
        bool(j == 0 or rng.random() < 0.3) if gold is None else turned(gold[i]["pages"][j]["is_first_page"])
    )
    page = lambda i, j: {"number": j + 1, "is_first_page": first(i, j)}
    return [{"document_id": str(i), "pages": [page(i, j) for j in range(6)]} for i in range(50)]


def label_sets(rng, accuracy, gold=None):
    pick = lambda: [str(x) for x in rng.choice(list("ABCD"), 2, replace=False)]
    if gold is None:
        return [{"id": str(i), "value": pick()} for i in range(120)]
    return [row if rng.random() < accuracy else row | {"value": pick()} for row in gold]


def weights(rng, accuracy, gold=None):
    draw = lambda: rng.dirichlet([1.0, 1.0, 1.0])
    if gold is None:
        return [{"id": str(i), "value": dict(zip("ABC", draw().round(3).tolist(), strict=True))} for i in range(80)]
    mix = lambda row: accuracy * np.array(list(row["value"].values())) + (1 - accuracy) * draw()
    return [{"id": row["id"], "value": dict(zip("ABC", mix(row).round(4).tolist(), strict=True))} for row in gold]
