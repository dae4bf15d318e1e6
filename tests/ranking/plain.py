"""PyEvALL's ranking metrics from their definitions, one document at a time and without karat: the second opinion.

Documents of equal rank stay in the order of the file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tests.reference.plain import rows


def grades(record: Mapping[str, Any], query: str) -> tuple[list[float], list[float]]:
    """The grade of each ranked document (0 for those that gold does not judge), and gold's grades from high to low."""
    gold = {i: float(v) for t, i, v in rows(record["gold"]) if t == query}
    ranked = sorted((row for row in rows(record["pred"]) if row[0] == query), key=lambda row: float(row[2]))
    return [gold.get(i, 0.0) for _, i, _ in ranked], sorted(gold.values(), reverse=True)


def precision(found: Sequence[float], ideal: Sequence[float], k: int) -> float | None:
    return sum(g > 0 for g in found[:k]) / k if k else None


def average_precision(found: Sequence[float], ideal: Sequence[float], r: int) -> float:
    at = [k for k, g in enumerate(found[:r], 1) if g > 0]
    return sum(nth / k for nth, k in enumerate(at, 1)) / relevant(ideal)


def reciprocal_rank(found: Sequence[float]) -> float:
    return next((1 / k for k, g in enumerate(found, 1) if g > 0), 0.0)


def dcg(found: Sequence[float]) -> float:
    return sum((2**g - 1) / math.log2(k + 1) for k, g in enumerate(found, 1))


def err(found: Sequence[float], ideal: Sequence[float]) -> float:
    total, looking = 0.0, 1.0
    for k, g in enumerate(found, 1):
        stops = (2**g - 1) / 2 ** max(ideal)
        total += looking * stops / k
        looking *= 1 - stops
    return total


def rbp(found: Sequence[float], p: float) -> float:
    return (1 - p) * sum(g * p ** (k - 1) for k, g in enumerate(found, 1))


def relevant(ideal: Sequence[float]) -> int:
    return sum(g > 0 for g in ideal)


def score(
    record: Mapping[str, Any], metric: str, query: str, k: int = 10, r: int = 1000, p: float = 0.8
) -> float | None:
    """A metric (by PyEvALL's name); None where its definition divides by the relevant documents and there are none."""
    found, ideal = grades(record, query)
    if metric == "PrecisionAtK":
        return precision(found, ideal, k)
    if not relevant(ideal):
        return None
    return {
        "RPrecision": lambda: precision(found, ideal, relevant(ideal)),
        "MRR": lambda: reciprocal_rank(found),
        "MAP": lambda: average_precision(found, ideal, r),
        "DCG": lambda: dcg(found),
        "nDCG": lambda: dcg(found) / dcg(ideal),
        "ERR": lambda: err(found, ideal),
        "RBP": lambda: rbp(found, p),
    }[metric]()
