"""Weighted labels over a hierarchy: PyEvALL from JSON files, growth, and krippendorff's alpha in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.case import Case, Data, Side
from benchmarks.classification import write_json

TREE = {"YES": ["DIRECT", "REPORTED", "JUDGEMENTAL"], "NO": [], "MAYBE": ["UNSURE"]}
LEAVES = ["DIRECT", "REPORTED", "JUDGEMENTAL", "NO", "UNSURE"]
THREE = ["ICMSoft", "ICMSoftNorm", "CrossEntropy"]
OURS = ["icm_soft(variant=pyevall)", "icm_soft_norm(variant=pyevall)", "cross_entropy(variant=pyevall)"]


def weights(rows: int) -> Data:
    """Shares of six annotators as gold, a noisy softmax of them as prediction."""

    def make(folder: Path) -> None:
        rng = np.random.default_rng(rows)
        gold = rng.multinomial(6, rng.dirichlet(np.full(5, 0.6), rows)) / 6
        noisy = np.exp(3 * gold + rng.normal(0, 0.5, gold.shape))
        for role, matrix in (("gold", gold), ("pred", noisy / noisy.sum(1, keepdims=True))):
            values = [dict(zip(LEAVES, row, strict=True)) for row in matrix.round(4).tolist()]
            write_json(folder / f"{role}.json", values)

    return Data(f"soft-json-{rows}", make)


def karat_soft(folder: Path) -> float:
    import karat

    e = karat.evaluate(folder / "gold.json", folder / "pred.json", context="soft", metrics=OURS, hierarchy=TREE)
    return float(e["icm_soft_norm"].value)


def pyevall_soft(folder: Path) -> float:
    from pyevall.evaluation import PyEvALLEvaluation

    options = {"report": "embedded", "log_level": "none", "hierarchy": TREE}
    report = PyEvALLEvaluation().evaluate(folder / "pred.json", folder / "gold.json", THREE, **options).report
    return float(report["metrics"]["ICMSoftNorm"]["results"]["average_per_test_case"])


def votes(rows: int, annotators: int = 5, labels: int = 50) -> Data:
    def make(folder: Path) -> None:
        rng = np.random.default_rng(rows)
        truth = rng.integers(0, labels, (rows, 1))
        guess = rng.integers(0, labels, (rows, annotators))
        np.save(folder / "votes.npy", np.where(rng.random((rows, annotators)) < 0.7, truth, guess))

    return Data(f"votes-{rows}-{labels}", make)


def matrix(folder: Path) -> Any:
    return np.load(folder / "votes.npy")


def karat_alpha(table: Any) -> float:
    from karat.cells import Grouped
    from karat.contexts.agreement import Votes
    from karat.score import ratio

    rows, annotators = table.shape
    item, who = np.repeat(np.arange(rows), annotators), np.tile(np.arange(annotators), rows)
    v = Votes(item, who, table.ravel().astype(np.int64), rows, annotators, int(table.max()) + 1)
    W = Grouped(np.zeros(rows, np.int64), np.ones(rows), (1, rows))
    margin, apart = W @ v.pairable, W @ ((v.pairs - v.agreeing) / (v.per_item - 1))
    n = margin.sum(1)
    expected = n**2 - (margin**2).sum(1)
    return float(ratio(expected - (n - 1) * apart, expected, "").value[0])


def krippendorff_alpha(table: Any) -> float:
    import krippendorff

    return float(krippendorff.alpha(reliability_data=table.T.astype(float), level_of_measurement="nominal"))


CASES = [
    Case(
        "pyevall-1k",
        weights(1_000),
        Side("karat", karat_soft),
        (Side("PyEvALL", pyevall_soft, repeat=1, env="oracle"),),
        None,
        "three metrics over a hierarchy from two JSON files of 1,000 records",
    ),
    Case(
        "pyevall-10k",
        weights(10_000),
        Side("karat", karat_soft),
        (Side("PyEvALL", pyevall_soft, repeat=1, env="oracle"),),
        500,
        "three metrics over a hierarchy from two JSON files of 10,000 records",
    ),
    Case(
        "alpha-100k",
        votes(100_000),
        Side("karat", karat_alpha, matrix),
        (Side("krippendorff", krippendorff_alpha, matrix, repeat=1),),
        None,
        "nominal alpha of 100,000 items, 5 annotators, 50 labels, from arrays",
    ),
    *(
        Case(f"growth-json-{rows}", weights(rows), Side("karat", karat_soft, repeat=1), (), None, "two files in order")
        for rows in (100_000, 1_000_000)
    ),
]
