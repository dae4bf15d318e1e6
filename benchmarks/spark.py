"""Apache Spark: what karat adds to the join and group-by that one would write by hand."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.case import Case, Data, Side
from benchmarks.classification import labels, names

QUIET = {
    "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.sql.shuffle.partitions": "8",
    "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.memory": "4g",
}  # fmt: skip


def shuffled(rows: int) -> Data:
    """String ids and ten labels; predictions in another order than gold."""

    def make(folder: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        order = np.random.default_rng(rows).permutation(rows)
        ids = np.char.add("i", np.char.zfill(np.arange(rows).astype(str), 9))
        for role, codes, at in zip(("gold", "pred"), labels(rows, 10), (np.arange(rows), order), strict=True):
            values = pa.array(names(10)).take(pa.array(codes[at]))
            pq.write_table(pa.table({"id": pa.array(ids[at]), "label": values}), folder / f"{role}.parquet")

    return Data(f"spark-{rows}", make)


def opened(folder: Path) -> Any:
    """Both tables in a session whose start and first compilation nobody measures."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]")
    for name, value in QUIET.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    sides = [spark.read.parquet(str(folder / f"{role}.parquet")) for role in ("gold", "pred")]
    by_hand([side.limit(1000) for side in sides])
    return sides


def by_hand(sides: Any) -> float:
    gold, pred = sides
    both = gold.withColumnRenamed("label", "gold").join(pred.withColumnRenamed("label", "pred"), "id", "full_outer")
    rows = both.groupBy("gold", "pred").count().collect()
    return sum(r["count"] for r in rows if r["gold"] == r["pred"]) / sum(r["count"] for r in rows)


def evaluated(sides: Any) -> float | None:
    import karat

    return karat.evaluate(*sides, metrics=["accuracy", "f1", "kappa"])["accuracy"].value


CASES = [
    Case(
        f"labels {rows // 10**6}M, Parquet, local[2]",
        shuffled(rows),
        Side("karat", evaluated, opened, repeat),
        (Side("PySpark by hand", by_hand, opened, repeat),),
        target=0.83,
        note="join and group-by; karat also finds blank, repeated, missing and extra ids",
    )
    for rows, repeat in ((1_000_000, 8), (10_000_000, 3))  # Java compiles for some seconds yet
]
