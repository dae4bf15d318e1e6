# SPDX-License-Identifier: Apache-2.0
"""Where systems are wrong: the worst units, those on which two systems disagree, the labels that are confused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.cells import Cells
from karat.contexts import catalogue, context
from karat.evaluation import Detail, Evaluation, SystemResult, Systems
from karat.metric import Catalogue, Definition, Metric, MetricError
from karat.score import Floats

_NUMBER = re.compile(r"\d+")
LONGEST_NUMBER = 18
"""Digits that 64 bits always hold."""
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
    """Units that fall short of a perfect score (of the best one where none is perfect), shown or not."""


def has_units(cells: Cells) -> bool:
    """Whether single units can be told: they were kept, or each test case is one."""
    return (cells.unit is not None and cells.unit_ids is not None) or cells.are_test_cases


def worst(evaluation: Evaluation, system: SystemResult, metric: str | Metric | None = None, limit: int = 20) -> Worst:
    """The units with the worst scores, worst first; units alike in score come in the order of their ids."""
    known = catalogue(evaluation.context)
    chosen, (score,) = unit_scores_of(known, trial_metrics(evaluation), [system.cells], metric)
    cell, cases, ids = units_of(system.cells)
    value = shortfall(known, chosen, score)[cell]
    bad = np.flatnonzero(value < 0)
    order = bad[np.lexsort((counted_order(ids[bad]), cases[bad], value[bad]))]
    units = []
    for i, at in zip(order[:limit].tolist(), cell[order[:limit]].tolist(), strict=True):
        text = text_of(evaluation, system.cells, at, cases[i], ids[i])
        units.append(Unit(cases[i], ids[i], float(score[at]), *system.cells.answers(at), text))
    return Worst(chosen, units, len(order))


def disagreements(
    evaluation: Evaluation, a: str, b: str, metric: str | Metric | None = None, limit: int = 20
) -> tuple[Metric, list[Difference], int]:
    """Units that two systems score differently, the widest gaps first, and how many there are."""
    first, second = (Systems(evaluation.systems)[name] for name in (a, b))
    known = catalogue(evaluation.context)
    chosen, (ours, theirs) = unit_scores_of(known, trial_metrics(evaluation), [first.cells, second.cells], metric)
    keys, cells = common_units(first.cells, second.cells)
    gap = np.abs(ours[cells[:, 0]] - theirs[cells[:, 1]])
    order = np.argsort(-np.nan_to_num(gap), kind="stable")
    order = order[np.nan_to_num(gap)[order] > 1e-12]
    out = []
    for i in order[:limit].tolist():
        (here, there), (case, unit) = cells[i].tolist(), keys[i]
        (gold, left), (_, right) = first.cells.answers(here), second.cells.answers(there)
        text = text_of(evaluation, first.cells, here, case, unit)
        out.append(Difference(case, unit, (float(ours[here]), float(theirs[there])), gold, (left, right), text))
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


def trial_metrics(evaluation: Evaluation) -> list[Metric]:
    """Metrics to score units by, in the order in which they are tried: the evaluation's, then the context's usual ones."""
    known = catalogue(evaluation.context)
    usual = [known.resolve(name) for name in context(evaluation.context).metrics]
    return [m for some in (evaluation.metrics, usual) for m in sorted(some, key=lambda m: _trial(known[m.name]))]


def _trial(definition: Definition) -> tuple[bool, bool]:
    """Means over units come first, and F1 before precision and recall."""
    return not definition.unit_mean, "f1" not in definition.name


def unit_scores_of(
    known: Catalogue, metrics: Sequence[Metric], sides: Sequence[Cells], wanted: str | Metric | None
) -> tuple[Metric, list[Floats]]:
    """The score of a single unit of each cell, by the metric that was named or the first that tells units apart."""
    if wanted is not None:
        metric = known.resolve(wanted)
        return metric, [_unit_values(known, metric, cells) for cells in sides]
    for metric in metrics:
        scores = [_unit_values(known, metric, cells) for cells in sides]
        if any((shortfall(known, metric, s) < 0).any() for s in scores) or len(_values(scores)) > 1:
            return metric, scores
    raise MetricError("no metric of this evaluation tells one unit from another; name one that does with -m")


def _values(scores: Sequence[Floats]) -> Floats:
    every = np.concatenate(scores)
    return np.unique(every[~np.isnan(every)])


def shortfall(known: Catalogue, metric: Metric, score: Floats) -> Floats:
    """How far each score is from a perfect one, as a number below 0; from the best where none is known."""
    definition = known[metric.name]
    turned = -score if definition.better == "lower" else score
    best = definition.best
    top = np.nanmax(turned, initial=-np.inf) if best is None else -best if definition.better == "lower" else best
    return np.where(turned < top, turned - top, 0.0)


def _unit_values(known: Catalogue, metric: Metric, cells: Cells) -> Floats:
    scores = cells.unit_scores(metric.name)
    if scores is not None:
        return scores
    step = max(BLOCK // max(len(cells.classes), 1), 1)
    blocks = [np.arange(start, min(start + step, len(cells))) for start in range(0, max(len(cells), 1), step)]
    parts = [cells if len(blocks) == 1 else cells.take(block) for block in blocks]
    return np.concatenate([known[metric.name].compute(p.per_cell_weights(), p, metric).value for p in parts])


def units_of(cells: Cells) -> tuple[Any, Any, Any]:
    """Cell, test case and id of each unit."""
    if cells.unit is not None and cells.unit_ids is not None:
        cases = np.array(cells.test_cases, object)[cells.test_case[cells.unit]]
        return cells.unit, cases, np.array([str(i) for i in cells.unit_ids], object)
    if cells.are_test_cases:
        return (
            np.arange(len(cells)),
            np.full(len(cells), "", object),
            np.array(cells.test_cases, object)[cells.test_case],
        )
    raise MetricError("the units of this evaluation were not kept; evaluate with units=True")


def counted_order(ids: Any) -> Any:
    """Ids as people count: item 9 before item 10.

    >>> ids = np.array(["item 10", "item 9", "item 09b"], object)
    >>> [ids[i] for i in np.argsort(counted_order(ids))], counted_order(ids[:2]).tolist()
    (['item 9', 'item 09b', 'item 10'], [10, 9])
    """
    texts: list[str] = ids.tolist()
    numbers = _numbers(texts)
    if numbers is not None:
        return np.array(numbers, np.int64)
    return np.array([_NUMBER.sub(lambda m: m[0].zfill(20), i) for i in texts], object)


def _numbers(ids: Sequence[str]) -> list[int] | None:
    """The numbers of ids that are one word and a number each, as most are: they need not be searched for in each."""
    word = ids[0].rstrip("0123456789") if ids else ""
    ends = [i[len(word) :] for i in ids if i.startswith(word)]
    digits = "".join(ends)
    plain = len(ends) == len(ids) and all(ends) and digits.isascii() and digits.isdigit()
    plain = plain and max(map(len, ends)) <= LONGEST_NUMBER
    return [int(end) for end in ends] if plain else None


def common_units(first: Cells, second: Cells) -> tuple[list[tuple[str, str]], Any]:
    """Test case and id of the units that both systems have, in order, and their cells in each."""
    sides = [units_of(cells) for cells in (first, second)]
    (left, cases, ids), (right, *other) = sides
    order = np.lexsort((counted_order(ids), cases))
    if np.array_equal(cases, other[0]) and np.array_equal(ids, other[1]):
        return list(zip(cases[order].tolist(), ids[order].tolist(), strict=True)), np.stack([left, right], 1)[order]
    known = dict(zip(zip(other[0].tolist(), other[1].tolist(), strict=True), right.tolist(), strict=True))
    keys = list(zip(cases[order].tolist(), ids[order].tolist(), strict=True))
    both = [(key, (cell, known[key])) for key, cell in zip(keys, left[order].tolist(), strict=True) if key in known]
    return [key for key, _ in both], np.array([pair for _, pair in both], np.int64).reshape(-1, 2)


def text_of(evaluation: Evaluation, cells: Cells, cell: int, test_case: str, unit: str) -> str:
    return (evaluation.texts or {}).get(f"{test_case}\x1f{unit}", "") or cells.text(cell)
