# SPDX-License-Identifier: Apache-2.0
"""Single units of a run: which are wrong, in which way, and what each system says of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.cells import Cells, ClassCells
from karat.contexts import catalogue
from karat.evaluation import Evaluation, SystemResult
from karat.metric import Metric, MetricError
from karat.mistakes import (
    common_units,
    counted_order,
    has_units,
    shortfall,
    text_of,
    trial_metrics,
    unit_scores_of,
    units_of,
)
from karat.report.rows import Grid, number
from karat.stats.units import over_test_cases
from karat.web.problems import invalid, missing

Mask = NDArray[np.bool_]
KINDS = ("wrong", "right", "all")


@dataclass(frozen=True)
class Wanted:
    """Which units: all that is given holds of them."""

    kind: str = "wrong"
    gold: str = ""
    """A class that gold gives the unit."""
    pred: str = ""
    """A class that the system gives it."""
    fault: str = ""
    """A kind of error, where the context tells them apart."""
    better: str = ""
    """Another system that does better on the unit."""
    worse: str = ""
    """Another system that does worse on it."""
    text: str = ""
    """A part of the unit's id or text."""
    case_of: str = ""
    """Its test case."""
    low: str = ""
    """Lowest score."""
    high: str = ""
    """Score that is too high."""
    slice: str = ""
    """A slice of the run, as `slice_name` spells it."""

    @property
    def effective(self) -> str:
        """The kind that is looked for: where two systems differ, one of them may be right."""
        return "all" if self.better or self.worse or self.low or self.high else self.kind


@dataclass(frozen=True)
class Line:
    """A unit in a list."""

    test_case: str
    id: str
    score: float
    gold: str
    pred: str
    other: str
    text: str

    @property
    def name(self) -> str:
        """What the unit is called; some units are whole test cases."""
        return self.id or self.test_case


class Units:
    """The units of one system of an evaluation, scored one by one."""

    def __init__(self, evaluation: Evaluation, system: SystemResult, metric: str = "") -> None:
        self.evaluation, self.system = evaluation, system
        known = catalogue(evaluation.context)
        chosen, (score,) = unit_scores_of(known, trial_metrics(evaluation), [system.cells], metric or None)
        self.metric: Metric = chosen
        self.cell, self.cases, self.ids = units_of(system.cells)
        self.score = score[self.cell]
        self.short = shortfall(known, chosen, score)[self.cell]
        self._differences: dict[int, NDArray[np.float64]] = {}
        self.order = np.lexsort((counted_order(self.ids), self.cases, self.short))

    @property
    def cells(self) -> Cells:
        return self.system.cells

    @cached_property
    def classes(self) -> list[str]:
        return list(self.cells.classes) if isinstance(self.cells, ClassCells) else []

    @cached_property
    def faults(self) -> dict[str, Mask]:
        """Kinds of error with the cells that have them."""
        masks: dict[str, Mask] = {}
        kinds = getattr(self.cells, "kinds", None)
        if isinstance(kinds, dict):
            masks = {name: np.asarray(n) > 0 for name, n in kinds.items() if name != "right"}
        elif self.evaluation.context in FAULTS:
            masks = FAULTS[self.evaluation.context](self.cells)
        return {name: mask for name, mask in masks.items() if mask.any()}

    @cached_property
    def slices(self) -> dict[str, Mask]:
        """Slices of the run with their units."""
        masks: dict[str, Mask] = {}
        for column, sliced in self.system.sliced.items():
            place = sliced.place[self.cells.test_case[self.cell]] if over_test_cases(self.cells) else sliced.place
            masks |= {slice_name(column, name): place == i for i, name in enumerate(sliced.names)}
        return {name: mask for name, mask in masks.items() if mask.any()}

    @cached_property
    def test_cases(self) -> list[str]:
        return sorted(set(self.cases.tolist()))

    def find(self, wanted: Wanted, theirs: Units | None = None) -> NDArray[np.int64]:
        """The places of the units that are wanted, worst first; ``theirs`` are those of the system beside them."""
        keep = np.ones(len(self.cell), bool)
        if wanted.effective != "all":
            keep &= (self.short < 0) == (wanted.effective == "wrong")
        if wanted.case_of:
            keep &= self.cases == wanted.case_of
        if wanted.low:
            keep &= self.score >= _number(wanted.low) - 1e-12
        if wanted.high:
            keep &= self.score < _number(wanted.high) - 1e-12
        for side, label in (("gold_of", wanted.gold), ("pred_of", wanted.pred)):
            if label:
                keep &= self._of_class(side, label)[self.cell]
        if wanted.fault:
            keep &= self.faults.get(wanted.fault, np.zeros(len(self.cells), bool))[self.cell]
        if wanted.slice:
            keep &= self.slices.get(wanted.slice, np.zeros(len(self.cell), bool))
        if theirs is not None:
            keep &= (1 if wanted.better else -1) * self._against(theirs) > 1e-12
        if wanted.text:
            text = wanted.text.casefold()
            keep &= np.fromiter((text in words for words in self._words), bool, len(self._words))
        places: NDArray[np.int64] = self.order[keep[self.order]]
        return places

    def _of_class(self, side: str, label: str) -> Mask:
        mask = np.zeros(len(self.cells), bool)
        if label in self.classes and isinstance(self.cells, ClassCells):
            of = getattr(self.cells, side)
            mask[of.row[of.col == self.classes.index(label)]] = True
        return mask

    def _against(self, theirs: Units) -> NDArray[np.float64]:
        """How much better another system is on each unit (0 where it lacks the unit)."""
        key = id(theirs.cells)
        if key not in self._differences:
            self._differences[key] = self._difference(theirs)
        return self._differences[key]

    def _difference(self, theirs: Units) -> NDArray[np.float64]:
        known = catalogue(self.evaluation.context)
        _, scores = unit_scores_of(known, [self.metric], [self.cells, theirs.cells], self.metric)
        mine, others = (shortfall(known, self.metric, score) for score in scores)
        keys, pairs = common_units(self.cells, theirs.cells)
        at = dict(zip(keys, (others[pairs[:, 1]] - mine[pairs[:, 0]]).tolist(), strict=True))
        return np.array([at.get(key, 0.0) for key in zip(self.cases.tolist(), self.ids.tolist(), strict=True)])

    @cached_property
    def _words(self) -> list[str]:
        """What is searched: id and text of every unit."""
        keys = zip(self.cell.tolist(), self.cases.tolist(), self.ids.tolist(), strict=True)
        if not self.evaluation.texts and not self.cells.text(0):
            return [f"{unit}\n{case}".casefold() for _, case, unit in keys]
        texts = (text_of(self.evaluation, self.cells, cell, case, unit) for cell, case, unit in keys)
        return [f"{unit}\n{text}".casefold() for unit, text in zip(self.ids.tolist(), texts, strict=True)]

    def lines(self, places: Sequence[int] | NDArray[np.int64], theirs: Units | None = None) -> list[Line]:
        """Units as a list shows them, with what another system says of them."""
        return [self._line(int(i), theirs) for i in places]

    def _line(self, i: int, theirs: Units | None) -> Line:
        at, case, unit = int(self.cell[i]), self.cases[i], self.ids[i]
        spot = theirs.spot(case, unit) if theirs else None
        beside = theirs.cells.answers(int(theirs.cell[spot]))[1] if theirs and spot is not None else ""
        text = text_of(self.evaluation, self.cells, at, case, unit)
        return Line(case, unit, float(self.score[i]), *self.cells.answers(at), beside, " ".join(text.split())[:200])

    @cached_property
    def _spots(self) -> dict[tuple[str, str], int]:
        return {key: i for i, key in enumerate(zip(self.cases.tolist(), self.ids.tolist(), strict=True))}

    def spot(self, case: str, unit: str) -> int | None:
        """Where a unit stands, if it is there."""
        return self._spots.get((case, unit))

    def place(self, case: str, unit: str) -> int:
        """Where a unit stands."""
        spot = self.spot(case, unit)
        if spot is None:
            raise missing("unit")
        return spot

    def neighbours(self, i: int, wanted: Wanted, theirs: Units | None) -> tuple[int | None, int | None]:
        """The units before and after one in a list."""
        listed = self.find(wanted, theirs)
        at = np.flatnonzero(listed == i)
        if not len(at):
            return None, None
        before, after = int(at[0]) - 1, int(at[0]) + 1
        return (int(listed[before]) if before >= 0 else None), (int(listed[after]) if after < len(listed) else None)


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not np.isfinite(value):
        raise invalid("low and high are scores.")
    return value


def _any(of: Any, cells: int) -> Mask:
    mask = np.zeros(cells, bool)
    mask[of.row] = True
    return mask


def _of_labels(cells: Any) -> dict[str, Mask]:
    return {"no prediction": ~_any(cells.pred_of, len(cells))}


def _of_label_sets(cells: Any) -> dict[str, Mask]:
    gold, pred = (set(zip(of.row.tolist(), of.col.tolist(), strict=True)) for of in (cells.gold_of, cells.pred_of))
    wrong = {"label missed": gold - pred, "label too many": pred - gold}
    masks = {name: np.isin(np.arange(len(cells)), [row for row, _ in pairs]) for name, pairs in wrong.items()}
    return _of_labels(cells) | masks


def _of_rankings(cells: Any) -> dict[str, Mask]:
    judged = cells.judged
    good = (judged.grade > 0) & (judged.rank > 0)
    first = np.zeros(len(cells), bool)
    first[judged.query[good & (judged.rank == 1)]] = True
    some = np.zeros(len(cells), bool)
    some[judged.query[good]] = True
    return {"nothing relevant found": ~some, "first document not relevant": ~first}


def _of_streams(cells: Any) -> dict[str, Mask]:
    pages, masks = cells.stream.pages, {}
    missed, extra = pages.gold_cut & ~pages.pred_cut, pages.pred_cut & ~pages.gold_cut
    for name, wrong in (("first page missed", missed), ("first page too many", extra)):
        many = np.array(
            [wrong[a : a + n].any() for a, n in zip(pages.start.tolist(), pages.size.tolist(), strict=True)]
        )
        masks[name] = many[cells.at]
    return masks


FAULTS: dict[str, Callable[[Any], dict[str, Mask]]] = {
    "monolabel": _of_labels, "multilabel": _of_label_sets, "ranking": _of_rankings, "splitting": _of_streams,
}  # fmt: skip
"""Kinds of error of contexts whose cells do not name them themselves."""


def slice_name(column: str, name: str) -> str:
    """A slice as an address and a page name it.

    >>> slice_name("language", "es")
    'language: es'
    """
    return f"{column}: {name}"


def of(evaluation: Evaluation, name: str) -> SystemResult:
    """The system of this name; the first where none is given."""
    if not name:
        return evaluation.systems[0]
    system = next((s for s in evaluation.systems if s.name == name), None)
    if system is None:
        raise missing("system")
    return system


def units(evaluation: Evaluation, system: str, metric: str = "") -> Units | None:
    """The units of a system, where they were kept and can be told apart."""
    result = of(evaluation, system)
    if not has_units(result.cells):
        return None
    if metric:
        return Units(evaluation, result, metric)
    try:
        return Units(evaluation, result)
    except MetricError:  # all units are alike, as those of a perfect system are
        return Units(evaluation, result, str(trial_metrics(evaluation)[0]))


def metrics(evaluation: Evaluation) -> list[str]:
    """The metrics of an evaluation that say something of a single unit."""
    known = catalogue(evaluation.context)
    return [str(m) for m in evaluation.metrics if known[m.name].unit_mean]


def grid(scored: Units, lines: Sequence[Line], other: str, digits: int = 4) -> Grid:
    """Units as a table of text, for downloads."""
    head = ["unit", "test case", str(scored.metric), "gold", scored.system.name, *([other] if other else []), "text"]
    return Grid("Units", head, [*_rows(lines, bool(other), digits)])


def _rows(lines: Sequence[Line], beside: bool, digits: int) -> Iterator[list[str]]:
    for u in lines:
        yield [u.id, u.test_case, number(u.score, digits), u.gold, u.pred, *([u.other] if beside else []), u.text]
