"""Scale: large Parquet tables against the bare DuckDB query that compares the ids and counts the outcomes, without any check."""

from __future__ import annotations

from pathlib import Path

from benchmarks.case import Case, Data, Side

ROWS = 5_000_000
GOLD = "'item-' || lpad(CAST(i AS VARCHAR), 9, '0') AS id, 'label' || (hash(i) % 10) AS value"
PRED = GOLD.replace("hash(i)", "(CASE WHEN hash(i * 7) % 4 = 0 THEN hash(i + 1) ELSE hash(i) END)")


def tables(rows: int, shuffled: bool) -> Data:
    """Gold, and predictions of which a quarter is drawn anew, in gold's order or in none."""

    def make(folder: Path) -> None:
        import duckdb

        connection = duckdb.connect()
        order = " ORDER BY hash(id)" if shuffled else ""
        for name, fields, by in (("gold", GOLD, ""), ("pred", PRED, order)):
            sql = f"SELECT * FROM (SELECT {fields} FROM range({rows}) t(i)){by}"
            connection.execute(f"COPY ({sql}) TO '{folder / name}.parquet'")

    return Data(f"scale-{rows}-{'shuffled' if shuffled else 'in-order'}", make)


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
]
