# SPDX-License-Identifier: Apache-2.0
"""Single units of a run: which are wrong, in which way, and what each system says of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from karat.web.problems import missing

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
        found: dict[str, Mask] = {}
        kinds = getattr(self.cells, "kinds", None)
        if isinstance(kinds, dict):
            found = {name: np.asarray(n) > 0 for name, n in kinds.items() if name != "right"}
        elif isinstance(self.cells, ClassCells):
            found = {"no prediction": ~_any(self.cells.pred_of, len(self.cells))}
        return {name: mask for name, mask in found.items() if mask.any()}

    def find(self, wanted: Wanted) -> NDArray[np.int64]:
        """The places of the units that are wanted, worst first."""
        keep = np.ones(len(self.cell), bool)
        if wanted.kind != "all":
            keep &= (self.short < 0) == (wanted.kind == "wrong")
        for side, label in (("gold_of", wanted.gold), ("pred_of", wanted.pred)):
            if label:
                keep &= self._of_class(side, label)[self.cell]
        if wanted.fault:
            keep &= self.faults.get(wanted.fault, np.zeros(len(self.cells), bool))[self.cell]
        for other, sign in ((wanted.better, 1), (wanted.worse, -1)):
            if other:
                keep &= sign * self._against(other) > 1e-12
        if wanted.text:
            keep &= self._says(wanted.text.casefold())
        found: NDArray[np.int64] = self.order[keep[self.order]]
        return found

    def _of_class(self, side: str, label: str) -> Mask:
        mask = np.zeros(len(self.cells), bool)
        if label in self.classes and isinstance(self.cells, ClassCells):
            of = getattr(self.cells, side)
            mask[of.row[of.col == self.classes.index(label)]] = True
        return mask

    def _against(self, other: str) -> NDArray[np.float64]:
        """How much better another system is on each unit (0 where it lacks the unit)."""
        theirs = of(self.evaluation, other)
        known = catalogue(self.evaluation.context)
        _, scores = unit_scores_of(known, [self.metric], [self.cells, theirs.cells], self.metric)
        mine, others = (shortfall(known, self.metric, score) for score in scores)
        keys, pairs = common_units(self.cells, theirs.cells)
        at = dict(zip(keys, (others[pairs[:, 1]] - mine[pairs[:, 0]]).tolist(), strict=True))
        return np.array([at.get(key, 0.0) for key in zip(self.cases.tolist(), self.ids.tolist(), strict=True)])

    def _says(self, text: str) -> Mask:
        texts = self.evaluation.texts or {}
        said = (
            text in unit.casefold() or text in texts.get(f"{case}\x1f{unit}", "").casefold()
            for case, unit in zip(self.cases.tolist(), self.ids.tolist(), strict=True)
        )
        return np.fromiter(said, bool, len(self.ids))

    def lines(self, places: Sequence[int] | NDArray[np.int64], other: str = "") -> list[Line]:
        """Units as a list shows them."""
        theirs = Units(self.evaluation, of(self.evaluation, other), str(self.metric)) if other else None
        return [self._line(int(i), theirs) for i in places]

    def _line(self, i: int, theirs: Units | None) -> Line:
        at, case, unit = int(self.cell[i]), self.cases[i], self.ids[i]
        beside = theirs.cells.said(int(theirs.cell[theirs.place(case, unit)]))[1] if theirs else ""
        text = text_of(self.evaluation, self.cells, at, case, unit)
        return Line(case, unit, float(self.score[i]), *self.cells.said(at), beside, " ".join(text.split())[:200])

    def place(self, case: str, unit: str) -> int:
        """Where a unit stands."""
        found = np.flatnonzero((self.ids == unit) & (self.cases == case))
        if not len(found):
            raise missing("unit")
        return int(found[0])

    def neighbours(self, i: int, wanted: Wanted) -> tuple[int | None, int | None]:
        """The units before and after one in a list."""
        listed = self.find(wanted)
        at = np.flatnonzero(listed == i)
        if not len(at):
            return None, None
        before, after = int(at[0]) - 1, int(at[0]) + 1
        return (int(listed[before]) if before >= 0 else None), (int(listed[after]) if after < len(listed) else None)


def _any(of: Any, cells: int) -> Mask:
    mask = np.zeros(cells, bool)
    mask[of.row] = True
    return mask


def of(evaluation: Evaluation, name: str) -> SystemResult:
    """The system of this name; the first where none is given."""
    if not name:
        return evaluation.systems[0]
    found = next((s for s in evaluation.systems if s.name == name), None)
    if found is None:
        raise missing("system")
    return found


def units(evaluation: Evaluation, system: str, metric: str = "") -> Units | None:
    """The units of a system, where they were kept and can be told apart."""
    result = of(evaluation, system)
    if not has_units(result.cells):
        return None
    try:
        return Units(evaluation, result, metric)
    except MetricError:
        return None


def grid(found: Units, lines: Sequence[Line], other: str, digits: int = 4) -> Grid:
    """Units as a table of text, for downloads."""
    head = ["unit", "test case", str(found.metric), "gold", found.system.name, *([other] if other else []), "text"]
    return Grid("Units", head, [*_rows(lines, bool(other), digits)])


def _rows(lines: Sequence[Line], beside: bool, digits: int) -> Iterator[list[str]]:
    for u in lines:
        yield [u.id, u.test_case, number(u.score, digits), u.gold, u.pred, *([u.other] if beside else []), u.text]
