"""Scale: large Parquet tables against the bare DuckDB query that compares ids and counts without any check, and under caps of memory."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from benchmarks.capped import capped
from benchmarks.case import Case, Data, Side

ROWS = 5_000_000
MEMORY = {1: "500MB", 2: "1200MB"}
"""What karat is told to take under a cap of so many GiB: the rest is for the interpreter and what it holds."""
GOLD = "'item-' || lpad(CAST(i AS VARCHAR), 9, '0') AS id, 'label' || (hash(i) % 10) AS value"
PRED = GOLD.replace("hash(i)", "(CASE WHEN hash(i * 7) % 4 = 0 THEN hash(i + 1) ELSE hash(i) END)")


def tables(rows: int, shuffled: bool) -> Data:
    """Gold, and predictions of which a quarter is drawn anew, in gold's order or in none."""

    def make(folder: Path) -> None:
        import duckdb

        connection = duckdb.connect(config={"memory_limit": "4GB"})
        order = " ORDER BY hash(id)" if shuffled else ""
        for name, fields, by in (("gold", GOLD, ""), ("pred", PRED, order)):
            sql = f"SELECT * FROM (SELECT {fields} FROM range({rows}) t(i)){by}"
            connection.execute(f"COPY ({sql}) TO '{folder / name}.parquet'")

    return Data(f"scale-{rows}-{'shuffled' if shuffled else 'in-order'}", make)


def ranked(queries: int, depth: int, judged: int) -> Data:
    """A run that stands by query, its documents in no order, and judgements of some of them."""

    def make(folder: Path) -> None:
        import duckdb

        connection = duckdb.connect(config={"memory_limit": "4GB", "preserve_insertion_order": "true"})
        query = "'query-' || lpad(CAST(i // {n} AS VARCHAR), 6, '0') AS query, 'doc-' || (hash(i // {n}) % 9973 + (i % {n}) * {step}) AS document"
        for name, n, step, value in (
            ("gold", judged, depth // judged * 7, "CAST(hash(i) % 4 AS INTEGER) AS relevance"),
            ("pred", depth, 7, "CAST(hash(i) % 100000 AS DOUBLE) / 1000 AS score"),
        ):
            sql = f"SELECT {query.format(n=n, step=step)}, {value} FROM range({queries * n}) t(i)"
            connection.execute(f"COPY ({sql}) TO '{folder / name}.parquet'")

    return Data(f"scale-ranked-{queries}-{depth}", make)


def under_cap(gib: int, *metrics: str) -> Side:
    """The command line in a control group of so many GiB."""

    def run(folder: Path) -> float:
        files = [str(folder / f"{name}.parquet") for name in ("gold", "pred")]
        asked = [word for metric in metrics for word in ("-m", metric)]
        with tempfile.TemporaryDirectory(dir=folder) as temp:
            options = ["--memory", MEMORY[gib], "--temp", temp, "--report", "json", "-q", *asked]
            found = capped([sys.executable, "-m", "karat", "evaluate", *files, *options], gib << 30)
        return float(json.loads(found)["systems"][0]["metrics"][0]["value"])

    return Side(f"karat --memory {MEMORY[gib]}", run, repeat=1)


def karat_tables(folder: Path) -> float:
    import karat

    files = (str(folder / f"{name}.parquet") for name in ("gold", "pred"))
    return float(karat.evaluate(*files, metrics=["accuracy", "f1", "kappa"])["accuracy"].value)


def started(folder: Path) -> Path:
    import duckdb  # noqa: F401  (start-up is not what is measured)

    import karat

    karat.evaluate(["a"], ["a"])
    return folder


def bare(join: str, check: str) -> Side:
    def run(folder: Path) -> float:
        import duckdb

        gold, pred = (f"read_parquet('{folder / name}.parquet')" for name in ("gold", "pred"))
        sql = f"SELECT g.value, p.value, count(*){check} FROM {gold} g {join.format(pred=pred)} GROUP BY ALL"
        rows = duckdb.connect().execute(sql).fetchall()
        return sum(row[2] for row in rows if row[0] == row[1]) / sum(row[2] for row in rows)

    return Side("bare DuckDB query", run, started)


CASES = [
    Case(
        "in-order-5M",
        tables(ROWS, False),
        Side("karat", karat_tables, started),
        (bare("POSITIONAL JOIN {pred} p", ", count(*) FILTER (WHERE g.id IS DISTINCT FROM p.id)"),),
        0.5,
        "5M rows in the same order, three metrics, all checks; the peer makes none",
    ),
    Case(
        "shuffled-5M",
        tables(ROWS, True),
        Side("karat", karat_tables, started),
        (bare("FULL JOIN {pred} p ON g.id = p.id", ""),),
        0.77,
        "5M rows in another order, three metrics, all checks; the peer makes none",
    ),
    Case(
        "in-order-100M",
        tables(100_000_000, False),
        under_cap(1, "accuracy", "f1", "kappa"),
        note="100M rows in the same order, three metrics, all checks, start included, in a control group of 1 GiB",
    ),
    Case(
        "shuffled-50M",
        tables(50_000_000, True),
        under_cap(2, "accuracy", "f1", "kappa"),
        note="50M × 50M rows in another order, the same, in a control group of 2 GiB",
    ),
    Case(
        "ranked-100M",
        ranked(100_000, 1_000, 50),
        under_cap(1),
        note="100M ranked documents of 100,000 queries, 5M judged, the context's own metrics, in a control group of 1 GiB",
    ),
]
