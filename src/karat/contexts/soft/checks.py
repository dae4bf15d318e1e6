# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with weights: numbers that are none, that leave [0, 1], or that do not add up to 1."""

from __future__ import annotations

from typing import Any

from karat.contexts.base import Run, Table
from karat.contexts.entries import flat, numbered
from karat.contexts.pairing import LIMIT, more
from karat.findings import Finding, finding

CLOSE = 1e-6
"""Weights may leave [0, 1] by this much: rounding of a softmax."""
ROUNDED = 2e-3
"""Sums may miss 1 by this much: shares written with three digits."""


def check_weights(run: Run, table: Table) -> list[Finding]:
    """Findings about a file whose values are weights by label."""
    rows = flat("weights", numbered(table))
    out = _listed(run, table, "weight-not-number", f"SELECT * FROM ({rows}) WHERE weight IS NULL OR isnan(weight)")
    outside = f"SELECT * FROM ({rows}) WHERE NOT isnan(weight) AND (weight < {-CLOSE} OR weight > {1 + CLOSE})"
    out += _listed(run, table, "weight-outside", outside)
    return [*out, *_empty(run, table), *([] if out else _sums(run, table, rows))]


def _listed(run: Run, table: Table, code: str, query: str) -> list[Finding]:
    if not run(f"SELECT count(*) AS n FROM ({query})")["n"][0]:
        return []
    found = run(f"SELECT item, label, weight FROM ({query}) ORDER BY item, label")
    rows = list(zip(*(found[k].tolist() for k in ("item", "label", "weight")), strict=True))
    out = [finding(code, table.name, table.line(int(at)), label=label, weight=weight) for at, label, weight in rows[:LIMIT]]
    return out + more(code, len(rows), table)


def _empty(run: Run, table: Table) -> list[Finding]:
    found = run(f"SELECT item, id FROM {numbered(table)} WHERE len(map_keys(value)) = 0 ORDER BY item")
    policy = "left out" if table.role == "gold" else "without a prediction"
    pairs = list(zip(found["item"].tolist(), found["id"].tolist(), strict=True))
    out = [finding("weights-empty", table.name, table.line(int(at)), id=i, policy=policy) for at, i in pairs[:LIMIT]]
    return out + more("weights-empty", len(pairs), table)


def _sums(run: Run, table: Table, rows: str) -> list[Finding]:
    """Each item whose weights miss 1, by how much; or one note when most do (independent labels)."""
    sums = f"SELECT item, sum(weight) AS total FROM ({rows}) GROUP BY item"
    off = f"abs(total - 1) > {ROUNDED}"
    many = run(f"SELECT count(*) AS n, count(*) FILTER (WHERE {off}) AS off FROM ({sums})")
    n, missed = int(many["n"][0]), int(many["off"][0])
    if not missed:
        return []
    worst = run(f"SELECT item, total FROM ({sums}) WHERE {off} ORDER BY abs(total - 1) DESC, item LIMIT {LIMIT}")
    places = sorted(zip(worst["item"].tolist(), worst["total"].tolist(), strict=True))
    if 2 * missed > n:
        return [_independent(table, missed, n, max(places, key=lambda p: abs(p[1] - 1)))]
    out = [finding("weights-sum", table.name, table.line(int(at)), total=total, off=total - 1) for at, total in places]
    return out + more("weights-sum", missed, table)


def _independent(table: Table, missed: int, n: int, worst: tuple[Any, Any]) -> Finding:
    at, total = worst
    return finding("weights-independent", table.name, table.line(int(at)), count=missed, total=n, sum=total, off=total - 1)
