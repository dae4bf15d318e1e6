# SPDX-License-Identifier: Apache-2.0
"""Units that count for more or less than one: cells that know what each of their units weighs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from karat.cells import Cells, TakenCells
from karat.evaluation import SystemResult
from karat.findings import Finding, InputError, finding
from karat.plan import Plan
from karat.stats.clusters import ClusterKeys
from karat.stats.units import over_test_cases, unit_keys
from karat.weights import Floats, Texts


def weighted(result: SystemResult, plan: Plan, keys: ClusterKeys) -> SystemResult:
    """The system with scores in which every unit counts as much as gold's column says."""
    _must_fit(result.cells, plan)
    units = unit_keys(result.cells)
    weight = _weights(units, keys)
    cells = with_weights(result.cells, weight)
    note = finding("weighted", result.name, **_in_words(weight, keys.column))
    scores, details = plan.score(cells), list(plan.context.details(cells))
    return replace(result, cells=cells, scores=scores, findings=[*result.findings, note], details=details)


def with_weights(cells: Cells, weight: Floats) -> Cells:
    """Cells of units that are alike in outcome and weight."""
    assert cells.unit is not None
    value, code = np.unique(weight, return_inverse=True)
    key, unit = np.unique(cells.unit * len(value) + code, return_inverse=True)
    out = cells.take(key // len(value), np.bincount(unit, minlength=len(key)))
    out.weight, out.unit, out.unit_ids = value[key % len(value)], unit, cells.unit_ids
    if isinstance(out, TakenCells):  # what cells keep of the whole collection is weighed too
        out.source = None
    return out


def _must_fit(cells: Cells, plan: Plan) -> None:
    reason = ""
    if over_test_cases(cells):
        reason = "its score is the mean over queries, each of which counts once"
    elif not cells.repeatable:
        reason = "an item is scored by its mates, and a weight would multiply those too"
    if reason:
        raise InputError([finding("weights-unused", context=plan.context.name, reason=reason)])


def _weights(units: Texts, keys: ClusterKeys) -> Floats:
    """The weight of each unit; all that is wrong with them at once."""
    text = dict(zip(keys.unit.tolist(), keys.cluster.tolist(), strict=True))
    missing = [u for u in units.tolist() if u not in text]
    bad = _bad(text)
    if missing:
        facts: dict[str, Any] = {
            "count": len(missing),
            "units": len(units),
            "column": keys.column,
            "unit": _shown(missing[0]),
        }
        bad.append(finding("weight-missing", **facts))
    if bad:
        raise InputError(bad)
    out = np.array([float(text[u]) for u in units.tolist()], float)
    if not out.any():
        raise InputError([finding("weights-zero", column=keys.column)])
    with np.errstate(over="ignore"):
        total = float(out.sum())
    if not LEAST <= total <= MOST:
        raise InputError([finding("weights-beyond", column=keys.column, total=total)])
    return out


LEAST, MOST = 1e-60, 1e60
"""Sums of weights of which metrics can take the fourth power, as the spread of both sides in MCC is."""


def _bad(text: dict[str, str]) -> list[Finding]:
    wrong = [(unit, value) for unit, value in text.items() if not _is_weight(value)]
    return [finding("weight-bad", count=len(wrong), text=v, unit=_shown(unit)) for unit, v in wrong[:1]]


def _is_weight(text: str) -> bool:
    try:
        return 0 <= float(text) < np.inf
    except ValueError:
        return False


def _shown(unit: str) -> str:
    case, _, id = unit.rpartition("\x1f")
    return f"{id!r} of {case!r}" if case else repr(id)


def _in_words(weight: Floats, column: str) -> dict[str, Any]:
    """The sum of the weights, and Kish's number of units of equal weight that would know as much."""
    effective = float(weight.sum() ** 2 / (weight**2).sum())
    return {"column": column, "units": len(weight), "total": f"{weight.sum():g}", "effective": f"{effective:,.0f}"}
