# SPDX-License-Identifier: Apache-2.0
"""A process of its own that saves runs and says so: ``python -m tests.store.saver ADDRESS COUNT [ROWS [LIMIT]]``."""

from __future__ import annotations

import resource
import sys

import numpy as np

import karat
from karat.evaluation import Evaluation
from karat.store import StoreError, open_store


def evaluation(rows: int = 50) -> Evaluation:
    """One that does not compress: its units have random names."""
    rng = np.random.default_rng(rows)
    ids = [f"{i:x}-{n:016x}" for i, n in enumerate(rng.integers(0, 2**62, rows).tolist())]
    labels = np.array(list("ABCD"))
    gold = dict(zip(ids, labels[rng.integers(0, 4, rows)].tolist(), strict=True))
    pred = dict(zip(ids, labels[rng.integers(0, 4, rows)].tolist(), strict=True))
    return karat.evaluate(gold, pred, metrics=["accuracy", "f1"], units=True, hashes=True)


def main(address: str, count: int, rows: int = 50, limit: int = 0) -> None:
    found = evaluation(rows)
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    store = open_store(address)
    print("ready", flush=True)
    for _ in range(count):
        try:
            print(store.save(found).id, flush=True)
        except StoreError as error:
            print(f"failed: {error}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
