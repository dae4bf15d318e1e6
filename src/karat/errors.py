# SPDX-License-Identifier: Apache-2.0
"""Where systems are wrong: the worst units, those on which two systems disagree, the labels that are confused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.cells import Cells, ClassCells, Sparse
from karat.contexts import catalogue
from karat.evaluation import Detail, Evaluation, SystemResult
from karat.metric import Catalogue, Metric, MetricError
from karat.score import Floats

BLOCK = 4_000_000
"""Largest table of cells × classes that is held at once."""


@dataclass(frozen=True)
class Unit:
    """One unit with its score, what gold and the system say, and its text where gold has one."""

    test_case: str
    id: str
    score: float
    gold: str
    pred: str
    text: str = ""


@dataclass(frozen=True)
class Difference:
    """One unit that two systems score differently."""

    test_case: str
    id: str
    scores: tuple[float, float]
    gold: str
    preds: tuple[str, str]
    text: str = ""


@dataclass(frozen=True)
class Worst:
    """The units with the worst scores, and the metric that scored them."""

    metric: Metric
    units: list[Unit]
    total: int
    """Units that are not perfect, shown or not."""


def has_units(cells: Cells) -> bool:
    """Whether single units can be told: they were kept, or each test case is one."""
    return (cells.unit is not None and cells.unit_ids is not None) or cells.are_test_cases


def worst(evaluation: Evaluation, system: SystemResult, metric: str | Metric | None = None, limit: int = 20) -> Worst:
    """The units with the worst scores, worst first; units alike in score come in the order of their ids."""
    known = catalogue(evaluation.context)
    chosen, score = _unit_scores(known, evaluation.metrics, system.cells, metric)
    turned = -score if known[chosen.name].better == "lower" else score
    cell, cases, ids = _units(system.cells)
    value = turned[cell]
    bad = np.flatnonzero(value < np.nanmax(value, initial=-np.inf))
    order = bad[np.lexsort((_order(ids[bad]), cases[bad], value[bad]))]
    units = [
        Unit(
            cases[i],
            ids[i],
            float(score[cell[i]]),
            *said(system.cells, int(cell[i])),
            _text(evaluation, cases[i], ids[i]),
        )
        for i in order[:limit].tolist()
    ]
    return Worst(chosen, units, len(order))


def disagreements(
    evaluation: Evaluation, a: str, b: str, metric: str | Metric | None = None, limit: int = 20
) -> tuple[Metric, list[Difference], int]:
    """Units that two systems score differently, the widest gaps first, and how many there are."""
    first, second = (_named(evaluation, name) for name in (a, b))
    known = catalogue(evaluation.context)
    chosen, one = _unit_scores(known, evaluation.metrics, first.cells, metric)
    other = _unit_scores(known, evaluation.metrics, second.cells, chosen)[1]
    sides = [_by_key(system.cells) for system in (first, second)]
    keys = sorted(sides[0].keys() & sides[1].keys())
    cells = np.array([[side[key] for side in sides] for key in keys], np.int64).reshape(-1, 2)
    gap = np.abs(one[cells[:, 0]] - other[cells[:, 1]])
    order = np.argsort(-np.nan_to_num(gap), kind="stable")
    order = order[np.nan_to_num(gap)[order] > 1e-12]
    out = []
    for i in order[:limit].tolist():
        (gold, left), (_, right) = said(first.cells, int(cells[i, 0])), said(second.cells, int(cells[i, 1]))
        scores = float(one[cells[i, 0]]), float(other[cells[i, 1]])
        case, unit = keys[i]
        out.append(Difference(case, unit, scores, gold, (left, right), _text(evaluation, case, unit)))
    return chosen, out, len(order)


def confused(detail: Detail) -> list[tuple[str, str, int, int]]:
    """Pairs of different labels in a confusion matrix, most frequent first: gold, predicted, units, of how many."""
    pairs = [
        (str(row[0]), column, n, sum(row[1:]))
        for row in detail.rows
        for column, n in zip(detail.columns[1:], row[1:], strict=True)
        if n and column != str(row[0])
    ]
    return sorted(pairs, key=lambda pair: (-pair[2], pair[0], pair[1]))


def said(cells: Cells, cell: int) -> tuple[str, str]:
    """What gold and the system say of the units of a cell, where they say it in labels."""
    if not isinstance(cells, ClassCells):
        return "", ""
    return tuple(_labels(cells, of, cell) for of in (cells.gold_of, cells.pred_of))  # type: ignore[return-value]


def _labels(cells: ClassCells, of: Any, cell: int) -> str:
    if not isinstance(of, Sparse):
        return ""
    at = np.flatnonzero(of.row == cell)
    named = [(cells.classes[c], v) for c, v in zip(of.col[at].tolist(), of.data[at].tolist(), strict=True)]
    return ", ".join(label if v == 1 else f"{label} ×{v:g}" for label, v in named) or "—"


def _named(evaluation: Evaluation, name: str) -> SystemResult:
    for system in evaluation.systems:
        if system.name == name:
            return system
    raise MetricError(f"there is no system {name!r}; there are: {', '.join(s.name for s in evaluation.systems)}")


def _unit_scores(
    known: Catalogue, metrics: Sequence[Metric], cells: Cells, wanted: str | Metric | None
) -> tuple[Metric, Floats]:
    """The score of a single unit of each cell, by the metric that was named or the first that has one."""
    if wanted is not None:
        metric = known.resolve(wanted)
        return metric, _each(known, metric, cells)
    for metric in sorted(metrics, key=lambda m: not (known[m.name].unit_mean or known[m.name].proportion)):
        score = _each(known, metric, cells)
        if len(np.unique(score[~np.isnan(score)])) > 1:
            return metric, score
    raise MetricError("no metric of this evaluation tells one unit from another; name one that does")


def _each(known: Catalogue, metric: Metric, cells: Cells) -> Floats:
    step = max(BLOCK // max(len(cells.classes), 1), 1)
    blocks = [np.arange(start, min(start + step, len(cells))) for start in range(0, len(cells), step)]
    parts = [cells if len(blocks) == 1 else cells.take(block) for block in blocks]
    return np.concatenate([known[metric.name].compute(p.per_cell_weights(), p, metric).value for p in parts])


def _units(cells: Cells) -> tuple[Any, Any, Any]:
    """Cell, test case and id of each unit."""
    if cells.unit is not None and cells.unit_ids is not None:
        cases = np.array(cells.test_cases, object)[cells.test_case[cells.unit]]
        return cells.unit, cases, np.array([str(i) for i in cells.unit_ids], object)
    if cells.are_test_cases:
        return np.arange(len(cells)), np.full(len(cells), ""), np.array(cells.test_cases, object)[cells.test_case]
    raise MetricError("the units of this evaluation were not kept; evaluate with units=True")


def _order(ids: Any) -> Any:
    """Ids in number order if all are numbers, else in text order."""
    plain = all(i.isascii() and i.isdigit() for i in ids.tolist())
    return ids.astype(float) if plain else ids


def _by_key(cells: Cells) -> dict[tuple[str, str], int]:
    cell, cases, ids = _units(cells)
    return dict(zip(zip(cases.tolist(), ids.tolist(), strict=True), cell.tolist(), strict=True))


def _text(evaluation: Evaluation, test_case: str, unit: str) -> str:
    return (evaluation.texts or {}).get(f"{test_case}\x1f{unit}", "")
