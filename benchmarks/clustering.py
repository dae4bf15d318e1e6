"""Clusterings: PyEvALL from JSON files, scikit-learn in memory, growth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.case import Case, Data, Side
from benchmarks.classification import write_json

THEIRS = ["Purity", "InversePurity", "RandStatistics", "Jaccard", "NMI-SG", "ReliabilityBCubed", "SensitivityBCubed"]
OURS = ["purity", "inverse_purity", "rand", "jaccard", "nmi(mean=geometric)", "bcubed_precision", "bcubed_recall"]
PAIRS = ["adjusted_rand", "nmi", "v_measure", "fowlkes_mallows"]


def clusters(rows: int, many: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(rows + many)
    gold = rng.integers(0, many, rows)
    return gold, np.where(rng.random(rows) < 0.7, gold, rng.integers(0, many, rows))


def json_clusters(rows: int, many: int = 20) -> Data:
    def make(folder: Path) -> None:
        for role, codes in zip(("gold", "pred"), clusters(rows, many), strict=True):
            write_json(folder / f"{role}.json", [[f"c{code}"] for code in codes.tolist()])

    return Data(f"clusters-json-{rows}", make)


def code_clusters(rows: int, many: int) -> Data:
    def make(folder: Path) -> None:
        np.save(folder / "codes.npy", np.stack(clusters(rows, many)))

    return Data(f"clusters-{rows}-{many}", make)


def karat_files(folder: Path) -> float:
    import karat

    e = karat.evaluate(folder / "gold.json", folder / "pred.json", context="clustering", metrics=OURS)
    return float(e["bcubed_precision"].value)


def pyevall_files(folder: Path) -> float:
    from pyevall.evaluation import PyEvALLEvaluation

    options = {"report": "embedded", "log_level": "none"}
    report = PyEvALLEvaluation().evaluate(folder / "pred.json", folder / "gold.json", THEIRS, **options).report
    return float(report["metrics"]["ReliabilityBCubed"]["results"]["average_per_test_case"])


def arrays(folder: Path) -> Any:
    return tuple(np.load(folder / "codes.npy"))


def karat_arrays(pair: Any) -> float:
    import karat

    return float(karat.evaluate(*pair, context="clustering", metrics=PAIRS)["v_measure"].value)


def sklearn_arrays(pair: Any) -> float:
    from sklearn import metrics

    metrics.adjusted_rand_score(*pair)
    metrics.normalized_mutual_info_score(*pair)
    metrics.fowlkes_mallows_score(*pair)
    return float(metrics.v_measure_score(*pair))


CASES = [
    Case(
        "pyevall-2k",
        json_clusters(2_000),
        Side("karat", karat_files),
        (Side("PyEvALL", pyevall_files, repeat=1, env="oracle"),),
        None,
        "seven metrics from two JSON files of 2,000 records",
    ),
    *(
        Case(
            f"sklearn-{rows}-{many}",
            code_clusters(rows, many),
            Side("karat", karat_arrays, arrays),
            (Side("scikit-learn", sklearn_arrays, arrays),),
            8,
            f"four metrics of {rows:,} items in {many:,} clusters a side, from arrays",
        )
        for rows, many in ((1_000_000, 100), (1_000_000, 1_000))
    ),
    *(
        Case(f"growth-json-{rows}", json_clusters(rows), Side("karat", karat_files, repeat=1), (), None, "two files")
        for rows in (100_000, 1_000_000)
    ),
]
