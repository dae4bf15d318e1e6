"""Random classification through PyEvALL itself: karat's own metrics give the same numbers."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from tests.oracle import Unavailable, ask, python
from tests.reference.pyevall_records import karat_metric, options, write
from tests.reference.test_pyevall_classification import compare

import karat

TREE = {"X": ["A", "B"], "Y": ["C"], "D": []}
MONO = ["Accuracy", "SystemPrecision", "Kappa", "Precision", "Recall", "FMeasure", "ICM", "ICMNorm"]


def value(rng: random.Random, multi: bool) -> Any:
    return rng.sample("ABCD", rng.randint(1, 3)) if multi else rng.choice("ABCD")


def random_case(seed: int) -> dict[str, Any]:
    """One test case (several would show the leak of Q5), some predictions missing, some for unknown ids."""
    rng, multi = random.Random(seed), bool(seed % 2)
    items = [{"test_case": "T", "id": str(i), "value": value(rng, multi)} for i in range(rng.randint(8, 30))]
    pred = [r if rng.random() < 0.6 else r | {"value": value(rng, multi)} for r in items if rng.random() < 0.9]
    pred += [{"test_case": "T", "id": "extra", "value": value(rng, multi)}] if rng.random() < 0.4 else []
    return {
        "context": "multi" if multi else "mono",
        "gold": json.dumps(items), "pred": json.dumps(pred), "gold_file": "gold.json", "pred_file": "pred.json",
        "metrics": MONO[3:] if multi else MONO,
        "params": {"hierarchy": TREE} if multi or seed % 4 == 0 else {},
    }  # fmt: skip


@pytest.fixture(scope="module")
def answers() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    try:
        python()
    except Unavailable as reason:
        pytest.skip(str(reason))
    cases = [random_case(seed) for seed in range(40)]
    return list(zip(cases, ask(cases), strict=True))


def test_same_numbers(answers: list[tuple[dict[str, Any], dict[str, Any]]], tmp_path: Path) -> None:
    for number, (case, report) in enumerate(answers):
        folder = tmp_path / str(number)
        folder.mkdir()
        gold, pred = write(case, folder)
        names = {m: str(karat_metric(case, m)) for m in case["metrics"]}
        found = karat.evaluate(
            gold, pred, context=f"{case['context']}label", metrics=list(names.values()), **options(case)
        )
        for metric, name in names.items():
            compare(report["metrics"][metric]["results"], found[name])
