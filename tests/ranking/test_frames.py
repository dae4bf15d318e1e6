"""Frames against dicts: the same scores, however the columns keep their strings."""

from __future__ import annotations

import random
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

import karat

pl = pytest.importorskip("polars")
pytestmark = pytest.mark.usefixtures("readers")

NAMES = ("AP", "nDCG@10", "P@5", "RR")


def collection(width: int, seed: int) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    """Queries and documents with ids of 1 to ``width`` letters, some of them not ASCII, with ties."""
    rng = random.Random(seed)
    name = lambda: "".join(rng.choice("abé0") for _ in range(rng.randint(1, width)))
    queries = list(dict.fromkeys(name() for _ in range(40)))
    pool = list(dict.fromkeys(name() for _ in range(300)))
    pick = lambda n: rng.sample(pool, min(n, len(pool)))
    gold = {q: {d: float(rng.randint(0, 3)) for d in pick(8)} for q in queries}
    run = {q: {d: float(rng.randint(0, 9)) for d in [*list(gold[q])[::2], *pick(20)]} for q in queries}
    return gold, run


def frame(data: dict[str, dict[str, float]], name: str) -> Any:
    rows = [(q, d, v) for q, docs in data.items() for d, v in docs.items()]
    return pl.DataFrame(rows, schema=["query_id", "doc_id", name], orient="row")


def scores(gold: Any, run: Any) -> list[float]:
    found = karat.evaluate(gold, run, context="ranking", metrics=NAMES)
    return [found[name].value for name in NAMES]


@pytest.mark.parametrize("width", [1, 4, 6, 12, 30])
@pytest.mark.parametrize("form", ["polars", "slice", "pieces", "pandas", "lazy", "categories", "pandas categories"])
def test_frames_score_as_dicts(width: int, form: str) -> None:
    """Views hold up to twelve bytes; longer strings, slices and columns in pieces take the other way."""
    gold, run = collection(width, seed=width)
    frames = frame(gold, "relevance"), frame(run, "score")
    changed = {
        "polars": lambda f: f,
        "slice": lambda f: pl.concat([f[:7], f], rechunk=True)[7:],
        "pieces": lambda f: pl.concat([f[:9], f[9:]], rechunk=False),
        "pandas": lambda f: f.to_pandas(),
        "lazy": lambda f: f.lazy(),
        "categories": lambda f: f.with_columns(pl.col("query_id", "doc_id").cast(pl.Categorical)),
        "pandas categories": lambda f: f.to_pandas().astype({"query_id": "category", "doc_id": "category"}),
    }[form]
    assert scores(*map(changed, frames)) == scores(gold, run)


KEYS = {
    "floats": [1.0, 2.5, 1e16, -0.0],
    "decimals": [Decimal("1.0"), Decimal("2.50"), Decimal("3"), Decimal("0.7")],
    "dates": [date(2024, 1, n) for n in (1, 2, 3, 4)],
    "moments": [datetime(2024, 1, 1, n) for n in (0, 4, 8, 12)],
    "moments in a zone": [datetime(2024, 1, 1, n, tzinfo=timezone(timedelta(hours=2))) for n in (0, 4, 8, 12)],
    "spans of time": [timedelta(hours=n) for n in (0, 4, 8, 12)],
    "times": [time(n) for n in (0, 4, 8, 12)],
    "whole numbers": [1, 2, -3, 2**60],
}


@pytest.mark.parametrize("library", ["polars", "pandas", "pyarrow"])
@pytest.mark.parametrize("keys", KEYS)
def test_keys_are_spelt_as_in_records(keys: str, library: str) -> None:
    """Arrow spells 1.0 and midnight in its own way, by which no query met its judgements, or only some did."""
    rows = [(key, document) for key in KEYS[keys] for document in KEYS[keys]]
    gold = [{"query": q, "doc": d, "relevance": n % 3} for n, (q, d) in enumerate(rows)]
    run = [{"query": q, "doc": d, "score": n % 5} for n, (q, d) in enumerate(rows)]
    table = pl.DataFrame(run, strict=False)
    framed = {"polars": lambda: table, "pandas": table.to_pandas, "pyarrow": table.to_arrow}[library]()
    assert scores(gold, framed) == scores(gold, run)


@pytest.mark.parametrize("width", [4, 9, 12, 30])
def test_order_changes_nothing(width: int) -> None:
    """A run may leave gold's order, leave queries out and scatter the documents of a query: bit for bit the same."""
    gold, run = collection(width, seed=width)
    queries = [q for q in reversed(list(run)) if len(q) % 4]
    some = {q: run[q] for q in (*queries[::2], *queries[1::2])}
    whole = scores(gold, some)
    frames = [frame(gold, "relevance"), frame(some, "score")]
    assert scores(*frames) == whole
    assert scores(*(f.sample(fraction=1.0, shuffle=True, seed=width) for f in frames)) == whole


@pytest.mark.parametrize("given", [{}, {"context": "ranking"}])
def test_yes_and_no_are_grades(given: dict[str, str]) -> None:
    """Relevance as True and False, whole numbers as ids."""
    gold = pl.DataFrame({"query_id": [1, 1], "doc_id": [7, 8], "relevance": [False, True]})
    run = pl.DataFrame({"query_id": [1, 1], "doc_id": [7, 8], "score": [0.9, 0.2]})
    assert karat.evaluate(gold, run, metrics=["RR"], **given)["RR"].value == 0.5
