# SPDX-License-Identifier: Apache-2.0
"""PyEvALL's own arithmetic for rankings: its order of ties, its look-up of ids, raw and negative grades."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from karat.doors.pyevall.params import Params
from karat.doors.pyevall.result import Outcome
from karat.doors.pyevall.rows import TestCase
from karat.doors.pyevall.scores.setting import Setting

Grades = list[int | None]


def quicksorted(values: Sequence[float]) -> list[int]:
    """NumPy 1.26's order of equal values: file order up to 16 rows, beyond that what its quicksort leaves.

    It has another quicksort for processors with AVX-512, which leaves another order.
    """
    order, waiting = list(range(len(values))), [(0, len(values) - 1)]
    while waiting:
        low, high = waiting.pop()
        while high - low > 15:
            middle = partition(values, order, low, high)
            parts = (low, middle - 1), (middle + 1, high)
            (low, high), larger = parts if middle - low < high - middle else parts[::-1]
            waiting.append(larger)
        order[low : high + 1] = sorted(order[low : high + 1], key=values.__getitem__)
    return order


def partition(values: Sequence[float], order: list[int], low: int, high: int) -> int:
    """Median of three as the pivot, which ends between the smaller and the larger; equal values stop both scans."""

    def swap(i: int, j: int) -> None:
        order[i], order[j] = order[j], order[i]

    middle = low + ((high - low) >> 1)
    for i, j in ((middle, low), (high, middle), (middle, low)):
        if values[order[i]] < values[order[j]]:
            swap(i, j)
    pivot, i, j = values[order[middle]], low, high - 1
    swap(middle, j)
    while True:
        i += 1
        while values[order[i]] < pivot:
            i += 1
        j -= 1
        while pivot < values[order[j]]:
            j -= 1
        if i >= j:
            swap(i, high - 1)
            return i
        swap(i, j)


def ranked(setting: Setting, case: TestCase) -> list[str]:
    """Ids by rising rank."""
    ids, values = list(case.pred), list(case.pred.values())
    return setting.once("ranked", case, lambda: [ids[index] for index in quicksorted(values)])


def looked_up(setting: Setting, case: TestCase) -> Grades:
    """Grades by position, the id being whatever the records' second field holds."""
    by_field: dict[str, Callable[[str], Any]] = {
        "id": lambda id: id,
        "test_case": lambda id: case.name,
        "value": lambda id: case.pred[id],
    }
    return [case.gold.get(by_field[case.key](id)) for id in ranked(setting, case)]


def by_id(setting: Setting, case: TestCase) -> Grades:
    return [case.gold.get(id) for id in ranked(setting, case)]


def relevant(grades: Any) -> int:
    return sum(1 for grade in grades if grade is not None and grade > 0)


def needing_relevant(score: Callable[[TestCase, Grades, Params, int], float], grades: Callable[..., Grades]) -> Any:
    """A score that is undefined for a query without relevant documents."""

    def outcome(setting: Setting, case: TestCase, params: Params) -> Outcome:
        total = relevant(case.gold.values())
        return Outcome(score(case, grades(setting, case), params, total) if total else None)

    return outcome


def precision_at_k(setting: Setting, case: TestCase, params: Params) -> Outcome:
    k = params["k_param"]
    return Outcome(relevant(looked_up(setting, case)[:k]) / k if k else None)


def r_precision(case: TestCase, grades: Grades, params: Params, total: int) -> float:
    return relevant(grades[:total]) / total


def mrr(case: TestCase, grades: Grades, params: Params, total: int) -> float:
    return next((1 / rank for rank, grade in enumerate(grades, 1) if grade is not None and grade > 0), 0)


def average_precision(case: TestCase, grades: Grades, params: Params, total: int) -> float:
    hits = [rank for rank, grade in enumerate(grades[: params["r_param"]], 1) if grade is not None and grade > 0]
    return sum(nth / rank for nth, rank in enumerate(hits, 1)) / total


def dcg(case: TestCase, grades: Grades, params: Params, total: int) -> float:
    return sum((2**grade - 1) / math.log2(rank + 1) for rank, grade in enumerate(grades, 1) if grade is not None)


def ndcg(setting: Setting, case: TestCase, params: Params) -> Outcome:
    """The ideal holds every judged document, negative grades too."""
    ideal = dcg(case, sorted(case.gold.values(), reverse=True), params, 0)
    return Outcome(dcg(case, by_id(setting, case), params, 0) / ideal if ideal else None)


def err(case: TestCase, grades: Grades, params: Params, total: int) -> float:
    top, going_on, expected = 2 ** max(case.gold.values()), 1.0, 0.0
    for rank, grade in enumerate(grades, 1):
        stop = 0 if grade is None else (2**grade - 1) / top
        expected += going_on * stop / rank
        going_on *= 1 - stop
    return expected


def rbp(case: TestCase, grades: Grades, params: Params, total: int) -> float:
    p = params["p_param"]
    return (1 - p) * sum(grade * p ** (rank - 1) for rank, grade in enumerate(grades, 1) if grade is not None)


SCORES = {
    "PrecisionAtK": precision_at_k,
    "RPrecision": needing_relevant(r_precision, looked_up),
    "MRR": needing_relevant(mrr, looked_up),
    "MAP": needing_relevant(average_precision, looked_up),
    "DCG": needing_relevant(dcg, by_id),
    "nDCG": ndcg,
    "ERR": needing_relevant(err, by_id),
    "RBP": needing_relevant(rbp, by_id),
}
